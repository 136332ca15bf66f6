"""An agent file's text to its definition: a `Result` with every problem of the file, and the warnings beside it."""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Callable, Iterator
from typing import Final, Generic, Literal, NamedTuple, TypeVar

from returns.result import Failure, Result, Success

from pipeline.agent import ANY, SUBMIT_RESULT, TASK, THINKING_LEVELS, AgentDefinition, AnyAgent, Source, Spawns, ThinkingLevel
from pipeline.frontmatter.core import is_null, kind
from pipeline.frontmatter.fences import BLANKS
from pipeline.frontmatter.keys import nearest
from pipeline.frontmatter.tree import Mapping, Node, Scalar, Sequence
from pipeline.hosts import STANDARD, Host, Reading
from pipeline.metadata import Locator, Metadata, read_metadata
from pipeline.problem import EveryToolAllowed, IgnoredValue, Invalid, MissingField, OddName, UnknownKey, Warned

_Value = TypeVar("_Value")


class Verdict(NamedTuple, Generic[_Value]):
    """What one text comes to: a definition or all that is wrong with it, and the warnings either way.

    `claimed` is the name it asks for, as far as it can be told; a broken file has one too.
    """

    result: Result[_Value, tuple[Invalid, ...]]
    warnings: tuple[Warned, ...] = ()
    claimed: str | None = None


def parse_agent(text: str, path: str, source: Source, *, host: Host = STANDARD) -> Result[AgentDefinition, tuple[Invalid, ...]]:
    r"""The definition that a text holds, or everything that makes it invalid; `read_agent` gives the warnings too.

    >>> parse_agent("---\nname: a\ndescription: b\n---\nGo.", "/a.md", "user").unwrap().system_prompt
    'Go.'
    >>> parse_agent("---\nname: a\n---", "/a.md", "user").failure()
    (MissingField(path='/a.md', line=1, column=1, field='description', found='nothing'),)
    """
    return read_agent(text, path, source, host=host).result


def read_agent(text: str, path: str, source: Source, *, host: Host = STANDARD) -> Verdict[AgentDefinition]:
    r"""The verdict on a text: its definition or what makes it invalid, with its warnings; total.

    >>> [type(warning).__name__ for warning in read_agent("---\nname: a\ndescription: b: c\n---", "/a.md", "user").warnings]
    ['NotYaml']
    """
    metadata = read_metadata(text, path, host.reading)
    if not isinstance(metadata, Metadata):
        return Verdict(Failure((metadata,)))
    return define(metadata, source, host.reading)


def define(metadata: Metadata, source: Source, reading: Reading) -> Verdict[AgentDefinition]:
    """The verdict on metadata that could be read."""
    fields = metadata.fields
    name, description = _given(fields.get("name"), reading.text), _given(fields.get("description"), reading.text)
    tools = _tools(fields.get("tools"), reading)
    warnings = metadata.warnings if _tame(fields, name, tools) else (*metadata.warnings, *_warnings(metadata, reading, name, tools))
    if name is None or description is None:
        return Verdict(Failure(tuple(_missing(metadata, name, description))), warnings, name)
    definition = AgentDefinition(
        name,
        description,
        metadata.split.body,
        source,
        metadata.path,
        tools,
        _spawns(fields.get("spawns"), tools, reading),
        _given(fields.get("model"), reading.model),
        _thinking(fields),
        _given(fields.get("output"), reading.output),
        _blocking(fields.get("blocking")),
    )
    return Verdict(Success(definition), warnings, name)


_TAME_FIELDS: Final = frozenset({"name", "description", "tools", "model", "color", "output"})
_TAME_NAME: Final = re.compile(r"[\w-]+")


def _tame(fields: abc.Mapping[str, Node], name: str | None, tools: tuple[str, ...] | None) -> bool:
    """Whether nothing in the fields can be worth a warning: a cheap look that spares most files the careful one."""
    usual = fields.keys() <= _TAME_FIELDS and (tools is not None or "tools" not in fields)
    return usual and (name is None or _TAME_NAME.fullmatch(name) is not None)


def _given(node: Node | None, read: Callable[[Node], _Value]) -> _Value | None:
    return None if node is None else read(node)


