"""`STANDARD`: the documented behaviour with the traps removed. What should a program do with these files?"""

from __future__ import annotations

from typing import Final, assert_never

from pipeline.agent import ANY, AnyAgent, OnlyAgents, Spawns
from pipeline.frontmatter.core import FALSE, TRUE, is_null, typed
from pipeline.frontmatter.fences import BLANKS
from pipeline.frontmatter.salvage import by_entries
from pipeline.frontmatter.tree import Mapping, Node, Scalar, Sequence
from pipeline.hosts.families import COMMANDS, FAMILIES, FOREIGN_KEYS, KNOWN_KEYS, PLUGINS
from pipeline.hosts.host import Host, Reading


def text(node: Node) -> str | None:
    """The trimmed text of any scalar but a null; a number and a boolean are text too.

    >>> text(Scalar("404")), text(Scalar("~"))
    ('404', None)
    """
    if not isinstance(node, Scalar) or is_null(node):
        return None
    return node.text.strip(BLANKS) or None


def listed(node: Node) -> tuple[str, ...] | None:
    """The names in a CSV text or a list, trimmed, blanks and nulls dropped; None for a null or a mapping.

    >>> listed(Scalar("Read, Grep")), listed(Sequence(())), listed(Scalar(""))
    (('Read', 'Grep'), (), None)
    """
    match node:
        case Scalar(value):
            return None if is_null(node) else csv(value)
        case Sequence(items):
            trimmed = (item.text.strip(BLANKS) for item in items if isinstance(item, Scalar) and not is_null(item))
            return tuple(name for name in trimmed if name)
        case Mapping():
            return None
        case _:
            assert_never(node)


def csv(value: str) -> tuple[str, ...]:
    """The parts of a text between commas, trimmed, without empty ones."""
    return tuple([part for piece in value.split(",") if (part := piece.strip(BLANKS))])


def tools(node: Node) -> tuple[str, ...] | None:
    """The tools listed; None, which is every tool, where `*` is among them."""
    names = listed(node)
    return None if names is None or ANY in names else names


def spawns(node: Node) -> Spawns | None:
    """Whom the agent may spawn: a bare `true` or a `*` is any, a bare `false` is none; None where nothing is said.

    >>> spawns(Scalar("false")), spawns(Scalar("true")), spawns(Scalar("a, *")), spawns(Sequence(()))
    (OnlyAgents(names=()), AnyAgent(), AnyAgent(), OnlyAgents(names=()))
    """
    if isinstance(node, Scalar) and node.plain and node.text in TRUE:
        return AnyAgent()
    if isinstance(node, Scalar) and node.plain and node.text in FALSE:
        return OnlyAgents(())
    names = listed(node)
    if names is None:
        return None
    return AnyAgent() if ANY in names else OnlyAgents(names)


STANDARD: Final = Host(
    name="standard",
    families=FAMILIES,
    plugins=PLUGINS,
    commands=COMMANDS,
    reading=Reading(
        strips_byte_order_mark=True,
        salvage=by_entries,
        text=text,
        tools=tools,
        model=listed,
        spawns=spawns,
        output=typed,
        known_keys=KNOWN_KEYS,
        foreign_keys=FOREIGN_KEYS,
    ),
    home_is_project=False,
)
