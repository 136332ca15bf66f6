"""From an agent directory to its candidate files, each with a verdict."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple, TypeAlias, cast

from returns.result import Failure, Result

from pipeline.agent import AgentDefinition, Source
from pipeline.definition import read_agent
from pipeline.hosts.host import Host
from pipeline.nodes import Absent, Circle, Directory, File, Link, Node, Seen, Special, TooLarge, Unreadable, describe, plain
from pipeline.places import Place
from pipeline.problem import BrokenLink, FileTooLarge, Invalid, NotAFile, ReplacedBytes, Unavailable, UnreadableFile, Warned
from pipeline.snapshot import Snapshot

Trouble: TypeAlias = Invalid | Unavailable
"""Why a file gives no definition."""


class Candidate(NamedTuple):
    """A file that may define an agent: what it comes to by itself, before other files are looked at.

    `claimed` is the name it asks for, its file name's stem where its text does not tell.
    """

    path: str
    source: Source
    result: Result[AgentDefinition, tuple[Trouble, ...]]
    warnings: tuple[Warned, ...]
    claimed: str


def candidates(place: Place, snapshot: Snapshot, host: Host) -> tuple[Candidate, ...]:
    """The candidates of one place in lexicographic order of file name, by code point; none where it cannot be listed."""
    node = snapshot.locate(place.path).node
    return _of_directory(node, place, snapshot, host) if isinstance(node, Directory) else ()


def _of_directory(directory: Directory, place: Place, snapshot: Snapshot, host: Host) -> tuple[Candidate, ...]:
    key = (candidates, place.path, place.source, host)
    known = directory.memo.get(key)
    if known is not None:
        return cast("tuple[Candidate, ...]", known)
    found = sorted((item for item in plain(directory).items() if item[0].endswith(host.suffix)), key=itemgetter(0))
    made = tuple([made for name, child in found if (made := _candidate(child, f"{place.path}/{name}", place.source, host, snapshot))])
    if not any(isinstance(child, Link) for _, child in found):  # what a link leads to is no part of this directory
        directory.memo[key] = made
    return made


def _candidate(child: Node, path: str, source: Source, host: Host, snapshot: Snapshot) -> Candidate | None:
    if isinstance(child, File):
        return _of_file(child, path, source, host)
    if isinstance(child, Link):
        return _of_link(child, path, source, host, snapshot.locate(path).node)
    return None if isinstance(child, Directory | Absent) else _unavailable(path, source, host, _trouble(child, path))


def mistaken_directories(place: Place, snapshot: Snapshot, host: Host) -> Iterator[NotAFile]:
    """The directories of a place that are named like an agent's file; no candidates, but worth a word."""
    node = snapshot.locate(place.path).node
    if isinstance(node, Directory):
        for name, child in plain(node).items():
            if isinstance(child, Directory) and name.endswith(host.suffix):
                yield NotAFile(path=f"{place.path}/{name}", kind="a directory")


def _of_file(file: File, path: str, source: Source, host: Host) -> Candidate:
    key = (path, source, host.reading)
    known = file.memo.get(key)
    if known is not None:
        return cast("Candidate", known)
    text = file.text
    verdict = read_agent(text, path, source, host=host)
    warnings = verdict.warnings
    if "\ufffd" in text:
        warnings = (*_replaced(file.data, path), *warnings)
    made = Candidate(path, source, verdict.result, warnings, verdict.claimed or _stem(path, host))
    file.memo[key] = made
    return made


def _of_link(link: Link, path: str, source: Source, host: Host, found: Seen) -> Candidate:
    if isinstance(found, File):
        return _of_file(found, path, source, host)
    if isinstance(found, Circle):
        return _unavailable(path, source, host, BrokenLink(path=path, target=link.target, reason="it leads round in a circle"))
    if isinstance(found, Absent):
        return _unavailable(path, source, host, BrokenLink(path=path, target=link.target, reason="nothing is there"))
    return _unavailable(path, source, host, _trouble(found, path))


def _unavailable(path: str, source: Source, host: Host, trouble: Unavailable) -> Candidate:
    return Candidate(path, source, Failure((trouble,)), (), _stem(path, host))


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


def _stem(path: str, host: Host) -> str:
    return posixpath.basename(path)[: -len(host.suffix)]


def _replaced(data: bytes, path: str) -> Iterator[Warned]:
    """The warning for bytes that are not UTF-8; a U+FFFD that the file itself holds is none."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line_start = data.rfind(b"\n", 0, error.start) + 1
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[line_start : error.start].decode("utf-8")) + 1
        count = data.decode("utf-8", "replace").count("\ufffd") - data.count("\ufffd".encode())
        yield ReplacedBytes(path=path, line=line, column=column, count=count)
