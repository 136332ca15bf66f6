"""Text to metadata and body: line breaks, HTML comments, the `---` fences, and the way back to a place in the original."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal, NamedTuple

BYTE_ORDER_MARK: Final = "\ufeff"
BLANKS: Final = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What trimming takes off: ECMAScript's white space and line ends, so that both hosts trim alike."""
METADATA_OFFSET: Final = 4
TAB: Final = "  "


class Split(NamedTuple):
    """A text in its two parts; `source` is the text with its line breaks made one, comments still in."""

    metadata: str
    body: str
    source: str


class Place(NamedTuple):
    """A place in a file, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class NoFences:
    """Why a text has no metadata; `line` is where a fence stands that does not count, `before` the first text ahead of it."""

    why: Literal["unopened", "not first", "unclosed", "byte order mark"]
    line: int = 1
    before: str = ""


def split(text: str) -> Split | NoFences:
    r"""The metadata (tabs made two blanks, a final line break added) and the trimmed body of a text.

    >>> split("---\nname: a\n---\nHello")
    Split(metadata='name: a\n', body='Hello', source='---\nname: a\n---\nHello')
    >>> split("Hello")
    NoFences(why='unopened', line=1, before='')
    """
    source = with_one_line_break(text)
    bare = without_comments(source) if "<" in source and "<!--" in source else source  # one character is found many times as fast
    if not bare.startswith("---"):
        return _unopened(bare, source)
    end = bare.find("\n---", 3)
    if end < 0:
        return NoFences("unclosed")
    metadata = bare[METADATA_OFFSET:end]
    if "\t" in metadata:
        metadata = metadata.replace("\t", TAB)
    return Split(metadata + "\n", bare[end + 4 :].strip(BLANKS), source)


def with_one_line_break(text: str) -> str:
    r"""The text with every kind of line break made `\n`.

    >>> with_one_line_break("a\r\nb\rc")
    'a\nb\nc'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


_FENCE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_OPENING_LINES: Final = 40
"""A fence further down than this is a horizontal rule of the prose, not frontmatter that slipped."""


def _unopened(bare: str, source: str) -> NoFences:
    if bare.startswith(BYTE_ORDER_MARK):
        return NoFences("byte order mark", before=BYTE_ORDER_MARK)
    fence = _FENCE.search(source)
    if fence and source.count("\n", 0, fence.start()) < _OPENING_LINES and _FENCE.search(source, fence.end()):
        before = next((line for line in source[: fence.start()].split("\n") if line.strip(BLANKS)), "")
        return NoFences("not first", source.count("\n", 0, fence.start()) + 1, before)
    return NoFences("unopened")


def without_comments(text: str) -> str:
    """The text without its closed HTML comments; linear in its length, whatever it holds.

    >>> without_comments("a<!-- b -->c<!-- d")
    'ac<!-- d'
    """
    return "".join(text[start:end] for start, end in kept(text))


def kept(text: str) -> list[tuple[int, int]]:
    """The stretches of a text outside its HTML comments, as offsets."""
    stretches: list[tuple[int, int]] = []
    at = 0
    while True:
        start = text.find("<!--", at)
        close = text.find("-->", start + 4) if start >= 0 else -1
        if close < 0:
            stretches.append((at, len(text)))
            return stretches
        stretches.append((at, start))
        at = close + 3


class Positions:
    r"""Where places of the metadata stand in the file, comments and tabs put back; made once a file, then each in logarithmic time.

    >>> Positions("---<!-- x\n-->\nname: a\n---").of(1, 3)
    Place(line=3, column=3)
    """

    def __init__(self, source: str) -> None:
        stretches = kept(source)
        self._ends = list(accumulate(end - start for start, end in stretches))
        self._shifts = [start - (passed - (end - start)) for (start, end), passed in zip(stretches, self._ends, strict=True)]
        self._bare = "".join(source[start:end] for start, end in stretches)
        self._bare_lines = _line_starts(self._bare)
        self._first = bisect_right(self._bare_lines, METADATA_OFFSET) - 1
        self._lines = _line_starts(source)

    def of(self, line: int, column: int) -> Place:
        """The place in the file of a line and a column of the metadata, all counted from 1."""
        at = self._in_source(self._offset(line, column))
        number = bisect_right(self._lines, at)
        return Place(number, at - self._lines[number - 1] + 1)

    def _offset(self, line: int, column: int) -> int:
        index = min(self._first + line - 1, len(self._bare_lines) - 1)
        begin = self._bare_lines[index] if line > 1 else METADATA_OFFSET
        return begin + _before_tabs(self._bare[begin : self._bare.find("\n", begin)], column - 1)

    def _in_source(self, offset: int) -> int:
        """The offset with comments of what stands at `offset` without them."""
        return offset + self._shifts[min(bisect_right(self._ends, offset), len(self._shifts) - 1)]


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _before_tabs(line: str, column: int) -> int:
    """The offset in a line of what stands at `column` once each tab is two blanks."""
    at = width = 0
    while width < column and at < len(line):
        width += len(TAB) if line[at] == "\t" else 1
        at += 1
    return at
