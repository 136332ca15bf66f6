"""From a directory to its candidate files, each with a verdict: the same for agents and for commands."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Hashable, Iterator
from operator import itemgetter
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from returns.result import Failure, Result

from pipeline.agent import Source
from pipeline.definition import Verdict
from pipeline.frontmatter.fences import with_one_line_break
from pipeline.hosts.host import Host
from pipeline.nodes import Absent, Circle, Directory, File, Link, Node, Seen, Special, TooLarge, Unreadable, describe, plain
from pipeline.places import Place
from pipeline.problem import BrokenLink, FileTooLarge, Invalid, NotAFile, ReplacedBytes, Unavailable, UnreadableFile, Warned
from pipeline.snapshot import Snapshot

Trouble: TypeAlias = Invalid | Unavailable
"""Why a file gives no definition."""


T = TypeVar("T")


class Reader(Hashable, Protocol[T]):
    """How the files of a place become definitions of one sort; hashable, so that what it made of a file can be kept with the file."""

    def read(self, text: str, path: str, source: Source, host: Host) -> Verdict[T]:
        """The verdict on a text."""
        ...

    def order(self, host: Host) -> Callable[[str], Any] | None:
        """What to sort file names by; None is by code point."""
        ...


class Candidate(NamedTuple, Generic[T]):
    """A file that may define something: what it comes to by itself, before other files are looked at.

    `claimed` is the name it asks for, its file name's stem where its text does not tell.
    """

    path: str
    source: Source
    result: Result[T, tuple[Trouble, ...]]
    warnings: tuple[Warned, ...]
    claimed: str


def candidates(place: Place, snapshot: Snapshot, host: Host, reader: Reader[T]) -> tuple[Candidate[T], ...]:
    """The candidates of one place in the order of their file names; none where it cannot be listed."""
    node = snapshot.locate(place.path).node
    return _of_directory(node, place, snapshot, host, reader) if isinstance(node, Directory) else ()


def _of_directory(directory: Directory, place: Place, snapshot: Snapshot, host: Host, reader: Reader[T]) -> tuple[Candidate[T], ...]:
    key = (candidates, place.path, place.source, host, reader)
    known = directory.memo.get(key)
    if known is not None:
        return cast("tuple[Candidate[T], ...]", known)
    children = plain(directory)
    names = sorted([name for name in children if name.endswith(host.suffix)], key=reader.order(host))
    make = _Maker(place, snapshot, host, reader)
    made = tuple([candidate for name in names if (candidate := make.of(name, children[name]))])
    if not any(isinstance(children[name], Link) for name in names):  # what a link leads to is no part of this directory
        directory.memo[key] = made
    return made


class _Maker(NamedTuple, Generic[T]):
    """Makes the candidates of one place."""

    place: Place
    snapshot: Snapshot
    host: Host
    reader: Reader[T]

    def of(self, name: str, child: Node) -> Candidate[T] | None:
        """The candidate at a name, or None where there is none, as with a directory."""
        path = f"{self.place.path}/{name}"
        if isinstance(child, File):
            return self._file(child, path)
        if isinstance(child, Link):
            return self._link(child, path)
        return None if isinstance(child, Directory | Absent) else self._unavailable(path, _trouble(child, path))

    def _file(self, file: File, path: str) -> Candidate[T]:
        source, host, reader = self.place.source, self.host, self.reader
        key = (path, source, host, reader)
        known = file.memo.get(key)
        if known is not None:
            return cast("Candidate[T]", known)
        text = file.text
        result, warnings, claimed = reader.read(text, path, source, host)
        if "\ufffd" in text:
            warnings = (*_replaced(file.data, path), *warnings)
        made = Candidate(path, source, result, warnings, claimed or stem(path, host))
        file.memo[key] = made
        return made

    def _link(self, link: Link, path: str) -> Candidate[T]:
        found = self.snapshot.locate(path).node
        if isinstance(found, File):
            return self._file(found, path)
        if isinstance(found, Circle):
            return self._unavailable(path, BrokenLink(path=path, target=link.target, reason="it leads round in a circle"))
        if isinstance(found, Absent):
            return self._unavailable(path, BrokenLink(path=path, target=link.target, reason="nothing is there"))
        return self._unavailable(path, _trouble(found, path))

    def _unavailable(self, path: str, trouble: Unavailable) -> Candidate[T]:
        return Candidate(path, self.place.source, Failure((trouble,)), (), stem(path, self.host))


def mistaken_directories(place: Place, snapshot: Snapshot, host: Host) -> Iterator[NotAFile]:
    """The directories of a place that are named like a definition's file; no candidates, but worth a word."""
    node = snapshot.locate(place.path).node
    if isinstance(node, Directory):
        for name, child in sorted(plain(node).items(), key=itemgetter(0)):
            if isinstance(child, Directory) and name.endswith(host.suffix):
                yield NotAFile(path=f"{place.path}/{name}", kind="a directory")


def _trouble(node: Seen, path: str) -> Unavailable:
    match node:
        case TooLarge(size, limit):
            return FileTooLarge(path=path, size=size, limit=limit)
        case Unreadable(reason):
            return UnreadableFile(path=path, reason=reason)
        case Special() | Directory():
            return NotAFile(path=path, kind=describe(node))
        case _:
            return UnreadableFile(path=path, reason="the snapshot does not hold its content")


def stem(path: str, host: Host) -> str:
    """A file's name without the host's suffix."""
    return posixpath.basename(path)[: -len(host.suffix)]


def _replaced(data: bytes, path: str) -> Iterator[Warned]:
    """The warning for bytes that are not UTF-8; a U+FFFD that the file itself holds is none."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = with_one_line_break(data[: error.start].decode("utf-8"))
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        count = data.decode("utf-8", "replace").count("\ufffd") - data.count("\ufffd".encode())
        yield ReplacedBytes(path=path, line=line, column=column, count=count)
