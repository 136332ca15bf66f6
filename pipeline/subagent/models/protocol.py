"""What a model is: a small protocol."""

from __future__ import annotations

from typing import Protocol

from pipeline.subagent.messages import Reply
from pipeline.subagent.requests import ModelRequest


class Model(Protocol):
    """Whoever replies."""

    async def reply(self, request: ModelRequest) -> Reply:
        """The reply to a request; what it raises ends the conversation as an error."""
        ...
