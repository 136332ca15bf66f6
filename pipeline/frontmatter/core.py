"""The YAML 1.2 core schema: which type a bare scalar has. Only opaque data, and the hosts that type every scalar, ask."""

from __future__ import annotations

import math
import re
from typing import Final, assert_never

from pipeline.frontmatter.tree import Mapping, Node, Scalar, Sequence
from pipeline.frozen import Json, JsonObject
from pipeline.problem import Found

NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
TRUE: Final = frozenset({"true", "True", "TRUE"})
FALSE: Final = frozenset({"false", "False", "FALSE"})
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_MAX_DIGITS: Final = 4000
"""A longer number stays text: Python refuses to convert it, and nobody means it."""


def is_null(node: Node) -> bool:
    """Whether a node is a bare null or nothing at all."""
    return isinstance(node, Scalar) and node.plain and node.text in NULLS


def typed(node: Node) -> Json:
    """The JSON value of a node: bare scalars typed by the core schema, everything quoted and everything else text.

    >>> typed(Scalar("0x10")), typed(Scalar("1e3")), typed(Scalar("2024-01-01")), typed(Scalar("1", plain=False))
    (16, 1000.0, '2024-01-01', '1')
    """
    match node:
        case Scalar(text, plain):
            return scalar(text) if plain else text
        case Sequence(items):
            return tuple(typed(item) for item in items)
        case Mapping(entries):
            return JsonObject({key: typed(value) for key, value in entries.items()})
        case _:
            assert_never(node)


def kind(node: Node) -> Found:
    """What a node is, in the words of a message."""
    match typed(node):
        case None:
            return "nothing"
        case str(value):
            return "text" if value.strip() else "an empty value"
        case tuple(items):
            return "a list" if items else "an empty list"
        case JsonObject():
            return "a mapping"
        case _:
            return "a number or a boolean"


def scalar(text: str) -> bool | int | float | str | None:
    """The value of one bare scalar; an infinity, which JSON lacks, stays text."""
    if text in NULLS:
        return None
    if text in TRUE or text in FALSE:
        return text in TRUE
    if len(text) > _MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text
