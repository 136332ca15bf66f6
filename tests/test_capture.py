"""The door to the disk, on real files: what it reads, what it refuses to open, what it keeps from an earlier look."""

from __future__ import annotations

import importlib
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from pyrsistent import pmap

from pipeline import STANDARD, Snapshot, capture, discover
from pipeline.capture import look
from pipeline.nodes import Absent, Directory, File, Node, Special, Stamp, TooLarge, Unreadable
from pipeline.places import Want
from properties.strategies import valid_agent
from tests.looking import look_at, outcomes

door = importlib.import_module("pipeline.capture")


def test_links(place: Path, agents: Path) -> None:
    (place / "real.md").write_text(valid_agent("linked"))
    (agents / "linked.md").symlink_to("../../../real.md")
    (agents / "chain.md").symlink_to("linked.md")
    (agents / "dangling.md").symlink_to("/nowhere/gone.md")
    (agents / "self.md").symlink_to("self.md")
    (agents / "to_directory.md").symlink_to("/")
    found = discover(look_at(place))
    assert outcomes(found) == {
        "chain.md": ("loaded", []),
        "dangling.md": ("unreadable", ["BrokenLink"]),
        "good.md": ("loaded", []),
        "linked.md": ("shadowed", ["SameNameInDirectory"]),
        "self.md": ("unreadable", ["BrokenLink"]),
        "to_directory.md": ("unreadable", ["NotAFile"]),
    }
    assert look_at(place).real_path(str(agents / "chain.md")).unwrap() == str(place / "real.md")


def test_a_directory_reached_by_a_link(place: Path, agents: Path) -> None:
    (place / "proj" / ".gemini").symlink_to(".claude")
    found = discover(look_at(place))
    assert [(file.path, file.status) for file in found.files] == [
        (str(agents / "good.md"), "loaded"),
        (str(place / "proj" / ".gemini" / "agents" / "good.md"), "shadowed"),
    ]


def test_what_is_no_file_is_never_opened(place: Path, agents: Path) -> None:
    os.mkfifo(agents / "pipe.md")
    (agents / "linked_pipe.md").symlink_to("pipe.md")
    (agents / "zero.md").symlink_to("/dev/zero")
    (agents / "folder.md").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(agents / "socket.md"))
        with opened() as paths:
            found = discover(look_at(place))
    assert outcomes(found) == {
        "good.md": ("loaded", []),
        **{name: ("unreadable", ["NotAFile"]) for name in ("pipe.md", "linked_pipe.md", "socket.md", "zero.md")},
    }
    assert [(type(problem).__name__, os.path.basename(problem.path)) for problem in found.surroundings] == [("NotAFile", "folder.md")]
    assert [path for path in paths if path.endswith(("pipe.md", "zero.md", "zero", "socket.md"))] == []


def test_a_file_of_100_megabytes(place: Path, agents: Path) -> None:
    with (agents / "huge.md").open("wb") as file:
        file.truncate(100_000_000)
    found = discover(look_at(place))
    assert outcomes(found)["huge.md"] == ("unreadable", ["FileTooLarge"])
    assert look_at(place).locate(str(agents / "huge.md")).node == TooLarge(100_000_000, STANDARD.max_bytes)


