"""What a model is asked: everything that it sees, and how that looks on the wire."""

from __future__ import annotations

from dataclasses import dataclass

from pyrsistent import PVector

from pipeline.agent import ThinkingLevel
from pipeline.frozen import JsonObject, thaw
from pipeline.subagent.limits import MAX_TOKENS
from pipeline.subagent.messages import Message


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool: its name, what it does, the JSON Schema of its input."""

    name: str
    description: str
    input_schema: JsonObject

    def to_wire(self) -> dict[str, object]:
        """The specification as JSON data."""
        return {"name": self.name, "description": self.description, "input_schema": thaw(self.input_schema)}


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked. `model` is what the agent asks for, most wished first; empty where the model may choose.
    `max_tokens` bounds the reply.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    messages: PVector[Message]
    model: tuple[str, ...] = ()
    thinking: ThinkingLevel | None = None
    max_tokens: int = MAX_TOKENS

    def to_wire(self) -> dict[str, object]:
        """The request as JSON data, its keys always in the same order, so that equal requests are equal bytes."""
        return {
            "model": list(self.model),
            "max_tokens": self.max_tokens,
            "thinking": self.thinking,
            "system": self.system,
            "tools": [tool.to_wire() for tool in self.tools],
            "messages": [message.to_wire() for message in self.messages],
        }
