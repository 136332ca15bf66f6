"""Keys of the metadata: kebab-case made camelCase, and which known key an unknown one is close to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_HYPHEN: Final = re.compile("-([a-z])")


def camel(key: str) -> str:
    """A kebab-case key in camelCase.

    >>> camel("thinking-level"), camel("name")
    ('thinkingLevel', 'name')
    """
    return _HYPHEN.sub(lambda found: found[1].upper(), key) if "-" in key else key


_SEPARATORS: Final = str.maketrans("", "", "-_ ")
_SHORTEST: Final = 4
"""Shorter keys are too often one letter off something else."""


def nearest(key: str, known: frozenset[str]) -> str | None:
    """The known key that an unknown one is close to, or None: the same but for case and separators, one letter off, or a kind of `tools`.

    >>> [nearest(key, frozenset({"tools", "maxTurns", "to"})) for key in ("allowed_tools", "max_turns", "tolls", "color", "tu")]
    ['tools', 'maxTurns', 'tools', None, None]
    """
    plain = key.translate(_SEPARATORS).lower()
    names, almost, longest = _index(known)
    if plain in names:
        return names[plain]
    if plain.endswith("tools") and "tools" in names:
        return names["tools"]
    if len(plain) > longest:
        return None
    met = {low for cut in (plain, *_cuts(plain)) for low in almost.get(cut, ())}
    return next((names[low] for low in sorted(met) if one_off(plain, low)), None)


@lru_cache(maxsize=8)
def _index(known: frozenset[str]) -> tuple[dict[str, str], dict[str, list[str]], int]:
    """The known keys by their plain form, those forms by what is left of them without any one letter, and the length of the longest."""
    names = {name.lower(): name for name in known}
    almost: dict[str, list[str]] = {}
    for low in names:
        if len(low) >= _SHORTEST:
            for cut in (low, *_cuts(low)):
                almost.setdefault(cut, []).append(low)
    return names, almost, max(map(len, names), default=0) + 1


def _cuts(text: str) -> Iterator[str]:
    return (text[:at] + text[at + 1 :] for at in range(len(text)))


def one_off(one: str, other: str) -> bool:
    """Whether one letter more, less, changed, or swapped with its neighbour makes one text the other.

    >>> one_off("task", "tsak"), one_off("task", "tasks"), one_off("task", "tusks"), one_off("task", "task")
    (True, True, False, False)
    """
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    head = next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other)))
    rest, tail = one[head:], other[head:]
    swapped = len(rest) > 1 and rest[:2] == tail[1::-1] and rest[2:] == tail[2:]
    return rest[1:] == tail[1:] or rest[1:] == tail or rest == tail[1:] or swapped
