"""Files on the disk: read without ever waiting for one, replaced all at once."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Final

from pipeline.nodes import Stamp
from pipeline.subagent.tools import ToolError

MAX_BYTES: Final = 1_048_576
"""Bytes of a file that is read."""

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


def read(real: str, shown: str) -> tuple[Stamp, str]:
    """A regular file's stamp and text. ToolError for another kind of file, one over `MAX_BYTES`, one that is not text; OSError as it comes."""
    file = os.open(real, _READ)
    try:
        found = os.fstat(file)
        check_kind(found.st_mode, shown)
        data = _bytes(file, found.st_size, shown)
        return Stamp.of(found), _decoded(data, shown)
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


def replace(real: str, shown: str, data: bytes) -> Stamp:
    """Put new bytes in a file's place at once: another process sees the old or the new, and a failure leaves the old. Its mode stays.

    Parents are made. ToolError where something else than a file is there; OSError as it comes.
    """
    mode = _mode(real, shown)
    os.makedirs(os.path.dirname(real), exist_ok=True)
    temporary = os.path.join(os.path.dirname(real), f".{token_hex(8)}.tmp")
    file = os.open(temporary, _CREATE, 0o666)
    try:
        stamp = _filled(file, data, mode)
        os.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise
    return stamp


def _mode(real: str, shown: str) -> int | None:
    """The permissions of the file that is to be replaced; PermissionError where it is not to be written."""
    try:
        found = os.lstat(real)
    except FileNotFoundError:
        return None
    check_kind(found.st_mode, shown)
    # A rename asks the directory alone; that a file is read-only is meant for tools too.
    if not os.access(real, os.W_OK, effective_ids=True):
        raise PermissionError(None, "Permission denied")
    return stat.S_IMODE(found.st_mode)


def _filled(file: int, data: bytes, mode: int | None) -> Stamp:
    with open(file, "wb") as opened:
        opened.write(data)
        opened.flush()
        if mode is not None:
            os.fchmod(file, mode)
        return Stamp.of(os.fstat(file))
