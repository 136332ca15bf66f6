"""Files on the disk: read without ever waiting for one, replaced all at once."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from secrets import token_hex
from typing import BinaryIO, Final

from pipeline.subagent.context import Version
from pipeline.subagent.tools import ToolError

MAX_BYTES: Final = 1_048_576
"""Bytes of a file that is read."""

_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
"""A directory to go on from, which need not be readable; never through a link that took its place."""
_READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY
"""Never wait for a pipe's writer, never follow a link that took a file's place, never get a controlling terminal."""
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def reported(shown: str) -> Iterator[None]:
    """Within, an error of the system becomes a ToolError that names the path.

    >>> with reported("a.txt"):
    ...     raise FileNotFoundError(2, "No such file or directory")
    Traceback (most recent call last):
    pipeline.subagent.tools.ToolError: a.txt: No such file or directory
    """
    try:
        yield
    except OSError as error:
        raise ToolError(f"{shown}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file is or may be: the root, and the path from there, which goes through no link; how messages have it.

    It is opened one name at a time: what was put in the way since the path was resolved, a link that leads outside say, is not followed.
    """

    root: str
    path: str
    shown: str

    @contextmanager
    def opened(self, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Within, the descriptor of the directory that holds the file, and the file's name there; missing directories are made if so wished."""
        *folders, name = self.path.split("/")
        at = os.open(self.root, _FOLDER)
        try:
            for folder in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=at)
                above, at = at, os.open(folder, _FOLDER, dir_fd=at)
                os.close(above)
            yield at, name
        finally:
            os.close(at)

    @property
    def real(self) -> str:
        """The whole path."""
        return os.path.join(self.root, self.path)


def read(place: Place) -> tuple[Version, str]:
    """A regular file's version and text. ToolError for another kind of file, one over `MAX_BYTES`, one that is not text; OSError as it comes."""
    with place.opened() as (folder, name):
        file = os.open(name, _READ, dir_fd=folder)
    try:
        found = os.fstat(file)
        check_kind(found.st_mode, place.shown)
        data = _bytes(file, found.st_size, place.shown)
        return Version.of(found), _decoded(data, place.shown)
    finally:
        os.close(file)


def check_kind(mode: int, shown: str) -> None:
    """ToolError unless the mode is that of a regular file."""
    if stat.S_ISDIR(mode):
        raise ToolError(f"{shown}: it is a directory")
    if not stat.S_ISREG(mode):
        raise ToolError(f"{shown}: it is not a regular file")


def _bytes(file: int, size: int, shown: str) -> bytes:
    with open(file, "rb", closefd=False) as opened:
        # One more than allowed, for a file that grew since, or whose size the system does not tell.
        data = b"" if size > MAX_BYTES else opened.read(MAX_BYTES + 1)
    if max(size, len(data)) > MAX_BYTES:
        raise ToolError(f"{shown}: it is too large to be read, {max(size, len(data))} bytes where {MAX_BYTES} are allowed")
    return data


def _decoded(data: bytes, shown: str) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{shown}: it is a binary file of {len(data)} bytes, not UTF-8") from None
    if "\0" in text:
        raise ToolError(f"{shown}: it is a binary file of {len(data)} bytes")
    return text


def encoded(text: str, what: str) -> bytes:
    r"""The bytes of a text; ToolError where it holds half of a surrogate pair, which no file can.

    >>> encoded("é", "content")
    b'\xc3\xa9'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError(f"{what} holds half of a surrogate pair, which cannot be written") from None


def replace(place: Place, data: bytes) -> Version:
    """Put new bytes in a file's place at once: another process sees the old or the new, and a failure leaves the old. Its mode stays.

    Parents are made. ToolError where something else than a file is there; OSError as it comes.
    """
    with place.opened(make=True) as (folder, name):
        mode = _mode(name, folder, place.shown)
        temporary = f".{token_hex(8)}.tmp"
        with open(os.open(temporary, _CREATE, 0o666, dir_fd=folder), "wb") as file:
            try:
                _fill(file, data, mode)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(temporary, dir_fd=folder)
                raise
            return Version.of(os.fstat(file.fileno()))


def _mode(name: str, folder: int, shown: str) -> int | None:
    """The permissions of the file that is to be replaced; PermissionError where it is not to be written."""
    try:
        found = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    check_kind(found.st_mode, shown)
    # A rename asks the directory alone; that a file is read-only is meant for tools too.
    if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=True):
        raise PermissionError(None, "Permission denied")
    return stat.S_IMODE(found.st_mode)


def _fill(file: BinaryIO, data: bytes, mode: int | None) -> None:
    file.write(data)
    file.flush()
    if mode is not None:
        os.fchmod(file.fileno(), mode)
