"""The spawn graph and its drawings: by example, with hostile names, and at size."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

import pytest
from returns.result import Failure, Success

from pipeline.agent import AgentDefinition, AnyAgent, OnlyAgents, Spawns
from pipeline.discovery import Discovery, discover
from pipeline.graph import SpawnGraph, cycles, layered, may_spawn, reachable, spawn_graph, targets, unreached
from pipeline.refusal import UnknownAgent
from pipeline.snapshot import Snapshot
from pipeline.view.drawing import as_dot, as_mermaid, as_svg, as_text

SVG = "{http://www.w3.org/2000/svg}"
ANY = AnyAgent()
HOSTILE = (
    '"quoted"',
    "line\nbreak",
    "</svg><script>alert(1)</script>",
    "-->",
    "\x1b[2J\x00",
    "]]>&amp;",
    "\ufffe\uffff",
    "\udcff",
    "\u202eevil",
    "任务代理",
)


def graph_of(rules: dict[str, str | Spawns | None]) -> SpawnGraph:
    """The graph of agents whose rules are lists of names in a line."""
    spawns = {name: OnlyAgents(tuple(rule.split())) if isinstance(rule, str) else rule for name, rule in rules.items()}
    agents = (AgentDefinition(name, "d", "", "user", f"/{name}.md", spawns=rule) for name, rule in spawns.items())
    return spawn_graph(Discovery(tuple(agents), files=(), project_agents_dir=None))


BUNDLED = spawn_graph(discover(Snapshot.from_tree({})))
TEAM = graph_of(
    {
        "lead": "backend qa qa ghost",
        "backend": "tester",
        "qa": "tester Lead",
        "tester": "fixer",
        "fixer": "tester lead fixer",
        "closed": "",
        "silent": None,
    }
)


def picture(graph: SpawnGraph) -> ElementTree.Element:
    return ElementTree.fromstring(as_svg(graph))


def titles(graph: SpawnGraph) -> list[str | None]:
    return [title.text for title in picture(graph).findall(f"{SVG}g/{SVG}title")]


def lines(graph: SpawnGraph, colour: str) -> list[ElementTree.Element]:
    return [path for path in picture(graph).iter(f"{SVG}path") if path.get("stroke") == colour]


GREY, AMBER, VIOLET, RED = "#708099", "#d97706", "#8b5cf6", "#dc2626"


def test_the_bundled_agents() -> None:
    assert set(BUNDLED.edges) == {("plan", "explore"), ("reviewer", "explore")}
    assert (BUNDLED.any, BUNDLED.unknown, cycles(BUNDLED), unreached(BUNDLED)) == (("task",), (), (("task",),), ("task",))
    assert targets(BUNDLED, "task") == BUNDLED.agents
    assert as_text(BUNDLED).splitlines()[-2:] == ["in a circle: task", "spawned by no other: task"]


def test_lists_name_each_agent_once_and_names_match_exactly() -> None:
    assert targets(TEAM, "lead") == ("backend", "qa")
    assert TEAM.unknown == (("lead", "ghost"), ("qa", "Lead"))
    assert targets(TEAM, "closed") == targets(TEAM, "silent") == targets(TEAM, "nobody") == ()
    assert not may_spawn(TEAM, "nobody", "lead")
    assert not may_spawn(TEAM, "lead", "ghost")


def test_steps_count_the_fewest_spawns() -> None:
    assert reachable(TEAM, "lead") == Success({"backend": 1, "qa": 1, "tester": 2, "fixer": 3, "lead": 4})
    assert reachable(TEAM, "lead", 1) == Success({"backend": 1, "qa": 1})
    assert reachable(TEAM, "lead", 0) == reachable(TEAM, "silent") == Success({})
    assert reachable(TEAM, "Leed") == Failure(UnknownAgent("Leed", TEAM.agents, ("lead",)))


def test_one_step_to_a_hub_leads_everywhere() -> None:
    graph = graph_of({"a": "b", "b": ANY, "c": None})
    assert reachable(graph, "a") == Success({"b": 1, "a": 2, "c": 2})
    assert reachable(graph, "b") == Success({"a": 1, "b": 1, "c": 1})
    assert cycles(graph) == (("a", "b"),)


def test_circles_are_in_order_of_precedence() -> None:
    assert cycles(TEAM) == (("lead", "backend", "qa", "tester", "fixer"),)
    assert cycles(graph_of({"z": "y", "y": "z", "b": "b", "a": None})) == (("z", "y"), ("b",))


def test_who_is_spawned_by_no_other() -> None:
    assert unreached(TEAM) == ("closed", "silent")
    assert unreached(graph_of({"a": ANY, "b": "a"})) == ()
    assert unreached(graph_of({"a": ANY, "b": ANY, "c": None})) == ()
    assert unreached(graph_of({"a": "a"})) == ("a",)


def test_circles_say_which_extra_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(RuntimeError, match=re.escape("pip install 'task-agent-pipeline[graph]'")):
        cycles(BUNDLED)
    assert spawn_graph(discover(Snapshot.from_tree({}))) == BUNDLED
    assert reachable(BUNDLED, "plan") == Success({"explore": 1})
    assert as_svg(BUNDLED).startswith("<svg")


def test_layers_are_counted_from_every_start_at_once() -> None:
    assert layered([]) == {}
    assert layered([(5, 6), (6, 5), (6, 2), (1, 2), (2, 3)]) == {1: 0, 5: 0, 2: 1, 6: 1, 3: 2}
    assert layered([(0, 0)]) == {0: 0}


def test_the_text_says_it_all() -> None:
    assert as_text(TEAM).splitlines() == [
        "lead -> backend, qa, ghost (no such agent)",
        "backend -> tester",
        "qa -> tester, Lead (no such agent)",
        "tester -> fixer",
        "fixer -> tester, lead, fixer",
        "closed -> nobody",
        "silent -> nobody",
        "in a circle: lead, backend, qa, tester, fixer",
        "spawned by no other: closed, silent",
    ]
    assert as_text(graph_of({"a": ANY, "b": "a"})).splitlines() == ["a -> any agent", "b -> a", "in a circle: a, b"]


def test_mermaid_and_graphviz_mark_what_is_special() -> None:
    graph = graph_of({"a": "b ghost", "b": ANY})
    assert as_mermaid(graph).splitlines()[2:] == [
        '  n0["a"]',
        '  n1["b"]',
        '  n2["ghost"]:::unknown',
        '  n3(["any agent"])',
        "  n0 --> n1",
        "  n0 -.-> n2",
        "  n1 -.-> n3",
    ]
    assert as_dot(graph).splitlines()[2:-1] == [
        '  n0 [label="a"];',
        '  n1 [label="b"];',
        '  n2 [label="ghost", style="rounded,dashed", color="#dc2626"];',
        '  n3 [label="any agent", style="rounded,dashed", color="#8b5cf6"];',
        "  n0 -> n1;",
        "  n0 -> n2 [style=dashed];",
        "  n1 -> n3 [style=dashed];",
    ]


def test_the_picture_has_a_box_for_everyone_and_an_arrow_for_every_rule() -> None:
    assert set(titles(TEAM)) == {*TEAM.agents, "ghost", "Lead"}
    assert len(titles(TEAM)) == len(TEAM.agents) + 2
    assert (len(lines(TEAM, GREY)), len(lines(TEAM, AMBER))) == (6, 2)
    assert len([path for path in lines(TEAM, RED) if path.get("stroke-dasharray")]) == 2
    assert titles(BUNDLED)[-2:] == ["designer", "quick_task"]
    assert len(lines(BUNDLED, VIOLET)) == 1


def test_an_arrow_far_back_runs_below_every_box() -> None:
    graph = graph_of({"r": "a", "a": "b", "b": "r"})
    (far,) = lines(graph, AMBER)
    lowest = max(float(box.attrib["y"]) + float(box.attrib["height"]) for box in picture(graph).iter(f"{SVG}rect"))
    assert max(float(low) for low in re.findall(r"V([\d.]+)", far.attrib["d"])) + 10 > lowest


def test_pictures_of_next_to_nothing() -> None:
    assert as_text(graph_of({})) == ""
    assert titles(graph_of({})) == []
    assert picture(graph_of({"only": None})).get("height") == "74"


def test_long_names_are_cut_and_wide_ones_take_more_room() -> None:
    long, wide, marks = "x" * 40, "任" * 14, "e" + "\u0301" * 99
    texts = [text.text or "" for text in picture(graph_of({long: None, wide: None, marks: None, "short": None})).iter(f"{SVG}text")]
    assert [len(text) for text in texts] == [26, 13, 79, 5]
    assert [text[-1] for text in texts] == ["…", "…", "…", "t"]
    assert titles(graph_of({long: None})) == [long]


@pytest.mark.parametrize("name", [*HOSTILE, "", "\u0301"])
def test_hostile_names_stay_text(name: str) -> None:
    graph = graph_of({name: OnlyAgents(("a", name + "?")), "a": OnlyAgents((name,)), "b": ANY})
    root = picture(graph)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {"svg", "title", "g", "rect", "text", "path"}
    assert len(as_text(graph).splitlines()) == 3 + 3
    assert len(as_dot(graph).splitlines()) == 3 + 5 + 4
    for line in as_dot(graph).splitlines()[2:7]:
        assert re.fullmatch(r' {2}n\d \[label="(?:[^"\\]|\\["\\])*"(?:, style="[a-z,]+", color="#[0-9a-f]+")?\];', line)
    for line in as_mermaid(graph).splitlines()[2:7]:
        assert re.fullmatch(r' {2}n\d\(?\["(?:[\w .-]|#\d+;)+"\]\)?(?::::unknown)?', line)
    for drawn in (as_text(graph), as_dot(graph), as_mermaid(graph), as_svg(graph)):
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e\ud800-\udfff\ufffe\uffff]", drawn)


def test_drawings_are_the_same_each_time() -> None:
    again = graph_of({"a": "c b ghost", "b": "a", "c": "b a", "d": ANY})
    assert as_svg(again) == as_svg(graph_of({"a": "c b ghost", "b": "a", "c": "b a", "d": ANY}))


@pytest.mark.parametrize("rule", [ANY, "agent-0 agent-1 agent-9999 ghost"], ids=["any", "lists"])
def test_ten_thousand_agents(rule: str | Spawns) -> None:
    graph = graph_of({f"agent-{at}": rule for at in range(10_000)})
    assert len(reachable(graph, "agent-5").unwrap()) == (10_000 if rule is ANY else 3)
    assert len(cycles(graph)) == 1
    assert unreached(graph) == (() if rule is ANY else graph.agents[2:-1])
    assert as_svg(graph).endswith("</svg>")
    assert as_text(graph).startswith("agent-0 -> ")


def test_a_chain_of_ten_thousand_needs_no_deep_recursion() -> None:
    graph = graph_of({f"agent-{at}": f"agent-{(at + 1) % 10_000}" for at in range(10_000)})
    assert reachable(graph, "agent-0").unwrap()["agent-0"] == 10_000
    assert len(cycles(graph)[0]) == 10_000
    assert as_svg(graph).endswith("</svg>")
