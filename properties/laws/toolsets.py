"""What a child's tools promise, whatever its file says: they shrink with depth, look the same everywhere, and no name is dropped in silence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pipeline.agent import SUBMIT_RESULT, TASK, OnlyAgents
from pipeline.discovery import Discovery
from pipeline.frozen import JsonObject
from pipeline.hosts import STANDARD, Host
from pipeline.launch import PLAN_TOOLS, Launch, at_limit, child_session, plan_launch
from pipeline.request import Session, TaskItem, TaskRequest
from pipeline.subagent.caching import wire_bytes
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.todos import TODO_WRITE
from pipeline.subagent.tools import Tool, ToolCall
from pipeline.subagent.toolset import SUBMIT_TOOL, TODO_TOOL, Toolset, child_toolset, main_toolset
from pipeline.subagent.workspace.names import ANSWERING

EXEC: Final = "exec"
EXEC_TOOLS: Final = ("python", "bash")


async def _nothing(_: ToolCall) -> str:
    return ""


def tool(name: str) -> Tool:
    """A tool of this name that does nothing."""
    return Tool(ToolSpec(name, f"Is {name}.", JsonObject({"type": "object"})), _nothing, delegates=name == TASK)


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where agents are launched: the session, the agents in force, the tools that there are, `task` among them, and the program's rules."""

    session: Session
    discovery: Discovery
    tools: tuple[Tool, ...]
    host: Host = STANDARD

    def launch(self, name: str, session: Session | None = None) -> Launch | None:
        """The launch of an agent here; None where it is refused."""
        request = TaskRequest(name, (TaskItem("one"),))
        return plan_launch(request, session or self.session, self.discovery, host=self.host).value_or(None)

    def toolset(self, launch: Launch) -> Toolset:
        """What a launched agent gets here."""
        return child_toolset(launch, self.tools, owes=launch.schema is not None)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches of all agents that may start here."""
        return tuple([launch for agent in self.discovery.agents if (launch := self.launch(agent.name)) is not None])


Law = Callable[[Workshop], None]


def tools_shrink_with_depth(workshop: Workshop) -> None:
    """What an agent gets one level deeper, all else the same, is among what it gets here."""
    deeper = replace(workshop.session, depth=workshop.session.depth + 1)
    for launch in workshop.launches:
        below = workshop.launch(launch.agent.name, deeper)
        assert below is not None
        assert set(workshop.toolset(below).tools) <= set(workshop.toolset(launch).tools)


def tools_shrink_below_any_agent(workshop: Workshop) -> None:
    """What an agent gets from any other that may start it is among what it gets from the one that starts that, but for the way to hand in a result
    where the other's schema is passed on.
    """
    here = {launch.agent.name: set(workshop.toolset(launch).tools) for launch in workshop.launches}
    for parent in workshop.launches:
        for name, tools in here.items():
            below = workshop.launch(name, child_session(workshop.session, parent))
            if below is not None:
                assert set(workshop.toolset(below).tools) <= tools | ({SUBMIT_RESULT} if below.schema is not None else set())


def nobody_delegates_at_the_limit(workshop: Workshop) -> None:
    """Whoever stands at the limit of depth, or may start nobody, does not have `task`."""
    for launch in workshop.launches:
        if at_limit(launch.depth, workshop.session.max_depth) or launch.spawns == OnlyAgents(()):
            assert TASK not in workshop.toolset(launch).tools


def no_child_keeps_the_list_of_work(workshop: Workshop) -> None:
    """No child has the list of work, though it be among the tools that there are, and named in the child's own list."""
    with_list = replace(workshop, tools=(*workshop.tools, TODO_TOOL))
    for place in (workshop, with_list):
        assert all(TODO_WRITE not in place.toolset(launch).tools for launch in place.launches)


def a_tool_looks_the_same_everywhere(workshop: Workshop) -> None:
    """A tool is told of in the same bytes, and in the same order among others, to the main conversation and to every child that has it."""
    main = main_toolset((*workshop.tools, SUBMIT_TOOL))
    for launch in workshop.launches:
        toolset = workshop.toolset(launch)
        assert [spec.name for spec in toolset.specs] == list(toolset.tools)
        assert list(toolset.tools) == [name for name in main.tools if name in toolset.tools]
        for name, each in toolset.tools.items():
            assert each.spec is main.tools[name].spec
            assert wire_bytes(each.spec.to_wire()) == wire_bytes(main.tools[name].spec.to_wire())


def every_name_is_accounted_for(workshop: Workshop) -> None:
    """Every name of a launch's list is answered by a tool that the child gets, is withheld by a rule, or is reported; no name is two of these."""
    for launch in workshop.launches:
        toolset = workshop.toolset(launch)
        assert set(toolset.unanswered) <= set(launch.tools or ())
        withheld = {TODO_WRITE, *launch.withheld, *(() if launch.spawns != OnlyAgents(()) else (TASK,))}
        for name in launch.tools or ():
            answers = _answers(name, workshop.tools)
            assert [answers in toolset.tools, answers in withheld, name in toolset.unanswered].count(True) == 1


def every_name_of_the_file_is_accounted_for(workshop: Workshop) -> None:
    """Every name of an agent's own list is on its launch's, unless a rule takes it off: the limit of depth, plan mode, or that it stands for
    others.
    """
    for launch in workshop.launches:
        for name in launch.agent.tools or ():
            limited = name == TASK and at_limit(launch.depth, workshop.session.max_depth)
            planned = launch.plan_prompt_reaches_child and name not in (*PLAN_TOOLS, SUBMIT_RESULT)
            assert (name in (launch.tools or ())) != (limited or planned or name == EXEC)


def nobody_gains_a_tool(workshop: Workshop) -> None:
    """A child whose file lists its tools has none that no name of it answers to, but for what rules add: a result that is owed, delegation where it
    declares whom it may start, what runs code where it says `exec`. So without a name for the shell it has no shell.
    """
    for launch in workshop.launches:
        listed = launch.agent.tools
        if listed is not None:
            named = {_answers(name, workshop.tools) for name in listed}
            added = {SUBMIT_RESULT} if launch.schema is not None else set()
            added |= ({TASK} if launch.agent.spawns else set()) | (set(EXEC_TOOLS) if EXEC in listed else set())
            assert set(workshop.toolset(launch).tools) <= named | added


def a_result_is_handed_in_where_it_is_owed(workshop: Workshop) -> None:
    """Whoever owes a result can hand it in; whoever has no list and owes none is not told how."""
    for launch in workshop.launches:
        has = SUBMIT_RESULT in workshop.toolset(launch).tools
        listed = launch.tools is not None and SUBMIT_RESULT in launch.tools
        assert has == (launch.schema is not None or listed)


def _answers(name: str, tools: tuple[Tool, ...]) -> str | None:
    """The name of the tool that answers to a name: its own, or that of which it is another name."""
    known = {each.spec.name for each in (*tools, SUBMIT_TOOL)}
    return name if name in known else ANSWERING.get(name) if ANSWERING.get(name) in known else None


LAWS: Final[tuple[Law, ...]] = (
    tools_shrink_with_depth,
    tools_shrink_below_any_agent,
    nobody_delegates_at_the_limit,
    no_child_keeps_the_list_of_work,
    a_tool_looks_the_same_everywhere,
    every_name_is_accounted_for,
    every_name_of_the_file_is_accounted_for,
    nobody_gains_a_tool,
    a_result_is_handed_in_where_it_is_owed,
)
