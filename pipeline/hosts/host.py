"""What a program's rules are made of: where it looks, and how it reads one file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from pipeline.agent import Spawns
from pipeline.frontmatter.salvage import Salvaged
from pipeline.frontmatter.tree import Node
from pipeline.frozen import Json

PlanMode: TypeAlias = Literal["enforced", "as_documented"]
"""Whether plan mode binds the child, or is computed and then left out of what the child is started with."""

MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Family:
    """A program's folders: `project` is looked for at every level from cwd up to the root, `user` only in the home directory."""

    project: str
    user: str


@dataclass(frozen=True, slots=True)
class Registry:
    """A file that lists installed plugins, relative to home, or to the project's directory; see `pipeline.plugins`."""

    path: str
    of_project: bool = False


@dataclass(frozen=True, slots=True)
class Plugins:
    """Where plugins are registered, least binding first, which folder of each holds agents, and what marks a project's directory."""

    registries: tuple[Registry, ...]
    folder: str
    markers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandPlace:
    """Folders of commands: below cwd, below home, below every plugin's root, or at every level from cwd up to the repository's root.

    `naming` says what names a command. `unless_empty` is a folder, below the same base, without whose content the place does not count.
    """

    folders: tuple[str, ...]
    base: Literal["cwd", "home", "plugin", "upward"]
    naming: Literal["stem", "plugin and stem", "frontmatter"] = "stem"
    keeps_description: bool = True
    unless_empty: str | None = None


TextOf: TypeAlias = Callable[[Node], str | None]
"""The text of a name or a description; None where there is no usable one."""
NamesOf: TypeAlias = Callable[[Node], tuple[str, ...] | None]
"""The names in a CSV text or a list; None where nothing is listed."""
SpawnsOf: TypeAlias = Callable[[Node], Spawns | None]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """How a program makes a definition of one file's text."""

    strips_byte_order_mark: bool
    salvage: Callable[[str], Salvaged]
    text: TextOf
    tools: NamesOf
    model: NamesOf
    spawns: SpawnsOf
    output: Callable[[Node], Json]
    known_keys: frozenset[str]
    """Keys that mean something here, in camelCase."""
    foreign_keys: frozenset[str]
    """Keys that mean something to other programs with the same files."""


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """A program's rules as a value: families in order of precedence, plugins after them, bundled agents last; the first of a name wins.

    `suffix` is how an agent's file name ends, in exact case; a file over `max_bytes` is not read. `home_is_project`: whether a walk up from
    cwd that meets the user's own folder takes it for a project's.
    """

    name: str
    families: tuple[Family, ...] = field(repr=False)
    plugins: Plugins = field(repr=False)
    commands: tuple[CommandPlace, ...] = field(repr=False)
    """Where workflow commands are, in order of precedence."""
    reading: Reading = field(repr=False)
    home_is_project: bool = field(repr=False)
    suffix: str = field(default=".md", repr=False)
    max_bytes: int = field(default=MEBIBYTE, repr=False)
    file_order: Callable[[str], Any] | None = field(default=None, repr=False)
    """What the file names of a directory are sorted by; None is by code point."""
    plan_mode: PlanMode = field(default="enforced", repr=False)
    withholds_task: bool = field(default=True, repr=False)
    """Whether an agent with every tool still lacks `task` where it may spawn nobody."""
    encodes_strictly: bool = field(default=True, repr=False)
    """Whether a spawn policy that its text could not hold is refused, not garbled."""
    says_outcomes: bool = field(default=True, repr=False)
    """Whether the program accounts for each file, so that an answer in its shape does."""
