"""The parts of a shell text's tree: its parse under limits, the words of a simple command, redirects, and what a command writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile
from time import thread_time
from typing import TYPE_CHECKING, Final

from pipeline.subagent.shell.shown import shown
from pipeline.subagent.shell.words import backquoted, bare_name, has_braces, raw, spread, unescaped, word_text
from pipeline.subagent.shell.wrappers import run_by

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MAX_PIPES: Final = 1_000
MAX_SECONDS: Final = 1.0
_MAX_INNER: Final = 12
_MAX_SEARCHED: Final = 200
_UNREAD: Final = frozenset({"heredoc_body", "command_substitution"})
_SUBSTITUTED: Final = re.compile(r"\$\((.*)\)", re.DOTALL)
_NO_GAP: Final = re.compile(rb"(\\.)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Redirect:
    """A file that is written to, and whether what it holds is kept."""

    path: str
    appends: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """The words of a command before they are a record."""

    texts: tuple[str, ...]
    certain: bool = True
    redirects: tuple[Redirect, ...] = ()
    fed: str | None = None


def parsed(source: bytes) -> Node | None:
    """The tree of a text; None where it would take more than a second of work: recovery from errors is quadratic, after many pipes in memory too."""
    from tree_sitter import Parser  # noqa: PLC0415 - an extra: only whoever judges commands needs it

    if source.count(b"|") > MAX_PIPES:
        return None
    end, text = thread_time() + MAX_SECONDS, shown(source)

    def read(offset: int, _: object) -> bytes:
        return text[offset : offset + 4096]

    try:
        return Parser(_bash()).parse(read, encoding="utf8", progress_callback=lambda *_: thread_time() > end).root_node
    except ValueError:
        return None


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


def targets(node: Node, source: bytes) -> Iterator[Redirect]:
    """The files that a node's own redirects write to."""
    for child in node.named_children:
        operators = [part.type for part in child.children if not part.is_named]
        if child.type == "heredoc_redirect":
            yield from targets(child, source)
        elif child.type == "file_redirect" and any(">" in each for each in operators):
            yield Redirect(word_text(child.children[-1], source)[0], any(">>" in each for each in operators))


def given(redirect: Node, source: bytes) -> str | None:
    """The text that a here-document or here-string puts on the standard input."""
    found = next((child for child in redirect.named_children if child.type == "heredoc_body"), None)
    if found is not None:
        return raw(source, found.start_byte, found.end_byte)
    return word_text(redirect.children[-1], source)[0] if redirect.type == "herestring_redirect" else None


def unread_texts(node: Node, source: bytes) -> list[str]:
    """What is run in a node where the grammar does not look: in backquotes with escapes, in a here-document's, in the parts of an expansion."""
    text = raw(source, node.start_byte, node.end_byte) if node.type in _UNREAD and source.find(b"`", node.start_byte, node.end_byte) >= 0 else ""
    match node.type:
        case "command_substitution" if text.startswith("`"):
            return backquoted(text) if "\\" in text else []
        case "heredoc_body" if text and node.parent is not None:
            as_it_is = any(each.type == "heredoc_start" and source[each.start_byte] in b"\\'\"" for each in node.parent.named_children)
            return [] if as_it_is else backquoted(text)
        case "expansion":
            words = [raw(source, each.start_byte, each.end_byte) for each in node.named_children if each.type in ("word", "regex")]
            whole = raw(source, node.start_byte, node.end_byte) if any("`" in word or "$(" in word for word in words) else ""
            return [*backquoted(whole), *_SUBSTITUTED.findall(whole)]
    return []


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
            return _escaped(" ".join(dropwhile(re.compile("-[neE]+").fullmatch, words)))
        case ("printf", form, *words):
            coming = iter(words)
            text = re.sub("%[sbq]", lambda _: next(coming, ""), form)
            return _escaped(" ".join((text, *coming)))
        case ("cat" | "tee", *_):
            return command.fed
    return None


def _escaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\0", "\0")


def said_within(nodes: Iterable[Node], source: bytes) -> str | None:
    """What the simple commands in some nodes write, as far as it is known."""
    found = list(nodes)
    texts = []
    for node in found:
        command = stage_command(node, source, None)
        if command.texts:
            texts.append(said(command))
        else:
            found += node.named_children[: max(0, _MAX_SEARCHED - len(found))]
    known = [text for text in texts if text is not None]
    return "\n".join(known) if known else None


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
