"""What the system does not give: files and directories without permission, directories of others, and what is said of them."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from pipeline import Snapshot, capture, discover
from pipeline.nodes import Unreadable
from properties.strategies import valid_agent
from tests.looking import look_at, outcomes
from tests.users import as_nobody

door = importlib.import_module("pipeline.capture")


def test_a_file_without_permission(place: Path, agents: Path) -> None:
    (agents / "secret.md").write_text(valid_agent("secret"))
    (agents / "secret.md").chmod(0)
    with as_nobody():
        seen = look_at(place)
    found = discover(seen)
    assert outcomes(found) == {"good.md": ("loaded", []), "secret.md": ("unreadable", ["UnreadableFile"])}


def test_a_directory_without_permission(place: Path, agents: Path) -> None:
    locked = place / "proj" / ".codex" / "agents"
    locked.mkdir(parents=True)
    locked.chmod(0)
    with as_nobody():
        seen = look_at(place)
    found = discover(seen)
    assert outcomes(found) == {"good.md": ("loaded", [])}
    assert [(type(problem).__name__, problem.path) for problem in found.surroundings] == [("UnreadableDirectory", str(locked))]
    locked.chmod(0o755)


def test_a_directory_above_without_permission(place: Path, agents: Path) -> None:
    locked = place / "proj" / ".codex"
    (locked / "agents").mkdir(parents=True)
    locked.chmod(0)
    with as_nobody():
        seen = look_at(place)
    found = discover(seen)
    assert outcomes(found) == {"good.md": ("loaded", [])}
    assert [(type(problem).__name__, problem.path) for problem in found.surroundings] == [("UnreadableDirectory", str(locked / "agents"))]
    locked.chmod(0o755)


def test_a_directory_above_that_cannot_be_listed_hides_nothing_that_it_holds(place: Path, agents: Path) -> None:
    (place / "proj" / ".xcsh" / "agents").mkdir(parents=True)
    (place / "proj" / ".xcsh" / "agents" / "mine.md").write_text(valid_agent("mine"))
    below = place / "proj" / "sub" / ".xcsh"
    below.mkdir(parents=True)
    for closed in (below, place / "proj" / ".xcsh"):
        closed.chmod(0o711)
    with as_nobody():
        seen = capture(place / "proj" / "sub", place / "home")
        again = capture(place / "proj" / "sub", place / "home", previous=seen)
    found = discover(seen)
    assert found.by_name["mine"].file_path == str(place / "proj" / ".xcsh" / "agents" / "mine.md")
    assert found.project_agents_dir == str(place / "proj" / ".xcsh" / "agents")
    assert again == seen == Snapshot.from_json(seen.to_json()).unwrap()


def test_of_a_place_that_cannot_be_entered_at_all_nothing_is_said(place: Path, agents: Path) -> None:
    (place / "shut" / "deep").mkdir(parents=True)
    (place / "shut").chmod(0)
    with as_nobody():
        seen = capture(place / "shut" / "deep", place / "home")
    assert not [problem for problem in discover(seen).surroundings if "agents" in problem.path]
    (place / "shut").chmod(0o755)


def test_a_directory_that_anyone_may_write(place: Path, agents: Path) -> None:
    agents.chmod(0o777)
    assert [problem.why for problem in discover(look_at(place)).surroundings] == ["anyone may write"]  # type: ignore[union-attr]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_that_another_user_owns(place: Path, agents: Path) -> None:
    os.chown(agents, 1234, 1234)
    assert [(problem.why, problem.owner) for problem in discover(look_at(place)).surroundings] == [  # type: ignore[union-attr]
        ("another user owns it", 1234)
    ]


def test_presence_without_permission(place: Path, agents: Path) -> None:
    (place / "proj").chmod(0)
    with as_nobody():
        seen = look_at(place)
    assert isinstance(seen.locate(str(agents)).node, Unreadable)
    (place / "proj").chmod(0o755)


def test_a_directory_that_was_given_away_is_another(place: Path, agents: Path) -> None:
    first = look_at(place)
    agents.chmod(0o777)
    second = look_at(place, previous=first)
    assert second != first
    assert second.locate(str(agents / "good.md")).node is first.locate(str(agents / "good.md")).node
