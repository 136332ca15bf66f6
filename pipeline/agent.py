"""The nouns: what a sub-agent's definition says, in the words of the field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from pipeline.frozen import Json, thaw

Source: TypeAlias = Literal["bundled", "user", "project"]
"""Whose definition it is: shipped with the library, the user's own, or the project's."""

ThinkingLevel: TypeAlias = Literal["inherit", "off", "minimal", "low", "medium", "high", "xhigh"]
THINKING_LEVELS: Final[tuple[ThinkingLevel, ...]] = get_args(ThinkingLevel)

SUBMIT_RESULT: Final = "submit_result"
"""The tool by which a sub-agent hands back its structured answer; an agent with a tool list always has it."""
TASK: Final = "task"
"""The tool by which an agent spawns others."""
ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class AnyAgent:
    """Every agent may be spawned."""

    def to_json(self) -> str:
        """The text `*`, as agent files write it."""
        return ANY


@dataclass(frozen=True, slots=True)
class OnlyAgents:
    """Only the agents named may be spawned; no name at all denies every spawn."""

    names: tuple[str, ...]

    def to_json(self) -> list[str]:
        """The names as a list."""
        return list(self.names)


Spawns: TypeAlias = AnyAgent | OnlyAgents


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """One sub-agent as its file defines it. None means that the file says nothing: every tool, no spawn rule, the session's model.

    `output` is opaque schema data, frozen; `file_path` is absolute, or `bundled:NAME.md`.
    """

    name: str
    description: str
    system_prompt: str
    source: Source
    file_path: str
    tools: tuple[str, ...] | None = None
    spawns: Spawns | None = None
    model: tuple[str, ...] | None = None
    thinking_level: ThinkingLevel | None = None
    output: Json = None
    blocking: bool | None = None

    def to_dict(self) -> dict[str, object]:
        """The definition as plain JSON data.

        >>> AgentDefinition("a", "d", "p", "user", "/x/a.md", tools=("read",)).to_dict()["tools"]
        ['read']
        """
        return {
            "name": self.name,
            "description": self.description,
            "tools": None if self.tools is None else list(self.tools),
            "spawns": None if self.spawns is None else self.spawns.to_json(),
            "model": None if self.model is None else list(self.model),
            "thinking_level": self.thinking_level,
            "blocking": self.blocking,
            "output": thaw(self.output),
            "source": self.source,
            "file_path": self.file_path,
            "system_prompt": self.system_prompt,
        }
