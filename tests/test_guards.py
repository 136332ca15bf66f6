"""360 recorded decisions of the real program: what it refused, in its words, and what it would have started."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline import XCSH, Discovery, Snapshot, discover, render
from pipeline.launch import Launch, plan_launch
from pipeline.request import Session, TaskItem, TaskRequest
from tests.trees import DATA

RECORDED = json.loads((DATA / "guards.json").read_text("utf-8"))
CASES = RECORDED["cases"]


def definition(agent: dict[str, Any]) -> str:
    """The file of a recorded agent."""
    lines = [f"name: {agent['name']}", "description: recorded"]
    tools = [tool for tool in agent["tools"] or () if tool != "submit_result"]
    if agent["tools"] is not None:
        lines.append(f"tools: [{', '.join(tools)}]")
    if agent["spawns"] is not None:
        lines.append("spawns: '*'" if agent["spawns"] == "*" else f"spawns: [{', '.join(agent['spawns'])}]")
    if agent["output"] is not None:
        lines.append(f"output: {json.dumps(agent['output'])}")
    return "\n".join(("---", *lines, "---", "Prompt."))


@pytest.fixture(scope="module")
def found() -> Discovery:
    tree = {f".claude/agents/{agent['name']}.md": definition(agent) for agent in RECORDED["agents"]}
    return discover(Snapshot.from_tree(tree), host=XCSH)


def asked(request: dict[str, Any]) -> tuple[TaskRequest, Session]:
    tasks = tuple(TaskItem(f"T{at}", assignment="x") for at in range(request["tasks"]))
    session = Session(
        spawns=request["parent_spawns"],
        depth=request["task_depth"],
        max_depth=request["max_depth"],
        plan_mode=request["plan_mode"],
        disabled=frozenset(request["disabled"]),
        blocked=request["blocked"],
        output=request["session_schema"],
    )
    return TaskRequest(request["agent"], tasks, schema=request["params_schema"]), session


def said(launch: Launch) -> dict[str, object]:
    return {
        "tools": None if launch.tools is None else list(launch.tools),
        "spawns": launch.spawns_text,
        "depth": launch.depth,
        "output_from": launch.schema_from,
        "plan_prompt_reaches_child": launch.plan_prompt_reaches_child,
    }


def test_there_are_360_decisions() -> None:
    assert len(CASES) == 360


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_recorded_decision(case: dict[str, Any], found: Discovery) -> None:
    request, session = asked(case["request"])
    planned = plan_launch(request, session, found, host=XCSH)
    answer = planned.map(lambda launch: {"launch": said(launch)}).lash(lambda refusal: planned.from_value({"refusal": render(refusal)})).unwrap()
    expected = case["xcsh"]
    if "launch" in expected:
        # what bundled agents may use is each program's own: the record leaves it out
        answer["launch"] = {key: value for key, value in answer["launch"].items() if key in expected["launch"]}
    assert answer == expected
