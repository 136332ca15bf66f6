"""Workflow commands: 250 recorded trees under both hosts, and by example what the trees leave out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline import STANDARD, XCSH, Command, Host, Snapshot, capture, discover_commands, expand, get_command, load_bundled_commands
from tests.trees import by_hand, lay, rows, unrooted

ROWS = rows()
HOSTS = pytest.mark.parametrize("host", [STANDARD, XCSH], ids=["standard", "xcsh"])


@HOSTS
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_from_a_snapshot_made_by_hand(row: dict[str, Any], host: Host) -> None:
    assert [command.to_dict() for command in discover_commands(by_hand(row), host=host).commands] == row["expected"]["commands"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_from_real_directories(row: dict[str, Any], tmp_path: Path) -> None:
    cwd, home = lay(row, tmp_path)
    # there is no repository above the recorded trees: the walk up ends at their own root
    found = discover_commands(capture(cwd, home, host=XCSH), host=XCSH)
    inside = [command.to_dict() for command in found.commands if command.source == "bundled" or command.file_path.startswith(str(tmp_path))]
    assert unrooted(inside, tmp_path) == row["expected"]["commands"]


def test_commands_of_plugins_carry_the_plugin_s_name() -> None:
    registry = '{"version": 1, "plugins": {"tools@market": [{"installPath": "/opt/tools"}]}}'
    tree = {"~/.claude/plugins/installed_plugins.json": registry, "/opt/tools/commands/fix.md": "Fix $@"}
    assert discover_commands(Snapshot.from_tree(tree)).by_name["tools:fix"].source == "user"


def test_the_walk_up_ends_at_the_repository() -> None:
    tree = {".git/HEAD": "", ".agents/commands/a.md": "A", "/home/user/.agent/commands/h.md": "H", "/home/.agents/commands/never.md": "N"}
    found = discover_commands(Snapshot.from_tree(tree))
    assert [(command.name, command.source) for command in found.commands] == [("a", "project"), ("h", "user"), ("init", "bundled")]


def test_a_command_that_is_not_yaml_keeps_its_words_and_is_warned_about() -> None:
    text = "---\ndescription: Fix it\nargument-hint: [a] [b]\n---\nFix $@."
    found = discover_commands(Snapshot.from_tree({".claude/commands/fix.md": text, ".claude/commands/plain.md": "\ufeff<!-- x -->Do\r\nit"}))
    fix = get_command(found, "fix").unwrap()
    assert (fix.description, expand(fix, "the build")) == ("Fix it", "Fix the build.")
    assert get_command(found, "plain").unwrap().instructions == "Do\nit"
    assert [type(problem).__name__ for problem in found.problems] == ["NotYaml"]


def test_the_first_of_a_name_wins_and_every_file_is_accounted_for() -> None:
    found = discover_commands(Snapshot.from_tree({".xcsh/commands/a.md": "first", "~/.claude/commands/a.md": "second"}))
    assert [(outcome.status, outcome.winner) for outcome in found.files] == [("loaded", None), ("shadowed", "/home/user/project/.xcsh/commands/a.md")]
    assert found.by_name["a"].instructions == "first"


def test_the_bundled_command() -> None:
    (init,) = load_bundled_commands()
    assert (init.name, init.source, init.file_path) == ("init", "bundled", "bundled:commands/init.md")
    assert init.description
    assert "$@" in init.instructions
    assert init.to_dict() == {"name": "init", "source": "bundled"}


def test_every_place_for_the_input_is_filled() -> None:
    assert expand(Command("a", "", "$@ and $@", "user", "/a"), "x$@") == "x$@ and x$@"
