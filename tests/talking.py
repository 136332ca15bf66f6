"""What tests of running agents share: replies in a word, models that tell whom they answer."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.frozen import JsonObject, freeze
from pipeline.subagent.messages import Reply, Text, ToolResult, ToolUse, Usage
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.requests import ModelRequest


def use(name: str, number: int = 1, **given: object) -> ToolUse:
    """A tool use with a number for an id."""
    frozen = freeze(given)
    assert isinstance(frozen, JsonObject)
    return ToolUse(f"u{number}", name, frozen)


def say(text: str, *uses: ToolUse) -> Reply:
    """A reply that says this and uses these."""
    return Reply((*((Text(text),) if text else ()), *uses), "tool_use" if uses else "end_turn", Usage(10, 5))


def results(request: ModelRequest) -> list[ToolResult]:
    """The tool results in the last message."""
    return [block for block in request.messages[-1].content if isinstance(block, ToolResult)]


def result(request: ModelRequest) -> ToolResult:
    """The one tool result in the last message."""
    (found,) = results(request)
    return found


def first_text(request: ModelRequest) -> str:
    """The first thing that was asked."""
    block = request.messages[0].content[0]
    assert isinstance(block, Text)
    return block.text


def by_agent(**speakers: Callable[[ModelRequest], Reply]) -> FunctionModel:
    """A model that answers by whose system prompt it sees; an agent's prompt is `Prompt of NAME.`, the main conversation is `main`."""

    def reply(request: ModelRequest) -> Reply:
        name = next((name for name in speakers if f"Prompt of {name}." in request.system), "main")
        return speakers[name](request)

    return FunctionModel(reply)


def in_turn(*replies: Reply) -> Callable[[ModelRequest], Reply]:
    """A speaker that says these, one a call."""
    coming = iter(replies)
    return lambda _: next(coming)
