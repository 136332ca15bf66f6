"""What can stand at one place of a file tree, seen once: content, a listing, a link, or the reason why there is neither."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from pyrsistent import PMap, pmap


class Stamp(NamedTuple):
    """What tells that a file is unchanged without reading it: modification time in ns, size in bytes, inode."""

    mtime_ns: int
    size: int
    inode: int

    @staticmethod
    def of(found: os.stat_result) -> Stamp:
        """The stamp of what the system tells of a file."""
        return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)


@dataclass(frozen=True, slots=True, init=False)
class File:
    """A regular file and its bytes; `stamp` is None where it was made by hand."""

    data: bytes
    stamp: Stamp | None
    memo: dict[Hashable, Any] = field(init=False, compare=False, repr=False)
    """Answers of pure functions of this file, so that a file kept from one snapshot to the next is parsed once; no part of its value."""

    def __init__(self, data: bytes, stamp: Stamp | None = None) -> None:
        _set_data(self, data)  # through the slots: half the cost of the generated frozen `__init__`, and there is one for every file
        _set_stamp(self, stamp)
        _set_memo(self, {})

    @property
    def text(self) -> str:
        """The content as text; bytes that are not UTF-8 become U+FFFD."""
        return self.data.decode("utf-8", "replace")

    @property
    def digest(self) -> str:
        """The SHA-256 of the content, as hex."""
        return hashlib.sha256(self.data).hexdigest()


_set_data: Final[Any] = vars(File)["data"].__set__
_set_stamp: Final[Any] = vars(File)["stamp"].__set__
_set_memo: Final[Any] = vars(File)["memo"].__set__


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link, as written."""

    target: str


@dataclass(frozen=True, slots=True, eq=False)
class Directory:
    """A directory. `complete` when `children` is all it holds; else only some of its places have been looked at: all that can be, where the
    system would not list it; `unlisted` is its word then.
    """

    children: PMap[str, Node] = field(default_factory=lambda: _NO_CHILDREN)
    complete: bool = True
    owner: int | None = None
    mode: int | None = None
    unlisted: str | None = None
    memo: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """Answers of pure functions of this directory, as a file has them."""

    def __eq__(self, other: object) -> bool:
        # By the children as dicts: persistent maps that differ compare twice at every level, which doubles the time with each.
        if self is other or not isinstance(other, Directory):
            return self is other
        return self._told == other._told and plain(self) == plain(other)

    def __hash__(self) -> int:
        return hash((self.children, self._told))

    @property
    def _told(self) -> tuple[object, ...]:
        return self.complete, self.owner, self.mode, self.unlisted


def plain(directory: Directory) -> Mapping[str, Node]:
    """The children as a dict, made once: for whoever goes through them all."""
    known: dict[str, Node] | None = directory.memo.get(plain)
    if known is None:
        known = directory.memo[plain] = dict(directory.children.items())
    return known


def listing(children: dict[str, Node], owner: int | None, mode: int | None) -> Directory:
    """The complete directory with these children."""
    made = Directory(pmap(children), True, owner, mode)
    made.memo[plain] = children
    return made


@dataclass(frozen=True, slots=True)
class Unread:
    """A regular file that nobody needed to open; its size in bytes."""

    size: int


@dataclass(frozen=True, slots=True)
class TooLarge:
    """A regular file over the limit it was read with; both in bytes."""

    size: int
    limit: int


@dataclass(frozen=True, slots=True)
class Special:
    """A pipe, a socket or a device: never opened."""

    kind: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or directory that the system would not give; `reason` is its word."""

    reason: str
    directory: bool = False


@dataclass(frozen=True, slots=True)
class Absent:
    """Looked at, and there is nothing."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not looked at yet; only an answer to a look-up, never part of a tree."""


@dataclass(frozen=True, slots=True)
class Circle:
    """Links that lead round in a circle; only an answer to a look-up, never part of a tree."""


Node: TypeAlias = File | Link | Directory | Unread | TooLarge | Special | Unreadable | Absent
Seen: TypeAlias = Node | Unknown | Circle
"""What a look-up can meet once links are followed."""

ABSENT: Final = Absent()
UNKNOWN: Final = Unknown()
CIRCLE: Final = Circle()


_NO_CHILDREN: Final[PMap[str, Node]] = pmap()


def describe(node: Seen) -> str:
    """What a node is, in the words of a message: `a directory`, `a named pipe`.

    >>> describe(Directory())
    'a directory'
    """
    match node:
        case Special(kind):
            return kind
        case Unreadable(reason, directory):
            return f"{'a directory' if directory else 'a file'} that the system does not give ({reason})"
        case TooLarge(size, limit):
            return f"a file of {size} bytes, where {limit} are read"
    return _WORDS.get(type(node), "a file")


_WORDS: Final[dict[type, str]] = {
    Directory: "a directory",
    Link: "a link",
    Absent: "nothing",
    Unknown: "not looked at",
    Circle: "a circle of links",
}
