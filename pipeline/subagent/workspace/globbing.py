"""Patterns for paths, matched segment by segment on a walk that goes only where a match may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

ANY_DEPTH: Final = "**"
States: TypeAlias = frozenset[int]
"""How far a path fits a pattern: the indexes of the segments that may come next; the number of segments where all of them have."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as its segments. It is tried on a path one name at a time; the work for each name is bounded by the number of segments.

    >>> pattern = Pattern.of("src/**/*.py")
    >>> [pattern.fits(path) for path in ("src/a.py", "src/b/c/a.py", "a.py", "src/.b/a.py", "src/a.pyi")]
    [True, True, False, False, False]
    """

    segments: tuple[str, ...]

    @staticmethod
    def of(text: str) -> Pattern:
        """The pattern of a text: segments as `fnmatch` has them, `**` for any number of directories; at the end, for all that lies below.

        >>> Pattern.of("a//./**/**").segments
        ('a', '**', '*')
        """
        segments: list[str] = []
        for segment in text.split("/"):
            if segment not in {"", "."} and not (segment == ANY_DEPTH and segments[-1:] == [ANY_DEPTH]):
                segments.append(segment)
        return Pattern((*segments, "*") if segments[-1:] == [ANY_DEPTH] else tuple(segments))

    @property
    def start(self) -> States:
        """The state before the first name."""
        return self._spread({0})

    def after(self, states: States, name: str) -> States:
        """The state after one more name; empty where the path cannot fit any more."""
        coming = {at: self.segments[at] for at in states if at < len(self.segments)}
        fitting = {segment for segment in set(coming.values()) if _fits(segment, name)}
        return self._spread({at + (segment != ANY_DEPTH) for at, segment in coming.items() if segment in fitting})

    def is_complete(self, states: States) -> bool:
        """Whether the names so far make a match."""
        return len(self.segments) in states

    def goes_on(self, states: States) -> bool:
        """Whether there may be a match below."""
        return any(at < len(self.segments) for at in states)

    def fits(self, path: str) -> bool:
        """Whether a relative path is a match."""
        states = self.start
        for name in path.split("/"):
            states = self.after(states, name)
        return self.is_complete(states)

    def _spread(self, states: set[int]) -> States:
        """With the states that are reached as `**` stands for no directory at all; no two of it stand side by side."""
        return frozenset(states | {at + 1 for at in states if self.segments[at : at + 1] == (ANY_DEPTH,)})


def _fits(segment: str, name: str) -> bool:
    if name.startswith(".") and not segment.startswith("."):
        return False
    return segment == ANY_DEPTH or fnmatchcase(name, segment)


def matches(base: str, pattern: Pattern, check: Callable[[], object]) -> Iterator[os.DirEntry[str]]:
    """The entries below a directory that fit, in any order; links are not followed, directories that cannot be listed are passed over.

    `check` is called before each directory, and may raise to end the walk.
    """
    open_ends = [(base, pattern.start)]
    while open_ends:
        folder, states = open_ends.pop()
        check()
        for entry in _entries(folder):
            after = pattern.after(states, entry.name)
            if pattern.is_complete(after):
                yield entry
            if pattern.goes_on(after) and entry.is_dir(follow_symlinks=False):
                open_ends.append((entry.path, after))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
