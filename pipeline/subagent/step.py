"""The pure step: a conversation and an event give the conversation after it and what is wanted next.

Nothing here calls a model or runs a tool, so every rule of the loop is a property of a pure function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, assert_never

from pyrsistent import pvector

from pipeline.agent import SUBMIT_RESULT
from pipeline.frozen import Json, JsonObject
from pipeline.subagent.conversation import (
    TRANSITIONS,
    Aborted,
    Answered,
    AwaitNews,
    Begun,
    CallModel,
    Conclude,
    Conclusion,
    Conversation,
    Event,
    Failed,
    Judge,
    Judged,
    Notified,
    OutOfBudget,
    Prompted,
    ProtocolError,
    Refused,
    Replied,
    Resumed,
    RunTools,
    State,
    Status,
    Step,
)
from pipeline.subagent.faults import fault
from pipeline.subagent.limits import MAX_REMINDERS, TODO_ROUNDS
from pipeline.subagent.messages import NOTHING_USED, Block, Message, Reply, Text, ToolResult, ToolUse
from pipeline.subagent.todos import TODO_WRITE

REMINDER: Final = f"You have not submitted a result. Call {SUBMIT_RESULT} with it as `data`: your work is lost otherwise."
TODO_REMINDER: Final = f"You have not looked at your list of work for a while. If it is out of date, bring it up to date with {TODO_WRITE}."


def advance(conversation: Conversation, event: Event) -> Step:  # noqa: C901, PLR0912 - one case an event is the point
    """The conversation after an event, and what it wants next; ProtocolError for an event that its state does not take."""
    if (conversation.state, type(event)) not in TRANSITIONS:
        raise ProtocolError(f"a conversation that is {conversation.state} takes no {type(event).__name__}")
    match event:
        case Begun():
            return _ask(conversation)
        case Refused(reason):
            # A first prompt that is refused is not kept: the next one would bring it before the model after all.
            kept = replace(conversation, messages=pvector(), vouched=0) if conversation.state == "ready" else conversation
            return _conclude(kept, "refused", reason, reason=reason)
        case Replied(reply):
            return _replied(conversation, reply)
        case Judged(verdicts):
            return _judged(conversation, verdicts)
        case Answered(results, launched):
            return _answered(replace(conversation, open=conversation.open.update(launched)) if launched else conversation, results)
        case Notified():
            return _notified(conversation, event)
        case Prompted(text):
            fresh = replace(conversation, conclusion=None, rounds=0, usage=NOTHING_USED, said="", reminded=0)
            return _ask(_told(fresh, text))
        case Resumed(reason):
            return _again(_told(replace(conversation, conclusion=None), reason))
        case OutOfBudget(reason):
            return _conclude(conversation, "limit", conversation.said or reason, reason=reason)
        case Failed(reason):
            return _failed(conversation, reason)
        case Aborted(reason, results):
            return _conclude(_unused(conversation, reason, results), "aborted", conversation.said, reason=reason)
        case _:
            assert_never(event)


def _ask(conversation: Conversation) -> Step:
    return Step(replace(conversation, state="awaiting a reply"), CallModel())


def _again(conversation: Conversation) -> Step:
    """Another round, or the end where there may be no more."""
    if conversation.rounds >= conversation.max_rounds:
        return _conclude(conversation, "limit", conversation.said, reason=f"the limit of {conversation.max_rounds} rounds is reached")
    return _ask(conversation)


def _told(conversation: Conversation, text: str) -> Conversation:
    """The conversation with a message of the user's, of exactly one block: what a user says never looks like what the engine writes."""
    messages = conversation.messages.append(Message("user", (Text(text),)))
    return replace(conversation, messages=messages, vouched=conversation.vouching)


def _replied(conversation: Conversation, reply: Reply) -> Step:
    wrong = fault(reply)
    if wrong is not None:  # nothing of such a reply is kept: the history stays one that can be sent
        return _failed(replace(conversation, rounds=conversation.rounds + 1), wrong)
    text = reply.text.strip()
    messages = conversation.messages.append(Message("assistant", reply.content)) if reply.content else conversation.messages
    heard = replace(
        conversation,
        messages=messages,
        vouched=conversation.vouching if reply.content else conversation.vouched,
        rounds=conversation.rounds + 1,
        usage=conversation.usage + reply.usage,
        pending=reply.tool_uses,
        answered=(),
        said=text or conversation.said,
        measured=(len(messages), reply.usage.tokens) if reply.usage.tokens else conversation.measured,
    )
    if reply.stop_reason == "max_tokens":
        why = "the reply was cut off before this could be read whole"
        return _conclude(_unused(heard, why), "truncated", heard.said, reason=why)
    if reply.stop_reason == "refusal":
        return _conclude(_unused(heard, "the model refused"), "refused", heard.said, reason="the model refused")
    return _sorted_out(heard) if heard.pending else _turn_ended(heard, text)


def _failed(conversation: Conversation, reason: str) -> Step:
    return _conclude(conversation, "error", conversation.said or reason, reason=reason)


def _turn_ended(conversation: Conversation, text: str) -> Step:
    """After a reply that uses no tool: it waits for what runs in the background, owes a result, or has said its last."""
    if conversation.open:
        return Step(replace(conversation, state="awaiting news"), AwaitNews())
    if conversation.owed is None:
        return _conclude(conversation, "completed" if text else "empty", text)
    if conversation.reminded < MAX_REMINDERS:
        return _again(_told(replace(conversation, reminded=conversation.reminded + 1), REMINDER))
    return _conclude(conversation, "no_result", conversation.said, reason=f"no result after {MAX_REMINDERS} reminders")


