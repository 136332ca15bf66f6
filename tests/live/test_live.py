"""The real model behind the real SDK on a real server: that the protocol holds, and what the prompt cache gives a fork. Quality is not asked for."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import pytest
from pyrsistent import pvector

from pipeline.frozen import JsonObject
from pipeline.subagent.messages import Message, Reply, Text, ToolResult, ToolUse
from pipeline.subagent.models.anthropic import AnthropicModel
from pipeline.subagent.requests import ModelRequest, ToolSpec

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("live")]

SYSTEM = "\n".join(f"{number}. A careful engineer reads rule {number} of the house before touching module {number}." for number in range(1, 31))
PATH = JsonObject({"type": "object", "properties": JsonObject({"path": JsonObject({"type": "string"})}), "required": ("path",)})
TOOLS = (ToolSpec("read_file", "Reads a file of the workspace.", PATH), ToolSpec("glob", "Finds files by a pattern.", PATH))


def asks(system: str, *messages: Message, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    return ModelRequest(system, tools, pvector(messages), max_tokens=8)


def user(text: str, *results: ToolResult) -> Message:
    return Message("user", (*results, Text(text)))


def replies(*requests: ModelRequest) -> list[Reply]:
    async def work() -> list[Reply]:
        async with aclosing(AnthropicModel("smollm2")) as model:
            return [await model.reply(request) for request in requests]

    return anyio.run(work)


def test_a_plain_reply_with_its_usage() -> None:
    (reply,) = replies(asks("You are terse.", user("Say hello.")))
    assert reply.text.strip()
    assert reply.stop_reason in {"end_turn", "max_tokens"}
    assert reply.usage.input + reply.usage.cache_read > 0
    assert 0 < reply.usage.output <= 8


def test_a_fork_is_read_from_the_cache_and_a_fresh_child_is_not() -> None:
    parent = asks(SYSTEM, user("Which module is the largest?"), tools=TOOLS)
    in_flight = Message("assistant", (Text("I look."), ToolUse("toolu_1", "glob", JsonObject({"path": "*.py"}))))
    directive = user("Count the lines of module 7.", ToolResult("toolu_1", "Running in a fork."))
    fork = asks(SYSTEM, *parent.messages, in_flight, directive, tools=TOOLS)
    fewer = asks(SYSTEM, *parent.messages, in_flight, directive, tools=TOOLS[:1])
    fresh = asks("You count lines.", user("Count the lines of module 7."))
    usages = {}
    for name, child in {"fork": fork, "one tool fewer": fewer, "fresh": fresh}.items():
        usages[name] = replies(parent, child)[1].usage
        print(f"{name}: {usages[name].cache_read} of {usages[name].cache_read + usages[name].input} prompt tokens from the cache")
    assert usages["fork"].cache_read >= 10 * max(usages["fresh"].cache_read, 1)
    assert usages["fork"].cache_read > usages["fork"].input
    assert usages["fork"].cache_read > usages["one tool fewer"].cache_read
