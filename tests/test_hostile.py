"""Texts made to hurt: each gets a clear outcome in little memory, and the file beside it is loaded as ever."""

from __future__ import annotations

import pytest

from pipeline import STANDARD, XCSH, Host, Snapshot, discover
from properties.strategies import valid_agent

HOSTS = pytest.mark.parametrize("host", [STANDARD, XCSH], ids=["standard", "xcsh"])
HEAD = "---\nname: x\ndescription: y\n"
BOMB = "".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9 if level else ['lol'] * 9)}]\n" for level in range(12))

HOSTILE = {
    "aliases that explode": (HEAD + BOMB + "---\n", "loaded"),
    "flow lists 10,000 deep": (HEAD + "output: " + "[" * 10_000 + "]" * 10_000 + "\n---\n", "loaded"),
    "flow maps 10,000 deep": (HEAD + "output: " + "{a: " * 10_000 + "}" * 10_000 + "\n---\n", "loaded"),
    "block maps 1,000 deep": (HEAD + "output:\n" + "".join(f"{' ' * level}k:\n" for level in range(1, 1_000)) + "---\n", "loaded"),
    "200,000 keys": (HEAD + "".join(f"{at:x}:\n" for at in range(200_000)) + "---\n", "loaded"),
    "100,000 repeated keys": ("---\n" + "a: b\n" * 100_000 + HEAD[4:] + "---\n", "loaded"),
    "100,000 kinds of tools": (HEAD + "".join(f"k{at:x}tools:\n" for at in range(70_000)) + "---\n", "loaded"),
    "100,000 lines of junk": (HEAD + "!junk\n" * 100_000 + "---\n", "loaded"),
    "100,000 comments that never close": ("<!--" * 200_000 + "\n" + HEAD + "---\n", "invalid"),
    "100,000 comments that close": (HEAD + "<!--\n-->" * 100_000 + "z: a: b\n---\n", "loaded"),
    "a huge integer": (HEAD + "output: " + "9" * 100_000 + "\n---\n", "loaded"),
    "a huge exponent": (HEAD + "output: 1e999999999\n---\n", "loaded"),
    "a NUL": (HEAD + "model: \x00\n---\n", "loaded"),
    "control characters": (HEAD + "model: \x1b[2J\x07\n---\n", "loaded"),
    "a lone surrogate, escaped": (HEAD + 'model: "\\ud800"\n---\n', "loaded"),
    "an escape beyond Unicode": (HEAD + 'model: "\\UFFFFFFFF"\n---\n', "loaded"),
    "a name without end": ("---\nname: " + "x" * 500_000 + "\ndescription: y\n---\n", "loaded"),
    "nothing but line breaks": ("\n" * 1_000_000, "invalid"),
    "a megabyte that only the slow reading understands": (HEAD + "model: [\ufeff, " + "a, " * 300_000 + "]\n---\n", "loaded"),
    "a merge key": (HEAD + "<<: {name: z}\n---\n", "loaded"),
    "a tag that runs code": (HEAD + "output: !!python/object/apply:os.system [true]\n---\n", "loaded"),
}


@HOSTS
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text(case: str, host: Host) -> None:
    text, status = HOSTILE[case]
    found = discover(Snapshot.from_tree({".claude/agents/a.md": text, ".claude/agents/b.md": valid_agent("good")}), host=host)
    assert [outcome.status for outcome in found.files] == [status, "loaded"]
    assert found.by_name["good"].system_prompt == "Prompt of good."
    assert found.to_dict()


@HOSTS
def test_what_a_hostile_text_defines_can_be_hashed_and_shown(host: Host) -> None:
    nested = "[" * 40 + "1" + "]" * 40
    found = discover(Snapshot.from_tree({".claude/agents/a.md": f"{HEAD}output: {nested}\n---\n"}), host=host)
    assert hash(found.agents[0]) == hash(found.agents[0])
    assert str(found.agents[0].to_dict()["output"]) == nested


def test_a_working_directory_thousands_of_levels_deep() -> None:
    deep = "/d" * 3_000
    found = discover(Snapshot.from_tree({"/.claude/agents/a.md": valid_agent("a")}, cwd=deep))
    assert found.agents[0].name == "a"
