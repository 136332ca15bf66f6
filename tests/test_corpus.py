"""1,025 real agent files: what each comes to under both hosts. The files are not ours to copy, so they are read where they lie."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from pipeline import STANDARD, XCSH, Host, Snapshot, discover
from pipeline.frontmatter.fences import Split, split
from properties.laws.readings import both_readings_agree, plain_reading_agrees

CORPUS = Path(os.environ.get("AGENT_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))
EXEMPT = {"52cfa54cae23.md", "7f17feb699af.md"}
"""Their YAML is read by the real program and refused by libyaml and StrictYAML, or the reverse."""

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real files is not here; set AGENT_CORPUS to its folder")


def expected() -> list[dict[str, Any]]:
    file = CORPUS / "expected.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []


def answer(file: str, host: Host) -> dict[str, Any] | None:
    data = (CORPUS / "files" / file).read_bytes()
    found = discover(Snapshot.from_tree({".claude/agents/x.md": data}), host=host)
    agents = [agent for agent in found.agents if agent.source == "project"]
    if not agents:
        return None
    said = agents[0].to_dict()
    said["system_prompt"] = hashlib.sha256(agents[0].system_prompt.encode()).hexdigest()[:16]
    return {key: value for key, value in said.items() if key not in ("source", "file_path")}


def test_there_are_1025_files() -> None:
    assert len(expected()) == 1025


def test_standard() -> None:
    wrong = [row["file"] for row in expected() if answer(row["file"], STANDARD) != row["default"]]
    assert wrong == []


def test_xcsh() -> None:
    known = ((row["file"], row["default"] if row["xcsh"] == "same" else row["xcsh"]) for row in expected())
    wrong = [file for file, answered in known if file not in EXEMPT and answer(file, XCSH) != answered]
    assert wrong == []


def test_the_readings_agree_on_every_file() -> None:
    for path in sorted((CORPUS / "files").iterdir()):
        parts = split(path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff"))
        if isinstance(parts, Split):
            both_readings_agree(parts.metadata)
            plain_reading_agrees(parts.metadata)
