"""What the grammar is shown of a text: forms on which it loses its way are rewritten, so that they mean the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pipeline.subagent.shell.options import operands
from pipeline.subagent.shell.words import spread

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_ASCII: Final = bytes(range(128)) + b"x" * 128
"""The grammar's scanner asks C's `isalpha` about any character, and crashes on some; to a shell they are all letters of a word."""
_BEGIN: Final = rb"(?:^|[;&|(){`\n]|\b(?:then|do|else|elif|if|while|until)[ \t])[ \t]*"
_NEGATION: Final = re.compile(rb"(?<!\\)" + _BEGIN + rb"(?:![ \t]+)+")
"""A `!` where a command begins: the grammar loses its way when a compound statement follows."""
_COPROCESS: Final = re.compile(rb"(" + _BEGIN + rb")(coproc[ \t]+(?:\w+[ \t]+)?(?=[{(]))")
_BEFORE: Final = re.compile(_BEGIN + rb"\Z")
_GLOB: Final = re.compile(rb"[?*+@!]\([^\s()'\"`$;&]*\)")
_DESCRIPTOR: Final = re.compile(rb"(?<![\w\\$}])\{\w+\}(?=[<>])|(?<=[ \t])0(?=<<)|<(?=>)")
_LONGEST_BEFORE: Final = 50
_DOCUMENT: Final = re.compile(r"""(?<!<)<<-?[ \t]*(\\?[\w.]+|'[^'\n]+'|"[^"\n]+")""")
_SHELL: Final = re.compile(r"\b(\w*sh|eval|source|xargs|parallel)\b|(^|[\s;|&])\.\s")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with the here-documents that begin on it: each one's place, whether it is taken as it is, and its body."""

    text: str
    documents: tuple[tuple[re.Match[str], str], ...] = ()
    ends: tuple[str, ...] = ()


def shown(source: bytes) -> bytes:
    """The bytes that the grammar reads in the place of others, as many: no `!` or `coproc X` before a command, no extended glob, no named descriptor.

    >>> shown(b"! ls !(a|b) {fd}>x 0<<<y; coproc X { a; }")
    b'  ls !xaxbx     >x  <<<y;          { a; }'
    """
    plain = _NEGATION.sub(lambda found: found[0].replace(b"!", b" "), source.translate(_ASCII))
    plain = _COPROCESS.sub(lambda found: found[1] + b" " * len(found[2]), plain)
    return _DESCRIPTOR.sub(lambda found: b" " * len(found[0]), _GLOB.sub(_one_word, plain))


def _one_word(found: re.Match[bytes]) -> bytes:
    before = found.string[max(0, found.start() - _LONGEST_BEFORE) : found.start()]
    begins = found[0].startswith(b"!") and _BEFORE.search(_GLOB.sub(b"x", before))
    return found[0] if begins else re.sub(rb"[()|<>]", b"x", found[0])


def readable(text: str) -> str:
    r"""A text without what is no character, or no part of a text, to a shell; see `one_document_a_line`.

    >>> readable("a\0\ud800")
    'a\ufffd'
    """
    return one_document_a_line(_SURROGATES.sub("\ufffd", text).replace("\0", ""))


def plain_commands(text: str) -> Iterator[tuple[str, ...]]:
    """The commands of a text that does not parse: it is split at whatever ends one, quoted or not.

    >>> list(plain_commands("ls 'a; then rm {x,y}"))
    [('ls', 'a'), ('then', 'rm', 'x', 'y')]
    """
    for piece in re.split(r"[;&|\n()`]+", without_documents(text)):
        words = operands(tuple(each for word in re.sub(r"[\"'\\]", "", piece).split() for each in spread(word)))
        if words:
            yield words


def one_document_a_line(text: str) -> str:
    r"""A text whose lines begin one here-document at most: where there are several, they become here-strings.

    >>> one_document_a_line("cat <<A <<'B'\nx\nA\ny\nB\nls")
    'cat <<< x <<< y\nls'
    """
    return "\n".join(_with_strings(line) if len(line.documents) > 1 else "\n".join((line.text, *line.ends)) for line in _lines(text))


def without_documents(text: str) -> str:
    r"""A text without the here-documents that no shell reads and that run nothing in themselves.

    >>> without_documents("cat <<A\nx\nA\nsh <<A\ny\nA")
    'cat <<A\nsh <<A\ny\nA'
    """
    return "\n".join("\n".join((line.text, *(line.ends if _is_read(line) else ()))) for line in _lines(text))


def _is_read(line: _Line) -> bool:
    return bool(_SHELL.search(line.text)) or any(_runs(found, body) for found, body in line.documents)


def _runs(found: re.Match[str], body: str) -> bool:
    """Whether a here-document runs something in itself: it is not quoted, and has a substitution."""
    return found[1][0] not in "\\'\"" and ("`" in body or "$(" in body)


def _lines(text: str) -> Iterator[_Line]:
    """The lines that stand in no here-document, each with its own. One without an end is none."""
    lines = text.split("\n")
    last = {line.lstrip("\t"): at for at, line in enumerate(lines)}
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        documents, start = [], at
        for found in _DOCUMENT.finditer(line):
            name = found[1].strip("\\'\"")
            if last.get(name, -1) < at:
                break
            end = next(place for place in range(at, len(lines)) if lines[place].lstrip("\t") == name)
            documents.append((found, "\n".join(lines[at:end])))
            at = end + 1
        yield _Line(line, tuple(documents), tuple(lines[start:at]))


def _with_strings(line: _Line) -> str:
    """The line with here-strings; what a body runs in itself follows in a here-document of its own."""
    parts, at = [], 0
    for found, body in line.documents:
        parts += [line.text[at : found.start()], "<<< ", shlex.quote(body)]
        at = found.end()
    running = [f"\n: <<{found[1]}\n{body}\n{found[1]}" for found, body in line.documents if _runs(found, body)]
    return "".join((*parts, line.text[at:], *running))
