"""Scripts as JSON: a list of replies, each a text or an object."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Final, NoReturn, cast, get_args

from returns.result import Failure, Result, Success

from pipeline.frozen import JsonObject, freeze
from pipeline.request import is_count
from pipeline.subagent.messages import Reply, StopReason, Text, ToolUse, Usage
from pipeline.subagent.models.scripted import Line

_STOPS: Final[tuple[str, ...]] = get_args(StopReason)
_KEYS: Final = ("text", "tools", "says", "system", "stop_reason", "usage")
_BEGIN: Final = re.compile(r'\A\s*\[\s*|"replies"\s*:\s*\[\s*')
_USAGE: Final = tuple([each.name for each in fields(Usage)])


class BadScriptError(ValueError):
    """A script that cannot be said: where in it, what is wrong, what it should be."""


def parse_script(text: str) -> Result[tuple[Line, ...], BadScriptError]:
    """The lines of a script in JSON: a list of replies, in `{"replies": [...]}` or by itself.

    A reply is a text, or an object with `text`, `tools` (a list of `{"name": ..., "input": {...}}`, `id` if it matters), `says` and `system`
    (what the last message and the system prompt must hold for it), `stop_reason`, `usage`.

    >>> parse_script('["Done."]').unwrap()[0].reply.text
    'Done.'
    >>> str(parse_script('[{"txet": "Done."}]').failure())
    'replies[0]: unknown key "txet"; known are text, tools, says, system, stop_reason, usage (line 1)'
    """
    try:
        data = json.loads(text, object_pairs_hook=_object)
        replies = data.get("replies") if isinstance(data, dict) else data
        if not isinstance(replies, list):
            _bad("the script", "must be a list of replies, or an object that has one as `replies`")
        return Success(tuple([_placed(text, at, item) for at, item in enumerate(replies)]))
    except json.JSONDecodeError as error:
        return Failure(BadScriptError(f"line {error.lineno}, column {error.colno}: no JSON: {error.msg}"))
    except RecursionError:
        return Failure(BadScriptError("nested too deep"))
    except BadScriptError as error:
        return Failure(error)
    except ValueError as error:
        return Failure(BadScriptError(f"a number that cannot be read: {error}"))


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object in which every key stands once: of two the first would be lost in silence."""
    made: dict[str, object] = {}
    for key, value in pairs:
        if key in made:
            _bad("the script", f'has the key "{key:.40}" twice in one object')
        made[key] = value
    return made


def _placed(text: str, at: int, item: object) -> Line:
    try:
        return _line(f"replies[{at}]", item)
    except BadScriptError as bad:
        raise BadScriptError(f"{bad} (line {_line_number(text, at)})") from None


def _line_number(text: str, at: int) -> int:
    """The line on which a reply of a script begins, the first of the file where that cannot be told."""
    found = _BEGIN.search(text)
    position = found.end() if found else 0
    for _ in range(at if found else 0):
        end = json.JSONDecoder().raw_decode(text, position)[1]
        position = end + len(text[end:]) - len(text[end:].lstrip(" \t\r\n,"))
    return text.count("\n", 0, position) + 1


def load_script(path: Path) -> Result[tuple[Line, ...], BadScriptError]:
    """The lines of a script in a file; what is wrong is told with the file's name."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Failure(BadScriptError(f"{path}: cannot be read ({error})"))
    return parse_script(text).alt(lambda bad: BadScriptError(f"{path}: {bad}"))


def _bad(where: str, what: str) -> NoReturn:
    raise BadScriptError(f"{where}: {what}")


def _line(where: str, item: object) -> Line:
    if isinstance(item, str):
        return Line(Reply((Text(item),)))
    if not isinstance(item, dict):
        _bad(where, "must be a text or an object")
    for key in item:
        if key not in _KEYS:
            _bad(where, f'unknown key "{key:.40}"; known are {", ".join(_KEYS)}')
    said, tools = _text(where, item, "text"), item.get("tools", [])
    if not isinstance(tools, list):
        _bad(f"{where}.tools", "must be a list")
    uses = [_use(f"{where}.tools[{at}]", use) for at, use in enumerate(tools)]
    stop = item.get("stop_reason", "tool_use" if uses else "end_turn")
    if stop not in _STOPS:
        _bad(f"{where}.stop_reason", f"must be one of {', '.join(_STOPS)}")
    content = (*((Text(said),) if said else ()), *uses)
    return Line(
        Reply(content, cast("StopReason", stop), _usage(where, item.get("usage", {}))), _text(where, item, "says"), _text(where, item, "system")
    )


def _text(where: str, item: Mapping[str, object], key: str) -> str:
    found = item.get(key, "")
    return found if isinstance(found, str) else _bad(f"{where}.{key}", "must be text")


def _use(where: str, use: object) -> ToolUse:
    if not isinstance(use, dict) or not isinstance(use.get("name"), str):
        _bad(where, "must be an object with the tool's name as `name` and its input as `input`")
    given, used = use.get("input", {}), use.get("id")
    if not isinstance(given, dict):
        _bad(f"{where}.input", "must be an object")
    if used is not None and not isinstance(used, str):
        _bad(f"{where}.id", "must be text")
    try:
        return ToolUse(used or re.sub(r"\W+", "_", where).strip("_"), use["name"], cast("JsonObject", freeze(given)))
    except TypeError as error:
        _bad(f"{where}.input", f"must be JSON: {error}")


def _usage(where: str, given: object) -> Usage:
    if not isinstance(given, dict) or not all(key in _USAGE and is_count(value) and value >= 0 for key, value in given.items()):
        _bad(f"{where}.usage", f"must be an object of whole numbers from 0; known are {', '.join(_USAGE)}")
    return Usage(**given)
