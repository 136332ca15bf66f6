"""Families of agents as a plan: what each uses and what everybody says to it; and a reading of the plan, which tells what is to happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

Voice = Literal["none", "allow", "deny", "ask", "raises", "nonsense"]
Said = tuple[Voice, ...]
ROOT: Final = "m"


@dataclass(frozen=True, slots=True)
class Use:
    """A tool use: what hooks, policies and the approver say of it, what hooks say once it was carried out, and whom it starts, if anybody."""

    hooks: Said = ()
    policies: Said = ()
    approver: Voice = "allow"
    after: Said = ()
    child: Member | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """An agent: what hooks say to its start, what it uses in each round, what hooks say each time that it would end, what it writes meanwhile."""

    start: Said = ()
    rounds: tuple[tuple[Use, ...], ...] = ()
    stops: tuple[Said, ...] = ()
    forked: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """A main conversation and all below it, with or without an approver, and the rounds that each may take."""

    main: Member
    approver: bool = True
    max_rounds: int = 5


class Heard(NamedTuple):
    """What one hook was asked: which hook, on what, by whom, and of which use, start or end."""

    hook: int
    event: str
    agent: str
    ancestry: tuple[str, ...]
    depth: int
    about: str


@dataclass(slots=True)
class Facts:
    """What happens in a family: model calls by path, tools that run, what the approver is asked by whom, what hooks hear; how uses are answered."""

    calls: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    approvals: Counter[tuple[str, tuple[str, ...]]] = field(default_factory=Counter)
    heard: Counter[Heard] = field(default_factory=Counter)
    answers: dict[str, bool] = field(default_factory=dict)
    """Whether the use was answered with an error, by its id."""
    chains: set[tuple[str, str]] = field(default_factory=set)
    """Which chain each path was on."""


HOOKS: Final = 2
POLICIES: Final = 2


def voice(said: Said, at: int) -> Voice:
    """What the hook or policy at a place says."""
    return said[at] if at < len(said) else "none"


def foreseen(family: Family) -> Facts:
    """What is to happen in a family, read off its plan."""
    facts = Facts()
    _Reading(family, facts).member(family.main, ROOT, ("main",), forked=False)
    return facts


@dataclass(frozen=True, slots=True)
class _Reading:
    family: Family
    facts: Facts

    def member(self, member: Member, path: str, ancestry: tuple[str, ...], *, forked: bool) -> None:
        if not self._has_it("UserPromptSubmit" if path == ROOT else "SubagentStart", member.start, ancestry, path):
            return
        stops = iter(member.stops)
        for round_ in range(self.family.max_rounds):
            self.facts.calls[path] += 1
            if round_ < len(member.rounds):
                self._round(member, path, ancestry, round_, forked=forked)
            elif self._has_it("Stop" if path == ROOT else "SubagentStop", next(stops, ()), ancestry, path):
                return

    def _round(self, member: Member, path: str, ancestry: tuple[str, ...], at: int, *, forked: bool) -> None:
        for use_id, use in ids(path, at, member.rounds[at]):
            if not self._allowed(use, use_id, ancestry):
                self.facts.answers[use_id] = True
                continue
            self.facts.ran[use_id] += 1
            fails = use.child is not None and self._starting(use.child, use_id, ancestry, forked=forked)
            objects = not self._has_it("PostToolUse", use.after, ancestry, use_id)
            self.facts.answers[use_id] = fails or objects

    def _starting(self, child: Member, path: str, ancestry: tuple[str, ...], *, forked: bool) -> bool:
        """Start a child; whether the answer of that is an error: a fork of a fork is none, and a child that is refused has nothing to say."""
        if child.forked and forked:
            return True
        name = f"fork of {ancestry[-1]}" if child.forked else agent_at(len(ancestry))
        self.member(child, path, (*ancestry, name), forked=child.forked)
        return self.facts.calls[path] == 0

    def _allowed(self, use: Use, use_id: str, ancestry: tuple[str, ...]) -> bool:
        opinion = self._opinion("PreToolUse", use.hooks, ancestry, use_id)
        voices = [opinion, *(voice(use.policies, at) for at in range(POLICIES))]
        if not set(voices) <= {"allow", "ask", "none"} or "none" in voices[1:]:
            return False
        if "ask" not in voices or opinion == "allow":
            return True
        if self.family.approver:
            self.facts.approvals[use_id, ancestry] += 1
        return self.family.approver and use.approver == "allow"

    def _has_it(self, event: str, said: Said, ancestry: tuple[str, ...], about: str) -> bool:
        return self._opinion(event, said, ancestry, about) in ("none", "allow")

    def _opinion(self, event: str, said: Said, ancestry: tuple[str, ...], about: str) -> Voice:
        """The first opinion; whoever comes after is not asked."""
        for hook in range(HOOKS):
            self.facts.heard[Heard(hook, event, ancestry[-1], ancestry, len(ancestry) - 1, about)] += 1
            if voice(said, hook) != "none":
                return voice(said, hook)
        return "none"


def agent_at(depth: int) -> str:
    """The name of the agents that are started at a depth."""
    return f"d{depth}"


def ids(path: str, at: int, uses: Iterable[Use]) -> Iterator[tuple[str, Use]]:
    """Uses by their ids, which are the paths of those whom they start."""
    return ((f"{path}.{at}.{number}", use) for number, use in enumerate(uses))
