"""The laws of the step function and of forks, tried on courses of every kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.subagent.conversation import Conversation, Replied
from pipeline.subagent.faults import fault
from properties.laws import conversations, forks
from properties.laws.conversations import Course
from properties.talks import courses, under_way

LAWS = (
    conversations.messages_only_grow,
    conversations.every_tool_use_is_answered_once,
    conversations.there_are_no_more_rounds_than_allowed,
    conversations.a_cut_reply_runs_nothing,
    conversations.a_faulty_reply_is_as_if_unsaid,
    conversations.states_follow_the_table,
    conversations.no_tool_runs_unjudged,
    conversations.refusals_are_results,
    conversations.each_task_is_told_of_once,
    conversations.a_result_fits_what_is_owed,
)
FORK_LAWS = (
    forks.a_fork_s_bytes_begin_with_its_parent_s,
    forks.a_fork_is_never_forked,
    forks.a_fork_may_use_no_more_than_its_parent,
    forks.a_fork_leaves_its_parent_alone,
)
WAYS_TO_END = {"completed", "limit", "empty", "truncated", "refused", "aborted", "error", "null_result", "no_result"}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(law.__name__))
@given(courses())
def test_laws_of_conversations(law: Callable[[Course], None], course: Course) -> None:
    law(course)


@pytest.mark.parametrize("law", FORK_LAWS, ids=lambda law: str(law.__name__))
@given(under_way(), st.text())
def test_laws_of_forks(law: Callable[[Conversation, str], None], parent: Conversation, directive: str) -> None:
    law(parent, directive)


@given(under_way(), st.text(), st.text())
def test_siblings(parent: Conversation, one: str, other: str) -> None:
    forks.siblings_differ_only_in_their_directive(parent, one, other)


def test_the_courses_reach_every_way_to_end_and_every_want() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=500, database=None, derandomize=True)
    @given(courses())
    def gather(course: Course) -> None:
        steps = conversations.walked(course)
        conclusion = steps[-1][1].conversation.conclusion
        reached.update([conclusion.status] if conclusion else [])
        reached.update({type(step.wanted).__name__ for _, step in steps})
        reached.update(["a faulty reply" for event, _ in steps if isinstance(event, Replied) and fault(event.reply) is not None])

    gather()
    assert set(reached) == WAYS_TO_END | {"CallModel", "Judge", "RunTools", "AwaitNews", "Conclude", "a faulty reply"}
