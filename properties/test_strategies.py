"""The strategies themselves: they reach every outcome and every kind of problem, or the laws would hold for want of trying."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings

from pipeline.discovery import discover
from pipeline.hosts import STANDARD
from pipeline.snapshot import Snapshot
from properties import strategies

REACHED: Counter[str] = Counter()
OUTCOMES = {"loaded", "shadowed", "invalid", "unreadable"}
PROBLEMS = {
    *("NoFrontmatter", "FenceNotFirst", "ReadmeNotAgent", "UnclosedFrontmatter", "NotAMapping", "MissingField"),
    *("UnreadableFile", "BrokenLink", "NotAFile", "FileTooLarge", "RegistryProblem"),
    *("NotYaml", "DuplicateKey", "UnknownKey", "EveryToolAllowed", "IgnoredValue", "OddName", "SameNameInDirectory"),
    *("NamesDifferByCase", "ByteOrderMark", "ReplacedBytes", "WouldHaveWon"),
}
SOURCES = {"project", "user", "bundled"}


def test_trees_reach_every_outcome() -> None:
    @settings(max_examples=1500, database=None, derandomize=True)
    @given(strategies.snapshots())
    def gather(snapshot: Snapshot) -> None:
        found = discover(snapshot, host=STANDARD)
        REACHED.update(outcome.status for outcome in found.files)
        REACHED.update(agent.source for agent in found.agents)
        REACHED.update(type(problem).__name__ for problem in found.problems)
        REACHED.update(["replaced bundled"] * (len([agent for agent in found.agents if agent.source == "bundled"]) < 6))

    gather()
    assert {*OUTCOMES, *PROBLEMS, *SOURCES, "replaced bundled"} - set(REACHED) == set()
