"""The driver: performs what a conversation wants and feeds back what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, NamedTuple, TypeVar, assert_never

import anyio

from pipeline.agent import SUBMIT_RESULT
from pipeline.subagent.budget import Cost, Exhausted
from pipeline.subagent.caching import wire_bytes
from pipeline.subagent.cancellation import contained, unless_aborted
from pipeline.subagent.context import Context
from pipeline.subagent.conversation import (
    Aborted,
    Answered,
    AwaitNews,
    CallModel,
    Conclude,
    Conclusion,
    Conversation,
    Event,
    Failed,
    Judge,
    Judged,
    OutOfBudget,
    Replied,
    Resumed,
    RunTools,
    Status,
)
from pipeline.subagent.engine import Engine
from pipeline.subagent.events import Said, ToolFinished, ToolStarted, who
from pipeline.subagent.faults import fault, words_of
from pipeline.subagent.judging import objection, occasion, verdict
from pipeline.subagent.messages import ToolResult, ToolUse
from pipeline.subagent.permission import HookEvent
from pipeline.subagent.schemas import input_mismatch
from pipeline.subagent.step import advance
from pipeline.subagent.tools import Answer, Tool, ToolCall, ToolError

T = TypeVar("T")
_OWN_DOING: Final[frozenset[Status]] = frozenset(("completed", "empty", "null_result", "no_result"))
"""The ways to end that a hook may object to: the others are not the agent's choice, and a limit would be none."""
_ABANDONED: Final = "the agent that started it has concluded"


class Ended(NamedTuple):
    """A conversation that has concluded, and its conclusion."""

    conversation: Conversation
    conclusion: Conclusion


async def drive(conversation: Conversation, event: Event, context: Context, engine: Engine, tools: Mapping[str, Tool]) -> Ended:
    """Take a conversation from an event to its conclusion. What it started in the background and has not heard of by then is aborted."""
    brood = replace(context, cancellation=context.cancellation.child())
    try:
        return await _Driver(brood, engine, tools).driven(conversation, event)
    finally:
        brood.cancellation.abort(_ABANDONED)


