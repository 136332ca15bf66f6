"""The tests' Messages API is itself tested: what it takes, what it refuses and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.messages_protocol import problems
from tests.messages_server import uses

KEY = {"authorization": "Bearer k", "anthropic-version": "1"}


def wire(*messages: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": role, "content": content} for role, content in messages]} | more


ASK, TEXT = ("user", "Hi."), {"type": "text", "text": "x"}
USES = ("assistant", [uses("a", 1), uses("b", 2)])
DONE = [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": ""} for number in (1, 2)]
TOOL = {"name": "a", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    "body",
    [
        wire(ASK),
        wire(ASK, ASK),
        wire(ASK, ("assistant", [TEXT])),
        wire(ASK, USES, ("user", DONE)),
        wire(ASK, USES, ("user", [*DONE[::-1], TEXT]), ASK),
        wire(ASK, USES, ("user", DONE), ("assistant", [uses("a", 3)]), ("user", [DONE[0] | {"tool_use_id": "toolu_3", "is_error": True}])),
        wire(ASK, system="Be brief.", tools=[TOOL]),
    ],
)
def test_the_server_takes_what_keeps_the_protocol(body: dict[str, Any]) -> None:
    assert list(problems(KEY, body)) == []
    assert list(problems({"x-api-key": "k", "anthropic-version": "1"}, body)) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "not a JSON object"),
        (wire(), "at least one message"),
        ({"model": "m", "max_tokens": 9}, "at least one message"),
        (wire(ASK, messages="Hi."), "must be lists of objects"),
        (wire(ASK, tools=["a"]), "must be lists of objects"),
        (wire(ASK, model=""), "model: field required"),
        (wire(ASK, max_tokens=0), "max_tokens"),
        (wire(ASK, max_tokens=True), "max_tokens"),
        (wire(ASK, temperatur=1), "temperatur: extra inputs"),
        (wire(("system", "x")), r"messages\.0\.role"),
        (wire(("assistant", "x")), "first message must use the user role"),
        (wire(("user", "")), "not a block"),
        (wire(("user", " ")), "not a block"),
        (wire(("user", [])), "non-empty content"),
        (wire(("user", [{"type": "text", "text": ""}])), "not a block"),
        (wire(("user", [uses("a")])), "not a block that user may send"),
        (wire(ASK, ("assistant", DONE)), "not a block that assistant may send"),
        (wire(ASK, ("assistant", [uses("a") | {"input": "x"}])), "not a block"),
        (wire(ASK, ("assistant", [{"type": "thinking", "thinking": "x"}])), "not a block"),
        (wire(ASK, USES), "messages.1: .* without tool_result blocks immediately after: toolu_1, toolu_2"),
        (wire(ASK, USES, ASK), "immediately after: toolu_1, toolu_2"),
        (wire(ASK, USES, ("user", DONE[:1])), "immediately after: toolu_2"),
        (wire(ASK, USES, ("user", DONE[:1]), ("user", DONE[1:])), "immediately after: toolu_2; messages.3: unexpected tool_use_id"),
        (wire(ASK, USES, ("user", [*DONE, DONE[0]])), "a single result"),
        (wire(ASK, USES, ("user", DONE), ("user", DONE[:1])), "unexpected tool_use_id found in tool_result blocks: toolu_1"),
        (wire(("user", DONE[:1])), "unexpected tool_use_id"),
        (wire(ASK, USES, ("user", [TEXT, *DONE])), "must come first"),
        (wire(ASK, USES, ("user", [DONE[0], TEXT, DONE[1]])), "must come first"),
        (wire(ASK, ("assistant", [uses("a"), uses("b")]), ("user", DONE[:1])), "must be unique: toolu_1"),
        (wire(ASK, USES, ("user", DONE), USES, ("user", DONE)), "must be unique: toolu_1"),
        (wire(ASK, tools=[TOOL, TOOL]), "names must be unique: a"),
        (wire(ASK, tools=[TOOL | {"name": "a b"}]), r"tools\.0\.name"),
        (wire(ASK, tools=[{"name": "a"}]), r"tools\.0\.input_schema"),
        (wire(ASK, tools=[TOOL | {"input_schema": {}}]), r"tools\.0\.input_schema"),
        (wire(ASK, system=[{"type": "text", "text": " "}]), r"system\.0"),
        (wire(ASK, system=1), "system: must be text"),
        (wire(ASK, thinking={"type": "enabled", "budget_tokens": 1024}), "thinking: "),
        (wire(ASK, thinking={"type": "adaptive"}, output_config={"effort": "minimal"}), "effort"),
        (wire(ASK, tools=[{**TOOL, "name": f"t{at}", "cache_control": {}} for at in range(5)]), "at most 4"),
    ],
)
def test_the_server_refuses_what_breaks_the_protocol(body: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        raise ValueError("; ".join(problems(KEY, body)))


def test_the_server_wants_a_key_and_a_version() -> None:
    assert list(problems({}, wire(ASK))) == ["no x-api-key header, and no authorization: Bearer", "anthropic-version: header is required"]
