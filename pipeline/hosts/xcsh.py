"""`XCSH`: bug for bug what xcsh does. What will the program do with these files?"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Final

from pipeline.agent import ANY, AnyAgent, OnlyAgents, Spawns
from pipeline.frontmatter.core import typed
from pipeline.frontmatter.fences import BLANKS
from pipeline.frontmatter.keys import camel
from pipeline.frontmatter.salvage import by_lines
from pipeline.frontmatter.tree import Node
from pipeline.frozen import Json, JsonObject
from pipeline.hosts.standard import STANDARD, csv


def text(node: Node) -> str | None:
    """The text as it stands; a number, a boolean, a null is none."""
    value = typed(node)
    return value if isinstance(value, str) and value else None


def listed(node: Node) -> tuple[str, ...] | None:
    """The names in a CSV text or a list, whose items that are no text are dropped; None where nothing is left."""
    match typed(node):
        case str(value):
            return csv(value) or None
        case tuple(items):
            return tuple(item for item in items if isinstance(item, str)) or None
        case _:
            return None


def spawns(node: Node) -> Spawns | None:
    """Whom the agent may spawn; a list that is empty says nothing."""
    value = typed(node)
    if isinstance(value, str) and value.strip(BLANKS) == ANY:
        return AnyAgent()
    names = listed(node)
    return None if names is None else OnlyAgents(names)


def output(node: Node) -> Json:
    """The schema with its keys in camelCase, at every depth."""
    return _camel(typed(node))


def _camel(value: Json) -> Json:
    match value:
        case JsonObject():
            return JsonObject({camel(key): _camel(item) for key, item in value.items()})
        case tuple(items):
            return tuple(_camel(item) for item in items)
        case _:
            return value


_PUNCTUATION: Final = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"


def collation(name: str) -> tuple[object, ...]:
    """A key that sorts file names as the root locale does: punctuation, digits, letters; accents, then case only where all else is equal.

    >>> sorted(["Z.md", "b.md", "B.md", "a1.md", "a-1.md"], key=collation)
    ['a-1.md', 'a1.md', 'b.md', 'B.md', 'Z.md']
    """
    apart = unicodedata.normalize("NFD", name)
    letters = [character for character in apart if not unicodedata.combining(character)]
    return tuple(map(_weight, letters)), apart.casefold(), name.swapcase()


def _weight(character: str) -> tuple[int, int, str]:
    at = _PUNCTUATION.find(character)
    if character.isspace() or at >= 0:
        return (0, at, character)
    return (1 if character.isdigit() else 2, 0, character.casefold())


XCSH: Final = replace(
    STANDARD,
    name="xcsh",
    reading=replace(
        STANDARD.reading,
        strips_byte_order_mark=False,
        salvage=by_lines,
        text=text,
        tools=listed,
        model=listed,
        spawns=spawns,
        output=output,
    ),
    home_is_project=True,
    file_order=collation,
    plan_mode="as_documented",
    withholds_task=False,
    encodes_strictly=False,
    says_outcomes=False,
)
