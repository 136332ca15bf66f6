"""Why a sub-agent is not started: a closed union of frozen records. They hold what was asked and what is allowed; `render` words them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class UnknownAgent:
    """No agent in force has exactly this name; those that there are, in order of precedence, and the names that come near."""

    name: str
    available: tuple[str, ...]
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentDisabled:
    """The settings switch this agent off; `available` are those they leave."""

    name: str
    available: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoTasks:
    """The request has nothing to do."""


@dataclass(frozen=True, slots=True)
class BadTaskIds:
    """Tasks without an id, by index from 0, and ids that stand more than once but for case, each with its indexes."""

    missing: tuple[int, ...]
    repeated: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class SpawnsItself:
    """An agent asked for itself from within."""

    name: str


@dataclass(frozen=True, slots=True)
class SpawnForbidden:
    """The parent's spawn policy leaves this agent out; `policy` is its text as given, empty where it denies all."""

    name: str
    policy: str


Why: TypeAlias = Literal["a comma", "a control character", "a blank at an end", "the wildcard", "no character"]
"""What keeps a name out of a spawn policy's text."""


@dataclass(frozen=True, slots=True)
class CannotEncode:
    """A spawn policy names an agent that its text could not tell apart; `agent` declares it."""

    agent: str
    name: str
    why: Why


@dataclass(frozen=True, slots=True)
class NotASchema:
    """The schema that the answer of an agent is to have is none: neither JTD nor JSON Schema; `why` says what is wrong with it."""

    agent: str
    why: str


@dataclass(frozen=True, slots=True)
class NothingAsked:
    """Tasks in which nothing is asked, by their ids: they have neither words of their own nor a context."""

    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoWorkspace:
    """The directory that an agent's tools are to work in is not there, or is no directory."""

    path: str
    what: Literal["missing", "not a directory"]


@dataclass(frozen=True, slots=True)
class ForkOfFork:
    """A fork asked for another fork: it holds its parent's context already and is to do its work itself."""

    agent: str


Refusal: TypeAlias = (
    UnknownAgent
    | AgentDisabled
    | NoTasks
    | BadTaskIds
    | SpawnsItself
    | SpawnForbidden
    | CannotEncode
    | NotASchema
    | NothingAsked
    | NoWorkspace
    | ForkOfFork
)
"""Every reason not to start a sub-agent."""


def as_refusal(refusal: Refusal) -> Refusal:
    """The same refusal, as one of all: a `Result` of one kind is no `Result` of the union by itself."""
    return refusal
