"""The `task` tool: how an agent asks for others, in the mode that the policy selects, and hears what came of it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Final, assert_never

from returns.result import Failure, Result

from pipeline.advice import render
from pipeline.agent import TASK, AgentDefinition
from pipeline.changes import Gone, drift
from pipeline.description import Settings, describe
from pipeline.discovery import Discovery
from pipeline.frozen import JsonObject, freeze
from pipeline.guards import has_tasks, tasks_have_ids
from pipeline.launch import NOBODY, at_limit, child_session
from pipeline.refusal import ForkOfFork, Refusal, SpawnForbidden, as_refusal
from pipeline.request import Session, TaskItem, TaskRequest, parse_request
from pipeline.subagent.context import Context
from pipeline.subagent.conversation import Status
from pipeline.subagent.crew import Crew, Prepared, Work, asked, conclusion_text, left_behind, prepare, side_by_side
from pipeline.subagent.engine import Options
from pipeline.subagent.modes import Fork, GeneralPurpose, Normal, select_mode
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.starting import begin, fork, forkable
from pipeline.subagent.tools import Answer, Tool, ToolCall, ToolError
from pipeline.subagent.toolset import SUBMIT_TOOL, TODO_TOOL, Toolset, by_name, child_toolset

_TEXT: Final = {"type": "string"}
_TASK: Final = {"type": "object", "properties": {"id": _TEXT, "description": _TEXT, "assignment": _TEXT}, "additionalProperties": False}
TASK_INPUT: Final = freeze(
    {
        "type": "object",
        "properties": {
            "agent": {"type": "string", "description": "The exact name of the agent; left out, the mode is chosen for you."},
            "description": {"type": "string", "description": "The simplest form: one task, in these words, and nothing else."},
            "context": {"type": "string", "description": "What all tasks need to know."},
            "tasks": {"type": "array", "items": _TASK, "description": "The tasks, each with an id of its own."},
            "schema": {"description": "The schema that each answer is to fit, JTD or JSON Schema."},
            "run_in_background": {"type": "boolean", "description": "Do not wait: a message tells of the end of each task."},
        },
        "additionalProperties": False,
    }
)
"""The input of the `task` tool."""
FAILED: Final[frozenset[Status]] = frozenset(("refused", "aborted", "error"))
"""The ways to end that give nothing to go on with."""
_A_FORK: Final = AgentDefinition("fork", "", "", "bundled", "")
"""A fork, where the guards want an agent."""


def task_spec(described: Discovery, session: Session) -> ToolSpec:
    """What models are told of the `task` tool: how to delegate, and which agents there were when the session began."""
    assert isinstance(TASK_INPUT, JsonObject)  # noqa: S101 - for the type checkers
    return ToolSpec(TASK, describe(described, Settings(session.disabled)), TASK_INPUT)


def task_tool(crew: Crew, session: Session) -> Tool:
    """The `task` tool as those have it whose sub-agents are asked for in this session."""

    async def delegate(call: ToolCall) -> Answer:
        request = _request(call.input)
        match select_mode(crew.engine.options.modes, request.agent):
            case Fork():
                return await _answered(crew, call, forks(crew, session, request, call), behind=_wants_background(call))
            case Normal(agent) | GeneralPurpose(agent):
                return await _delegated(crew, session, replace(request, agent=agent), call)
            case _ as mode:
                assert_never(mode)

    return Tool(crew.task_spec, delegate, delegates=True)


def _request(given: JsonObject) -> TaskRequest:
    """What is asked for; a description alone is one task in its words."""
    description = given.get("description")
    alone = {"tasks": ({"id": TASK, "description": description, "assignment": description},)} if description and not given.get("tasks") else {}
    parsed = parse_request({**given, **alone})
    if isinstance(parsed, Failure):
        raise ToolError(str(parsed.failure()))
    return parsed.unwrap()


def _wants_background(call: ToolCall) -> bool:
    return call.input.get("run_in_background") is True


async def _delegated(crew: Crew, session: Session, request: TaskRequest, call: ToolCall) -> Answer:
    """What comes of a request for a named agent. One that is marked as blocking is waited for, whatever the call says."""
    now = await crew.discovered()
    prepared = prepare(request, session, now, crew.engine)
    if isinstance(prepared, Failure):
        gone = [f"It was defined by {was.was} when this session began." for was in drift(request, crew.described, now) if isinstance(was, Gone)]
        raise ToolError(" ".join((render(prepared.failure()), *gone)))
    behind = _wants_background(call) and not prepared.unwrap().launch.agent.blocking
    return await _answered(crew, call, launched_works(crew, prepared.unwrap(), session, call.context, behind=behind), behind=behind)


def launched_works(crew: Crew, prepared: Prepared, session: Session, parent: Context, *, behind: bool = False) -> tuple[Work, ...]:
    """A launch's tasks as work: each a clean conversation in a context of its own below the parent's."""
    launch, options = prepared.launch, crew.engine.options
    toolset = child_toolset(launch, (*crew.tools, task_tool(crew, child_session(session, launch))), owes=prepared.owed is not None)
    return tuple([clean_work(prepared, item, parent, toolset, options, behind=behind) for item in launch.request.tasks])


def clean_work(prepared: Prepared, item: TaskItem, parent: Context, toolset: Toolset, options: Options, *, behind: bool = False) -> Work:
    """One task of a launch as work. Only a sub-agent that is waited for may share the application's state."""
    launch = prepared.launch
    begun = begin(launch, item.words, toolset.specs, owed=prepared.owed, ancestry=parent.ancestry)
    context = parent.child(launch.agent.name, shares_state=options.shares_state and not behind)
    return Work(item.id, item.words, replace(begun, max_tokens=options.max_tokens), context, toolset)


