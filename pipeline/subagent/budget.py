"""A budget that children share: what a model call could cost at worst is set aside before it and settled after, so that it is never overshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Final

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from pipeline.subagent.messages import Usage


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount: model calls, tokens of all kinds, money in millionths of the unit that the prices are in."""

    turns: int = 0
    tokens: int = 0
    micros: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.turns + other.turns, self.tokens + other.tokens, self.micros + other.micros)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.turns - other.turns, self.tokens - other.tokens, self.micros - other.micros)


NOTHING: Final = Cost()


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, by kind. Numbers of any one currency; tokens that have no price here are free."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_written: float = 0

    def cost(self, usage: Usage) -> Cost:
        """What one model call cost.

        >>> Prices(input=3, output=15).cost(Usage(1000, 100))
        Cost(turns=1, tokens=1100, micros=4500)
        """
        spent = usage.input * self.input + usage.output * self.output + usage.cache_read * self.cache_read + usage.cache_written * self.cache_written
        return Cost(1, usage.tokens, round(spent))

    def worst(self, input_tokens: int, output_tokens: int) -> Cost:
        """What one model call costs at most, when every token of its input is of the dearest kind."""
        dearest = max(self.input, self.cache_read, self.cache_written)
        return Cost(1, input_tokens + output_tokens, ceil(input_tokens * dearest + output_tokens * self.output))


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A call that the budget has no room for: which limit, what it is, what is left of it, what the call could take."""

    limit: str
    allowed: int
    left: int
    asked: int

    def __str__(self) -> str:
        return f"the budget of {self.allowed} {self.limit} has no room for another call: {self.left} left, and the next call could take {self.asked}"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits, what is spent of them, what is set aside for calls that are under way. A limit of None is none.

    >>> budget = Budget(turns=1).reserve(Cost(1, 50)).unwrap()
    >>> str(budget.reserve(Cost(1, 50)).failure())
    'the budget of 1 turns has no room for another call: 0 left, and the next call could take 1'
    >>> budget.settle(Cost(1, 50), Cost(1, 20)).spent
    Cost(turns=1, tokens=20, micros=0)
    """

    turns: int | None = None
    tokens: int | None = None
    micros: int | None = None
    spent: Cost = NOTHING
    reserved: Cost = NOTHING

    def reserve(self, worst: Cost) -> Result[Budget, Exhausted]:
        """The budget with the worst cost of a call set aside; the first limit that has no room for it."""
        taken = self.spent + self.reserved
        for limit in ("turns", "tokens", "micros"):
            allowed, used, asked = getattr(self, limit), getattr(taken, limit), getattr(worst, limit)
            if allowed is not None and used + asked > allowed:
                return Failure(Exhausted(limit, allowed, max(0, allowed - used), asked))
        return Success(replace(self, reserved=self.reserved + worst))

    def settle(self, worst: Cost, actual: Cost) -> Budget:
        """The budget after a call: what was set aside is free again, what it cost is spent."""
        return replace(self, reserved=self.reserved - worst, spent=self.spent + actual)


@dataclass(slots=True)
class Purse:
    """The one budget that a conversation and all below it share. Its methods run to their end at once, so that none sees half of another's work."""

    budget: Budget = field(default_factory=Budget)
    prices: Prices = field(default_factory=Prices)
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    def reserve(self, worst: Cost) -> Exhausted | None:
        """Set the worst cost of a call aside; the limit that has no room for it, if any."""
        found = self.budget.reserve(worst)
        self.budget = found.value_or(self.budget)
        return None if is_successful(found) else found.failure()

    def may_fit(self, worst: Cost) -> bool:
        """Whether there may be room for a call once those that are under way have been settled."""
        return is_successful(replace(self.budget, reserved=NOTHING).reserve(worst))

    def settle(self, worst: Cost, actual: Cost) -> None:
        """Give back what was set aside and take what the call cost; whoever waits for room is told."""
        self.budget = self.budget.settle(worst, actual)
        for watcher in tuple(self._waiting):
            watcher()

    @contextmanager
    def waiting(self, watcher: Callable[[], None]) -> Iterator[None]:
        """Within, the watcher is called whenever a call is settled."""
        self._waiting.append(watcher)
        try:
            yield
        finally:
            self._waiting.remove(watcher)
