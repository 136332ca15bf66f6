"""The sans-IO engine: a conversation is an immutable value, `advance` takes it one step and says what is wanted next.

Nothing here calls a model or runs a tool. So every rule of the loop is a property of a pure function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple, TypeAlias, assert_never

from pyrsistent import PVector, pvector

from pipeline.agent import OnlyAgents
from pipeline.launch import Launch
from pipeline.subagent.messages import NOTHING_USED, Message, Reply, Text, ToolResult, ToolUse, Usage

MAX_ROUNDS: Final = 30
"""Model calls of one conversation, unless it is given another limit."""
ALONE: Final = "Do the task you are given, by yourself: delegate nothing. End with a concise conclusion; it is all that anybody sees of your work."

Status: TypeAlias = Literal["completed", "limit", "empty", "truncated", "refused", "aborted", "error"]
State: TypeAlias = Literal["ready", "awaiting a reply", "awaiting results", "concluded"]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """All that leaves a conversation: how it ended, its last words, what it cost; where in the tree of agents it stood."""

    status: Status
    text: str
    usage: Usage
    rounds: int
    depth: int
    ancestry: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A sub-agent's own context, from its one task to its conclusion. Its messages only grow; nobody else's are among them."""

    system: str
    messages: PVector[Message]
    depth: int
    ancestry: tuple[str, ...]
    max_rounds: int = MAX_ROUNDS
    rounds: int = 0
    usage: Usage = NOTHING_USED
    state: State = "ready"
    pending: tuple[ToolUse, ...] = ()
    """The tool uses that wait for their results."""
    said: str = ""
    """The latest text of the assistant."""
    conclusion: Conclusion | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Begun:
    """The conversation may start."""


@dataclass(frozen=True, slots=True)
class Replied:
    """The model answered."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Answered:
    """Tools ran; a use that has no result here is answered as one that gave none."""

    results: Mapping[str, ToolResult]


@dataclass(frozen=True, slots=True)
class Failed:
    """The model could not be reached, or broke its word."""

    reason: str


@dataclass(frozen=True, slots=True)
class Aborted:
    """Whoever started the conversation wants it to end."""

    reason: str = "aborted"


Event: TypeAlias = Begun | Replied | Answered | Failed | Aborted


@dataclass(frozen=True, slots=True)
class CallModel:
    """Wanted: the model's reply to the conversation as it stands."""


@dataclass(frozen=True, slots=True)
class RunTools:
    """Wanted: the results of these tool uses."""

    uses: tuple[ToolUse, ...]


@dataclass(frozen=True, slots=True)
class Conclude:
    """Nothing more is wanted; this is what came of it."""

    conclusion: Conclusion


Wanted: TypeAlias = CallModel | RunTools | Conclude


class Step(NamedTuple):
    """A conversation one step on, and what it wants."""

    conversation: Conversation
    wanted: Wanted


class ProtocolError(RuntimeError):
    """An event that the conversation's state has no place for: the driver's bug, never the model's."""


def begin(launch: Launch, task: str, *, ancestry: Iterable[str] = (), max_rounds: int = MAX_ROUNDS) -> Conversation:
    """The conversation of a launched agent: a clean context with exactly one message, its task.

    An agent that may spawn nobody is told to work alone.
    """
    alone = launch.spawns == OnlyAgents(())
    system = f"{launch.prompt}\n\n{ALONE}" if alone else launch.prompt
    asked = "\n\n".join(part for part in (launch.request.context, task) if part)
    return Conversation(system, pvector([Message("user", (Text(asked),))]), launch.depth, (*ancestry, launch.agent.name), max_rounds)


TRANSITIONS: Final[Mapping[tuple[State, type[Event]], tuple[State, ...]]] = {
    ("ready", Begun): ("awaiting a reply",),
    ("ready", Aborted): ("concluded",),
    ("awaiting a reply", Replied): ("awaiting results", "concluded"),
    ("awaiting a reply", Failed): ("concluded",),
    ("awaiting a reply", Aborted): ("concluded",),
    ("awaiting results", Answered): ("awaiting a reply",),
    ("awaiting results", Aborted): ("concluded",),
}
"""Which event each state takes, and where it may lead."""


def advance(conversation: Conversation, event: Event) -> Step:
    """The conversation after an event, and what it wants next; ProtocolError for an event that its state does not take."""
    if (conversation.state, type(event)) not in TRANSITIONS:
        raise ProtocolError(f"a conversation that is {conversation.state} takes no {type(event).__name__}")
    match event:
        case Begun():
            return _ask(conversation)
        case Replied(reply):
            return _replied(conversation, reply)
        case Answered(results):
            answered = [results.get(use.id) or ToolResult(use.id, "the tool gave no result", is_error=True) for use in conversation.pending]
            return _ask(_with_results(conversation, answered))
        case Failed(reason):
            return _conclude(conversation, "error", reason)
        case Aborted(reason):
            return _conclude(_unused(conversation, reason), "aborted", conversation.said)
        case _:
            assert_never(event)


def _ask(conversation: Conversation) -> Step:
    return Step(replace(conversation, state="awaiting a reply"), CallModel())


def _replied(conversation: Conversation, reply: Reply) -> Step:
    text = reply.text.strip()
    heard = replace(
        conversation,
        messages=conversation.messages.append(Message("assistant", reply.content)) if reply.content else conversation.messages,
        rounds=conversation.rounds + 1,
        usage=conversation.usage + reply.usage,
        pending=reply.tool_uses,
        said=text or conversation.said,
    )
    if reply.stop_reason == "max_tokens":
        return _conclude(_unused(heard, "the reply was cut off before this could be read whole"), "truncated", heard.said)
    if reply.stop_reason == "refusal":
        return _conclude(_unused(heard, "the model refused"), "refused", heard.said)
    if not heard.pending:
        return _conclude(heard, "completed" if text else "empty", text)
    if heard.rounds >= heard.max_rounds:
        return _conclude(_unused(heard, f"the limit of {heard.max_rounds} rounds is reached"), "limit", heard.said)
    return Step(replace(heard, state="awaiting results"), RunTools(heard.pending))


def _with_results(conversation: Conversation, results: Iterable[ToolResult]) -> Conversation:
    return replace(conversation, messages=conversation.messages.append(Message("user", tuple(results))), pending=())


def _unused(conversation: Conversation, why: str) -> Conversation:
    """The conversation with every tool use that waits answered by why it was not carried out: none is ever left open."""
    if not conversation.pending:
        return conversation
    return _with_results(conversation, [ToolResult(use.id, why, is_error=True) for use in conversation.pending])


_NOTHING_SAID: Final[Mapping[Status, str]] = {
    "limit": "The sub-agent reached its limit of rounds without a word.",
    "empty": "The sub-agent ended without a word.",
    "truncated": "The sub-agent's reply was cut off before its first word.",
    "refused": "The model refused without a word.",
    "aborted": "The sub-agent was aborted before it said anything.",
}


def _conclude(conversation: Conversation, status: Status, text: str) -> Step:
    said = text or _NOTHING_SAID.get(status, status)
    conclusion = Conclusion(status, said, conversation.usage, conversation.rounds, conversation.depth, conversation.ancestry)
    return Step(replace(conversation, state="concluded", conclusion=conclusion), Conclude(conclusion))