def _sorted_out(conversation: Conversation) -> Step:
    """On to the judges, with the tools that are not allowed refused without one."""
    refused = [_error(use, f"{use.name} may not be used here") for use in conversation.pending if not conversation.may_use(use.name)]
    return _still(conversation, refused, judged=False)


def _judged(conversation: Conversation, verdicts: Mapping[str, str | None]) -> Step:
    asked = _unanswered(conversation)
    reasons = [(use, verdicts.get(use.id, "nobody judged it")) for use in asked]
    refused = [_error(use, reason) for use, reason in reasons if reason is not None]
    return _still(conversation, refused, judged=True)


def _unanswered(conversation: Conversation) -> tuple[ToolUse, ...]:
    known = {result.tool_use_id for result in conversation.answered}
    return tuple([use for use in conversation.pending if use.id not in known])


def _still(conversation: Conversation, refused: Iterable[ToolResult], *, judged: bool) -> Step:
    """On to what is not refused: to its judges, or, once judged, to the tools."""
    state: State = "awaiting results" if judged else "awaiting judgement"
    asked = replace(conversation, state=state, answered=(*conversation.answered, *refused))
    rest = _unanswered(asked)
    if not rest:
        return _answered(asked, {})
    return Step(asked, RunTools(rest) if judged else Judge(rest))


def _answered(conversation: Conversation, results: Mapping[str, ToolResult]) -> Step:
    known = {**results, **{result.tool_use_id: result for result in conversation.answered}}
    answers = [known.get(use.id) or _error(use, "the tool gave no result") for use in conversation.pending]
    answers, submitted = _submissions(conversation, answers)
    after = _with_results(conversation, answers)
    if submitted is None:
        return _again(after)
    status: Status = "null_result" if submitted[0] is None else "completed"
    return _conclude(after, status, after.said, data=submitted[0])


def _submissions(conversation: Conversation, answers: list[ToolResult]) -> tuple[list[ToolResult], tuple[Json] | None]:
    """The answers with what was submitted checked against the schema that is owed, and the first result that fits it, if any."""
    submitted: tuple[Json] | None = None
    checked = []
    for use, answer in zip(conversation.pending, answers, strict=True):
        if use.name != SUBMIT_RESULT or answer.is_error:
            checked.append(answer)
            continue
        wrong = "a result was submitted already" if submitted else _mismatch(conversation, use.input)
        submitted = submitted if wrong else (use.input["data"],)
        checked.append(_error(use, wrong) if wrong else answer)
    return checked, submitted


def _mismatch(conversation: Conversation, given: JsonObject) -> str:
    if "data" not in given:
        return "the result is missing: give it as `data`"
    mismatches = conversation.owed.mismatches(given["data"]) if conversation.owed else ()
    return "\n".join(("the data does not fit the schema:", *mismatches)) if mismatches else ""


def _notified(conversation: Conversation, event: Notified) -> Step:
    """One message of its own for a task that was launched here and not told of yet; anything else changes nothing."""
    if event.task not in conversation.open:
        return Step(conversation, CallModel() if conversation.state == "awaiting a reply" else AwaitNews())
    told = _told(replace(conversation, open=conversation.open.remove(event.task)), event.text)
    return _ask(told) if conversation.state == "awaiting a reply" else _again(told)


def _error(use: ToolUse, why: str) -> ToolResult:
    return ToolResult(use.id, why, is_error=True)


def _with_results(conversation: Conversation, results: Iterable[ToolResult]) -> Conversation:
    """The conversation with one message that answers every use that waited, in order, and reminds of the list of work where it is time."""
    listed = any(spec.name == TODO_WRITE for spec in conversation.tools) and conversation.may_use(TODO_WRITE)
    idle = 0 if any(use.name == TODO_WRITE for use in conversation.pending) else conversation.idle + 1
    due = listed and idle >= TODO_ROUNDS
    content: tuple[Block, ...] = (*results, Text(TODO_REMINDER)) if due else tuple(results)
    messages = conversation.messages.append(Message("user", content))
    return replace(conversation, messages=messages, vouched=conversation.vouching, pending=(), answered=(), idle=0 if due else idle)


def _unused(conversation: Conversation, why: str, results: Mapping[str, ToolResult] | None = None) -> Conversation:
    """The conversation with every tool use that waits answered, by its result or by why it has none: none is ever left open."""
    if not conversation.pending:
        return conversation
    known = {**(results or {}), **{result.tool_use_id: result for result in conversation.answered}}
    return _with_results(conversation, [known.get(use.id) or _error(use, why) for use in conversation.pending])


_NOTHING_SAID: Final[Mapping[Status, str]] = {
    "completed": "The sub-agent submitted its result without a word.",
    "limit": "The sub-agent reached its limit of rounds without a word.",
    "empty": "The sub-agent ended without a word.",
    "truncated": "The sub-agent's reply was cut off before its first word.",
    "refused": "The model refused without a word.",
    "aborted": "The sub-agent was aborted before it said anything.",
    "null_result": "The sub-agent submitted null: it has no result.",
    "no_result": "The sub-agent ended without a result and without a word.",
}


def _conclude(conversation: Conversation, status: Status, text: str, *, reason: str = "", data: Json = None) -> Step:
    said = text or _NOTHING_SAID.get(status, status)
    where = (conversation.usage, conversation.rounds, conversation.depth, conversation.ancestry)
    conclusion = Conclusion(status, said, *where, data=data, reason=reason)
    return Step(replace(conversation, state="concluded", conclusion=conclusion), Conclude(conclusion))
