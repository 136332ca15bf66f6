"""`task-agents run`, as a person and as a program use it: progress, conclusions, exit statuses, interrupts."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli import app
from pipeline.cli.execution import EXIT_STATUS
from pipeline.frozen import JsonObject
from pipeline.subagent.events import Finished, Said, Started, ToolFinished, ToolStarted
from pipeline.subagent.messages import Usage
from pipeline.view.progress import done_lines, event_line, progress_rows, progressed
from properties.projects import project

WHO = ("scout", 1, "c1", ("main", "scout"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    project(tmp_path, scout={}, blind={"tools": "[webfetch]"})
    return tmp_path


def script(place: Path, *replies: object) -> str:
    file = place / "script.json"
    file.write_text(json.dumps({"replies": replies}))
    return f"scripted:{file}"


def arguments(place: Path, *given: str) -> list[str]:
    return ["run", *given, "--cwd", str(place / "proj"), "--home", str(place / "home")]


def ran(place: Path, *given: str) -> Result:
    return CliRunner().invoke(app, arguments(place, *given))


def call(tool: str, **given: object) -> dict[str, object]:
    return {"name": tool, "input": given}


def test_the_conclusion_goes_to_one_stream_and_progress_to_the_other(place: Path) -> None:
    model = script(place, {"text": "I write.", "tools": [call("write_file", path="a.txt", content="hi")]}, "It is written.")
    result = ran(place, "scout", "Write hi.", "--model", model)
    assert (result.exit_code, result.stdout) == (0, "It is written.\n")
    assert (place / "proj" / "a.txt").read_text() == "hi"
    assert [line.strip() for line in result.stderr.splitlines()][:3] == [
        "scout: started on Write hi.",
        "scout: says: I write.",
        'scout: write_file {"path": "a.txt", "content": "hi"}',
    ]
    assert result.stderr.splitlines()[-1].strip() == "scout: completed after 2 rounds, 0 tokens"


def test_several_tasks_are_told_apart(place: Path) -> None:
    model = script(place, {"says": "one", "text": "1."}, {"says": "two", "text": "2."})
    result = ran(place, "scout", "one", "two", "--model", model, "--context", "Numbers.")
    assert result.stdout == "1: completed\n1.\n2: completed\n2.\n"


def test_events_as_json(place: Path) -> None:
    result = ran(
        place, "scout", "Look.", "--json", "--model", script(place, {"tools": [call("glob", pattern="*.none")], "usage": {"input": 7}}, "No.")
    )
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == ["started", "tool_started", "tool_finished", "text", "finished"]
    assert (events[-1]["status"], events[-1]["text"], events[-1]["usage"]["input"], events[-1]["ancestry"]) == (
        "completed",
        "No.",
        7,
        ["main", "scout"],
    )
    assert result.stderr == ""


def test_a_result_that_is_a_list_is_told_as_json(place: Path) -> None:
    model = script(place, {"tools": [call("submit_result", data=[{"file": "a"}, [1]])]})
    result = ran(place, "blind", "x", "--json", "--model", model)
    assert json.loads(result.stdout.splitlines()[-1])["data"] == [{"file": "a"}, [1]]


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        (["Done."], "completed"),
        ([{"tools": [call("glob", pattern="*")]}], "limit"),
        ([{"text": ""}], "empty"),
        ([{"text": "Half", "stop_reason": "max_tokens"}], "truncated"),
        ([{"stop_reason": "refusal"}], "refused"),
        ([], "error"),
    ],
)
def test_the_exit_status_tells_how_it_ended(place: Path, replies: list[object], status: str) -> None:
    result = ran(place, "scout", "x", "--max-rounds", "1", "--model", script(place, *replies))
    assert result.exit_code == EXIT_STATUS[status]  # type: ignore[index]
    assert len(set(EXIT_STATUS.values())) == len(EXIT_STATUS)


def test_a_refusal_says_what_would_lift_it(place: Path) -> None:
    result = ran(place, "skout", "x", "--model", script(place))
    assert result.exit_code == 1
    assert 'Unknown agent "skout"' in result.stdout
    as_json = ran(place, "skout", "x", "--json", "--model", script(place))
    assert (as_json.exit_code, json.loads(as_json.stdout)["kind"]) == (1, "UnknownAgent")


def test_a_tool_name_that_nothing_answers_to_is_told(place: Path) -> None:
    result = ran(place, "blind", "x", "--model", script(place, "No eyes."))
    assert "blind: started on x (no tool answers to webfetch)" in result.stderr


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("nonsense", "--model nonsense: give scripted:FILE, or anthropic:NAME"),
        ("scripted:", "--model scripted:: give scripted:FILE, or anthropic:NAME"),
        ("scripted:/nowhere.json", "/nowhere.json: cannot be read"),
    ],
)
def test_misuse_of_the_model(place: Path, model: str, said: str) -> None:
    result = ran(place, "scout", "x", "--model", model)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2: no JSON: "),
        ('{"replies": 5}', "the script: must be a list of replies"),
        ("[5]", "replies[0]: must be a text or an object"),
        ('[{"txet": "a"}]', 'replies[0]: unknown key "txet"'),
        ('[{"text": 5}]', "replies[0].text: must be text"),
        ('[{"tools": 5}]', "replies[0].tools: must be a list"),
        ('[{"tools": ["bash"]}]', "replies[0].tools[0]: must be an object with the tool's name"),
        ('[{"tools": [{"name": "bash", "input": 5}]}]', "replies[0].tools[0].input: must be an object"),
        ('[{"tools": [{"name": "bash", "id": 5}]}]', "replies[0].tools[0].id: must be text"),
        ('[{"stop_reason": "tired"}]', "replies[0].stop_reason: must be one of end_turn"),
        ('[{"usage": {"input": -1}}]', "replies[0].usage: must be an object of whole numbers"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_script_that_is_none_is_named_with_its_place(place: Path, text: str, said: str) -> None:
    file = place / "bad.json"
    file.write_text(text)
    result = ran(place, "scout", "x", "--model", f"scripted:{file}")
    assert result.exit_code == 2
    assert f"{file}: {said}" in result.stderr


def test_a_directory_that_is_not_there(place: Path) -> None:
    result = CliRunner().invoke(app, ["run", "scout", "x", "--cwd", str(place / "gone"), "--model", script(place)])
    assert result.exit_code == 2
    assert f"{place / 'gone'}: no such directory" in result.stderr


def test_hostile_words_do_not_reach_the_terminal(place: Path) -> None:
    result = ran(place, "scout", "x\x1b[2J", "--model", script(place, "\x1b]0;owned\x07Done\u202e.\nSecond line."))
    assert result.stdout == "\\x1b]0;owned\\x07Done\\u202e.\nSecond line.\n"
    assert "\x1b" not in result.stderr


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


def test_progress_is_a_fold_of_the_events() -> None:
    events = (
        Started(*WHO, "one", "Find it."),
        ToolStarted(*WHO, "u1", "read_file", JsonObject({"path": "a" * 200})),
        ToolFinished(*WHO, "u1", "read_file", "content", False),
        ToolStarted(*WHO, "u2", "edit_file", JsonObject({"path": "b"})),
        ToolFinished(*WHO, "u2", "edit_file", "no match", True),
        Said(*WHO, "Found."),
        Finished(*WHO, "completed", "Found.", "", 2, Usage()),
    )
    progress = {}
    rows = []
    for event in events:
        progress = progressed(progress, event)
        rows.append(progress_rows(progress)[0])
    assert [row[2:4] for row in rows] == [("runs", ""), ("runs", ""), ("runs", "1"), ("runs", "1"), ("runs", "2"), ("runs", "2"), ("completed", "2")]
    assert rows[1][4].startswith('read_file {"path": "aaa')
    assert rows[1][4].endswith("…")
    assert rows[-1][:2] == ("  scout", "Find it.")
    assert event_line(events[4]) == "  scout: edit_file failed: no match"
    assert event_line(Finished(*WHO, "error", "", "no line", 1, Usage())) == "  scout: error (no line) after 1 rounds, 0 tokens"
    assert done_lines(events) == ["  scout: completed after 2 rounds; edit_file 1, read_file 1"]
    assert done_lines([Finished(*WHO, "empty", "", "", 1, Usage())]) == ["  scout: empty after 1 rounds; no tools"]
