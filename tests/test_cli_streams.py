"""`task-agents run` as a process: signals, terminals, pipes that nobody reads, streams that are closed or full."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from pipeline import cli
from pipeline.__main__ import main
from tests.running_commands import arguments, call, prepared, script


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return prepared(tmp_path)


def started(place: Path, *given: str, **streams: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pipeline", *arguments(place, *given)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=streams.get("stderr", subprocess.PIPE))


SLOW = {"text": "I wait.", "tools": [call("write_file", path="a.txt", content="hi"), call("bash", command="echo up > up; sleep 100")]}


def test_an_interrupt_ends_it_in_good_order(place: Path) -> None:
    with started(place, "scout", "x", "--model", script(place, SLOW)) as process:
        wait_for(place / "proj" / "up", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out.decode() == "1: aborted (interrupted)\nI wait.\n"
    assert err.decode().splitlines()[-2:] == ["What was done:", "  scout: aborted after 1 rounds; bash 1, write_file 1; changed a.txt"]


def test_a_terminal_that_is_closed_ends_it_in_good_order(place: Path) -> None:
    with started(place, "scout", "x", "--model", script(place, SLOW)) as process:
        wait_for(place / "proj" / "up", process)
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"1: aborted (interrupted)\nI wait.\n")


@pytest.mark.parametrize("given", [("--json",), ()], ids=["as JSON", "as lines"])
def test_who_reads_no_more_ends_it_without_a_word(place: Path, given: tuple[str, ...]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, "-m", "pipeline", *arguments(place, "scout", "x", "--model", script(place, SLOW), *given)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE if given else theirs) as process:
        os.close(theirs)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err or b"") == (1, b"")


@pytest.mark.parametrize(
    ("redirect", "status", "said", "complaint"),
    [
        (">out", 0, "na\\xefve \\u2603\n", ""),
        (">&-", 0, "", ""),
        (">/dev/full", 1, "", "task-agents: the answer could not be written: [Errno 28] No space left on device\n"),
    ],
)
def test_where_the_answer_goes_may_be_odd(place: Path, redirect: str, status: int, said: str, complaint: str) -> None:
    words = shlex.join([sys.executable, "-m", "pipeline", *arguments(place, "scout", "x", "--model", script(place, "na\u00efve \u2603"))])
    (place / "out").touch()
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(["bash", "-c", f"{words} {redirect}"], cwd=place, env=environment, capture_output=True, check=False)
    assert (ended.returncode, (place / "out").read_text()) == (status, said)
    assert ended.stderr.decode().endswith(f"completed after 1 rounds, 0 tokens\n{complaint}")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left"), "task-agents: the answer could not be written: [Errno 28] No space left"),
        (BrokenPipeError(32, "Broken pipe"), 1),
    ],
)
def test_an_answer_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, error: OSError, said: object) -> None:
    def fails(**_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "app", fails)
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, StringIO())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == said


def test_a_working_directory_that_is_gone(place: Path) -> None:
    (place / "gone").mkdir()
    command = f"rmdir ../gone; {shlex.join([sys.executable, '-m', 'pipeline', 'list'])}"
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
    ended = subprocess.run(["bash", "-c", command], cwd=place / "gone", env=environment, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr.decode()) == (2, "the working directory is not there any more: go to one that is\n")


def test_a_terminal_sees_a_table_that_moves(place: Path) -> None:
    ours, theirs = pty.openpty()
    with started(
        place, "scout", "x", "--model", script(place, {"text": "Hm.", "tools": [call("glob", pattern="*")]}, "Done."), stderr=theirs
    ) as process:
        out = process.communicate(timeout=60)[0]
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 1 << 16)
        except OSError:
            break
    os.close(ours)
    assert (process.returncode, out) == (0, b"Done.\n")
    assert b"tools used" in shown
    assert b"completed" in shown


def wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    while not file.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
