"""The six agents that the library ships, as markdown beside this module, read at level fatal: a broken one is our bug and raises."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Final

from pipeline.agent import AgentDefinition
from pipeline.definition import read_agent

NAMES: Final = ("explore", "plan", "designer", "reviewer", "task", "quick_task")
"""The bundled agents in their order of precedence."""


class BundledAgentError(Exception):
    """A file that the library ships is no flawless definition; never the user's fault."""


@lru_cache(maxsize=1)
def load_bundled_agents() -> tuple[AgentDefinition, ...]:
    """The bundled agents in order, read once a process; BundledAgentError if one has as much as a warning.

    >>> [agent.name for agent in load_bundled_agents()]
    ['explore', 'plan', 'designer', 'reviewer', 'task', 'quick_task']
    """
    return tuple(parse_bundled(name, bundled_text(f"{name}.md")) for name in NAMES)


def bundled_text(file: str) -> str:
    """The text of a file that the library ships, by its path below this package."""
    return files(__name__).joinpath(file).read_text("utf-8")


def clear_bundled_agents_cache() -> None:
    """Make the next `load_bundled_agents` read the files again."""
    load_bundled_agents.cache_clear()


def parse_bundled(name: str, text: str) -> AgentDefinition:
    r"""The definition in a bundled file's text; BundledAgentError if anything is wrong with it, be it a warning.

    >>> parse_bundled("a", "---\nname: b\ndescription: c\n---\n")
    Traceback (most recent call last):
    pipeline.bundled.BundledAgentError: bundled:a.md: the name is 'b'
    """
    path = f"bundled:{name}.md"
    verdict = read_agent(text, path, "bundled")
    if verdict.warnings or not verdict.claimed:
        raise BundledAgentError(f"{path}: {verdict}")
    agent = verdict.result.unwrap()
    if agent.name != name:
        raise BundledAgentError(f"{path}: the name is {agent.name!r}")
    return agent
