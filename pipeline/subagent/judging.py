"""Asking hooks, policies and the approver, whatever they do: one that raises, or answers nonsense, denies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import isawaitable

from pipeline.subagent.cancellation import contained, unless_aborted
from pipeline.subagent.context import Context
from pipeline.subagent.engine import Engine
from pipeline.subagent.faults import words_of
from pipeline.subagent.messages import ToolResult, ToolUse
from pipeline.subagent.permission import NO_APPROVER, Allow, Ask, Decision, Deny, HookEvent, Occasion, Policy, settled


def occasion(event: HookEvent, context: Context, text: str = "", use: ToolUse | None = None, result: ToolResult | None = None) -> Occasion:
    """An occasion in this context."""
    return Occasion(event, context.agent, context.ancestry, context.depth, context.chain, text, use, result)


async def opinion(engine: Engine, asked: Occasion) -> Decision | None:
    """The opinion of the first hook that has one."""
    for hook in engine.options.hooks:
        try:
            held: object = await contained(partial(_asked, hook, asked))
        except Exception as error:
            return Deny(f"a hook failed: {words_of(error)}")
        if isinstance(held, Allow | Deny | Ask):
            return held
        if held is not None:
            return Deny(f"a hook gave no decision but a {type(held).__name__}")
    return None


async def _asked(whom: Callable[..., object], *about: object) -> object:
    """What somebody answers, at once or in time."""
    given = whom(*about)
    return await given if isawaitable(given) else given


async def objection(engine: Engine, context: Context, asked: Occasion) -> str | None:
    """Why hooks will not have it; None where they do, or where an abort came first. On occasions that are no tool's a question is a denial."""
    held = await unless_aborted(context.cancellation, lambda: opinion(engine, asked))
    match held:
        case Deny(reason):
            return reason
        case Ask(reason):
            return reason or "a hook asks, and there is nobody to ask"
        case _:
            return None


async def verdict(engine: Engine, context: Context, use: ToolUse) -> str | None:
    """Why a tool use may not be carried out; None where it may. A question goes to the root's approver, with the path of agents that led to it."""
    asked = occasion("PreToolUse", context, use=use)
    held = await opinion(engine, asked)
    decision = settled(held, [await _decided(policy, asked) for policy in context.policies])
    if isinstance(decision, Ask):
        decision = await _approval(context, asked, decision)
    return decision.reason if isinstance(decision, Deny) else None


async def _decided(policy: Policy, asked: Occasion) -> Decision:
    try:
        decision: object = await contained(partial(_asked, policy, asked))
    except Exception as error:
        return Deny(f"the policy failed: {words_of(error)}")
    return decision if isinstance(decision, Allow | Deny | Ask) else Deny(f"the policy gave no decision but a {type(decision).__name__}")


async def _approval(context: Context, asked: Occasion, question: Ask) -> Decision:
    approver = context.approver
    if approver is None:
        return Deny(f"{question.reason}: {NO_APPROVER}" if question.reason else NO_APPROVER)
    try:
        decision: object = await contained(partial(_asked, approver, asked, question))
    except Exception as error:
        return Deny(f"the approver failed: {words_of(error)}")
    return decision if isinstance(decision, Allow | Deny) else Deny(f"the approver gave no decision but a {type(decision).__name__}")
