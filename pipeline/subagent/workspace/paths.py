"""The folder that an agent works in. Every path that a tool is given is resolved here, its links followed; what lies outside is refused."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from returns.result import Failure, Result, Success

from pipeline.refusal import NoWorkspace
from pipeline.subagent.tools import ToolError
from pipeline.subagent.workspace.contents import Place, reported
from pipeline.subagent.workspace.output import visible

MAX_PATH: Final = 4096
"""Bytes that a path may have: no system opens a longer one, and to resolve it takes time that grows with the square."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder by its real path, and the lock that is held while one of its files changes."""

    root: str
    _changing: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Result[Workspace, NoWorkspace]:
        """The workspace at a path, links followed; a refusal where there is nothing, or no directory.

        >>> Workspace.open("/").unwrap()
        Workspace(root='/')
        >>> Workspace.open("/no/such/folder").failure()
        NoWorkspace(path='/no/such/folder', what='missing')
        """
        given = os.fspath(path)
        if os.path.isdir(given):
            return Success(Workspace(os.path.realpath(given)))
        return Failure(NoWorkspace(given, "not a directory" if os.path.exists(given) else "missing"))

    @property
    def changing(self) -> Lock:
        """Held from the reading of a file to its replacement, so that of changes side by side none is lost."""
        return self._changing

    def holds(self, real: str) -> bool:
        """Whether a real path is the root or lies below it."""
        return os.path.commonpath((self.root, real)) == self.root

    def resolve(self, given: str) -> str:
        """The real path of what a tool was given: links followed, relative to the root, absolute where it lies inside; `~` is a name as any.

        It need not exist. ToolError for a path outside the workspace, links in a circle, what no system takes for a path.

        >>> Workspace("/srv").resolve("a/../b")
        '/srv/b'
        >>> Workspace("/srv").resolve("../etc")
        Traceback (most recent call last):
        pipeline.subagent.tools.ToolError: ../etc: it lies outside the workspace
        """
        _check_text(given)
        with reported(visible(given)):
            real = os.path.realpath(os.path.join(self.root, given))
        if not self.holds(real):
            raise ToolError(f"{visible(given)}: it lies outside the workspace")
        _check_resolved(given, real)
        return real

    def file(self, given: str) -> Place:
        """Where the file is that a tool was given. ToolError as for `resolve`, and for a path that ends in a slash: that is a directory's.

        >>> Workspace("/srv").file("a/../b")
        Place(root='/srv', path='b', shown='b')
        """
        real = self.resolve(given)
        if given.endswith("/") and not os.path.isdir(real):
            raise ToolError(f"{visible(given)}: a path that ends in a slash is that of a directory")
        return Place(self.root, os.path.relpath(real, self.root), self.shown(real))

    def shown(self, real: str) -> str:
        """A real path as messages have it: relative to the root, on one line."""
        return visible(os.path.relpath(real, self.root))


def _check_text(given: str) -> None:
    if "\0" in given:
        raise ToolError(f"{visible(given[:100])}: a path cannot hold a NUL character")
    try:
        size = len(os.fsencode(given))
    except UnicodeEncodeError:
        raise ToolError(f"{visible(given[:100])}: a path cannot hold half of a surrogate pair") from None
    if size > MAX_PATH:
        raise ToolError(f"{visible(given[:100])}...: a path cannot have more than {MAX_PATH} bytes, and this has {size}")


def _check_resolved(given: str, real: str) -> None:
    """Refuse what is not resolved after all: at a circle of links the rest of a path may be left as it stands, `..` taken by its letters."""
    try:
        link = stat.S_ISLNK(os.lstat(real).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        link = False
    except OSError as error:
        raise ToolError(f"{visible(given)}: {error.strerror}") from error
    if link or os.path.realpath(real) != real:
        raise ToolError(f"{visible(given)}: its links go in a circle")
