"""The fold as a state machine: a persistent seen-set against a plain dict, step by step."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from pyrsistent import pmap

from pipeline.merging import Winners, first_wins
from properties.strategies import agent_names, candidate


class FirstWins(RuleBasedStateMachine):
    """Candidates arrive one at a time or in batches; a dict with `setdefault` says who must have won."""

    def __init__(self) -> None:
        super().__init__()
        self.winners: Winners = pmap()
        self.model: dict[str, str] = {}
        self.kept: list[tuple[Winners, dict[str, str]]] = []
        self.count = 0

    @rule(names=st.lists(agent_names(), max_size=4), broken=st.booleans())
    def arrive(self, names: list[str], broken: bool) -> None:
        """A batch of candidates arrives."""
        batch = [candidate(name, f"/{self.count + at:04}.md", broken=broken) for at, name in enumerate(names)]
        self.count += len(names)
        self.winners, outcomes = first_wins(batch, self.winners)
        for each, outcome in zip(batch, outcomes, strict=True):
            free = each.claimed not in self.model
            if not broken:
                self.model.setdefault(each.claimed, each.path)
            assert outcome.status == ("unreadable" if broken else "loaded" if free else "shadowed")
            assert outcome.winner == (None if broken or free else self.model[each.claimed])

    @rule()
    def keep(self) -> None:
        """The seen-set is kept aside, to see that later steps leave it as it is."""
        self.kept.append((self.winners, dict(self.model)))

    @invariant()
    def agrees_with_the_dict(self) -> None:
        """The seen-set holds what the dict holds, and so does every one kept aside."""
        assert dict(self.winners) == self.model
        assert all(dict(winners) == model for winners, model in self.kept)


TestFirstWins = FirstWins.TestCase
