"""The real model by example: the real SDK over HTTP against a strict server on loopback, and each way that this fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from itertools import count, pairwise
from typing import Any, TypeVar

import anthropic
import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrsistent import pvector

from pipeline.agent import THINKING_LEVELS, ThinkingLevel
from pipeline.frozen import JsonObject, freeze
from pipeline.subagent.messages import Block, Kept, Message, Reply, Text, ToolResult, ToolUse, Usage
from pipeline.subagent.models.anthropic import (
    STOP_REASONS,
    AnthropicModel,
    ReplyError,
    ThinkingStyle,
    from_message,
    thinking_parameters,
    to_parameters,
)
from pipeline.subagent.requests import ModelRequest, ToolSpec
from tests.messages_protocol import problems
from tests.messages_server import Dropped, Fault, Hangs, Malformed, RateLimited, Server, ServerError, messages_server, says, uses

T = TypeVar("T")
KEY = {"authorization": "Bearer k", "anthropic-version": "1"}
READ = ToolSpec("read_file", "Reads a file.", JsonObject({"properties": JsonObject({"path": JsonObject({"type": "string"})})}))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE", "LOG"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)


def user(*blocks: Block | str) -> Message:
    return Message("user", tuple([Text(block) if isinstance(block, str) else block for block in blocks]))


def asks(*messages: Message | str, system: str = "Be brief.", tools: tuple[ToolSpec, ...] = (READ,), **more: Any) -> ModelRequest:
    turns = [user(message) if isinstance(message, str) else message for message in messages]
    return ModelRequest(system, tools, pvector(turns), **more)


def over(server: Server, work: Callable[[AnthropicModel], Awaitable[T]], *, retries: int = 0, timeout: float = 60.0, **more: Any) -> T:
    async def run() -> T:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=retries, timeout=timeout) as client:
            return await work(AnthropicModel("claude-test", client=client, **more))

    return anyio.run(run)


def replies(server: Server, *requests: ModelRequest, **more: Any) -> list[Reply]:
    async def work(model: AnthropicModel) -> list[Reply]:
        return [await model.reply(request) for request in requests]

    return over(server, work, **more)


def test_a_plain_reply() -> None:
    with messages_server([says("Hello.", usage={"input_tokens": 7, "output_tokens": 2, "cache_creation_input_tokens": 5})]) as server:
        assert replies(server, asks("Say hello.", max_tokens=99)) == [Reply((Text("Hello."),), "end_turn", Usage(7, 2, cache_written=5))]
    assert server.requests == [
        {
            "model": "claude-test",
            "max_tokens": 99,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "tools": [
                {
                    "name": "read_file",
                    "description": "Reads a file.",
                    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
                }
            ],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Say hello."}]}],
            "cache_control": {"type": "ephemeral"},
        }
    ]


def test_a_tool_is_used_and_its_result_goes_back() -> None:
    with messages_server([says("I look.", uses("read_file", path="a"), uses("read_file", 2)), says("Done.")]) as server:
        first = replies(server, asks("Look."))[0]
        assert (first.stop_reason, first.tool_uses) == (
            "tool_use",
            (ToolUse("toolu_1", "read_file", JsonObject({"path": "a"})), ToolUse("toolu_2", "read_file", JsonObject({}))),
        )
        answers = user(ToolResult("toolu_1", "x = 1"), ToolResult("toolu_2", "no such file", is_error=True), "Go on.")
        assert replies(server, asks("Look.", Message("assistant", first.content), answers))[0].text == "Done."
    assert server.requests[1]["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x = 1"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such file", "is_error": True},
        {"type": "text", "text": "Go on."},
    ]


def test_blocks_that_the_engine_does_not_read_go_back_as_they_came() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln", "later": [1, {"a": None}, 2.5]},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "é"}},
        {"type": "kind_of_tomorrow", "text": 3, "when": "2026-01-01T00:00:00Z"},
        {"type": "text", "text": "Done."},
    ]
    with messages_server([says(*blocks), says("Bye.")]) as server:
        first = replies(server, asks("Think.", thinking="high"))[0]
        assert first.content == (*[Kept(frozen) for block in blocks[:4] if isinstance(frozen := freeze(block), JsonObject)], Text("Done."))
        assert replies(server, asks("Think.", Message("assistant", first.content), "Again."))[0].text == "Bye."
    assert server.requests[1]["messages"][1]["content"] == blocks


def test_a_fork_reads_its_parent_s_cache_and_a_stranger_does_not() -> None:
    parent = asks("A long task. " * 40, system="Be thorough. " * 40)
    in_flight = Message("assistant", (ToolUse("toolu_1", "read_file", JsonObject({})),))
    fork = asks(*parent.messages, in_flight, user(ToolResult("toolu_1", "forked"), "Do this part."), system=parent.system)
    sibling = asks(*parent.messages, in_flight, user(ToolResult("toolu_1", "forked"), "Do that part."), system=parent.system)
    without_tools = asks(*fork.messages, system=parent.system, tools=())
    stranger = asks("Another task.", system="Be brief.", thinking="low")
    with messages_server(lambda _: says("Yes.")) as server:
        first, *usages = [reply.usage for reply in replies(server, parent, fork, sibling, without_tools, stranger)]
        assert first.cache_read == 0
        assert [usage.cache_read >= first.input for usage in usages] == [True, True, False, False]
        assert usages[1].cache_read > usages[0].cache_read > 10 * usages[3].cache_read
        assert {usage.cache_read for usage in [reply.usage for reply in replies(server, parent, fork, caching=False)]} == {0}
    for one, other in pairwise(server.requests[:3]):
        assert [one[key] for key in ("model", "tools", "system")] == [other[key] for key in ("model", "tools", "system")]
        assert other["messages"][: len(parent.messages)] == one["messages"][: len(parent.messages)]
    assert "cache_control" not in json.dumps(server.requests[-2:])


@pytest.mark.parametrize("fault", [RateLimited(), ServerError(), Dropped()])
def test_a_fault_that_passes_is_tried_again(fault: Fault) -> None:
    with messages_server([fault, says("Hello.")]) as server:
        assert replies(server, asks("Hi."), retries=2)[0].text == "Hello."
    assert server.requests[0] == server.requests[1]


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (RateLimited(), anthropic.RateLimitError, "too many requests"),
        (ServerError(), anthropic.InternalServerError, "internal server error"),
        (Dropped(), anthropic.APIConnectionError, "Connection error"),
        (Malformed(), ReplyError, "the provider's answer is not JSON: Expecting value"),
        (Malformed("<html>Sign in</html>", "text/html"), ReplyError, "something other than a message: '<html>Sign in</html>'"),
        (Malformed('{"type": "error"}'), ReplyError, "something other than a message: {.*'type': 'error'"),
        (Malformed("[]"), ReplyError, r"something other than a message: \[\]"),
        (Malformed("null"), ReplyError, "something other than a message: None"),
        (Malformed("x" * 999, "text/plain"), ReplyError, r"x\.\.\.$"),
    ],
)
def test_a_fault_that_stays_is_an_error(fault: Fault, error: type[Exception], said: str) -> None:
    with messages_server(lambda _: fault) as server, pytest.raises(error, match=said):
        replies(server, asks("Hi."))


def test_a_server_that_hangs_runs_out_of_time() -> None:
    with messages_server([Hangs()]) as server, pytest.raises(anthropic.APITimeoutError, match="timed out"):
        replies(server, asks("Hi."), timeout=0.3)


def test_a_refusal_says_what_is_wrong() -> None:
    unanswered = Message("assistant", (ToolUse("toolu_1", "read_file", JsonObject({})),))
    with messages_server([says("Never said.")]) as server, pytest.raises(anthropic.BadRequestError, match="without tool_result blocks"):
        replies(server, asks("Hi.", unanswered, "And?"))
    assert server.requests == []
    assert len(server.refusals) == 1


def test_address_and_key_come_from_the_environment_and_one_model_serves_many_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    model = AnthropicModel("claude-test")
    anyio.run(model.aclose)

    async def twice() -> str:
        async with aclosing(model):
            return (await model.reply(asks("Hi."))).text + (await model.reply(asks("Hi."))).text

    number = count(1)
    with messages_server(lambda _: says(f"{next(number)}.")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        assert [anyio.run(model.reply, asks("Hi.")).text for _ in range(2)] == ["1.", "2."]
        assert [anyio.run(twice) for _ in range(2)] == ["3.4.", "5.6."]


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(RuntimeError, match=r"pip install 'task-agent-pipeline\[anthropic\]'"):
        anyio.run(AnthropicModel("claude-test").reply, asks("Hi."))


def test_aliases_translate_what_an_agent_wishes_for() -> None:
    with messages_server(lambda _: says("Yes.")) as server:
        replies(server, asks("a", model=("gpt", "fast", "slow")), asks("b", model=("gpt",)), asks("c"), aliases={"slow": "opus", "fast": "haiku"})
    assert [request["model"] for request in server.requests] == ["haiku", "claude-test", "claude-test"]


@pytest.mark.parametrize("level", [None, *THINKING_LEVELS])
@pytest.mark.parametrize("style", ["adaptive", "budget"])
@pytest.mark.parametrize("max_tokens", [1, 1024, 1025, 8192, 64_000])
def test_every_thinking_level_is_one_that_the_api_takes(level: ThinkingLevel | None, style: ThinkingStyle, max_tokens: int) -> None:
    parameters = to_parameters(asks("Hi.", thinking=level, max_tokens=max_tokens), "m", thinking=style)
    assert list(problems(KEY, parameters)) == []
    assert ("thinking" in parameters) == (level not in {None, "inherit"})


def test_levels_rise() -> None:
    budgets = [thinking_parameters(level, 16_000, "budget")["thinking"]["budget_tokens"] for level in THINKING_LEVELS[2:]]
    assert budgets == sorted(set(budgets))


def test_blank_text_is_not_sent() -> None:
    request = asks("Hi.", Message("assistant", (Text(" "),)), Message("assistant", ()), user("", "Go on."), system=" ", tools=())
    assert to_parameters(request, "m", caching=False) == {
        "model": "m",
        "max_tokens": request.max_tokens,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi."}]},
            {"role": "user", "content": [{"type": "text", "text": "Go on."}]},
        ],
    }


@pytest.mark.parametrize(("sent", "read"), [({"a": [1]}, {"a": (1,)}), (None, {}), ("x", {"not_an_object": "x"}), ([1], {"not_an_object": (1,)})])
def test_the_input_of_a_tool_is_always_an_object(sent: object, read: dict[str, Any]) -> None:
    block = {"type": "tool_use", "id": "u", "name": "n", "input": sent}
    assert from_message(says(block)).tool_uses[0].input == read
    with messages_server([says(block)]) as server:
        assert replies(server, asks("Hi."))[0].tool_uses[0].input == read


@pytest.mark.parametrize("reason", [*STOP_REASONS, "pause_turn", "of_tomorrow", None, ["?"]])
def test_every_reason_to_stop_is_one_of_the_engine_s(reason: Any) -> None:
    expected = STOP_REASONS.get(str(reason), "max_tokens")
    assert from_message(says("x", stop_reason=reason)).stop_reason == expected
    with messages_server([says("x", stop_reason=reason)]) as server:
        assert replies(server, asks("Hi."))[0].stop_reason == expected


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": None, "output_tokens": "many", "cache_read_input_tokens": -1}])
def test_usage_that_is_not_told_is_none(usage: Any) -> None:
    assert from_message(says("x", usage=usage)).usage == Usage()


@pytest.mark.parametrize(
    "block", ["x", 1, {}, {"type": 1}, {"type": "text"}, {"type": "text", "text": 1}, {"type": "tool_use", "id": 1, "name": "n"}]
)
def test_a_block_that_cannot_be_read_is_an_error(block: Any) -> None:
    with pytest.raises(ReplyError, match="a block that cannot be read"):
        from_message({"content": [block]})


def test_a_number_too_large_to_be_one_is_told_to_the_model_or_is_an_error() -> None:
    block = {"type": "tool_use", "id": "u", "name": "n", "input": {"deep": [float("inf")]}}
    assert from_message({"content": [block]}).tool_uses[0].input == {"not_an_object": "not a JSON value: inf"}
    with pytest.raises(ReplyError, match="a block that is no JSON"):
        from_message({"content": [{"type": "thinking", "n": float("nan")}]})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id", "name", "input", "more"]), inner, max_size=5),
    max_leaves=6,
)
BLOCKS = st.lists(JSON | st.fixed_dictionaries({"type": st.sampled_from(["text", "tool_use", "thinking"])}, optional={"text": JSON, "input": JSON}))


@given(JSON | st.fixed_dictionaries({"content": BLOCKS | JSON}, optional={"stop_reason": JSON, "usage": JSON}))
def test_any_json_is_a_reply_or_a_reply_error(data: Any) -> None:
    with suppress(ReplyError):
        assert isinstance(from_message(data), Reply)


def test_the_server_answers_nowhere_else_reads_json_alone_and_says_when_its_script_ends() -> None:
    async def work(model: AnthropicModel) -> None:
        client = model._client()
        with pytest.raises(anthropic.NotFoundError, match="/v1/models"):
            await client.post("/v1/models", cast_to=object)
        with pytest.raises(anthropic.BadRequestError, match="not JSON"):
            await client.post("/v1/messages", cast_to=object, content=b"{")
        with pytest.raises(anthropic.BadRequestError, match="no more replies"):
            await model.reply(asks("Hi."))

    with messages_server([]) as server:
        over(server, work)
