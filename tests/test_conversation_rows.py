"""A conversation as rows: a row a block, whatever its kind."""

from __future__ import annotations

from pyrsistent import pvector

from pipeline.frozen import JsonObject
from pipeline.subagent.conversation import Conversation
from pipeline.subagent.messages import Kept, Message, Text, ToolResult, ToolUse
from pipeline.view.conversation_rows import message_rows


def test_every_kind_of_block_is_a_row() -> None:
    messages = pvector(
        [
            Message("user", (Text("Count."),)),
            Message(
                "assistant", (Kept(JsonObject({"type": "thinking", "thinking": "Ü"})), Text("I look."), ToolUse("u", "ls", JsonObject({"a": 1})))
            ),
            Message("user", (ToolResult("u", "2"), ToolResult("v", "gone", is_error=True), Text("Go on."))),
            Message("assistant", (Kept(JsonObject({"x": "y"})),)),
        ]
    )
    assert message_rows(Conversation("", messages, 0, ("main",))) == [
        ("1", "user", "text", "Count."),
        ("2", "assistant", "thinking", '{"type": "thinking", "thinking": "Ü"}'),
        ("2", "assistant", "text", "I look."),
        ("2", "assistant", "tool use", 'ls {"a": 1}'),
        ("3", "user", "tool result", "2"),
        ("3", "user", "error", "gone"),
        ("3", "user", "text", "Go on."),
        ("4", "assistant", "kept", '{"x": "y"}'),
    ]
