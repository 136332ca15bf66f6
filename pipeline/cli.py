"""The command line: which agents are in force here, where each comes from, and what is wrong."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from returns.result import Failure, Result

from pipeline.agent import AgentDefinition
from pipeline.capture import capture
from pipeline.discovery import Discovery, discover
from pipeline.hosts import HOSTS, Host
from pipeline.refusal import UnknownAgent
from pipeline.selection import explain, get_agent
from pipeline.snapshot import Snapshot
from pipeline.view.answers import explanation_json, problem_json
from pipeline.view.rows import agent_rows, explanation_lines, spawns_text, tools_text
from pipeline.view.terminal import print_table
from pipeline.view.text import problem_line, short_path, visible

MISUSE = 2
PROBLEMS = 1

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Which AI sub-agents are in force here, which file each comes from, and what is wrong with the others.",
)

Name = Annotated[str, typer.Argument(help="The agent's exact name.")]
Cwd = Annotated[Path, typer.Option("--cwd", help="The directory to look from.")]
Home = Annotated[Path | None, typer.Option("--home", help="The user's home directory; yours unless given.")]
HostName = Annotated[str, typer.Option("--host", help=f"Whose rules: {', '.join(HOSTS)}.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SnapshotFile = Annotated[Path | None, typer.Option("--snapshot", help="Answer from this snapshot instead of the disk.")]

HERE = Path()


@dataclass(frozen=True, slots=True)
class Scene:
    """What a command is asked about: whose rules, what there is to see, and what discovery makes of it."""

    host: Host
    snapshot: Snapshot
    discovery: Discovery


@app.command("list")
def list_agents(cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None) -> None:
    """List the agents in force, the file each comes from, and what is wrong."""
    scene = _scene(cwd, home, host, snapshot)
    if as_json:
        _say_json(scene.discovery.to_dict())
        return
    print_table(("agent", "source", "file", "tools", "spawns"), agent_rows(scene.discovery, scene.snapshot))
    lines = [problem_line(problem, scene.snapshot) for problem in scene.discovery.problems]
    if lines:
        _say(f"\n{len(lines)} problem{'s' if len(lines) > 1 else ''}:", *lines)


@app.command()
def show(name: Name, cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None) -> None:
    """Show one agent as it is in force: its fields and its prompt."""
    scene = _scene(cwd, home, host, snapshot)
    agent = _found(get_agent(scene.discovery, name))
    if as_json:
        _say_json(agent.to_dict())
        return
    fields = {
        "name": agent.name,
        "description": agent.description,
        "source": agent.source,
        "file": short_path(agent.file_path, scene.snapshot),
        "tools": tools_text(agent),
        "spawns": spawns_text(agent),
        "model": ", ".join(agent.model or ()),
        "thinking level": agent.thinking_level or "",
        "blocking": "" if agent.blocking is None else str(agent.blocking).lower(),
        "output": "" if agent.output is None else json.dumps(agent.to_dict()["output"]),
    }
    _say(*(f"{label + ':':16}{visible(text)}" for label, text in fields.items() if text))
    _say("", visible(agent.system_prompt, keep_lines=True))


@app.command("explain")
def explain_agent(
    name: Name, cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None
) -> None:
    """Explain which file defines an agent, which files lost and by which rule, and which broken file would have won."""
    scene = _scene(cwd, home, host, snapshot)
    why = explain(scene.discovery, name)
    if as_json:
        _say_json(explanation_json(why))
    else:
        _say(*(visible(line) for line in explanation_lines(why, scene.snapshot)))
        _say(*(f"    {problem_line(problem, scene.snapshot)}" for outcome in why.broken for problem in outcome.problems))
    if why.agent is None:
        raise typer.Exit(PROBLEMS)


@app.command()
def check(cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None) -> None:
    """Check every file: a line per problem; exit status 1 if there is one, 0 if all is well."""
    scene = _scene(cwd, home, host, snapshot)
    problems = scene.discovery.problems
    if as_json:
        _say_json([problem_json(problem) for problem in problems])
    else:
        _say(*(problem_line(problem, scene.snapshot) for problem in problems))
    raise typer.Exit(PROBLEMS if problems else 0)


@app.command("snapshot")
def print_snapshot(cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = True, snapshot: SnapshotFile = None) -> None:
    """Print the snapshot that the other commands would answer from, as JSON: a bug report that anyone can replay."""
    _say(_scene(cwd, home, host, snapshot).snapshot.to_json())


def _scene(cwd: Path, home: Path | None, host_name: str, file: Path | None) -> Scene:
    host = HOSTS.get(host_name)
    if host is None:
        _misuse(f"--host {host_name}: no such host; there are {', '.join(HOSTS)}")
    if file is not None:
        snapshot = _replayed(file)
    else:
        for directory in (cwd, home):
            if directory is not None and not directory.is_dir():
                _misuse(f"{directory}: no such directory")
        snapshot = capture(cwd, home, host=host)
    return Scene(host, snapshot, discover(snapshot, host=host))


def _replayed(file: Path) -> Snapshot:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _misuse(f"{file}: cannot be read ({error})")
    snapshot = Snapshot.from_json(text)
    if isinstance(snapshot, Failure):
        bad = snapshot.failure()
        _misuse(f"{file}: no snapshot: {bad.where} must be {bad.expected}")
    return snapshot.unwrap()


def _found(result: Result[AgentDefinition, UnknownAgent]) -> AgentDefinition:
    if isinstance(result, Failure):
        unknown = result.failure()
        near = f" Near: {', '.join(unknown.near)}." if unknown.near else ""
        typer.echo(visible(f"no agent {unknown.name!r} is in force.{near} There are: {', '.join(unknown.available)}"), err=True)
        raise typer.Exit(PROBLEMS)
    return result.unwrap()


def _misuse(message: str) -> NoReturn:
    typer.echo(visible(message), err=True)
    raise typer.Exit(MISUSE)


def _say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")


def _say_json(value: object) -> None:
    _say(json.dumps(value, indent=2))
