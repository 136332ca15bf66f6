"""The driver: performs what a conversation wants and feeds back what came of it. All input and output of the engine is here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import assert_never

from pipeline.launch import Launch
from pipeline.subagent.conversation import (
    MAX_ROUNDS,
    Answered,
    Begun,
    CallModel,
    Conclude,
    Conclusion,
    Conversation,
    Event,
    Failed,
    Replied,
    RunTools,
    advance,
    begin,
)
from pipeline.subagent.messages import ToolResult, ToolUse
from pipeline.subagent.models import Model, ModelRequest
from pipeline.subagent.tools import Tool


async def run(
    launch: Launch, task: str, model: Model, tools: Iterable[Tool] = (), *, ancestry: Iterable[str] = (), max_rounds: int = MAX_ROUNDS
) -> Conclusion:
    """Run a launched agent on one task to its conclusion; of the tools it gets those that the launch allows. Nothing else leaves its context."""
    allowed = {tool.spec.name: tool for tool in tools if launch.may_use(tool.spec.name)}
    conversation, event = begin(launch, task, ancestry=ancestry, max_rounds=max_rounds), Begun()
    return await _driven(conversation, event, model, allowed)


def run_sync(
    launch: Launch, task: str, model: Model, tools: Iterable[Tool] = (), *, ancestry: Iterable[str] = (), max_rounds: int = MAX_ROUNDS
) -> Conclusion:
    """`run`, where no event loop runs."""
    return asyncio.run(run(launch, task, model, tools, ancestry=ancestry, max_rounds=max_rounds))


async def _driven(conversation: Conversation, event: Event, model: Model, tools: Mapping[str, Tool]) -> Conclusion:
    while True:
        conversation, wanted = advance(conversation, event)
        match wanted:
            case CallModel():
                event = await _reply(conversation, model, tools)
            case RunTools(uses):
                event = Answered({use.id: await _result(use, tools) for use in uses})
            case Conclude(conclusion):
                return conclusion
            case _:
                assert_never(wanted)


async def _reply(conversation: Conversation, model: Model, tools: Mapping[str, Tool]) -> Event:
    request = ModelRequest(conversation.system, tuple([tool.spec for tool in tools.values()]), tuple(conversation.messages))
    try:
        return Replied(await model.reply(request))
    except Exception as error:
        return Failed(f"{type(error).__name__}: {error}")


async def _result(use: ToolUse, tools: Mapping[str, Tool]) -> ToolResult:
    tool = tools.get(use.name)
    if tool is None:
        return ToolResult(use.id, f"there is no tool {use.name!r}; there are: {', '.join(tools) or 'none'}", is_error=True)
    try:
        return ToolResult(use.id, await tool.function(use.input))
    except Exception as error:
        return ToolResult(use.id, f"{type(error).__name__}: {error}", is_error=True)
