"""Hypothesis strategies for the texts between the fences: valid metadata, the same a little broken, YAML's marks in any order, any text."""

from __future__ import annotations

import json
from typing import Final, TypeAlias

from hypothesis import strategies as st

from properties.choosing import weighted

_Lines: TypeAlias = tuple[str, ...]
"""A value as it is written: what follows on the key's own line, then the lines that are indented below it."""

_KEYS: Final = (
    *("name", "description", "tools", "output", "allowed-tools", "a_b", "a", "b", "é", "two words"),
    *("404", "null", "x:y", '"q"', "'Q'", "="),
)
_WORDS: Final = (
    *("Use", "this agent", "when", "reviewing,", "it's", "(see", "below)", "a,b", "http://x.y/z?q=1", "é", "🏛️", "50%", "x#y", "404", "null", "~"),
    *("C:\\x", 'say "hi"', "-", "--", "->", "a:b", "::", "?", "why?", "*", "&", "!", "|", ">", "@x", "{x}", "\u00a0", "\u200d", "=", "."),
)
_MARKS: Final = (
    *"ab1-:?,[]{}#&*!|>'\"%@`\n \\~<=.+é",
    *("\n", "\n  ", "\n- ", "\n\n", "\na: ", "\nname: x\n", "\n\n- ", ": ", ":\n", "- ", " #", "# c\n", "a: ", "b: ", "? ", "  ", " :"),
    *('"x"', "'y'", "null", "404", "<<", "[a, b]", "{a: b}", '"a": ', "[", "{", "]", "}", ", "),
    *("|\n ", ">-\n ", ">+\n", "|2\n", "c: |\n  x\n", "---", "...", "\n---\n", "\n...\n", "\\\n", "\\n", "\\x4", "\\u12", "\\ud83d", "\\UFFFFFFFF"),
)
_RARITIES: Final = ("\t", "\r", "\r\n", "\x00", "\x01", "\x7f", "\x85", "\u2028", "\ufeff", "\ud800", "😀", "&a ", "*a", "!!str ", "%YAML 1.1\n---\n")


def yaml_texts() -> st.SearchStrategy[str]:
    """Texts for a reading: about half are valid YAML, the rest is nearly so or not at all."""
    valid = metadata_texts()
    return weighted(plain_texts(), valid, valid, mutated(valid), mutated(plain_texts()), mark_texts(), any_texts())


def any_texts() -> st.SearchStrategy[str]:
    """Any text at all, lone surrogates among them."""
    return st.text(st.characters(exclude_categories=()), max_size=30)


def plain_texts() -> st.SearchStrategy[str]:
    """Lines of key and plain text, as most agent files have them."""
    line = st.tuples(st.sampled_from(_KEYS[:6]), st.sampled_from((": ", ":  ", ":")), _words()).map("".join)
    return st.lists(line, max_size=5).map("\n".join)


def mark_texts() -> st.SearchStrategy[str]:
    """YAML's marks in any order: all of them, or a few of them many times."""
    every = st.lists(st.sampled_from(_MARKS + _RARITIES), max_size=14)
    few = st.lists(st.sampled_from(_MARKS), min_size=2, max_size=8).flatmap(lambda marks: st.lists(st.sampled_from(marks), max_size=24))
    return st.one_of(every, few).map("".join)


@st.composite
def metadata_texts(draw: st.DrawFn) -> str:
    """Metadata, mostly valid: mappings and lists in one another, scalars of every style, comments, blank lines."""
    return "\n".join(_mapping(draw, 0)[1:])


@st.composite
def mutated(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """Texts with up to three places cut out, or with a mark put in."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.sampled_from((0, 0, 1, 3)))
        text = text[:at] + draw(st.sampled_from(_MARKS + _RARITIES)) + text[at + cut :]
    return text


def _words() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5).map(" ".join)


_TEXT: Final = _words() | st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8)
_SAFE: Final = st.sampled_from(("Use", "two words", "a, b", "404", "1.50", "yes", "~", "it's", "C#", "🏛️ x", ""))
_LINE: Final = st.one_of(_words(), st.just(""), _words().map(lambda words: "  " + words))
_HEADER: Final = st.tuples(st.sampled_from("|>"), st.sampled_from(("", "-", "+")), st.sampled_from(("", "", " # why"))).map("".join)
_SCALARS: Final[st.SearchStrategy[_Lines]] = st.one_of(
    _SAFE.map(lambda text: (text,)),
    st.tuples(_SAFE, _SAFE),
    _words().map(lambda text: (text,)),
    _TEXT.map(lambda text: ("'" + text.replace("'", "''") + "'",)),
    st.tuples(_TEXT, st.booleans()).map(lambda drawn: (json.dumps(drawn[0], ensure_ascii=drawn[1]),)),
    st.tuples(_HEADER, st.lists(_LINE, min_size=1, max_size=4)).map(lambda drawn: (drawn[0], *drawn[1])),
)
_NAMES: Final = st.lists(st.sampled_from(_KEYS), min_size=1, max_size=4, unique=True)
_SHAPE: Final = st.sampled_from(("scalar", "scalar", "flow", "mapping", "list"))
_ATOM: Final = st.sampled_from(("Read", "Grep", "a b", '"*"', "'q, r'", "Bash(git *)", "404", "", "http://x", "it's", "why?"))
_GAP: Final = st.sampled_from((", ", ", ", ",", " , ", ",\n    "))
_FLOW_KEYS: Final = st.lists(st.sampled_from(("a", '"b"', "two words", "c-d")), max_size=3, unique=True)
_COLON: Final = st.sampled_from((": ", ": ", ": ", " : ", ":"))
_FEW: Final = st.integers(0, 3)
_AFTER: Final[st.SearchStrategy[_Lines]] = st.sampled_from(((), (), (), (), ("",), ("# a comment",), ("  # an indented one",), ("", "# both", "")))


def _value(draw: st.DrawFn, depth: int) -> _Lines:
    match draw(_SHAPE) if depth < 4 else "scalar":
        case "mapping":
            return _mapping(draw, depth)
        case "list":
            return ("", *(line for _ in range(draw(_FEW) + 1) for line in _item(draw, depth)))
        case "flow":
            return (_flow(draw, depth),)
    return draw(_SCALARS)


def _mapping(draw: st.DrawFn, depth: int) -> _Lines:
    lines = [""]
    for name in draw(_NAMES):
        lines += (*_joined(f"{name}:", _value(draw, depth + 1)), *draw(_AFTER))
    return tuple(lines)


def _item(draw: st.DrawFn, depth: int) -> _Lines:
    """A list's item; a collection may begin on the dash's own line."""
    value = _value(draw, depth + 1)
    if not value[0] and value[1:] and draw(st.booleans()):
        return (f"- {value[1]}", *("  " + line for line in value[2:]))
    return _joined("-", value)


def _joined(head: str, value: _Lines) -> _Lines:
    first = f"{head} {value[0]}" if value[0] else head
    return (first, *("  " + line if line else line for line in value[1:]))


def _flow(draw: st.DrawFn, depth: int) -> str:
    pairs = [key + draw(_COLON) + _flow_value(draw, depth) for key in draw(_FLOW_KEYS)]
    if draw(st.booleans()):
        return "{" + draw(_GAP).join(pairs) + "}"
    return "[" + draw(_GAP).join([*(_flow_value(draw, depth) for _ in range(draw(_FEW))), *pairs[:1]]) + "]"


def _flow_value(draw: st.DrawFn, depth: int) -> str:
    return _flow(draw, depth + 1) if depth < 4 and not draw(_FEW) else draw(_ATOM)
