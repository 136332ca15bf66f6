"""The words of a conversation, in the shape of the Messages API: blocks, messages, replies, what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from pipeline.frozen import JsonObject, thaw

Role: TypeAlias = Literal["user", "assistant"]
StopReason: TypeAlias = Literal["end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal"]


@dataclass(frozen=True, slots=True)
class Text:
    """Prose."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A model's wish to use a tool; the id ties the answer to it."""

    id: str
    name: str
    input: JsonObject


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one tool use."""

    tool_use_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """A block of a kind that the engine does not read, such as a model's thinking: kept as it came, to be sent back as it came."""

    data: JsonObject


Block: TypeAlias = Text | ToolUse | ToolResult | Kept


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: tuple[Block, ...]

    def to_wire(self) -> dict[str, object]:
        """The message as JSON data.

        >>> Message("user", (Text("Hello"),)).to_wire()
        {'role': 'user', 'content': [{'type': 'text', 'text': 'Hello'}]}
        """
        return {"role": self.role, "content": [block_to_wire(block) for block in self.content]}


def block_to_wire(block: Block) -> dict[str, object]:
    """A block as JSON data; keys always in the same order, so that equal blocks are equal bytes."""
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case ToolUse(id=used, name=name, input=given):
            return {"type": "tool_use", "id": used, "name": name, "input": thaw(given)}
        case ToolResult(used, content, is_error):
            answer: dict[str, object] = {"type": "tool_result", "tool_use_id": used, "content": content}
            return answer | {"is_error": True} if is_error else answer
        case Kept(data):
            return {key: thaw(value) for key, value in data.items()}
        case _:
            assert_never(block)


@dataclass(frozen=True, slots=True)
class Usage:
    """What model calls cost, in tokens; those read from and written to the provider's cache beside those that were not.

    >>> Usage(3, 1) + Usage(2, 2, cache_read=5)
    Usage(input=5, output=3, cache_read=5, cache_written=0)
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_written: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of all kinds."""
        return self.input + self.output + self.cache_read + self.cache_written

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_written + other.cache_written,
        )


NOTHING_USED: Final = Usage()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers: prose and tool uses, why it stopped, what it cost."""

    content: tuple[Text | ToolUse | Kept, ...]
    stop_reason: StopReason = "end_turn"
    usage: Usage = NOTHING_USED

    @property
    def text(self) -> str:
        """The prose of the reply."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The tools it wants used, in order."""
        return tuple([block for block in self.content if isinstance(block, ToolUse)])
