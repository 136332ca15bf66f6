"""What the step function promises, whatever models, judges and tools come up with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.subagent.conversation import (
    TRANSITIONS,
    Aborted,
    Answered,
    AwaitNews,
    Begun,
    CallModel,
    Conclude,
    Conversation,
    Event,
    Judge,
    Judged,
    Notified,
    Replied,
    RunTools,
    Step,
)
from pipeline.subagent.faults import fault
from pipeline.subagent.limits import MAX_REMINDERS
from pipeline.subagent.messages import Message, Reply, Text, ToolResult, ToolUse
from pipeline.subagent.step import REMINDER, advance

Walk = list[tuple[Event, Step]]


@dataclass(frozen=True, slots=True)
class Course:
    """What happens to a conversation: the replies it hears; which tool uses are refused and which nobody judges; which fail, and which leave
    tasks in the background; how often each such task is told of, and whether as soon as it can be; the event that ends it when
    there are no more replies.
    """

    begun: Conversation
    replies: tuple[Reply, ...]
    end: Event
    refused: frozenset[str] = frozenset()
    unjudged: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    launches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    times_told: int = 1
    eager: bool = False


def news_of(task: str) -> str:
    """What is said of a task that has ended."""
    return f"{task} has ended"


def walked(course: Course) -> Walk:
    """The steps of a conversation that takes this course."""
    steps: Walk = []
    coming = iter(course.replies)
    told: Counter[str] = Counter()
    event: Event = Begun()
    while True:
        step = advance(steps[-1][1].conversation if steps else course.begun, event)
        steps.append((event, step))
        conversation = step.conversation
        due = [task for task in sorted(told | Counter(conversation.open)) if told[task] < course.times_told]
        match step.wanted:
            case Conclude():
                return steps
            case Judge(uses):
                judged = [use for use in uses if use.id not in course.unjudged]
                event = Judged({use.id: "no" if use.id in course.refused else None for use in judged})
            case RunTools(uses):
                results = {use.id: ToolResult(use.id, "done", use.id in course.failing) for use in uses}
                event = Answered(results, tuple([task for use in uses for task in course.launches.get(use.id, ())]))
            case AwaitNews() | CallModel() if due and (course.eager or isinstance(step.wanted, AwaitNews)):
                told[due[0]] += 1
                event = Notified(due[0], news_of(due[0]))
            case AwaitNews():
                event = Aborted("nothing more will come")
            case CallModel():
                reply = next(coming, None)
                event = course.end if reply is None else Replied(reply)


def messages_only_grow(course: Course) -> None:
    """No step changes or drops a message; a conversation that was kept is afterwards what it was."""
    kept = list(course.begun.messages)
    before = course.begun
    for _, step in walked(course):
        assert list(step.conversation.messages)[: len(before.messages)] == list(before.messages)
        before = step.conversation
    assert list(course.begun.messages) == kept


def every_tool_use_is_answered_once(course: Course) -> None:
    """Once a conversation has ended, each tool use is answered exactly once, in order, by the very next message, and nothing else is answered."""
    messages = list(walked(course)[-1][1].conversation.messages)
    for at, message in enumerate(messages):
        used = [block.id for block in message.content if isinstance(block, ToolUse)]
        answers = messages[at + 1].content if at + 1 < len(messages) else ()
        assert [block.tool_use_id for block in answers if isinstance(block, ToolResult)] == used


def there_are_no_more_rounds_than_allowed(course: Course) -> None:
    """The model is asked at most as often as there are rounds."""
    replies = [event for event, _ in walked(course) if isinstance(event, Replied)]
    assert len(replies) <= course.begun.max_rounds


def a_cut_reply_runs_nothing(course: Course) -> None:
    """After a reply that was cut off, or a refusal, no tool runs and no model is asked: the conversation has ended."""
    for event, step in walked(course):
        if isinstance(event, Replied) and event.reply.stop_reason in ("max_tokens", "refusal"):
            assert isinstance(step.wanted, Conclude)
            assert step.wanted.conclusion.status in ("truncated", "refused")


def a_faulty_reply_is_as_if_unsaid(course: Course) -> None:
    """A reply that nobody can go on with, uses of one id say, ends the conversation as an error; no message is kept of it, and nothing runs."""
    before = course.begun
    for event, step in walked(course):
        if isinstance(event, Replied) and fault(event.reply) is not None:
            assert isinstance(step.wanted, Conclude)
            assert step.wanted.conclusion.status == "error"
            assert step.conversation.messages == before.messages
        before = step.conversation


def states_follow_the_table(course: Course) -> None:
    """Every step is one of the table's, and a conclusion is there exactly when the conversation has concluded, with words in it."""
    state = course.begun.state
    for event, step in walked(course):
        assert step.conversation.state in TRANSITIONS[state, type(event)]
        state = step.conversation.state
        assert (state == "concluded") == isinstance(step.wanted, Conclude) == (step.conversation.conclusion is not None)
        if step.conversation.conclusion is not None:
            assert step.conversation.conclusion.text


def no_tool_runs_unjudged(course: Course) -> None:
    """A tool use is carried out only where the event right before judged it and found nothing against it, and the conversation allows the tool."""
    for event, step in walked(course):
        if isinstance(step.wanted, RunTools):
            assert isinstance(event, Judged)
            for use in step.wanted.uses:
                assert event.verdicts.get(use.id, "unjudged") is None
                assert step.conversation.may_use(use.name)


def refusals_are_results(course: Course) -> None:
    """What may not be carried out is answered with an error, and the loop goes on with it."""
    answers = {block.tool_use_id: block for block in _blocks(course) if isinstance(block, ToolResult)}
    barred = course.refused | course.unjudged
    assert all(answers[use.id].is_error for use in _blocks(course) if isinstance(use, ToolUse) and use.id in barred)


def each_task_is_told_of_once(course: Course) -> None:
    """A task left in the background is told of by exactly one message of its own, however often its end is reported; none is left untold where
    the conversation came to its own end without submitting a result.
    """
    steps = walked(course)
    launched = Counter(task for event, _ in steps if isinstance(event, Answered) for task in event.launched)
    final = steps[-1][1].conversation
    told = Counter(text for message in final.messages if (text := _only_text(message)) is not None)
    for task in launched:
        assert told[news_of(task)] == (0 if task in final.open else 1)
    assert final.conclusion is not None
    if final.conclusion.status in ("empty", "no_result") or (final.conclusion.status == "completed" and final.conclusion.data is None):
        assert not final.open


def a_result_fits_what_is_owed(course: Course) -> None:
    """Data leaves a conversation only where it fits the schema that is owed, and whoever owes a result is reminded three times at most."""
    final = walked(course)[-1][1].conversation
    assert final.conclusion is not None
    if final.conclusion.data is not None and final.owed is not None:
        assert not final.owed.mismatches(final.conclusion.data)
    if final.owed is not None and final.conclusion.status == "completed":
        assert final.conclusion.data is not None
    assert sum(_only_text(message) == REMINDER for message in final.messages) <= MAX_REMINDERS


def _blocks(course: Course) -> list[object]:
    return [block for message in walked(course)[-1][1].conversation.messages for block in message.content]


def _only_text(message: Message) -> str | None:
    """The text of a user's message that is nothing but one text."""
    first = message.content[0]
    return first.text if message.role == "user" and len(message.content) == 1 and isinstance(first, Text) else None
