"""The laws of budgets: on budgets alone, on a purse that many reach into, and on children that really run at the same time."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

import pytest
import trio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule, run_state_machine_as_test

from pipeline.request import Session
from pipeline.subagent.budget import Budget, Cost, Prices, Purse
from pipeline.subagent.messages import Usage
from properties.laws import budgets
from properties.laws.budgets import Call, Kind, Spending, Spent, Spoken
from properties.projects import project

BACKENDS = ("asyncio", "trio")
KINDS: tuple[Kind, ...] = ("input", "cache_read", "cache_written")
REACHED: Counter[str] = Counter()
HUNDREDTHS = st.sampled_from((0, 1, 50, 99, 100))
FRUGAL = Spending(Budget(tokens=1000), Prices(), ((Spoken(2, 0, 0),), (Spoken(2, 0, 0),)))
"""Each of two children could take more than half of the budget, and takes nothing."""
PRICES = st.builds(Prices, *[st.sampled_from((0.0, 0.1, 1.0, 3.75, 15.0))] * 4)
LAWS = (
    budgets.children_never_overshoot,
    budgets.enough_is_set_aside,
    budgets.children_say_all_or_meet_the_limit,
    budgets.what_was_spent_is_what_was_used,
)


def costs(turns: int = 1, tokens: int = 9, micros: int = 9) -> st.SearchStrategy[Cost]:
    return st.builds(Cost, st.integers(0, turns), st.integers(0, tokens), st.integers(0, micros))


@st.composite
def calls(draw: st.DrawFn) -> Call:
    worst = draw(costs())
    return Call(worst, draw(costs(*budgets.amounts(worst))))


def limits() -> st.SearchStrategy[Budget]:
    return st.builds(Budget, st.none() | st.integers(0, 5), st.none() | st.integers(0, 40), st.none() | st.integers(0, 40))


@st.composite
def opened(draw: st.DrawFn) -> Budget:
    """Budgets of which something is spent and set aside already."""
    budget = draw(limits())
    for call in draw(st.lists(calls(), max_size=4)):
        held = budget.reserve(call.worst).value_or(budget)
        budget = held.settle(call.worst, call.actual) if held is not budget and draw(st.booleans()) else held
    return budget


@given(opened(), costs(2, 50, 50))
def test_a_call_is_refused_only_without_room(budget: Budget, worst: Cost) -> None:
    budgets.a_call_is_refused_only_without_room(budget, worst)


@given(opened(), calls())
def test_what_is_settled_is_free_again(budget: Budget, call: Call) -> None:
    budgets.what_is_settled_is_free_again(budget, call)


@given(limits(), st.lists(calls(), min_size=1, max_size=6), st.data())
def test_no_interleaving_overshoots(budget: Budget, made: list[Call], data: st.DataObject) -> None:
    budgets.no_interleaving_overshoots(budget, made, data.draw(st.permutations([*range(len(made))] * 2)))


@given(PRICES, *[st.integers(0, 10**7)] * 4, *[st.integers(0, 9)] * 2)
def test_no_call_costs_more_than_its_worst(prices: Prices, fresh: int, output: int, read: int, written: int, more: int, longer: int) -> None:
    budgets.no_call_costs_more_than_its_worst(prices, Usage(fresh, output, read, written), fresh + read + written + more, output + longer)


class Reaching(RuleBasedStateMachine):
    """Calls reach into one purse and settle in any order, none dearer than its worst; some wait for room."""

    under_way = Bundle("under_way")
    waiting = Bundle("waiting")

    def __init__(self) -> None:
        super().__init__()
        self.purse = Purse()
        self.open: list[Call] = []
        self.spent = Cost()
        self.watchers: dict[int, tuple[ExitStack, list[int]]] = {}
        self.told = 0

    @initialize(budget=limits())
    def purse_with(self, budget: Budget) -> None:
        """The purse has its limits."""
        self.purse = Purse(budget)

    @rule(target=under_way, call=calls())
    def begin(self, call: Call) -> Call | None:
        """A call wants its worst set aside."""
        budgets.a_call_is_refused_only_without_room(self.purse.budget, call.worst)
        budgets.it_is_worth_waiting_exactly_where_it_may_fit(self.purse, call.worst)
        before, may_fit = self.purse.budget, self.purse.may_fit(call.worst)
        short = budgets.lacking(before, call.worst)
        refused = self.purse.reserve(call.worst)
        assert (refused is not None) == bool(short)
        if refused is not None:
            REACHED.update(["refused for the time being" if may_fit else f"out of {refused.limit}"])
            assert self.purse.budget == before
            return None
        self.open.append(call)
        return call

    @rule(call=consumes(under_way))
    def end(self, call: Call | None) -> None:
        """A call has ended, and all who wait are told."""
        if call is None:
            return
        self.purse.settle(call.worst, call.actual)
        self.open.remove(call)
        self.spent += call.actual
        for _, heard in self.watchers.values():
            heard[1] += 1

    @rule(target=waiting)
    def wait(self) -> int:
        """Somebody waits for room."""
        stack, heard = ExitStack(), [0, 0]
        stack.enter_context(self.purse.waiting(lambda: heard.__setitem__(0, heard[0] + 1)))
        self.watchers[self.told] = (stack, heard)
        self.told += 1
        return self.told - 1

    @rule(who=consumes(waiting))
    def give_up(self, who: int) -> None:
        """Somebody waits no more."""
        stack, heard = self.watchers.pop(who)
        stack.close()
        REACHED.update(["told"] * (heard[1] > 1))
        assert heard[0] == heard[1]

    @invariant()
    def the_purse_is_kept(self) -> None:
        """The purse holds what was spent and set aside, within its limits, and whoever waits was told of every end."""
        budgets.a_budget_is_kept(self.purse.budget)
        assert self.purse.budget.spent == self.spent
        assert self.purse.budget.reserved == sum((call.worst for call in self.open), Cost())
        assert all(told == due for _, (told, due) in self.watchers.values())


TestReaching = Reaching.TestCase
TestReaching.settings = settings(max_examples=40, stateful_step_count=30)


def test_the_purse_reaches_every_answer() -> None:
    REACHED.clear()
    run_state_machine_as_test(Reaching, settings=settings(max_examples=60, stateful_step_count=30, derandomize=True, database=None))
    assert set(REACHED) == {"refused for the time being", "out of turns", "out of tokens", "out of micros", "told"}


@st.composite
def spendings(draw: st.DrawFn) -> Spending:
    """Children whose calls interleave, on a budget that is sometimes enough."""
    spoken = st.builds(Spoken, st.integers(0, 3), HUNDREDTHS, HUNDREDTHS, st.sampled_from(KINDS))
    number = draw(st.integers(1, 4))
    children = draw(st.tuples(*[st.lists(spoken, min_size=1, max_size=4).map(tuple)] * number))
    bounded = draw(st.sampled_from(("nothing", *budgets.LIMITS, "all")))
    turns = draw(st.integers(0, sum(map(len, children)))) if bounded in ("turns", "all") else None
    tokens = draw(st.integers(0, 1500 * number)) if bounded in ("tokens", "all") else None
    micros = draw(st.integers(0, 4000 * number)) if bounded in ("micros", "all") else None
    return Spending(Budget(turns, tokens, micros), draw(PRICES), children, draw(st.integers(1, 4)), draw(st.sampled_from((1, 100, 400))))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return project(tmp_path_factory.mktemp("budgets"), hand={"tools": "[work]"})


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=40)
@given(plan=spendings(), seed=st.integers(0, 99))
@example(plan=FRUGAL, seed=0)
def test_laws_of_children_on_one_purse(backend: str, session: Session, plan: Spending, seed: int) -> None:
    trio._core._run._r.seed(seed)
    outcome = budgets.spent(plan, "hand", session, backend)
    for law in LAWS:
        law(plan, outcome)


def test_the_children_reach_every_end(session: Session) -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=60, database=None, derandomize=True)
    @given(spendings())
    def gather(plan: Spending) -> None:
        outcome = budgets.spent(plan, "hand", session, "asyncio")
        reached.update(_ends(plan, outcome))

    gather()
    assert set(reached) == {"completed", "out of turns", "out of tokens", "out of micros", "some of several", "side by side"}


def _ends(plan: Spending, outcome: Spent) -> set[str]:
    statuses = {conclusion.status for conclusion in outcome.conclusions}
    words = {f"out of {conclusion.reason.split()[4]}" for conclusion in outcome.conclusions if conclusion.status == "limit"}
    both = {"some of several"} if len(statuses) > 1 else set[str]()
    aside = {"side by side"} if any(budget.reserved.turns > 1 for budget in outcome.looks) else set[str]()
    return words | both | aside | ({"completed"} & statuses)
