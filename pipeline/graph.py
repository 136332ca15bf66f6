"""Who may spawn whom: the spawn rules of the agents in force as one graph, and what follows from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from types import MappingProxyType, ModuleType

from returns.result import Failure, Result, Success

from pipeline.agent import AnyAgent, OnlyAgents
from pipeline.discovery import Discovery
from pipeline.refusal import UnknownAgent
from pipeline.selection import near_names


@dataclass(frozen=True, slots=True)
class SpawnGraph:
    """The agents in force, in order of precedence, and whom each may spawn by its own rule; who is in none of the rest spawns nobody.

    It says what the definitions allow. Guards at run time may refuse more: an agent that may spawn any may by policy spawn itself,
    and the guard against spawning oneself refuses that all the same.
    """

    agents: tuple[str, ...]
    edges: tuple[tuple[str, str], ...] = ()
    """Parent and child, for every agent that a list names: by parent, then as listed, each once."""
    any: tuple[str, ...] = ()
    """The agents that may spawn every agent; never written out as edges."""
    unknown: tuple[tuple[str, str], ...] = ()
    """Parent and name, for every name in a list that is exactly no agent's."""
    named: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    """By agent, for every agent, whom its list names."""
    free: frozenset[str] = field(init=False, repr=False, compare=False)
    """Those of `any`, to look up."""

    def __post_init__(self) -> None:
        named: dict[str, list[str]] = {name: [] for name in self.agents}
        for parent, child in self.edges:
            named[parent].append(child)
        object.__setattr__(self, "named", MappingProxyType({name: tuple(children) for name, children in named.items()}))
        object.__setattr__(self, "free", frozenset(self.any))


def spawn_graph(discovery: Discovery) -> SpawnGraph:
    """The spawn graph of the agents in force.

    >>> from pipeline.discovery import discover
    >>> from pipeline.snapshot import Snapshot
    >>> graph = spawn_graph(discover(Snapshot.from_tree({})))
    >>> graph.edges, graph.any, graph.unknown
    ((('plan', 'explore'), ('reviewer', 'explore')), ('task',), ())
    """
    known = discovery.by_name
    lists = [(agent.name, dict.fromkeys(agent.spawns.names)) for agent in known.values() if isinstance(agent.spawns, OnlyAgents)]
    return SpawnGraph(
        tuple(known),
        tuple((parent, child) for parent, names in lists for child in names if child in known),
        tuple(agent.name for agent in known.values() if isinstance(agent.spawns, AnyAgent)),
        tuple((parent, name) for parent, names in lists for name in names if name not in known),
    )


def targets(graph: SpawnGraph, name: str) -> tuple[str, ...]:
    """Whom an agent may spawn: as its list has them, or every agent in order of precedence; nobody where no agent has the name.

    >>> targets(SpawnGraph(("a", "b", "c"), edges=(("b", "c"), ("b", "a")), any=("a",)), "b")
    ('c', 'a')
    """
    return graph.agents if name in graph.free else graph.named.get(name, ())


def may_spawn(graph: SpawnGraph, parent: str, child: str) -> bool:
    """Whether the definition of one agent allows it to spawn another, or itself; false where one of the two is no agent.

    >>> graph = SpawnGraph(("a", "b"), any=("a",))
    >>> may_spawn(graph, "a", "b"), may_spawn(graph, "a", "c"), may_spawn(graph, "b", "a")
    (True, False, False)
    """
    return child in graph.named if parent in graph.free else child in graph.named.get(parent, ())


def reachable(graph: SpawnGraph, name: str, depth: int | None = None) -> Result[Mapping[str, int], UnknownAgent]:
    """Whom an agent can bring about, itself or through others, with the fewest spawns that takes, nearest first; at most `depth` of them.

    The agent itself is listed only if it can come about again. Fails where no agent has the name.

    >>> graph = SpawnGraph(("a", "b", "c"), edges=(("a", "b"), ("b", "c"), ("c", "b")))
    >>> reachable(graph, "a").unwrap(), reachable(graph, "a", 1).unwrap(), reachable(graph, "b").unwrap()
    ({'b': 1, 'c': 2}, {'b': 1}, {'c': 1, 'b': 2})
    >>> reachable(SpawnGraph(("explore", "plan")), "Explore").failure()
    UnknownAgent(name='Explore', available=('explore', 'plan'), near=('explore',))
    """
    if name not in graph.named:
        return Failure(UnknownAgent(name, graph.agents, near_names(graph.agents, name)))
    steps: dict[str, int] = {}
    frontier, taken = [name], 0
    while frontier and (depth is None or taken < depth):
        taken += 1
        frontier = list(dict.fromkeys(child for child in _next(graph, frontier) if child not in steps))
        steps |= dict.fromkeys(frontier, taken)
    return Success(steps)


