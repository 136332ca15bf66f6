"""A file tree as JSON entries and back, so that a bug report is one file that anyone can replay.

An entry is `{"path": ...}` with one of `text`, `base64`, `link`, `dir`, or a word for what could not be read. Directories that only hold
other entries need none of their own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from returns.result import Failure, Result, Success

from pipeline.nodes import ABSENT, Absent, Directory, File, Link, Node, Special, Stamp, TooLarge, Unread, Unreadable

_MAX_PATH: Final = 4096
A_PATH: Final = f"an absolute path of at most {_MAX_PATH} characters"


@dataclass(frozen=True, slots=True)
class BadSnapshot:
    """A JSON text that is no snapshot: which part of it, and what was expected there."""

    where: str
    expected: str


def encode_tree(root: Directory) -> list[dict[str, object]]:
    """The entries of a tree, parents first, each directory's children by name."""
    return [entry for path, node in every_place(root) for entry in _encode(path, node)]


def every_place(root: Directory) -> Iterator[tuple[str, Node]]:
    """Every place of a tree with its path, parents first, each directory's children by name; the root's path is empty."""
    coming: list[tuple[str, Node]] = [("", root)]
    while coming:
        path, node = coming.pop()
        yield path, node
        if isinstance(node, Directory):
            children = sorted(node.children.items(), key=lambda item: item[0], reverse=True)
            coming.extend((f"{path}/{name}", child) for name, child in children)


def is_path(text: str) -> bool:
    """Whether a text is an absolute path that a system takes."""
    return text.startswith("/") and "\0" not in text and len(text) <= _MAX_PATH


def _encode(path: str, node: Node) -> Iterator[dict[str, object]]:
    if not isinstance(node, Directory):
        yield {"path": path, **_content(node)}
    elif (node.complete, node.owner, node.mode) != (True, None, None) or not node.children:
        yield {"path": path or "/", "dir": True, **_directory(node)}


def _directory(node: Directory) -> dict[str, object]:
    said: dict[str, object] = {} if node.complete else {"listed": False}
    if node.owner is not None:
        said["owner"] = node.owner
    if node.mode is not None:
        said["mode"] = node.mode
    if node.unlisted is not None:
        said["unlisted"] = node.unlisted
    return said


def _content(node: File | Link | Unread | TooLarge | Special | Unreadable | Absent) -> Mapping[str, object]:
    match node:
        case File():
            return _bytes(node.data) | ({"stamp": list(node.stamp)} if node.stamp else {})
        case Link():
            return {"link": node.target}
        case Unread():
            return {"unread": node.size}
        case TooLarge():
            return {"too_large": node.size, "limit": node.limit}
        case Special():
            return {"special": node.kind}
        case Unreadable():
            return {"unreadable": node.reason} | ({"directory": True} if node.directory else {})
        case Absent():
            return {"absent": True}
        case _:
            assert_never(node)


def _bytes(data: bytes) -> dict[str, object]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def decode_tree(entries: object) -> Result[list[tuple[str, Node]], BadSnapshot]:
    """The places and nodes of a list of entries, directories first so that they can be put in order.

    >>> decode_tree([{"path": "/a", "text": "x"}]).unwrap()
    [('/a', File(data=b'x', stamp=None))]
    >>> decode_tree([{"path": "a"}]).failure()
    BadSnapshot(where='entries[0].path', expected='an absolute path of at most 4096 characters')
    """
    if not isinstance(entries, list):
        return Failure(BadSnapshot("entries", "a list"))
    nodes: list[tuple[str, Node]] = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            return Failure(BadSnapshot(f"entries[{index}]", "an object"))
        path = entry.get("path")
        if not isinstance(path, str) or not is_path(path):
            return Failure(BadSnapshot(f"entries[{index}].path", A_PATH))
        node = _decode(entry)
        if node is None:
            return Failure(BadSnapshot(f"entries[{index}]", "text, base64, link, dir, unread, too_large, special, unreadable or absent"))
        nodes.append((path, node))
    return Success(sorted(nodes, key=lambda item: (not isinstance(item[1], Directory), item[0].count("/"), item[0] != "/")))


def _decode(entry: Mapping[str, object]) -> Node | None:
    match entry:
        case {"text": str(text)}:
            return File(text.encode("utf-8", "surrogatepass"), _stamp(entry.get("stamp")))
        case {"base64": str(text)}:
            data = _unbase64(text)
            return None if data is None else File(data, _stamp(entry.get("stamp")))
        case {"link": str(target)}:
            return Link(target)
        case {"dir": True}:
            return _decode_directory(entry)
        case {"unread": int(size)}:
            return Unread(size)
        case {"too_large": int(size), "limit": int(limit)}:
            return TooLarge(size, limit)
        case {"special": str(kind)}:
            return Special(kind)
        case {"unreadable": str(reason)}:
            return Unreadable(reason, entry.get("directory") is True)
        case {"absent": True}:
            return ABSENT
    return None


def _decode_directory(entry: Mapping[str, object]) -> Directory:
    owner, mode, unlisted = entry.get("owner"), entry.get("mode"), entry.get("unlisted")
    made = Directory(complete=entry.get("listed") is not False, unlisted=unlisted if isinstance(unlisted, str) else None)
    return replace(made, owner=owner if isinstance(owner, int) else None, mode=mode if isinstance(mode, int) else None)


def _unbase64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _stamp(found: object) -> Stamp | None:
    match found:
        case [int(mtime), int(size), int(inode)] if isinstance(found, Sequence):
            return Stamp(mtime, size, inode)
    return None
