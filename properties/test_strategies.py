"""The strategies themselves: they reach every outcome and every kind of problem, or the laws would hold for want of trying."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings

from pipeline.discovery import discover
from pipeline.hosts import STANDARD, XCSH, Host
from pipeline.snapshot import Snapshot
from properties import strategies

OUTCOMES = {"loaded", "shadowed", "invalid", "unreadable"}
PROBLEMS = {
    *("NoFrontmatter", "FenceNotFirst", "ReadmeNotAgent", "UnclosedFrontmatter", "NotAMapping", "MissingField"),
    *("UnreadableFile", "BrokenLink", "NotAFile", "FileTooLarge", "RegistryProblem"),
    *("NotYaml", "DuplicateKey", "UnknownKey", "EveryToolAllowed", "IgnoredValue", "OddName", "SameNameInDirectory"),
    *("NamesDifferByCase", "ReplacedBytes", "WouldHaveWon"),
}
SOURCES = {"project", "user", "bundled", "replaced bundled"}


@pytest.mark.parametrize(("host", "besides"), [(STANDARD, {"ByteOrderMark"}), (XCSH, set[str]())], ids=["standard", "xcsh"])
def test_trees_reach_every_outcome(host: Host, besides: set[str]) -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=600, database=None, derandomize=True)
    @given(strategies.snapshots(host))
    def gather(snapshot: Snapshot) -> None:
        found = discover(snapshot, host=host)
        reached.update(outcome.status for outcome in found.files)
        reached.update(f"{outcome.status} in a plugin" for outcome in found.files if outcome.path.startswith(strategies.PLUGIN_ROOTS))
        reached.update(agent.source for agent in found.agents)
        reached.update(type(problem).__name__ for problem in found.problems)
        reached.update(["replaced bundled"] * (len([agent for agent in found.agents if agent.source == "bundled"]) < 6))

    gather()
    in_plugins = {f"{outcome} in a plugin" for outcome in OUTCOMES}
    assert {*OUTCOMES, *in_plugins, *PROBLEMS, *SOURCES, *besides} - set(reached) == set()
    assert reached["shadowed"] >= 60, "the laws of first wins are about nothing else"
