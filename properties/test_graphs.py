"""The laws of the spawn graph, tried on small sets of agents."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.agent import AgentDefinition, AnyAgent, OnlyAgents, Spawns
from pipeline.discovery import Discovery
from pipeline.graph import cycles, spawn_graph, unreached
from properties import strategies
from properties.choosing import weighted
from properties.laws import graphs

HOSTILE = ("</svg>", '"]; x', "-->", "a\nb", "\x1b[2J", "\uffff", "\udcff", "&lt;", "", "任务", "x" * 60, "\u0301" * 99)
NAMES = weighted(strategies.agent_names(), strategies.agent_names(), st.sampled_from(HOSTILE), st.text(max_size=3))


@st.composite
def discoveries(draw: st.DrawFn) -> Discovery:
    """Up to eight agents, in half of the cases none that may spawn any; their lists name each other more often than nobody."""
    names = draw(st.lists(NAMES, max_size=8, unique=True))
    lists = st.lists(weighted(*[st.sampled_from(names or [""])] * 3, NAMES), max_size=4).map(lambda some: OnlyAgents(tuple(some)))
    hubs: list[st.SearchStrategy[Spawns | None]] = [st.builds(AnyAgent)] if draw(st.booleans()) else []
    spawns: st.SearchStrategy[Spawns | None] = weighted(lists, lists, st.none(), *hubs)
    agents = (AgentDefinition(name, "d", "", "project", f"/{at}.md", spawns=draw(spawns)) for at, name in enumerate(names))
    return Discovery(tuple(agents), files=(), project_agents_dir=None)


LAWS = (
    graphs.every_step_is_allowed,
    graphs.targets_are_who_may_be_spawned,
    graphs.members_of_a_circle_reach_each_other,
    graphs.unknown_targets_are_no_agents,
    graphs.the_hub_stands_for_every_edge,
    graphs.nobody_else_spawns_the_unreached,
    graphs.drawings_are_whole,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: str(law.__name__))
@given(discovery=discoveries())
def test_laws_of_spawn_graphs(law: Callable[[Discovery], None], discovery: Discovery) -> None:
    law(discovery)


@given(discovery=discoveries(), depth=st.integers(-1, 5))
def test_a_longer_walk_goes_on_from_the_shorter(discovery: Discovery, depth: int) -> None:
    graphs.a_longer_walk_goes_on_from_the_shorter(discovery, depth)


def test_the_strategy_reaches_the_interesting_cases() -> None:
    seen: set[str] = set()

    @settings(max_examples=600, database=None, derandomize=True)
    @given(discovery=discoveries())
    def look(discovery: Discovery) -> None:
        graph = spawn_graph(discovery)
        cases = {
            "a circle without a hub": not graph.any and any(len(circle) > 1 for circle in cycles(graph)),
            "two hubs": len(graph.any) > 1,
            "a list beside a hub": graph.any and graph.edges,
            "an unknown target": graph.unknown,
            "somebody left alone": unreached(graph),
        }
        seen.update(case for case, reached in cases.items() if reached)

    look()
    assert len(seen) == 5, seen
