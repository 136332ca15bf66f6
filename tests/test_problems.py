"""Every kind of problem, from the file that causes it: where it is said to be, and in which words."""

from __future__ import annotations

import posixpath
from typing import get_args

import pytest

from pipeline import STANDARD, XCSH, Directory, File, Host, Link, Problem, Snapshot, discover
from pipeline.nodes import Node, Special, TooLarge, Unread, Unreadable
from pipeline.view.text import problem_line, short_path
from properties.strategies import valid_agent

Entries = dict[str, str | bytes | Node]
A = ".claude/agents/a.md"
GOOD = valid_agent("a")


def agent(*lines: str, body: str = "") -> str:
    return "\n".join(("---", *lines, "---", body))


NAMED = ("name: a", "description: b")

CASES: dict[str, tuple[Entries, list[str]]] = {
    "no frontmatter": ({A: "Hello"}, ["a.md:1:1: no frontmatter: an agent's file starts with a line `---`, its metadata, and another `---`"]),
    "a README": (
        {".claude/agents/README.md": "Hello"},
        ["README.md: a README, no agent: move it out of the agents directory, or leave it, it does no harm"],
    ),
    "a fence further down": (
        {A: "\n<b>Hi</b>\n" + GOOD},
        ["a.md:3:1: the frontmatter does not start on the first line: remove what stands before it (`<b>Hi</b>`)"],
    ),
    "blanks before the fence": (
        {A: "\n \n" + GOOD},
        ["a.md:3:1: the frontmatter does not start on the first line: remove what stands before it (nothing but blanks)"],
    ),
    "not closed": ({A: "---\nname: a\n"}, ["a.md:1:1: the frontmatter is not closed: add a line `---` after the metadata"]),
    "text": ({A: "---\nhello\n---\n"}, ["a.md:2:1: the metadata is text, not `key: value` lines: write `name: ...` and `description: ...`"]),
    "a list": ({A: "---\n- a\n---\n"}, ["a.md:2:1: the metadata is a list, not `key: value` lines: write `name: ...` and `description: ...`"]),
    "nothing": ({A: "---\n---\n"}, ["a.md:2:1: the metadata is nothing, not `key: value` lines: write `name: ...` and `description: ...`"]),
    "two fields missing": (
        {A: agent("name: ''", "color: red")},
        [
            "a.md:2:1: name is an empty value: write a text after `name:`, in quotes if need be",
            "a.md:1:1: no description: add `description: ...` to the frontmatter",
        ],
    ),
    "a name that is a list": (
        {A: agent("description: b", "name: [a]")},
        ["a.md:3:1: name is a list: write a text after `name:`, in quotes if need be"],
    ),
    "a name that is a mapping": (
        {A: agent("name: {{NAME}}", "description: b")},
        [
            "a.md:2:1: name is a mapping: write a text after `name:`, in quotes if need be",
            "a.md:2:8: not YAML (a key must be text); what could be read was kept: put the value in quotes",
        ],
    ),
    "permission": ({A: Unreadable("permission denied")}, ["a.md: it cannot be read (permission denied): mend its permissions or remove it"]),
    "not in the snapshot": ({A: Unread(5)}, ["a.md: it cannot be read (the snapshot does not hold its content): mend its permissions or remove it"]),
    "a dangling link": ({A: Link("b.md")}, ["a.md: a link to `b.md`, but nothing is there: point it at a file or remove it"]),
    "a circle": ({A: Link("a.md")}, ["a.md: a link to `a.md`, but it leads round in a circle: point it at a file or remove it"]),
    "a pipe": ({A: Special("a named pipe")}, ["a.md: a named pipe, not a file; it was not opened: rename it"]),
    "a directory": ({A: Directory()}, ["a.md: a directory, not a file; it was not opened: rename it"]),
    "a link to a directory": ({A: Link("/")}, ["a.md: a directory, not a file; it was not opened: rename it"]),
    "too large": ({A: TooLarge(5_000_000, 1 << 20)}, ["a.md: 5,000,000 bytes, more than the 1,048,576 that are read: shorten it"]),
    "not YAML": (
        {A: agent("name: a", "description: Use when: now")},
        ["a.md:3:22: not YAML (mapping values are not allowed in this context); what could be read was kept: put the value in quotes"],
    ),
    "not YAML behind comments, tabs and carriage returns": (
        {A: "---\r\n<!-- one\r\ntwo -->name: a\r\ndescription: b\r\nmodel:\tx: y\r\n---\r\n"},
        ["a.md:5:9: not YAML (mapping values are not allowed in this context); what could be read was kept: put the value in quotes"],
    ),
    "junk": (
        {A: agent("name: a", "description: b: c", "", "junk", "more junk")},
        [
            "a.md:3:15: not YAML (mapping values are not allowed in this context); what could be read was kept: put the value in quotes",
            "a.md:5:1: 2 line(s) of the metadata belong to no key and were passed over: indent them or remove them",
        ],
    ),
    "a key twice": (
        {A: agent(*NAMED, "model: x", "model: y")},
        ["a.md:5:1: `model` stands more than once and the last one counts: remove the others"],
    ),
    "a key in two spellings": (
        {A: agent(*NAMED, "thinking-level: low", "thinkingLevel: high")},
        ["a.md:5:1: `thinkingLevel` stands more than once and the last one counts: remove the others"],
    ),
    "unknown keys": (
        {A: agent(*NAMED, "allowed_tools: x", "max_turns: 3", "spawn: b", "color: red", "zebra: 1")},
        [
            "a.md:4:1: `allowed_tools` means nothing here: did you mean tools?",
            "a.md:5:1: `max_turns` means nothing here: did you mean maxTurns?",
            "a.md:6:1: `spawn` means nothing here: did you mean spawns?",
        ],
    ),
    "empty tools": (
        {A: agent(*NAMED, "tools:")},
        ["a.md:4:1: tools is nothing, so every tool is allowed: list them (`tools: read, grep`) or remove the key"],
    ),
    "a mapping of tools": (
        {A: agent(*NAMED, "tools: {read: true}")},
        ["a.md:4:1: tools is a mapping, so every tool is allowed: list them (`tools: read, grep`) or remove the key"],
    ),
    "a thinking level": (
        {A: agent(*NAMED, "thinking: med")},
        ["a.md:4:1: thinking `med` is ignored: use one of inherit, off, minimal, low, medium, high, xhigh"],
    ),
    "blocking": ({A: agent(*NAMED, "blocking: [x]")}, ["a.md:4:1: blocking `a list` is ignored: use one of true, false"]),
    "a comma": ({A: valid_agent("x,y")}, ["a.md:2:1: the name `x,y` holds a comma, so that no list of names can hold it: rename it"]),
    "a control character": ({A: valid_agent("x\x1by")}, ["a.md:2:1: the name `x\\x1by` has a control character: rename it"]),
    "two of a directory": (
        {A: GOOD, ".claude/agents/b.md": GOOD},
        ["b.md:1:1: `a` is defined by /home/user/project/.claude/agents/a.md in the same directory too, whose file name comes first: rename one"],
    ),
    "case": (
        {A: GOOD, "~/.claude/agents/b.md": valid_agent("A")},
        ["b.md: `A` and `a` (/home/user/project/.claude/agents/a.md) differ only by case and are two agents: rename one"],
    ),
    "the case of a bundled agent": (
        {A: valid_agent("Task")},
        ["a.md: `Task` and `task` (bundled:task.md) differ only by case and are two agents: rename one"],
    ),
    "a byte order mark": ({A: "\ufeff" + GOOD}, ["a.md:1:1: the text starts with a byte order mark: save it as UTF-8 without one"]),
    "bytes": ({A: GOOD.encode() + b"\n\xc3\xa9\xff\xef\xbf\xbd"}, ["a.md:6:2: 1 piece(s) of it are not UTF-8 and became U+FFFD: save it as UTF-8"]),
    "a broken file that would have won": (
        {A: agent("name: a"), "~/.claude/agents/a.md": GOOD},
        [
            "a.md:1:1: no description: add `description: ...` to the frontmatter",
            "a.md: once mended, this file and not /home/user/.claude/agents/a.md would define `a`: mend it or remove it",
        ],
    ),
    "an unreadable directory": (
        {".claude/agents": Unreadable("permission denied", directory=True)},
        ["agents: the directory cannot be listed (permission denied) and counts as empty: mend its permissions"],
    ),
    "a directory anyone may write": (
        {".claude/agents": Directory(owner=0, mode=0o777)},
        ["agents: anyone may write in this directory, so anyone can define your agents: chmod o-w"],
    ),
    "another user's directory": (
        {".claude/agents": Directory(owner=5, mode=0o755)},
        ["agents: another user (id 5) owns this directory and can define your agents: take it over or work elsewhere"],
    ),
}

