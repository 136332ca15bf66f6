"""What a run tells while it goes on: one stream for progress bars and logs, whatever the depth it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import ClassVar, TypeAlias

from pipeline.frozen import Json, JsonObject, thaw
from pipeline.subagent.context import Context
from pipeline.subagent.conversation import Status
from pipeline.subagent.messages import Usage


@dataclass(frozen=True, slots=True)
class _Told:
    """Who tells: the agent, its depth, the chain of its conversation, the path of agents to it."""

    kind: ClassVar[str]
    agent: str
    depth: int
    chain: str
    ancestry: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The event as JSON data, its kind first."""
        return {"event": self.kind, **{each.name: _plain(getattr(self, each.name)) for each in fields(self)}}


def _plain(value: Json | Usage) -> object:
    return asdict(value) if isinstance(value, Usage) else thaw(value)


@dataclass(frozen=True, slots=True)
class Started(_Told):
    """A conversation began; `task` is the id of its task, `prompt` what it was told, `tools` what it has; `unanswered` are names of tools in
    the agent's list that no tool here answers to; `parent` is the chain of the conversation that started it, empty at the root.
    """

    kind: ClassVar[str] = "started"
    task: str
    prompt: str
    tools: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    parent: str = ""


@dataclass(frozen=True, slots=True)
class ToolStarted(_Told):
    """A tool use was allowed and begins."""

    kind: ClassVar[str] = "tool_started"
    id: str
    tool: str
    input: JsonObject


@dataclass(frozen=True, slots=True)
class ToolFinished(_Told):
    """A tool use was answered: by the tool, or by why it was refused."""

    kind: ClassVar[str] = "tool_finished"
    id: str
    tool: str
    content: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Said(_Told):
    """The model said something."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class Finished(_Told):
    """A conversation ended: how, with which words, why, what it submitted, what it cost."""

    kind: ClassVar[str] = "finished"
    status: Status
    text: str
    reason: str
    rounds: int
    usage: Usage
    data: Json = None


RunEvent: TypeAlias = Started | ToolStarted | ToolFinished | Said | Finished
Listener: TypeAlias = Callable[[RunEvent], None]
"""Whoever listens to a run; a list's `append` does."""


def nobody(_: RunEvent) -> None:
    """The listener that does not listen."""


def who(context: Context) -> tuple[str, int, str, tuple[str, ...]]:
    """What every event says of who tells it."""
    return context.agent, context.depth, context.chain, context.ancestry