def _tools(node: Node | None, reading: Reading) -> tuple[str, ...] | None:
    names = None if node is None else reading.tools(node)
    if names is None:
        return None
    lowered = tuple(map(str.lower, names))
    return lowered if SUBMIT_RESULT in lowered else (*lowered, SUBMIT_RESULT)


def _spawns(node: Node | None, tools: tuple[str, ...] | None, reading: Reading) -> Spawns | None:
    said = None if node is None else reading.spawns(node)
    if said is None and tools is not None and TASK in tools:
        return AnyAgent()
    return said


def _thinking(fields: abc.Mapping[str, Node]) -> ThinkingLevel | None:
    if "thinkingLevel" not in fields and "thinking" not in fields:
        return None
    node = _thinking_field(fields)[1]
    text = node.text if isinstance(node, Scalar) else None
    return next((level for level in THINKING_LEVELS if level == text), None)


def _thinking_field(fields: abc.Mapping[str, Node]) -> tuple[str, Node | None]:
    """`thinkingLevel`, else `thinking`: the one that says something."""
    first = fields.get("thinkingLevel")
    return ("thinking", fields.get("thinking")) if first is None or is_null(first) else ("thinkingLevel", first)


_BOOLEANS: Final = {"true": True, "false": False}


def _blocking(node: Node | None) -> bool | None:
    return _BOOLEANS.get(node.text.lower()) if isinstance(node, Scalar) else None


def _missing(metadata: Metadata, name: str | None, description: str | None) -> Iterator[Invalid]:
    for field, text in (("name", name), ("description", description)):
        if text is None:
            node = metadata.fields.get(field)
            line, column = (1, 1) if node is None else Locator(metadata).at(field)
            yield MissingField(path=metadata.path, line=line, column=column, field=field, found="nothing" if node is None else kind(node))


def _warnings(metadata: Metadata, reading: Reading, name: str | None, tools: tuple[str, ...] | None) -> Iterator[Warned]:
    fields = metadata.fields
    if not fields.keys() <= reading.known_keys:
        yield from _unknown(metadata, reading)
    if tools is None and "tools" in fields:
        yield from _every_tool(metadata, fields["tools"])
    field, node = _thinking_field(fields)
    if node is not None and not is_null(node) and _thinking(fields) is None:
        yield _ignored(metadata, field, node, THINKING_LEVELS)
    blocking = fields.get("blocking")
    if blocking is not None and not is_null(blocking) and _blocking(blocking) is None:
        yield _ignored(metadata, "blocking", blocking, tuple(_BOOLEANS))
    if name is not None:
        yield from _odd(metadata, name)


def _unknown(metadata: Metadata, reading: Reading) -> Iterator[Warned]:
    known = reading.known_keys | reading.foreign_keys
    locator = Locator(metadata)
    for key in sorted(metadata.fields.keys() - known):
        near = nearest(key, known)
        if near:
            line, column = locator.at(key)
            yield UnknownKey(path=metadata.path, line=line, column=column, key=metadata.written.get(key, key), near=near)


def _every_tool(metadata: Metadata, node: Node) -> Iterator[Warned]:
    if (isinstance(node, Scalar) and ANY in node.text) or (isinstance(node, Sequence) and Scalar(ANY, False) in node.items):
        return
    line, column = Locator(metadata).at("tools")
    yield EveryToolAllowed(path=metadata.path, line=line, column=column, found=kind(node))


def _ignored(metadata: Metadata, field: str, node: Node, allowed: tuple[str, ...]) -> Warned:
    line, column = Locator(metadata).at(field)
    found = node.text if isinstance(node, Scalar) else "a mapping" if isinstance(node, Mapping) else "a list"
    return IgnoredValue(path=metadata.path, line=line, column=column, field=metadata.written.get(field, field), found=found, allowed=allowed)


_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


def _odd(metadata: Metadata, name: str) -> Iterator[Warned]:
    why = _oddness(name)
    if why is not None:
        line, column = Locator(metadata).at("name")
        yield OddName(path=metadata.path, line=line, column=column, name=name, why=why)


def _oddness(name: str) -> Literal["comma", "control character", "blank at an end"] | None:
    if "," in name:
        return "comma"
    if _CONTROL.search(name):
        return "control character"
    return "blank at an end" if name.strip(BLANKS) != name else None