def test_a_file_that_vanishes_between_listing_and_reading(place: Path, agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (agents / "fleeting.md").write_text(valid_agent("fleeting"))
    os_open = os.open

    def late(path: str, flags: int, *args: int, dir_fd: int | None = None) -> int:
        (agents / "fleeting.md").unlink(missing_ok=True) if path == "fleeting.md" else None
        return os_open(path, flags, *args, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", late)
    found = discover(look_at(place))
    assert outcomes(found) == {"fleeting.md": ("unreadable", ["UnreadableFile"]), "good.md": ("loaded", [])}


def test_a_file_that_is_swapped_for_a_link_or_a_pipe(place: Path, agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (agents / "swapped.md").write_text(valid_agent("swapped"))
    os_open = os.open

    def late(path: str, flags: int, *args: int, dir_fd: int | None = None) -> int:
        if path == "swapped.md":
            (agents / "swapped.md").unlink()
            os.mkfifo(agents / "swapped.md")
        return os_open(path, flags, *args, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", late)
    assert outcomes(discover(look_at(place)))["swapped.md"] == ("unreadable", ["NotAFile"])


def test_names_that_are_not_utf8(place: Path, agents: Path) -> None:
    (Path(os.fsdecode(os.fsencode(agents) + b"/odd\xff.md"))).write_text(valid_agent("odd"))
    snapshot = look_at(place)
    assert Snapshot.from_json(snapshot.to_json()).unwrap() == snapshot
    assert outcomes(discover(snapshot)) == {"good.md": ("loaded", []), "odd\udcff.md": ("loaded", [])}


def test_paths_that_no_disk_can_hold(place: Path, agents: Path) -> None:
    registry = place / "home" / ".claude" / "plugins"
    registry.mkdir(parents=True)
    roots = ["/a\\u0000b", "/\\ud800", "/" + "x" * 5000, "a/../../..", "/dev/null"]
    entries = ", ".join(f'{{"installPath": "{root}"}}' for root in roots)
    (registry / "installed_plugins.json").write_text(f'{{"version": 1, "plugins": {{"p@m": [{entries}]}}}}')
    assert outcomes(discover(look_at(place))) == {"good.md": ("loaded", [])}


def test_nothing_there_at_all() -> None:
    found = discover(capture("/nowhere/at/all", "/nowhere/else"))
    assert found.files == ()
    assert len(found.agents) == 6


def test_cwd_and_home_are_the_process_s_unless_given(place: Path, agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place / "proj")
    monkeypatch.setenv("HOME", str(place / "home"))
    seen = capture(".")
    assert (seen.cwd, seen.home, seen.user) == (str(place / "proj"), str(place / "home"), os.geteuid())


def test_only_what_is_wanted_is_opened(place: Path, agents: Path) -> None:
    (agents / "notes.txt").write_text("not an agent")
    (place / "proj" / "secrets.env").write_text("not yours")
    with opened() as paths:
        look_at(place)
    assert [path for path in paths if path.endswith((".txt", ".env"))] == []
    assert "good.md" in paths


def test_a_want_of_one_file(place: Path, agents: Path) -> None:
    blank = Snapshot(str(place), str(place))
    path = str(agents / "good.md")
    assert isinstance(look(Want(path, "presence"), blank, blank).locate(path).node, object)
    seen = look(Want(path, "content", max_bytes=1000), blank, blank)
    assert isinstance(seen.locate(path).node, File)
    assert look(Want(path, "content", max_bytes=1000), seen, seen) == seen
    assert isinstance(look(Want(f"{path}/x", "content"), blank, blank).locate(f"{path}/x").node, Absent)


RECORDED: list[list[str]] = []


def _record(event: str, args: tuple[object, ...]) -> None:
    if event == "open" and RECORDED:
        RECORDED[-1].append(str(args[0]))


sys.addaudithook(_record)


@contextmanager
def opened() -> Iterator[list[str]]:
    """The paths that this process opens meanwhile."""
    RECORDED.append([])
    try:
        yield RECORDED[-1]
    finally:
        RECORDED.pop()


def test_what_is_unchanged_is_neither_opened_nor_parsed_again(place: Path, agents: Path) -> None:
    (agents / "other.md").write_text(valid_agent("other"))
    first = look_at(place)
    before = discover(first)
    (agents / "other.md").write_text(valid_agent("changed"))
    with opened() as paths:
        second = look_at(place, previous=first)
    assert [path for path in paths if path.endswith(".md")] == ["other.md"]
    good = str(agents / "good.md")
    assert second.locate(good).node is first.locate(good).node
    after = discover(second)
    assert after.by_name["good"] is before.by_name["good"]
    assert [agent.name for agent in after.agents[:2]] == ["good", "changed"]


def test_kinds_of_nodes(place: Path) -> None:
    os.mkfifo(place / "pipe")
    (place / "file").write_text("x")
    blank = Snapshot(str(place), str(place))
    kinds = {name: type(look(Want(f"{place}/{name}", "presence"), blank, blank).locate(f"{place}/{name}").node) for name in ("pipe", "file", "no")}
    assert (kinds["pipe"], kinds["no"]) == (Special, Absent)
    assert type(look(Want("/dev/null", "presence"), blank, blank).locate("/dev/null").node) is Special
    listed = look(Want(str(place), "listing"), blank, blank).locate(str(place)).node
    assert isinstance(listed, Directory)
    assert sorted(listed.children) == ["file", "pipe"]
    gone = look(Want(f"{place}/no", "listing"), blank, blank).locate(f"{place}/no").node
    assert not isinstance(gone, Unreadable)


class Refresh(RuleBasedStateMachine):
    """Files come, change and go on a real disk; a look that builds on the last one sees what a fresh look sees."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.place = Path(self.folder.name).resolve()
        self.last: Snapshot | None = None

    @initialize()
    def start(self) -> None:
        for family in STANDARD.families:
            (self.place / "proj" / family.project).mkdir(parents=True)

    def file(self, family: int, name: str) -> Path:
        return self.place / "proj" / STANDARD.families[family].project / f"{name}.md"

    @rule(family=st.integers(0, 3), name=st.sampled_from("ab"), agent=st.sampled_from(("x", "yy", "zzz")))
    def write(self, family: int, name: str, agent: str) -> None:
        path = self.file(family, name)
        path.unlink(missing_ok=True)
        path.write_text(valid_agent(agent))

    @rule(family=st.integers(0, 3), name=st.sampled_from("ab"))
    def drop(self, family: int, name: str) -> None:
        self.file(family, name).unlink(missing_ok=True)

    @rule(family=st.integers(0, 3), name=st.sampled_from("ab"))
    def link(self, family: int, name: str) -> None:
        path = self.file(family, name)
        path.unlink(missing_ok=True)
        path.symlink_to(self.file((family + 1) % 4, name))

    @invariant()
    def a_second_look_is_a_fresh_look(self) -> None:
        fresh = look_at(self.place)
        self.last = look_at(self.place, previous=self.last)
        assert self.last == fresh
        assert discover(self.last) == discover(fresh)

    def teardown(self) -> None:
        self.folder.cleanup()


TestRefresh = Refresh.TestCase
TestRefresh.settings = settings(max_examples=25, stateful_step_count=20)


class FailingEntry:
    """A directory entry whose file has gone."""

    name = "gone"

    def is_symlink(self) -> bool:
        return False

    def is_file(self, *, follow_symlinks: bool) -> bool:
        return not follow_symlinks

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(follow_symlinks))


def test_entries_that_cannot_be_asked(place: Path) -> None:
    entries = cast("list[os.DirEntry[str]]", [FailingEntry()])
    at = os.open(place, os.O_RDONLY)
    kept: dict[str, Node] = {"gone": File(b"", Stamp(1, 2, 3))}
    assert door._children(entries, at, Want("", "listing"), pmap(), {}) == {"gone": Unreadable("permission denied")}
    assert door._children(entries, at, Want("", "listing", "gone", 9), pmap(), kept) == {
        "gone": Unreadable("it vanished between listing and reading")
    }
    os.close(at)
    assert door._stamp_of(f"{place}/no") != Stamp(1, 2, 3)


def test_a_link_s_target_that_is_unchanged_is_kept(place: Path, agents: Path) -> None:
    (place / "real.md").write_text(valid_agent("linked"))
    (agents / "linked.md").symlink_to(place / "real.md")
    first = look_at(place)
    with opened() as paths:
        second = look_at(place, previous=first)
    assert second.locate(str(place / "real.md")).node is first.locate(str(place / "real.md")).node
    assert [path for path in paths if path.endswith(".md")] == []
