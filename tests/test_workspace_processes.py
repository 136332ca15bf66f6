"""The tools that are processes, on real ones: what is said of their end, and that nothing outlives them or holds up the call."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import anyio
import pytest

from pipeline.frozen import Json, JsonObject
from pipeline.subagent.context import Context
from pipeline.subagent.tools import Answer, ToolCall, ToolError
from pipeline.subagent.workspace.paths import Workspace
from pipeline.subagent.workspace.sessions import kill_session, members
from pipeline.subagent.workspace.toolbox import workspace_tools
from tests.test_workspace_files import NO_CONVERSATION


async def use(workspace: Workspace, name: str, seconds: float = 600, /, **given: Json) -> Answer:
    tool = next(tool for tool in workspace_tools(workspace, seconds=seconds) if tool.spec.name == name)
    answer = await tool.function(ToolCall("u1", JsonObject(given), Context(), NO_CONVERSATION))
    return answer if isinstance(answer, Answer) else Answer(answer)


def said(workspace: Workspace, backend: str, name: str, seconds: float = 600, /, **given: Json) -> Answer:
    async def once() -> Answer:
        return await use(workspace, name, seconds, **given)

    return anyio.run(once, backend=backend)


def shell(workspace: Workspace, backend: str, command: str, seconds: float = 600, **given: Json) -> Answer:
    return said(workspace, backend, "bash", seconds, command=command, **given)


def refused(workspace: Workspace, backend: str, name: str, **given: Json) -> str:
    with pytest.raises(ToolError) as error:
        said(workspace, backend, name, **given)
    return str(error.value)


def runs(process: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def all_gone(root: Path, number: int) -> None:
    """The processes whose ids a command wrote are gone, or about to be: a kill takes effect when the process is next on."""
    processes = [int(line) for line in (root / "pids").read_text().split()]
    assert len(processes) == number

    async def wait() -> None:
        with anyio.fail_after(120):
            while any(map(runs, processes)):
                await anyio.sleep(0.01)

    anyio.run(wait)


def test_output_and_exit_code(workspace: Workspace, root: Path, backend: str) -> None:
    assert shell(workspace, backend, "pwd; echo error >&2; printf more") == Answer(f"{root}\nerror\nmore\n[exit code 0]")
    assert shell(workspace, backend, "true") == Answer("[exit code 0]")
    assert shell(workspace, backend, "echo no; exit 3") == Answer("no\n[exit code 3]", is_error=True)
    assert shell(workspace, backend, "cat; [[ -t 0 ]] || none").content.endswith("none: command not found\n[exit code 127]")
    assert shell(workspace, backend, "yes | head -n 1") == Answer("y\n[exit code 0]")


def test_signals(workspace: Workspace, backend: str) -> None:
    assert shell(workspace, backend, "echo a; kill -TERM $$") == Answer("a\n[killed by signal SIGTERM]", is_error=True)
    assert shell(workspace, backend, "kill -40 $$") == Answer("[killed by signal 40]", is_error=True)
    assert shell(workspace, backend, "(kill -KILL $BASHPID); exit $?").content.endswith("[exit code 137]")


def test_what_is_no_utf_8_is_replaced(workspace: Workspace, backend: str) -> None:
    assert shell(workspace, backend, r"printf 'a\xffb\x00c\xc3'").content == "a\ufffdb\0c\ufffd\n[exit code 0]"
    # A character whose bytes come apart is still one character.
    assert shell(workspace, backend, r"printf '\xc3'; sleep 0.2; printf '\xa9'").content == "é\n[exit code 0]"


def test_a_flood_is_cut_in_the_middle(workspace: Workspace, backend: str) -> None:
    answer = shell(workspace, backend, "echo first; yes | head -c 10000000; echo last").content
    first, note, last = answer.partition(f"\n[... {10_000_011 - 50_000} characters cut ...]\n")
    assert (len(first), bool(note), first[:8]) == (25_000, True, "first\ny\n")
    assert last.endswith("y\nlast\n[exit code 0]")
    endless = shell(workspace, backend, "yes", seconds=0.5)
    assert (endless.is_error, len(endless.content) < 51_000) == (True, True)
    assert endless.content.endswith("y\n[time limit of 0.5 s: killed with its children]")


TREE = "echo $$ >> pids; (echo $BASHPID >> pids; sleep 1000 & echo $! >> pids; wait) & echo ready; "
"""A shell whose child has a child."""


def test_at_the_time_limit_all_are_killed(workspace: Workspace, root: Path, backend: str) -> None:
    command = TREE + "trap '' TERM INT; wait"
    assert shell(workspace, backend, command, seconds=3) == Answer("ready\n[time limit of 3 s: killed with its children]", is_error=True)
    all_gone(root, 3)


def test_a_shorter_time_limit_counts_and_a_longer_does_not(workspace: Workspace, backend: str) -> None:
    assert shell(workspace, backend, "sleep 1000", timeout=0.2).content == "[time limit of 0.2 s: killed with its children]"
    assert shell(workspace, backend, "sleep 1000", seconds=0.2, timeout=1000).content == "[time limit of 0.2 s: killed with its children]"


def test_groups_of_their_own_are_killed_too(workspace: Workspace, root: Path, backend: str) -> None:
    command = "timeout 1000 bash -c 'echo $$ > pids; sleep 1000 & echo $! >> pids; wait'"
    assert shell(workspace, backend, command, seconds=3).content.endswith("killed with its children]")
    all_gone(root, 2)
    (root / "pids").unlink()
    assert shell(workspace, backend, "set -m; sleep 1000 & echo $! > pids").content == "[exit code 0]"
    all_gone(root, 1)


def test_what_is_left_in_the_background_ends_with_the_shell(workspace: Workspace, root: Path, backend: str) -> None:
    assert shell(workspace, backend, "sleep 1000 & echo $! > pids; echo done") == Answer("done\n[exit code 0]")
    all_gone(root, 1)


def test_what_left_the_session_does_not_hold_up_the_call(workspace: Workspace, root: Path, backend: str) -> None:
    escaped = "setsid env -i bash -c 'echo $$ > pids; touch up; sleep 1000' & until [ -e up ]; do sleep 0.01; done; echo done"
    assert shell(workspace, backend, escaped) == Answer("done\n[exit code 0]")
    process = int((root / "pids").read_text())
    assert runs(process)
    os.kill(process, signal.SIGKILL)
    (root / "up").unlink()
    flooding = "setsid env -i bash -c 'echo $$ > pids; touch up; exec yes' & until [ -e up ]; do sleep 0.01; done; sleep 0.1"
    assert shell(workspace, backend, flooding).content.endswith("[exit code 0]")
    # Nobody reads its pipe any more.
    all_gone(root, 1)


def test_what_left_the_session_is_killed_as_all_else(workspace: Workspace, root: Path, backend: str) -> None:
    left = "setsid bash -c 'echo $$ >> pids; touch up; sleep 1000 & echo $! >> pids; wait' & until [ -e up ]; do sleep 0.01; done; sleep 0.1"
    assert shell(workspace, backend, left) == Answer("[exit code 0]")
    all_gone(root, 2)
    (root / "pids").unlink()
    waiting = "setsid -w bash -c 'echo $$ > pids; sleep 1000'"
    assert shell(workspace, backend, waiting, timeout=0.5).content == "[time limit of 0.5 s: killed with its children]"
    all_gone(root, 1)


def test_closed_output_is_no_end(workspace: Workspace, backend: str) -> None:
    assert shell(workspace, backend, "echo a; exec >&- 2>&-; sleep 0.2; exit 4") == Answer("a\n[exit code 4]", is_error=True)


def test_cancellation_kills_all(workspace: Workspace, root: Path, backend: str) -> None:
    async def cancelled() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(use_shell)
            with anyio.fail_after(120):
                while not (root / "ready").exists():
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    async def use_shell() -> None:
        await use(workspace, "bash", command=TREE + "until [ $(wc -l < pids) = 3 ]; do sleep 0.01; done; touch ready; wait")

    anyio.run(cancelled, backend=backend)
    all_gone(root, 3)


def test_a_call_that_is_cancelled_at_once_leaves_nothing(workspace: Workspace, root: Path, backend: str) -> None:
    async def cancelled() -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await use(workspace, "bash", command="sleep 1; touch late")
        assert scope.cancelled_caught

    before = os.listdir("/proc/self/fd")
    anyio.run(cancelled, backend=backend)
    assert (len(os.listdir("/proc/self/fd")) <= len(before), (root / "late").exists()) == (True, False)


def test_commands_side_by_side(workspace: Workspace, backend: str) -> None:
    async def many() -> list[str]:
        answers: dict[int, str] = {}

        async def one(number: int) -> None:
            answers[number] = (await use(workspace, "bash", command=f"sleep 0.1; echo {number}")).content

        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(one, number)
        return [answers[number] for number in range(10)]

    assert anyio.run(many, backend=backend) == [f"{number}\n[exit code 0]" for number in range(10)]


def test_what_cannot_be_started(workspace: Workspace, root: Path, backend: str) -> None:
    assert refused(workspace, backend, "bash", command="echo \0") == "bash: its words cannot be passed on: embedded null byte"
    assert refused(workspace, backend, "bash", command="echo \ud800").startswith("bash: its words cannot be passed on: 'utf-8' codec")
    assert refused(workspace, backend, "bash", command="x" * 10_000_000) == "bash: Argument list too long"
    root.rename(root.parent / "moved")
    assert refused(workspace, backend, "bash", command="true") == f"{root}: No such file or directory"


def test_members_of_a_session_by_what_the_system_lists(tmp_path: Path) -> None:
    for process, stat in {"41": b"41 (a) b) 7) S 1 41 7 0", "42": b"42 (\xff) Z 1 42 7 0", "43": b"43 (c) R 1 43 8 0", "44": b""}.items():
        (tmp_path / process).mkdir()
        (tmp_path / process / "stat").write_bytes(stat)
    (tmp_path / "45" / "stat").mkdir(parents=True)
    assert list(members(7, "x", str(tmp_path))) == [41]
    assert os.getpid() in members(os.getsid(0), "x")


def test_a_process_that_is_listed_for_ever_is_not_waited_for(tmp_path: Path) -> None:
    gone = 2**22 + 1
    (tmp_path / str(gone)).mkdir()
    (tmp_path / str(gone) / "stat").write_text(f"{gone} (a) S 1 {gone} {gone} 0")
    kill_session(gone, "x", str(tmp_path))
    kill_session(gone, "x", str(tmp_path / "none"))
