"""Case sensitivity and lexicographic order: names match exactly, file names are ordered by code point."""

from __future__ import annotations

from itertools import groupby

from pipeline.discovery import discover
from pipeline.hosts import STANDARD, Host
from pipeline.selection import explain, get_agent
from pipeline.snapshot import Snapshot
from properties.strategies import valid_agent


def names_match_exactly(snapshot: Snapshot, name: str, host: Host = STANDARD) -> None:
    """An agent is found by its exact name alone: another case, another normal form or blanks around it find another agent or none."""
    found = discover(snapshot, host=host)
    in_force = {agent.name for agent in found.agents}
    for asked in (name, name.upper(), name.swapcase(), f" {name}", f"{name} "):
        assert get_agent(found, asked).map(lambda agent: agent.name).value_or(None) == (asked if asked in in_force else None)


def names_that_differ_by_case_are_two_agents(directory: str, name: str, host: Host = STANDARD) -> None:
    """Two files whose names differ only by case are both loaded, and the later one is warned about."""
    other = name.swapcase()
    if other == name:
        return
    tree = {f"{directory}/a.md": valid_agent(name), f"{directory}/b.md": valid_agent(other)}
    found = discover(Snapshot.from_tree(tree), host=host)
    assert {name, other} <= {agent.name for agent in found.agents}
    assert "NamesDifferByCase" in {type(problem).__name__ for problem in found.problems}


def files_of_a_directory_are_in_order(snapshot: Snapshot, host: Host = STANDARD) -> None:
    """Within one directory, files are taken in lexicographic order of file name, by code point or as the host has it, however they came."""
    paths = [outcome.path for outcome in discover(snapshot, host=host).files]
    for _, group in groupby(paths, key=lambda path: path.rpartition("/")[0]):
        names = [path.rpartition("/")[2] for path in group]
        assert names == sorted(names, key=host.file_order or (lambda name: [ord(character) for character in name]))


def the_lower_file_name_wins(directory: str, name: str, first: str, second: str, host: Host = STANDARD) -> None:
    """Of two files in one directory that define one name, the one whose file name is lower wins, whichever was written first."""
    if first == second:
        return
    lower, higher = sorted((first, second), key=host.file_order)
    for order in ((first, second), (second, first)):
        found = discover(Snapshot.from_tree({f"{directory}/{file}": _marked(name, file) for file in order}), host=host)
        why = explain(found, name)
        assert why.winner is not None
        assert (why.winner.path, [loser.file.path for loser in why.losers]) == (f"{directory}/{lower}", [f"{directory}/{higher}"])
        assert [loser.rule for loser in why.losers] == ["a file name that comes first"]


def _marked(name: str, file: str) -> str:
    return valid_agent(name, f"from {ascii(file).encode().hex()}")


def only_the_exact_suffix_counts(snapshot: Snapshot, host: Host = STANDARD) -> None:
    """Every candidate's file name ends in the host's suffix in exact case, and no other file is one."""
    assert all(outcome.path.endswith(host.suffix) for outcome in discover(snapshot, host=host).files)
