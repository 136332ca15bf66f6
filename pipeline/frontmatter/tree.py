"""What YAML metadata says, before any meaning is given to it: scalars as text, sequences, mappings.

Every scalar is text, as StrictYAML has it; `plain` remembers that it stood without quotes and was no block scalar, which is all that a later
typing of scalars needs to know. Both YAML programs speak in the same events, so `fold` makes the tree for both, with the same refusals.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

MAX_DEPTH: Final = 50
"""Nesting levels that a reading accepts; JSON schemas in real agent files stay under 20."""


@dataclass(frozen=True, slots=True, init=False)
class Scalar:
    """One scalar as text; `plain` when it stood bare, so that `404` may be a number but `"404"` never is.

    >>> Scalar("404"), Scalar("404", plain=False)
    (Scalar(text='404', plain=True), Scalar(text='404', plain=False))
    """

    text: str
    plain: bool

    def __init__(self, text: str, plain: bool = True) -> None:
        _set_text(self, text)  # through the slots: a third cheaper than the generated frozen `__init__`, and every reading makes many
        _set_plain(self, plain)


_set_text: Final[Any] = vars(Scalar)["text"].__set__
_set_plain: Final[Any] = vars(Scalar)["plain"].__set__


@dataclass(frozen=True, slots=True)
class Sequence:
    """An ordered list of nodes."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys, always text and never twice, with their nodes, in the order they were written."""

    entries: abc.Mapping[str, Node]


Node: TypeAlias = Scalar | Sequence | Mapping


@dataclass(frozen=True, slots=True)
class NotReadable:
    """Why a text is no acceptable YAML; `line` and `column` count from 1 within that text."""

    line: int
    column: int
    reason: str
    key: str | None = None
    """The key that stands twice, where that is the reason."""


class Refused(Exception):  # noqa: N818 - a way out of the fold: a reading turns it into its `refusal`
    """Raised by `fold` at an event that no reading accepts; `refusal` says where and why."""

    def __init__(self, event: Any, reason: str, key: str | None = None) -> None:
        super().__init__(reason)
        self.refusal = NotReadable(event.start_mark.line + 1, event.start_mark.column + 1, reason, key)


KEY_NOT_TEXT: Final = "a key must be text"


def fold(take: Callable[[], Any], events: Any, *, last_wins: bool = False) -> Node | None:
    """The tree of the one document in a stream, None for an empty stream; `take` gives the next event, `events` holds their classes.

    Raises `Refused` at an anchor, alias, tag, merge key, a key that is empty or no text, the 51st level, a second document, and at a duplicate
    key unless the last one wins.

    >>> import yaml
    >>> fold(yaml.Loader("a: [b]").get_event, yaml)
    Mapping(entries={'a': Sequence(items=(Scalar(text='b', plain=True),))})
    """
    take()  # the stream's start
    if type(take()) is events.StreamEndEvent:
        return None
    root = _root(take, events, last_wins)
    take()  # the document's end
    after = take()
    if type(after) is not events.StreamEndEvent:
        raise Refused(after, "a second document begins")
    return root


class _Items:
    """A sequence while it is read."""

    __slots__ = ("items", "start")

    def __init__(self, start: Any) -> None:
        self.start = start
        self.items: list[Node] = []

    def add(self, node: Node, _: Any) -> None:
        self.items.append(node)

    def done(self) -> Node:
        return Sequence(tuple(self.items))


class _Entries:
    """A mapping while it is read: keys and values come in turn."""

    __slots__ = ("entries", "key", "last_wins", "start")

    def __init__(self, start: Any, last_wins: bool) -> None:
        self.start = start
        self.last_wins = last_wins
        self.entries: dict[str, Node] = {}
        self.key: str | None = None

    def add(self, node: Node, event: Any) -> None:
        if self.key is not None:
            self.entries[self.key] = node
            self.key = None
            return
        self.key = _key(node, event)
        if self.key in self.entries and not self.last_wins:
            raise Refused(event, f"duplicate key {self.key!r}", self.key)

    def done(self) -> Node:
        return Mapping(self.entries)


def _key(key: Node, event: Any) -> str:
    if not isinstance(key, Scalar):
        raise Refused(event, KEY_NOT_TEXT)
    if key.plain and key.text in ("", "<<"):
        raise Refused(event, "merge keys are not allowed" if key.text else "a key is missing")
    return key.text


def _root(take: Callable[[], Any], events: Any, last_wins: bool) -> Node:
    """The next node. A loop with its own stack, for texts nest deeper than Python may call."""
    scalar, ends = events.ScalarEvent, (events.MappingEndEvent, events.SequenceEndEvent)
    stack: list[_Items | _Entries] = []
    while True:
        event = take()
        kind = type(event)
        if kind in ends:
            inner = stack.pop()
            node, event = inner.done(), inner.start
        elif kind is scalar:
            _check_bare(event)
            node = Scalar(event.value, not event.style)
        else:
            stack.append(_begun(event, len(stack), _Entries(event, last_wins) if kind is events.MappingStartEvent else _Items(event)))
            continue
        if not stack:
            return _checked_root(node, event)
        stack[-1].add(node, event)


def _check_bare(event: Any) -> None:
    if event.anchor is not None or event.tag is not None:
        raise Refused(event, "tags are not allowed" if event.anchor is None else "anchors are not allowed")


def _begun(event: Any, depth: int, begun: _Items | _Entries) -> _Items | _Entries:
    if not hasattr(event, "tag"):
        raise Refused(event, "aliases are not allowed")
    _check_bare(event)
    if depth == MAX_DEPTH:
        raise Refused(event, f"nested deeper than {MAX_DEPTH} levels")
    return begun


def _checked_root(node: Node, event: Any) -> Node:
    if isinstance(node, Scalar) and event.style in ("|", ">"):
        raise Refused(event, "a block of text needs a key")  # the two programs disagree on how far it must be indented
    return node
