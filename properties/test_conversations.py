"""The laws of the step function, tried on replies of every kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyrsistent import pvector

from pipeline.frozen import JsonObject
from pipeline.subagent.conversation import Aborted, Conversation, Event, Failed
from pipeline.subagent.messages import Message, Reply, StopReason, Text, ToolUse, Usage
from properties.laws import conversations

TEXTS = st.sampled_from(("", " ", "Found it.")).map(Text)
REASONS: st.SearchStrategy[StopReason] = st.sampled_from(("end_turn", "tool_use", "tool_use", "tool_use", "stop_sequence", "max_tokens", "refusal"))
ENDS: st.SearchStrategy[Event] = st.sampled_from((Aborted(), Failed("the line is dead")))


@st.composite
def replies(draw: st.DrawFn) -> list[Reply]:
    """Replies with tool uses whose ids differ, as models give them."""
    made = []
    for at in range(draw(st.integers(0, 6))):
        uses = [ToolUse(f"u{at}-{index}", "read", JsonObject({})) for index in range(draw(st.integers(0, 3)))]
        made.append(Reply((*draw(st.lists(TEXTS, max_size=2)), *uses), draw(REASONS), Usage(1, 1)))
    return made


def conversation(max_rounds: int) -> Conversation:
    return Conversation("system", pvector([Message("user", (Text("task"),))]), 1, ("a",), max_rounds)


LAWS = (
    conversations.messages_only_grow,
    conversations.every_tool_use_is_answered_once,
    conversations.there_are_no_more_rounds_than_allowed,
    conversations.a_cut_reply_runs_nothing,
    conversations.states_follow_the_table,
)
Law = Callable[[Conversation, list[Reply], Event], None]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(law.__name__))
@given(st.integers(1, 5).map(conversation), replies(), ENDS)
def test_laws_of_conversations(law: Law, begun: Conversation, said: list[Reply], end: Event) -> None:
    law(begun, said, end)


def test_the_replies_reach_every_way_to_end() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=600, database=None, derandomize=True)
    @given(st.integers(1, 5).map(conversation), replies(), ENDS)
    def gather(begun: Conversation, said: list[Reply], end: Event) -> None:
        conclusion = conversations.walked(begun, said, end)[-1][1].conversation.conclusion
        reached.update([conclusion.status] if conclusion else [])

    gather()
    assert set(reached) == {"completed", "limit", "empty", "truncated", "refused", "aborted", "error"}
