"""Starting sub-agents: from a prepared launch or a fork to its conclusion, in a context of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import anyio
from anyio.abc import TaskGroup
from returns.result import Failure, Result, Success

from pipeline.discovery import Discovery, discover
from pipeline.frozen import thaw
from pipeline.launch import Launch, plan_launch
from pipeline.refusal import NotASchema, NothingAsked, Refusal, as_refusal
from pipeline.request import Session, TaskRequest
from pipeline.snapshot import Snapshot
from pipeline.subagent.context import Context
from pipeline.subagent.conversation import Begun, Conclusion, Conversation, Event, Notified, Refused
from pipeline.subagent.driver import Ended, drive
from pipeline.subagent.engine import Engine
from pipeline.subagent.events import Finished, Started, who
from pipeline.subagent.judging import objection, occasion
from pipeline.subagent.permission import HookEvent
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.schemas import OutputSchema, output_schema
from pipeline.subagent.tools import Tool
from pipeline.subagent.toolset import Toolset
from pipeline.subagent.waiting import Mailbox

NOTIFICATION: Final = "Background task"


@dataclass(frozen=True, slots=True)
class Crew:
    """What it takes to start sub-agents: the engine, the tools over the workspace, a look at the files as they are now, the agents as they were
    described, and the group in which those in the background live.
    """

    engine: Engine
    tools: tuple[Tool, ...]
    look: Callable[[], Snapshot]
    described: Discovery
    task_spec: ToolSpec
    group: TaskGroup

    async def discovered(self) -> Discovery:
        """The agents in force now."""
        return discover(await anyio.to_thread.run_sync(self.look), host=self.engine.options.host)


class Prepared(NamedTuple):
    """A launch whose answer has a schema that is one, or none."""

    launch: Launch
    owed: OutputSchema | None


def prepare(request: TaskRequest, session: Session, discovery: Discovery, engine: Engine) -> Result[Prepared, Refusal]:
    """What a request would start, or the first refusal; NothingAsked and NotASchema last."""
    planned = plan_launch(request, session, discovery, host=engine.options.host)
    return planned.bind(with_words).bind(lambda launch: with_schema(launch).alt(as_refusal))


def with_words(launch: Launch) -> Result[Launch, Refusal]:
    """The launch, unless one of its tasks would be a message without a word: no model is asked nothing."""
    return asked(launch.request).map(lambda _: launch).alt(as_refusal)


def asked(request: TaskRequest) -> Result[TaskRequest, NothingAsked]:
    """The request, if every one of its tasks asks for something."""
    mute = tuple([item.id for item in request.tasks if not request.message(item.words)])
    return Failure(NothingAsked(mute)) if mute else Success(request)


def with_schema(launch: Launch) -> Result[Prepared, NotASchema]:
    """The launch with the schema that its answer is to fit, if any."""
    return output_schema(launch.schema).map(partial(Prepared, launch)).alt(partial(NotASchema, launch.agent.name))


@dataclass(frozen=True, slots=True)
class Work:
    """A conversation that is ready to be driven, with its context and tools; `task` names in a word what it is on, `prompt` is all of it."""

    task: str
    prompt: str
    conversation: Conversation
    context: Context
    toolset: Toolset


async def told(engine: Engine, work: Work, event: Event) -> Ended:
    """Drive a conversation from an event to its conclusion, and tell of its start and its end. Hooks are asked first whether it may."""
    context, listener = work.context, engine.options.listener
    listener(Started(*who(context), work.task, work.prompt, tuple(work.toolset.tools), work.toolset.unanswered, context.parent))
    asked: HookEvent = "UserPromptSubmit" if context.origin == "root" else "SubagentStart"
    refused = await objection(engine, context, occasion(asked, context, work.prompt))
    ended = await drive(work.conversation, event if refused is None else Refused(refused), context, engine, work.toolset.tools)
    end = ended.conclusion
    listener(Finished(*who(context), end.status, end.text, end.reason, end.rounds, end.usage, end.data))
    return ended


async def concluded(engine: Engine, work: Work) -> Conclusion:
    """Run a sub-agent, once there is a place for it; what it concludes."""
    async with work.context.slot.held():
        return (await told(engine, work, Begun())).conclusion


async def side_by_side(engine: Engine, works: Sequence[Work]) -> tuple[Conclusion, ...]:
    """Run sub-agents side by side, as far as there are places; their conclusions in the order in which they were asked for."""
    conclusions: dict[int, Conclusion] = {}

    async def run(at: int, work: Work) -> None:
        conclusions[at] = await concluded(engine, work)

    async with anyio.create_task_group() as group:
        for at, work in enumerate(works):
            group.start_soon(run, at, work)
    return tuple([conclusions[at] for at in range(len(works))])


def left_behind(crew: Crew, work: Work, mailbox: Mailbox) -> None:
    """Run a sub-agent in the background; its end is posted, once, whatever it is."""

    async def run() -> None:
        conclusion = await concluded(crew.engine, work)
        mailbox.post(Notified(work.context.chain, f"[{NOTIFICATION} {work.context.chain}] {conclusion_text(work.task, conclusion)}"))

    crew.group.start_soon(run)


def conclusion_text(task: str, conclusion: Conclusion) -> str:
    """A conclusion for the model that asked for it: whose, how it ended where that is not simply `completed`, and its data or its words."""
    words = json.dumps(thaw(conclusion.data), ensure_ascii=False) if conclusion.data is not None else conclusion.text
    why = f" ({conclusion.reason})" if conclusion.reason and conclusion.reason != words else ""
    return f"{task}: {conclusion.status}{why}\n{words}"
