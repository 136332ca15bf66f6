"""Which tools a conversation gets, and what a model is told of them: the same tool has the same specification everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from pipeline.agent import SUBMIT_RESULT, TASK
from pipeline.frozen import JsonObject, freeze
from pipeline.launch import NOBODY, Launch
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.todos import STATUSES, TODO_WRITE, parse_todos, todo_text
from pipeline.subagent.tools import Tool, ToolCall, ToolError
from pipeline.subagent.workspace.names import answering

TODOS: Final = "todos"
"""The key of the list of work in the application's state."""


def _object(properties: Mapping[str, object], required: Iterable[str]) -> JsonObject:
    return JsonObject({"type": "object", "properties": freeze(properties), "required": tuple(required), "additionalProperties": False})


async def _submit(_: ToolCall) -> str:
    """Whether the data fits is for the pure step to say."""
    return "received"


SUBMIT_TOOL: Final = Tool(
    ToolSpec(SUBMIT_RESULT, "Submit the result of your task, and end with that.", _object({"data": {"description": "The result."}}, ("data",))),
    _submit,
)


async def _write_todos(call: ToolCall) -> str:
    parsed = parse_todos(call.input.get("todos"))
    todos = parsed.value_or(None)
    if todos is None:
        raise ToolError("\n".join(parsed.failure()))
    call.context.state.set(TODOS, tuple([todo.to_json() for todo in todos]))
    return todo_text(todos)


_TODO: Final = {
    "type": "object",
    "properties": {"content": {"type": "string"}, "status": {"type": "string", "description": ", ".join(STATUSES)}},
}
TODO_TOOL: Final = Tool(
    ToolSpec(
        TODO_WRITE,
        "Replace the list of work with this one. Keep it up to date while you go through it.",
        _object({"todos": {"type": "array", "items": _TODO, "description": "The whole list, in order."}}, ("todos",)),
    ),
    _write_todos,
)


class Toolset(NamedTuple):
    """The tools of one conversation by name, in the order in which the model is told of them, and the names that nothing answers to."""

    tools: dict[str, Tool]
    unanswered: tuple[str, ...] = ()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told."""
        return tuple([tool.spec for tool in self.tools.values()])


def by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Tools by their names, in their order."""
    return {tool.spec.name: tool for tool in tools}


def child_toolset(launch: Launch, available: Iterable[Tool], *, owes: bool) -> Toolset:
    """What a launched agent gets of the tools that there are: those that its list names, by their names here or those that agent files use;
    all of them where it has no list. The list of work is the main conversation's; a result can be submitted where one is owed or the list says so.
    """
    tools = by_name((*available, SUBMIT_TOOL))
    names, unanswered = answering(tools if launch.tools is None else launch.tools, tools)
    withheld = {*launch.withheld, TODO_WRITE, *((TASK,) if launch.spawns == NOBODY else ())}
    kept = [name for name in names if name not in withheld and (name != SUBMIT_RESULT or owes or launch.tools is not None)]
    if owes and SUBMIT_RESULT not in kept:
        kept.append(SUBMIT_RESULT)
    return Toolset({name: tools[name] for name in kept}, unanswered)


def main_toolset(available: Iterable[Tool]) -> Toolset:
    """What the main conversation gets: all that there is, and the list of work."""
    return Toolset(by_name((*available, TODO_TOOL)))
