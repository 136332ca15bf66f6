"""What a shell command would run, by its parsed words: nothing is run, looked up or expanded here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from pipeline.subagent.shell.grammar import (
    Command,
    Redirect,
    continued,
    given,
    names_in,
    parsed,
    said,
    said_within,
    simple,
    stage_command,
    targets,
    unread_texts,
)
from pipeline.subagent.shell.shown import plain_commands, readable
from pipeline.subagent.shell.words import Words, bare_name, raw
from pipeline.subagent.shell.wrappers import Inner, run_by

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LENGTH: Final = 100_000
MAX_DEPTH: Final = 12
MAX_READ: Final = 4 * MAX_LENGTH
_MAX_NAMES: Final = 16
_COST: Final = 16
"""What a command costs besides its length: many short ones are no less work."""
_CARRIERS: Final = frozenset(
    {"list", "subshell", "compound_statement", "negated_command", "do_group", "while_statement", "if_statement", "process_substitution"}
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text holds: its commands in order, and why it could not be read to its end, if it could not."""

    commands: tuple[Words, ...]
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something stands: `fed` is the known text on its standard input, `depth` how many texts and wrappers it is wrapped in."""

    source: bytes = b""
    depth: int = 0
    certain: bool = True
    fed: str | None = None
    fed_by: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    within: tuple[str, ...] = ()

    def inside(self) -> _Place:
        return replace(self, fed=None, fed_by=(), redirects=()) if self.fed is not None or self.fed_by or self.redirects else self


@dataclass(frozen=True, slots=True)
class _Unread:
    cause: str


@dataclass(frozen=True, slots=True)
class _Item:
    what: Node | Inner
    place: _Place = field(default_factory=_Place)


_Found: TypeAlias = "Words | _Item | _Unread"


def commands_in(text: str) -> tuple[Words, ...]:
    """Every simple command of a shell text, in order, and what they run in their turn right behind them.

    Looked into are pipelines, lists, substitutions, bodies of every kind, wrappers such as `sudo` and `find -exec`, and texts that a shell is
    given by `-c`, `eval`, a here-document or a pipe. Values of variables are not followed.

    >>> [(each.name, each.arguments) for each in commands_in("sudo /bin/rm -r 'a b' && ls")]
    [('sudo', ('/bin/rm', '-r', 'a b')), ('rm', ('-r', 'a b')), ('ls', ())]
    >>> [each.name for each in commands_in("echo $(date); bash -c 'make all'")]
    ['echo', 'date', 'bash', 'make']
    """
    return reading(text).commands


def reading(text: str) -> Reading:
    """The commands of a text and what of it was left unread: it is too long, nested too deep, or too tangled to be parsed in a second.

    A text with errors gives the commands of its sound parts and, besides, those of a plain split into words.

    >>> reading("ls").unread
    >>> reading("x" * 200_000).unread
    'the text is longer than 100000 characters'
    """
    found: list[Words] = []
    unread: list[str] = []
    stack: list[_Item] = [_Item(text)]
    left = MAX_READ
    while stack and left >= 0:
        following: list[_Item] = []
        for each in _found(stack.pop()):
            match each:
                case Words():
                    found.append(each)
                case _Unread(cause):
                    unread.append(cause)
                case _:
                    following.append(each)
                    left -= _cost(each.what)
            if left < 0:
                break
        stack.extend(reversed(following))
    if left < 0:
        unread.append("the text runs too much text in its turn")
    return Reading(tuple(found), next(iter(unread), None))


def _cost(what: Node | Inner) -> int:
    match what:
        case str():
            return len(what)
        case tuple():
            return _COST + sum(len(word) + 1 for word in what)
    return 0


def _found(item: _Item) -> Iterator[_Found]:
    what, place = item.what, item.place
    if place.depth > MAX_DEPTH:
        yield _Unread(f"commands are wrapped in more than {MAX_DEPTH} others")
    elif isinstance(what, str):
        yield from _of_text(what, place)
    elif isinstance(what, tuple):
        yield from _of_command(Command(what, place.certain, (), place.fed), place)
    else:
        yield from _of_node(what, place)


def _of_text(text: str, place: _Place) -> Iterator[_Found]:
    if len(text) > MAX_LENGTH:
        yield _Unread(f"the text is longer than {MAX_LENGTH} characters")
        return
    clean = readable(text)
    source = clean.encode()
    root = parsed(source)
    if root is None:
        yield _Unread("the text is too tangled to be parsed")
        return
    yield _Item(root, replace(place.inside(), source=source))
    if root.has_error:
        for words in plain_commands(clean):
            yield from _of_command(Command(words, certain=False), place.inside())


def _of_node(node: Node, place: _Place) -> Iterator[_Found]:
    unread = unread_texts(node, place.source)
    yield from (_Item(text, replace(place.inside(), depth=place.depth + 1)) for text in unread)
    if unread and node.type == "command_substitution":
        return
    match node.type:
        case "command" | "declaration_command" | "unset_command":
            yield from _of_simple(node, place)
        case "redirected_statement":
            yield from _of_redirected(node, place)
        case "pipeline":
            yield from _of_pipeline(node.named_children, place)
        case "function_definition":
            yield from _of_function(node, place)
        case kind if kind in _CARRIERS:
            yield from _of_carrier(node.named_children, place)
        case _:
            yield from _children(node, place)


def _children(node: Node, place: _Place) -> Iterator[_Found]:
    for child in node.named_children:
        yield _Item(child, place.inside())


def _of_simple(node: Node, place: _Place) -> Iterator[_Found]:
    """A command; `<(...)` is a text that it may read, and what it writes is the input of `>(...)`."""
    files = [child for child in node.named_children if child.type == "process_substitution"]
    command = simple(node, place.source, place.fed)
    given_ones = (command.fed, said_within((each for each in files if each.children[0].type == "<("), place.source))
    command = replace(command, fed="\n".join(text for text in given_ones if text is not None) if any(given_ones) else command.fed)
    yield from _of_command(command, place)
    fed_by = (*place.fed_by, *((bare_name(command.texts[0]),) if command.texts else ()))[-_MAX_NAMES:]
    for child in node.named_children:
        inner = place.inside()
        yield _Item(child, replace(inner, fed=said(command), fed_by=fed_by) if child in files and child.children[0].type == ">(" else inner)


def _of_carrier(children: list[Node], place: _Place) -> Iterator[_Found]:
    """What a list or a compound statement hands on: its input to all, a known text to the first and the last, its redirects to the last."""
    for at, child in enumerate(children):
        last = at == len(children) - 1
        fed = place.fed if last or at == 0 else None
        yield _Item(child, replace(place, fed=fed, redirects=place.redirects if last else ()))


def _of_command(command: Command, place: _Place) -> Iterator[_Found]:
    redirects = (*place.redirects, *command.redirects)
    if not command.texts:
        if redirects:
            yield _words("", (), place, redirects)
        return
    name, arguments = bare_name(command.texts[0]), command.texts[1:]
    place = replace(place, certain=place.certain and command.certain)
    yield _words(name, arguments, place, redirects)
    inner = replace(place, depth=place.depth + 1, fed=command.fed, redirects=())
    for each in run_by(name, arguments, command.fed):
        yield _Item(each, inner)


def _words(name: str, arguments: tuple[str, ...], place: _Place, redirects: tuple[Redirect, ...]) -> Words:
    appended = tuple(each.path for each in redirects if each.appends)
    return Words(name, arguments, place.certain, tuple(each.path for each in redirects), place.fed_by, place.within, appended)


def _of_redirected(node: Node, place: _Place) -> Iterator[_Found]:
    redirects = [child for child in node.named_children if child.type.endswith("_redirect")]
    body = [child for child in node.named_children if not child.type.endswith("_redirect")]
    source = place.source
    read_from = [part for each in redirects for part in _substituted(each, "<")]
    texts = (*(given(each, source) for each in redirects), said_within(read_from, source))
    fed_by = (name for part in read_from for name in names_in(part, Command(()), source))
    inner = replace(
        place,
        fed=next((text for text in texts if text is not None), place.fed),
        fed_by=(*place.fed_by, *fed_by),
        redirects=(*place.redirects, *targets(node, source)),
    )
    if body[:1] and body[0].type in ("command", "pipeline", "list"):
        yield from _of_pipeline([*body, *continued(redirects)], inner)
    else:
        yield from _of_command(Command(()), inner)
        yield from _of_pipeline([*body, *continued(redirects)], replace(inner, redirects=()))
    for each in redirects:
        yield from _of_redirect(each, body, inner)


def _of_redirect(redirect: Node, body: list[Node], place: _Place) -> Iterator[_Found]:
    """What stands in a redirect; `> >(...)` is fed what the command writes."""
    for child in _substituted(redirect, ">"):
        names = tuple(name for stage in body for name in names_in(stage, stage_command(stage, place.source, None), place.source))
        yield _Item(child, replace(place.inside(), fed=said_within(body, place.source), fed_by=(*place.fed_by, *names)[-_MAX_NAMES:]))
        return
    for child in redirect.named_children:
        if child.type != "pipeline":
            yield _Item(child, place.inside())


def _substituted(redirect: Node, operator: str) -> list[Node]:
    """The process substitutions that are read from or written to: `< <(...)`, `> >(...)`."""
    joined = any(part.type == operator for part in redirect.children)
    return [part for part in redirect.named_children if joined and part.type == "process_substitution"]


def _of_pipeline(stages: list[Node], place: _Place) -> Iterator[_Found]:
    fed, fed_by = place.fed, place.fed_by
    for at, stage in enumerate(stages):
        last = at == len(stages) - 1
        yield _Item(stage, replace(place, fed=place.fed if last and fed is None else fed, fed_by=fed_by, redirects=place.redirects if last else ()))
        if not last:
            command = stage_command(stage, place.source, fed)
            fed = said(command) if command.texts else said_within((stage,), place.source)
            fed_by = tuple(dict.fromkeys((*fed_by, *names_in(stage, command, place.source))))[-_MAX_NAMES:]


def _of_function(node: Node, place: _Place) -> Iterator[_Found]:
    """The body of a function, and what a redirect behind it writes to."""
    name = node.child_by_field_name("name")
    within = (*place.within, *((raw(place.source, name.start_byte, name.end_byte),) if name else ()))[-_MAX_NAMES:]
    yield from _of_command(Command((), redirects=tuple(targets(node, place.source))), place.inside())
    yield from _children(node, replace(place, within=within))
