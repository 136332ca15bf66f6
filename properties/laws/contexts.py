"""What a child's context shares with its parent's, and what stays its own: told by a family of plain values beside the real one."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import ref

from pipeline.frozen import Json
from pipeline.subagent.cancellation import Cancellation
from pipeline.subagent.context import Context, Origin, Version
from pipeline.subagent.permission import Policy

T = TypeVar("T")


@dataclass(slots=True)
class Expected:
    """What must be seen through one context: plain values, and the application's state as one dict that the whole family looks at."""

    agent: str
    ancestry: tuple[str, ...]
    depth: int
    origin: Origin
    policies: tuple[Policy, ...]
    state: dict[str, Json] = field(default_factory=dict)
    writes: bool = True
    files: dict[str, tuple[Version, str]] = field(default_factory=dict)
    reason: str | None = None
    below: list[Expected] = field(default_factory=list)

    def child(self, agent: str, origin: Origin, shares_state: bool, policies: tuple[Policy, ...]) -> Expected:
        """What must be seen through a child's."""
        made = Expected(
            agent,
            (*self.ancestry, agent),
            self.depth + 1,
            origin,
            (*self.policies, *policies),
            self.state,
            self.writes and shares_state,
            dict(self.files),
            self.reason,
        )
        self.below.append(made)
        return made

    def family(self) -> list[Expected]:
        """Itself and all below it."""
        return [self, *(each for child in self.below for each in child.family())]

    def abort(self, reason: str) -> list[Expected]:
        """Abort this one and all below it; those that had not been."""
        struck = [each for each in self.family() if each.reason is None]
        for each in struck:
            each.reason = reason
        return struck

    def write(self, key: str, value: Json) -> None:
        """Write to the application's state, where that is kept."""
        if self.writes:
            self.state[key] = value


@dataclass(slots=True)
class Watch:
    """A watcher of one context's cancellation: how often it was called, and how often it must have been."""

    of: Expected | None
    calls: int = 0
    expected: int = 0
    closing: ExitStack = field(default_factory=ExitStack)

    def called(self) -> None:
        """What the watcher does."""
        self.calls += 1

    def leave(self) -> None:
        """Watch no more."""
        self.closing.close()
        self.of = None

    @property
    def was_told_once(self) -> bool:
        """Whether the watcher was called when it had to be, and at no other time."""
        return self.calls == self.expected <= 1


def a_child_stands_one_deeper(parent: Context, child: Context) -> None:
    """A child stands one deeper than its parent, at the end of the parent's path, on a chain of its own."""
    assert child.depth == parent.depth + 1
    assert child.ancestry == (*parent.ancestry, child.agent)
    assert child.chain != parent.chain


def what_is_shared_is_the_same(parent: Context, child: Context) -> None:
    """A child has its parent's very purse, approver and places, and a mailbox and a slot of its own."""
    assert child.purse is parent.purse
    assert child.approver is parent.approver
    assert child.slot.places is parent.slot.places
    assert child.mailbox is not parent.mailbox
    assert child.slot is not parent.slot


def policies_only_grow(parent: Context, child: Context) -> None:
    """A child is under every policy that its parent is under, and under its own after them."""
    assert child.policies[: len(parent.policies)] == parent.policies


def a_context_stands_where_it_was_put(context: Context, expected: Expected) -> None:
    """Whatever happens in its family, a context keeps its agent, its path, its depth, its origin and its policies."""
    seen = (context.agent, context.ancestry, context.depth, context.origin, context.policies)
    assert seen == (expected.agent, expected.ancestry, expected.depth, expected.origin, expected.policies)


def aborts_go_down_and_never_up(context: Context, expected: Expected) -> None:
    """A context is aborted exactly where it, or one above it, was aborted before or after its birth; the first reason stays."""
    assert context.cancellation.reason == expected.reason
    assert context.cancellation.aborted == (expected.reason is not None)


def writes_are_dropped_unless_shared(context: Context, expected: Expected, keys: tuple[str, ...]) -> None:
    """All of a family see one state: what was written where it is shared all the way from the root, and nothing else."""
    assert [context.state.get(key) for key in keys] == [expected.state.get(key) for key in keys]


def files_read_go_their_own_way(context: Context, expected: Expected, paths: tuple[str, ...], versions: tuple[Version, ...]) -> None:
    """A context knows the files that its parent had read at its birth and those it read since; what either reads later is not the other's."""
    for path in paths:
        for version in versions:
            known = expected.files.get(path)
            assert context.files.get(path, version) == (known[1] if known is not None and known[0] == version else None)


class Traces(Generic[T]):
    """Weak references to what is to be gone."""

    def __init__(self, *things: T) -> None:
        self._references = [ref(thing) for thing in things]

    @property
    def gone(self) -> bool:
        """Whether nothing of it is left."""
        if any(reference() is not None for reference in self._references):
            gc.collect()
        return all(reference() is None for reference in self._references)


def a_dropped_child_is_not_kept(parent: Context) -> None:
    """A parent does not keep a child that nobody else holds, and can still be aborted."""
    child = parent.child("child")
    traces = Traces[object](child.cancellation, child.mailbox, child.slot)
    del child
    assert traces.gone
    parent.cancellation.abort()
    assert parent.cancellation.aborted


def an_abort_reaches_all_below_whoever_is_gone(generations: int) -> None:
    """An abort reaches the last of a line though nobody holds those between any more."""
    root = last = Cancellation()
    for _ in range(generations):
        last = last.child()
    root.abort("enough")
    assert last.reason == "enough"


def a_watcher_that_has_left_is_not_called(watchers: int, leaving: Callable[[int], int]) -> None:
    """A watcher that another watcher sends away during an abort, before its turn, is not called any more; `leaving` says whom each sends away."""
    cancellation, calls = Cancellation(), [0] * watchers
    stacks = [ExitStack() for _ in range(watchers)]
    there = [True] * watchers

    def watcher(at: int) -> Callable[[], None]:
        def called() -> None:
            assert there[at]
            calls[at] += 1
            gone = leaving(at) % watchers
            there[gone] = False
            stacks[gone].close()

        return called

    for at, stack in enumerate(stacks):
        stack.enter_context(cancellation.watched(watcher(at)))
    cancellation.abort()
    cancellation.abort()
    assert all(count <= 1 for count in calls)
    assert all(count == 1 for count, stayed in zip(calls, there, strict=True) if stayed)
