"""The real model behind the real SDK on a real server: that the protocol holds, and what the prompt cache gives a fork. Quality is not asked for."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import anyio
import pytest
from pyrsistent import pvector

from pipeline import Session
from pipeline.frozen import JsonObject
from pipeline.subagent import (
    FORKING,
    AnthropicModel,
    Message,
    ModelRequest,
    Options,
    Reply,
    Text,
    ToolResult,
    ToolSpec,
    ToolUse,
    Turn,
    Usage,
    converse,
)
from pipeline.subagent.models.scripted import last_words

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


class Guided:
    """The real model, asked in earnest. It is too small to use tools: where it should, the use is put into its mouth. The usage is its own."""

    def __init__(self, model: AnthropicModel) -> None:
        self.model = model
        self.asked: list[tuple[ModelRequest, Usage]] = []

    async def reply(self, request: ModelRequest) -> Reply:
        reply = await self.model.reply(request)
        self.asked.append((request, reply.usage))
        use = guide(request)
        said = Text(reply.text.strip() or "I have nothing to say.")
        return Reply((said,), "end_turn", reply.usage) if use is None else Reply((said, use), "tool_use", reply.usage)


def guide(request: ModelRequest) -> ToolUse | None:
    """What the model should do now."""
    said = last_words(request)
    if said == "Count the words of the notes.":
        return ToolUse("toolu_1", "task", JsonObject({"agent": "scout", "description": "Read the notes."}))
    if said == "Read the notes.":
        return ToolUse("toolu_2", "read_file", JsonObject({"path": "notes.txt"}))
    return ToolUse("toolu_3", "task", JsonObject({"description": "Sum up."})) if said == "Think about it." else None


def test_a_parent_delegates_and_its_fork_is_read_from_the_cache(tmp_path: Path) -> None:
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "scout.md").write_text("---\nname: scout\ndescription: d\ntools: [read]\n---\nYou read files.")
    (tmp_path / "notes.txt").write_text("bread and milk\n")
    session, options = Session(cwd=str(tmp_path), home=str(tmp_path)), Options(modes=FORKING, max_tokens=16)

    async def two_turns() -> tuple[Guided, Turn]:
        async with aclosing(AnthropicModel("smollm2")) as real:
            model = Guided(real)
            first = (await converse("Count the words of the notes.", session, model, options, system=SYSTEM)).unwrap()
            return model, (await converse("Think about it.", session, model, options, after=first)).unwrap()

    model, turn = anyio.run(two_turns)
    assert turn.conclusion.status == "completed"
    asked = {last_words(request).splitlines()[-1]: usage for request, usage in model.asked}
    assert "bread and milk" in asked  # the child has read the file, and the model has read what it read
    fork, fresh = asked["Sum up."], asked["Read the notes."]
    for name, usage in (("fork", fork), ("fresh child", fresh)):
        print(f"{name}: {usage.cache_read} of {usage.cache_read + usage.input} prompt tokens from the cache")
    assert fork.cache_read >= 10 * max(fresh.cache_read, 1)
