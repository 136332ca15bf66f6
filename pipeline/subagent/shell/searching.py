"""What `find` runs: its commands with the places it starts from for `{}`, unless a filter keeps it from taking a whole tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NAMES: Final = re.compile(r"-i?(name|path|wholename|regex|lname)|-samefile|-inum")
_FILTERS: Final = re.compile(r"-([acm](time|min)|newer.*|size|user|group|perm|links|uid|gid|empty|nouser|nogroup)")
_TYPES: Final = frozenset({"-type", "-xtype"})
_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ANY: Final = frozenset("*?./")
_LOGS: Final = re.compile(r"/var/(log|cache|tmp)(/|$)")
_ALL, _SOME, _NAMED = range(3)
_WHOLE: Final = {"rm": "-r", "chmod": "-R", "chown": "-R", "chgrp": "-R"}
"""What does to each file, one by one, the same as to the whole tree with this option."""


def run_by_find(arguments: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    r"""The commands of -exec and its like, one for each place find starts from, and a recursive `rm` of these for -delete.

    >>> list(run_by_find(("a", "b", "-exec", "rm", "{}", ";")))
    [('rm', '-r', 'a'), ('rm', '-r', 'b')]
    >>> list(run_by_find((".", "-name", "*.pyc", "-delete"))), list(run_by_find((".", "!", "-name", "x", "-delete")))
    ([('rm', '-r')], [('rm', '-r', '.')])
    """
    end = next((at for at, word in enumerate(arguments) if word[:1] in ("-", "(", "!") and word not in ("-H", "-L", "-P")), len(arguments))
    starts = tuple(word for word in arguments[:end] if not word.startswith("-")) or (".",)
    follows, told = "-L" in arguments[:end], arguments[end:]
    for at, (word, filtered) in enumerate(zip(told, _filtered(told), strict=True)):
        if word == "-delete":
            yield ("rm", "-r", *_taken(starts, filtered, follows=follows))
        elif word in _RUNS:
            yield from _executed(told[at + 1 :], _taken(starts, filtered, follows=follows))


def _taken(starts: tuple[str, ...], filtered: int, *, follows: bool) -> tuple[str, ...]:
    """The starts that are taken whole: all without a filter, with one by time or owner what is absolute or in a home, with one by name none.

    Links lead out of any start: what follows them is held to be as wide as a filter by time.
    """
    if filtered == _ALL:
        return starts
    if filtered == _NAMED and not follows:
        return ()
    return tuple(start for start in starts if start[:1] in ("/", "~", "$") and not _LOGS.match(start))


def _executed(words: tuple[str, ...], starts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    end = next((at for at, word in enumerate(words) if word == ";" or (word == "+" and words[at - 1] == "{}")), len(words))
    found = tuple(each for word in words[:end] for each in filter(None, (word, _WHOLE.get(word.rsplit("/", 1)[-1]))))
    for start in (starts or ("{}",)) if found else ():
        yield tuple(word.replace("{}", start) for word in found)


def _filtered(words: tuple[str, ...]) -> Iterator[int]:
    """How strictly what comes before each word filters; `!` and what is alternative to it filter nothing."""
    outer: list[tuple[int, int, bool]] = []
    base, least, now, negated = _ALL, _NAMED, _ALL, False
    for at, word in enumerate(words):
        match word:
            case "(":
                outer.append((base, least, negated))
                base, least, negated = now, _NAMED, False
            case ")" if outer:
                inner = base, min(least, now)
                base, least, negated = outer.pop()
                now, negated = inner[not negated], False
            case "-o" | "-or" | ",":
                least, now = min(least, now), base
            case "!" | "-not":
                negated = not negated
            case _ if word.startswith("-"):
                now, negated = now if negated else max(now, _strictness(word, "".join(words[at + 1 : at + 2]))), False
        yield now


def _strictness(word: str, value: str) -> int:
    if _NAMES.fullmatch(word):
        return _ALL if _ANY.issuperset(value) else _NAMED
    return _SOME if _FILTERS.fullmatch(word) or (word in _TYPES and not {"f", "d"}.intersection(value)) else _ALL