@dataclass(frozen=True, slots=True)
class _Driver:
    context: Context
    engine: Engine
    tools: Mapping[str, Tool]
    reported: set[str] = field(default_factory=set)
    """Tool uses of this round whose results the listener has been told of."""

    async def driven(self, conversation: Conversation, event: Event) -> Ended:
        while True:
            before = len(conversation.messages)
            conversation, wanted = advance(conversation, event)
            self._tell(conversation, before, event)
            if not isinstance(wanted, Conclude):
                event = await self._performed(conversation, wanted)
            elif (objecting := await self._objection(wanted)) is None:
                return Ended(conversation, wanted.conclusion)
            else:
                event = Resumed(objecting)

    async def _performed(self, conversation: Conversation, wanted: CallModel | Judge | RunTools | AwaitNews) -> Event:
        """What came of what was wanted; an abort, where somebody wants the work to end."""
        reason = self.context.cancellation.reason
        if reason is not None:
            return Aborted(reason)
        match wanted:
            case CallModel():
                news = self.context.mailbox.take()
                return await self._unless_aborted(lambda: self._reply(conversation)) if news is None else news
            case Judge(uses):
                return await self._unless_aborted(lambda: self._judged(uses))
            case RunTools(uses):
                return await self._answered(conversation, uses)
            case AwaitNews():
                async with self.context.slot.given_back():
                    return await self._unless_aborted(self.context.mailbox.wait)
            case _:
                assert_never(wanted)

    async def _unless_aborted(self, work: Callable[[], Awaitable[T]]) -> T | Aborted:
        """What the work gives; an abort, where that came first and ended the work."""
        given = await unless_aborted(self.context.cancellation, work)
        return Aborted(self.context.cancellation.reason or "aborted") if given is None else given

    async def _reply(self, conversation: Conversation) -> Event:
        purse = self.context.purse
        worst = self._worst(conversation)
        refused = await self._set_aside(worst)
        if refused is not None:
            return OutOfBudget(str(refused))
        actual = worst  # of a call that is broken off, or whose reply is none, nobody knows what it cost
        try:
            reply = await contained(lambda: self.engine.model.reply(conversation.request))
            wrong = fault(reply)
            if wrong is not None:
                return Failed(wrong)
            actual = purse.prices.cost(reply.usage)
            return Replied(reply)
        except Exception as error:
            actual = Cost(turns=1)
            return Failed(words_of(error))
        finally:
            purse.settle(worst, actual)

    def _worst(self, conversation: Conversation) -> Cost:
        """What the next call can cost at most. A token is at least a byte of what is sent, so that bytes bound the messages not yet counted."""
        purse = self.context.purse
        if purse.budget.tokens is None and purse.budget.micros is None:
            return Cost(turns=1)
        counted, tokens = conversation.measured
        sent = conversation.request.to_wire() if counted == 0 else [message.to_wire() for message in conversation.messages[counted:]]
        return purse.prices.worst(tokens + len(wire_bytes(sent)), conversation.max_tokens)

    async def _set_aside(self, worst: Cost) -> Exhausted | None:
        """Set the worst cost aside; where only calls that are under way are in the way, wait for them."""
        purse = self.context.purse
        while (found := purse.reserve(worst)) is not None:
            if not purse.may_fit(worst):
                return found
            settled = anyio.Event()
            with purse.waiting(settled.set):
                await settled.wait()
        return None

    async def _judged(self, uses: tuple[ToolUse, ...]) -> Judged:
        return Judged({use.id: await verdict(self.engine, self.context, use) for use in uses})

    async def _answered(self, conversation: Conversation, uses: tuple[ToolUse, ...]) -> Event:
        """The results of the uses, in order; those of tools that wait for other agents side by side."""
        results: dict[str, ToolResult] = {}
        launched: list[str] = []

        async def answer(use: ToolUse) -> None:
            given = await self._answer(conversation, use)
            if isinstance(given, Answer):
                results[use.id] = ToolResult(use.id, given.content, given.is_error)
                launched.extend(given.launched)
                if use.name != SUBMIT_RESULT:
                    self._finished(use, results[use.id])

        for delegating, group in groupby(uses, self._delegates):
            if delegating:
                async with self.context.slot.given_back(), anyio.create_task_group() as side_by_side:
                    for use in group:
                        side_by_side.start_soon(answer, use)
            else:
                for use in group:
                    await answer(use)
        reason = self.context.cancellation.reason
        return Answered(results, tuple(launched)) if reason is None else Aborted(reason, results)

    def _delegates(self, use: ToolUse) -> bool:
        tool = self.tools.get(use.name)
        return tool is not None and tool.delegates

    async def _answer(self, conversation: Conversation, use: ToolUse) -> Answer | Aborted:
        """What a tool answers. One that waits for other agents is not broken off by an abort: they hear of it and conclude."""
        tool = self.tools.get(use.name)
        if tool is None:
            return Answer(f"there is no tool {use.name!r}; there are: {', '.join(self.tools) or 'none'}", is_error=True)
        mismatch = input_mismatch(tool.spec.input_schema, use.input)
        if mismatch is not None:
            return Answer(f"the input does not fit: {mismatch}", is_error=True)
        self.engine.options.listener(ToolStarted(*who(self.context), use.id, use.name, use.input))
        call = ToolCall(use.id, use.input, self.context, conversation)
        answer = await (_carried_out(tool, call) if tool.delegates else self._unless_aborted(lambda: _carried_out(tool, call)))
        return answer if isinstance(answer, Aborted) else await self._reviewed(use, answer)

    async def _reviewed(self, use: ToolUse, answer: Answer) -> Answer:
        """The answer, and what hooks have against it. It stands whatever becomes of them: what was done was done."""
        result = ToolResult(use.id, answer.content, answer.is_error)
        objecting = await objection(self.engine, self.context, occasion("PostToolUse", self.context, use=use, result=result))
        return answer if objecting is None else replace(answer, content=f"{answer.content}\n[a hook objects: {objecting}]", is_error=True)

    async def _objection(self, wanted: Conclude) -> str | None:
        """Why a hook will not let the conversation end, if one will not and it ends by its own doing."""
        if wanted.conclusion.status not in _OWN_DOING or self.context.cancellation.aborted:
            return None
        event: HookEvent = "Stop" if self.context.origin == "root" else "SubagentStop"
        return await objection(self.engine, self.context, occasion(event, self.context, wanted.conclusion.text))

    def _tell(self, conversation: Conversation, before: int, event: Event) -> None:
        """Tell the listener what was said, and of the tool uses whose answers it has not heard of."""
        if isinstance(event, Replied) and event.reply.text:
            self.engine.options.listener(Said(*who(self.context), event.reply.text))
        recent = conversation.messages[max(0, before - 1) :]
        uses = {block.id: block for message in recent for block in message.content if isinstance(block, ToolUse)}
        answers = [block for message in conversation.messages[before:] for block in message.content if isinstance(block, ToolResult)]
        for answer in answers:
            if answer.tool_use_id not in self.reported:
                self._finished(uses[answer.tool_use_id], answer)
        if answers:
            self.reported.clear()

    def _finished(self, use: ToolUse, result: ToolResult) -> None:
        self.reported.add(use.id)
        self.engine.options.listener(ToolFinished(*who(self.context), use.id, use.name, result.content, result.is_error))


async def _carried_out(tool: Tool, call: ToolCall) -> Answer:
    try:
        given = await contained(lambda: tool.function(call))
        return replace(given, content=str(given.content)) if isinstance(given, Answer) else Answer(str(given))
    except ToolError as error:
        return Answer(str(error), is_error=True)
    except Exception as error:
        return Answer(words_of(error), is_error=True)
