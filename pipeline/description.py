"""What a session is told about its sub-agents: made when the session starts, from the agents in force then."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.agent import AgentDefinition
from pipeline.discovery import Discovery


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user switched off: agents that are not to be described, as they would be refused."""

    disabled: frozenset[str] = frozenset()


HOW = """Start sub-agents for work that stands by itself: a search whose details you do not need, a change in a corner of the code, a second opinion.
Each has a clean context and sees nothing of this conversation. So put into `context` what all tasks need to know, and into each task's `assignment`
what to do, what to leave alone, and what the answer must hold. Tasks of one call run side by side: give each its own files.
Give every task an `id` of its own. A name is matched exactly. You see a sub-agent's conclusion alone, and its files stay changed."""

STRUCTURED = """Its answer is data in a schema of its own. Ask for what the schema has room for, in no other form: an assignment
that asks for prose, or for fields the schema lacks, comes back as null."""


def describe(discovery: Discovery, settings: Settings = Settings()) -> str:
    """The text of the task tool: how to delegate, then each agent with its tools and description, but for those that are disabled.

    >>> from pipeline.discovery import discover
    >>> from pipeline.snapshot import Snapshot
    >>> "## plan" in describe(discover(Snapshot.from_tree({})), Settings(frozenset({"plan"})))
    False
    """
    shown = [agent for agent in discovery.agents if agent.name not in settings.disabled]
    blocks = [HOW, "Agents:" if shown else "There are no agents.", *(_block(agent) for agent in shown)]
    return "\n\n".join(blocks) + "\n"


def _block(agent: AgentDefinition) -> str:
    tools = "All" if agent.tools is None else ", ".join(agent.tools)
    lines = [f"## {_line(agent.name)}", f"Tools: {_line(tools)}", agent.description]
    return "\n".join([*lines, STRUCTURED] if agent.output is not None else lines)


def _line(text: str) -> str:
    """A text on one line: what a file calls its agent cannot pass for another block."""
    return " ".join(text.split())
