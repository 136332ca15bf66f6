"""First wins: the fold over candidates, and what other files can and cannot change."""

from __future__ import annotations

from collections.abc import Sequence

from returns.result import Success

from pipeline.agent import AgentDefinition
from pipeline.candidates import Candidate
from pipeline.commands import discover_commands
from pipeline.discovery import Discovery, discover
from pipeline.hosts import STANDARD, Host
from pipeline.merging import first_wins
from pipeline.snapshot import Snapshot


def the_first_of_a_name_wins(snapshot: Snapshot, host: Host = STANDARD) -> None:
    """Of all valid files that define one name, the first in order of precedence is loaded and every later one is shadowed by it."""
    winners: dict[str, str] = {}
    for outcome in discover(snapshot, host=host).files:
        if isinstance(outcome.result, Success):
            name = outcome.result.unwrap().name
            winner = winners.setdefault(name, outcome.path)
            assert (outcome.status, outcome.winner) == (("loaded", None) if winner == outcome.path else ("shadowed", winner))


def the_first_command_of_a_name_wins(snapshot: Snapshot, host: Host = STANDARD) -> None:
    """Of all command files of one name the first in order of precedence is loaded, every later one is shadowed by it, and names match exactly."""
    found = discover_commands(snapshot, host=host)
    winners: dict[str, str] = {}
    for outcome in found.files:
        if isinstance(outcome.result, Success):
            name = outcome.result.unwrap().name
            winner = winners.setdefault(name, outcome.path)
            assert (outcome.status, outcome.winner) == (("loaded", None) if winner == outcome.path else ("shadowed", winner))
    assert [command.name for command in found.commands if command.source != "bundled"] == list(winners)


def an_earlier_place_wins(first: int, second: int, host: Host = STANDARD) -> None:
    """Of two files of one name the one wins whose place comes first: family by family, the project's before the user's."""
    home, cwd = "/home/user", "/home/user/project"
    places = [place for family in host.families for place in (f"{cwd}/{family.project}", f"{home}/{family.user}")]
    first, second = sorted((first % len(places), second % len(places)))
    text = "---\nname: fresh\ndescription: d\n---"
    found = discover(Snapshot.from_tree({f"{places[at]}/a.md": text for at in (second, first)}, cwd=cwd, home=home), host=host)
    assert found.by_name["fresh"].file_path == f"{places[first]}/a.md"


def every_name_is_in_force_once(snapshot: Snapshot, host: Host = STANDARD) -> None:
    """No two agents in force have the same name, and every name that a valid file defines is in force."""
    found = discover(snapshot, host=host)
    names = [agent.name for agent in found.agents]
    assert len(names) == len(set(names))
    assert {outcome.result.unwrap().name for outcome in found.files if isinstance(outcome.result, Success)} <= set(names)


def bundled_agents_come_last(snapshot: Snapshot, host: Host = STANDARD) -> None:
    """Bundled agents are in force after all others, and only where no file defines their name."""
    sources = [agent.source == "bundled" for agent in discover(snapshot, host=host).agents]
    assert sources == sorted(sources)


def folding_twice_is_folding_once(candidates: Sequence[Candidate[AgentDefinition]], cut: int) -> None:
    """Folding a first part and going on with the rest from its seen-set ends where one fold over everything does."""
    head = first_wins(candidates[:cut])
    tail = first_wins(candidates[cut:], head.winners)
    whole = first_wins(candidates)
    assert (tail.winners, (*head.outcomes, *tail.outcomes)) == (whole.winners, whole.outcomes)


def a_bad_file_changes_nothing_for_the_others(snapshot: Snapshot, path: str, broken: str, host: Host = STANDARD) -> None:
    """Beside a file that is no agent, every other file and agent is what it is in the same directory without that file."""
    with_it = snapshot.put(path, broken)
    without = discover(with_it.remove(path), host=host)
    beside = discover(with_it, host=host)
    assert beside.agents == without.agents
    assert _fates(beside, but=path) == _fates(without, but=path)


def a_later_candidate_changes_no_winner(candidates: Sequence[Candidate[AgentDefinition]], later: Candidate[AgentDefinition]) -> None:
    """A candidate of lower precedence changes no outcome and no winner; it is loaded itself only if its name was free."""
    before, after = first_wins(candidates), first_wins([*candidates, later])
    assert after.outcomes[:-1] == before.outcomes
    assert all(after.winners[name] == path for name, path in before.winners.items())
    assert (after.outcomes[-1].status == "loaded") == (isinstance(later.result, Success) and later.claimed not in before.winners)


def dropping_a_winner_promotes_the_next(candidates: Sequence[Candidate[AgentDefinition]]) -> None:
    """Without the candidate that won a name, the first one that it shadowed wins, and no other name changes hands."""
    whole = first_wins(candidates)
    for at, outcome in enumerate(whole.outcomes):
        if outcome.status == "loaded":
            less = first_wins([*candidates[:at], *candidates[at + 1 :]])
            heir = next((other.path for other in whole.outcomes if other.status == "shadowed" and other.claimed == outcome.claimed), None)
            assert less.winners.get(outcome.claimed) == heir
            assert less.winners.discard(outcome.claimed) == whole.winners.discard(outcome.claimed)


def _fates(found: Discovery, but: str) -> list[tuple[str, str, str | None]]:
    return [(outcome.path, outcome.status, outcome.winner) for outcome in found.files if outcome.path != but]
