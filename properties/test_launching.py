"""The laws of guards, policies and launches, tried on agents that say anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from returns.result import Failure

from pipeline.agent import Spawns
from pipeline.discovery import Discovery
from pipeline.hosts import STANDARD, XCSH, Host
from pipeline.launch import plan_launch
from pipeline.request import Session, TaskRequest
from properties import strategies
from properties.laws import launching, merging

HOSTS = pytest.mark.parametrize("host", [STANDARD, XCSH], ids=lambda host: str(host.name))
Question = tuple[TaskRequest, Session, Discovery]

LAWS = (
    launching.the_order_of_guards_only_chooses_the_words,
    launching.no_task_tool_at_the_limit,
    launching.plan_mode_leaves_no_writing_tool,
    launching.the_first_schema_counts,
)


LAWS_BY_HOST = (launching.a_launch_is_what_the_rules_say, launching.a_child_s_session_is_its_parent_s_but_for_what_the_launch_says)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(law.__name__))
@given(strategies.questions())
def test_laws_of_launches(law: Callable[[TaskRequest, Session, Discovery], None], question: Question) -> None:
    law(*question)


@HOSTS
@given(strategies.questions())
def test_the_hole_is_labelled(host: Host, question: Question) -> None:
    launching.the_hole_is_labelled(*question, host)


@HOSTS
@given(strategies.questions())
def test_a_child_gains_no_tool(host: Host, question: Question) -> None:
    launching.a_child_gains_no_tool(*question, host)


@given(strategies.questions(), st.frozensets(st.sampled_from(strategies.NAMES[:6])))
def test_a_narrower_policy_allows_no_more(question: Question, kept: frozenset[str]) -> None:
    launching.a_narrower_policy_allows_no_more(*question, kept)


@HOSTS
@given(strategies.sessions(), strategies.discoveries(), st.lists(st.sampled_from(strategies.NAMES[:6]), max_size=6))
def test_nobody_spawns_at_the_limit(host: Host, session: Session, found: Discovery, path: list[str]) -> None:
    launching.nobody_spawns_at_the_limit(session, found, path, host)


@HOSTS
@pytest.mark.parametrize("law", LAWS_BY_HOST, ids=lambda law: str(law.__name__))
@given(strategies.questions())
def test_laws_of_launches_by_host(law: Callable[[TaskRequest, Session, Discovery, Host], None], host: Host, question: Question) -> None:
    law(*question, host)


@given(strategies.policies())
def test_a_policy_has_a_text_exactly_if_its_names_can_stand_in_one(policy: Spawns) -> None:
    launching.a_policy_has_a_text_exactly_if_its_names_can_stand_in_one(policy)


@given(st.lists(st.sampled_from(("a", "A", "a ", "b", "", " ")), max_size=5))
def test_ids_are_told_apart_but_for_case_and_blanks(ids: list[str]) -> None:
    launching.ids_are_told_apart_but_for_case_and_blanks(ids)


@given(st.text(st.sampled_from("ab,* \t")))
def test_a_policy_s_text_is_read_piece_by_piece(text: str) -> None:
    launching.a_policy_s_text_is_read_piece_by_piece(text)


@given(strategies.policies())
def test_a_policy_survives_its_text(policy: Spawns) -> None:
    launching.a_policy_survives_its_text(policy)


@given(st.none() | st.text(st.sampled_from("ab,* \n")))
def test_any_text_is_a_policy(text: str | None) -> None:
    launching.any_text_is_a_policy(text)


@HOSTS
@given(st.data())
def test_the_first_command_of_a_name_wins(host: Host, data: st.DataObject) -> None:
    merging.the_first_command_of_a_name_wins(data.draw(strategies.snapshots(host)), host)


def test_the_strategies_reach_every_refusal_and_a_launch() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=1000, database=None, derandomize=True)
    @given(strategies.questions())
    def gather(question: Question) -> None:
        planned = plan_launch(*question)
        reached.update([type(planned.failure()).__name__ if isinstance(planned, Failure) else "Launch"])

    gather()
    refusals = {"UnknownAgent", "AgentDisabled", "NoTasks", "BadTaskIds", "SpawnsItself", "SpawnForbidden", "CannotEncode"}
    assert set(reached) == {"Launch", *refusals}
