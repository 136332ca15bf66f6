"""Cancellation that goes down and never up: a parent's abort reaches its children, a child's own stays with it and its children."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TypeVar
from weakref import WeakValueDictionary

import anyio

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
        """Ask for the end of this work and all below it; the first reason stays."""
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
        return made

    @contextmanager
    def watched(self, watcher: Callable[[], None]) -> Iterator[None]:
        """Within, an abort calls the watcher, once; at once where the abort has been."""
        if self.aborted:
            watcher()
        number = next(self._numbers)
        self._watching[number] = watcher
        try:
            yield
        finally:
            del self._watching[number]


async def unless_aborted(cancellation: Cancellation, work: Callable[[], Awaitable[T]]) -> T | None:
    """What some work gives; None where an abort came first and ended it."""
    with anyio.CancelScope() as scope, cancellation.watched(scope.cancel):
        return await work()
    return None
