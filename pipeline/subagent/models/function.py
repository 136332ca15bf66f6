"""A model that is a function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import isawaitable

from pipeline.subagent.messages import Reply
from pipeline.subagent.requests import ModelRequest


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """A model that is a function of the request, which may be asynchronous."""

    function: Callable[[ModelRequest], Reply | Awaitable[Reply]]

    async def reply(self, request: ModelRequest) -> Reply:
        """What the function gives."""
        given = self.function(request)
        return await given if isawaitable(given) else given
