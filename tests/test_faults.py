"""Replies that nobody can go on with: each ends its conversation with a word on why, and nothing of it is kept or done."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from pipeline import Session
from pipeline.frozen import JsonObject
from pipeline.subagent.budget import Budget
from pipeline.subagent.conversation import Begun, Conclude, Replied
from pipeline.subagent.engine import Options
from pipeline.subagent.faults import fault
from pipeline.subagent.messages import Kept, Reply, Text, ToolResult, ToolUse, Usage
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.permission import Allow, Decision, Deny, Occasion
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.running import converse
from pipeline.subagent.starting import begin_main
from pipeline.subagent.step import advance
from pipeline.subagent.tools import Tool, ToolCall
from tests.talking import in_turn, say, use

ANYTHING = JsonObject({"type": "object"})
NAN = JsonObject({"deep": (JsonObject({"n": float("nan")}),)})


def deep(levels: int) -> JsonObject:
    made = JsonObject({})
    for _ in range(levels):
        made = JsonObject({"a": made})
    return made


FAULTY: list[tuple[object, str]] = [
    (None, "a model gives a Reply, not a NoneType"),
    (Reply("Hello"), "the content of a reply is a tuple of blocks, not a str"),  # type: ignore[arg-type]
    (Reply(("Hello",)), "block 0 of the reply is a str, and no Text, ToolUse or Kept"),  # type: ignore[arg-type]
    (Reply((Text("a"), ToolResult("u", "x"))), "block 1 of the reply is a ToolResult, and no Text, ToolUse or Kept"),  # type: ignore[arg-type]
    (Reply((Text(None),)), "block 0 of the reply is a Text with a part of the wrong type"),  # type: ignore[arg-type]
    (Reply((ToolUse("u", "bash", {}),)), "block 0 of the reply is a ToolUse with a part of the wrong type"),  # type: ignore[arg-type]
    (Reply((ToolUse("", "bash", ANYTHING),)), "block 0 of the reply is a tool use without an id or a name"),
    (Reply((use("a"), use("b"))), "the reply has 2 tool uses with the id 'u1'"),
    (Reply((ToolUse("u", "a", NAN),)), "block 0 of the reply holds nan, a number that JSON has not"),
    (Reply((Kept(JsonObject({"a": {1}})),)), "block 0 of the reply holds a set, which is no JSON value"),  # type: ignore[dict-item]
    (Reply((ToolUse("u", "a", deep(5000)),)), "the reply is nested too deep"),
    (Reply((), "pause_turn"), "the reply stops for 'pause_turn', which is none of end_turn, max_tokens, refusal, stop_sequence, tool_use"),  # type: ignore[arg-type]
    (
        Reply((), usage=Usage(-1)),
        "the usage of the reply is no usage in whole numbers from 0: Usage(input=-1, output=0, cache_read=0, cache_written=0)",
    ),
    (Reply((), usage=7), "the usage of the reply is no usage in whole numbers from 0: 7"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("reply", "why"), FAULTY, ids=[why[:40] for _, why in FAULTY])
def test_a_faulty_reply_ends_its_conversation_and_nothing_of_it_is_kept(reply: object, why: str) -> None:
    assert fault(reply) == why
    begun = advance(begin_main("Go."), Begun()).conversation
    conversation, wanted = advance(begun, Replied(reply))  # type: ignore[arg-type]
    assert isinstance(wanted, Conclude)
    assert (wanted.conclusion.status, wanted.conclusion.reason) == ("error", why)
    assert conversation.messages == begun.messages


def test_a_sound_reply_has_no_fault() -> None:
    blocks = (Text("a"), Kept(JsonObject({"type": "thinking", "n": (1, 2.5, None, True)})), use("a", 1), use("a", 2))
    assert fault(Reply(blocks, "tool_use", Usage(1, 2, 3, 4))) is None


def test_a_faulty_reply_costs_all_that_it_could() -> None:
    model = FunctionModel(in_turn(Reply((use("a"), use("b")), usage=Usage(10, 5))))
    turn = anyio.run(partial(converse, "Go.", Session(), model, Options(budget=Budget(tokens=100_000), max_tokens=500))).unwrap()
    assert turn.conclusion.status == "error"
    assert 500 < turn.context.purse.budget.spent.tokens <= 100_000


def test_uses_of_one_id_share_no_verdict() -> None:
    ran: list[object] = []

    async def touch(call: ToolCall) -> str:
        ran.append(call.input["path"])
        return "touched"

    def no_secrets(occasion: Occasion) -> Decision:
        return Deny("secret") if "secret" in str(occasion.input) else Allow()

    options = Options(tools=(Tool(ToolSpec("touch", "Touches.", ANYTHING), touch),), policy=no_secrets)
    model = FunctionModel(in_turn(say("", use("touch", 1, path="secret"), use("touch", 1, path="public"))))
    turn = anyio.run(partial(converse, "Go.", Session(), model, options)).unwrap()
    assert (turn.conclusion.status, turn.conclusion.reason) == ("error", "the reply has 2 tool uses with the id 'u1'")
    assert ran == []