def _next(graph: SpawnGraph, frontier: list[str]) -> Iterable[str]:
    """Whom these agents may spawn. One that may spawn any speaks for all: after it nobody new is left, so the whole walk stays linear."""
    if graph.free.isdisjoint(frontier):
        return chain.from_iterable(graph.named[name] for name in frontier)
    return graph.agents


def cycles(graph: SpawnGraph) -> tuple[tuple[str, ...], ...]:
    """The groups of agents that can all bring about each other, and single agents that may spawn themselves; by precedence, in a group too.

    An agent that may spawn any is in a group even when it is alone: by policy it may spawn itself, though the guard against spawning
    oneself refuses that at run time. Needs the extra `graph`; raises RuntimeError without it.

    >>> cycles(SpawnGraph(("a", "b", "c", "d"), edges=(("a", "c"), ("c", "a"), ("b", "a"), ("d", "d"))))
    (('a', 'c'), ('d',))
    """
    hub = object()  # stands for "any agent", so that n agents that may spawn any cost 2n edges and not n * n
    spawns = _networkx().DiGraph(graph.edges)
    spawns.add_edges_from((name, hub) for name in graph.any)
    spawns.add_edges_from((hub, name) for name in graph.agents)
    place = {name: at for at, name in enumerate(graph.agents)}
    groups = _networkx().strongly_connected_components(spawns)
    circles = [group - {hub} for group in groups if len(group) > 1 or any(spawns.has_edge(each, each) for each in group)]
    return tuple(sorted((tuple(sorted(circle, key=place.__getitem__)) for circle in circles), key=lambda circle: place[circle[0]]))


def unreached(graph: SpawnGraph) -> tuple[str, ...]:
    """The agents that no other agent may spawn, in order of precedence: only the main session starts them.

    >>> unreached(SpawnGraph(("a", "b", "c"), edges=(("a", "b"), ("c", "c"))))
    ('a', 'c')
    """
    match graph.any:
        case ():
            left = graph.agents
        case (_,):
            left = graph.any  # it may spawn all the others
        case _:
            return ()
    reached = {child for parent, child in graph.edges if parent != child}
    return tuple(name for name in left if name not in reached)


def layered(arrows: Iterable[tuple[int, int]]) -> dict[int, int]:
    """How many arrows it takes at least to each end of an arrow, from those to which no other leads, or else the first of a circle.

    >>> layered([(0, 1), (1, 2), (0, 2), (4, 3), (3, 4)])
    {0: 0, 3: 0, 1: 1, 2: 1, 4: 1}
    """
    children: defaultdict[int, list[int]] = defaultdict(list)
    for tail, head in arrows:
        children[tail].append(head)
    led_to = {head for tail, heads in children.items() for head in heads if head != tail}
    starts = [tail for tail in sorted(children) if tail not in led_to]
    seen = _walked(starts, children, {})
    for tail in sorted(children):
        if tail not in seen:
            starts.append(tail)
            _walked([tail], children, seen)
    return _walked(starts, children, {})


def _walked(starts: list[int], children: Mapping[int, list[int]], layers: dict[int, int]) -> dict[int, int]:
    """The layers so far, which grow by all that can be walked to from the starts and is not there yet."""
    frontier, layer = starts, 0
    while frontier:
        layers |= dict.fromkeys(frontier, layer)
        heads = (head for tail in frontier for head in children.get(tail, ()))
        frontier, layer = list(dict.fromkeys(head for head in heads if head not in layers)), layer + 1
    return layers


def _networkx() -> ModuleType:
    """The library for graphs, loaded only when it is needed: everything else here does without it."""
    try:
        return import_module("networkx")
    except ModuleNotFoundError:
        raise RuntimeError("cycles are found by networkx: pip install 'task-agent-pipeline[graph]'") from None
