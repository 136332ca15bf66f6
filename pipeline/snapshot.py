"""A piece of a file tree as an immutable value: what discovery reads instead of the disk."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from returns.result import Failure, Result, Success

from pipeline.encoding import A_PATH, BadSnapshot, decode_tree, encode_tree, every_place, is_path
from pipeline.nodes import ABSENT, CIRCLE, UNKNOWN, Absent, Circle, Directory, File, Link, Node, Seen, Unknown, Unreadable

MAX_LINKS: Final = 40
"""Links followed in one look-up before it counts as a circle, as Linux does."""


class Located(NamedTuple):
    """Where a path leads once its links are followed, and what stands there."""

    real: str
    node: Seen


@dataclass(frozen=True, slots=True)
class NotThere:
    """A path that gives no content or listing: what stands there instead."""

    path: str
    node: Seen


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A piece of a file tree seen from `cwd` by a user with the home `home`; `user` is the numeric id of who looked, where known.

    Paths are absolute and in POSIX form. `put` and `remove` give a new snapshot that shares everything else with this one.
    """

    cwd: str
    home: str
    root: Directory = field(default_factory=lambda: Directory(complete=False))
    user: int | None = None
    located: dict[str, Located] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Where the paths asked for so far lead; no part of the value."""

    @classmethod
    def from_tree(
        cls,
        tree: Mapping[str, str | bytes | Node],
        *,
        cwd: str = "/home/user/project",
        home: str = "/home/user",
        user: int | None = None,
    ) -> Snapshot:
        """A snapshot made by hand; what the tree does not name is not there. Keys may start with `~/` or be relative to `cwd`.

        >>> made = Snapshot.from_tree({".claude/agents/a.md": "---", "~/b": Link("/c")})
        >>> [path for path, _ in made.walk()]
        ['/home/user/b', '/home/user/project/.claude/agents/a.md']
        """
        empty = cls(cwd, home, Directory(), user)
        return empty.with_nodes((path, _as_node(content)) for path, content in tree.items())

    @classmethod
    def from_json(cls, text: str) -> Result[Snapshot, BadSnapshot]:
        """The snapshot that a JSON text holds: what `to_json` gives, or entries written by hand.

        >>> Snapshot.from_json('{"cwd": "/p", "home": "/h", "entries": [{"path": "/p/a", "text": "x"}]}').unwrap().is_dir("/p")
        True
        >>> Snapshot.from_json("[]").failure()
        BadSnapshot(where='the whole', expected='an object with cwd, home and entries')
        """
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            return Failure(BadSnapshot("the whole", f"JSON ({error})"))
        match found:
            case {"cwd": str(cwd), "home": str(home), "entries": entries}:
                for key, path in (("cwd", cwd), ("home", home)):
                    if not is_path(path):
                        return Failure(BadSnapshot(key, A_PATH))
                user = found.get("user")
                empty = cls(cwd, home, Directory(), user if isinstance(user, int) else None)
                return decode_tree(entries).map(empty.with_nodes)
        return Failure(BadSnapshot("the whole", "an object with cwd, home and entries"))

    def to_json(self) -> str:
        """The snapshot as JSON, all ASCII, the same text for equal snapshots."""
        whole = {"cwd": self.cwd, "home": self.home, "user": self.user, "entries": encode_tree(self.root)}
        return json.dumps(whole, indent=1)

    def absolute(self, path: str) -> str:
        """The path with `~` and relative paths resolved against this snapshot's home and cwd, dots removed."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return normal(posixpath.join(self.cwd, path))

    def locate(self, path: str) -> Located:
        """Where an absolute path leads, links followed, and what is there; total.

        >>> Snapshot.from_tree({"/a/b": Link("c"), "/a/c": "text"}).locate("/a/b")
        Located(real='/a/c', node=File(data=b'text', stamp=None))
        """
        known = self.located.get(path)
        if known is None:
            known = self.located[path] = self._follow(path)
        return known

    def _follow(self, path: str) -> Located:
        pending = _parts(path)
        trail: list[tuple[str, Directory]] = [("", self.root)]
        links = 0
        while pending:
            name = pending.pop()
            above, directory = trail[-1]
            if name == "..":
                trail = trail[:-1] or trail
                continue
            here = f"{above}/{name}"
            node = directory.children.get(name)
            if isinstance(node, Directory):
                trail.append((here, node))
            elif isinstance(node, Link):
                links += 1
                if links > MAX_LINKS:
                    return Located(here, CIRCLE)
                if node.target.startswith("/"):
                    trail = trail[:1]
                pending += _parts(node.target)
            elif node is None:
                return Located(here, ABSENT if directory.complete else UNKNOWN)
            elif pending and not isinstance(node, Unreadable):
                return Located(here, ABSENT)
            else:
                return Located(here, node)
        real, directory = trail[-1]
        return Located(real or "/", directory)

    def read(self, path: str) -> Result[File, NotThere]:
        """The regular file that a path leads to.

        >>> Snapshot.from_tree({"/a": "text"}).read("/a").unwrap().text
        'text'
        >>> Snapshot.from_tree({}).read("/a").failure()
        NotThere(path='/a', node=Absent())
        """
        node = self.locate(path).node
        return Success(node) if isinstance(node, File) else Failure(NotThere(path, node))

    def list(self, path: str) -> Result[tuple[str, ...], NotThere]:
        """The names in a directory, in lexicographic order by code point.

        >>> Snapshot.from_tree({"/d/b": "", "/d/B": ""}).list("/d").unwrap()
        ('B', 'b')
        """
        node = self.locate(path).node
        if isinstance(node, Directory) and node.complete:
            return Success(tuple(sorted(name for name, child in node.children.items() if not isinstance(child, Absent))))
        return Failure(NotThere(path, node))

    def is_dir(self, path: str) -> bool:
        """Whether a path leads to a directory, even one that cannot be listed."""
        node = self.locate(path).node
        return isinstance(node, Directory) or (isinstance(node, Unreadable) and node.directory)

    def real_path(self, path: str) -> Result[str, NotThere]:
        """The path without links of what a path leads to."""
        real, node = self.locate(path)
        return Failure(NotThere(path, node)) if isinstance(node, Absent | Unknown | Circle) else Success(real)

    def walk(self) -> Iterator[tuple[str, Node]]:
        """Every place that is no directory, by its path without links, in lexicographic order of the paths' parts."""
        return ((path, node) for path, node in every_place(self.root) if not isinstance(node, Directory))

    def put(self, path: str, content: str | bytes | Node) -> Snapshot:
        """The snapshot in which `path` holds `content`: directories are made as needed, what stood there is replaced.

        >>> before = Snapshot.from_tree({"/a": "1"})
        >>> before.put("/d/b", "2").read("/d/b").unwrap().text, before.is_dir("/d")
        ('2', False)
        """
        return self.with_nodes([(path, _as_node(content))])

    def remove(self, path: str) -> Snapshot:
        """The snapshot in which nothing stands at `path`; a link goes, not what it leads to."""
        real = self._place(path)
        if isinstance(self.locate(posixpath.dirname(real)).node, Directory):
            return self.at_real(real, ABSENT)
        return self

    def with_nodes(self, nodes: Iterable[tuple[str, Node]]) -> Snapshot:
        """The snapshot with each node at its path; links on the way to a path are followed, one at its end is replaced."""
        made = self
        for path, node in nodes:
            made = made.at_real(made._place(path), node)
        return made

    def at_real(self, path: str, node: Node) -> Snapshot:
        """The snapshot with a node at a path that is absolute and leads over no link, as `locate` gives it."""
        return Snapshot(self.cwd, self.home, _set(self.root, _parts(path), node), self.user)

    def _place(self, path: str) -> str:
        """The path of the entry itself: its directory without links, its own name as it is."""
        above, name = posixpath.split(self.absolute(path))
        located = self.locate(above)
        return posixpath.join(above if isinstance(located.node, Absent | Unknown) else located.real, name)


