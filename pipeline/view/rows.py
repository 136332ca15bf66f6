"""A discovery as rows of text, for terminals and notebooks alike; nothing is escaped yet."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.advice import lifting, refusal_text
from pipeline.agent import AgentDefinition, AnyAgent
from pipeline.changes import Difference
from pipeline.commands import Commands
from pipeline.discovery import Discovery
from pipeline.launch import Launch
from pipeline.refusal import Refusal
from pipeline.selection import Explanation
from pipeline.snapshot import Snapshot
from pipeline.view.text import short_path


class AgentRow(NamedTuple):
    """One agent in force: its name, where it comes from, what it may use and spawn."""

    name: str
    source: str
    file: str
    tools: str
    spawns: str


class FileRow(NamedTuple):
    """One candidate file: what became of it, the name it asks for, who won over it, how many problems it has."""

    file: str
    status: str
    name: str
    winner: str
    problems: str


def agent_rows(discovery: Discovery, snapshot: Snapshot) -> list[AgentRow]:
    """A row per agent in force, in order of precedence."""
    return [
        AgentRow(agent.name, agent.source, short_path(agent.file_path, snapshot), tools_text(agent), spawns_text(agent)) for agent in discovery.agents
    ]


def file_rows(discovery: Discovery, snapshot: Snapshot) -> list[FileRow]:
    """A row per candidate file, in order of precedence."""
    return [
        FileRow(
            short_path(outcome.path, snapshot),
            outcome.status,
            outcome.claimed,
            short_path(outcome.winner, snapshot) if outcome.winner else "",
            str(len(outcome.problems) or ""),
        )
        for outcome in discovery.files
    ]


def tools_text(agent: AgentDefinition) -> str:
    """The tools of an agent in a line."""
    return "every tool" if agent.tools is None else ", ".join(agent.tools)


def spawns_text(agent: AgentDefinition) -> str:
    """Whom an agent may spawn, in a line."""
    if agent.spawns is None:
        return ""
    return "any agent" if isinstance(agent.spawns, AnyAgent) else ", ".join(agent.spawns.names) or "no agent"


def command_rows(found: Commands, snapshot: Snapshot) -> list[tuple[str, str, str, str]]:
    """A row per command in force, in order of precedence: its name, whose it is, its file, its description."""
    return [
        (command.name, command.source, short_path(command.file_path, snapshot), " ".join(command.description.split())) for command in found.commands
    ]


def launch_lines(launch: Launch) -> list[str]:
    """What a child would get, one fact a line."""
    without = f" but {', '.join(launch.withheld)}" if launch.withheld else ""
    lines = [
        f"yes: {launch.agent.name} would be started at depth {launch.depth}",
        f"  tools:  {'every tool' + without if launch.tools is None else ', '.join(launch.tools)}",
        f"  spawns: {launch.spawns_text or 'nobody'}",
    ]
    if launch.schema_from is not None:
        lines.append(f"  schema: the {launch.schema_from}'s")
    if launch.plan_mode is not None:
        held = "the child is held to it" if launch.plan_prompt_reaches_child else "a hole: the child never hears of it and keeps its tools"
        lines.append(f"  plan mode ({launch.plan_mode}): {held}")
    return lines


def refusal_lines(refusal: Refusal) -> list[str]:
    """Why a child would not be started, and what would lift that."""
    return [f"no: {refusal_text(refusal)}", f"  to lift it: {lifting(refusal)}"]


def difference_lines(found: Difference) -> list[str]:
    """A difference, one fact a line."""
    return [
        *(f"+ {name}" for name in found.came),
        *(f"- {name}" for name in found.went),
        *(f"~ {each.name}: {', '.join(each.fields)}" for each in found.changed),
        *(f"> {each.name}: {each.before} -> {each.after}" for each in found.changed_hands),
    ]


def explanation_lines(why: Explanation, snapshot: Snapshot) -> list[str]:
    """An explanation as sentences, one a line."""
    lines = [_winner_line(why, snapshot)]
    lines += [f"  shadowed: {short_path(loser.file.path, snapshot)} ({loser.rule} won)" for loser in why.losers]
    if why.replaces_bundled:
        lines.append("  shadowed: the bundled agent of this name (bundled agents come last)")
    lines += [f"  broken:   {short_path(outcome.path, snapshot)} would have won, but is {outcome.status}" for outcome in why.broken]
    if why.near:
        lines.append(f"  near:     {', '.join(why.near)} (names match exactly)")
    return lines


def _winner_line(why: Explanation, snapshot: Snapshot) -> str:
    if why.winner is not None:
        return f"{why.name}: {short_path(why.winner.path, snapshot)} ({why.winner.source}) is in force"
    return f"{why.name}: the bundled agent is in force" if why.agent else f"{why.name}: no agent of this name is in force"
