"""The spawn graph for people: in lines, for Mermaid, for Graphviz, and as a picture. All names in it are made harmless here."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate
from math import isqrt
from statistics import fmean
from typing import Final, Literal, NamedTuple, TypeAlias

from pipeline.graph import SpawnGraph, cycles, layered, unreached
from pipeline.view.html import Html
from pipeline.view.text import visible

Kind: TypeAlias = Literal["agent", "any", "unknown"]
_ANY_AGENT: Final = "any agent"
_GREY, _AMBER, _BLUE, _VIOLET, _RED = "#708099", "#d97706", "#3b82f6", "#8b5cf6", "#dc2626"
_FILL_LINE_INK: Final[Mapping[Kind, tuple[str, str, str]]] = {
    "agent": ("#eff6ff", _BLUE, "#1e293b"),
    "any": ("#f5f3ff", _VIOLET, "#5b21b6"),
    "unknown": ("#fef2f2", _RED, "#991b1b"),
}
_NOT_XML: Final = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}


class Node(NamedTuple):
    """What is drawn as one box: an agent, a name that no agent has, or "any agent"."""

    kind: Kind
    name: str


Arrow: TypeAlias = tuple[int, int]
"""From which node to which, by their indices."""


def _drawing(graph: SpawnGraph) -> tuple[list[Node], list[Arrow]]:
    """The boxes, agents first, in order of precedence, and the arrows: one to "any agent", however many agents there are."""
    nodes = [Node("agent", name) for name in graph.agents]
    nodes += [Node("unknown", name) for name in dict.fromkeys(name for _, name in graph.unknown)]
    nodes += [Node("any", _ANY_AGENT)] if graph.any else []
    at = {node: index for index, node in enumerate(nodes)}
    known = [(at[Node("agent", parent)], at[Node("agent", child)]) for parent, child in graph.edges]
    ghosts = [(at[Node("agent", parent)], at[Node("unknown", name)]) for parent, name in graph.unknown]
    free = [(at[Node("agent", parent)], at[Node("any", _ANY_AGENT)]) for parent in graph.any]
    return nodes, sorted(known + ghosts + free, key=lambda arrow: arrow[0])


def _shown(name: str) -> str:
    """A name that can stand in a line, and in XML, which has no place for two characters that terminals pass over."""
    return visible(name).translate(_NOT_XML) or '""'


def as_text(graph: SpawnGraph) -> str:
    """A line per agent with whom it may spawn, then lines for the circles and for the agents that no other may spawn.

    Needs the extra `graph`, as `cycles` does.

    >>> print(as_text(SpawnGraph(("a", "b", "c"), edges=(("a", "b"),), any=("b",), unknown=(("a", "x"),))))
    a -> b, x (no such agent)
    b -> any agent
    c -> nobody
    in a circle: a, b
    """
    children = {name: [_shown(child) for child in named] for name, named in graph.named.items()}
    children |= {name: [_ANY_AGENT] for name in graph.any}
    for parent, name in graph.unknown:
        children[parent].append(f"{_shown(name)} (no such agent)")
    lines = [f"{_shown(name)} -> {', '.join(some) or 'nobody'}" for name, some in children.items()]
    lines += [f"in a circle: {_listed(circle)}" for circle in cycles(graph)]
    alone = unreached(graph)
    return "\n".join([*lines, f"spawned by no other: {_listed(alone)}"] if alone else lines)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(_shown, names))


_MERMAID: Final[Mapping[Kind, str]] = {"agent": '["{}"]', "any": '(["{}"])', "unknown": '["{}"]:::unknown'}


def as_mermaid(graph: SpawnGraph) -> str:
    """The graph as a Mermaid flowchart.

    >>> print(as_mermaid(SpawnGraph(("a",))))
    flowchart LR
      classDef unknown stroke:#dc2626,stroke-dasharray:5 4
      n0["a"]
    """
    nodes, arrows = _drawing(graph)
    boxes = (f"  n{at}{_MERMAID[node.kind].format(_mermaid_label(node.name))}" for at, node in enumerate(nodes))
    lines = (f"  n{tail} {'-->' if nodes[head].kind == 'agent' else '-.->'} n{head}" for tail, head in arrows)
    return "\n".join(["flowchart LR", "  classDef unknown stroke:#dc2626,stroke-dasharray:5 4", *boxes, *lines])


def _mermaid_label(name: str) -> str:
    """Everything but ASCII letters, digits and what is plain in names is written by number, so that nothing is left that Mermaid reads."""
    return "".join(each if (each.isascii() and each.isalnum()) or each in " -_." else f"#{ord(each)};" for each in _shown(name))


_DASHED_BOX: Final = ', style="rounded,dashed", color="{}"'
_DOT: Final[Mapping[Kind, str]] = {"agent": "", "any": _DASHED_BOX.format(_VIOLET), "unknown": _DASHED_BOX.format(_RED)}


def as_dot(graph: SpawnGraph) -> str:
    """The graph for Graphviz.

    >>> print(as_dot(SpawnGraph(("a",))))
    digraph spawns {
      rankdir=LR; node [shape=box, style=rounded];
      n0 [label="a"];
    }
    """
    nodes, arrows = _drawing(graph)
    boxes = (f'  n{at} [label="{_dot_label(node.name)}"{_DOT[node.kind]}];' for at, node in enumerate(nodes))
    lines = (f"  n{tail} -> n{head}{'' if nodes[head].kind == 'agent' else ' [style=dashed]'};" for tail, head in arrows)
    return "\n".join(["digraph spawns {", "  rankdir=LR; node [shape=box, style=rounded];", *boxes, *lines, "}"])


def _dot_label(name: str) -> str:
    """Backslashes and quotes would end the label or stand for something, and so would an ampersand, which Graphviz reads as HTML does."""
    return _shown(name).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


_HEIGHT, _STEP, _GAP, _MARGIN, _LANE, _ROOM = 34.0, 54.0, 92.0, 20.0, 12.0, 640.0
_LETTER: Final = 7.8  # its width at 13 px
_LONGEST: Final = 26
_SWEEPS: Final = 6
_DASHES: Final[Mapping[Kind, str]] = {"agent": "", "any": ' stroke-dasharray="5 4"', "unknown": ' stroke-dasharray="5 4"'}


class Box(NamedTuple):
    """Where a box stands: its column, its left edge, its middle, its width."""

    layer: int
    left: float
    middle: float
    width: float

    def edge(self, right: bool) -> float:
        """Its right or its left edge."""
        return self.left + self.width if right else self.left


Port: TypeAlias = tuple[int, bool, bool]
"""A node, whether on its right, whether to leave: all arrows that leave on one side share a place, and so do all that enter."""


def as_svg(graph: SpawnGraph) -> Html:
    """The graph as a picture that needs nothing else: arrows run from left to right, those that run back are amber.

    Agents without arrows stand below. The colours can be read on white and on dark.

    >>> as_svg(SpawnGraph(("a", "b"), edges=(("a", "b"),)))[:39]
    '<svg xmlns="http://www.w3.org/2000/svg"'
    """
    nodes, arrows = _drawing(graph)
    boxes = _boxes(nodes, arrows)
    lanes = _lanes(boxes, arrows)
    ports = {port for arrow in arrows for port in _ends(boxes, *arrow)}
    drawn = [_arrow(boxes, lanes, ports, nodes[head].kind, tail, head) for tail, head in arrows]
    boxes |= _below(nodes, [at for at in range(len(nodes)) if at not in boxes], *_extent(boxes, lanes, arrows))
    drawn += [_box(nodes[at], box) for at, box in boxes.items()]
    return Html("\n".join([_SVG.format(*_extent(boxes, lanes, arrows)), *drawn, "</svg>"]))


_SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" role="img"'
    ' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="13" stroke-width="1.5">'
    "<title>Who may spawn whom</title>"
)


def _boxes(nodes: Sequence[Node], arrows: Sequence[Arrow]) -> dict[int, Box]:
    """The boxes with arrows, in columns."""
    layers = layered(arrows)
    columns: list[list[int]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for node, layer in sorted(layers.items()):
        columns[layer].append(node)
    widths = [max(_width(nodes[node]) for node in column) for column in columns]
    lefts = list(accumulate(widths, lambda left, width: left + width + _GAP, initial=_MARGIN))
    middles = _middles(columns, arrows)
    up = min(middles.values(), default=0) - _MARGIN - _HEIGHT / 2
    return {node: Box(layer, lefts[layer], middles[node] - up, widths[layer]) for node, layer in sorted(layers.items())}


def _middles(columns: Sequence[Sequence[int]], arrows: Iterable[Arrow]) -> dict[int, float]:
    """How low each box stands: in a few sweeps to and fro, each moves to where its neighbours are, as far as there is room."""
    beside = defaultdict(list)
    for tail, head in arrows:
        beside[tail].append(head)
        beside[head].append(tail)
    middles = {node: _STEP * (at - len(column) / 2) for column in columns for at, node in enumerate(column)}
    for column in (*columns, *reversed(columns)) * _SWEEPS:
        wanted = {node: fmean(middles[other] for other in beside[node]) for node in column}
        order = sorted(column, key=wanted.__getitem__)
        middles |= zip(order, _spread([wanted[node] for node in order]), strict=True)
    return middles


def _spread(wanted: Sequence[float]) -> list[float]:
    """Places that lie a step apart: half-way between giving way downwards only and upwards only."""
    down = accumulate(wanted, lambda last, here: max(here, last + _STEP))
    up = list(accumulate(reversed(wanted), lambda last, here: min(here, last - _STEP)))
    return [(one + other) / 2 for one, other in zip(down, reversed(up), strict=True)]


def _lanes(boxes: Mapping[int, Box], arrows: Iterable[Arrow]) -> dict[int, float]:
    """Below all columns a lane for every box that an arrow runs back to across a column: it would run through boxes otherwise."""
    heads = dict.fromkeys(head for tail, head in arrows if boxes[tail].layer - boxes[head].layer > 1)
    low = max((box.middle for box in boxes.values()), default=0) + _HEIGHT
    return {head: low + _LANE * at for at, head in enumerate(heads)}


def _extent(boxes: Mapping[int, Box], lanes: Mapping[int, float], arrows: Iterable[Arrow]) -> tuple[float, float]:
    """How wide and how high a picture must be, with a margin."""
    arcs = [boxes[tail].edge(right=True) + _GAP / 2 for tail, head in arrows if boxes[tail].layer == boxes[head].layer]
    right = max([box.edge(right=True) for box in boxes.values()] + arcs, default=0)
    low = max([box.middle + _HEIGHT / 2 for box in boxes.values()] + list(lanes.values()), default=0)
    return right + _MARGIN, low + _MARGIN


def _below(nodes: Sequence[Node], alone: Sequence[int], room: float, low: float) -> dict[int, Box]:
    """The agents without arrows, in rows below the rest."""
    width = max((_width(nodes[node]) for node in alone), default=0)
    along = max(int(max(room, _ROOM) // (width + _MARGIN)), isqrt(len(alone)))
    top = low + _HEIGHT / 2 + (_MARGIN if low > _MARGIN else 0)
    return {node: Box(0, _MARGIN + at % along * (width + _MARGIN), top + at // along * _STEP, width) for at, node in enumerate(alone)}


def _ends(boxes: Mapping[int, Box], tail: int, head: int) -> tuple[Port, Port]:
    """Where an arrow leaves and enters: what runs back leaves on the left, what does not run on enters on the right."""
    step = boxes[head].layer - boxes[tail].layer
    return (tail, step >= 0, True), (head, step <= 0, False)


def _point(boxes: Mapping[int, Box], ports: set[Port], port: Port) -> tuple[float, float]:
    """Where a port is: in the middle, or where arrows come and go on that side, those to the right above those to the left."""
    node, right, out = port
    aside = 0 if (node, right, not out) not in ports else -6 if out == right else 6
    return boxes[node].edge(right), boxes[node].middle + aside


def _arrow(boxes: Mapping[int, Box], lanes: Mapping[int, float], ports: set[Port], kind: Kind, tail: int, head: int) -> str:
    """An arrow as a line and its head."""
    step = boxes[head].layer - boxes[tail].layer
    (x, y), (tip, low) = (_point(boxes, ports, port) for port in _ends(boxes, tail, head))
    away, on = 1 if step >= 0 else -1, 1 if step > 0 else -1
    base = tip - 9 * on
    bend = min(70, 24 + abs(low - y) * 0.2) if step == 0 else abs(base - x) / 2
    line = f"C{x + bend * away:.1f} {y:.1f} {base - bend * on:.1f} {low:.1f} {base:.1f} {low:.1f}"
    line = _detour(x, lanes[head], base, low) if step < -1 else line
    colour = _FILL_LINE_INK[kind][1] if kind != "agent" else _AMBER if step < 0 else _GREY
    point = f"M{tip - on:.1f} {low:.1f}l{-9 * on} -4.5v9z"
    return f'<path d="M{x:.1f} {y:.1f}{line}" fill="none" stroke="{colour}"{_DASHES[kind]}/><path d="{point}" fill="{colour}"/>'


def _detour(x: float, lane: float, base: float, up: float) -> str:
    """Down between the columns, back along the lane, and up again, with round corners; beside what other lanes lead to."""
    aside = lane // _LANE % 5 * 4
    down, rise = x - 18 - aside, base + 16 + aside  # never in the same half of a gap
    return f"H{down + 10:.1f}q-10 0 -10 10V{lane - 10:.1f}q0 10 -10 10H{rise + 10:.1f}q-10 0 -10 -10V{up + 10:.1f}q0 -10 -10 -10H{base:.1f}"


def _box(node: Node, box: Box) -> str:
    """A box with its name, cut where it is long; pointing at it shows the whole."""
    text, columns = _cut(node.name)
    fill, line, ink = _FILL_LINE_INK[node.kind]
    return (
        f"<g><title>{escape(_shown(node.name))}</title>"
        f'<rect x="{box.left:.1f}" y="{box.middle - _HEIGHT / 2:.1f}" width="{box.width:.1f}" height="{_HEIGHT:.0f}"'
        f' rx="{17 if node.kind == "any" else 8}" fill="{fill}" stroke="{line}"{_DASHES[node.kind]}/>'
        f'<text x="{box.left + box.width / 2:.1f}" y="{box.middle + 4.5:.1f}" text-anchor="middle" fill="{ink}"'
        f' textLength="{columns * _LETTER:.1f}" lengthAdjust="spacingAndGlyphs" style="white-space:pre">{escape(text)}</text></g>'
    )


def _width(node: Node) -> float:
    return _cut(node.name)[1] * _LETTER + 28


def _cut(name: str) -> tuple[str, int]:
    """A name as far as there is room for it, and how many columns it takes; marks that take none are no reason to go on for ever."""
    shown = _shown(name)[: 3 * _LONGEST]
    ends = list(accumulate(map(_columns, shown)))
    if ends[-1] <= _LONGEST and shown == _shown(name):
        return shown, max(ends[-1], 1)
    kept = sum(end < _LONGEST for end in ends)
    return shown[:kept] + "…", ends[kept - 1] + 1


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