def forks(crew: Crew, session: Session, request: TaskRequest, call: ToolCall) -> tuple[Work, ...]:
    """The tasks of a request as forks of the conversation that asks; ToolError where it is a fork itself, may start nobody, or asks badly.

    What a fork answers has no schema: the tool to submit it by, or another set of rules, would cost it the cache that it is there for.
    """
    if request.schema is not None:
        raise ToolError("a fork answers in words: leave out `schema`, or name an agent")
    below = replace(session, depth=session.depth + 1)
    shares = crew.engine.options.shares_state and not _wants_background(call)
    known = by_name((*crew.tools, task_tool(crew, below), TODO_TOOL, SUBMIT_TOOL))
    toolset = Toolset({spec.name: known[spec.name] for spec in call.conversation.tools if spec.name in known})

    def work(item: TaskItem) -> Work:
        directive = request.message(item.words)
        may_spawn = not at_limit(below.depth, below.max_depth)
        forked = fork(call.conversation, directive, may_spawn=may_spawn).unwrap()
        context = call.context.child(forked.ancestry[-1], origin="fork", shares_state=shares)
        return Work(item.id, directive, forked, context, toolset)

    checked = may_fork(session, call).bind(partial(has_tasks, request, session)).bind(partial(tasks_have_ids, request, session))
    worded = checked.bind(lambda _: asked(request).alt(as_refusal))
    if isinstance(worded, Failure):
        raise ToolError(render(worded.failure()))
    return tuple([work(item) for item in request.tasks])


def may_fork(session: Session, call: ToolCall) -> Result[AgentDefinition, Refusal]:
    """Refuses a fork of a fork, told by its origin or by its history, and a fork of an agent that may start nobody."""
    if call.context.origin == "fork":
        return Failure(ForkOfFork(call.context.agent))
    if session.policy == NOBODY:
        return Failure(SpawnForbidden(_A_FORK.name, ""))
    return forkable(call.conversation).map(lambda _: _A_FORK).alt(as_refusal)


async def _answered(crew: Crew, call: ToolCall, works: tuple[Work, ...], *, behind: bool) -> Answer:
    """What the tool says: the conclusions in the order of the tasks; of tasks in the background that they were launched, at once."""
    if behind:
        for work in works:
            left_behind(crew, work, call.context.mailbox)
        launched = [{"id": work.task, "task_id": work.context.chain} for work in works]
        return Answer(json.dumps({"status": "async_launched", "tasks": launched}), launched=tuple([work.context.chain for work in works]))
    conclusions = await side_by_side(crew.engine, works)
    text = "\n\n".join(conclusion_text(work.task, conclusion) for work, conclusion in zip(works, conclusions, strict=True))
    return Answer(text, is_error=all(conclusion.status in FAILED for conclusion in conclusions))
