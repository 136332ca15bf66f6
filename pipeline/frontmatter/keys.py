"""Keys of the metadata: kebab-case made camelCase, and which known key an unknown one is close to."""

from __future__ import annotations

import re
from collections.abc import Iterable
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


def nearest(key: str, known: Iterable[str]) -> str | None:
    """The known key that an unknown one is close to, or None: the same but for case and separators, one letter off, or a kind of `tools`.

    >>> [nearest(key, ["tools", "maxTurns"]) for key in ("allowed_tools", "max_turns", "tolls", "color")]
    ['tools', 'maxTurns', 'tools', None]
    """
    plain = key.translate(_SEPARATORS).lower()
    names = {name.lower(): name for name in known}
    if plain in names:
        return names[plain]
    if plain.endswith("tools") and "tools" in names:
        return names["tools"]
    return next((name for low, name in sorted(names.items()) if len(low) >= _SHORTEST and one_off(plain, low)), None)


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
