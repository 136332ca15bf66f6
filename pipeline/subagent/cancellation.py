"""Cancellation that goes down and never up: a parent's abort reaches its children, a child's own stays with it and its children."""

from __future__ import annotations

from asyncio import CancelledError, current_task
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import get_ident
from typing import TypeVar
from weakref import WeakValueDictionary

import anyio
from anyio.lowlevel import current_token

T = TypeVar("T")


class Cancellation:
    """Whether somebody wants the work to end, and why. A child is made by `child`, and is born aborted where its parent is.

    >>> parent = Cancellation()
    >>> child = parent.child()
    >>> child.abort("enough")
    >>> parent.reason is None, child.reason
    (True, 'enough')
    >>> parent.abort("all of it")
    >>> child.reason, parent.child().reason
    ('enough', 'all of it')
    """

    def __init__(self, parent: Cancellation | None = None) -> None:
        self.reason: str | None = parent.reason if parent else None
        self._parent = parent  # kept alive: what lies between a living child and an abort above must pass it on
        self._numbers = count()
        self._children: WeakValueDictionary[int, Cancellation] = WeakValueDictionary()
        self._watching: dict[int, Callable[[], None]] = {}

    @property
    def aborted(self) -> bool:
        """Whether the work is to end."""
        return self.reason is not None

    def abort(self, reason: str = "aborted") -> None:
        """Ask for the end of this work and all below it; the first reason stays. Any thread may; a signal's handler leaves it to one."""
        if self.reason is not None:
            return
        self.reason = reason
        for number in tuple(self._watching):
            watcher = self._watching.get(number)  # an earlier watcher may have ended the watch of a later one
            if watcher is not None:
                watcher()
        for child in tuple(self._children.values()):
            child.abort(reason)

    def child(self) -> Cancellation:
        """A cancellation of its own, which this one reaches and which does not reach this one. It keeps this one alive, and not the reverse."""
        made = Cancellation(self)
        self._children[next(self._numbers)] = made
        if self.reason is not None:  # another thread may have aborted meanwhile
            made.abort(self.reason)
        return made

    @contextmanager
    def watched(self, watcher: Callable[[], None]) -> Iterator[None]:
        """Within, an abort calls the watcher; at once where the abort has been. Only one by another thread at this very moment calls it twice."""
        number = next(self._numbers)
        self._watching[number] = watcher
        try:
            if self.aborted:
                watcher()
            yield
        finally:
            del self._watching[number]


async def unless_aborted(cancellation: Cancellation, work: Callable[[], Awaitable[T]]) -> T | None:
    """What some work gives; None where an abort came first and ended it. The abort may come from any thread."""
    token, here = current_token(), get_ident()
    with anyio.CancelScope() as scope:

        def end() -> None:
            scope.cancel() if get_ident() == here else anyio.from_thread.run_sync(scope.cancel, token=token)

        with cancellation.watched(end):
            return await work()
    return None


class StrayError(RuntimeError):
    """Work of others wanted to end more than itself: the program, or the task that waits for it."""


async def contained(work: Callable[[], Awaitable[T]]) -> T:
    """What work of others gives, and what it raises; StrayError where that would end more than itself.

    It may have awaited a task of its own that was cancelled: let through, that would end whoever waits here, and nobody would be told of an end.
    """
    try:
        return await work()
    except SystemExit as error:
        raise StrayError(f"it wanted to end the program, with {error.code!r}") from None
    except CancelledError:
        if _asked_to_end():
            raise
        raise StrayError("it was cancelled from within") from None


def _asked_to_end() -> bool:
    try:
        task = current_task()
    except RuntimeError:  # another event loop, which has another word for being cancelled
        return False
    return task is not None and task.cancelling() > 0
