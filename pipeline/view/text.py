"""Where text from files is made harmless for a terminal: the only place, and everything printed goes through it."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from pipeline.advice import render
from pipeline.problem import Problem
from pipeline.snapshot import Snapshot

_HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters, escape sequences among them
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # direction changes, invisible marks, line separators
    "\U000e0000-\U000e007f"  # tags: text that nobody sees
    "\ud800-\udfff]"  # bytes of file names that are not UTF-8
)
_LAYOUT: Final = "\n\t"
_ESCAPED_BYTE: Final = range(0xDC80, 0xDD00)


def visible(text: str, *, keep_lines: bool = False) -> str:
    r"""The text with every character that a terminal would obey or hide written out; with `keep_lines` line breaks and tabs stay.

    >>> visible("a\x1b[2Jb\u202ec")
    'a\\x1b[2Jb\\u202ec'
    """
    return _HIDDEN.sub(lambda found: found[0] if keep_lines and found[0] in _LAYOUT else _written_out(found[0]), text)


def _written_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if code in _ESCAPED_BYTE else ascii(character)[1:-1]


def short_path(path: str, snapshot: Snapshot) -> str:
    """A path as a person would write it: relative to cwd if it lies below, with `~` if it lies in the home directory.

    >>> short_path("/home/user/a", Snapshot.from_tree({}))
    '~/a'
    """
    for base, lead in ((snapshot.cwd, ""), (snapshot.home, "~/")):
        if base != "/" and path.startswith(base + "/"):
            return lead + posixpath.relpath(path, base)
    return path


def problem_line(problem: Problem, snapshot: Snapshot) -> str:
    """A problem as compilers write it, `path:line:col: message`, ready for a terminal; what has no place has no numbers."""
    place = [str(number) for number in (problem.line, problem.column) if number is not None]
    return visible(f"{':'.join([short_path(problem.path, snapshot), *place])}: {render(problem)}")
