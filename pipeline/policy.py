"""A spawn policy and its text, as one process hands it to the next in an environment variable."""

from __future__ import annotations

import re
from typing import Final, assert_never

from returns.result import Failure, Result, Success

from pipeline.agent import ANY, AnyAgent, OnlyAgents, Spawns
from pipeline.frontmatter.fences import BLANKS
from pipeline.refusal import CannotEncode, Why

_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")


def decode(text: str | None) -> Spawns:
    """The policy that a text stands for: none or `*` is any agent, an empty one is none, else the names between commas.

    >>> decode(None), decode(""), decode(" a, b ")
    (AnyAgent(), OnlyAgents(names=()), OnlyAgents(names=('a', 'b')))
    """
    if text is None or text.strip(BLANKS) == ANY:
        return AnyAgent()
    return OnlyAgents(tuple([name for piece in text.split(",") if (name := piece.strip(BLANKS))]))


def encode(policy: Spawns, *, agent: str = "") -> Result[str, CannotEncode]:
    """The text of a policy, such that decoding it gives the policy; refused where a name cannot stand in it. `agent` is whose it is.

    >>> encode(OnlyAgents(("a", "b"))).unwrap()
    'a,b'
    >>> encode(OnlyAgents(("x,y",))).failure().why
    'a comma'
    """
    match policy:
        case AnyAgent():
            return Success(ANY)
        case OnlyAgents(names):
            for name in names:
                why = unencodable(name)
                if why is not None:
                    return Failure(CannotEncode(agent, name, why))
            return Success(joined(policy))
        case _:
            assert_never(policy)


def joined(policy: Spawns) -> str:
    """The text of a policy, whatever its names hold: what programs write that do not look.

    >>> joined(OnlyAgents(("x,y", "z")))
    'x,y,z'
    """
    return ANY if isinstance(policy, AnyAgent) else ",".join(policy.names)


def unencodable(name: str) -> Why | None:
    """Why a name cannot stand in a policy's text, or None where it can."""
    if not name:
        return "no character"
    if name == ANY:
        return "the wildcard"
    if "," in name:
        return "a comma"
    if _CONTROL.search(name):
        return "a control character"
    return "a blank at an end" if name.strip(BLANKS) != name else None


def allows(policy: Spawns, name: str) -> bool:
    """Whether a policy lets an agent of exactly this name be spawned."""
    return isinstance(policy, AnyAgent) or name in policy.names
