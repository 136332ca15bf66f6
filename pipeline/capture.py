"""The one door to the disk: a snapshot of what a host wants to see."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import is_
from typing import Final

from pyrsistent import PMap

from pipeline.collecting import nothing_to_collect
from pipeline.hosts import STANDARD, Host
from pipeline.nodes import ABSENT, Directory, File, Link, Node, Special, Stamp, TooLarge, Unknown, Unread, Unreadable, listing, plain
from pipeline.places import Want, wanted
from pipeline.snapshot import Snapshot, normal

_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY
"""Never wait for a pipe's writer, never follow a link that took a file's place, never get a controlling terminal."""


@nothing_to_collect()
def capture(
    cwd: str | os.PathLike[str],
    home: str | os.PathLike[str] | None = None,
    *,
    host: Host = STANDARD,
    previous: Snapshot | None = None,
) -> Snapshot:
    """A snapshot of all that a host's discovery looks at from `cwd`, read from the disk; it never fails.

    A relative `cwd` is taken from the process's working directory, `home` is the user's unless given; nothing else of the process is used.
    What cannot be read is a node that says why. A file whose modification time, size and inode are those in `previous` is not opened again.
    """
    where = normal(os.path.abspath(os.fspath(cwd)))
    house = normal(os.path.abspath(os.path.expanduser("~") if home is None else os.fspath(home)))
    snapshot = Snapshot(where, house, user=os.geteuid())
    before = previous or snapshot
    while wants := wanted(host, snapshot):
        for want in wants:
            snapshot = look(want, snapshot, before)
    return snapshot


def look(want: Want, snapshot: Snapshot, before: Snapshot) -> Snapshot:
    """The snapshot that also knows what `want` asks for, as the disk has it now; what `before` has of it unchanged is kept."""
    real, node = snapshot.locate(want.path)
    while isinstance(node, Unknown):
        snapshot = snapshot.at_real(real, _presence(real))
        real, node = snapshot.locate(want.path)
    if want.what == "listing" and isinstance(node, Directory) and not node.complete:
        return _list(real, node, want, snapshot, before)
    if want.what == "content" and isinstance(node, Unread):
        kept = before.locate(real).node
        if isinstance(kept, File) and kept.stamp == _stamp_of(real):
            return snapshot.at_real(real, kept)
        return snapshot.at_real(real, _content(real, None, want.max_bytes))
    return snapshot


def _list(real: str, directory: Directory, want: Want, snapshot: Snapshot, before: Snapshot) -> Snapshot:
    """The snapshot with a listing, its wanted files, and those that its links lead to."""
    kept = before.locate(real).node
    listed = _listing(real, directory, want, kept if isinstance(kept, Directory) and kept.complete else None)
    snapshot = snapshot.at_real(real, listed)
    for linked in want.behind_links(real, listed):
        snapshot = look(linked, snapshot, before)
    return snapshot


def _presence(path: str) -> Node:
    """What stands at a path, its content not looked at."""
    try:
        found = os.lstat(path)
        mode = found.st_mode
        if stat.S_ISDIR(mode):
            return Directory(complete=False, owner=found.st_uid, mode=stat.S_IMODE(mode))
        if stat.S_ISLNK(mode):
            return Link(os.readlink(path))
        return Unread(found.st_size) if stat.S_ISREG(mode) else Special(_kind(mode))
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL or a lone surrogate in the path
        return ABSENT
    except OSError as error:
        return Unreadable(_reason(error))


def _listing(path: str, directory: Directory, want: Want, before: Directory | None) -> Directory:
    """A directory with all its names, and with the content of the files that are wanted; the one of before where nothing changed.

    One that the system does not list may still be gone through: it keeps what is known of it.
    """
    kept = {} if before is None else plain(before)
    try:
        at = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            with os.scandir(at) as entries:
                children = _children(entries, at, want, directory.children, kept)
        finally:
            os.close(at)
    except OSError as error:
        return replace(directory, unlisted=_reason(error))
    same = before is not None and len(children) == len(kept) and all(map(is_, children.values(), map(kept.get, children)))
    if before is not None and same and (before.owner, before.mode) == (directory.owner, directory.mode):
        return before
    return listing(children, directory.owner, directory.mode)


def _children(entries: Iterable[os.DirEntry[str]], at: int, want: Want, known: PMap[str, Node], before: Mapping[str, Node]) -> dict[str, Node]:
    suffix, limit = want.suffix, want.max_bytes
    children: dict[str, Node] = {}
    for entry in entries:
        name = entry.name
        if suffix is not None and name.endswith(suffix) and entry.is_file(follow_symlinks=False):
            kept = before.get(name)
            children[name] = kept if kept is not None and _is_unchanged(kept, entry) else _content(name, at, limit)
        else:
            children[name] = known.get(name) or _unopened(entry, at)
    return children


def _unopened(entry: os.DirEntry[str], at: int) -> Node:
    try:
        if entry.is_symlink():
            return Link(os.readlink(entry.name, dir_fd=at))
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Unreadable(_reason(error))
    if stat.S_ISDIR(found.st_mode):
        return Directory(complete=False, owner=found.st_uid, mode=stat.S_IMODE(found.st_mode))
    return Unread(found.st_size) if stat.S_ISREG(found.st_mode) else Special(_kind(found.st_mode))


def _content(name: str, at: int | None, limit: int) -> Node:
    """A regular file with its bytes, or why there are none."""
    try:
        file = os.open(name, _FLAGS, dir_fd=at)
        try:
            return _opened(file, limit)
        finally:
            os.close(file)
    except OSError as error:
        return Unreadable(_reason(error))


def _opened(file: int, limit: int) -> Node:
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        return Special(_kind(found.st_mode))
    if found.st_size > limit:
        return TooLarge(found.st_size, limit)
    data = os.read(file, found.st_size)
    return File(data, Stamp.of(found)) if len(data) == found.st_size else Unreadable("it changed while it was read")


def _is_unchanged(kept: Node, entry: os.DirEntry[str]) -> bool:
    if not isinstance(kept, File):
        return False
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return kept.stamp == (found.st_mtime_ns, found.st_size, found.st_ino)


_GONE: Final = Stamp(-1, -1, -1)


def _stamp_of(path: str) -> Stamp:
    try:
        return Stamp.of(os.lstat(path))
    except OSError:
        return _GONE


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "it vanished between listing and reading"
    return (error.strerror or type(error).__name__).lower()


_KINDS: Final = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


def _kind(mode: int) -> str:
    return next((word for fits, word in _KINDS if fits(mode)), "a special file")
