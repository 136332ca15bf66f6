"""Running a sub-agent from the command line: what it does is told while it does it, and an interrupt ends it in good order."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import typer
from returns.result import Failure, Result

from pipeline.cli.scene import PROBLEMS, misuse, say, say_refusal
from pipeline.refusal import Refusal
from pipeline.request import Session, TaskRequest
from pipeline.subagent.context import Context
from pipeline.subagent.conversation import Conclusion, Status
from pipeline.subagent.crew import conclusion_text
from pipeline.subagent.engine import Options
from pipeline.subagent.events import Listener, RunEvent, Started
from pipeline.subagent.models.anthropic import AnthropicModel
from pipeline.subagent.models.protocol import Model
from pipeline.subagent.models.scripted import ScriptedModel
from pipeline.subagent.models.scripts import load_script
from pipeline.subagent.running import Execution, execute, root_context
from pipeline.view.answers import refusal_json
from pipeline.view.live import live_progress
from pipeline.view.progress import done_lines, event_line, labels
from pipeline.view.text import visible

EXIT_STATUS: Final[Mapping[Status, int]] = {
    "completed": 0,
    "limit": 3,
    "empty": 4,
    "truncated": 5,
    "refused": 6,
    "error": 7,
    "null_result": 8,
    "no_result": 9,
    "aborted": 130,
}
"""The exit status by how a run ended; 1 is a refusal to start, 2 is misuse."""
INTERRUPTED: Final = "interrupted"
UNREAD: Final = "nobody reads what it says"


def scripted(name: str) -> Model:
    """The scripted model of a file, or misuse."""
    script = load_script(Path(name))
    if isinstance(script, Failure):
        misuse(str(script.failure()))
    return ScriptedModel(script.unwrap(), name)


MODELS: Final[Mapping[str, Callable[[str], Model]]] = {"scripted": scripted, "anthropic": AnthropicModel}


def model_of(text: str) -> Model:
    """The model that an option names, or misuse."""
    kind, _, name = text.partition(":")
    if kind not in MODELS or not name:
        misuse(f"--model {text}: give scripted:FILE, or anthropic:NAME")
    return MODELS[kind](name)


def executed(request: TaskRequest, session: Session, model: Model, options: Options, *, as_json: bool) -> int:
    """Run a request and print what comes of it; the exit status."""
    events: list[RunEvent] = []
    return _reported(request, _ran(request, session, model, options, events, as_json=as_json), events, as_json=as_json)


def _ran(
    request: TaskRequest, session: Session, model: Model, options: Options, events: list[RunEvent], *, as_json: bool
) -> Result[Execution, Refusal]:
    context = root_context(options, session)
    with _telling(events, context, several=len(request.tasks) > 1, as_json=as_json) as listener:
        return anyio.run(_until_interrupted, request, session, model, replace(options, listener=listener), context)


def _reported(request: TaskRequest, found: Result[Execution, Refusal], events: Sequence[RunEvent], *, as_json: bool) -> int:
    if isinstance(found, Failure):
        say(json.dumps(refusal_json(found.failure()))) if as_json else say_refusal(found.failure(), as_json=False)
        return PROBLEMS
    conclusions = found.unwrap().conclusions
    if not as_json:
        _print(request, conclusions, events)
    return next((EXIT_STATUS[each.status] for each in conclusions if each.status != "completed"), 0)


@contextmanager
def _telling(events: list[RunEvent], context: Context, *, several: bool, as_json: bool) -> Iterator[Listener]:
    """A listener that keeps the events and tells them: as JSON, as a table that moves, or line by line where there is no terminal.

    Where nobody reads any more, all agents are asked to conclude, and the error comes when they have.
    """
    unread: list[OSError] = []
    called: dict[str, str] = {}

    def lines(event: RunEvent) -> None:
        if as_json:
            say(json.dumps(event.to_json()))
            sys.stdout.flush()
            return
        if isinstance(event, Started):
            called.update(labels(events, several=several))
        typer.echo(event_line(event, called[event.chain]), err=True)

    with live_progress() if sys.stderr.isatty() and not as_json else nullcontext(lines) as tell:

        def listen(event: RunEvent) -> None:
            events.append(event)
            try:
                tell(event)
            except OSError as error:
                unread.append(error)
                context.cancellation.abort(UNREAD)

        yield listen
    if unread:
        raise unread[0]


async def _until_interrupted(request: TaskRequest, session: Session, model: Model, options: Options, context: Context) -> Result[Execution, Refusal]:
    """The run; an interrupt asks all agents to conclude."""
    async with _interruptible(context):
        return await execute(request, session, model, options, context=context)


@asynccontextmanager
async def _interruptible(context: Context) -> AsyncIterator[None]:
    async with anyio.create_task_group() as group:
        group.start_soon(_watch, context)
        yield
        group.cancel_scope.cancel()


async def _watch(context: Context) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            context.cancellation.abort(INTERRUPTED)


def _print(request: TaskRequest, conclusions: Sequence[Conclusion], events: Sequence[RunEvent]) -> None:
    """Print what was concluded, and what was done where the run was broken off."""
    for task, conclusion in zip(request.tasks, conclusions, strict=True):
        alone = len(conclusions) == 1 and conclusion.status == "completed" and conclusion.data is None
        say(visible(conclusion.text if alone else conclusion_text(task.id, conclusion), keep_lines=True))
    if any(conclusion.status == "aborted" for conclusion in conclusions):
        typer.echo("\n".join(("What was done:", *done_lines(events, several=len(request.tasks) > 1))), err=True)
