"""Who may start whom, what a child would get, what agents are told of each other, and the workflow commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from returns.result import Failure

from pipeline.capture import capture
from pipeline.changes import diff
from pipeline.cli.scene import (
    HERE,
    PROBLEMS,
    AsJson,
    Blocked,
    Cwd,
    Home,
    HostName,
    Name,
    SnapshotFile,
    app,
    host_of,
    misuse,
    replayed,
    say,
    say_json,
    say_refusal,
    scene_of,
)
from pipeline.commands import discover_commands
from pipeline.description import Settings, describe
from pipeline.discovery import discover
from pipeline.graph import spawn_graph
from pipeline.launch import plan_launch
from pipeline.request import DEFAULT_MAX_DEPTH, InvalidValueError, Session, TaskItem, TaskRequest
from pipeline.snapshot import Snapshot
from pipeline.view.answers import difference_json, launch_json
from pipeline.view.drawing import as_dot, as_mermaid, as_svg, as_text
from pipeline.view.rows import command_rows, difference_lines, launch_lines
from pipeline.view.terminal import print_table
from pipeline.view.text import problem_line, visible

Disabled = Annotated[list[str] | None, typer.Option("--disabled", help="An agent that the settings disable; may be given again.")]
Form = Literal["text", "mermaid", "dot", "svg"]
"""The environment variable by which a child learns which agent it runs."""

FORMS = {"text": as_text, "mermaid": as_mermaid, "dot": as_dot, "svg": as_svg}


@app.command("can-spawn")
def can_spawn(
    name: Name,
    parent_spawns: Annotated[str | None, typer.Option(help="The spawn policy of the one who asks: *, names between commas, or nothing.")] = None,
    depth: Annotated[int, typer.Option(help="How deep the one who asks is; the main conversation is 0.")] = 0,
    max_depth: Annotated[int, typer.Option(help="From which depth nobody spawns; negative is no limit.")] = DEFAULT_MAX_DEPTH,
    blocked: Blocked = None,
    disabled: Disabled = None,
    plan_mode: Annotated[bool, typer.Option("--plan-mode", help="Ask in plan mode.")] = False,
    cwd: Cwd = HERE,
    home: Home = None,
    host: HostName = "standard",
    as_json: AsJson = False,
    snapshot: SnapshotFile = None,
) -> None:
    """Say what a child would get, or why it may not start."""
    scene = scene_of(cwd, home, host, snapshot)
    request = TaskRequest(name, (TaskItem("task"),))
    try:
        off = frozenset(disabled or ())
        session = Session(parent_spawns, depth, max_depth, plan_mode=plan_mode, disabled=off, blocked=blocked)
    except InvalidValueError as error:
        misuse(str(error))
    planned = plan_launch(request, session, scene.discovery, host=scene.host)
    if isinstance(planned, Failure):
        say_refusal(planned.failure(), as_json=as_json)
        raise typer.Exit(PROBLEMS)
    launch = planned.unwrap()
    say_json(launch_json(launch)) if as_json else say(*map(visible, launch_lines(launch)))


@app.command("describe")
def print_description(
    disabled: Disabled = None, cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None
) -> None:
    """Print what a session is told about its agents."""
    text = describe(scene_of(cwd, home, host, snapshot).discovery, Settings(frozenset(disabled or ())))
    say_json({"description": text}) if as_json else sys.stdout.write(visible(text, keep_lines=True))


@app.command("graph")
def print_graph(
    form: Annotated[Form, typer.Option("--format", help="text, mermaid, dot or svg.")] = "text",
    cwd: Cwd = HERE,
    home: Home = None,
    host: HostName = "standard",
    as_json: AsJson = False,
    snapshot: SnapshotFile = None,
) -> None:
    """Draw who may start whom."""
    graph = spawn_graph(scene_of(cwd, home, host, snapshot).discovery)
    if as_json:
        say_json({"agents": graph.agents, "edges": graph.edges, "any": graph.any, "unknown": graph.unknown})
    else:
        say(FORMS[form](graph).rstrip("\n"))


@app.command("diff")
def print_difference(
    before: Annotated[Path, typer.Argument(help="A snapshot's file or a directory.")],
    after: Annotated[Path, typer.Argument(help="A snapshot's file or a directory.")],
    home: Home = None,
    host: HostName = "standard",
    as_json: AsJson = False,
) -> None:
    """Compare two snapshots or directories; 1 if they differ."""
    rules = host_of(host)
    old, new = (discover(_seen(path, home, host), host=rules) for path in (before, after))
    found = diff(old, new)
    say_json(difference_json(found)) if as_json else say(*map(visible, difference_lines(found)))
    raise typer.Exit(PROBLEMS if found else 0)


def _seen(path: Path, home: Path | None, host: str) -> Snapshot:
    if path.is_dir():
        return capture(path, home, host=host_of(host))
    return replayed(path)


@app.command("commands")
def list_commands(cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None) -> None:
    """List the workflow commands in force and their files."""
    scene = scene_of(cwd, home, host, snapshot)
    found = discover_commands(scene.snapshot, host=scene.host)
    if as_json:
        say_json([command.to_dict() for command in found.commands])
        return
    print_table(("command", "source", "file", "description"), command_rows(found, scene.snapshot))
    lines = [problem_line(problem, scene.snapshot) for problem in found.problems]
    if lines:
        say(f"\n{len(lines)} problem{'s' if len(lines) > 1 else ''}:", *lines)
