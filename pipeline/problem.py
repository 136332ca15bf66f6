"""Everything that can be wrong with a file, a directory or a registry: a closed union of frozen records.

A record holds data, never prose: where (`path`, `line` and `column` from 1, None where there is none), what was found, what is allowed.
`pipeline.advice.render` turns it into a sentence with the way out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Found: TypeAlias = Literal["nothing", "an empty value", "text", "a number or a boolean", "an empty list", "a list", "a mapping"]
"""What can stand where something else was wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _At:
    path: str
    line: int | None = None
    column: int | None = None


# What makes a file invalid.


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFrontmatter(_At):
    """The text does not start with `---`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FenceNotFirst(_At):
    """There is a `---` fence, but something stands before it; `line` is the fence's."""

    before: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadmeNotAgent(_At):
    """A README without frontmatter among the agents: prose, not a definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclosedFrontmatter(_At):
    """The opening `---` has no closing one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAMapping(_At):
    """The metadata is YAML, but no mapping of keys to values."""

    found: Literal["text", "a list", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingField(_At):
    """A field that every agent needs is missing or holds nothing usable."""

    field: str
    found: Found


# What makes a file unreadable.


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableFile(_At):
    """The system would not give its content; `reason` is the system's word."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLink(_At):
    """A symbolic link that leads nowhere, or in a circle."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAFile(_At):
    """A directory, a pipe, a socket or a device with the name of an agent file; never opened."""

    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTooLarge(_At):
    """Larger than the host reads; sizes in bytes."""

    size: int
    limit: int


# What is worth a warning although the file is read.


@dataclass(frozen=True, slots=True, kw_only=True)
class NotYaml(_At):
    """The metadata is not YAML; its entries were salvaged one by one or line by line."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JunkLines(_At):
    """Lines of broken metadata that belong to no entry; `line` is the first of them."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateKey(_At):
    """A key that stands more than once; the last one counts."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownKey(_At):
    """A key that means nothing, close to one that does."""

    key: str
    near: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryToolAllowed(_At):
    """`tools` is written but lists nothing, so that the agent has every tool."""

    found: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredValue(_At):
    """A value that a field does not take, so that it is as if it were not there."""

    field: str
    found: str
    allowed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OddName(_At):
    """A name that other places cannot hold or show."""

    name: str
    why: Literal["comma", "control character", "blank at an end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SameNameInDirectory(_At):
    """Two files of one directory define one name; the earlier file name wins."""

    name: str
    winner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesDifferByCase(_At):
    """Another agent in force has this name but for the case of its letters."""

    name: str
    other: str
    other_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteOrderMark(_At):
    """The text starts with U+FEFF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedBytes(_At):
    """Bytes that are not UTF-8 became U+FFFD; `line` and `column` are the first one's."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WouldHaveWon(_At):
    """A broken file: were it mended, it and not `winner` would define `name`."""

    name: str
    winner: str


# What is wrong outside the agent files.


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableDirectory(_At):
    """An agent directory that is there but could not be listed; it counts as empty."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDirectory(_At):
    """A project's agent directory that others can write, or that another user owns."""

    why: Literal["anyone may write", "another user owns it"]
    owner: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryProblem(_At):
    """A plugin registry that counts as empty, or an entry of it that does not count."""

    where: str
    reason: str


Invalid: TypeAlias = NoFrontmatter | FenceNotFirst | ReadmeNotAgent | UnclosedFrontmatter | NotAMapping | MissingField
Unavailable: TypeAlias = UnreadableFile | BrokenLink | NotAFile | FileTooLarge
Warned: TypeAlias = (
    NotYaml
    | JunkLines
    | DuplicateKey
    | UnknownKey
    | EveryToolAllowed
    | IgnoredValue
    | OddName
    | SameNameInDirectory
    | NamesDifferByCase
    | ByteOrderMark
    | ReplacedBytes
    | WouldHaveWon
)
Surrounding: TypeAlias = UnreadableDirectory | OpenDirectory | RegistryProblem | NotAFile
Problem: TypeAlias = Invalid | Unavailable | Warned | Surrounding
"""Everything that can be wrong."""
