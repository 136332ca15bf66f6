"""Tools as values: what a model is told of one, and the function behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from pipeline.frozen import JsonObject
from pipeline.subagent.context import Context
from pipeline.subagent.conversation import Conversation
from pipeline.subagent.requests import ToolSpec


class ToolError(Exception):
    """What went wrong, in words for the model: they become an error result as they stand. Of any other exception the kind is told too."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One use of a tool: its input, which fits the tool's schema; the id of the use; who asks; the conversation with the use in flight."""

    id: str
    input: JsonObject
    context: Context
    conversation: Conversation


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says to the model, and the tasks that it left running in the background, by id."""

    content: str
    is_error: bool = False
    launched: tuple[str, ...] = ()


ToolFunction: TypeAlias = Callable[[ToolCall], Awaitable[str | Answer]]
"""What a tool does; what it raises becomes an error result for the model."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what is told of it and what it does. One that `delegates` waits for other agents: its uses in one reply run side by side."""

    spec: ToolSpec
    function: ToolFunction
    delegates: bool = False
