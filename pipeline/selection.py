"""Questions to a discovery: which agent has a name, and why that one."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from returns.result import Failure, Result, Success

from pipeline.agent import AgentDefinition
from pipeline.bundled import NAMES
from pipeline.discovery import Discovery
from pipeline.frontmatter.keys import one_off
from pipeline.merging import FileOutcome, folded
from pipeline.refusal import UnknownAgent

Rule: TypeAlias = Literal["a place that comes first", "a file name that comes first"]
"""By which rule a file lost: another place has precedence, or in the same directory another file name is lower."""


@dataclass(frozen=True, slots=True)
class Loser:
    """A file that defines the name too, and the rule by which it lost."""

    file: FileOutcome[AgentDefinition]
    rule: Rule


@dataclass(frozen=True, slots=True)
class Explanation:
    """Who has a name and why: the agent in force and its file (None where it is bundled), every loser in order of precedence,
    whether a bundled agent of the name was replaced, the broken files that would have won, and the names that come near.
    """

    name: str
    agent: AgentDefinition | None
    winner: FileOutcome[AgentDefinition] | None
    losers: tuple[Loser, ...] = ()
    replaces_bundled: bool = False
    broken: tuple[FileOutcome[AgentDefinition], ...] = ()
    near: tuple[str, ...] = ()


def get_agent(discovery: Discovery, name: str) -> Result[AgentDefinition, UnknownAgent]:
    """The agent in force with exactly this name.

    >>> from pipeline.discovery import discover
    >>> from pipeline.snapshot import Snapshot
    >>> found = discover(Snapshot.from_tree({}))
    >>> get_agent(found, "explore").unwrap().source
    'bundled'
    >>> get_agent(found, "Explore").failure().near
    ('explore',)
    """
    agent = discovery.by_name.get(name)
    if agent is not None:
        return Success(agent)
    return Failure(UnknownAgent(name, tuple(each.name for each in discovery.agents), near_names(discovery.by_name, name)))


def near_names(names: Iterable[str], name: str) -> tuple[str, ...]:
    """Those of the names that are this one but for case or one letter, in their order.

    >>> near_names(["plan", "Plan", "plane", "task"], "plan")
    ('Plan', 'plane')
    """
    wanted = folded(name)
    return tuple([other for other in names if other != name and (folded(other) == wanted or one_off(folded(other), wanted))])


def explain(discovery: Discovery, name: str) -> Explanation:
    r"""Why the agent in force of this name is the one: the winner, the losers and the rule that beat each, broken files, near names; total.

    >>> from pipeline.discovery import discover
    >>> from pipeline.snapshot import Snapshot
    >>> text = "---\nname: a\ndescription: b\n---"
    >>> why = explain(discover(Snapshot.from_tree({".claude/agents/x.md": text, "~/.claude/agents/a.md": text})), "a")
    >>> why.winner.path, [(loser.file.path, loser.rule) for loser in why.losers]
    ('/home/user/project/.claude/agents/x.md', [('/home/user/.claude/agents/a.md', 'a place that comes first')])
    """
    agent = discovery.by_name.get(name)
    claims = tuple(outcome for outcome in discovery.files if outcome.claimed == name)
    winner = next((outcome for outcome in claims if outcome.status == "loaded"), None)
    return Explanation(
        name,
        agent,
        winner,
        tuple(Loser(outcome, _rule(outcome, winner)) for outcome in claims if winner and outcome.status == "shadowed"),
        winner is not None and name in NAMES,
        _would_have_won(claims, winner),
        near_names(discovery.by_name, name),
    )


def _rule(loser: FileOutcome[AgentDefinition], winner: FileOutcome[AgentDefinition]) -> Rule:
    same = posixpath.dirname(loser.path) == posixpath.dirname(winner.path)
    return "a file name that comes first" if same else "a place that comes first"


def _would_have_won(
    claims: tuple[FileOutcome[AgentDefinition], ...], winner: FileOutcome[AgentDefinition] | None
) -> tuple[FileOutcome[AgentDefinition], ...]:
    before = claims[: claims.index(winner)] if winner else claims
    return tuple(outcome for outcome in before if outcome.status in ("invalid", "unreadable"))
