"""The tool that lists files by a pattern, on real trees: what it shows of links and hidden names, where it is cut, and that it always ends."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import anyio
import pytest

from pipeline.frozen import Json
from pipeline.subagent.workspace.paths import Workspace
from tests.test_workspace_files import refused, said, use
from tests.users import as_nobody


def test_patterns(workspace: Workspace, root: Path) -> None:
    for path in ("a.py", "b.txt", "src/c.py", "src/deep/d.py", ".hidden/e.py", "src/.f.py", "Z.py", "é.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()

    def found(pattern: str, **given: Json) -> list[str]:
        return said(workspace, "glob", pattern=pattern, **given).splitlines()

    assert found("*") == ["Z.py", "a.py", "b.txt", "src/", "é.py"]
    assert found("**/*.py") == ["Z.py", "a.py", "src/c.py", "src/deep/d.py", "é.py"]
    assert found("**/**") == ["Z.py", "a.py", "b.txt", "src/", "src/c.py", "src/deep/", "src/deep/d.py", "é.py"]
    assert found("src/**") == found("**", path="src") == found(f"{root}/src/**") == ["src/c.py", "src/deep/", "src/deep/d.py"]
    assert found("./src//d*/") == ["src/deep/"]
    assert found(".*/*") == [".hidden/e.py"]
    assert found("**/.*") == [".hidden/", "src/.f.py"]
    assert found("[a-z].p?") == ["a.py"]
    assert found("a.py/*") == found("A.py") == ["no matches"]
    assert found("*.{py,txt}") == ["no matches; braces stand for themselves in a pattern"]
    for pattern in ("../*", "src/../../*", "/etc/*", "//etc", f"{root}/../*"):
        assert refused(workspace, "glob", pattern=pattern) == f"{pattern}: the pattern leads outside the workspace"
    assert refused(workspace, "glob", pattern="./").startswith("./: a pattern has at least one name")
    assert refused(workspace, "glob", pattern="x" * 5000).startswith(f"{'x' * 100}: a pattern has at least one name")
    assert refused(workspace, "glob", pattern="*", path="a.py") == "a.py: it is not a directory"
    assert refused(workspace, "glob", pattern="*", path="../outside") == "../outside: it lies outside the workspace"


def test_patterns_and_links(workspace: Workspace, root: Path) -> None:
    (root / "src" / "a").touch()
    for name, target in {"file": "src/a", "folder": "src", "dangling": "src/none", "out": "../outside", "circle": "circle", "up": "."}.items():
        (root / name).symlink_to(target)
    assert said(workspace, "glob", pattern="**").splitlines() == ["dangling", "file", "folder/", "src/", "src/a", "up/"]
    assert said(workspace, "glob", pattern="*", path="up/folder") == "src/a"


def test_names_that_are_hard_to_show(workspace: Workspace, root: Path) -> None:
    (root / "two\nlines").touch()
    (root / os.fsdecode(b"byte\xff")).touch()
    assert said(workspace, "glob", pattern="*").splitlines() == ["byte\\udcff", "src/", "two\\nlines"]


def test_many_matches_are_cut(workspace: Workspace, root: Path) -> None:
    for number in range(1001):
        (root / "src" / f"{number:04}").touch()
    lines = said(workspace, "glob", pattern="src/*").splitlines()
    assert (lines[:2], lines[999:]) == (["src/0000", "src/0001"], ["src/0999", "[1000 of 1001 matches]"])


def test_a_pattern_passes_over_what_cannot_be_listed(workspace: Workspace, root: Path) -> None:
    (root / "locked").mkdir()
    (root / "locked").chmod(0)
    with as_nobody():
        assert said(workspace, "glob", pattern="**") == "locked/\nsrc/"
    (root / "locked").chmod(0o755)


def test_deep_folders_and_hostile_patterns_end(workspace: Workspace, root: Path) -> None:
    deep = os.open(root, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("a", dir_fd=deep)
        below = os.open("a", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    assert said(workspace, "glob", pattern="**/b") == "no matches"
    assert said(workspace, "glob", pattern="**/a/" * 500 + "b") == "no matches"
    assert said(workspace, "glob", pattern="*a" * 1000) == "no matches"
    # Deeper than the standard library removes.
    subprocess.run(["rm", "-r", root / "a"], check=True)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_walk_ends_with_its_task(workspace: Workspace, root: Path, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "src" / "deep").mkdir()
    list_entries, listed = os.scandir, []

    async def cancelled() -> bool:
        with anyio.CancelScope() as scope:

            def listing(path: str) -> object:
                listed.append(path)
                anyio.from_thread.run_sync(scope.cancel)
                return list_entries(path)

            monkeypatch.setattr(os, "scandir", listing)
            await use(workspace, "glob", pattern="**/*.py")
        return scope.cancelled_caught

    assert anyio.run(cancelled, backend=backend)
    assert listed == [str(root)]
