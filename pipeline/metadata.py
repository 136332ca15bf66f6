"""An agent file's text to its metadata: fences, YAML or what is salvaged of it, keys in camelCase, and where each stands."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, abc
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from returns.result import Failure

from pipeline.frontmatter.core import is_null
from pipeline.frontmatter.fences import BYTE_ORDER_MARK, NoFences, Place, Positions, Split, split
from pipeline.frontmatter.keys import camel
from pipeline.frontmatter.readings import read_yaml
from pipeline.frontmatter.tree import Mapping, Node, NotReadable, Sequence
from pipeline.hosts.host import Reading
from pipeline.problem import (
    ByteOrderMark,
    DuplicateKey,
    FenceNotFirst,
    Invalid,
    JunkLines,
    NoFrontmatter,
    NotAMapping,
    NotYaml,
    ReadmeNotAgent,
    UnclosedFrontmatter,
    Warned,
)


class Metadata(NamedTuple):
    """What a file's metadata says: a node for each key in camelCase, the last of a repeated one; the body; what is worth a warning."""

    path: str
    split: Split
    fields: abc.Mapping[str, Node]
    written: abc.Mapping[str, str]
    """The keys that the file writes in another way, as it writes them."""
    lines: abc.Mapping[str, int]
    """The lines of the keys within the metadata, where a salvage counted them."""
    warnings: tuple[Warned, ...] = ()


class Locator:
    """Where the keys of a file's metadata stand; made only when there is something to say about the file."""

    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata
        self._positions = Positions(metadata.split.source)
        self._lines = metadata.lines or _lines(metadata.split.metadata)

    def at(self, key: str) -> Place:
        """The line and column of a key in the file, both from 1; of one that stands in a way that no line shows, the metadata's first."""
        written = self._metadata.written.get(key, key)
        return self.of(self._lines.get(key) or self._lines.get(written) or 1, 1)

    def of(self, line: int, column: int) -> Place:
        """The place in the file of a place in the metadata."""
        return self._positions.of(line, column)


def read_metadata(text: str, path: str, reading: Reading) -> Metadata | Invalid:
    r"""The metadata of a text by a host's way of reading, or why it has none.

    >>> from pipeline.hosts import STANDARD
    >>> Locator(read_metadata("---\nthinking-level: low\n---", "/a.md", STANDARD.reading)).at("thinkingLevel")
    Place(line=2, column=1)
    >>> read_metadata("Hello", "/a.md", STANDARD.reading)
    NoFrontmatter(path='/a.md', line=1, column=1)
    """
    noted: tuple[Warned, ...] = ()
    if text.startswith(BYTE_ORDER_MARK):
        noted = (ByteOrderMark(path=path, line=1, column=1),)
        text = text[1:] if reading.strips_byte_order_mark else text
    cut = split(text)
    if isinstance(cut, NoFences):
        return _no_fences(cut, path)
    tree = read_yaml(cut.metadata)
    if isinstance(tree, Failure):
        return _refused(cut, path, reading, tree.failure(), noted)
    root = tree.unwrap()
    return _mapped(cut, path, root, noted) if isinstance(root, Mapping) else _no_mapping(path, root)


def _no_fences(found: NoFences, path: str) -> Invalid:
    if found.why == "unclosed":
        return UnclosedFrontmatter(path=path, line=1, column=1)
    if found.why in ("not first", "byte order mark"):
        return FenceNotFirst(path=path, line=found.line, column=1, before=found.before)
    if posixpath.basename(path).lower().startswith("readme"):
        return ReadmeNotAgent(path=path)
    return NoFrontmatter(path=path, line=1, column=1)


def _no_mapping(path: str, root: Node | None) -> NotAMapping:
    empty = root is None or is_null(root)
    return NotAMapping(path=path, line=2, column=1, found="nothing" if empty else "a list" if isinstance(root, Sequence) else "text")


def _mapped(cut: Split, path: str, root: Mapping, noted: tuple[Warned, ...], repeated: tuple[str, ...] = ()) -> Metadata:
    if "-" not in "".join(root.entries):
        metadata = Metadata(path, cut, root.entries, {}, {}, noted)
        return _warned(metadata, _duplicates(metadata, repeated)) if repeated else metadata
    fields: dict[str, Node] = {}
    written: dict[str, str] = {}
    again = dict.fromkeys(repeated)
    for key, node in root.entries.items():
        name = camel(key)
        if name in fields:
            again[name] = None
        fields[name], written[name] = node, key
    metadata = Metadata(path, cut, fields, written, {}, noted)
    return _warned(metadata, _duplicates(metadata, again))


def _refused(cut: Split, path: str, reading: Reading, refusal: NotReadable, noted: tuple[Warned, ...]) -> Metadata:
    """The metadata of a text that is not YAML, or only not because keys stand twice: then all else in it means what it says."""
    if refusal.key is not None:
        root = read_yaml(cut.metadata, last_wins=True).value_or(None)
        if isinstance(root, Mapping):
            return _mapped(cut, path, root, noted, tuple(map(camel, _repeated(cut.metadata, refusal.key, root))))
    return _salvaged(cut, path, reading, refusal, noted)


def _repeated(metadata: str, first: str, root: Mapping) -> Iterator[str]:
    """The keys of the mapping itself that stand twice: the one that was met first, and those that start a line again."""
    times = Counter(opening[1] for opening in _OPENING.finditer(metadata))
    yield from (key for key in root.entries if key == first or times[key] > 1)


def _salvaged(cut: Split, path: str, reading: Reading, refusal: NotReadable, noted: tuple[Warned, ...]) -> Metadata:
    entries, junk = reading.salvage(cut.metadata)
    fields: dict[str, Node] = {}
    written: dict[str, str] = {}
    lines: dict[str, int] = {}
    repeated: dict[str, None] = {}
    for entry in entries:
        name = camel(entry.key)
        if name in fields:
            repeated[name] = None
        fields[name], written[name], lines[name] = entry.node, entry.key, entry.line
    metadata = Metadata(path, cut, fields, written, lines, noted)
    return _warned(metadata, _salvage_warnings(metadata, refusal, junk, repeated))


def _warned(metadata: Metadata, more: Iterable[Warned]) -> Metadata:
    return metadata._replace(warnings=(*metadata.warnings, *more))


def _salvage_warnings(metadata: Metadata, refusal: NotReadable, junk: tuple[int, ...], repeated: Iterable[str]) -> Iterator[Warned]:
    locator = Locator(metadata)
    names = tuple(repeated)
    if refusal.key is None or camel(refusal.key) not in names:
        line, column = locator.of(refusal.line, refusal.column)
        yield NotYaml(path=metadata.path, line=line, column=column, reason=refusal.reason)
    yield from _duplicates(metadata, names)
    if junk:
        yield JunkLines(path=metadata.path, line=locator.of(junk[0], 1).line, column=1, count=len(junk))


def _duplicates(metadata: Metadata, names: Iterable[str]) -> Iterator[Warned]:
    locator = Locator(metadata)
    for name in names:
        line, column = locator.at(name)
        yield DuplicateKey(path=metadata.path, line=line, column=column, key=metadata.written.get(name, name))


_OPENING: Final = re.compile(r"^[\"']?([^\s\"':]+)[\"']?[ ]*:", re.MULTILINE)


def _lines(metadata: str) -> dict[str, int]:
    """The line on which each key of a metadata stands last, of those that start a line."""
    found: dict[str, int] = {}
    line, at = 1, 0
    for opening in _OPENING.finditer(metadata):
        line, at = line + metadata.count("\n", at, opening.start()), opening.start()
        found[opening[1]] = line
    return found
