"""The pipeline itself: places -> candidates -> the first-wins fold, with an outcome for every file."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from pyrsistent import PMap, pmap
from returns.result import Failure, Result

from pipeline.agent import AgentDefinition, Source
from pipeline.bundled import load_bundled_agents
from pipeline.candidates import Candidate, Trouble, candidates, mistaken_directories
from pipeline.collecting import nothing_to_collect
from pipeline.hosts import STANDARD, Host
from pipeline.nodes import Directory
from pipeline.places import Place, project_agents_dir, surroundings, survey
from pipeline.problem import Invalid, NamesDifferByCase, Problem, SameNameInDirectory, Surrounding, Warned, WouldHaveWon
from pipeline.snapshot import Snapshot

Status: TypeAlias = Literal["loaded", "shadowed", "invalid", "unreadable"]
Winners: TypeAlias = PMap[str, str]
"""The names seen so far, each with the path of the file that won it."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one candidate file: its status, its definition or what is wrong with it, who won over it, its warnings."""

    path: str
    source: Source
    status: Status
    result: Result[AgentDefinition, tuple[Trouble, ...]]
    claimed: str
    winner: str | None = None
    warnings: tuple[Warned, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong with the file: why it gives no definition, then its warnings."""
        return (*self.result.failure(), *self.warnings) if isinstance(self.result, Failure) else self.warnings


@dataclass(frozen=True, slots=True)
class Discovery:
    """The agents in force, in order of precedence, bundled last, and what became of every file."""

    agents: tuple[AgentDefinition, ...]
    files: tuple[FileOutcome, ...]
    project_agents_dir: str | None
    surroundings: tuple[Surrounding, ...] = ()
    """What is wrong outside the files: registries, directories."""
    host: Host = field(default=STANDARD, compare=False)
    by_name: Mapping[str, AgentDefinition] = field(init=False, repr=False, compare=False)
    """The agents in force by their exact names."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", MappingProxyType({agent.name: agent for agent in self.agents}))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong, the surroundings first, then file by file in order of precedence."""
        return (*self.surroundings, *chain.from_iterable(outcome.problems for outcome in self.files))

    def to_dict(self) -> dict[str, object]:
        """The answer as plain JSON data, in the shape of the host's own: bundled agents by name alone."""
        agents = [{"name": a.name, "source": a.source} if a.source == "bundled" else a.to_dict() for a in self.agents]
        answer: dict[str, object] = {"agents": agents, "project_agents_dir": self.project_agents_dir}
        if self.host.says_outcomes:
            answer["files"] = {outcome.path: outcome.status for outcome in self.files}
        return answer


class Merged(NamedTuple):
    """Where a fold has come to: the names seen, and an outcome for each candidate in order."""

    winners: Winners
    outcomes: tuple[FileOutcome, ...]


@nothing_to_collect()
def discover(snapshot: Snapshot, *, host: Host = STANDARD) -> Discovery:
    r"""The agents in force in a snapshot by a host's rules, with every file accounted for; pure and total.

    >>> found = discover(Snapshot.from_tree({".claude/agents/a.md": "---\nname: a\ndescription: b\n---"}))
    >>> found.agents[0].name, found.files[0].status, len(found.agents)
    ('a', 'loaded', 7)
    """
    where, problems = survey(host, snapshot)
    winners, outcomes = _folded_by_place(where, snapshot, host)
    bundled = tuple([agent for agent in load_bundled_agents() if agent.name not in winners])
    loaded = [outcome.result.unwrap() for outcome in outcomes if outcome.status == "loaded"]
    mistaken = chain.from_iterable(mistaken_directories(place, snapshot, host) for place in where)
    return Discovery(
        (*loaded, *bundled),
        _compared(outcomes, winners, bundled),
        project_agents_dir(host, snapshot),
        (*problems, *surroundings(where, snapshot), *mistaken),
        host,
    )


_NOBODY: Final[Winners] = pmap()


