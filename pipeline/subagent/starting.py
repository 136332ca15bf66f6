"""The ways a conversation begins: a launched agent's clean context, the main conversation, a fork of one that is under way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from pyrsistent import PVector, pset, pvector
from returns.result import Failure, Result, Success

from pipeline.agent import SUBMIT_RESULT, TASK
from pipeline.launch import NOBODY, Launch
from pipeline.refusal import ForkOfFork
from pipeline.request import DEFAULT_MAX_ROUNDS
from pipeline.subagent.conversation import MAIN, Conversation
from pipeline.subagent.messages import NOTHING_USED, Message, Text, ToolResult
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.schemas import OutputSchema
from pipeline.subagent.todos import TODO_WRITE

ALONE: Final = "Do the task you are given, by yourself: delegate nothing. End with a concise conclusion; it is all that anybody sees of your work."
SUBMIT: Final = f"When you are done, call {SUBMIT_RESULT} with your result as `data`. It must fit this schema:"
PLACEHOLDER: Final = "Under way in the conversation that this one was forked from."
FORK_TAG: Final = """<fork>
You are a fork: all that stands above is the history of the conversation that you come from, and it goes on without you. Do what the directive
below says, by yourself, without a fork of your own, and end with a concise conclusion. Nothing but the conclusion goes back.
</fork>"""
MAIN_PROMPT: Final = """You work with the user in a directory of files.
Delegate work that stands by itself to sub-agents, and go on with what they conclude."""


def begin(
    launch: Launch,
    task: str,
    tools: Sequence[ToolSpec] = (),
    *,
    owed: OutputSchema | None = None,
    ancestry: Iterable[str] = (),
) -> Conversation:
    """The conversation of a launched agent: a clean context with exactly one message, its task.

    An agent that may spawn nobody is told to work alone, one that owes a result which schema it is to fit.
    """
    parts = (launch.prompt, ALONE if launch.spawns == NOBODY else "", f"{SUBMIT}\n{owed.as_text()}" if owed else "")
    return Conversation(
        "\n\n".join(part for part in parts if part),
        _asked(launch.request.message(task)),
        launch.depth,
        (*ancestry, launch.agent.name),
        tuple(tools),
        model=launch.model or (),
        thinking=launch.thinking_level,
        max_rounds=launch.max_rounds,
        owed=owed,
        vouched=1,
    )


def begin_main(
    prompt: str,
    tools: Sequence[ToolSpec] = (),
    *,
    system: str = MAIN_PROMPT,
    model: tuple[str, ...] = (),
    depth: int = 0,
    max_rounds: int = DEFAULT_MAX_ROUNDS,
) -> Conversation:
    """The main conversation, with the user's first prompt."""
    return Conversation(system, _asked(prompt), depth, (MAIN,), tuple(tools), model=model, max_rounds=max_rounds, vouched=1)


def _asked(text: str) -> PVector[Message]:
    return pvector([Message("user", (Text(text),))])


def fork(parent: Conversation, directive: str, *, may_spawn: bool = True) -> Result[Conversation, ForkOfFork]:
    """A conversation that holds its parent's, prepared so that the provider's cache hits: system prompt, tools, model and messages are the
    parent's, byte for byte; one message more answers each tool use in flight with a placeholder and ends with the directive.

    What the fork may not use stays on its list. ForkOfFork where the parent is a fork. Costs the same however long the history is.
    """
    return forkable(parent).map(partial(_forked, directive, may_spawn))


def forkable(parent: Conversation) -> Result[Conversation, ForkOfFork]:
    """The conversation, unless it is a fork itself, by its mark or by its history."""
    forked = parent.forked or is_fork(parent.messages[parent.vouched :])
    return Failure(ForkOfFork(parent.ancestry[-1])) if forked else Success(parent)


def _forked(directive: str, may_spawn: bool, parent: Conversation) -> Conversation:
    listed = frozenset([spec.name for spec in parent.tools]) if parent.allowed is None else parent.allowed
    placeholders = [ToolResult(use.id, PLACEHOLDER) for use in parent.pending]
    return replace(
        parent,
        messages=parent.messages.append(Message("user", (*placeholders, Text(FORK_TAG), Text(directive)))),
        depth=parent.depth + 1,
        ancestry=(*parent.ancestry, f"fork of {parent.ancestry[-1]}"),
        allowed=listed - ({TODO_WRITE} if may_spawn else {TODO_WRITE, TASK}),
        owed=None,
        forked=True,
        vouched=0,
        rounds=0,
        usage=NOTHING_USED,
        state="ready",
        pending=(),
        answered=(),
        said="",
        reminded=0,
        idle=0,
        open=pset(),
        conclusion=None,
    )


def is_fork(messages: Iterable[Message]) -> bool:
    """Whether a history is a fork's: the tag stands where only `fork` writes it, in a block of its own before the last of a user's message.

    What a user says is a message of one block, and what a tool says is no text block, so a quoted tag is never taken for the tag.
    """
    tag = Text(FORK_TAG)
    return any(message.role == "user" and len(message.content) > 1 and message.content[-2] == tag for message in messages)
