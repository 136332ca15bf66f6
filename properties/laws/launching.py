"""What guards, policies and launches promise, whatever the definitions say."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from returns.result import Success

from pipeline.agent import AnyAgent, OnlyAgents, Spawns
from pipeline.discovery import Discovery
from pipeline.guards import Guard, enabled, has_tasks, not_itself, parent_allows, passed, tasks_have_ids
from pipeline.hosts import STANDARD, Host
from pipeline.launch import PLAN_TOOLS, at_limit, child_session, plan_launch
from pipeline.policy import allows, decode, encode
from pipeline.request import Session, TaskItem, TaskRequest

READ_ONLY = {*PLAN_TOOLS, "submit_result"}


def a_policy_survives_its_text(policy: Spawns) -> None:
    """The text of a policy, where it has one, decodes to that policy."""
    text = encode(policy).value_or(None)
    assert text is None or decode(text) == policy


def any_text_is_a_policy(text: str | None) -> None:
    """Any text is a policy, and that policy's own text means the same."""
    policy = decode(text)
    assert encode(policy).map(decode).value_or(policy) == policy


def a_narrower_policy_allows_no_more(request: TaskRequest, session: Session, discovery: Discovery, kept: frozenset[str]) -> None:
    """Whatever passes under a policy cut down to some of its names passes under the whole policy."""
    wide = session.policy
    names = tuple(agent.name for agent in discovery.agents) if isinstance(wide, AnyAgent) else wide.names
    narrow = replace(session, spawns=OnlyAgents(tuple(name for name in names if name in kept)))
    if isinstance(passed(request, narrow, discovery), Success):
        assert isinstance(passed(request, session, discovery), Success)


def the_order_of_guards_only_chooses_the_words(request: TaskRequest, session: Session, discovery: Discovery) -> None:
    """In whatever order the guards stand, the same requests pass."""
    agent = discovery.by_name.get(request.agent)
    if agent is None:
        return
    guards: tuple[Guard, ...] = (enabled(discovery), has_tasks, tasks_have_ids, not_itself, parent_allows)
    verdicts = {all(isinstance(guard(request, session, agent), Success) for guard in order) for order in permutations(guards)}
    assert verdicts == {isinstance(passed(request, session, discovery), Success)}


def nobody_spawns_at_the_limit(session: Session, discovery: Discovery, path: list[str], host: Host = STANDARD) -> None:
    """Along any path of spawns the depth grows by one a step and never passes the limit; whoever stands at it may spawn nobody."""
    for name in path:
        launch = plan_launch(TaskRequest(name, (TaskItem("x"),)), session, discovery, host=host).value_or(None)
        if launch is None:
            return
        assert launch.depth == session.depth + 1
        if at_limit(launch.depth, session.max_depth):
            assert not any(allows(launch.spawns, agent.name) for agent in discovery.agents)
            assert launch.spawns_text == ""
        session = child_session(session, launch)


def no_task_tool_at_the_limit(request: TaskRequest, session: Session, discovery: Discovery) -> None:
    """A child at the limit does not have the tool by which agents are spawned."""
    launch = plan_launch(request, session, discovery).value_or(None)
    if launch is not None and at_limit(launch.depth, session.max_depth):
        assert not launch.may_use("task")


def plan_mode_leaves_no_writing_tool(request: TaskRequest, session: Session, discovery: Discovery) -> None:
    """In plan mode a child has reading tools alone, none that its own list lacks, spawns nobody, and is told so."""
    launch = plan_launch(request, replace(session, plan_mode=True), discovery).value_or(None)
    if launch is None:
        return
    assert launch.tools is not None
    assert set(launch.tools) <= READ_ONLY
    assert launch.agent.tools is None or set(launch.tools) <= set(launch.agent.tools)
    assert launch.spawns == OnlyAgents(())
    assert launch.prompt.endswith(launch.agent.system_prompt)
    assert launch.prompt != launch.agent.system_prompt


def the_hole_is_labelled(request: TaskRequest, session: Session, discovery: Discovery, host: Host) -> None:
    """A launch says if plan mode is on and whether the child is held to it."""
    launch = plan_launch(request, session, discovery, host=host).value_or(None)
    if launch is not None:
        assert launch.plan_mode == (host.plan_mode if session.plan_mode else None)
        assert launch.plan_prompt_reaches_child == (session.plan_mode and host.plan_mode == "enforced")


def the_first_schema_counts(request: TaskRequest, session: Session, discovery: Discovery) -> None:
    """The schema of a launch is the first there is in the session's order of agent, call and session."""
    launch = plan_launch(request, session, discovery).value_or(None)
    if launch is not None:
        given = {"agent": launch.agent.output, "call": request.schema, "session": session.output}
        there = [source for source in session.schema_order if given[source] is not None]
        assert launch.schema_from == (there[0] if there else None)
        assert launch.schema == (given[there[0]] if there else None)


def a_child_gains_no_tool(request: TaskRequest, session: Session, discovery: Discovery, host: Host = STANDARD) -> None:
    """A child whose file lists its tools has none besides, but for `task` where it declares spawns and what `exec` stands for."""
    launch = plan_launch(request, session, discovery, host=host).value_or(None)
    if launch is not None and launch.agent.tools is not None and launch.tools is not None:
        gained = set(launch.tools) - set(launch.agent.tools)
        assert gained <= ({"task"} if launch.agent.spawns else set()) | ({"python", "bash"} if "exec" in launch.agent.tools else set())
