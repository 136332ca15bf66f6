"""The readings of YAML: whichever of them a text meets, it means the same."""

from __future__ import annotations

from typing import Any, Final

import strictyaml
from returns.result import Failure, Result, Success

from pipeline.frontmatter.fast import is_unsure, read_fast
from pipeline.frontmatter.plain import read_plain
from pipeline.frontmatter.readings import MAX_UNSURE, read_yaml
from pipeline.frontmatter.strict import read_strict
from pipeline.frontmatter.tree import MAX_DEPTH, Mapping, Node, NotReadable, Scalar

_REFUSED: Final = "refused"
_ON_PURPOSE: Final = (
    "merge keys are not allowed",
    "a key is missing",
    "a key must be text",
    "an escape names half a character (a surrogate)",
    f"nested deeper than {MAX_DEPTH} levels",
)


def both_readings_agree(text: str) -> None:
    """Where libyaml may be asked at all, it and StrictYAML give one tree or both refuse; so the one road gives what StrictYAML gives."""
    strict = _tree(read_strict(text))
    assert is_unsure(text) or _tree(read_fast(text)) == strict
    assert _tree(read_yaml(text)) == (strict if len(text) <= MAX_UNSURE or not is_unsure(text) else _REFUSED)


def plain_reading_agrees(text: str) -> None:
    """What the plain reading is sure of, StrictYAML reads the same."""
    plain = read_plain(text)
    assert plain is None or repr(plain) == _tree(read_strict(text))


def every_reading_is_total(text: str) -> None:
    """Every reading gives a tree or a reason with a place in the text, and never raises."""
    read_plain(text)
    for reading in (read_fast, read_strict, read_yaml):
        match reading(text):
            case Failure(NotReadable(line, column, reason)):
                assert 1 <= line <= len(text.splitlines()) + 1
                assert column >= 1
                assert reason


def the_tree_is_strictyamls(text: str) -> None:
    """Where `strictyaml.dirty_load` gives a mapping or a list, our tree says the same in text.

    Refused on purpose: merge keys, keys that are missing or no text, escapes of surrogates, and more than 50 levels. A bare `=`, which it hands
    out as an object of its parser's, is text to us.
    """
    try:
        data = strictyaml.dirty_load(text, allow_flow_style=True).data
    except Exception:  # it raises what it likes on texts that it does not take
        return
    if isinstance(data, dict | list):
        match read_strict(text):
            case Failure(refusal):
                assert refusal.reason in _ON_PURPOSE
            case read:
                assert _data(read.unwrap()) == _in_text(data)


def _tree(result: Result[Node | None, NotReadable]) -> str:
    """A tree to the letter, the order of its keys too."""
    return repr(result.unwrap()) if isinstance(result, Success) else _REFUSED


def _in_text(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _in_text(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_in_text(item) for item in data]
    return getattr(data, "value", data)


def _data(node: Node | None) -> Any:
    match node:
        case Mapping(entries):
            return {key: _data(value) for key, value in entries.items()}
        case Scalar(text):
            return text
        case None:
            return None
    return [_data(item) for item in node.items]
