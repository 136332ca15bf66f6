"""What makes a reply one that nobody can go on with: it comes from models that anybody may write, and none of it is taken on trust."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import Final, get_args

from pipeline.frozen import JsonObject
from pipeline.subagent.messages import Kept, Reply, StopReason, Text, ToolUse, Usage

_STOPS: Final = frozenset(get_args(StopReason))


def fault(reply: object) -> str | None:
    """Why a reply is none, in one sentence; None if it is one.

    Tool uses need ids of their own: by its id a use is judged and answered, and two of one id would share a verdict.

    >>> fault(Reply((ToolUse("a", "bash", JsonObject({})), ToolUse("a", "glob", JsonObject({})))))
    "the reply has 2 tool uses with the id 'a'"
    >>> fault("Hello")
    'a model gives a Reply, not a str'
    >>> fault(Reply((Text("Hello"),)))
    """
    if not isinstance(reply, Reply):
        return f"a model gives a Reply, not a {type(reply).__name__}"
    content: object = reply.content
    if not isinstance(content, tuple):
        return f"the content of a reply is a tuple of blocks, not a {type(content).__name__}"
    if reply.stop_reason not in _STOPS:
        return f"the reply stops for {reply.stop_reason!r}, which is none of {', '.join(sorted(_STOPS))}"
    if not _is_usage(reply.usage):
        return f"the usage of the reply is no usage in whole numbers from 0: {reply.usage!r}"
    try:
        wrong = next((why for at, block in enumerate(reply.content) if (why := _block_fault(f"block {at} of the reply", block))), None)
    except RecursionError:
        return "the reply is nested too deep"
    repeated = [(used, times) for used, times in Counter([use.id for use in reply.tool_uses]).items() if times > 1] if wrong is None else []
    return f"the reply has {repeated[0][1]} tool uses with the id {repeated[0][0]!r}" if repeated else wrong


def words_of(error: BaseException) -> str:
    """What an error says, in one line a thing: itself, what has been noted on it, what it came of. For models and people, whatever the error does.

    >>> words_of(ValueError("no such file"))
    'ValueError: no such file'
    """
    cause = error.__cause__
    notes = (*getattr(error, "__notes__", ()), *([f"because of {_itself(cause)}"] if cause is not None else ()))
    return "; ".join((_itself(error), *map(str, notes)))


def _itself(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return f"{type(error).__name__}, which cannot say what it is about"


def _is_usage(usage: object) -> bool:
    if not isinstance(usage, Usage):
        return False
    counts: tuple[object, ...] = (usage.input, usage.output, usage.cache_read, usage.cache_written)
    return all(isinstance(count, int) and count >= 0 for count in counts)


def _block_fault(where: str, block: object) -> str | None:
    match block:
        case Text(str()):
            return None
        case ToolUse(str(used), str(name), JsonObject() as given):
            return f"{where} is a tool use without an id or a name" if not used or not name else _json_fault(where, given)
        case Kept(JsonObject() as data):
            return _json_fault(where, data)
        case Text() | ToolUse() | Kept():
            return f"{where} is a {type(block).__name__} with a part of the wrong type"
        case _:
            return f"{where} is a {type(block).__name__}, and no Text, ToolUse or Kept"


def _json_fault(where: str, value: object) -> str | None:
    match value:
        case JsonObject():
            return next((why for item in value.values() if (why := _json_fault(where, item))), None)
        case tuple():
            return next((why for item in value if (why := _json_fault(where, item))), None)
        case float() if not isfinite(value):
            return f"{where} holds {value}, a number that JSON has not"
        case None | bool() | int() | float() | str():
            return None
        case _:
            return f"{where} holds a {type(value).__name__}, which is no JSON value"
