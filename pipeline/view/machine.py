"""The machine of a conversation for people, made from its table of transitions: as rows, for Mermaid, and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from operator import mul
from typing import Final, Literal, NamedTuple, TypeAlias

from pipeline.subagent.conversation import TRANSITIONS, Event, State
from pipeline.view.drawing import _AMBER, _FILL_LINE_INK, _GREY, _HEIGHT, _VIOLET, Box, Node, _box
from pipeline.view.html import Html, html_table

Transitions: TypeAlias = Mapping[tuple[State, type[Event]], tuple[State, ...]]
Side: TypeAlias = Literal["top", "bottom", "left", "right"]
Point: TypeAlias = tuple[float, float]


class TransitionRow(NamedTuple):
    """One line of the table: in this state this event leads to one of these."""

    state: str
    event: str
    leads_to: str


class Edge(NamedTuple):
    """All that leads from one state to another."""

    tail: State
    head: State
    events: tuple[str, ...]


def transition_rows(transitions: Transitions = TRANSITIONS) -> list[TransitionRow]:
    """A row for each event that a state takes, in the order of the table."""
    return [TransitionRow(state, event.__name__, ", ".join(heads)) for (state, event), heads in transitions.items()]


def as_table(transitions: Transitions = TRANSITIONS) -> Html:
    """The transitions as a table.

    >>> as_table().count("<tr>")
    18
    """
    return html_table(("state", "event", "leads to"), transition_rows(transitions))


def edges(transitions: Transitions = TRANSITIONS) -> list[Edge]:
    """The transitions, those from one state to another as one edge.

    >>> edges()[1]
    Edge(tail='ready', head='concluded', events=('Refused', 'Aborted'))
    """
    found: dict[tuple[State, State], tuple[str, ...]] = {}
    for (tail, event), heads in transitions.items():
        for head in heads:
            found[tail, head] = (*found.get((tail, head), ()), event.__name__)
    return [Edge(tail, head, events) for (tail, head), events in found.items()]


def _states(found: Iterable[Edge]) -> list[State]:
    """The states that edges leave or enter, in the order of the edges."""
    return list(dict.fromkeys(state for edge in found for state in (edge.tail, edge.head)))


def as_mermaid(transitions: Transitions = TRANSITIONS) -> str:
    """The machine as a Mermaid state diagram.

    >>> from pipeline.subagent.conversation import Begun
    >>> print(as_mermaid({("ready", Begun): ("awaiting a reply",)}))
    stateDiagram-v2
      state "ready" as s0
      state "awaiting a reply" as s1
      s0 --> s1: Begun
    """
    found = edges(transitions)
    ids = {state: f"s{at}" for at, state in enumerate(_states(found))}
    states = (f'  state "{state}" as {known}' for state, known in ids.items())
    lines = (f"  {ids[edge.tail]} --> {ids[edge.head]}: {', '.join(edge.events)}" for edge in found)
    return "\n".join(["stateDiagram-v2", *states, *lines])


class Way(NamedTuple):
    """How an edge runs: the side on which it leaves its box and how far from the middle, the same where it enters, how far it bends, and how far
    along its label stands.
    """

    leaves: tuple[Side, float]
    enters: tuple[Side, float]
    bend: float = 44
    label: float = 0.5


_BOXES: Final[Mapping[State, Box]] = {
    "ready": Box(0, 16, 100, 88),
    "awaiting a reply": Box(0, 204, 100, 590),
    "awaiting judgement": Box(0, 140, 270, 170),
    "awaiting results": Box(0, 400, 270, 156),
    "awaiting news": Box(0, 784, 270, 140),
    "concluded": Box(0, 204, 440, 590),
}
"""Where each state stands; `layer` means nothing here."""
_WAYS: Final[Mapping[tuple[State, State], Way]] = {
    ("ready", "awaiting a reply"): Way(("right", 0), ("left", 0)),
    ("ready", "concluded"): Way(("bottom", 0), ("left", 0), 136),
    ("awaiting a reply", "awaiting a reply"): Way(("top", -50), ("top", 50), 76),
    ("awaiting a reply", "awaiting judgement"): Way(("bottom", -265), ("top", -45)),
    ("awaiting judgement", "awaiting a reply"): Way(("top", 45), ("bottom", -175)),
    ("awaiting judgement", "awaiting results"): Way(("right", 0), ("left", 0)),
    ("awaiting judgement", "concluded"): Way(("bottom", 0), ("top", -220)),
    ("awaiting results", "awaiting a reply"): Way(("top", 0), ("bottom", -21)),
    ("awaiting results", "concluded"): Way(("bottom", 0), ("top", -21)),
    ("awaiting a reply", "concluded"): Way(("bottom", 120), ("top", 120)),
    ("concluded", "awaiting a reply"): Way(("top", 220), ("bottom", 220)),
    ("awaiting a reply", "awaiting news"): Way(("bottom", 265), ("top", -35)),
    ("awaiting news", "awaiting a reply"): Way(("top", 40), ("right", 0), 84),
    ("awaiting news", "awaiting news"): Way(("right", 0), ("bottom", 40), 100, 0.46),
    ("awaiting news", "concluded"): Way(("bottom", -25), ("right", 0), 70),
    ("concluded", "concluded"): Way(("bottom", 50), ("bottom", -50), 76),
}
"""How each edge runs."""
_LINE, _CHARACTER, _HEAD = 15.0, 6.9, 9.0
_NORMAL: Final[Mapping[Side, Point]] = {"top": (0, -1), "bottom": (0, 1), "left": (-1, 0), "right": (1, 0)}
_SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="992" height="546" viewBox="0 0 992 546" role="img" style="max-width:100%;height:auto"'
    ' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="13" stroke-width="1.5">'
    "<title>What leads a conversation from state to state</title>"
)


class NoPlaceError(LookupError):
    """A state or an edge that the arrangement does not know: the table has grown, and the picture has to."""


def as_svg(transitions: Transitions = TRANSITIONS) -> Html:
    """The machine as a picture that needs nothing else. NoPlaceError where it has no place for a state or no way for an edge.

    What ends a conversation is violet, what goes on after its end amber. The colours can be read on white and on dark.

    >>> as_svg()[:39]
    '<svg xmlns="http://www.w3.org/2000/svg"'
    """
    found = edges(transitions)
    return Html("\n".join([_SVG, *map(_line, found), *map(_state, _states(found)), *map(_label, found), "</svg>"]))


def _place(state: State) -> Box:
    if state not in _BOXES:
        raise NoPlaceError(f"the picture has no place for the state {state!r}")
    return _BOXES[state]


def _way(edge: Edge) -> Way:
    if (edge.tail, edge.head) not in _WAYS:
        raise NoPlaceError(f"the picture has no way from {edge.tail!r} to {edge.head!r}")
    return _WAYS[edge.tail, edge.head]


def _state(state: State) -> str:
    """A state's box; the last has a second line."""
    box = _place(state)
    drawn = _box(Node("agent", state), box)
    inner = f'<rect x="{box.left + 4:.1f}" y="{box.middle - _HEIGHT / 2 + 4:.1f}" width="{box.width - 8:.1f}" height="{_HEIGHT - 8:.0f}" rx="5"'
    return drawn if state != "concluded" else f'{drawn}<g>{inner} fill="none" stroke="{_FILL_LINE_INK["agent"][1]}"/></g>'


