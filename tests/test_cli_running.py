"""`task-agents run`, as a person and as a program use it: progress, conclusions, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli import app
from pipeline.cli.execution import EXIT_STATUS
from pipeline.frozen import JsonObject
from pipeline.subagent.events import Finished, Said, Started, ToolFinished, ToolStarted
from pipeline.subagent.messages import Usage
from pipeline.view.progress import done_lines, event_line, labels, progress_rows, progressed
from tests.running_commands import arguments, call, prepared, script

WHO = ("scout", 1, "c1", ("main", "scout"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return prepared(tmp_path)


def ran(place: Path, *given: str) -> Result:
    return CliRunner().invoke(app, arguments(place, *given))


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
    assert "  scout (1): says: 1.\n" in result.stderr
    assert "  scout (2): completed after 1 rounds, 0 tokens\n" in result.stderr


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
    assert as_json.stdout.count("\n") == 1
    blank = ran(place, "scout", "x", " ", "--model", script(place))
    assert (blank.exit_code, blank.stdout.splitlines()[0]) == (1, "no: Nothing is asked in 2.")


def test_an_agent_that_asks_for_itself_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_BLOCKED_AGENT", "scout")
    result = ran(place, "scout", "x", "--model", script(place, "No."))
    assert (result.exit_code, "Cannot spawn scout agent from within itself" in result.stdout) == (1, True)


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
        (f'["ok", {"9" * 5000}]', "a number that cannot be read: "),
        ('["a",\n\n "b", {"text": "a",\n"text": "b"}]', 'the script: has the key "text" twice in one object'),
        ('{"replies": ["a",\n "b",\n {"text": 5}]}', "replies[2].text: must be text (line 3)"),
        ('[{"tools": [{"name": "bash", "input": {"n": 1e999}}]}]', "replies[0].tools[0].input: must be JSON: not a JSON value: inf (line 1)"),
        ('{"a": [1], "r\\u0065plies": [5]}', "replies[0]: must be a text or an object (line 1)"),
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
    lead, hand, other = (("lead", 1, "l", ("main", "lead")), ("hand", 2, "h", ("main", "lead", "hand")), ("lead", 1, "o", ("main", "lead")))
    family = (Started(*lead, "1", "Lead."), Started(*other, "2", "Lead too."), Started(*hand, "dig", "Dig.", parent="l"))
    for event in family:
        progress = progressed(progress, event)
    assert [row[0] for row in progress_rows(progress)] == ["  scout", "  lead", "    hand", "  lead"]
    assert labels(family, several=True) == {"l": "lead (1)", "o": "lead (2)", "h": "hand (dig)"}
    assert labels(family[:1], several=False) == {"l": "lead"}
    assert done_lines([Finished(*WHO, "empty", "", "", 1, Usage())]) == ["  scout: empty after 1 rounds; no tools"]
