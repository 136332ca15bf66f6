"""What changed between two discoveries, and whether a request still means what it meant when its agent was described."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Final, TypeAlias

from pipeline.agent import AgentDefinition
from pipeline.discovery import Discovery
from pipeline.frozen import Json, thaw
from pipeline.request import TaskRequest


@dataclass(frozen=True, slots=True)
class Changed:
    """An agent whose definition says something else now: which fields."""

    name: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangedHands:
    """A name that another file has won."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What came, went, changed and changed hands between two discoveries; names in order of precedence, those that went in the old one."""

    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    changed: tuple[Changed, ...] = ()
    changed_hands: tuple[ChangedHands, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.came or self.went or self.changed or self.changed_hands)


_WHERE: Final = frozenset({"name", "file_path"})


def diff(before: Discovery, after: Discovery) -> Difference:
    r"""What happened to the agents in force from one discovery to another; false where nothing did.

    >>> from pipeline.discovery import discover
    >>> from pipeline.snapshot import Snapshot
    >>> text = "---\nname: scout\ndescription: b\n---"
    >>> empty, scout = Snapshot.from_tree({}), Snapshot.from_tree({".claude/agents/a.md": text})
    >>> diff(discover(empty), discover(scout)).came
    ('scout',)
    """
    old, new = before.by_name, after.by_name
    pairs = [(old[name], agent) for name, agent in new.items() if name in old]
    changed = [(agent.name, _fields(was, agent)) for was, agent in pairs]
    return Difference(
        tuple([name for name in new if name not in old]),
        tuple([name for name in old if name not in new]),
        tuple([Changed(name, names) for name, names in changed if names]),
        tuple([ChangedHands(agent.name, was.file_path, agent.file_path) for was, agent in pairs if was.file_path != agent.file_path]),
    )


def _fields(was: AgentDefinition, now: AgentDefinition) -> tuple[str, ...]:
    changed = [field.name for field in fields(now) if field.name not in _WHERE and getattr(was, field.name) != getattr(now, field.name)]
    # Python takes 1, 1.0 and true for equal; as schemas they are three things.
    return (*changed, *(["output"] if "output" not in changed and _text(was.output) != _text(now.output) else []))


def _text(schema: Json) -> str:
    return json.dumps(thaw(schema), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Gone:
    """The description listed the agent, from this file, and there is none of the name now."""

    name: str
    was: str


@dataclass(frozen=True, slots=True)
class Undescribed:
    """The agent is in force now, and the description knew nothing of it."""

    name: str


Drift: TypeAlias = Gone | Undescribed | Changed | ChangedHands


def drift(request: TaskRequest, described: Discovery, now: Discovery) -> tuple[Drift, ...]:
    """How what a request asks for differs from what was described to the one who asks; nothing where it does not."""
    was, agent = described.by_name.get(request.agent), now.by_name.get(request.agent)
    if was is None:
        return () if agent is None else (Undescribed(agent.name),)
    if agent is None:
        return (Gone(was.name, was.file_path),)
    moved = (ChangedHands(agent.name, was.file_path, agent.file_path),) if was.file_path != agent.file_path else ()
    names = _fields(was, agent)
    return (*moved, Changed(agent.name, names)) if names else moved
