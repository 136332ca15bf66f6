"""What can be saved of metadata that is not YAML: entry by entry, or line by line as xcsh does."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from returns.result import Failure

from pipeline.frontmatter.fences import BLANKS
from pipeline.frontmatter.readings import read_yaml
from pipeline.frontmatter.tree import KEY_NOT_TEXT, Mapping, Node, Scalar

_OPENING: Final = re.compile(r"([\w-]+):(?=\s|$)", re.ASCII)
_LINE: Final = re.compile(r"([\w-]+):\s*(.*)", re.ASCII)


class Entry(NamedTuple):
    """A key, the line of the metadata it stands on, and its node."""

    key: str
    line: int
    node: Node


class Salvaged(NamedTuple):
    """The entries in order, repeated keys too (the last one counts), and the lines that belong to none."""

    entries: tuple[Entry, ...]
    junk: tuple[int, ...]


def by_entries(metadata: str) -> Salvaged:
    r"""Each entry read as YAML on its own; where that fails, its text with the continuation lines joined by one blank.

    >>> [(entry.key, entry.node) for entry in by_entries("description: a: b\n  c\ntools: [Read]\n").entries]
    [('description', Scalar(text='a: b c', plain=False)), ('tools', Sequence(items=(Scalar(text='Read', plain=True),)))]
    """
    blocks: list[tuple[str, int, list[str]]] = []
    junk: list[int] = []
    for number, line in enumerate(metadata.split("\n"), 1):
        opening = _OPENING.match(line)
        if opening:
            blocks.append((opening[1], number, [line]))
        elif blocks and _continues(line):
            blocks[-1][2].append(line)
        elif line.strip(BLANKS):
            junk.append(number)
    return Salvaged(tuple(Entry(key, number, _entry(key, lines)) for key, number, lines in blocks), tuple(junk))


def _continues(line: str) -> bool:
    return not line or line[0] == " " or line == "-" or line.startswith("- ")


def _entry(key: str, lines: list[str]) -> Node:
    read = read_yaml("\n".join(lines) + "\n")
    root = read.value_or(None)
    if isinstance(root, Mapping) and root.entries.keys() == {key}:
        return root.entries[key]
    if isinstance(read, Failure) and read.failure().reason == KEY_NOT_TEXT:
        return Mapping({})  # `{{NAME}}` of a template never filled in: a mapping to every YAML program, and no text
    joined = " ".join(filter(None, (line.strip(BLANKS) for line in (lines[0][len(key) + 1 :], *lines[1:]))))
    return Scalar(joined, plain=not joined)


def by_lines(metadata: str) -> Salvaged:
    r"""Every line that starts with a key gives that key the rest of the line as text; all else is passed over.

    >>> [(entry.key, entry.node.text) for entry in by_lines("a: [x\n  - y\nb:c\n").entries]
    [('a', '[x'), ('b', 'c')]
    """
    found = ((number, _LINE.match(line)) for number, line in enumerate(metadata.split("\n"), 1))
    return Salvaged(tuple(Entry(line[1], number, Scalar(line[2].strip(BLANKS), plain=False)) for number, line in found if line), ())
