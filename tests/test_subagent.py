"""The engine of sub-agents by example: a clean context, the loop, every way a conversation ends."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from pipeline import Launch, Session, Snapshot, TaskItem, TaskRequest, plan_launch
from pipeline.frozen import Json, JsonObject
from pipeline.refusal import NotASchema
from pipeline.subagent.conversation import (
    TRANSITIONS,
    Aborted,
    Answered,
    Begun,
    CallModel,
    Conclude,
    Conclusion,
    Conversation,
    Failed,
    Judge,
    Judged,
    Prompted,
    ProtocolError,
    Refused,
    Replied,
    Resumed,
    RunTools,
)
from pipeline.subagent.engine import Options
from pipeline.subagent.limits import MAX_REMINDERS
from pipeline.subagent.messages import Message, Reply, Text, ToolResult, ToolUse, Usage
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.models.protocol import Model
from pipeline.subagent.models.scripted import ScriptedModel
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.running import run, run_sync
from pipeline.subagent.schemas import output_schema
from pipeline.subagent.starting import ALONE, SUBMIT, begin
from pipeline.subagent.step import REMINDER, TODO_REMINDER, advance
from pipeline.subagent.tools import Tool, ToolCall, ToolError
from pipeline.subagent.toolset import SUBMIT_TOOL, TODO_TOOL
from properties.strategies import valid_agent

ANYTHING = JsonObject({"type": "object"})


def launch(text: str = valid_agent("scout", tools="[read]"), context: str = "", schema: Json = None) -> Launch:
    request = TaskRequest("scout", (TaskItem("one"),), context, schema)
    return plan_launch(request, Session(), Snapshot.from_tree({".claude/agents/a.md": text})).unwrap()


async def read(call: ToolCall) -> str:
    if "path" not in call.input:
        raise ValueError("a path is needed")
    if call.input["path"] == "gone":
        raise ToolError("there is no file gone")
    return f"content of {call.input['path']}"


async def write(_: ToolCall) -> str:
    return "written"


READ = Tool(ToolSpec("read", "Reads a file.", ANYTHING), read)
WRITE = Tool(ToolSpec("write", "Writes a file.", ANYTHING), write)
STRICT = Tool(ToolSpec("write", "Writes a file.", JsonObject({"type": "object", "required": ("path",)})), write)


def use(name: str, number: int = 1, **given: Json) -> ToolUse:
    return ToolUse(f"u{number}", name, JsonObject(given))


def say(text: str, *uses: ToolUse) -> Reply:
    return Reply((*((Text(text),) if text else ()), *uses), "tool_use" if uses else "end_turn", Usage(10, 5, cache_read=3))


def ran(launched: Launch, model: Model, *tools: Tool, max_rounds: int = 30) -> Conclusion:
    return run_sync(replace(launched, max_rounds=max_rounds), "x", model, Options(tools=tools)).unwrap()


def test_a_child_starts_with_its_task_alone() -> None:
    begun = begin(launch(context="The repository is large."), "Find the parser.", ancestry=("main",))
    assert list(begun.messages) == [Message("user", (Text("The repository is large.\n\nFind the parser."),))]
    assert begun.system == f"Prompt of scout.\n\n{ALONE}"
    assert (begun.depth, begun.ancestry) == (1, ("main", "scout"))
    assert begin(launch(valid_agent("scout", spawns="'*'")), "x").system == "Prompt of scout."


def test_a_run_from_task_to_conclusion() -> None:
    model = ScriptedModel([say("I look.", use("read", path="a.py")), say("It is in a.py.")])
    conclusion = ran(launch(), model, READ, WRITE)
    assert (conclusion.status, conclusion.text, conclusion.rounds) == ("completed", "It is in a.py.", 2)
    assert conclusion.usage == Usage(20, 10, cache_read=6)
    assert (conclusion.depth, conclusion.ancestry) == (1, ("main", "scout"))
    assert [tool.name for tool in model.requests[0].tools] == ["read", "submit_result"]
    assert model.requests[1].messages[-1] == Message("user", (ToolResult("u1", "content of a.py"),))


def test_tools_that_fail_are_answers_and_the_loop_goes_on() -> None:
    model = ScriptedModel([say("", use("read"), use("read", 4, path="gone"), use("write", 2), use("nonsense", 3)), say("Done.")])
    assert ran(launch(), model, READ, WRITE).status == "completed"
    assert model.requests[1].messages[-1].content == (
        ToolResult("u1", "ValueError: a path is needed", is_error=True),
        ToolResult("u4", "there is no file gone", is_error=True),
        ToolResult("u2", "there is no tool 'write'; there are: read, submit_result", is_error=True),
        ToolResult("u3", "there is no tool 'nonsense'; there are: read, submit_result", is_error=True),
    )
    alone = ScriptedModel([say("", use("read")), say("Done.")])
    ran(launch(), alone)
    assert alone.requests[1].messages[-1].content == (ToolResult("u1", "there is no tool 'read'; there are: submit_result", is_error=True),)


def test_input_that_does_not_fit_never_reaches_the_tool() -> None:
    model = ScriptedModel([say("", use("write")), say("Done.")])
    assert ran(launch(valid_agent("scout", tools="[write]")), model, STRICT).status == "completed"
    (answer,) = model.requests[1].messages[-1].content
    assert isinstance(answer, ToolResult)
    assert answer.is_error
    assert answer.content.startswith("the input does not fit: ")
    assert "path" in answer.content


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
        ([say("So far.", use("read"))], "error", "So far."),
    ],
)
def test_every_way_to_end(replies: list[Reply], status: str, text: str) -> None:
    conclusion = ran(launch(), ScriptedModel(replies), READ, max_rounds=2)
    assert (conclusion.status, conclusion.text) == (status, text)


def test_a_model_that_gives_no_reply_is_an_error() -> None:
    conclusion = ran(launch(), FunctionModel(lambda _: "Done."))  # type: ignore[arg-type, return-value]
    assert (conclusion.status, conclusion.reason) == ("error", "a model gives a Reply, not a str")


def asked(*uses: ToolUse, text: str = "Wait.", begun: Conversation | None = None) -> Conversation:
    """A conversation whose uses wait for their judge."""
    return advance(advance(begun or begin(launch(), "x"), Begun()).conversation, Replied(say(text, *uses))).conversation


def allowed(*uses: ToolUse, begun: Conversation | None = None) -> Conversation:
    """A conversation whose uses were allowed and wait for their results."""
    step = advance(asked(*uses, begun=begun), Judged({use.id: None for use in uses}))
    assert isinstance(step.wanted, RunTools)
    return step.conversation


def test_an_abort_answers_what_is_open_and_keeps_what_was_done() -> None:
    running = allowed(use("read"), use("write", 2))
    ended = advance(running, Aborted("the user left", {"u1": ToolResult("u1", "content")}))
    assert isinstance(ended.wanted, Conclude)
    assert (ended.wanted.conclusion.status, ended.wanted.conclusion.text, ended.wanted.conclusion.reason) == ("aborted", "Wait.", "the user left")
    assert ended.conversation.messages[-1].content == (ToolResult("u1", "content"), ToolResult("u2", "the user left", is_error=True))
    early = advance(begin(launch(), "x"), Aborted()).wanted
    assert isinstance(early, Conclude)
    assert early.conclusion.text == "The sub-agent was aborted before it said anything."


def test_a_use_without_a_result_or_a_judge_is_answered_all_the_same() -> None:
    answered = advance(allowed(use("read")), Answered({})).conversation
    assert answered.messages[-1].content == (ToolResult("u1", "the tool gave no result", is_error=True),)
    step = advance(asked(use("read")), Judged({}))
    assert isinstance(step.wanted, CallModel)
    assert step.conversation.messages[-1].content == (ToolResult("u1", "nobody judged it", is_error=True),)


def test_an_event_out_of_place_is_the_driver_s_bug() -> None:
    with pytest.raises(ProtocolError, match="a conversation that is ready takes no Failed"):
        advance(begin(launch(), "x"), Failed("x"))
    assert all(after for after in TRANSITIONS.values())


def test_a_conversation_goes_on_after_its_conclusion() -> None:
    ended = advance(advance(begin(launch(), "x"), Begun()).conversation, Replied(say("Done."))).conversation
    assert ended.state == "concluded"
    again = advance(ended, Prompted("And now?"))
    assert isinstance(again.wanted, CallModel)
    assert (again.conversation.rounds, again.conversation.messages[-1]) == (0, Message("user", (Text("And now?"),)))
    resumed = advance(ended, Resumed("run the tests first"))
    assert (resumed.conversation.rounds, resumed.conversation.conclusion) == (1, None)
    refused = advance(ended, Refused("not on a Sunday")).conversation.conclusion
    assert refused is not None
    assert (refused.status, refused.text) == ("refused", "not on a Sunday")


def test_children_side_by_side_know_nothing_of_each_other() -> None:
    found: dict[str, str] = {}

    async def one(task: str) -> None:
        model = FunctionModel(lambda request: say(f"{len(request.messages)} message(s)"))
        found[task] = (await run(launch(), task, model)).unwrap().text

    async def both() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(one, "a")
            group.start_soon(one, "b")

    anyio.run(both)
    assert found == {"a": "1 message(s)", "b": "1 message(s)"}


def test_messages_on_the_wire() -> None:
    message = Message("assistant", (Text("Hi"), use("read", path="a"), ToolResult("u1", "x"), ToolResult("u2", "y", is_error=True)))
    assert message.to_wire()["content"] == [
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "u1", "name": "read", "input": {"path": "a"}},
        {"type": "tool_result", "tool_use_id": "u1", "content": "x"},
        {"type": "tool_result", "tool_use_id": "u2", "content": "y", "is_error": True},
    ]


SCHEMA = JsonObject({"properties": JsonObject({"found": JsonObject({"type": "string"})})})


def submit(number: int = 1, **given: Json) -> ToolUse:
    return use("submit_result", number, **given)


def test_a_result_is_owed_checked_and_leaves() -> None:
    wrong, right = JsonObject({"found": 1}), JsonObject({"found": "a.py"})
    model = ScriptedModel([say("", submit(data=wrong)), say("", submit()), say("Here.", submit(data=right))])
    owing = launch(schema=SCHEMA)
    conclusion = ran(owing, model, READ)
    assert (conclusion.status, conclusion.data, conclusion.text) == ("completed", right, "Here.")
    assert [tool.name for tool in model.requests[0].tools] == ["read", "submit_result"]
    assert SUBMIT in model.requests[0].system
    assert '"found"' in model.requests[0].system
    first, second = model.requests[1].messages[-1].content[0], model.requests[2].messages[-1].content[0]
    assert isinstance(first, ToolResult)
    assert first.is_error
    assert first.content.startswith("the data does not fit the schema:")
    assert isinstance(second, ToolResult)
    assert "data" in second.content


def test_who_owes_a_result_is_reminded_three_times() -> None:
    model = ScriptedModel([say("It is a.py.")] * 4)
    conclusion = ran(launch(schema=SCHEMA), model)
    assert (conclusion.status, conclusion.text, conclusion.rounds) == ("no_result", "It is a.py.", MAX_REMINDERS + 1)
    assert [message.content[0] for message in model.requests[-1].messages if message.role == "user"][1:] == [Text(REMINDER)] * MAX_REMINDERS


def test_null_is_a_status_of_its_own() -> None:
    nullable = JsonObject({"type": "string", "nullable": True})
    conclusion = ran(launch(schema=nullable), ScriptedModel([say("", submit(data=None))]))
    assert (conclusion.status, conclusion.data) == ("null_result", None)
    unasked = ran(launch(valid_agent("scout", tools="[submit_result]")), ScriptedModel([say("Nothing there.", submit(data=None))]))
    assert (unasked.status, unasked.text) == ("null_result", "Nothing there.")


def test_a_result_may_come_with_the_last_round_and_only_once() -> None:
    both = (submit(1, data="a"), submit(2, data="b"), use("read", 3))
    conclusion = ran(launch(valid_agent("scout", tools="[read, submit_result]")), ScriptedModel([say("", *both)]), READ, max_rounds=1)
    assert (conclusion.status, conclusion.data) == ("completed", "a")


def test_a_schema_that_is_none_is_refused() -> None:
    refused = run_sync(launch(schema=JsonObject({"type": "nonsense"})), "x", ScriptedModel([])).failure()
    assert isinstance(refused, NotASchema)
    assert refused.agent == "scout"


def test_tools_that_are_listed_but_not_allowed_are_refused_without_a_judge() -> None:
    begun = begin(launch(), "x", (READ.spec, WRITE.spec))
    held = Conversation(begun.system, begun.messages, 1, ("a",), begun.tools, frozenset({"read"}))
    step = advance(advance(held, Begun()).conversation, Replied(say("", use("write"), use("read", 2))))
    assert step.wanted == Judge((use("read", 2),))
    answered = advance(advance(step.conversation, Judged({"u2": None})).conversation, Answered({"u2": ToolResult("u2", "x")})).conversation
    assert answered.messages[-1].content == (ToolResult("u1", "write may not be used here", is_error=True), ToolResult("u2", "x"))


def test_a_list_of_work_out_of_sight_is_recalled_after_three_rounds() -> None:
    conversation = begin(launch(), "x", (READ.spec, TODO_TOOL.spec))
    event: Begun | Answered = Begun()
    reminders = []
    for name in ("read", "read", "read", "read", "todo_write", "read", "read", "read"):
        conversation = advance(conversation, event).conversation
        reminders.append(conversation.messages[-1].content[-1] == Text(TODO_REMINDER))
        conversation = advance(advance(conversation, Replied(say("", use(name)))).conversation, Judged({"u1": None})).conversation
        event = Answered({"u1": ToolResult("u1", "x")})
    assert reminders == [False, False, False, True, False, False, False, False]
    assert advance(conversation, event).conversation.messages[-1].content[-1] == Text(TODO_REMINDER)
    forked = Conversation("", conversation.messages, 1, ("a",), conversation.tools, frozenset({"read"}), state="awaiting results", idle=9)
    assert advance(forked, Answered({})).conversation.messages[-1].content == ()


def test_what_is_submitted_is_checked_without_a_driver() -> None:
    begun = begin(launch(), "x", (SUBMIT_TOOL.spec,), owed=output_schema(SCHEMA).unwrap())
    running = allowed(submit(data=JsonObject({"found": "a"})), begun=begun)
    failed = advance(running, Answered({"u1": ToolResult("u1", "a hook objects", is_error=True)}))
    assert isinstance(failed.wanted, CallModel)
    done = advance(running, Answered({"u1": ToolResult("u1", "received")}))
    assert isinstance(done.wanted, Conclude)
    assert done.wanted.conclusion.data == JsonObject({"found": "a"})
