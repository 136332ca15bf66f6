"""Where the tools of a workspace may go: paths resolved with their links, what lies outside refused; and which tool a name means."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.refusal import NoWorkspace
from pipeline.subagent.tools import ToolError
from pipeline.subagent.workspace.names import ANSWERING, answering
from pipeline.subagent.workspace.paths import Workspace
from tests.users import as_nobody


def refused(workspace: Workspace, path: str) -> str:
    with pytest.raises(ToolError) as error:
        workspace.resolve(path)
    return str(error.value)


def test_a_workspace_is_a_directory_by_its_real_path(place: Path) -> None:
    (place / "link").symlink_to(".")
    assert Workspace.open(place / "link").unwrap() == Workspace(str(place))
    (place / "file").touch()
    assert Workspace.open(place / "file").failure() == NoWorkspace(str(place / "file"), "not a directory")
    (place / "dangling").symlink_to("gone")
    for missing in ("gone", "dangling", "file/below", "nul\0"):
        assert Workspace.open(f"{place}/{missing}").failure() == NoWorkspace(f"{place}/{missing}", "missing")


def test_paths_inside(workspace: Workspace) -> None:
    root = workspace.root
    for given in ("src", "./src/", "src/../src", "none/../src", f"{root}/src", f"{root}/../ground/src", "//".join((root, "src"))):
        assert workspace.resolve(given) == f"{root}/src"
    for given in ("", ".", root, "src/.."):
        assert workspace.resolve(given) == root
    assert workspace.resolve("~/a") == f"{root}/~/a"
    assert workspace.resolve("new/deep/file") == f"{root}/new/deep/file"
    assert [workspace.shown(workspace.resolve(given)) for given in ("", "a\n\udcff")] == [".", "a\\n\\udcff"]


def test_paths_outside(workspace: Workspace) -> None:
    for given in ("..", "../outside/secret", "/", "/etc/passwd", "src/../../outside", f"{workspace.root}-twin", "../ground2"):
        assert refused(workspace, given) == f"{given}: it lies outside the workspace"


def test_everything_is_inside_the_root_of_the_system() -> None:
    whole = Workspace.open("/").unwrap()
    assert (whole.resolve("../.."), whole.shown(whole.resolve("/no/such"))) == ("/", "no/such")


def test_links(workspace: Workspace) -> None:
    root = Path(workspace.root)
    (root / "src" / "a").write_text("a")
    for name, target in {
        "in": "src/a",
        "folder": "src",
        "chain": "folder/a",
        "out": "../outside/secret",
        "out_folder": "../outside",
        "out_dangling": "../outside/none",
        "out_chain": "out_folder/secret",
        "out_absolute": str(root.parent / "outside"),
        "out_and_in": "../ground/src/a",
        "dangling": "src/none",
    }.items():
        (root / name).symlink_to(target)
    for given in ("in", "folder/a", "chain", "out_and_in", "out_folder/../ground/src/a"):
        assert workspace.resolve(given) == f"{root}/src/a"
    assert workspace.resolve("dangling") == f"{root}/src/none"
    for given in ("out", "out_folder", "out_folder/secret", "out_folder/none", "out_dangling", "out_chain", "out_absolute/secret", "folder/../out"):
        assert refused(workspace, given) == f"{given}: it lies outside the workspace"


def test_links_in_a_circle_hide_nothing(workspace: Workspace) -> None:
    root = Path(workspace.root)
    (root / "circle").symlink_to("circle")
    (root / "there").symlink_to("back")
    (root / "back").symlink_to("there")
    (root / "out").symlink_to("../outside")
    assert refused(workspace, "circle") == "circle: its links go in a circle"
    assert refused(workspace, "there") == "there: its links go in a circle"
    assert refused(workspace, "circle/a") == "circle/a: Too many levels of symbolic links"
    # What follows a circle may be left unresolved: then this would look like a path inside.
    assert refused(workspace, "circle/../out/secret").startswith("circle/../out/secret: it")


def test_what_is_no_path(workspace: Workspace) -> None:
    assert refused(workspace, "a\0b") == "a\\x00b: a path cannot hold a NUL character"
    assert refused(workspace, "a\ud800") == "a\\ud800: a path cannot hold half of a surrogate pair"
    assert refused(workspace, "n" * 300) == f"{'n' * 300}: File name too long"
    assert refused(workspace, "é/" * 3000) == f"{'é/' * 50}...: a path cannot have more than 4096 bytes, and this has 9000"


def test_a_folder_that_may_not_be_entered(workspace: Workspace) -> None:
    locked = Path(workspace.root) / "locked"
    locked.mkdir()
    (locked / "link").symlink_to("../../outside")
    locked.chmod(0)
    with as_nobody():
        assert refused(workspace, "locked/link") == "locked/link: Permission denied"
    locked.chmod(0o755)


def test_names_of_agent_files() -> None:
    known = ("submit_result", "read_file", "grep", "bash", "cat")
    assert answering(("bash", "view", "read", "grep_search", "shell"), known) == (("read_file", "grep", "bash"), ())
    assert answering(("cat", "todo", "webfetch", "Read", "webfetch"), known) == (("cat",), ("todo", "webfetch", "Read"))
    assert answering(("bash(git status *)", "bash *", " bash", "*"), known) == ((), ("bash(git status *)", "bash *", " bash", "*"))
    assert answering((), known) == answering((), ()) == ((), ())
    assert all(ANSWERING[tool] == tool for tool in ANSWERING.values())
    assert [ANSWERING[name] for name in ("multiedit", "create", "ls", "execute", "todowrite")] == [
        "edit_file",
        "write_file",
        "glob",
        "bash",
        "todo_write",
    ]
