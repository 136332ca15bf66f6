"""Between a request and a running sub-agent: what exactly the child would get, or why it is not started. Nothing is run to find out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from returns.result import Failure, Result, Success

from pipeline.agent import SUBMIT_RESULT, TASK, AgentDefinition, OnlyAgents, Spawns, ThinkingLevel
from pipeline.discovery import Discovery, discover
from pipeline.frozen import Json
from pipeline.guards import passed
from pipeline.hosts import STANDARD, Host
from pipeline.hosts.host import PlanMode
from pipeline.policy import decode, encode, joined
from pipeline.refusal import Refusal, as_refusal
from pipeline.request import DEFAULT_MAX_ROUNDS, SchemaSource, Session, TaskItem, TaskRequest
from pipeline.snapshot import Snapshot

PLAN_TOOLS: Final = ("read", "grep", "find", "ls", "lsp", "web_search")
"""What an agent may use in plan mode: nothing that writes, nothing that runs."""
PLAN_PROMPT: Final = """Plan mode is on: look, think and propose. Change no file and run no command, whatever the rest of this prompt says.
Your answer is the plan."""
_EXEC: Final = "exec"
_EXEC_TOOLS: Final = {"both": ("python", "bash"), "python": ("python",), "bash": ("bash",)}
NOBODY: Final = OnlyAgents(())


@dataclass(frozen=True, slots=True)
class Launch:
    """What a child would be started with.

    `agent` is the definition as its file has it; `prompt`, `tools` and `spawns` are what the child gets of it. `tools` None is every tool but those
    in `withheld`. `spawns_text` is the policy for the child's environment. `schema_from` says whose schema it is.

    `plan_mode` is None outside plan mode; `as_documented` labels the hole through which a child in plan mode keeps its tools, prompt and spawns.
    `max_rounds` is how often the child may call its model.
    """

    agent: AgentDefinition
    request: TaskRequest
    depth: int
    tools: tuple[str, ...] | None
    withheld: tuple[str, ...]
    spawns: Spawns
    spawns_text: str
    schema: Json
    schema_from: SchemaSource | None
    model: tuple[str, ...] | None
    thinking_level: ThinkingLevel | None
    prompt: str
    plan_mode: PlanMode | None = None
    max_rounds: int = DEFAULT_MAX_ROUNDS

    @property
    def plan_prompt_reaches_child(self) -> bool:
        """Whether the child is told that plan mode is on, and held to it."""
        return self.plan_mode == "enforced"

    def may_use(self, tool: str) -> bool:
        """Whether the child has a tool of this name."""
        return tool not in self.withheld and (self.tools is None or tool in self.tools)


def plan_launch(request: TaskRequest, session: Session, seen: Snapshot | Discovery, *, host: Host = STANDARD) -> Result[Launch, Refusal]:
    """What a request would start, or the first refusal by the rules' order; a snapshot is discovered afresh.

    >>> from pipeline.request import TaskItem
    >>> task = (TaskItem("one", assignment="Look around."),)
    >>> plan_launch(TaskRequest("explore", task), Session(), Snapshot.from_tree({})).unwrap().depth
    1
    >>> plan_launch(TaskRequest("explore", task), Session(spawns=""), Snapshot.from_tree({})).failure()
    SpawnForbidden(name='explore', policy='')
    """
    discovery = discover(seen, host=host) if isinstance(seen, Snapshot) else seen
    return passed(request, session, discovery).bind(partial(_launched, request, session, host))


def _launched(request: TaskRequest, session: Session, host: Host, agent: AgentDefinition) -> Result[Launch, Refusal]:
    depth = session.depth + 1
    may_spawn = not at_limit(depth, session.max_depth)
    mode = host.plan_mode if session.plan_mode else None
    effective = planned(agent) if mode == "enforced" else agent
    declared = effective.spawns if may_spawn and effective.spawns is not None else NOBODY
    spawns = declared if host.encodes_strictly else decode(joined(declared))  # a child knows of it what its text says
    schema, schema_from = _schema(request, session, agent)
    launch = Launch(
        agent,
        request,
        depth,
        _tools(effective, session, may_spawn),
        (TASK,) if effective.tools is None and not may_spawn and host.withholds_task else (),
        spawns,
        joined(declared),
        schema,
        schema_from,
        session.models.get(agent.name) or agent.model or session.model,
        agent.thinking_level,
        effective.system_prompt,
        mode,
        session.max_rounds,
    )
    return _encodable(launch) if host.encodes_strictly else Success(launch)


def _encodable(launch: Launch) -> Result[Launch, Refusal]:
    return encode(launch.spawns, agent=launch.agent.name).map(lambda _: launch).alt(as_refusal)


def at_limit(depth: int, max_depth: int) -> bool:
    """Whether an agent at this depth may spawn no other; a negative limit is none.

    >>> at_limit(2, 2), at_limit(1, 2), at_limit(9, -1)
    (True, False, False)
    """
    return 0 <= max_depth <= depth


def planned(agent: AgentDefinition) -> AgentDefinition:
    """The agent as plan mode has it: told so before its prompt, reading tools alone, no spawns. It gains no tool that its own list lacks."""
    tools = (*PLAN_TOOLS, SUBMIT_RESULT) if agent.tools is None else tuple([tool for tool in agent.tools if tool in (*PLAN_TOOLS, SUBMIT_RESULT)])
    return replace(agent, system_prompt=f"{PLAN_PROMPT}\n\n{agent.system_prompt}", tools=tools, spawns=None)


def _tools(agent: AgentDefinition, session: Session, may_spawn: bool) -> tuple[str, ...] | None:
    if agent.tools is None:
        return None
    tools = [tool for tool in agent.tools if may_spawn or tool != TASK]
    if may_spawn and agent.spawns is not None and agent.spawns != NOBODY and TASK not in tools:
        tools.append(TASK)
    if _EXEC not in tools:
        return tuple(tools)
    rest = [tool for tool in tools if tool != _EXEC]
    return (*rest, *(tool for tool in _EXEC_TOOLS[session.exec_mode] if tool not in rest))


def _schema(request: TaskRequest, session: Session, agent: AgentDefinition) -> tuple[Json, SchemaSource | None]:
    """The schema that counts first, and whose it is."""
    given: dict[SchemaSource, Json] = {"agent": agent.output, "call": request.schema, "session": session.output}
    for source in session.schema_order:
        if given[source] is not None:
            return given[source], source
    return None, None


def launches_along(
    path: Sequence[str], session: Session, seen: Snapshot | Discovery, *, host: Host = STANDARD
) -> Result[tuple[Launch, ...], Refusal]:
    """What each agent on a path of spawns would be started with, each asking for the next; the first refusal where the path ends.

    >>> launches_along(["task", "plan", "explore"], Session(max_depth=-1), Snapshot.from_tree({})).unwrap()[-1].depth
    3
    """
    discovery = discover(seen, host=host) if isinstance(seen, Snapshot) else seen
    launches: list[Launch] = []
    for name in path:
        planned = plan_launch(TaskRequest(name, (TaskItem("step"),)), session, discovery, host=host)
        if isinstance(planned, Failure):
            return planned
        launches.append(planned.unwrap())
        session = child_session(session, launches[-1])
    return Success(tuple(launches))


def child_session(session: Session, launch: Launch) -> Session:
    """The session that a launched child is in, for what it may launch in turn: deeper by one, under its own policy, blocked from itself."""
    return replace(session, depth=launch.depth, spawns=launch.spawns, blocked=launch.agent.name, output=launch.schema)
