"""Which agent file wins, why another is not loaded: composed pure functions over an immutable snapshot of the file tree."""

from pipeline.advice import render
from pipeline.agent import AgentDefinition, AnyAgent, OnlyAgents, Source, Spawns, ThinkingLevel
from pipeline.bundled import clear_bundled_agents_cache, load_bundled_agents
from pipeline.capture import capture
from pipeline.definition import parse_agent, read_agent
from pipeline.discovery import Discovery, discover
from pipeline.hosts import STANDARD, XCSH, Host
from pipeline.merging import FileOutcome
from pipeline.nodes import Directory, File, Link
from pipeline.problem import Problem
from pipeline.refusal import UnknownAgent
from pipeline.selection import Explanation, explain, get_agent
from pipeline.snapshot import Snapshot

__all__ = [
    "STANDARD",
    "XCSH",
    "AgentDefinition",
    "AnyAgent",
    "Directory",
    "Discovery",
    "Explanation",
    "File",
    "FileOutcome",
    "Host",
    "Link",
    "OnlyAgents",
    "Problem",
    "Snapshot",
    "Source",
    "Spawns",
    "ThinkingLevel",
    "UnknownAgent",
    "capture",
    "clear_bundled_agents_cache",
    "discover",
    "explain",
    "get_agent",
    "load_bundled_agents",
    "parse_agent",
    "read_agent",
    "render",
]
