"""The parts of a shell text's tree: its parse under limits, the words of a simple command, redirects, and what a command writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile
from time import thread_time
from typing import TYPE_CHECKING, Final

from pipeline.subagent.shell.words import bare_name, has_braces, raw, spread, unescaped, word_text
from pipeline.subagent.shell.wrappers import run_by

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MAX_PIPES: Final = 1_000
MAX_SECONDS: Final = 1.0
_ASCII: Final = bytes(range(128)) + b"x" * 128
"""The grammar's scanner asks C's `isalpha` about any character, and crashes on some; to a shell they are all letters of a word."""
_NEGATION: Final = re.compile(rb"(?<!\\)(?:^|[;&|(){`\n]|\b(?:then|do|else|elif|if|while|until)[ \t])[ \t]*(?:![ \t]+)+")
"""A `!` where a command begins: the grammar loses its way when a compound statement follows."""
_MAX_INNER: Final = 12
_MAX_SEARCHED: Final = 200
_NO_GAP: Final = re.compile(rb"(\\.)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """The words of a command before they are a record."""

    texts: tuple[str, ...]
    certain: bool = True
    redirects: tuple[str, ...] = ()
    fed: str | None = None


def parsed(source: bytes) -> Node | None:
    """The tree of a text; None where it would take more than a second of work: recovery from errors is quadratic, after many pipes in memory too."""
    from tree_sitter import Parser  # noqa: PLC0415 - an extra: only whoever judges commands needs it

    if source.count(b"|") > MAX_PIPES:
        return None
    end, shown = thread_time() + MAX_SECONDS, _NEGATION.sub(_blank, source.translate(_ASCII))

    def read(offset: int, _: object) -> bytes:
        return shown[offset : offset + 4096]

    try:
        return Parser(_bash()).parse(read, encoding="utf8", progress_callback=lambda *_: thread_time() > end).root_node
    except ValueError:
        return None


def _blank(found: re.Match[bytes]) -> bytes:
    return found[0].replace(b"!", b" ")


@cache
def _bash() -> Language:
    import tree_sitter_bash  # noqa: PLC0415 - as above
    from tree_sitter import Language  # noqa: PLC0415 - as above

    return Language(tree_sitter_bash.language())


def simple(node: Node, source: bytes, fed: str | None) -> Command:
    """The words of a simple command. Those with nothing but escapes between them are one, which the grammar sometimes misses."""
    texts: list[str] = []
    certain, end = True, -1
    for child in node.children:
        if child.type == "variable_assignment" and node.type == "command":
            continue
        if child.type.endswith("_redirect"):
            fed = given(child, source) or fed
            continue
        text, sure = word_text(child, source)
        if end >= 0 and _NO_GAP.fullmatch(source, end, child.start_byte):
            texts[-1] += unescaped(raw(source, end, child.start_byte)) + text
        else:
            texts += spread(text) if has_braces(child) else (text,)
        certain, end = certain and sure, child.end_byte
    return Command(tuple(texts), certain, tuple(targets(node, source)), fed)


def targets(node: Node, source: bytes) -> Iterator[str]:
    """The files that a node's own redirects write to."""
    for child in node.named_children:
        if child.type == "heredoc_redirect":
            yield from targets(child, source)
        elif child.type == "file_redirect" and any(">" in part.type for part in child.children if not part.is_named):
            yield word_text(child.children[-1], source)[0]


def given(redirect: Node, source: bytes) -> str | None:
    """The text that a here-document or here-string puts on the standard input."""
    found = next((child for child in redirect.named_children if child.type == "heredoc_body"), None)
    if found is not None:
        return raw(source, found.start_byte, found.end_byte)
    return word_text(redirect.children[-1], source)[0] if redirect.type == "herestring_redirect" else None


def continued(redirects: list[Node]) -> Iterator[Node]:
    """The stages that follow a here-document's start on its line: the tree has them inside the redirect."""
    for each in redirects:
        for child in each.named_children:
            if child.type == "pipeline":
                yield from child.named_children


def stage_command(stage: Node, source: bytes, fed: str | None) -> Command:
    """The simple command that a stage of a pipeline is; without words where it is none."""
    while stage.type in ("redirected_statement", "negated_command") and stage.named_children:
        stage, *redirects = stage.named_children
        fed = next((text for each in redirects if (text := given(each, source)) is not None), fed)
    return simple(stage, source, fed) if stage.type == "command" else Command(())


def said(command: Command) -> str | None:
    """What a command writes, where that is known: an echo, a printf, or a cat that hands its input on."""
    match command.texts:
        case ("echo", *words):
            return " ".join(dropwhile(re.compile("-[neE]+").fullmatch, words)).replace("\\n", "\n")
        case ("printf", form, *words):
            coming = iter(words)
            text = re.sub("%[sbq]", lambda _: next(coming, ""), form)
            return " ".join((text, *coming)).replace("\\n", "\n")
        case ("cat" | "tee", *_):
            return command.fed
    return None


def names_in(stage: Node, command: Command, source: bytes) -> Iterator[str]:
    """The names of the commands in a stage: of a simple one and what it runs in its turn, or of the first ones in a compound one."""
    words = command.texts
    for _ in range(_MAX_INNER if words else 0):
        yield bare_name(words[0])
        words = next((each for each in run_by(bare_name(words[0]), words[1:]) if isinstance(each, tuple)), ())
        if not words:
            return
    found = [stage]
    for node in found if not command.texts else ():
        if node.type == "command_name":
            yield bare_name(word_text(node, source)[0])
        found += node.named_children[: max(0, _MAX_SEARCHED - len(found))]
