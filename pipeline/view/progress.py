"""A run while it goes on, for people: a line an event, a table of who does what, and what was done in the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, assert_never

from pipeline.frozen import JsonObject, thaw
from pipeline.subagent.events import Finished, RunEvent, Said, Started, ToolFinished, ToolStarted
from pipeline.view.text import visible

_LONGEST: Final = 100
_WRITING: Final = ("write_file", "edit_file")


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one agent stands: what it is on, what it does, how many tools it has used, how it ended."""

    agent: str
    depth: int
    task: str
    parent: str = ""
    doing: str = "waits for its model"
    uses: int = 0
    status: str = "runs"


Progress: TypeAlias = Mapping[str, Standing]
"""Where each agent stands, by the chain of its conversation, in the order in which they started."""
HEADINGS: Final = ("agent", "task", "status", "tools used", "does")


def progressed(progress: Progress, event: RunEvent) -> Progress:
    """The standings after an event."""
    if isinstance(event, Started):
        return {**progress, event.chain: Standing(event.agent, event.depth, event.prompt, event.parent)}
    return {**progress, event.chain: _moved(progress[event.chain], event)}


def _moved(was: Standing, event: ToolStarted | ToolFinished | Said | Finished) -> Standing:
    match event:
        case ToolStarted(tool=tool):
            return replace(was, doing=f"{tool} {_short(_compact(event.input))}")
        case ToolFinished():
            return replace(was, doing="waits for its model", uses=was.uses + 1)
        case Said(text=text):
            return replace(was, doing=_short(text))
        case Finished(status=status, text=text):
            return replace(was, doing=_short(text), status=status)
        case _:
            assert_never(event)


def progress_rows(progress: Progress) -> list[tuple[str, str, str, str, str]]:
    """A row an agent, those below others indented, each under whoever started it."""
    rows = [progress[chain] for chain in _in_order(progress)]
    return [(f"{'  ' * each.depth}{each.agent}", _short(each.task), each.status, str(each.uses or ""), each.doing) for each in rows]


def _in_order(progress: Progress) -> Iterator[str]:
    below: dict[str, list[str]] = {}
    for chain, standing in progress.items():
        below.setdefault(standing.parent if standing.parent in progress else "", []).append(chain)
    coming = below.get("", [])[::-1]
    while coming:
        chain = coming.pop()
        yield chain
        coming.extend(reversed(below.get(chain, ())))


def labels(events: Iterable[RunEvent], *, several: bool) -> dict[str, str]:
    """What each agent is called, by its chain: with the id of its task where it is one of several, or was started by an agent."""
    starts = [event for event in events if isinstance(event, Started)]
    top = min((event.depth for event in starts), default=0)
    return {event.chain: f"{event.agent} ({event.task})" if several or event.depth > top else event.agent for event in starts}


def event_line(event: RunEvent, label: str = "") -> str:
    """An event on one line, made harmless and cut where it is long; by a label, whose it is.

    >>> event_line(ToolStarted("scout", 1, "c", ("main", "scout"), "u1", "bash", JsonObject({"command": "ls"})))
    '  scout: bash {"command": "ls"}'
    """
    return visible(f"{'  ' * event.depth}{label or event.agent}: {_told(event)}")


def _told(event: RunEvent) -> str:
    match event:
        case Started(prompt=task, unanswered=unanswered):
            lacking = f" (no tool answers to {', '.join(unanswered)})" if unanswered else ""
            return f"started on {_short(task)}{lacking}"
        case ToolStarted(tool=tool):
            return f"{tool} {_short(_compact(event.input))}"
        case ToolFinished(tool=tool, content=content, is_error=is_error):
            return f"{tool} {'failed' if is_error else 'gave'}: {_short(content)}"
        case Said(text=text):
            return f"says: {_short(text)}"
        case Finished(status=status):
            why = f" ({_short(event.reason)})" if event.reason else ""
            return f"{status}{why} after {event.rounds} rounds, {event.usage.tokens} tokens"
        case _:
            assert_never(event)


def _compact(given: JsonObject) -> str:
    return json.dumps(thaw(given), ensure_ascii=False)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def done_lines(events: Iterable[RunEvent], *, several: bool = False) -> list[str]:
    """What was done, a line an agent: how it ended, the tools that it used, the files that it changed. Ready for a terminal."""
    heard = tuple(events)
    called = labels(heard, several=several)
    return [visible(_done(event, called.get(event.chain, event.agent), heard)) for event in heard if isinstance(event, Finished)]


def _done(end: Finished, label: str, heard: tuple[RunEvent, ...]) -> str:
    own = [event for event in heard if event.chain == end.chain]
    good = {event.id for event in own if isinstance(event, ToolFinished) and not event.is_error}
    used = Counter(event.tool for event in own if isinstance(event, ToolFinished))
    changed = [str(event.input.get("path")) for event in own if isinstance(event, ToolStarted) and event.tool in _WRITING and event.id in good]
    tools = ", ".join(f"{tool} {number}" for tool, number in sorted(used.items())) or "no tools"
    files = f"; changed {', '.join(dict.fromkeys(changed))}" if changed else ""
    return f"{'  ' * end.depth}{label}: {end.status} after {end.rounds} rounds; {tools}{files}"
