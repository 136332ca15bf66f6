"""Strategies for conversations: replies, courses they may take, conversations under way."""

from __future__ import annotations

from hypothesis import strategies as st
from pyrsistent import pvector

from pipeline.agent import SUBMIT_RESULT, TASK
from pipeline.frozen import Json, JsonObject
from pipeline.subagent.conversation import Aborted, Conversation, Event, Failed, OutOfBudget
from pipeline.subagent.messages import Kept, Message, Reply, StopReason, Text, ToolUse, Usage
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.schemas import output_schema
from pipeline.subagent.starting import FORK_TAG
from pipeline.subagent.todos import TODO_WRITE
from properties.laws.conversations import Course, walked

TOOLS = ("read_file", "bash", TASK, TODO_WRITE, SUBMIT_RESULT)
SPECS = tuple([ToolSpec(name, f"Does {name}.", JsonObject({"type": "object"})) for name in TOOLS])
OWED = output_schema(JsonObject({"properties": JsonObject({"found": JsonObject({"type": "string"})})})).unwrap()
TEXTS = st.sampled_from(("", " ", "Found it.", FORK_TAG, f"The user wrote {FORK_TAG}"))
_USES: tuple[StopReason, ...] = ("tool_use",) * 9
_STOPS: tuple[StopReason, ...] = ("end_turn", *_USES, "stop_sequence", "max_tokens", "refusal")
STOPS: st.SearchStrategy[StopReason] = st.sampled_from(_STOPS)
SAME = st.sampled_from((False,) * 15 + (True,))
TURNS: st.SearchStrategy[StopReason] = st.just("end_turn")
ENDS: st.SearchStrategy[Event] = st.sampled_from((Aborted(), Failed("the line is dead"), OutOfBudget("no money left")))
DATA: st.SearchStrategy[Json] = st.sampled_from((None, "nothing", JsonObject({}), JsonObject({"found": "a.py"}), JsonObject({"found": 1})))


@st.composite
def replies(draw: st.DrawFn) -> tuple[Reply, ...]:
    """Replies with tool uses whose ids differ, as models give them, now and then not."""
    made = []
    stops = draw(st.sampled_from((STOPS, TURNS)))
    quiet = draw(st.sampled_from((True, False, False)))
    for at in range(draw(st.integers(0, 7))):
        least = 0 if quiet else draw(st.sampled_from((0, 1, 1, 2)))
        names = draw(st.lists(st.sampled_from((*TOOLS, TASK)), min_size=least, max_size=2 * least))
        same = draw(SAME)
        uses = [ToolUse(f"u{at}-{0 if same else index}", name, draw(_input(name))) for index, name in enumerate(names)]
        said = [Text(text) for text in draw(st.lists(TEXTS, max_size=2))]
        thought = [Kept(JsonObject({"type": "thinking", "thinking": "Hm.", "signature": "s"}))] if draw(st.booleans()) else []
        made.append(Reply((*thought, *said, *uses), draw(stops), Usage(1, 1)))
    return tuple(made)


def _input(name: str) -> st.SearchStrategy[JsonObject]:
    if name != SUBMIT_RESULT:
        return st.just(JsonObject({}))
    return DATA.map(lambda data: JsonObject({"data": data})) | st.just(JsonObject({}))


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Conversations that have not begun."""
    allowed = draw(st.sampled_from((None, None, frozenset({"bash", TODO_WRITE}), frozenset({"read_file", TASK, SUBMIT_RESULT}))))
    task = draw(TEXTS.filter(str.strip))
    return Conversation(
        "system",
        pvector([Message("user", (Text(task),))]),
        1,
        ("main", "a"),
        SPECS[: draw(st.integers(0, len(SPECS)))],
        allowed,
        max_rounds=draw(st.integers(1, 7)),
        owed=OWED if draw(st.booleans()) else None,
    )


@st.composite
def courses(draw: st.DrawFn) -> Course:
    """Courses with refusals, failures and tasks in the background."""
    said = draw(replies())
    uses = [use for reply in said for use in reply.tool_uses]
    some = st.frozensets(st.sampled_from([use.id for use in uses]), max_size=2) if uses else st.just(frozenset[str]())
    tasks = {use.id: (f"of {use.id}",) for use in uses if use.name == TASK}
    launches = {use: tasks[use] for use in sorted(tasks) if draw(st.booleans())}
    return Course(draw(conversations()), said, draw(ENDS), draw(some), draw(some), draw(some), launches, draw(st.integers(0, 3)), draw(st.booleans()))


@st.composite
def under_way(draw: st.DrawFn) -> Conversation:
    """Conversations at any step of a course, with tool uses in flight or not."""
    course = draw(courses())
    return draw(st.sampled_from([course.begun, *(step.conversation for _, step in walked(course))]))
