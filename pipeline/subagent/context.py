"""What a running agent has beside its messages, and what of it a child gets: the table of isolation, in one function."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple, TypeAlias
from uuid import uuid4

from pyrsistent import PMap, pmap

from pipeline.frozen import Json
from pipeline.nodes import Stamp
from pipeline.subagent.budget import Purse
from pipeline.subagent.cancellation import Cancellation
from pipeline.subagent.conversation import MAIN
from pipeline.subagent.permission import Approver, Policy, deny_destructive
from pipeline.subagent.waiting import Mailbox, Slot

Origin: TypeAlias = Literal["root", "normal", "fork"]


class Version(NamedTuple):
    """What tells one state of a file from another: its stamp, and when the system last noted a change of it (ns), which nobody can set back."""

    stamp: Stamp
    changed_ns: int

    @staticmethod
    def of(found: os.stat_result) -> Version:
        """The version of what the system tells of a file."""
        return Version(Stamp.of(found), found.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file as it was read: what told its state apart, and its text."""

    version: Version
    text: str


_NO_FILES: Final[PMap[str, ReadFile]] = pmap()
_NO_VALUES: Final[PMap[str, Json]] = pmap()


@dataclass(slots=True)
class FilesRead:
    """The files that a context has read so far, by real path. A copy costs nothing and is independent."""

    files: PMap[str, ReadFile] = field(default_factory=lambda: _NO_FILES)

    def get(self, path: str, version: Version) -> str | None:
        """The text of a file that was read before and is unchanged since."""
        known = self.files.get(path)
        return known.text if known is not None and known.version == version else None

    def put(self, path: str, version: Version, text: str) -> None:
        """Remember a file."""
        self.files = self.files.set(path, ReadFile(version, text))

    def copy(self) -> FilesRead:
        """A copy that goes its own way."""
        return FilesRead(self.files)


@dataclass(slots=True)
class _Cell:
    values: PMap[str, Json] = field(default_factory=lambda: _NO_VALUES)


@dataclass(frozen=True, slots=True)
class AppState:
    """The application's state as one context sees it: it reads all of it; what it writes is kept only where the state is its own or shared.

    >>> state = AppState()
    >>> state.child().set("todos", ("mine",))
    >>> state.get("todos") is None
    True
    >>> state.child(shared=True).set("todos", ("ours",))
    >>> state.get("todos")
    ('ours',)
    """

    _cell: _Cell = field(default_factory=_Cell)
    writable: bool = True

    def get(self, key: str) -> Json:
        """The value of a key; None for none."""
        return self._cell.values.get(key)

    def set(self, key: str, value: Json) -> None:
        """Give a key a value; dropped in silence where the state is another's."""
        if self.writable:
            self._cell.values = self._cell.values.set(key, value)

    def child(self, *, shared: bool = False) -> AppState:
        """The same state for a child, whose writes are dropped unless it shares what this context may write."""
        return replace(self, writable=self.writable and shared)


def new_chain() -> str:
    """An id for a chain of queries."""
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Context:
    """What a running agent has beside its messages. `ancestry` is the path of agents from the main conversation to this one, both included;
    `chain` tells one conversation's queries from another's; `origin` says how it began.
    """

    agent: str = MAIN
    ancestry: tuple[str, ...] = (MAIN,)
    depth: int = 0
    chain: str = field(default_factory=new_chain)
    parent: str = ""
    """The chain of the context that this one is below."""
    origin: Origin = "root"
    cancellation: Cancellation = field(default_factory=Cancellation)
    state: AppState = field(default_factory=AppState)
    files: FilesRead = field(default_factory=FilesRead)
    purse: Purse = field(default_factory=Purse)
    policies: tuple[Policy, ...] = (deny_destructive,)
    """What may be done here, from the root down: a child may have a policy added and none taken away."""
    approver: Approver | None = None
    """Whom the root asks."""
    chains: Callable[[], str] = new_chain
    """Where ids of chains come from."""
    mailbox: Mailbox = field(default_factory=Mailbox)
    slot: Slot = field(default_factory=Slot)

    def child(self, agent: str, *, origin: Origin = "normal", shares_state: bool = False, policies: tuple[Policy, ...] = ()) -> Context:
        """The context of a sub-agent: a cancellation below this one, state that it cannot write unless shared, its own copy of the files
        read so far, a new chain one deeper, the same purse, the same policies and approver, with its own policies after them.
        """
        return replace(
            self,
            agent=agent,
            ancestry=(*self.ancestry, agent),
            depth=self.depth + 1,
            chain=self.chains(),
            parent=self.chain,
            origin=origin,
            cancellation=self.cancellation.child(),
            state=self.state.child(shared=shares_state),
            files=self.files.copy(),
            policies=(*self.policies, *policies),
            mailbox=Mailbox(),
            slot=Slot(self.slot.places),
        )
