"""The command that runs a sub-agent. What it needs is imported when it is called: the other commands need none of it."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.scene import HERE, AsJson, Blocked, Cwd, Home, HostName, Name, app, host_of, must_be_directories
from pipeline.request import DEFAULT_MAX_DEPTH, DEFAULT_MAX_ROUNDS, Session, TaskItem, TaskRequest
from pipeline.subagent.limits import AT_ONCE


@app.command("run")
def run_agent(
    name: Name,
    tasks: Annotated[list[str], typer.Argument(help="What it is to do; of several tasks each is done by an agent of its own, side by side.")],
    model: Annotated[str, typer.Option("--model", help="scripted:FILE, a script of replies in JSON, or anthropic:NAME.")],
    context: Annotated[str, typer.Option(help="What all tasks need to know.")] = "",
    max_rounds: Annotated[int, typer.Option(min=1, help="Model calls of each agent at most.")] = DEFAULT_MAX_ROUNDS,
    at_once: Annotated[int, typer.Option(min=1, help="Agents that run at once.")] = AT_ONCE,
    max_depth: Annotated[int, typer.Option(help="From which depth nobody spawns; negative is no limit.")] = DEFAULT_MAX_DEPTH,
    blocked: Blocked = None,
    cwd: Cwd = HERE,
    home: Home = None,
    host: HostName = "standard",
    as_json: AsJson = False,
) -> None:
    """Run an agent on a task, in a clean context, with the files of --cwd; with --json a line an event.

    Exit status 0 if it completed; 1 it may not start, 2 misuse, 3 limit, 4 empty, 5 truncated, 6 refused, 7 error, 8 null result, 9 no result,
    130 aborted.
    """
    must_be_directories(cwd, home)
    from pipeline.cli.execution import executed, model_of  # noqa: PLC0415
    from pipeline.subagent.engine import Options  # noqa: PLC0415

    request = TaskRequest(name, tuple([TaskItem(str(at), assignment=task) for at, task in enumerate(tasks, 1)]), context)
    session = Session(max_depth=max_depth, blocked=blocked, cwd=str(cwd), home=None if home is None else str(home), max_rounds=max_rounds)
    raise typer.Exit(executed(request, session, model_of(model), Options(at_once=at_once, host=host_of(host)), as_json=as_json))
