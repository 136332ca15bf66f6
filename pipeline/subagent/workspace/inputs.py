"""What a tool was given. The input fits the tool's schema by then, so only the types are told here."""

from __future__ import annotations

from typing import cast

from pipeline.subagent.tools import ToolCall


def text(call: ToolCall, name: str, default: str = "") -> str:
    """A string of the input; the default where it is left out."""
    return cast("str", call.input.get(name, default))


def number(call: ToolCall, name: str, default: float) -> float:
    """A number of the input; the default where it is left out."""
    return cast("float", call.input.get(name, default))


def whole(call: ToolCall, name: str, default: int) -> int:
    """A whole number of the input (JSON has no other integers than such as 2.0); the default where it is left out."""
    return int(number(call, name, default))
