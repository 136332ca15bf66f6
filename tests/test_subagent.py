"""The engine of sub-agents by example: a clean context, the loop, every way a conversation ends."""

from __future__ import annotations

import asyncio

import pytest

from pipeline import Launch, Session, Snapshot, TaskItem, TaskRequest, plan_launch
from pipeline.frozen import JsonObject
from pipeline.subagent.conversation import ALONE, Aborted, Answered, Begun, Conclude, Failed, ProtocolError, Replied, RunTools, advance, begin
from pipeline.subagent.driver import run, run_sync
from pipeline.subagent.messages import Message, Reply, Text, ToolResult, ToolUse, Usage
from pipeline.subagent.models import FunctionModel, ScriptedModel
from pipeline.subagent.tools import Tool, ToolSpec
from properties.strategies import valid_agent

NOTHING = JsonObject({})


def launch(text: str = valid_agent("scout", tools="[read]"), context: str = "") -> Launch:
    request = TaskRequest("scout", (TaskItem("one"),), context)
    return plan_launch(request, Session(), Snapshot.from_tree({".claude/agents/a.md": text})).unwrap()


async def read(given: JsonObject) -> str:
    if "path" not in given:
        raise ValueError("a path is needed")
    return f"content of {given['path']}"


async def write(_: JsonObject) -> str:
    return "written"


READ = Tool(ToolSpec("read", "Reads a file.", NOTHING), read)
WRITE = Tool(ToolSpec("write", "Writes a file.", NOTHING), write)


def use(name: str, number: int = 1, **given: str) -> ToolUse:
    return ToolUse(f"u{number}", name, JsonObject(given))


def say(text: str, *uses: ToolUse) -> Reply:
    return Reply((Text(text), *uses), "tool_use" if uses else "end_turn", Usage(10, 5, cache_read=3))


def test_a_child_starts_with_its_task_alone() -> None:
    begun = begin(launch(context="The repository is large."), "Find the parser.", ancestry=("main",))
    assert list(begun.messages) == [Message("user", (Text("The repository is large.\n\nFind the parser."),))]
    assert begun.system == f"Prompt of scout.\n\n{ALONE}"
    assert (begun.depth, begun.ancestry) == (1, ("main", "scout"))
    assert begin(launch(valid_agent("scout", spawns="'*'")), "x").system == "Prompt of scout."


def test_a_run_from_task_to_conclusion() -> None:
    model = ScriptedModel([say("I look.", use("read", path="a.py")), say("It is in a.py.")])
    conclusion = run_sync(launch(), "Find it.", model, [READ, WRITE])
    assert (conclusion.status, conclusion.text, conclusion.rounds) == ("completed", "It is in a.py.", 2)
    assert conclusion.usage == Usage(20, 10, cache_read=6)
    assert [tool.name for tool in model.requests[0].tools] == ["read"]
    assert model.requests[1].messages[-1] == Message("user", (ToolResult("u1", "content of a.py"),))


def test_tools_that_fail_are_answers_and_the_loop_goes_on() -> None:
    model = ScriptedModel([say("", use("read"), use("write", 2), use("nonsense", 3)), say("Done.")])
    assert run_sync(launch(), "x", model, [READ, WRITE]).status == "completed"
    assert model.requests[1].messages[-1].content == (
        ToolResult("u1", "ValueError: a path is needed", is_error=True),
        ToolResult("u2", "there is no tool 'write'; there are: read", is_error=True),
        ToolResult("u3", "there is no tool 'nonsense'; there are: read", is_error=True),
    )
    alone = ScriptedModel([say("", use("read")), say("Done.")])
    run_sync(launch(), "x", alone)
    assert alone.requests[1].messages[-1].content == (ToolResult("u1", "there is no tool 'read'; there are: none", is_error=True),)


@pytest.mark.parametrize(
    ("replies", "status", "text"),
    [
        ([say("One.", use("read")), say("Two.", use("read"))], "limit", "Two."),
        ([say("", use("read")), say("", use("read"))], "limit", "The sub-agent reached its limit of rounds without a word."),
        ([say(" ")], "empty", "The sub-agent ended without a word."),
        ([Reply(())], "empty", "The sub-agent ended without a word."),
        ([Reply((Text("Half of"), use("read")), "max_tokens")], "truncated", "Half of"),
        ([Reply((), "max_tokens")], "truncated", "The sub-agent's reply was cut off before its first word."),
        ([Reply((Text("I will not."),), "refusal")], "refused", "I will not."),
        ([say("", use("read"))], "error", "ScriptError: the script has 1 replies, and another was asked for"),
    ],
)
def test_every_way_to_end(replies: list[Reply], status: str, text: str) -> None:
    conclusion = run_sync(launch(), "x", ScriptedModel(replies), [READ], max_rounds=2)
    assert (conclusion.status, conclusion.text) == (status, text)


def test_an_abort_answers_what_is_open() -> None:
    step = advance(advance(begin(launch(), "x"), Begun()).conversation, Replied(say("Wait.", use("read"))))
    assert isinstance(step.wanted, RunTools)
    ended = advance(step.conversation, Aborted("the user left"))
    assert isinstance(ended.wanted, Conclude)
    assert (ended.wanted.conclusion.status, ended.wanted.conclusion.text) == ("aborted", "Wait.")
    assert ended.conversation.messages[-1].content == (ToolResult("u1", "the user left", is_error=True),)
    early = advance(begin(launch(), "x"), Aborted()).wanted
    assert isinstance(early, Conclude)
    assert early.conclusion.text == "The sub-agent was aborted before it said anything."


def test_a_use_without_a_result_is_answered_all_the_same() -> None:
    asked = advance(advance(begin(launch(), "x"), Begun()).conversation, Replied(say("", use("read")))).conversation
    answered = advance(asked, Answered({})).conversation
    assert answered.messages[-1].content == (ToolResult("u1", "the tool gave no result", is_error=True),)


def test_an_event_out_of_place_is_the_driver_s_bug() -> None:
    with pytest.raises(ProtocolError, match="a conversation that is ready takes no Failed"):
        advance(begin(launch(), "x"), Failed("x"))


def test_children_side_by_side_know_nothing_of_each_other() -> None:
    async def both() -> list[str]:
        model = FunctionModel(lambda request: say(f"{len(request.messages)} message(s)"))
        return [conclusion.text for conclusion in await asyncio.gather(*(run(launch(), task, model) for task in ("a", "b")))]

    assert asyncio.run(both()) == ["1 message(s)", "1 message(s)"]


def test_messages_on_the_wire() -> None:
    message = Message("assistant", (Text("Hi"), use("read", path="a"), ToolResult("u1", "x"), ToolResult("u2", "y", is_error=True)))
    assert message.to_wire()["content"] == [
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "u1", "name": "read", "input": {"path": "a"}},
        {"type": "tool_result", "tool_use_id": "u1", "content": "x"},
        {"type": "tool_result", "tool_use_id": "u2", "content": "y", "is_error": True},
    ]
