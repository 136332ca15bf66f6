"""The fastest reading: metadata in which every line is `key: plain text`, taken apart by a handful of scans of the whole text.

Nearly half of all real files are like this. It reads only what it is sure of and leaves the rest to `readings.py`.
"""

from __future__ import annotations

import re
from typing import Final

from pipeline.frontmatter.tree import Mapping, Scalar

_KEYS: Final = re.compile(r"""\n(?<! \n)([A-Za-z][A-Za-z0-9_-]{0,99}): +(?=[^ \n\-?:,\[\]{}#&*!|>'"%@`])""").split
"""Splits at every line's key, where no blank ends the line before and what follows is none of YAML's marks.

YAML takes no key longer than 1024 characters; 100 are enough here.
"""


def read_plain(text: str) -> Mapping | None:
    """The mapping, when the text has nothing but lines of a key and plain text, each key once; None when it is not sure.

    >>> read_plain("name: reviewer").entries
    {'name': Scalar(text='reviewer', plain=True)}
    >>> read_plain("name: 'reviewer'") is None
    True
    """
    parts = _KEYS("\n" + text.rstrip("\n"))  # nothing, a key, its value, a key, its value, ...
    keys, values = parts[1::2], parts[2::2]
    line = " ".join(values) + " "
    if parts[0] or "\n" in line or line.endswith("  ") or len(set(keys)) < len(keys):
        return None  # lines of another kind, a blank at the end, a key twice
    # one character is sought before two: that is many times as fast, and most texts hold neither
    if (":" in line and ": " in line) or ("#" in line and " #" in line) or not line.isprintable():
        return None  # a mapping, a comment, a character that might end a line or that no text may hold
    return Mapping(dict(zip(keys, map(Scalar, values), strict=True)))
