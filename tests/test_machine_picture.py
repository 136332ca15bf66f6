"""The picture of the machine: all of its table is in it, and nothing in it hides anything else."""

from __future__ import annotations

import re
from itertools import combinations
from typing import cast, get_args
from xml.etree import ElementTree as ET

import pytest

from pipeline.subagent.conversation import TRANSITIONS, Begun, State
from pipeline.view.machine import _WAYS, Edge, NoPlaceError, as_mermaid, as_svg, as_table, edges, transition_rows

SVG = "{http://www.w3.org/2000/svg}"
TABLE = {(state, event.__name__, head) for (state, event), heads in TRANSITIONS.items() for head in heads}
Area = tuple[float, float, float, float]


def picture() -> ET.Element:
    return ET.fromstring(as_svg())


def groups() -> list[ET.Element]:
    """The labels of the edges."""
    return [group for group in picture().iter(f"{SVG}g") if "data-from" in group.attrib]


def test_rows_and_table_are_the_transitions() -> None:
    assert {(row.state, row.event, head) for row in transition_rows() for head in row.leads_to.split(", ")} == TABLE
    assert as_table().count("<tr>") == len(TRANSITIONS) + 1


def test_edges_are_the_transitions_each_once() -> None:
    assert {(edge.tail, event, edge.head) for edge in edges() for event in edge.events} == TABLE
    assert sum(len(edge.events) for edge in edges()) == len(TABLE)


def test_mermaid_has_every_transition_and_nothing_that_it_could_misread() -> None:
    head, *lines = as_mermaid().splitlines()
    assert head == "stateDiagram-v2"
    names = {known: state for state, known in re.findall(r'^  state "([a-z ]+)" as (s\d)$', "\n".join(lines), re.MULTILINE)}
    assert set(names.values()) == set(get_args(State))
    drawn = [found for line in lines if (found := re.fullmatch(r"  (s\d) --> (s\d): ([A-Za-z, ]+)", line))]
    assert {(names[found[1]], event, names[found[2]]) for found in drawn for event in found[3].split(", ")} == TABLE
    assert len(lines) == len(names) + len(drawn)


def test_the_picture_has_every_transition_and_says_so() -> None:
    root = picture()
    assert root.attrib["role"] == "img"
    assert root.findtext(f"{SVG}title") == "What leads a conversation from state to state"
    found = {(group.attrib["data-from"], event, group.attrib["data-to"]) for group in groups() for event in group.attrib["data-events"].split()}
    assert found == TABLE
    for group in groups():
        words = [text.text or "" for text in group.iter(f"{SVG}text")]
        assert words == group.attrib["data-events"].split()
        assert group.findtext(f"{SVG}title") == f"{group.attrib['data-from']} to {group.attrib['data-to']}: {', '.join(words)}"
    assert len(list(root.iter(f"{SVG}path"))) == 2 * len(groups())


def test_the_arrangement_knows_no_edge_that_the_table_has_not() -> None:
    assert set(_WAYS) == {(edge.tail, edge.head) for edge in edges()}


@pytest.mark.parametrize(
    ("tail", "head", "said"),
    [
        ("asleep", "ready", "the picture has no way from 'asleep' to 'ready'"),
        ("ready", "ready", "the picture has no way from 'ready' to 'ready'"),
    ],
)
def test_an_edge_without_a_way_is_told(tail: str, head: str, said: str) -> None:
    with pytest.raises(NoPlaceError, match=said):
        as_svg({(cast("State", tail), Begun): (cast("State", head),)})


def test_a_state_without_a_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asleep = cast("State", "asleep")
    monkeypatch.setitem(_WAYS, (asleep, "ready"), _WAYS["ready", "concluded"])
    with pytest.raises(NoPlaceError, match="the picture has no place for the state 'asleep'"):
        as_svg({(asleep, Begun): ("ready",)})
    assert as_mermaid({(asleep, Begun): ("ready",)}).endswith("s0 --> s1: Begun")


def area(rect: ET.Element) -> Area:
    x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def apart(one: Area, other: Area) -> bool:
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def inside(x: float, y: float, where: Area) -> bool:
    return where[0] < x < where[2] and where[1] < y < where[3]


def areas() -> tuple[dict[str, Area], dict[Edge, Area]]:
    """The boxes of the states, and the grounds of the labels."""
    boxes, labels = {}, {}
    by_ends = {(edge.tail, edge.head): edge for edge in edges()}
    for group in picture().iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        if "data-from" in group.attrib:
            labels[by_ends[cast("State", group.attrib["data-from"]), cast("State", group.attrib["data-to"])]] = area(rect)
        elif (name := group.findtext(f"{SVG}title")) is not None:
            boxes[name] = area(rect)
    return boxes, labels


def points() -> list[list[tuple[float, float]]]:
    """Points along each edge, in the order of the edges."""
    found = []
    for path in picture().iter(f"{SVG}path"):
        if "stroke" in path.attrib:
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.attrib["d"])]
            found.append([(bezier(numbers[::2], step / 100), bezier(numbers[1::2], step / 100)) for step in range(1, 101)])
    return found


def bezier(four: list[float], along: float) -> float:
    a, b, c, d = four
    return a * (1 - along) ** 3 + 3 * b * along * (1 - along) ** 2 + 3 * c * along**2 * (1 - along) + d * along**3


def test_no_two_boxes_or_labels_overlap_and_all_are_in_the_picture() -> None:
    boxes, labels = areas()
    everything = [*boxes.values(), *labels.values()]
    assert set(boxes) == set(get_args(State))
    assert all(apart(one, other) for one, other in combinations(everything, 2))
    frame = picture().attrib
    assert all(min(each) >= 0 and each[2] <= float(frame["width"]) and each[3] <= float(frame["height"]) for each in everything)


def test_no_edge_runs_through_a_box_or_another_s_label() -> None:
    boxes, labels = areas()
    for edge, line in zip(edges(), points(), strict=True):
        others = [*boxes.values(), *(where for other, where in labels.items() if other != edge)]
        assert not [point for point in line for where in others if inside(*point, where)], edge
        assert any(inside(*point, labels[edge]) for point in line), edge


def test_no_two_edges_cross() -> None:
    for one, other in combinations(points(), 2):
        assert min(abs(x - u) + abs(y - v) for x, y in one for u, v in other) > 5
