"""What a provider's prompt cache sees of a request: five digests, and where two requests part."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from pipeline.subagent.requests import ModelRequest

Part: TypeAlias = Literal["model", "thinking", "tools", "system", "messages"]
PARTS: Final[tuple[Part, ...]] = ("model", "thinking", "tools", "system", "messages")
"""In the order in which a change of one costs what comes after it."""


@dataclass(frozen=True, slots=True)
class CacheKey:
    """SHA-256 digests, in hexadecimal, of the five parts of a request as they are on the wire."""

    model: str
    thinking: str
    tools: str
    system: str
    messages: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two requests part first: the part, the place in it as a JSON pointer (at which character of a text), and both sides of it, cut."""

    part: Part
    place: str
    left: str
    right: str


def wire_bytes(value: object) -> bytes:
    """JSON as it goes over the wire: keys in the order they have, nothing sorted, no blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def cache_key(request: ModelRequest, *, messages: int | None = None) -> CacheKey:
    """The digests of a request; of its first so many messages where a number is given, since a cache knows prefixes.

    >>> from pyrsistent import pvector
    >>> a, b = (ModelRequest("Be brief.", (), pvector(), (model,)) for model in ("x", "y"))
    >>> cache_key(a).system == cache_key(b).system, cache_key(a).model == cache_key(b).model
    (True, False)
    """
    wire = replace(request, messages=request.messages[:messages]).to_wire()
    return CacheKey(**{part: sha256(wire_bytes(wire[part])).hexdigest() for part in PARTS})


def first_divergence(left: ModelRequest, right: ModelRequest) -> Divergence | None:
    """Where two requests part, as a cache sees it; None where one's messages are how the other's begin and all else is the same.

    >>> from pyrsistent import pvector
    >>> first_divergence(ModelRequest("Be brief.", (), pvector()), ModelRequest("Be bright.", (), pvector()))
    Divergence(part='system', place='@6', left='ef.', right='ght.')
    """
    sides = [replace(side, messages=side.messages[: min(len(left.messages), len(right.messages))]).to_wire() for side in (left, right)]
    part: Part | None = next((part for part in PARTS if wire_bytes(sides[0][part]) != wire_bytes(sides[1][part])), None)
    return None if part is None else _divergence(part, "", sides[0][part], sides[1][part])


_SHOWN: Final = 40


def _divergence(part: Part, place: str, left: object, right: object) -> Divergence:
    """Down to the first place where two values differ."""
    if isinstance(left, dict) and isinstance(right, dict) and list(left) == list(right):
        key = next(key for key in left if wire_bytes(left[key]) != wire_bytes(right[key]))
        return _divergence(part, f"{place}/{key}", left[key], right[key])
    if isinstance(left, list) and isinstance(right, list):
        at = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if wire_bytes(a) != wire_bytes(b)), None)
        if at is not None:
            return _divergence(part, f"{place}/{at}", left[at], right[at])
        shorter = min(len(left), len(right))
        return Divergence(part, f"{place}/{shorter}", *(_shown(side[shorter]) if shorter < len(side) else "" for side in (left, right)))
    if isinstance(left, str) and isinstance(right, str):
        pairs = zip(left, right, strict=False)
        same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
        return Divergence(part, f"{place}@{same}", left[same : same + _SHOWN], right[same : same + _SHOWN])
    return Divergence(part, place, _shown(left), _shown(right))


def _shown(value: object) -> str:
    return wire_bytes(value).decode("utf-8", "replace")[:_SHOWN]
