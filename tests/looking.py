"""What tests of the door to the disk share: a project with an agent in it, a look at it, what came of its files."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline import Discovery, Snapshot, capture
from properties.strategies import valid_agent


def with_a_good_agent(place: Path) -> Path:
    """The agent directory of a project in a place, with one valid agent, beside a home."""
    made = place / "proj" / ".claude" / "agents"
    made.mkdir(parents=True)
    (place / "home").mkdir()
    (made / "good.md").write_text(valid_agent("good"))
    return made


def look_at(place: Path, previous: Snapshot | None = None) -> Snapshot:
    """The project as the disk has it."""
    return capture(place / "proj", place / "home", previous=previous)


def outcomes(found: Discovery) -> dict[str, tuple[str, list[str]]]:
    """What came of each file, by its name, and the kinds of its problems."""
    return {os.path.basename(file.path): (file.status, [type(problem).__name__ for problem in file.problems]) for file in found.files}
