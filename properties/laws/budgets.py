"""What a budget promises to those who share it: never overshot, never refused for nothing, and every token accounted for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal

import anyio
from returns.pipeline import is_successful

from pipeline.frozen import JsonObject
from pipeline.request import Session, TaskItem, TaskRequest
from pipeline.subagent.budget import NOTHING, Budget, Cost, Exhausted, Prices, Purse
from pipeline.subagent.caching import wire_bytes
from pipeline.subagent.conversation import Conclusion
from pipeline.subagent.engine import Options
from pipeline.subagent.messages import Reply, Text, ToolUse, Usage
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.requests import ModelRequest, ToolSpec
from pipeline.subagent.running import execute, root_context
from pipeline.subagent.tools import Tool, ToolCall

LIMITS: Final = ("turns", "tokens", "micros")
Kind = Literal["input", "cache_read", "cache_written"]


@dataclass(frozen=True, slots=True)
class Call:
    """A model call: what it could cost, and what it did cost, which is no more."""

    worst: Cost
    actual: Cost


def amounts(cost: Cost) -> tuple[int, ...]:
    """What a cost is, by limit."""
    return cost.turns, cost.tokens, cost.micros


def allowed(budget: Budget) -> tuple[int | None, ...]:
    """What a budget allows, by limit."""
    return budget.turns, budget.tokens, budget.micros


def lacking(budget: Budget, asked: Cost) -> tuple[str, ...]:
    """The limits that would be overshot, were this spent besides."""
    whole = zip(LIMITS, allowed(budget), amounts(budget.spent + budget.reserved + asked), strict=True)
    return tuple(limit for limit, most, taken in whole if most is not None and taken > most)


def a_budget_is_kept(budget: Budget) -> None:
    """What is spent and what is set aside are together within every limit, and neither is ever less than nothing."""
    assert not lacking(budget, NOTHING)
    assert min(amounts(budget.spent) + amounts(budget.reserved)) >= 0


def a_call_is_refused_only_without_room(budget: Budget, worst: Cost) -> None:
    """A reservation is refused exactly where it would overshoot a limit; the refusal names the first such limit and what is left of it."""
    found = budget.reserve(worst)
    short = lacking(budget, worst)
    assert is_successful(found) == (not short)
    if short:
        most, asked, taken = (int(getattr(each, short[0])) for each in (budget, worst, budget.spent + budget.reserved))
        assert found.failure() == Exhausted(short[0], most, max(0, most - taken), asked)
        return
    assert found.unwrap() == replace(budget, reserved=budget.reserved + worst)


def what_is_settled_is_free_again(budget: Budget, call: Call) -> None:
    """After a call nothing is set aside for it, and what it cost is spent."""
    held = budget.reserve(call.worst).value_or(None)
    if held is not None:
        assert held.settle(call.worst, call.actual) == replace(budget, spent=budget.spent + call.actual)


def no_interleaving_overshoots(budget: Budget, calls: Sequence[Call], order: Sequence[int]) -> None:
    """In whatever order calls begin and end, each costing no more than its worst, no limit is overshot; all that took place is spent in the end.

    `order` names each call as it begins, and again as it ends.
    """
    under_way: set[int] = set()
    done: list[Cost] = []
    for at in order:
        if at in under_way:
            under_way.remove(at)
            budget = budget.settle(calls[at].worst, calls[at].actual)
            done.append(calls[at].actual)
        else:
            held = budget.reserve(calls[at].worst).value_or(None)
            under_way |= set() if held is None else {at}
            budget = held or budget
        a_budget_is_kept(budget)
        assert budget.spent == sum(done, NOTHING)
        assert budget.reserved == sum((calls[each].worst for each in under_way), NOTHING)


def it_is_worth_waiting_exactly_where_it_may_fit(purse: Purse, worst: Cost) -> None:
    """A call may fit where there would be room for it with nothing set aside; a call that may fit and is refused is refused for one under way."""
    fits = not lacking(replace(purse.budget, reserved=NOTHING), worst)
    assert purse.may_fit(worst) == fits
    if fits and lacking(purse.budget, worst):
        assert any(amounts(purse.budget.reserved))


def no_call_costs_more_than_its_worst(prices: Prices, usage: Usage, input_tokens: int, output_tokens: int) -> None:
    """A call whose tokens are within a bound costs, in every measure, no more than the worst that was reckoned from the bound."""
    assert usage.tokens - usage.output <= input_tokens
    assert usage.output <= output_tokens
    worst, actual = prices.worst(input_tokens, output_tokens), prices.cost(usage)
    assert all(least <= most for least, most in zip(amounts(actual), amounts(worst), strict=True))


@dataclass(frozen=True, slots=True)
class Spoken:
    """One reply: after how many checkpoints it comes, how much of what it may cost it does cost, in hundredths, and of which kind its input is."""

    checkpoints: int = 0
    input: int = 100
    output: int = 100
    kind: Kind = "input"


@dataclass(frozen=True, slots=True)
class Spending:
    """Children at the same time, what each says, and the one budget that they share."""

    budget: Budget
    prices: Prices
    children: tuple[tuple[Spoken, ...], ...]
    at_once: int = 4
    max_tokens: int = 100


@dataclass(slots=True)
class Ledger(Purse):
    """A purse that writes down what was set aside for each call and what the call cost."""

    settled: list[Call] = field(default_factory=list)

    def settle(self, worst: Cost, actual: Cost) -> None:
        """Write it down, and settle."""
        self.settled.append(Call(worst, actual))
        Purse.settle(self, worst, actual)


@dataclass(slots=True)
class Spent:
    """What came of it: the purse, the conclusions, the usage of each call, and the budget as it was whenever anybody looked."""

    purse: Ledger
    conclusions: tuple[Conclusion, ...] = ()
    usages: list[Usage] = field(default_factory=list)
    looks: list[Budget] = field(default_factory=list)


@dataclass(slots=True)
class _Honest:
    """A model to which no token is less than a byte of what it is sent: its input is at most what it was before, and the bytes since."""

    plan: Spending
    spent: Spent
    counted: dict[int, tuple[int, int]] = field(default_factory=dict)

    async def __call__(self, request: ModelRequest) -> Reply:
        first = request.messages[0].content[0]
        assert isinstance(first, Text)
        child, at = int(first.text), sum(message.role == "assistant" for message in request.messages)
        replies = self.plan.children[child]
        for _ in range(replies[at].checkpoints):
            self.spent.looks.append(self.spent.purse.budget)
            await anyio.sleep(0)
        usage = self._usage(request, child, replies[at])
        self.spent.usages.append(usage)
        self.spent.looks.append(self.spent.purse.budget)
        if at + 1 < len(replies):
            return Reply((ToolUse(f"u{at}", "work", JsonObject({})),), "tool_use", usage)
        return Reply((Text("done"),), "end_turn", usage)

    def _usage(self, request: ModelRequest, child: int, spoken: Spoken) -> Usage:
        before, tokens = self.counted.get(child, (0, 0))
        sent = request.to_wire() if before == 0 else [message.to_wire() for message in request.messages[before:]]
        usage = replace(
            Usage(**{spoken.kind: (tokens + len(wire_bytes(sent))) * spoken.input // 100}),
            output=request.max_tokens * spoken.output // 100,
        )
        if usage.tokens:
            self.counted[child] = (len(request.messages) + 1, usage.tokens)
        return usage


async def _work(_: ToolCall) -> str:
    await anyio.sleep(0)
    return "worked"


WORK: Final = Tool(ToolSpec("work", "Works.", JsonObject({"type": "object"})), _work)


def spent(plan: Spending, agent: str, session: Session, backend: str) -> Spent:
    """Run the children of a plan, each as this agent of the session, which has the tool `work`, to their ends."""
    options = Options(tools=(WORK,), budget=plan.budget, prices=plan.prices, at_once=plan.at_once, max_tokens=plan.max_tokens)
    outcome = Spent(Ledger(plan.budget, plan.prices))
    context = replace(root_context(options, session), purse=outcome.purse)
    request = TaskRequest(agent, tuple([TaskItem(str(at), assignment=str(at)) for at in range(len(plan.children))]))

    async def run() -> None:
        with anyio.fail_after(30):
            model = FunctionModel(_Honest(plan, outcome))
            outcome.conclusions = (await execute(request, session, model, options, context=context)).unwrap().conclusions

    anyio.run(run, backend=backend)
    return outcome


def children_never_overshoot(plan: Spending, outcome: Spent) -> None:
    """Whenever anybody looks, what is spent and what is set aside are within the limits, and nothing is set aside when all have ended."""
    for budget in (*outcome.looks, outcome.purse.budget):
        assert allowed(budget) == allowed(plan.budget)
        a_budget_is_kept(budget)
    assert outcome.purse.budget.reserved == NOTHING


def enough_is_set_aside(plan: Spending, outcome: Spent) -> None:
    """What is set aside before a call is, in every measure that has a limit, at least what the call then costs."""
    for call in outcome.purse.settled:
        bounds = zip(allowed(plan.budget), amounts(call.actual), amounts(call.worst), strict=True)
        assert all(actual <= worst for limit, actual, worst in bounds if limit is not None)


def children_say_all_or_meet_the_limit(plan: Spending, outcome: Spent) -> None:
    """Every child has said all that it had to say, or was stopped by a limit that had indeed no room for its next call."""
    for child, conclusion in zip(plan.children, outcome.conclusions, strict=True):
        assert conclusion.status in ("completed", "limit")
        if conclusion.status == "completed":
            assert conclusion.rounds == len(child)
        else:
            assert conclusion.rounds < len(child)
            said = re.fullmatch(
                r"the budget of (\d+) (\w+) has no room for another call: \d+ left, and the next call could take (\d+)", conclusion.reason
            )
            assert said is not None
            asked = replace(NOTHING, **{said[2]: int(said[3])})
            assert said[2] in lacking(outcome.purse.budget, asked)


def what_was_spent_is_what_was_used(plan: Spending, outcome: Spent) -> None:
    """The purse has spent what the children's conclusions say they used, no more and no less."""
    used = [conclusion.usage for conclusion in outcome.conclusions]
    purse = outcome.purse.budget.spent
    assert sum(used, Usage()) == sum(outcome.usages, Usage())
    assert purse == sum(map(partial(_cost, plan.prices), outcome.usages), NOTHING)
    assert purse.turns == sum(conclusion.rounds for conclusion in outcome.conclusions)
    assert purse.tokens == sum(usage.tokens for usage in used)


def _cost(prices: Prices, usage: Usage) -> Cost:
    """What a call costs, reckoned again: whole micros, by the prices of a token."""
    kinds = ("input", "output", "cache_read", "cache_written")
    return Cost(1, usage.tokens, round(sum(getattr(usage, kind) * getattr(prices, kind) for kind in kinds)))