@lru_cache(maxsize=4096)
def normal(path: str) -> str:
    """A POSIX path without dots, double slashes or a slash at its end.

    >>> normal("//a/./b/../c/")
    '/a/c'
    """
    short = posixpath.normpath(path)
    return short[1:] if short.startswith("//") else short


def _as_node(content: str | bytes | Node) -> Node:
    if isinstance(content, str):
        return File(content.encode("utf-8", "surrogatepass"))
    return File(content) if isinstance(content, bytes) else content


def _parts(path: str) -> list[str]:
    """The names on a path, last first, ready to be popped."""
    return [part for part in reversed(path.split("/")) if part and part != "."]


def _set(directory: Directory, pending: list[str], node: Node) -> Directory:
    """The directory with `node` at the path in `pending` (last name first); directories that are missing are made."""
    if not pending:
        return node if isinstance(node, Directory) else directory
    trail = [directory]
    for name in pending[:0:-1]:
        child = trail[-1].children.get(name)
        trail.append(child if isinstance(child, Directory) else Directory())
    for name in pending:
        above = trail.pop()
        gone = isinstance(node, Absent) and above.complete
        children = above.children.discard(name) if gone else above.children.set(name, node)
        node = directory = Directory(children, above.complete, above.owner, above.mode, above.unlisted)
    return directory
