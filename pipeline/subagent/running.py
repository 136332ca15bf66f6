"""The whole road: look at the files, discover, pass the guards, launch, run, hand back the conclusions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import anyio
from returns.result import Failure, Result, Success

from pipeline.capture import capture
from pipeline.discovery import discover
from pipeline.launch import Launch
from pipeline.refusal import NothingAsked, Refusal, as_refusal
from pipeline.request import Session, TaskItem, TaskRequest
from pipeline.snapshot import Snapshot
from pipeline.subagent.budget import Purse
from pipeline.subagent.context import Context, new_chain
from pipeline.subagent.conversation import Begun, Conclusion, Conversation, Event, Notified, Prompted
from pipeline.subagent.crew import Crew, Work, concluded, prepare, side_by_side, told, with_schema, with_words
from pipeline.subagent.delegation import clean_work, launched_works, task_spec, task_tool
from pipeline.subagent.engine import DEFAULTS, Engine, Options
from pipeline.subagent.models.protocol import Model
from pipeline.subagent.starting import MAIN_PROMPT, begin_main
from pipeline.subagent.tools import Tool
from pipeline.subagent.toolset import child_toolset, main_toolset
from pipeline.subagent.waiting import Mailbox, Slot
from pipeline.subagent.workspace.paths import Workspace
from pipeline.subagent.workspace.toolbox import workspace_tools

MAIN_SESSION: Final = Session()


@dataclass(frozen=True, slots=True)
class Execution:
    """What came of a request: what was launched, the conclusion of each task in the order of the request, and the agent's tool names that no tool
    answers to.
    """

    launch: Launch
    conclusions: tuple[Conclusion, ...]
    unanswered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """Where the main conversation stands after a prompt: all of it, how this turn ended, its context, and the news of tasks in the background
    that it has not heard. A value: from one turn as many may go on as like, and each hears all the news.
    """

    conversation: Conversation
    conclusion: Conclusion
    context: Context
    news: tuple[Notified, ...] = ()


def root_context(options: Options = DEFAULTS, session: Session = MAIN_SESSION, *, chains: Callable[[], str] = new_chain) -> Context:
    """The context at the root of a run: the options' policy, approver and budget. `chains` makes the ids of conversations."""
    return Context(
        depth=session.depth,
        chain=chains(),
        policies=(options.policy,),
        approver=options.approver,
        purse=Purse(options.budget, options.prices),
        chains=chains,
    )


def _placed(context: Context, options: Options) -> Context:
    """A root's context with places of its own for the agents of one run: they belong to one event loop."""
    return replace(context, slot=Slot(anyio.Semaphore(options.at_once)))


async def execute(
    request: TaskRequest, session: Session, model: Model, options: Options = DEFAULTS, *, context: Context | None = None
) -> Result[Execution, Refusal]:
    """Run the tasks of a request side by side, from the files as they are now to their conclusions, or say why none starts.

    `context` is the root's, one made from the options unless given: its cancellation ends all. Tools work in the options' workspace, else in
    the session's `cwd`. Refusals: those of `plan_launch`, NoWorkspace, NothingAsked, NotASchema.
    """
    tools = _tools(session, options)
    if isinstance(tools, Failure):
        return tools
    async with _crew(session, Engine(model, options), tools.unwrap()) as crew:
        prepared = prepare(request, session, crew.described, crew.engine)
        if isinstance(prepared, Failure):
            return prepared
        works = launched_works(crew, prepared.unwrap(), session, _placed(context or root_context(options, session), options))
        conclusions = await side_by_side(crew.engine, works)
        return Success(Execution(prepared.unwrap().launch, conclusions, works[0].toolset.unanswered))


