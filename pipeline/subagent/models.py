"""Models: a small protocol, and two that need no network and no key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.subagent.messages import Message, Reply
from pipeline.subagent.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked: everything that it sees."""

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]


class Model(Protocol):
    """Whoever replies."""

    async def reply(self, request: ModelRequest) -> Reply:
        """The reply to a request; what it raises ends the conversation as an error."""
        ...


class ScriptError(RuntimeError):
    """A script that ran out: the conversation went on longer than whoever wrote it thought."""


class ScriptedModel:
    """A model that says what it was given to say, in order, and keeps what it was asked. ScriptError once it has no more to say."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = tuple(replies)
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest) -> Reply:
        """The next reply of the script."""
        self.requests.append(request)
        if len(self.requests) > len(self._replies):
            raise ScriptError(f"the script has {len(self._replies)} replies, and another was asked for")
        return self._replies[len(self.requests) - 1]


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """A model that is a function of the request."""

    function: Callable[[ModelRequest], Reply]

    async def reply(self, request: ModelRequest) -> Reply:
        """What the function gives."""
        return self.function(request)
