"""What tests of `task-agents run` share: scripts in files, and the words of the command."""

from __future__ import annotations

import json
from pathlib import Path

from properties.projects import project


def prepared(folder: Path) -> Path:
    """The folder, with a project in it that has an agent with every tool and one with none."""
    project(folder, scout={}, blind={"tools": "[webfetch]"})
    return folder


def script(place: Path, *replies: object) -> str:
    """The model that says these, from a file."""
    file = place / "script.json"
    file.write_text(json.dumps({"replies": replies}))
    return f"scripted:{file}"


def arguments(place: Path, *given: str) -> list[str]:
    """The words of the command in the project of a place."""
    return ["run", *given, "--cwd", str(place / "proj"), "--home", str(place / "home")]


def call(tool: str, **given: object) -> dict[str, object]:
    """A tool use as a script has it."""
    return {"name": tool, "input": given}
