"""Which agent file wins, why another is not loaded: composed pure functions over an immutable snapshot of the file tree."""

from typing import TYPE_CHECKING

from pipeline.advice import lifting, render
from pipeline.agent import AgentDefinition, AnyAgent, OnlyAgents, Source, Spawns, ThinkingLevel
from pipeline.bundled import clear_bundled_agents_cache, load_bundled_agents
from pipeline.capture import capture
from pipeline.definition import parse_agent, read_agent
from pipeline.discovery import Discovery, discover
from pipeline.hosts import STANDARD, XCSH, Host
from pipeline.later import later
from pipeline.merging import FileOutcome
from pipeline.nodes import Directory, File, Link
from pipeline.problem import Problem
from pipeline.refusal import Refusal, UnknownAgent
from pipeline.selection import Explanation, explain, get_agent
from pipeline.snapshot import Snapshot

if TYPE_CHECKING:
    from pipeline.changes import Difference, diff, drift
    from pipeline.commands import Command, discover_commands, expand, get_command, load_bundled_commands
    from pipeline.description import Settings, describe
    from pipeline.graph import SpawnGraph, spawn_graph
    from pipeline.launch import Launch, child_session, launches_along, plan_launch
    from pipeline.policy import decode, encode
    from pipeline.request import Session, TaskItem, TaskRequest, parse_request

__all__ = [
    "STANDARD",
    "XCSH",
    "AgentDefinition",
    "AnyAgent",
    "Command",
    "Difference",
    "Directory",
    "Discovery",
    "Explanation",
    "File",
    "FileOutcome",
    "Host",
    "Launch",
    "Link",
    "OnlyAgents",
    "Problem",
    "Refusal",
    "Session",
    "Settings",
    "Snapshot",
    "Source",
    "SpawnGraph",
    "Spawns",
    "TaskItem",
    "TaskRequest",
    "ThinkingLevel",
    "UnknownAgent",
    "capture",
    "child_session",
    "clear_bundled_agents_cache",
    "decode",
    "describe",
    "diff",
    "discover",
    "discover_commands",
    "drift",
    "encode",
    "expand",
    "explain",
    "get_agent",
    "get_command",
    "launches_along",
    "lifting",
    "load_bundled_agents",
    "load_bundled_commands",
    "parse_agent",
    "parse_request",
    "plan_launch",
    "read_agent",
    "render",
    "spawn_graph",
]

_LATER = {
    "Command": "pipeline.commands",
    "Difference": "pipeline.changes",
    "Launch": "pipeline.launch",
    "Session": "pipeline.request",
    "Settings": "pipeline.description",
    "SpawnGraph": "pipeline.graph",
    "TaskItem": "pipeline.request",
    "TaskRequest": "pipeline.request",
    "child_session": "pipeline.launch",
    "decode": "pipeline.policy",
    "describe": "pipeline.description",
    "diff": "pipeline.changes",
    "discover_commands": "pipeline.commands",
    "drift": "pipeline.changes",
    "encode": "pipeline.policy",
    "expand": "pipeline.commands",
    "get_command": "pipeline.commands",
    "launches_along": "pipeline.launch",
    "load_bundled_commands": "pipeline.commands",
    "parse_request": "pipeline.request",
    "plan_launch": "pipeline.launch",
    "spawn_graph": "pipeline.graph",
}
"""Names that discovery does not need, by the module that is imported when one is asked for: a third of the import's time."""


__getattr__ = later(__name__, _LATER)
