"""The laws of discovery, tried on whole trees under both hosts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.agent import AgentDefinition
from pipeline.candidates import Candidate
from pipeline.hosts import STANDARD, XCSH, Host
from pipeline.snapshot import Snapshot
from properties import strategies
from properties.laws import merging, names, snapshots, totality

HOSTS = pytest.mark.parametrize("host", [STANDARD, XCSH], ids=lambda host: str(host.name))
DIRECTORIES = st.sampled_from([f"/home/user/project/{family.project}" for family in STANDARD.families])
FILES = st.sampled_from(strategies.FILE_NAMES)
PATHS = st.builds("{}/{}".format, DIRECTORIES, FILES)

OF_TREES = (
    merging.the_first_of_a_name_wins,
    merging.every_name_is_in_force_once,
    merging.bundled_agents_come_last,
    names.files_of_a_directory_are_in_order,
    names.only_the_exact_suffix_counts,
    totality.every_candidate_is_accounted_for,
    snapshots.discovery_needs_only_what_is_wanted,
)


@HOSTS
@pytest.mark.parametrize("law", OF_TREES, ids=lambda law: str(law.__name__))
@given(data=st.data())
def test_laws_of_whole_trees(law: Callable[[Snapshot, Host], None], host: Host, data: st.DataObject) -> None:
    law(data.draw(strategies.snapshots(host)), host)


@HOSTS
@given(data=st.data(), path=PATHS, broken=strategies.broken_texts())
def test_a_bad_file_changes_nothing_for_the_others(host: Host, data: st.DataObject, path: str, broken: str) -> None:
    merging.a_bad_file_changes_nothing_for_the_others(data.draw(strategies.snapshots(host)), path, broken, host)


@HOSTS
@given(data=st.data(), name=strategies.agent_names())
def test_names_match_exactly(host: Host, data: st.DataObject, name: str) -> None:
    names.names_match_exactly(data.draw(strategies.snapshots(host)), name, host)


@HOSTS
@given(directory=DIRECTORIES, name=st.sampled_from(("alpha", "Task", "é", "explore")))
def test_names_that_differ_by_case_are_two_agents(host: Host, directory: str, name: str) -> None:
    names.names_that_differ_by_case_are_two_agents(directory, name, host)


@HOSTS
@given(directory=DIRECTORIES, name=strategies.agent_names(), first=FILES, second=FILES)
def test_the_lower_file_name_wins(host: Host, directory: str, name: str, first: str, second: str) -> None:
    names.the_lower_file_name_wins(directory, name, first, second, host)


@HOSTS
@given(first=st.integers(0, 7), second=st.integers(0, 7))
def test_an_earlier_place_wins(host: Host, first: int, second: int) -> None:
    merging.an_earlier_place_wins(first, second, host)


@given(strategies.candidate_lists(), st.integers(0, 12))
def test_folding_twice_is_folding_once(candidates: list[Candidate[AgentDefinition]], cut: int) -> None:
    merging.folding_twice_is_folding_once(candidates, cut)


@given(strategies.candidate_lists(), strategies.agent_names(), st.booleans())
def test_a_later_candidate_changes_no_winner(candidates: list[Candidate[AgentDefinition]], name: str, broken: bool) -> None:
    merging.a_later_candidate_changes_no_winner(candidates, strategies.candidate(name, "/z/last.md", broken=broken))


@given(strategies.candidate_lists())
def test_dropping_a_winner_promotes_the_next(candidates: list[Candidate[AgentDefinition]]) -> None:
    merging.dropping_a_winner_promotes_the_next(candidates)


@given(strategies.snapshots())
def test_json_round_trips(snapshot: Snapshot) -> None:
    snapshots.json_round_trips(snapshot)


@given(strategies.snapshots())
def test_json_round_trips_what_is_only_partly_seen(snapshot: Snapshot) -> None:
    snapshots.json_round_trips(snapshots.revealed(snapshot, STANDARD))


@given(strategies.snapshots(), PATHS, st.text())
def test_putting_then_removing_is_nothing(snapshot: Snapshot, path: str, text: str) -> None:
    snapshots.putting_then_removing_is_nothing(snapshot, path, text)


@given(strategies.snapshots(), PATHS, st.text())
def test_what_does_not_change_is_shared(snapshot: Snapshot, path: str, text: str) -> None:
    snapshots.what_does_not_change_is_shared(snapshot, path, text)


@HOSTS
@given(text=st.one_of(st.text(), strategies.agent_texts(), st.text().map(lambda text: f"---\n{text}\n---\n")))
def test_any_text_is_a_definition_or_says_why(host: Host, text: str) -> None:
    totality.any_text_is_a_definition_or_says_why(text, host)


@HOSTS
@given(data=st.one_of(st.binary(), st.binary().map(lambda data: b"---\nname: a\ndescription: b\n" + data + b"\n---\n")))
def test_any_bytes_have_an_outcome(host: Host, data: bytes) -> None:
    totality.any_bytes_have_an_outcome(data, host)


@HOSTS
@given(data=st.one_of(st.binary(), strategies.registries().map(str.encode)))
def test_any_registry_is_read_or_named(host: Host, data: bytes) -> None:
    totality.any_registry_is_read_or_named(data, host)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("cwd", "home", "entries", "path", "text", "dir")), inner),
)


@given(st.one_of(st.text(), JSON.map(strategies.as_json)))
def test_any_json_is_a_snapshot_or_says_why(text: str) -> None:
    totality.any_json_is_a_snapshot_or_says_why(text)


@given(st.sampled_from(("[]", "','", "[~]", "''", "[[a]]", "Read", "[1, true]", "[{a: b}]")))
def test_an_empty_tool_list_is_not_every_tool(text: str) -> None:
    totality.an_empty_tool_list_is_not_every_tool(text)
