"""Tools as values: what a model is told of one, and the function behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from pipeline.frozen import JsonObject

ToolFunction: TypeAlias = Callable[[JsonObject], Awaitable[str]]
"""What a tool does with its input; what it raises becomes an error result for the model."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool: its name, what it does, the JSON Schema of its input."""

    name: str
    description: str
    input_schema: JsonObject


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what is told of it and what it does."""

    spec: ToolSpec
    function: ToolFunction
