"""What the step function promises, whatever models and tools come up with."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.subagent.conversation import (
    TRANSITIONS,
    Answered,
    Begun,
    CallModel,
    Conclude,
    Conversation,
    Event,
    Replied,
    RunTools,
    Step,
    advance,
)
from pipeline.subagent.messages import Reply, ToolResult, ToolUse


def walked(conversation: Conversation, replies: Iterable[Reply], end: Event) -> list[tuple[Event, Step]]:
    """The steps of a conversation that hears these replies and whose tools all answer; `end` comes when there are no more."""
    steps: list[tuple[Event, Step]] = []
    coming = iter(replies)
    event: Event = Begun()
    while True:
        step = advance(conversation, event)
        steps.append((event, step))
        conversation = step.conversation
        match step.wanted:
            case Conclude():
                return steps
            case RunTools(uses):
                event = Answered({use.id: ToolResult(use.id, "done") for use in uses})
            case CallModel():
                reply = next(coming, None)
                event = end if reply is None else Replied(reply)


def messages_only_grow(conversation: Conversation, replies: list[Reply], end: Event) -> None:
    """No step changes or drops a message; a conversation that was kept is afterwards what it was."""
    kept = list(conversation.messages)
    before = conversation
    for _, step in walked(conversation, replies, end):
        assert list(step.conversation.messages)[: len(before.messages)] == list(before.messages)
        before = step.conversation
    assert list(conversation.messages) == kept


def every_tool_use_is_answered_once(conversation: Conversation, replies: list[Reply], end: Event) -> None:
    """Once a conversation has ended, each tool use is answered exactly once, in order, by the very next message."""
    messages = list(walked(conversation, replies, end)[-1][1].conversation.messages)
    for at, message in enumerate(messages):
        used = [block.id for block in message.content if isinstance(block, ToolUse)]
        if used:
            assert [block.tool_use_id for block in messages[at + 1].content if isinstance(block, ToolResult)] == used
    uses = sum(isinstance(block, ToolUse) for message in messages for block in message.content)
    assert uses == sum(isinstance(block, ToolResult) for message in messages for block in message.content)


def there_are_no_more_rounds_than_allowed(conversation: Conversation, replies: list[Reply], end: Event) -> None:
    """The model is called at most as often as there are rounds."""
    calls = [step for _, step in walked(conversation, replies, end) if isinstance(step.wanted, CallModel)]
    assert len(calls) <= conversation.max_rounds


def a_cut_reply_runs_nothing(conversation: Conversation, replies: list[Reply], end: Event) -> None:
    """After a reply that was cut off, or a refusal, no tool runs and no model is asked: the conversation has ended."""
    for event, step in walked(conversation, replies, end):
        if isinstance(event, Replied) and event.reply.stop_reason in ("max_tokens", "refusal"):
            assert isinstance(step.wanted, Conclude)
            assert step.wanted.conclusion.status in ("truncated", "refused")


def states_follow_the_table(conversation: Conversation, replies: list[Reply], end: Event) -> None:
    """Every step is one of the table's, and a conclusion is there exactly when the conversation has concluded, with words in it."""
    state = conversation.state
    for event, step in walked(conversation, replies, end):
        assert step.conversation.state in TRANSITIONS[state, type(event)]
        state = step.conversation.state
        assert (state == "concluded") == isinstance(step.wanted, Conclude) == (step.conversation.conclusion is not None)
        if step.conversation.conclusion is not None:
            assert step.conversation.conclusion.text
