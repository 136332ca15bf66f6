"""The laws of the readings, tried: on texts of every kind, and on texts made to hurt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from returns.result import Failure, Success

from pipeline.frontmatter.fast import is_unsure, read_fast
from pipeline.frontmatter.plain import read_plain
from pipeline.frontmatter.readings import read_yaml
from pipeline.frontmatter.strict import read_strict
from pipeline.frontmatter.tree import MAX_DEPTH, Mapping, Node
from properties.laws import readings
from properties.yaml_texts import yaml_texts

LAWS = (readings.both_readings_agree, readings.plain_reading_agrees, readings.every_reading_is_total, readings.the_tree_is_strictyamls)
NESTS: dict[str, Callable[[int], str]] = {
    "flow lists": lambda depth: "[" * depth + "]" * depth,
    "flow mappings": lambda depth: "{a: " * depth + "}" * depth,
    "flow lists, one a line": lambda depth: "[\n" * depth + "]" * depth,
    "lists": lambda depth: "- " * depth + "a",
    "mappings": lambda depth: "\n".join(" " * level + "a:" for level in range(depth)),
    "unclosed": lambda depth: "a: " + "[" * (depth - 1),
}
HOSTILE = {
    "huge integer": "a: " + "9" * 10_000,
    "aliases": "a: &a [x]\n" + "\n".join(f"{key}: &{key} [*a, *a]" for key in "bcdef"),
    "two bytes of an escaped pair": 'a: "\\ud83d\\ude00"',
    "beyond unicode": 'a: "\\UFFFFFFFF"',
    "lone surrogate": "a: \ud800",
    "next line": "a: b\x85c: d",
    "line separator": "a: b\u2028c: d",
    "paragraph separator": "a: b\u2029c: d",
    "byte order mark first": "\ufeffa: b",
    "byte order mark within": "a: b\ufeffc",
    "carriage return": "a: b\rc: d",
    "nothing but a colon": ":",
    "nothing": "",
    "zero": "\0",
    "long key": "a" * 1100 + ": b",
    "comments that meet": "a: # one\n  b\n\n",
    "empty items between blank lines": "-\n\n-\n\n",
}
ONCE_APART = (
    *(":", ": a", "[:]", "[a:]", "{a:}", "[a:?b]", "{a:?b}", "{a:\n:b}", "[#\n:a]", "[#\n? :a]", "[? a]", "[a?]", "{a?: b}", "[\ta]"),
    *("['':a]", '["":a]', '["" :a]', "[a':]", "a: |#b", "a: >-#b", "|#", ">\nb", "a\n...\n...", "%A\n---\na", "a: >\n  b\n  c\n", "a: ="),
)
ORDINARY = """\
name: reviewer
description: |
  Use it when: a change is ready? Yes: then, and only then (see below).

  <example>user: "Review it"</example>
tools: [Read, "Grep", 'Bash(git log:*)', {glob: "*.md"}]
model: 'opus'   # the best
hooks:
  PreToolUse:
  - matcher: "Bash"
    hooks: [{type: command, command: "./check.sh"}]
output: {"type": "object", "properties": {"found": {"type": "string"}}}
color:
"""


@given(yaml_texts())
def test_both_readings_agree(text: str) -> None:
    """The fast and the strict."""
    readings.both_readings_agree(text)


@given(yaml_texts())
def test_plain_reading_agrees(text: str) -> None:
    """The fastest and the strict."""
    readings.plain_reading_agrees(text)


@given(yaml_texts())
def test_every_reading_is_total(text: str) -> None:
    """All three and the road to them."""
    readings.every_reading_is_total(text)


@given(yaml_texts())
def test_the_tree_is_strictyamls(text: str) -> None:
    """StrictYAML itself, as its own users call it."""
    readings.the_tree_is_strictyamls(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_keep_the_laws(name: str) -> None:
    """Texts that somebody might send on purpose."""
    for law in LAWS:
        law(HOSTILE[name])


@pytest.mark.parametrize("text", ONCE_APART)
def test_texts_that_told_the_readings_apart_do_so_no_more(text: str) -> None:
    """One of every kind that was found."""
    for law in LAWS:
        law(text)


def test_ordinary_metadata_is_read_fast() -> None:
    """The gate is narrow: a colon, a comma or a question mark in its usual place needs no strict reading."""
    assert not is_unsure(ORDINARY)
    assert isinstance(read_fast(ORDINARY), Success)
    readings.both_readings_agree(ORDINARY)


@pytest.mark.parametrize("nest", NESTS)
def test_ten_thousand_levels_are_refused(nest: str) -> None:
    """Long before Python or C runs out of stack."""
    text = NESTS[nest](10_000)
    for reading in (read_fast, read_strict, read_yaml):
        assert isinstance(reading(text), Failure)


@pytest.mark.parametrize("nest", [nest for nest in NESTS if nest != "unclosed"])
@pytest.mark.parametrize("frames", [0, 200])
def test_both_count_levels_alike(nest: str, frames: int) -> None:
    """Fifty are read and one more is not, from a deep stack too."""
    if frames:
        return test_both_count_levels_alike(nest, frames - 1)
    for reading in (read_fast, read_strict):
        assert isinstance(reading(NESTS[nest](MAX_DEPTH)), Success)
        assert isinstance(reading(NESTS[nest](MAX_DEPTH + 1)), Failure)
    return None


def test_many_keys_are_read() -> None:
    """As many as a large file can hold, in their order."""
    keys = [f"k{number}" for number in range(200_000)]
    node = read_yaml("\n".join(f"{key}: [x]" for key in keys)).unwrap()
    assert isinstance(node, Mapping)
    assert list(node.entries) == keys


def test_the_texts_reach_every_reading() -> None:
    """Or the laws would hold for want of trying."""
    reached: Counter[str] = Counter()

    @settings(max_examples=1000, database=None, derandomize=True)
    @given(yaml_texts())
    def gather(text: str) -> None:
        way = "plain" if read_plain(text) else "strict" if is_unsure(text) else "fast"
        match read_yaml(text):
            case Success(node):
                reached.update([f"{way} accepted", *(["nested"] * _nested(node))])
            case _:
                reached.update([f"{way} refused"])

    gather()
    ways = ("plain accepted", "fast accepted", "fast refused", "strict accepted", "strict refused", "nested")
    assert min(reached[way] for way in ways) >= 20, reached


def _nested(node: Node | None) -> bool:
    return isinstance(node, Mapping) and any(isinstance(value, Mapping) and value.entries for value in node.entries.values())
