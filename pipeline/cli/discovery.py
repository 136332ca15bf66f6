"""Which agents are in force here, where each comes from, and what is wrong with the others."""

from __future__ import annotations

import json

import typer
from returns.result import Failure, Result

from pipeline.agent import AgentDefinition
from pipeline.cli.scene import HERE, PROBLEMS, AsJson, Cwd, Home, HostName, Name, SnapshotFile, app, say, say_json, scene_of
from pipeline.refusal import UnknownAgent
from pipeline.selection import explain, get_agent
from pipeline.view.answers import explanation_json, problem_json
from pipeline.view.rows import agent_rows, explanation_lines, spawns_text, tools_text
from pipeline.view.terminal import print_table
from pipeline.view.text import problem_line, short_path, visible


@app.command("list")
def list_agents(cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None) -> None:
    """List the agents in force, their files, and problems."""
    scene = scene_of(cwd, home, host, snapshot)
    if as_json:
        say_json(scene.discovery.to_dict())
        return
    print_table(("agent", "source", "file", "tools", "spawns"), agent_rows(scene.discovery, scene.snapshot))
    lines = [problem_line(problem, scene.snapshot) for problem in scene.discovery.problems]
    if lines:
        say(f"\n{len(lines)} problem{'s' if len(lines) > 1 else ''}:", *lines)


@app.command()
def show(name: Name, cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None) -> None:
    """Show one agent: its fields and its prompt."""
    scene = scene_of(cwd, home, host, snapshot)
    agent = _found(get_agent(scene.discovery, name))
    if as_json:
        say_json(agent.to_dict())
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
    say(*(f"{label + ':':16}{visible(text)}" for label, text in fields.items() if text))
    say("", visible(agent.system_prompt, keep_lines=True))


@app.command("explain")
def explain_agent(
    name: Name, cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None
) -> None:
    """Explain who won a name, who lost, by which rule."""
    scene = scene_of(cwd, home, host, snapshot)
    why = explain(scene.discovery, name)
    if as_json:
        say_json(explanation_json(why))
    else:
        say(*(visible(line) for line in explanation_lines(why, scene.snapshot)))
        say(*(f"    {problem_line(problem, scene.snapshot)}" for outcome in why.broken for problem in outcome.problems))
    if why.agent is None:
        raise typer.Exit(PROBLEMS)


@app.command()
def check(cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = False, snapshot: SnapshotFile = None) -> None:
    """Print a line per problem; exit status 1 if any."""
    scene = scene_of(cwd, home, host, snapshot)
    problems = scene.discovery.problems
    if as_json:
        say_json([problem_json(problem) for problem in problems])
    else:
        say(*(problem_line(problem, scene.snapshot) for problem in problems))
    raise typer.Exit(PROBLEMS if problems else 0)


@app.command("snapshot")
def print_snapshot(cwd: Cwd = HERE, home: Home = None, host: HostName = "standard", as_json: AsJson = True, snapshot: SnapshotFile = None) -> None:
    """Print all that was looked at as JSON, for --snapshot."""
    say(scene_of(cwd, home, host, snapshot).snapshot.to_json())


def _found(result: Result[AgentDefinition, UnknownAgent]) -> AgentDefinition:
    if isinstance(result, Failure):
        unknown = result.failure()
        near = f" Near: {', '.join(unknown.near)}." if unknown.near else ""
        typer.echo(visible(f"no agent {unknown.name!r} is in force.{near} There are: {', '.join(unknown.available)}"), err=True)
        raise typer.Exit(PROBLEMS)
    return result.unwrap()
