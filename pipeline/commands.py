"""Workflow commands: the parallel pipeline, made of the same pieces as the agents'. A command is a prompt with a place for the user's input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from returns.result import Failure, Result, Success

from pipeline.agent import Source
from pipeline.bundled import bundled_text
from pipeline.candidates import stem
from pipeline.definition import Verdict
from pipeline.frontmatter.fences import BLANKS, with_one_line_break, without_comments
from pipeline.frontmatter.tree import Node
from pipeline.hosts import STANDARD, Host
from pipeline.hosts.host import CommandPlace
from pipeline.merging import FileOutcome, merge
from pipeline.metadata import Metadata, read_metadata
from pipeline.places import command_places
from pipeline.problem import Problem
from pipeline.snapshot import Snapshot

INPUT: Final = "$@"
"""What stands for the user's input in a command."""


@dataclass(frozen=True, slots=True)
class Command:
    """One workflow command: its name, a word on it, what it tells the agent, whose it is, and its file (`bundled:...` for those shipped)."""

    name: str
    description: str
    instructions: str
    source: Source
    file_path: str

    def to_dict(self) -> dict[str, str]:
        """The command as plain JSON data; a bundled one by name alone."""
        if self.source == "bundled":
            return {"name": self.name, "source": self.source}
        return {
            "name": self.name,
            "description": self.description,
            "instructions": self.instructions,
            "source": self.source,
            "file_path": self.file_path,
        }


@dataclass(frozen=True, slots=True)
class UnknownCommand:
    """No command in force has exactly this name; those that there are."""

    name: str
    available: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands in force, in order of precedence, bundled last, and what became of every file."""

    commands: tuple[Command, ...]
    files: tuple[FileOutcome[Command], ...]
    by_name: Mapping[str, Command] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", MappingProxyType({command.name: command for command in self.commands}))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong, file by file in order of precedence."""
        return tuple([problem for outcome in self.files for problem in outcome.problems])


def discover_commands(snapshot: Snapshot, *, host: Host = STANDARD) -> Commands:
    """The commands in force in a snapshot by a host's rules, with every file accounted for; pure and total.

    >>> discover_commands(Snapshot.from_tree({".claude/commands/fix.md": "Fix $@"})).commands[0].name
    'fix'
    """
    where = [(place, _CommandReader(rule, place.plugin)) for place, rule in command_places(host, snapshot)]
    shipped = load_bundled_commands()
    merged = merge(where, snapshot, host, {command.name: command.file_path for command in shipped})
    left = (command for command in shipped if command.name not in merged.winners)
    return Commands((*merged.loaded, *left), merged.outcomes)


@dataclass(frozen=True, slots=True)
class _CommandReader:
    """Files of commands, in the order of their names by code point."""

    rule: CommandPlace
    plugin: str | None = None

    def read(self, text: str, path: str, source: Source, host: Host) -> Verdict[Command]:
        metadata = read_metadata(text, path, host.reading)
        fields = metadata.fields if isinstance(metadata, Metadata) else {}
        body = metadata.split.body if isinstance(metadata, Metadata) else _whole(text)
        warnings = metadata.warnings if isinstance(metadata, Metadata) else ()
        name = self._name(fields, path, host)
        description = self._text(fields, "description", host) if self.rule.keeps_description else None
        return Verdict(Success(Command(name, description or "", body, source, path)), warnings, name)

    def _name(self, fields: Mapping[str, Node], path: str, host: Host) -> str:
        own = stem(path, host)
        if self.rule.naming == "plugin and stem":
            return f"{self.plugin}:{own}"
        return (self._text(fields, "name", host) if self.rule.naming == "frontmatter" else None) or own

    def _text(self, fields: Mapping[str, Node], field: str, host: Host) -> str | None:
        node = fields.get(field)
        return None if node is None else host.reading.text(node)

    def order(self, host: Host) -> None:
        return None


def _whole(text: str) -> str:
    """The instructions of a file without metadata: all of it."""
    return without_comments(with_one_line_break(text)).strip(BLANKS)


@lru_cache(maxsize=1)
def load_bundled_commands() -> tuple[Command, ...]:
    """The commands that the library ships, read once a process.

    >>> [command.name for command in load_bundled_commands()]
    ['init']
    """
    reader = _CommandReader(CommandPlace((), "cwd"))
    return tuple([_bundled(reader, name) for name in _BUNDLED])


_BUNDLED: Final = ("init",)


def _bundled(reader: _CommandReader, name: str) -> Command:
    return reader.read(bundled_text(f"commands/{name}.md"), f"bundled:commands/{name}.md", "bundled", STANDARD).result.unwrap()


def get_command(commands: Commands, name: str) -> Result[Command, UnknownCommand]:
    """The command in force with exactly this name.

    >>> get_command(discover_commands(Snapshot.from_tree({})), "Init").failure()
    UnknownCommand(name='Init', available=('init',))
    """
    found = commands.by_name.get(name)
    return Failure(UnknownCommand(name, tuple(commands.by_name))) if found is None else Success(found)


def expand(command: Command, text: str) -> str:
    """A command's instructions with the user's input for every `$@`.

    >>> expand(Command("fix", "", "Fix $@ now", "user", "/fix.md"), "the build")
    'Fix the build now'
    """
    return command.instructions.replace(INPUT, text)
