"""An agent file's text to its metadata: fences, YAML or what is salvaged of it, keys in camelCase, and where each stands."""

from __future__ import annotations

import posixpath
import re
from collections import abc
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from returns.result import Failure

from pipeline.frontmatter.core import is_null
from pipeline.frontmatter.fences import BYTE_ORDER_MARK, NoFences, Place, Split, place_of, split
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

    def at(self, key: str) -> Place:
        """The line and column of a key in the file, both from 1; found only when there is something to say about it."""
        line = self.lines.get(key) or _lines(self.split.metadata).get(self.written.get(key, key), 1)
        return place_of(self.split.source, line, 1)


def read_metadata(text: str, path: str, reading: Reading) -> Metadata | Invalid:
    """The metadata of a text by a host's way of reading, or why it has none.

    >>> from pipeline.hosts import STANDARD
    >>> read_metadata("---\\nthinking-level: low\\n---", "/a.md", STANDARD.reading).at("thinkingLevel")
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
    if found.why == "not first":
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
    """The metadata of a text that is not YAML, or only not because a key stands twice and the host minds less."""
    if refusal.key is not None and reading.last_key_wins:
        root = read_yaml(cut.metadata, last_wins=True).value_or(None)
        if isinstance(root, Mapping):
            top = (camel(refusal.key),) if refusal.key in root.entries else ()
            return _mapped(cut, path, root, noted, top)
    return _salvaged(cut, path, reading, refusal, noted)


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
    alone = refusal.key is not None and camel(refusal.key) in repeated
    found = (() if alone else _not_yaml(metadata, refusal), _duplicates(metadata, repeated), _junk(metadata, junk))
    return _warned(metadata, (warning for some in found for warning in some))


def _warned(metadata: Metadata, more: Iterable[Warned]) -> Metadata:
    return metadata._replace(warnings=(*metadata.warnings, *more))


def _not_yaml(metadata: Metadata, refusal: NotReadable) -> Iterator[Warned]:
    line, column = place_of(metadata.split.source, refusal.line, refusal.column)
    yield NotYaml(path=metadata.path, line=line, column=column, reason=refusal.reason)


def _duplicates(metadata: Metadata, names: Iterable[str]) -> Iterator[Warned]:
    for name in names:
        line, column = metadata.at(name)
        yield DuplicateKey(path=metadata.path, line=line, column=column, key=metadata.written.get(name, name))


def _junk(metadata: Metadata, lines: tuple[int, ...]) -> Iterator[Warned]:
    if lines:
        first = place_of(metadata.split.source, lines[0], 1).line
        yield JunkLines(path=metadata.path, line=first, column=1, count=len(lines))


_OPENING: Final = re.compile(r"^[\"']?([^\s\"':]+)[\"']?[ ]*:", re.MULTILINE)


@lru_cache(maxsize=4)
def _lines(metadata: str) -> dict[str, int]:
    """The line on which each key of a metadata stands last, of those that start a line."""
    found: dict[str, int] = {}
    line, at = 1, 0
    for opening in _OPENING.finditer(metadata):
        line, at = line + metadata.count("\n", at, opening.start()), opening.start()
        found[opening[1]] = line
    return found
