"""The words of the sans-IO engine: a conversation, what can happen to it, what it can want, what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from pyrsistent import PSet, PVector, pset

from pipeline.agent import ThinkingLevel
from pipeline.frozen import Json
from pipeline.request import DEFAULT_MAX_ROUNDS
from pipeline.subagent.limits import MAX_TOKENS
from pipeline.subagent.messages import NOTHING_USED, Message, Reply, ToolResult, ToolUse, Usage
from pipeline.subagent.requests import ModelRequest, ToolSpec
from pipeline.subagent.schemas import OutputSchema

MAIN: Final = "main"
"""What the main conversation is called among agents."""

Status: TypeAlias = Literal["completed", "limit", "empty", "truncated", "refused", "aborted", "error", "null_result", "no_result"]
State: TypeAlias = Literal["ready", "awaiting a reply", "awaiting judgement", "awaiting results", "awaiting news", "concluded"]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """All that leaves a conversation: how it ended, its last words, what it cost; where in the tree of agents it stood.

    `data` is what it submitted, where it was to submit a result (status `completed`; `null_result` where that was null, `no_result` where
    nothing was submitted). `reason` says why it ended, where that was not its own doing.
    """

    status: Status
    text: str
    usage: Usage
    rounds: int
    depth: int
    ancestry: tuple[str, ...]
    data: Json = None
    reason: str = ""


_NOTHING_OPEN: Final[PSet[str]] = pset()


@dataclass(frozen=True, slots=True)
class Conversation:
    """An agent's own context, from its one task to its conclusion. Its messages only grow; nobody else's are among them.

    `allowed` None is every tool of the list. A tool that is listed but not allowed is refused when it is called: taking it off the list would
    cost a fork the provider's cache.
    """

    system: str
    messages: PVector[Message]
    depth: int
    ancestry: tuple[str, ...]
    tools: tuple[ToolSpec, ...] = ()
    allowed: frozenset[str] | None = None
    model: tuple[str, ...] = ()
    thinking: ThinkingLevel | None = None
    max_tokens: int = MAX_TOKENS
    max_rounds: int = DEFAULT_MAX_ROUNDS
    owed: OutputSchema | None = None
    """The schema of the result that is to be submitted, if any."""
    forked: bool = False
    rounds: int = 0
    usage: Usage = NOTHING_USED
    state: State = "ready"
    pending: tuple[ToolUse, ...] = ()
    """The tool uses of the last reply, until all are answered."""
    answered: tuple[ToolResult, ...] = ()
    """Those of their results that are known already: refusals."""
    said: str = ""
    """The latest text of the assistant."""
    reminded: int = 0
    idle: int = 0
    """Rounds without a look at the list of work."""
    open: PSet[str] = _NOTHING_OPEN
    """Tasks that run in the background and have not been told of."""
    measured: tuple[int, int] = (0, 0)
    """How many of the messages the provider has counted, and how many tokens they are with all that stands before them."""
    vouched: int = 0
    """How many of the messages, from the first on, the engine knows not to be a fork's."""
    conclusion: Conclusion | None = field(default=None)

    @property
    def vouching(self) -> int:
        """What `vouched` is once the engine has added a message, which is none that makes a fork."""
        return self.vouched + (self.vouched == len(self.messages))

    def may_use(self, tool: str) -> bool:
        """Whether a call of this tool is carried out, as far as the conversation itself is concerned."""
        return self.allowed is None or tool in self.allowed

    @property
    def request(self) -> ModelRequest:
        """What the model is asked next."""
        return ModelRequest(self.system, self.tools, self.messages, self.model, self.thinking, self.max_tokens)


@dataclass(frozen=True, slots=True)
class Begun:
    """The conversation may start."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A hook would not let the conversation start, or the user's prompt in, and this is why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Replied:
    """The model answered."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Judged:
    """Hooks and permission were asked: for each tool use that may not be carried out the reason, for the others None. A use that is not named
    here was not judged, and is refused.
    """

    verdicts: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Answered:
    """Tools ran; a use that has no result here is answered as one that gave none. `launched` are the tasks left running in the background."""

    results: Mapping[str, ToolResult]
    launched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notified:
    """A task in the background has ended, and this is what is to be said of it."""

    task: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompted:
    """The user has more to say after a conclusion: rounds and usage are counted anew, and what was said before is no conclusion of this."""

    text: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """A hook would not let the conversation end, and this is why: it goes on, within its limit of rounds."""

    reason: str


@dataclass(frozen=True, slots=True)
class OutOfBudget:
    """The budget has no room for another model call."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The model could not be reached, or broke its word."""

    reason: str


@dataclass(frozen=True, slots=True)
class Aborted:
    """Whoever started the conversation wants it to end; `results` are those of the tools that had run."""

    reason: str = "aborted"
    results: Mapping[str, ToolResult] = field(default_factory=dict)


Event: TypeAlias = Begun | Refused | Replied | Judged | Answered | Notified | Prompted | Resumed | OutOfBudget | Failed | Aborted


@dataclass(frozen=True, slots=True)
class CallModel:
    """Wanted: the model's reply to the conversation as it stands."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Wanted: whether these tool uses may be carried out."""

    uses: tuple[ToolUse, ...]


@dataclass(frozen=True, slots=True)
class RunTools:
    """Wanted: the results of these tool uses, all of which were judged and allowed."""

    uses: tuple[ToolUse, ...]


@dataclass(frozen=True, slots=True)
class AwaitNews:
    """Wanted: the end of a task that runs in the background. The model has nothing to do until then."""


@dataclass(frozen=True, slots=True)
class Conclude:
    """Nothing more is wanted; this is what came of it."""

    conclusion: Conclusion


Wanted: TypeAlias = CallModel | Judge | RunTools | AwaitNews | Conclude


class Step(NamedTuple):
    """A conversation one step on, and what it wants."""

    conversation: Conversation
    wanted: Wanted


class ProtocolError(RuntimeError):
    """An event that the conversation's state has no place for: the driver's bug, never the model's."""


TRANSITIONS: Final[Mapping[tuple[State, type[Event]], tuple[State, ...]]] = {
    ("ready", Begun): ("awaiting a reply",),
    ("ready", Refused): ("concluded",),
    ("ready", Aborted): ("concluded",),
    ("awaiting a reply", Replied): ("awaiting a reply", "awaiting judgement", "awaiting news", "concluded"),
    ("awaiting a reply", Notified): ("awaiting a reply",),
    ("awaiting a reply", OutOfBudget): ("concluded",),
    ("awaiting a reply", Failed): ("concluded",),
    ("awaiting a reply", Aborted): ("concluded",),
    ("awaiting judgement", Judged): ("awaiting results", "awaiting a reply", "concluded"),
    ("awaiting judgement", Aborted): ("concluded",),
    ("awaiting results", Answered): ("awaiting a reply", "concluded"),
    ("awaiting results", Aborted): ("concluded",),
    ("awaiting news", Notified): ("awaiting news", "awaiting a reply", "concluded"),
    ("awaiting news", Aborted): ("concluded",),
    ("concluded", Prompted): ("awaiting a reply",),
    ("concluded", Refused): ("concluded",),
    ("concluded", Resumed): ("awaiting a reply", "concluded"),
}
"""Which event each state takes, and where it may lead."""
