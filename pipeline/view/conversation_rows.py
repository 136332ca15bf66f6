"""A conversation as rows of text, for notebooks and terminals alike; nothing is escaped yet."""

from __future__ import annotations

import json
from typing import NamedTuple, assert_never

from pipeline.frozen import thaw
from pipeline.subagent.conversation import Conversation
from pipeline.subagent.messages import Block, Kept, Text, ToolResult, ToolUse


class MessageRow(NamedTuple):
    """One block of one message: the message's number from 1, who says it, what kind of block it is, what it says."""

    number: str
    role: str
    kind: str
    text: str


def message_rows(conversation: Conversation) -> list[MessageRow]:
    """A row per block of the conversation's messages, in order."""
    return [
        MessageRow(str(number), message.role, *_kind_and_text(block))
        for number, message in enumerate(conversation.messages, 1)
        for block in message.content
    ]


def _kind_and_text(block: Block) -> tuple[str, str]:
    match block:
        case Text(text):
            return "text", text
        case ToolUse(name=name, input=given):
            return "tool use", f"{name} {json.dumps(thaw(given), ensure_ascii=False)}"
        case ToolResult(_, content, is_error):
            return "error" if is_error else "tool result", content
        case Kept(data):
            return str(data.get("type", "kept")), json.dumps(thaw(data), ensure_ascii=False)
        case _:
            assert_never(block)
