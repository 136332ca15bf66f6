"""The command line, as a person uses it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline import Snapshot, capture, discover
from pipeline.cli import app
from pipeline.view.rows import file_rows
from properties.strategies import valid_agent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    agents = tmp_path / "home" / "proj" / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "a.md").write_text(valid_agent("alpha", tools="Read, Grep", spawns="[explore]"))
    (agents / "b.md").write_text(valid_agent("alpha"))
    (agents / "bad.md").write_text("---\nname: task\n---\n")
    (tmp_path / "home" / ".codex" / "agents").mkdir(parents=True)
    (tmp_path / "home" / ".codex" / "agents" / "a.md").write_text(valid_agent("Alpha", output="{type: string}", blocking="true", model="x, y"))
    return tmp_path


def run(project: Path, *args: str) -> Result:
    return CliRunner().invoke(app, [*args, "--cwd", str(project / "home" / "proj"), "--home", str(project / "home")])


def test_list(project: Path) -> None:
    result = run(project, "list")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert [line.split()[:3] for line in lines[1:3]] == [["alpha", "project", ".claude/agents/a.md"], ["Alpha", "user", "~/.codex/agents/a.md"]]
    assert "4 problems:" in lines
    assert ".claude/agents/bad.md:1:1: no description: add `description: ...` to the frontmatter" in lines


def test_list_of_a_folder_without_agents(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["list", "--cwd", str(tmp_path), "--home", str(tmp_path)])
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == ["explore", "plan", "designer", "reviewer", "task", "quick_task"]


def test_list_as_json(project: Path) -> None:
    answer = json.loads(run(project, "list", "--json").stdout)
    assert [agent["name"] for agent in answer["agents"]][:2] == ["alpha", "Alpha"]
    assert sorted(answer["files"].values()) == ["invalid", "loaded", "loaded", "shadowed"]


def test_show(project: Path) -> None:
    shown = run(project, "show", "alpha").stdout
    assert "tools:          read, grep, submit_result\n" in shown
    assert "spawns:         explore\n" in shown
    assert shown.endswith("\n\nPrompt of alpha.\n")
    everything = run(project, "show", "Alpha").stdout
    assert all(line in everything for line in ("model:          x, y", "blocking:       true", 'output:         {"type": "string"}'))
    assert json.loads(run(project, "show", "alpha", "--json").stdout)["description"] == "d"


def test_show_a_name_that_is_not_there(project: Path) -> None:
    result = run(project, "show", "ALPHA")
    assert result.exit_code == 1
    assert result.stderr.startswith("no agent 'ALPHA' is in force. Near: alpha, Alpha. There are: alpha, Alpha, explore")
    assert "Near" not in run(project, "show", "nothing like it").stderr


def test_explain(project: Path) -> None:
    assert run(project, "explain", "alpha").stdout.splitlines() == [
        "alpha: .claude/agents/a.md (project) is in force",
        "  shadowed: .claude/agents/b.md (a file name that comes first won)",
        "  near:     Alpha (names match exactly)",
    ]
    task = run(project, "explain", "task").stdout.splitlines()
    assert task[:2] == ["task: the bundled agent is in force", "  broken:   .claude/agents/bad.md would have won, but is invalid"]
    assert task[2].strip().startswith(".claude/agents/bad.md:1:1: no description")
    missing = run(project, "explain", "nobody")
    assert (missing.exit_code, missing.stdout) == (1, "nobody: no agent of this name is in force\n")
    answer = json.loads(run(project, "explain", "task", "--json").stdout)
    assert (answer["winner"], answer["in_force"], answer["broken"][0]["status"]) == (None, True, "invalid")


def test_explain_a_bundled_agent_that_was_replaced(project: Path) -> None:
    (project / "home" / "proj" / ".claude" / "agents" / "x.md").write_text(valid_agent("explore"))
    assert "  shadowed: the bundled agent of this name (bundled agents come last)" in run(project, "explain", "explore").stdout.splitlines()


def test_check(project: Path, tmp_path: Path) -> None:
    result = run(project, "check")
    assert result.exit_code == 1
    assert all(line.split(":")[0].endswith(".md") for line in result.stdout.splitlines())
    kinds = [problem["kind"] for problem in json.loads(run(project, "check", "--json").stdout)]
    assert kinds == ["SameNameInDirectory", "MissingField", "WouldHaveWon", "NamesDifferByCase"]
    (tmp_path / "empty").mkdir()
    clean = CliRunner().invoke(app, ["check", "--cwd", str(tmp_path / "empty"), "--home", str(tmp_path / "empty")])
    assert (clean.exit_code, clean.stdout) == (0, "")


def test_a_snapshot_replays(project: Path, tmp_path: Path) -> None:
    text = run(project, "snapshot").stdout
    assert isinstance(Snapshot.from_json(text).unwrap(), Snapshot)
    file = tmp_path / "report.json"
    file.write_text(text)
    for command in (["list"], ["check"], ["show", "alpha"], ["explain", "alpha"], ["snapshot"]):
        replayed = CliRunner().invoke(app, [*command, "--snapshot", str(file)])
        assert replayed.stdout == run(project, *command).stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["list", "--cwd", "/no/such/folder"], "/no/such/folder: no such directory"),
        (["list", "--home", "/no/such/home"], "/no/such/home: no such directory"),
        (["list", "--host", "nobody"], "--host nobody: no such host; there are standard, xcsh"),
        (["list", "--snapshot", "/no/such/file"], "/no/such/file: cannot be read"),
        (["frobnicate"], "No such command"),
        (["show"], "Missing argument"),
    ],
)
def test_misuse(args: list[str], message: str) -> None:
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cwd": "/", "home": "/", "entries": [{"path": "x"}]}', "\udcff"])
def test_a_snapshot_that_is_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = CliRunner().invoke(app, ["list", "--snapshot", str(file)])
    assert result.exit_code == 2
    assert str(file) in result.stderr


def test_control_characters_never_reach_the_terminal(tmp_path: Path) -> None:
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    hostile = valid_agent("evil\x1b]0;owned\x07", '"\\e[31mred\\u202e\\U000E0041"')
    (agents / "x\x1b[2J\n.md").write_text(hostile + "\x1b[1A\tprompt\n")
    for command in (["list"], ["check"], ["explain", "evil"], ["show", "evil\x1b]0;owned\x07"], ["show", "\x1b[2J"], ["list", "--json"]):
        result = CliRunner().invoke(app, [*command, "--cwd", str(tmp_path), "--home", str(tmp_path)])
        assert not any(ord(character) < 32 and character not in "\n\t" for character in result.output)
        assert not any(character in result.output for character in "\x7f\x9b\u202e\U000e0041")


def test_a_working_directory_that_is_gone_is_misuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> Path:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Path, "cwd", gone)
    result = CliRunner().invoke(app, ["list"])
    assert (result.exit_code, result.stderr) == (2, "the working directory is not there any more: go to one that is\n")


def test_a_terminal_gets_a_table_folded_to_its_width(project: Path) -> None:
    command = [sys.executable, "-m", "pipeline", "list", "--cwd", str(project / "home" / "proj"), "--home", str(project / "home")]
    reader, writer = pty.openpty()
    subprocess.run(command, stdout=writer, check=True, env=os.environ | {"COLUMNS": "70", "LINES": "25", "TERM": "dumb"})
    os.close(writer)
    lines = os.read(reader, 100_000).decode().splitlines()
    os.close(reader)
    assert lines[1].startswith("──")
    assert max(map(len, lines[: lines.index("")])) <= 70


def test_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "pipeline", "list", "--cwd", "/"], capture_output=True, text=True, check=True)
    assert "quick_task" in done.stdout


def test_without_the_extra(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(name='typer')")
    poor = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "pipeline"], capture_output=True, text=True, env=poor, check=False)
    assert done.returncode == 1
    assert done.stderr == "The command line needs an extra: pip install 'task-agent-pipeline[cli]'\n"


def test_another_module_that_is_missing_is_not_the_extra(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(name='other')")
    poor = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "pipeline"], capture_output=True, text=True, env=poor, check=False)
    assert "Traceback" in done.stderr


def test_rows_of_every_file(project: Path) -> None:
    snapshot = capture(project / "home" / "proj", project / "home")
    assert [tuple(row) for row in file_rows(discover(snapshot), snapshot)] == [
        (".claude/agents/a.md", "loaded", "alpha", "", ""),
        (".claude/agents/b.md", "shadowed", "alpha", ".claude/agents/a.md", "1"),
        (".claude/agents/bad.md", "invalid", "task", "", "2"),
        ("~/.codex/agents/a.md", "loaded", "Alpha", "", "1"),
    ]
