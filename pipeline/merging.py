"""First wins: the fold over candidates, with an outcome for every file, the same for agents and for commands."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from pyrsistent import PMap, pmap
from returns.result import Failure, Result

from pipeline.agent import Source
from pipeline.candidates import Candidate, Reader, Trouble, candidates
from pipeline.hosts import Host
from pipeline.nodes import Directory
from pipeline.places import Place
from pipeline.problem import Invalid, NamesDifferByCase, Problem, SameNameInDirectory, Warned, WouldHaveWon
from pipeline.snapshot import Snapshot

T = TypeVar("T")

Status: TypeAlias = Literal["loaded", "shadowed", "invalid", "unreadable"]
Winners: TypeAlias = PMap[str, str]
"""The names seen so far, each with the path of the file that won it."""


@dataclass(frozen=True, slots=True)
class FileOutcome(Generic[T]):
    """What became of one candidate file: its status, its definition or what is wrong with it, who won over it, its warnings."""

    path: str
    source: Source
    status: Status
    result: Result[T, tuple[Trouble, ...]]
    claimed: str
    winner: str | None = None
    warnings: tuple[Warned, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong with the file: why it gives no definition, then its warnings."""
        return (*self.result.failure(), *self.warnings) if isinstance(self.result, Failure) else self.warnings


class Merged(NamedTuple, Generic[T]):
    """Where a fold has come to: the names seen, and an outcome for each candidate in order."""

    winners: Winners
    outcomes: tuple[FileOutcome[T], ...]

    @property
    def loaded(self) -> list[T]:
        """The definitions that won, in order of precedence."""
        return [outcome.result.unwrap() for outcome in self.outcomes if outcome.status == "loaded"]


_NOBODY: Final[Winners] = pmap()


def merge(where: Iterable[tuple[Place, Reader[T]]], snapshot: Snapshot, host: Host, shipped: Mapping[str, str]) -> Merged[T]:
    """The fold over all places in order, and the warnings that only show once it is done; `shipped` has the bundled names and their paths.

    Where a directory and all that was seen before it are the same as last time, so is what comes of it.
    """
    winners = _NOBODY
    outcomes: list[FileOutcome[T]] = []
    for place, reader in where:
        some = candidates(place, snapshot, host, reader)
        directory = snapshot.locate(place.path).node
        if some and isinstance(directory, Directory):
            before, batch, merged = directory.memo.get((first_wins, place.path, reader), (None, None, None))
            if before is not winners or batch is not some or merged is None:
                merged = first_wins(some, winners)
                directory.memo[(first_wins, place.path, reader)] = (winners, some, merged)
            winners = merged.winners
            outcomes += merged.outcomes
    left = {name: path for name, path in shipped.items() if name not in winners}
    return Merged(winners, _compared(tuple(outcomes), winners, left))


def first_wins(some: Iterable[Candidate[T]], winners: Winners = _NOBODY) -> Merged[T]:
    """The fold: the first candidate of a name wins, later ones are shadowed by it, broken ones touch nothing.

    Folding in two steps is folding once: `first_wins(b, first_wins(a).winners)` ends where `first_wins(a + b)` does.
    """
    batch: dict[str, str] = {}
    outcomes = tuple([_outcome(candidate, batch, winners) for candidate in some])
    return Merged(winners.update(batch) if winners else pmap(batch), outcomes)


def _outcome(candidate: Candidate[T], batch: dict[str, str], winners: Winners) -> FileOutcome[T]:
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


def _compared(outcomes: tuple[FileOutcome[T], ...], winners: Winners, shipped: Mapping[str, str]) -> tuple[FileOutcome[T], ...]:
    """The outcomes with the warnings that only show beside the others: names alike but for case, broken files that hide another."""
    more = {**_alike(outcomes, shipped), **_hidden(outcomes, winners, shipped)}
    if not more:
        return outcomes
    return tuple(replace(outcome, warnings=(*outcome.warnings, more[at])) if at in more else outcome for at, outcome in enumerate(outcomes))


def _alike(outcomes: tuple[FileOutcome[T], ...], shipped: Mapping[str, str]) -> dict[int, Warned]:
    """By index, the loaded files whose name is an earlier one's, or a bundled one's, but for case."""
    first: dict[str, tuple[str, str]] = {}
    found: dict[int, Warned] = {}
    bundled = {folded(name): (name, path) for name, path in shipped.items()}
    for at, outcome in enumerate(outcomes):
        if outcome.status == "loaded":
            name = outcome.claimed
            low = folded(name)
            other, path = first.setdefault(low, (name, outcome.path))
            if other == name:
                other, path = bundled.get(low, (name, path))
            if other != name:
                found[at] = NamesDifferByCase(path=outcome.path, name=name, other=other, other_path=path)
    return found


def _hidden(outcomes: tuple[FileOutcome[T], ...], winners: Winners, shipped: Mapping[str, str]) -> dict[int, Warned]:
    """By index, the broken files whose name somebody after them won."""
    broken = [(at, outcome) for at, outcome in enumerate(outcomes) if outcome.status in ("invalid", "unreadable")]
    order = {outcome.path: at for at, outcome in enumerate(outcomes)} if broken else {}
    found: dict[int, Warned] = {}
    for at, outcome in broken:
        winner = winners.get(outcome.claimed) or shipped.get(outcome.claimed)
        if winner is not None and order.get(winner, at + 1) > at:
            found[at] = WouldHaveWon(path=outcome.path, name=outcome.claimed, winner=winner)
    return found


def folded(name: str) -> str:
    """A name without the differences that people overlook: case, and how accents are composed."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", name).casefold()