REGISTRY_NAME = "installed_plugins.json"
REGISTRY = "~/.claude/plugins/installed_plugins.json"
SHAPE = 'not of the shape {"version": number, "plugins": {id: [entry, ...]}}; it counts as empty until it is mended'
REGISTRIES = {
    "{": "1:2: plugin registry, `the registry`: not JSON: Expecting property name enclosed in double quotes; it counts as empty until it is mended",
    "[]": f"1:1: plugin registry, `the registry`: {SHAPE}",
    '{"version": true, "plugins": {}}': f"1:1: plugin registry, `the registry`: {SHAPE}",
    '{"version": 1, "plugins": {"p": []}}': " plugin registry, `plugins['p']`: the id has no @marketplace; it counts as empty until it is mended",
    '{"version": 1, "plugins": {"p@m": {}}}': " plugin registry, `plugins['p@m']`: its entries are no list; it counts as empty until it is mended",
}


def lines(entries: Entries, host: Host = STANDARD) -> list[str]:
    """The lines that `check` prints, without the folders in front."""
    snapshot = Snapshot.from_tree(entries, user=7)
    problems = discover(snapshot, host=host).problems
    return [problem_line(each, snapshot).removeprefix(posixpath.dirname(short_path(each.path, snapshot)) + "/") for each in problems]