def _colour(edge: Edge) -> str:
    return _VIOLET if edge.head == "concluded" else _AMBER if edge.tail == "concluded" else _GREY


def _port(box: Box, side: Side, aside: float) -> Point:
    """A place on a box's side, so far right of its middle or below it."""
    across, down = _NORMAL[side]
    x = box.left + box.width / 2 + across * box.width / 2
    y = box.middle + down * _HEIGHT / 2
    return (x + aside, y) if down else (x, y + aside)


def _along(point: Point, side: Side, distance: float) -> Point:
    """A point so far away from a box, straight from its side."""
    across, down = _NORMAL[side]
    return point[0] + across * distance, point[1] + down * distance


def _curve(edge: Edge) -> tuple[Point, Point, Point, Point]:
    """The four points of a curve from box to box; it ends where its head begins."""
    (leaves, aside), (enters, off), bend, _ = _way(edge)
    start = _port(_place(edge.tail), leaves, aside)
    base = _along(_port(_place(edge.head), enters, off), enters, _HEAD)
    return start, _along(start, leaves, bend), _along(base, enters, bend), base


def _middle(edge: Edge) -> Point:
    """Where an edge's label stands."""
    along = _way(edge).label
    weights = ((1 - along) ** 3, 3 * along * (1 - along) ** 2, 3 * along**2 * (1 - along), along**3)
    across, down = zip(*_curve(edge), strict=True)
    return sum(map(mul, weights, across)), sum(map(mul, weights, down))


def _line(edge: Edge) -> str:
    """An edge as a line and its head."""
    start, *bends, base = _curve(edge)
    across, down = _NORMAL[_way(edge).enters[0]]
    wide, high = -down * _HEAD / 2, across * _HEAD / 2
    point = f"M{base[0] + wide:.1f} {base[1] + high:.1f}l{-2 * wide:.1f} {-2 * high:.1f}L{base[0] - across * _HEAD:.1f} {base[1] - down * _HEAD:.1f}z"
    curve = " ".join(f"{x:.1f} {y:.1f}" for x, y in (*bends, base))
    colour = _colour(edge)
    return f'<path d="M{start[0]:.1f} {start[1]:.1f}C{curve}" fill="none" stroke="{colour}"/><path d="{point}" fill="{colour}"/>'


def _label(edge: Edge) -> str:
    """The events of an edge, one below the other, on a ground that hides its line; pointing at it tells from where to where."""
    x, y = _middle(edge)
    width, height = max(map(len, edge.events)) * _CHARACTER + 14, len(edge.events) * _LINE + 5
    tail, head, events = escape(edge.tail), escape(edge.head), [escape(event) for event in edge.events]
    first = y - (len(events) - 1) / 2 * _LINE + 4
    return (
        f'<g data-from="{tail}" data-to="{head}" data-events="{" ".join(events)}"><title>{tail} to {head}: {", ".join(events)}</title>'
        f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" rx="9" fill="#f8fafc"'
        f' stroke="{_colour(edge)}" stroke-width="1"/>{"".join(_word(event, x, first + at * _LINE) for at, event in enumerate(events))}</g>'
    )


def _word(event: str, x: float, y: float) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{_FILL_LINE_INK["agent"][2]}" font-size="11.5"'
        f' textLength="{len(event) * _CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs">{event}</text>'
    )
