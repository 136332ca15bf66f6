"""The command line's second half: who may start whom, descriptions, graphs, differences, commands."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli import app
from properties.strategies import valid_agent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    agents = tmp_path / "proj" / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "lead.md").write_text(valid_agent("lead", tools="[read]", spawns="[explore, ghost]"))
    commands = tmp_path / "proj" / ".claude" / "commands"
    commands.mkdir()
    (commands / "ship.md").write_text("---\ndescription: Ships it\nhint: [a] [b]\n---\nShip $@")
    (tmp_path / "home").mkdir()
    return tmp_path


def run(project: Path, *args: str) -> Result:
    return CliRunner().invoke(app, [*args, "--cwd", str(project / "proj"), "--home", str(project / "home")])


def test_can_spawn(project: Path) -> None:
    result = run(project, "can-spawn", "lead")
    assert (result.exit_code, result.stdout.splitlines()) == (
        0,
        ["yes: lead would be started at depth 1", "  tools:  read, submit_result, task", "  spawns: explore,ghost"],
    )
    answer = json.loads(run(project, "can-spawn", "lead", "--json", "--plan-mode").stdout)
    assert (answer["tools"], answer["spawns"], answer["plan_mode"]) == (["read", "submit_result"], "", "enforced")


def test_can_spawn_with_every_tool_at_the_limit(project: Path) -> None:
    assert "  tools:  every tool but task" in run(project, "can-spawn", "task", "--depth", "1").stdout.splitlines()
    hole = run(project, "can-spawn", "reviewer", "--plan-mode", "--host", "xcsh").stdout.splitlines()
    assert hole[3:] == ["  schema: the agent's", "  plan mode (as_documented): a hole: the child never hears of it and keeps its tools"]
    assert run(project, "can-spawn", "task", "--plan-mode").stdout.splitlines()[-1] == "  plan mode (enforced): the child is held to it"


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        (
            ["--parent-spawns", ""],
            ["no: Cannot spawn 'lead'. Allowed: none (spawns disabled for this agent)", "  to lift it: declare `spawns: lead`"],
        ),
        (
            ["--parent-spawns", "explore"],
            ["no: Cannot spawn 'lead'. Allowed: explore", "  to lift it: add lead to the spawns of the agent that asks"],
        ),
        (["--blocked", "lead"], ["no: Cannot spawn lead agent from within itself", "  to lift it: ask for another agent"]),
        (["--disabled", "lead", "--disabled", "x"], ['no: Agent "lead" is disabled in settings.', "  to lift it: enable lead in the settings"]),
    ],
)
def test_cannot_spawn(project: Path, args: list[str], lines: list[str]) -> None:
    result = run(project, "can-spawn", "lead", *args)
    assert result.exit_code == 1
    assert all(said.startswith(expected) for said, expected in zip(result.stdout.splitlines(), lines, strict=True))
    answer = json.loads(run(project, "can-spawn", "lead", *args, "--json").stdout)
    assert answer["message"] in result.stdout


def test_the_blocked_agent_comes_from_the_environment(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_BLOCKED_AGENT", "lead")
    assert run(project, "can-spawn", "lead").exit_code == 1


def test_a_session_that_cannot_be_is_misuse(project: Path) -> None:
    result = run(project, "can-spawn", "lead", "--depth", "-1")
    assert (result.exit_code, result.stderr) == (2, "depth must be a number from 0, not -1\n")


def test_describe(project: Path) -> None:
    text = run(project, "describe", "--disabled", "plan").stdout
    assert "## lead\nTools: read, submit_result\nd\n" in text
    assert "## plan" not in text
    assert json.loads(run(project, "describe", "--json").stdout)["description"].startswith("Start sub-agents")


def test_graph(project: Path) -> None:
    assert "lead -> explore" in run(project, "graph").stdout
    assert "digraph" in run(project, "graph", "--format", "dot").stdout
    assert run(project, "graph", "--format", "mermaid").stdout.startswith(("graph", "flowchart"))
    assert ElementTree.fromstring(run(project, "graph", "--format", "svg").stdout).tag.endswith("svg")
    assert json.loads(run(project, "graph", "--json").stdout)["unknown"] == [["lead", "ghost"]]
    assert run(project, "graph", "--format", "png").exit_code == 2


def test_diff_of_a_directory_and_a_snapshot(project: Path, tmp_path: Path) -> None:
    before = tmp_path / "before.json"
    before.write_text(run(project, "snapshot").stdout)
    agents = project / "proj" / ".claude" / "agents"
    (agents / "new.md").write_text(valid_agent("new"))
    (agents / "lead.md").rename(agents / "leader.md")
    args = ["diff", str(before), str(project / "proj"), "--home", str(project / "home")]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == ["+ new", f"> lead: {agents}/lead.md -> {agents}/leader.md"]
    assert json.loads(CliRunner().invoke(app, [*args, "--json"]).stdout)["came"] == ["new"]
    same = CliRunner().invoke(app, ["diff", str(before), str(before)])
    assert (same.exit_code, same.stdout) == (0, "")
    assert CliRunner().invoke(app, ["diff", str(before), "/no/such/place"]).exit_code == 2


def test_commands(project: Path) -> None:
    lines = run(project, "commands").stdout.splitlines()
    assert lines[1].split()[:3] == ["ship", "project", ".claude/commands/ship.md"]
    assert lines[-1].startswith(".claude/commands/ship.md:3:")
    assert [command["name"] for command in json.loads(run(project, "commands", "--json").stdout)] == ["ship", "init"]
    (project / "proj" / ".claude" / "commands" / "ship.md").unlink()
    assert "problem" not in run(project, "commands").stdout
