"""A simple command as words, and the text of a word as a shell sees it once quotes and escapes are gone; expansions stay as they were written."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_KEPT: Final = 1_000
_MAX_SPREAD: Final = 64
_BRACES: Final = re.compile(r"(?<!\$)\{([^{}]*,[^{}]*|[a-z]\.\.[a-z]|[A-Z]\.\.[A-Z])\}")
_RANGE: Final = re.compile(r"(.)\.\.(.)")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_QUOTED_ESCAPE: Final = re.compile(r'\\([$`"\\\n])')
_BACKQUOTED: Final = re.compile(r"\\.|`((?:\\.|[^`\\])*)`", re.DOTALL)
_BACKQUOTED_ESCAPE: Final = re.compile(r"\\([\\`$])")
_ANSI_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)", re.DOTALL)
_CONTROL: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_EXPANSIONS: Final = frozenset({"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"})


@dataclass(frozen=True, slots=True)
class Words:
    """A simple command: its name unquoted and without its directory, its arguments unquoted, and where its output is redirected to.

    An expansion such as `$x` or `$(ls)` stands in the words as it was written, and then the command is not `certain`. `fed_by` names the commands
    before it in its pipeline, `within` the functions in whose bodies it stands. `appended` are the redirects that only add to a file. A redirect
    of no single command has a record without a name.
    """

    name: str
    arguments: tuple[str, ...] = ()
    certain: bool = True
    redirects: tuple[str, ...] = ()
    fed_by: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    appended: tuple[str, ...] = ()


def raw(source: bytes, start: int, end: int) -> str:
    """The text between two offsets in bytes.

    >>> raw("né x".encode(), 0, 3)
    'né'
    """
    return source[start:end].decode("utf-8", "replace")


def word_text(node: Node, source: bytes) -> tuple[str, bool]:
    """The text of a word's node, and whether it is certain: without an expansion. Of a long expansion the first 1,000 bytes are kept."""
    start, end = node.start_byte, node.end_byte
    match node.type:
        case "command_name" | "translated_string":
            return _joined(node.named_children, source)
        case "concatenation":
            return _joined(node.children, source)
        case "raw_string":
            return raw(source, start + 1, end - 1), True
        case "ansi_c_string":
            return ansi(raw(source, start + 2, end - 1)), True
        case "string":
            return _string(node, source)
        case kind if kind in _EXPANSIONS:
            return raw(source, start, min(end, start + MAX_KEPT)), False
        case "variable_assignment":
            text = raw(source, start, min(end, start + MAX_KEPT))
            return text, "$" not in text and "`" not in text
        case _:
            return unescaped(raw(source, start, end)), True


def _joined(parts: list[Node], source: bytes) -> tuple[str, bool]:
    texts = [word_text(part, source) for part in parts]
    return "".join(text for text, _ in texts), all(certain for _, certain in texts)


def _string(node: Node, source: bytes) -> tuple[str, bool]:
    """A double-quoted text. What lies between its expansions is read from the source: the tree leaves out spaces there."""
    texts, at = [], node.start_byte + 1
    expansions = [child for child in node.named_children if child.type in _EXPANSIONS]
    for each in expansions:
        texts += [unescaped(raw(source, at, each.start_byte), _QUOTED_ESCAPE), word_text(each, source)[0]]
        at = each.end_byte
    texts.append(unescaped(raw(source, at, node.end_byte - 1), _QUOTED_ESCAPE))
    return "".join(texts), not expansions


def unescaped(text: str, escape: re.Pattern[str] = _ESCAPE) -> str:
    r"""A text without its backslashes; an escaped end of a line is nothing.

    >>> unescaped(r"a\ \b")
    'a b'
    """
    return escape.sub(lambda found: found[1].removeprefix("\n"), text)


def backquoted(text: str) -> list[str]:
    r"""The texts in backquotes, without the backslashes that are meant for these.

    >>> backquoted(r"a `b \`c\`` \` `d`")
    ['b `c`', 'd']
    """
    return [unescaped(found[1], _BACKQUOTED_ESCAPE) for found in _BACKQUOTED.finditer(text) if found[1]]


def ansi(text: str) -> str:
    r"""What stands in `$'...'`; like the shell, to the first NUL.

    >>> ansi(r"r\x6d\tx\0y")
    'rm\tx'
    """
    return _ANSI_ESCAPE.sub(lambda found: _ansi_character(found[1]), text).split("\0", 1)[0]


def _ansi_character(code: str) -> str:
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
    elif code[0] in "01234567":
        number = int(code, 8)
    else:
        return _CONTROL.get(code, code)
    return chr(number) if number <= sys.maxunicode else "\ufffd"


def has_braces(node: Node) -> bool:
    """Whether a word has a brace outside quotes, so that it may stand for several words."""
    if node.type == "command_name":
        return any(has_braces(child) for child in node.named_children)
    return node.type == "concatenation" and any(child.type == "word" and child.end_byte - child.start_byte == 1 for child in node.children)


def spread(word: str) -> tuple[str, ...]:
    """The words that `{a,b}` and `{a..z}` stand for, 64 at most; a word of more than 1,000 characters is left as it is.

    >>> spread("/{etc,usr}/x")
    ('/etc/x', '/usr/x')
    """
    words = [word]
    at = 0
    while at < len(words) < _MAX_SPREAD:
        found = _BRACES.search(words[at]) if len(words[at]) <= MAX_KEPT else None
        if found is None:
            at += 1
        else:
            head, tail = words[at][: found.start()], words[at][found.end() :]
            words[at : at + 1] = [f"{head}{each}{tail}" for each in _between(found[1])]
    return tuple(words)


def _between(text: str) -> list[str]:
    if ends := _RANGE.fullmatch(text):
        first, last = sorted(map(ord, ends.groups()))
        return [chr(code) for code in range(first, last + 1)]
    return text.split(",", _MAX_SPREAD)


def bare_name(word: str) -> str:
    """A command's word without its directory; whole where it holds a substitution.

    >>> bare_name("/bin/rm"), bare_name("$(curl http://x)")
    ('rm', '$(curl http://x)')
    """
    return word if "$(" in word or "`" in word or "<(" in word else word.rsplit("/", 1)[-1]
