"""The scripted model, the embedded default: it says what it was given to say, and fails loudly where that does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.subagent.messages import Message, Reply, Text, ToolResult
from pipeline.subagent.requests import ModelRequest


class ScriptError(RuntimeError):
    """A script that does not fit the conversation: it ran out, or has nothing to say to what was asked."""


@dataclass(frozen=True, slots=True)
class Line:
    """One reply of a script, and to what it is said: a text that the last message holds, a text that the system prompt holds. Empty fits all."""

    reply: Reply
    says: str = ""
    system: str = ""

    def fits(self, request: ModelRequest) -> bool:
        """Whether this is said to that."""
        return self.system in request.system and self.says in last_words(request)


class ScriptedModel:
    """A model that says each line of its script once: to a request the first unsaid line that fits it. ScriptError where none does.

    So a list of replies is said in order, and lines that tell what they are said to serve agents side by side. It keeps what it was asked.
    `name` is what its errors call the script.
    """

    def __init__(self, script: Sequence[Reply | Line], name: str = "the script") -> None:
        self._name = name
        self._script = tuple([line if isinstance(line, Line) else Line(line) for line in script])
        self.unsaid = self._script
        """The lines that are still to be said."""
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest) -> Reply:
        """The next line for this request."""
        self.requests.append(request)
        if not self.unsaid:
            raise ScriptError(f"{self._name} has {len(self._script)} replies, and another was asked for")
        at = next((at for at, line in enumerate(self.unsaid) if line.fits(request)), None)
        if at is None:
            waiting = ", ".join(map(_waits_for, self.unsaid))
            raise ScriptError(f"no reply of {self._name} fits {last_words(request)[:200]!r}; those left wait for {waiting:.200}")
        line = self.unsaid[at]
        self.unsaid = (*self.unsaid[:at], *self.unsaid[at + 1 :])
        return line.reply


def _waits_for(line: Line) -> str:
    """What a line is said to: words of the last message, words of a system prompt."""
    return " and ".join((*([repr(line.says)] if line.says else ()), *([f"a system prompt with {line.system!r}"] if line.system else ())))


def last_words(request: ModelRequest) -> str:
    r"""The text of the last message, and what tools answered in it.

    >>> from pyrsistent import pvector
    >>> last_words(ModelRequest("", (), pvector([Message("user", (ToolResult("u1", "42 lines"), Text("Go on.")))])))
    '42 lines\nGo on.'
    """
    last: Message = request.messages[-1]
    return "\n".join(block.text if isinstance(block, Text) else block.content for block in last.content if isinstance(block, Text | ToolResult))
