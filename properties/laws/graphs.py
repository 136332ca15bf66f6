"""The spawn graph: what walks, circles and the hub for "any agent" promise, and what pictures do."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

from pipeline.discovery import Discovery
from pipeline.graph import SpawnGraph, cycles, may_spawn, reachable, spawn_graph, targets, unreached
from pipeline.view.drawing import as_dot, as_mermaid, as_svg, as_text

_SVG = "{http://www.w3.org/2000/svg}"


def a_longer_walk_goes_on_from_the_shorter(discovery: Discovery, depth: int) -> None:
    """Who can come about within some spawns can within one more, in as many as before; without a limit nobody is left out."""
    graph = spawn_graph(discovery)
    for name in graph.agents:
        near, far, all_of_them = (dict(reachable(graph, name, limit).unwrap()) for limit in (depth, depth + 1, None))
        assert near == {child: steps for child, steps in far.items() if steps <= depth}
        assert far.items() <= all_of_them.items()


def every_step_is_allowed(discovery: Discovery) -> None:
    """Who comes about in some spawns may be spawned by somebody who does in one less, and by nobody who does in still fewer."""
    graph = spawn_graph(discovery)
    for name in graph.agents:
        steps = reachable(graph, name).unwrap()
        for child, taken in steps.items():
            before = [0 if parent == name else steps[parent] for parent in {name, *steps} if may_spawn(graph, parent, child)]
            assert min(before) == taken - 1


def targets_are_who_may_be_spawned(discovery: Discovery) -> None:
    """An agent's targets are exactly the agents that it may spawn, each once."""
    graph = spawn_graph(discovery)
    for parent in (*graph.agents, "no agent at all"):
        listed = targets(graph, parent)
        assert len(listed) == len(set(listed))
        assert set(listed) == {child for child in graph.agents if may_spawn(graph, parent, child)}


def members_of_a_circle_reach_each_other(discovery: Discovery) -> None:
    """Every member of a circle can bring about every member, itself too; nobody is in two circles, and who can bring itself about is in one."""
    graph = spawn_graph(discovery)
    walks = {name: reachable(graph, name).unwrap() for name in graph.agents}
    circles = cycles(graph)
    members = [name for circle in circles for name in circle]
    assert all(child in walks[parent] for circle in circles for parent in circle for child in circle)
    assert sorted(members) == sorted(name for name in graph.agents if name in walks[name])
    assert all(graph.agents.index(one[0]) < graph.agents.index(other[0]) for one, other in pairwise(circles))


def unknown_targets_are_no_agents(discovery: Discovery) -> None:
    """Every unknown target is exactly no agent's name, and every edge leads from an agent to an agent."""
    graph = spawn_graph(discovery)
    assert all(parent in discovery.by_name and name not in discovery.by_name for parent, name in graph.unknown)
    assert all(end in discovery.by_name for edge in graph.edges for end in edge)


def the_hub_stands_for_every_edge(discovery: Discovery) -> None:
    """An agent that may spawn any is like one whose list names every agent: walks, circles and who is left alone are the same."""
    graph = spawn_graph(discovery)
    expanded = SpawnGraph(graph.agents, (*graph.edges, *((parent, child) for parent in graph.any for child in graph.agents)))
    assert cycles(graph) == cycles(expanded)
    assert unreached(graph) == unreached(expanded)
    for name in graph.agents:
        assert targets(graph, name) == targets(expanded, name)
        assert reachable(graph, name) == reachable(expanded, name)


def nobody_else_spawns_the_unreached(discovery: Discovery) -> None:
    """The unreached are exactly the agents that no agent but themselves may spawn."""
    graph = spawn_graph(discovery)
    alone = (name for name in graph.agents if not any(may_spawn(graph, other, name) for other in graph.agents if other != name))
    assert unreached(graph) == tuple(alone)


def drawings_are_whole(discovery: Discovery) -> None:
    """Whatever the names are, the picture is XML in which no box lies on another or sticks out, and each line of text is one line."""
    graph = spawn_graph(discovery)
    root = ElementTree.fromstring(as_svg(graph))  # noqa: S314 - our own text, without entities
    boxes = [tuple(float(box.attrib[key]) for key in ("x", "y", "width", "height")) for box in root.iter(f"{_SVG}rect")]
    ghosts = {name for _, name in graph.unknown}
    assert len(boxes) == len(graph.agents) + len(ghosts) + bool(graph.any)
    assert all(x >= 0 and y >= 0 for x, y, _, _ in boxes)
    assert all(x + wide <= float(root.attrib["width"]) and y + high <= float(root.attrib["height"]) for x, y, wide, high in boxes)
    for at, (x, y, wide, high) in enumerate(boxes):
        assert all(x + wide < left or left + w < x or y + high < top or top + h < y for left, top, w, h in boxes[:at])
    circles, alone = cycles(graph), unreached(graph)
    assert len(as_text(graph).splitlines()) == len(graph.agents) + len(circles) + bool(alone)
    arrows = len(graph.edges) + len(graph.unknown) + len(graph.any)
    assert len(as_mermaid(graph).splitlines()) == 2 + len(boxes) + arrows
    assert len(as_dot(graph).splitlines()) == 3 + len(boxes) + arrows
