"""What tests of the door to the disk share: a look at the project of a place, what came of its files."""

from __future__ import annotations

import os
from pathlib import Path

from pipeline import Discovery, Snapshot, capture


def look_at(place: Path, previous: Snapshot | None = None) -> Snapshot:
    """The project as the disk has it."""
    return capture(place / "proj", place / "home", previous=previous)


def outcomes(found: Discovery) -> dict[str, tuple[str, list[str]]]:
    """What came of each file, by its name, and the kinds of its problems."""
    return {os.path.basename(file.path): (file.status, [type(problem).__name__ for problem in file.problems]) for file in found.files}