def _folded_by_place(where: Iterable[Place], snapshot: Snapshot, host: Host) -> Merged:
    """The fold, place by place: where a directory and all that was seen before it are the same as last time, so is what comes of it."""
    winners = _NOBODY
    outcomes: list[FileOutcome] = []
    for place in where:
        some = candidates(place, snapshot, host)
        directory = snapshot.locate(place.path).node
        if not some or not isinstance(directory, Directory):
            continue
        before, batch, merged = directory.memo.get((first_wins, place.path), (None, None, None))
        if before is not winners or batch is not some or merged is None:
            merged = first_wins(some, winners)
            directory.memo[(first_wins, place.path)] = (winners, some, merged)
        winners = merged.winners
        outcomes += merged.outcomes
    return Merged(winners, tuple(outcomes))


def first_wins(some: Iterable[Candidate], winners: Winners = _NOBODY) -> Merged:
    """The fold: the first candidate of a name wins, later ones are shadowed by it, broken ones touch nothing.

    Folding in two steps is folding once: `first_wins(b, first_wins(a).winners)` ends where `first_wins(a + b)` does.
    """
    batch: dict[str, str] = {}
    outcomes = tuple([_outcome(candidate, batch, winners) for candidate in some])
    return Merged(winners.update(batch) if winners else pmap(batch), outcomes)


def _outcome(candidate: Candidate, batch: dict[str, str], winners: Winners) -> FileOutcome:
    """What becomes of a candidate after those in `winners` and, in this batch, `batch`, which learns of it if it wins."""
    path, source, result, warnings, claimed = candidate.path, candidate.source, candidate.result, candidate.warnings, candidate.claimed
    if isinstance(result, Failure):
        invalid = isinstance(result.failure()[0], Invalid)
        return FileOutcome(path, source, "invalid" if invalid else "unreadable", result, claimed, None, warnings)
    winner = batch.get(claimed) or (winners.get(claimed) if winners else None)
    if winner is None:
        batch[claimed] = path
        return FileOutcome(path, source, "loaded", result, claimed, None, warnings)
    if posixpath.dirname(winner) == posixpath.dirname(path) and winner != path:
        warnings = (*warnings, SameNameInDirectory(path=path, line=1, column=1, name=claimed, winner=winner))
    return FileOutcome(path, source, "shadowed", result, claimed, winner, warnings)


def _compared(outcomes: tuple[FileOutcome, ...], winners: Winners, bundled: tuple[AgentDefinition, ...]) -> tuple[FileOutcome, ...]:
    """The outcomes with the warnings that only show beside the others: names alike but for case, broken files that hide another."""
    more = {**_alike(outcomes, bundled), **_hidden(outcomes, winners, bundled)}
    if not more:
        return outcomes
    return tuple(replace(outcome, warnings=(*outcome.warnings, more[at])) if at in more else outcome for at, outcome in enumerate(outcomes))


def _alike(outcomes: tuple[FileOutcome, ...], bundled: tuple[AgentDefinition, ...]) -> dict[int, Warned]:
    """By index, the loaded files whose name is an earlier one's, or a bundled agent's, but for case."""
    first: dict[str, tuple[str, str]] = {}
    found: dict[int, Warned] = {}
    shipped = {folded(agent.name): (agent.name, agent.file_path) for agent in bundled}
    for at, outcome in enumerate(outcomes):
        if outcome.status == "loaded":
            name = outcome.claimed
            low = folded(name)
            other, path = first.setdefault(low, (name, outcome.path))
            if other == name:
                other, path = shipped.get(low, (name, path))
            if other != name:
                found[at] = NamesDifferByCase(path=outcome.path, name=name, other=other, other_path=path)
    return found


def _hidden(outcomes: tuple[FileOutcome, ...], winners: Winners, bundled: tuple[AgentDefinition, ...]) -> dict[int, Warned]:
    """By index, the broken files whose name somebody after them won."""
    broken = [(at, outcome) for at, outcome in enumerate(outcomes) if outcome.status in ("invalid", "unreadable")]
    order = {outcome.path: at for at, outcome in enumerate(outcomes)} if broken else {}
    shipped = {agent.name: agent.file_path for agent in bundled}
    found: dict[int, Warned] = {}
    for at, outcome in broken:
        winner = winners.get(outcome.claimed) or shipped.get(outcome.claimed)
        if winner is not None and order.get(winner, at + 1) > at:
            found[at] = WouldHaveWon(path=outcome.path, name=outcome.claimed, winner=winner)
    return found


def folded(name: str) -> str:
    """A name without the differences that people overlook: case, and how accents are composed."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", name).casefold()
