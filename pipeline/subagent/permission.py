"""Hooks and permission as values: who is asked about a tool use, and how their answers come together. Isolation is never a way round them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pipeline.frozen import JsonObject
from pipeline.subagent.messages import ToolResult, ToolUse

HookEvent: TypeAlias = Literal["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStart", "SubagentStop"]


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a hook or a policy is asked about, and who asks: the agent, the path of agents from the main conversation to it, its depth and chain.

    `text` is the prompt, the task or the conclusion; `use` and `result` are there where a tool is concerned.
    """

    event: HookEvent
    agent: str
    ancestry: tuple[str, ...]
    depth: int
    chain: str
    text: str = ""
    use: ToolUse | None = None
    result: ToolResult | None = None

    @property
    def tool(self) -> str:
        """The name of the tool; empty where none is concerned."""
        return self.use.name if self.use else ""

    @property
    def input(self) -> JsonObject:
        """The tool's input; empty where no tool is concerned."""
        return self.use.input if self.use else NO_INPUT


NO_INPUT: Final = JsonObject({})


@dataclass(frozen=True, slots=True)
class Allow:
    """It may be done."""


@dataclass(frozen=True, slots=True)
class Deny:
    """It may not be done, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Whoever stands at the root is to be asked, and what about."""

    reason: str = ""


Decision: TypeAlias = Allow | Deny | Ask
Hook: TypeAlias = Callable[[Occasion], "Decision | Awaitable[Decision | None] | None"]
"""A hook's opinion of an occasion, None where it has none; one that raises denies."""
Policy: TypeAlias = Callable[[Occasion], Decision]
"""What may be done, as a pure function; one that raises denies."""
Approver: TypeAlias = Callable[[Occasion, Ask], "Allow | Deny | Awaitable[Allow | Deny]"]
"""Who is asked at the root; one that raises denies."""
ALLOW: Final = Allow()
NO_APPROVER: Final = "nobody is there to approve it"


def settled(opinion: Decision | None, decisions: Iterable[Decision]) -> Decision:
    """What comes of a hook's opinion and the decisions of all policies from the root down: any denial wins; then a question, unless the hook
    answered it; a hook that asks is heard though all policies allow.

    >>> settled(None, [Allow(), Ask("sure?"), Deny("no")]), settled(None, [Ask("sure?"), Allow()]), settled(Allow(), [Ask("sure?")])
    (Deny(reason='no'), Ask(reason='sure?'), Allow())
    """
    held = (*(() if opinion is None else (opinion,)), *decisions)
    denial = next((decision for decision in held if isinstance(decision, Deny)), None)
    if denial is not None:
        return denial
    question = next((decision for decision in held if isinstance(decision, Ask)), None)
    return question if question is not None and not isinstance(opinion, Allow) else ALLOW


def allow_all(_: Occasion) -> Decision:
    """The policy that allows everything."""
    return ALLOW


def deny_destructive(occasion: Occasion) -> Decision:
    """The default policy: denies shell commands that destroy, told by their parsed words, and allows the rest. It has no opinion of other tools.

    It stops accidents. It is no sandbox: a program that a command starts does what it likes.
    """
    command = occasion.input.get("command")
    if occasion.tool != "bash" or not isinstance(command, str):
        return ALLOW
    from pipeline.subagent.shell.destructive import destructive  # noqa: PLC0415 - the shell's grammar is loaded when a command is first judged

    reason = destructive(command)
    return ALLOW if reason is None else Deny(reason)