async def converse(
    prompt: str,
    session: Session,
    model: Model,
    options: Options = DEFAULTS,
    *,
    after: Turn | None = None,
    system: str = MAIN_PROMPT,
    context: Context | None = None,
) -> Result[Turn, Refusal]:
    """Take the main conversation through one prompt of the user's: it may delegate, in the foreground or behind it, and ends when nothing that it
    left in the background is unheard of. `after` is the turn before, for the next prompt; its context is used again unless another is given: one
    that was aborted stays so, its budget goes on, and the policy of these options comes to those it has. The system prompt, the tools and the
    model stay those of the first turn, as the cache has them. Refusals: NothingAsked, NoWorkspace.
    """
    if not prompt.strip():
        return Failure(NothingAsked(("the prompt",)))
    tools = _tools(session, options)
    if isinstance(tools, Failure):
        return tools
    root = replace(
        context or (_gone_on(after.context, options) if after else root_context(options, session)), mailbox=Mailbox(after.news if after else ())
    )
    async with _crew(session, Engine(model, options), tools.unwrap()) as crew:
        toolset = main_toolset((*crew.tools, task_tool(crew, session)))
        event: Event = Prompted(prompt) if after else Begun()
        begun = begin_main(prompt, toolset.specs, system=system, model=session.model or (), depth=session.depth, max_rounds=session.max_rounds)
        conversation = replace(after.conversation if after else begun, max_rounds=session.max_rounds, max_tokens=options.max_tokens)
        work = Work("prompt", prompt, conversation, _placed(root, options), toolset)
        ended = await told(crew.engine, work, event)
    # Only now has all that was left in the background ended, and been told of.
    return Success(Turn(*ended, root, root.mailbox.taken()))


def _gone_on(context: Context, options: Options) -> Context:
    """The context of an earlier turn for another with these options: nothing that it forbade is allowed, and what they forbid is not."""
    policies = context.policies if options.policy in context.policies else (*context.policies, options.policy)
    return replace(context, policies=policies, approver=options.approver or context.approver)


def _tools(session: Session, options: Options) -> Result[tuple[Tool, ...], Refusal]:
    if options.tools is not None:
        return Success(options.tools)
    opened = Workspace.open(options.workspace or session.cwd)
    return opened.map(partial(workspace_tools, seconds=options.bash_seconds)).alt(as_refusal)


@asynccontextmanager
async def _crew(session: Session, engine: Engine, tools: tuple[Tool, ...]) -> AsyncIterator[Crew]:
    """A crew for a session; what it leaves in the background is waited for at the end: by then it has been aborted, or is done."""
    look = _looking(session, engine)
    described = discover(await anyio.to_thread.run_sync(look), host=engine.options.host)
    async with anyio.create_task_group() as group:
        yield Crew(engine, tools, look, described, task_spec(described, session), group)


def _looking(session: Session, engine: Engine) -> Callable[[], Snapshot]:
    """A look at the files as they are now, which opens only what has changed since the last."""
    last: Snapshot | None = None

    def look() -> Snapshot:
        nonlocal last
        last = capture(session.cwd, session.home, host=engine.options.host, previous=last)
        return last

    return look


async def run(launch: Launch, task: str, model: Model, options: Options = DEFAULTS, *, context: Context | None = None) -> Result[Conclusion, Refusal]:
    """Run a launched agent on one task to its conclusion, with those of the options' tools that the launch allows; it has no others and starts
    nobody. `context` is that of whoever starts it. Refusals: NothingAsked, NotASchema.
    """
    engine, root = Engine(model, options), _placed(context or root_context(options), options)
    item = TaskItem("task", assignment=task)
    prepared = with_words(replace(launch, request=replace(launch.request, tasks=(item,)))).bind(lambda worded: with_schema(worded).alt(as_refusal))
    if isinstance(prepared, Failure):
        return prepared
    toolset = child_toolset(launch, options.tools or (), owes=prepared.unwrap().owed is not None)
    return Success(await concluded(engine, clean_work(prepared.unwrap(), item, root, toolset, options)))


def execute_sync(
    request: TaskRequest, session: Session, model: Model, options: Options = DEFAULTS, *, context: Context | None = None
) -> Result[Execution, Refusal]:
    """`execute`, where no event loop runs."""
    return anyio.run(partial(execute, request, session, model, options, context=context))


def converse_sync(
    prompt: str,
    session: Session,
    model: Model,
    options: Options = DEFAULTS,
    *,
    after: Turn | None = None,
    system: str = MAIN_PROMPT,
    context: Context | None = None,
) -> Result[Turn, Refusal]:
    """`converse`, where no event loop runs."""
    return anyio.run(partial(converse, prompt, session, model, options, after=after, system=system, context=context))


def run_sync(launch: Launch, task: str, model: Model, options: Options = DEFAULTS, *, context: Context | None = None) -> Result[Conclusion, Refusal]:
    """`run`, where no event loop runs."""
    return anyio.run(partial(run, launch, task, model, options, context=context))
