"""A discovery as rows of text, for terminals and notebooks alike; nothing is escaped yet."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.agent import AgentDefinition, AnyAgent
from pipeline.discovery import Discovery
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
