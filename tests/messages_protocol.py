"""What the Messages API refuses, for the tests' server: each rule says what is wrong with a request, in the API's words where it has some."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

FIELDS = {"model", "max_tokens", "messages", "system", "tools", "thinking", "output_config", "cache_control"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
EFFORTS = {"low", "medium", "high", "xhigh", "max"}
LEAST_BUDGET = 1024
MOST_MARKS = 4


def problems(headers: Mapping[str, str], body: Any) -> Iterator[str]:
    """What is wrong with a request; an empty iterator if nothing is."""
    if not isinstance(body, dict):
        yield "the body is not a JSON object"
        return
    if not all(isinstance(item, dict) for key in ("messages", "tools") for item in _items(body, key)):
        yield "messages and tools: must be lists of objects"
        return
    for rule in (_of_fields, _of_thinking, _of_marks, _of_system, _of_tools, _of_messages):
        yield from rule(body)
    if "x-api-key" not in headers and not headers.get("authorization", "").startswith("Bearer "):
        yield "no x-api-key header, and no authorization: Bearer"
    if "anthropic-version" not in headers:
        yield "anthropic-version: header is required"


def _items(body: dict[str, Any], key: str) -> list[Any]:
    return body[key] if isinstance(body.get(key), list) else [None] if body.get(key) else []


def _of_fields(body: dict[str, Any]) -> Iterator[str]:
    yield from (f"{key}: extra inputs are not permitted" for key in body if key not in FIELDS)
    if not (isinstance(body.get("model"), str) and body["model"]):
        yield "model: field required"
    if not (type(body.get("max_tokens")) is int and body["max_tokens"] > 0):
        yield "max_tokens: must be a positive integer"


def _of_thinking(body: dict[str, Any]) -> Iterator[str]:
    match body.get("thinking"):
        case None | {"type": "disabled" | "adaptive"}:
            pass
        case {"type": "enabled", "budget_tokens": int(budget)} if LEAST_BUDGET <= budget < body.get("max_tokens", 0):
            pass
        case _:
            yield f"thinking: must be disabled, adaptive, or enabled with {LEAST_BUDGET} <= budget_tokens < max_tokens"
    match body.get("output_config", {}):
        case {"effort": str(effort)} if effort not in EFFORTS:
            yield f"output_config.effort: must be one of {sorted(EFFORTS)}"


def _of_marks(body: dict[str, Any]) -> Iterator[str]:
    if json.dumps(body).count('"cache_control"') > MOST_MARKS:
        yield f"cache_control: at most {MOST_MARKS} blocks may have it"


def _of_system(body: dict[str, Any]) -> Iterator[str]:
    match body.get("system", "none"):
        case str():
            pass
        case list(blocks):
            yield from (f"system.{at}: must be text with words in it" for at, block in enumerate(blocks) if not _is_text(block))
        case _:
            yield "system: must be text or a list of text blocks"


def _of_tools(body: dict[str, Any]) -> Iterator[str]:
    tools = _items(body, "tools")
    names = [str(tool.get("name")) for tool in tools]
    yield from (f"tools: names must be unique: {name}" for name in sorted({name for name in names if names.count(name) > 1}))
    for at, tool in enumerate(tools):
        if not (isinstance(tool.get("name"), str) and NAME.fullmatch(tool["name"])):
            yield f"tools.{at}.name: must match {NAME.pattern}"
        if not (isinstance(tool.get("input_schema"), dict) and tool["input_schema"].get("type") == "object"):
            yield f"tools.{at}.input_schema.type: must be object"


def _of_messages(body: dict[str, Any]) -> Iterator[str]:
    messages = _items(body, "messages")
    if not messages:
        yield "messages: at least one message is required"
        return
    shapes = [f"messages.{at}{wrong}" for at, message in enumerate(messages) for wrong in _of_message(message)]
    yield from shapes
    if messages[0].get("role") != "user":
        yield "messages: first message must use the user role"
    if not shapes:
        yield from _of_answers(messages)


def _of_message(message: dict[str, Any]) -> Iterator[str]:
    role, content = message.get("role"), message.get("content")
    if role not in {"user", "assistant"}:
        yield ".role: must be user or assistant"
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not (isinstance(content, list) and content):
        yield ".content: all messages must have non-empty content"
        return
    yield from (f".content.{at}: not a block that {role} may send: {block}" for at, block in enumerate(content) if not _may_send(role, block))


def _may_send(role: Any, block: Any) -> bool:
    match role, block:
        case _, {"type": "text"}:
            return _is_text(block)
        case "assistant", {"type": "tool_use", "id": str(used), "name": str(), "input": dict()}:
            return NAME.fullmatch(used) is not None
        case "user", {"type": "tool_result", "tool_use_id": str(), "content": str() | list()}:
            return isinstance(block.get("is_error", False), bool)
        case "assistant", {"type": "thinking"}:
            return isinstance(block.get("thinking"), str) and isinstance(block.get("signature"), str)
        case "assistant", {"type": str(kind)}:
            return kind not in {"tool_use", "tool_result"}
        case _:
            return False


def _is_text(block: Any) -> bool:
    match block:
        case {"type": "text", "text": str(text)}:
            return text.strip() != ""
        case _:
            return False


def _of_answers(messages: list[dict[str, Any]]) -> Iterator[str]:
    asked: list[str] = []
    before: list[str] = []
    for at, message in enumerate([*messages, {"role": "user", "content": []}]):
        blocks = [] if isinstance(message["content"], str) else message["content"]
        answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        leading = [block["type"] for block in blocks[: len(answers)]]
        if missing := [used for used in before if used not in answers]:
            yield f"messages.{at - 1}: tool_use ids were found without tool_result blocks immediately after: {', '.join(missing)}"
        if strays := [used for used in answers if used not in before]:
            yield f"messages.{at}: unexpected tool_use_id found in tool_result blocks: {', '.join(strays)}"
        if len(answers) != len(set(answers)):
            yield f"messages.{at}: each tool_use must have a single result"
        if set(leading) - {"tool_result"}:
            yield f"messages.{at}: tool_result blocks must come first"
        before = [block["id"] for block in blocks if block["type"] == "tool_use"]
        yield from (f"messages.{at}: tool_use ids must be unique: {used}" for used in before if used in asked or before.count(used) > 1)
        asked += before
