"""The laws of children's tools, tried on agents whose lists name anything, and on whole trees of agent files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.agent import AgentDefinition
from pipeline.discovery import Discovery, discover
from pipeline.hosts import STANDARD, XCSH
from pipeline.launch import at_limit
from pipeline.subagent.workspace.names import ANSWERING
from properties import strategies
from properties.laws import toolsets
from properties.laws.toolsets import Law, Workshop, tool

AVAILABLE = ("read_file", "write_file", "edit_file", "glob", "grep", "bash", "lookup")
NAMED = (*ANSWERING, "exec", "python", "lookup", "webfetch", *("bash(git status *)",) * 4, "Bash")
LISTS = st.none() | st.lists(st.sampled_from(NAMED), max_size=6).map(tuple)
BLOCKING = st.none() | st.booleans()


@st.composite
def agents(draw: st.DrawFn, name: str) -> AgentDefinition:
    """Agents whose lists name tools by all their names, and some that nothing answers to."""
    return replace(draw(strategies.agents(name)), tools=draw(LISTS), blocking=draw(BLOCKING))


@st.composite
def discoveries(draw: st.DrawFn) -> Discovery:
    """A few agents that name each other."""
    names = draw(st.lists(st.sampled_from(strategies.NAMES[:6]), min_size=1, max_size=4, unique=True))
    return Discovery(tuple([draw(agents(name)) for name in names]), (), None)


@st.composite
def workshops(draw: st.DrawFn, found: st.SearchStrategy[Discovery]) -> Workshop:
    """Sessions of every kind over these agents, with most of the tools there."""
    missing = draw(st.frozensets(st.sampled_from(AVAILABLE), max_size=2))
    tools = tuple([tool(name) for name in (*AVAILABLE, "task") if name not in missing])
    session = replace(draw(strategies.sessions()), exec_mode=draw(st.sampled_from(("both", "python", "bash"))))
    open_ = replace(session, spawns="*") if draw(st.booleans()) else session
    return Workshop(open_, draw(found), tools, draw(st.sampled_from((STANDARD, STANDARD, XCSH))))


@pytest.mark.parametrize("law", toolsets.LAWS, ids=lambda law: str(law.__name__))
@settings(max_examples=40)
@given(workshops(discoveries()))
def test_laws_of_toolsets(law: Law, workshop: Workshop) -> None:
    law(workshop)


@settings(max_examples=40)
@given(workshops(strategies.snapshots().map(discover)))
def test_laws_of_toolsets_hold_for_agent_files(workshop: Workshop) -> None:
    for law in toolsets.LAWS:
        law(workshop)


def test_the_workshops_reach_what_the_laws_are_about() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=250, database=None, derandomize=True)
    @given(workshops(discoveries()))
    def gather(workshop: Workshop) -> None:
        reached.update(_reached(workshop))

    gather()
    lists = {"unanswered", "no list", "a list", "exec", "bash by another name", "bash of a kind", "todo named"}
    tools = {"has task", "has bash", "has submit_result", "has lookup"}
    assert set(reached) == lists | tools | {"at the limit", "named task at the limit", "plan mode", "a schema passed on"}


def _reached(workshop: Workshop) -> Iterator[str]:
    for launch in workshop.launches:
        toolset, listed = workshop.toolset(launch), launch.agent.tools
        limited = at_limit(launch.depth, workshop.session.max_depth)
        yield "no list" if listed is None else "a list"
        yield from (f"has {name}" for name in ("task", "bash", "submit_result", "lookup") if name in toolset.tools)
        yield from ["unanswered"] * bool(toolset.unanswered)
        yield from ["at the limit"] * limited
        yield from ["named task at the limit"] * (limited and "task" in (listed or ()))
        yield from ["plan mode"] * launch.plan_prompt_reaches_child
        yield from ["a schema passed on"] * (launch.schema_from == "session")
        yield from ["exec"] * ("exec" in (listed or ()))
        yield from ["bash by another name"] * (
            "bash" in toolset.tools and "bash" not in (listed or ("bash", "exec")) and "exec" not in (listed or ())
        )
        yield from ["bash of a kind"] * ("bash(git status *)" in (listed or ()) and "bash" not in toolset.tools)
        yield from ["todo named"] * any(ANSWERING.get(name) == "todo_write" for name in listed or ())
