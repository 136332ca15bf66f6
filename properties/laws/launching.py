"""What guards, policies and launches promise, whatever the definitions say."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from returns.result import Failure, Success

from pipeline.agent import AgentDefinition, AnyAgent, OnlyAgents, Spawns
from pipeline.discovery import Discovery
from pipeline.guards import Guard, enabled, has_tasks, not_itself, parent_allows, passed, tasks_have_ids
from pipeline.hosts import STANDARD, Host
from pipeline.launch import at_limit, child_session, plan_launch
from pipeline.policy import allows, decode, encode
from pipeline.refusal import BadTaskIds
from pipeline.request import Session, TaskItem, TaskRequest

PLAN_TOOLS = ("read", "grep", "find", "ls", "lsp", "web_search")
READ_ONLY = {*PLAN_TOOLS, "submit_result"}
EXEC = {"both": {"python", "bash"}, "python": {"python"}, "bash": {"bash"}}


def a_policy_survives_its_text(policy: Spawns) -> None:
    """The text of a policy, where it has one, decodes to that policy."""
    text = encode(policy).value_or(None)
    assert text is None or decode(text) == policy


def a_policy_s_text_is_read_piece_by_piece(text: str) -> None:
    """Anybody is meant where the trimmed text is a star alone; else the trimmed pieces between commas that are not empty, in order."""
    pieces = tuple(piece.strip() for piece in text.split(",") if piece.strip())
    assert decode(text) == (AnyAgent() if text.strip() == "*" else OnlyAgents(pieces))


def a_policy_has_a_text_exactly_if_its_names_can_stand_in_one(policy: Spawns) -> None:
    """The names that cannot: the empty one, the star, those with a comma, a control character, a blank at an end."""
    names = policy.names if isinstance(policy, OnlyAgents) else ()
    bad = [
        name for name in names if name in ("", "*") or "," in name or name.strip() != name or any(ord(each) < 32 or each == "\x7f" for each in name)
    ]
    assert isinstance(encode(policy), Success) == (not bad)
    assert all(allows(policy, name) for name in names)


def a_launch_is_what_the_rules_say(request: TaskRequest, session: Session, discovery: Discovery, host: Host) -> None:
    """Depth, tools, policy, model, level, rounds and prompt of a launch, worked out by the rules as they are written down."""
    launch = plan_launch(request, session, discovery, host=host).value_or(None)
    if launch is None:
        return
    agent, held = launch.agent, session.plan_mode and host.plan_mode == "enforced"
    limited = session.max_depth >= 0 and session.depth + 1 >= session.max_depth
    spawns = OnlyAgents(()) if limited or held or agent.spawns is None else agent.spawns
    listed = None if agent.tools is None else set(agent.tools)
    if held:
        listed = READ_ONLY if listed is None else listed & READ_ONLY
    if listed is not None:
        listed = (listed - {"task"} if limited else listed | ({"task"} if spawns != OnlyAgents(()) else set())) - {"exec"} | (
            EXEC[session.exec_mode] if "exec" in listed else set()
        )
    assert (None if launch.tools is None else set(launch.tools)) == listed
    assert launch.may_use("task") == ("task" in listed if listed is not None else not (limited and host.withholds_task))
    assert launch.spawns == (spawns if host.encodes_strictly else decode(launch.spawns_text))
    assert launch.spawns_text == ("*" if isinstance(spawns, AnyAgent) else ",".join(spawns.names))
    assert (launch.depth, launch.max_rounds, launch.thinking_level) == (session.depth + 1, session.max_rounds, agent.thinking_level)
    assert launch.model == (session.models.get(agent.name) or agent.model or session.model)
    assert launch.prompt.startswith("Plan mode is on") == held
    assert launch.prompt.endswith(agent.system_prompt)


def a_child_s_session_is_its_parent_s_but_for_what_the_launch_says(request: TaskRequest, session: Session, discovery: Discovery, host: Host) -> None:
    """Deeper by one, under the launch's policy, blocked from itself, with the launch's schema; all else is the parent's."""
    launch = plan_launch(request, session, discovery, host=host).value_or(None)
    if launch is not None:
        own = {"depth": session.depth + 1, "spawns": launch.spawns, "blocked": request.agent, "output": launch.schema}
        assert child_session(session, launch) == replace(session, **own)  # type: ignore[arg-type]


def ids_are_told_apart_but_for_case_and_blanks(ids: list[str]) -> None:
    """Of the tasks of a request those are missing that have no id, and those repeated whose ids are the same without blanks and case."""
    found = tasks_have_ids(TaskRequest("a", tuple(map(TaskItem, ids))), Session(), AgentDefinition("a", "b", "", "user", "/a.md"))
    keys = [each.strip().lower() for each in ids]
    assert isinstance(found, Success) == (all(keys) and len(set(keys)) == len(keys))
    if isinstance(found, Failure):
        refusal = found.failure()
        assert isinstance(refusal, BadTaskIds)
        assert refusal.missing == tuple(at for at, key in enumerate(keys) if not key)
        assert [places for _, places in refusal.repeated] == [
            tuple(at for at, other in enumerate(keys) if other == key) for key in dict.fromkeys(keys) if key and keys.count(key) > 1
        ]


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