@pytest.mark.parametrize("case", CASES)
def test_what_is_said(case: str) -> None:
    entries, expected = CASES[case]
    assert lines(entries) == expected


@pytest.mark.parametrize("text", REGISTRIES)
def test_what_is_said_of_a_registry(text: str) -> None:
    assert lines({REGISTRY: text}) == [f"{REGISTRY_NAME}:{REGISTRIES[text]}"]


def test_a_registry_that_is_a_directory() -> None:
    assert lines({REGISTRY: Directory()}) == [
        f"{REGISTRY_NAME}: plugin registry, `the registry`: it cannot be read: a directory; it counts as empty until it is mended"
    ]


def test_a_name_with_a_blank_at_its_end_is_odd_where_it_is_kept() -> None:
    assert lines({A: valid_agent("a ")}, XCSH) == ["a.md:2:1: the name `a ` has a blank at an end: rename it"]
    assert lines({A: valid_agent("a ")}) == []


def test_an_empty_list_of_tools_is_every_tool_under_xcsh() -> None:
    said = ["a.md:4:1: tools is an empty list, so every tool is allowed: list them (`tools: read, grep`) or remove the key"]
    assert lines({A: agent(*NAMED, "tools: []")}, XCSH) == said
    assert lines({A: agent(*NAMED, "tools: []")}) == []


def test_a_byte_order_mark_is_what_stands_before_the_fence_under_xcsh() -> None:
    said = "a.md:1:1: the frontmatter does not start on the first line: remove what stands before it (a byte order mark)"
    assert lines({A: "\ufeff" + GOOD}, XCSH) == [said]


def test_names_that_are_composed_in_two_ways_do_not_differ_by_case() -> None:
    entries: Entries = {A: valid_agent("caf\u00e9"), ".claude/agents/b.md": valid_agent("cafe\u0301")}
    (said,) = [line for line in lines(entries) if "differ" in line]
    assert "differ only in how their characters are composed and are two agents" in said


def test_bytes_that_are_no_text_stand_on_a_line_whatever_ends_it() -> None:
    assert lines({A: b"---\rname: a\rdescription: \xff\r---\r"})[0].startswith("a.md:3:14: 1 piece(s) of it are not UTF-8")


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (Unreadable("permission denied"), "a file that the system does not give (permission denied)"),
        (Unreadable("permission denied", directory=True), "a directory that the system does not give (permission denied)"),
        (TooLarge(5000, 1000), "a file of 5000 bytes, where 1000 are read"),
    ],
)
def test_a_registry_that_cannot_be_read_says_why(node: Node, said: str) -> None:
    (problem,) = discover(Snapshot.from_tree({REGISTRY: node})).problems
    assert f"it cannot be read: {said}; it counts as empty" in problem_line(problem, Snapshot.from_tree({}))


def test_a_registry_above_home_is_no_project_s() -> None:
    registry = '{"version": 1, "plugins": {"p@m": [{"installPath": "/opt/p"}]}}'
    entries: Entries = {"/.git/HEAD": "", "/.xcsh/plugins/installed_plugins.json": registry, "/opt/p/agents/x.md": valid_agent("x")}
    assert "x" not in discover(Snapshot.from_tree(entries, cwd="/h/p", home="/h")).by_name
    assert "x" in discover(Snapshot.from_tree(entries, cwd="/q/p", home="/h")).by_name


def test_a_name_that_is_a_number_is_none_under_xcsh() -> None:
    assert lines({A: agent("name: 404", "description: b")}, XCSH) == [
        "a.md:2:1: name is a number or a boolean: write a text after `name:`, in quotes if need be"
    ]


def test_every_kind_of_problem_is_here() -> None:
    found = {type(problem) for entries, _ in CASES.values() for problem in discover(Snapshot.from_tree(entries, user=7)).problems}
    found |= {type(problem) for problem in discover(Snapshot.from_tree({REGISTRY: "[]"})).problems}
    assert found == set(get_args(Problem))


def test_problems_of_a_file_kept_from_an_earlier_look_are_the_same() -> None:
    snapshot = Snapshot.from_tree({A: File(b"Hello")})
    assert discover(snapshot).problems == discover(snapshot).problems
