"""The tool that searches with the system's `grep`: what it finds and passes over, what it refuses, and that its time is limited too."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from pipeline.frozen import Json
from pipeline.subagent.tools import Answer
from pipeline.subagent.workspace.paths import Workspace
from tests.test_workspace_processes import refused, said, use
from tests.users import as_nobody

Search = Callable[..., str]
SLOW, SLOW_LINE = r"^(a*)(a*)(a*)(a*)\1\2\3\4c$", "a" * 301 + "c\n"
"""Back references, whose time grows with a high power of the line's length."""


@pytest.fixture
def search(workspace: Workspace, root: Path, backend: str) -> Search:
    (root / "src" / "deep").mkdir()
    for path, text in {"a.py": "one\ntwo\n", "src/b.py": "two é\n", "src/deep/c.txt": "two\n", "src/-d": "- two\n", ".hidden": "two\n"}.items():
        (root / path).write_text(text)
    (root / "binary").write_bytes(b"two\0\n")
    (root / "out").symlink_to("../outside")
    (root / "out_file").symlink_to("../outside/secret")
    (root / "link").symlink_to("src")
    os.mkfifo(root / "pipe")

    def searching(pattern: str, **given: Json) -> str:
        answer = said(workspace, backend, "grep", pattern=pattern, **given)
        assert not answer.is_error
        return "\n".join(sorted(answer.content.splitlines()))

    return searching


def test_a_search(search: Search) -> None:
    assert search("two") == ".hidden:1:two\na.py:2:two\nsrc/-d:1:- two\nsrc/b.py:1:two é\nsrc/deep/c.txt:1:two"
    assert search("^(one|t.o)$", path=".", glob="*.py") == "a.py:1:one\na.py:2:two"
    assert search("two é", glob="**/*.py") == "src/b.py:1:two é"
    assert search("two", path="src/deep") == search("two", path="link/deep/c.txt") == "src/deep/c.txt:1:two"
    assert search("-", path="src/-d") == "src/-d:1:- two"
    assert search("secret") == search("two", glob="*.md") == search("two", path="pipe") == search("two", path="binary") == "no matches"


def test_a_line_that_is_no_text_is_told_of(workspace: Workspace, root: Path, backend: str) -> None:
    (root / "latin").write_bytes(b"caf\xe9 hello\n")
    assert said(workspace, backend, "grep", pattern="hello") == Answer("no matches that are text; there are some in binary files")


def test_a_search_takes_no_more_memory_than_it_may(workspace: Workspace, root: Path, backend: str) -> None:
    (root / "a").write_text("a\n")
    assert refused(workspace, backend, "grep", pattern="(.{1,30000}){1,30000}").startswith("grep: ")


def test_a_search_that_cannot_be(workspace: Workspace, backend: str, search: Search) -> None:
    assert refused(workspace, backend, "grep", pattern="(").startswith("grep: Unmatched ( or \\(")
    # Some versions warn of such an expression first.
    assert said(workspace, backend, "grep", pattern="?none").content.endswith("no matches")
    assert refused(workspace, backend, "grep", pattern="a\0") == "grep: its words cannot be passed on: embedded null byte"
    assert refused(workspace, backend, "grep", pattern="two", path="none") == "none: No such file or directory"
    assert refused(workspace, backend, "grep", pattern="two", path="out") == "out: it lies outside the workspace"
    assert refused(workspace, backend, "grep", pattern="two", glob="src/*.py").startswith("src/*.py: the glob is for names of files")


def test_a_search_passes_over_what_cannot_be_read(workspace: Workspace, root: Path, backend: str, search: Search) -> None:
    (root / "a.py").chmod(0)
    (root / "src" / "deep").chmod(0)
    with as_nobody():
        found = search("two", glob="*.py")
        assert found == "grep: a.py: Permission denied\ngrep: src/deep: Permission denied\nsrc/b.py:1:two é"
        message = refused(workspace, backend, "grep", pattern="one")
        assert sorted(message.splitlines()) == ["grep: a.py: Permission denied", "grep: src/deep: Permission denied"]
    (root / "src" / "deep").chmod(0o755)


def test_a_search_has_limits(workspace: Workspace, root: Path, backend: str) -> None:
    (root / "long").write_text("x" * 60_000 + "\n")
    assert "characters cut ...]\nxx" in said(workspace, backend, "grep", pattern="x").content
    (root / "slow").write_text(SLOW_LINE)
    slow = said(workspace, backend, "grep", 0.5, pattern=SLOW, path="slow")
    assert slow == Answer("[time limit of 0.5 s: killed with its children]", is_error=True)


def test_a_search_that_is_killed(workspace: Workspace, root: Path, backend: str) -> None:
    async def killed() -> Answer:
        answers: list[Answer] = []

        async def searching() -> None:
            answers.append(await use(workspace, "grep", pattern=SLOW))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(searching)
            with anyio.fail_after(120):
                await kill_child_named("grep")
        return answers[0]

    (root / "slow").write_text(SLOW_LINE)
    assert anyio.run(killed, backend=backend) == Answer("[killed by signal SIGKILL]", is_error=True)


async def kill_child_named(name: str) -> None:
    while True:
        for path in Path("/proc").glob("[0-9]*/stat"):
            found, _, rest = path.read_text().partition(") ") if path.exists() else ("", "", "")
            if found.endswith(f"({name}") and int(rest.split()[1]) == os.getpid():
                os.kill(int(path.parent.name), signal.SIGKILL)
                return
        await anyio.sleep(0.01)
