"""The list of work that a main conversation keeps: checked item by item, replaced as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from returns.result import Failure, Result, Success

from pipeline.frozen import Json, JsonObject

TODO_WRITE: Final = "todo_write"
TodoStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
STATUSES: Final[tuple[str, ...]] = get_args(TodoStatus)
_MARKS: Final[Mapping[str, str]] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


@dataclass(frozen=True, slots=True)
class Todo:
    """One piece of work and how far it is."""

    content: str
    status: str

    def to_json(self) -> JsonObject:
        """The item as data."""
        return JsonObject({"content": self.content, "status": self.status})


def parse_todos(items: Json) -> Result[tuple[Todo, ...], tuple[str, ...]]:
    """The items of a list of work, or a sentence on each bad one, by its index from 0.

    >>> parse_todos((JsonObject({"content": "Look", "status": "done"}),)).failure()
    ('item 0: status must be pending, in_progress or completed, not "done"',)
    """
    if not isinstance(items, tuple):
        return Failure(("todos must be a list",))
    wrong = tuple([f"item {index}: {problem}" for index, item in enumerate(items) if (problem := _problem(item))])
    return (
        Failure(wrong)
        if wrong
        else Success(tuple([Todo(str(item["content"]), str(item["status"])) for item in items if isinstance(item, JsonObject)]))
    )


def _problem(item: Json) -> str:
    if not isinstance(item, JsonObject):
        return "must be an object with content and status"
    content, status = item.get("content"), item.get("status")
    if not isinstance(content, str) or not content.strip():
        return "content must be text that says what is to be done"
    if status not in STATUSES:
        shown = f'"{status:.40}"' if isinstance(status, str) else "missing" if status is None else "no text"
        return f"status must be {', '.join(STATUSES[:-1])} or {STATUSES[-1]}, not {shown}"
    return ""


def todo_text(todos: tuple[Todo, ...]) -> str:
    """The list for a model to read.

    >>> print(todo_text((Todo("Look", "completed"), Todo("Write", "pending"))))
    [x] Look
    [ ] Write
    """
    return "\n".join(f"{_MARKS[todo.status]} {todo.content}" for todo in todos) or "The list of work is empty."
