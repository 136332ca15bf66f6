"""The whole road, from files on the disk to conclusions: one request, side by side, under a limit, with every event told."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from pipeline import Session, TaskItem, TaskRequest, capture, plan_launch
from pipeline.refusal import NotASchema, NothingAsked, NoWorkspace, UnknownAgent
from pipeline.subagent.context import Context
from pipeline.subagent.engine import Options
from pipeline.subagent.events import Finished, RunEvent, Said, Started, ToolFinished, ToolStarted
from pipeline.subagent.messages import Reply
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.models.scripted import Line, ScriptedModel
from pipeline.subagent.requests import ModelRequest
from pipeline.subagent.running import converse_sync, execute, execute_sync, root_context, run_sync
from properties.projects import project
from tests.talking import by_agent, first_text, in_turn, result, say, use


def request(*tasks: str, agent: str = "scout", **given: object) -> TaskRequest:
    return TaskRequest(agent, tuple([TaskItem(str(at), assignment=task) for at, task in enumerate(tasks)]), **given)  # type: ignore[arg-type]


def test_from_a_real_directory_to_a_conclusion(tmp_path: Path) -> None:
    session = project(tmp_path, scout={"tools": "[read, webfetch]"})
    (tmp_path / "proj" / "a.txt").write_text("one\ntwo\n")
    model = ScriptedModel([say("I look.", use("read_file", path="a.txt")), say("It has two lines.")])
    events: list[RunEvent] = []
    execution = execute_sync(request("Count the lines."), session, model, Options(listener=events.append)).unwrap()
    (conclusion,) = execution.conclusions
    assert (conclusion.status, conclusion.text, conclusion.ancestry) == ("completed", "It has two lines.", ("main", "scout"))
    assert execution.unanswered == ("webfetch",)
    assert [type(event) for event in events] == [Started, Said, ToolStarted, ToolFinished, Said, Finished]
    assert {(event.agent, event.depth, event.ancestry) for event in events} == {("scout", 1, ("main", "scout"))}
    assert len({event.chain for event in events}) == 1
    assert result(model.requests[1]).content == "one\ntwo\n"
    assert [event.to_json()["event"] for event in events] == ["started", "text", "tool_started", "tool_finished", "text", "finished"]


def test_nothing_is_started_on_nothing(tmp_path: Path) -> None:
    session, model = project(tmp_path, scout={}), ScriptedModel([])
    assert execute_sync(request("a", " ", ""), session, model).failure() == NothingAsked(("1", "2"))
    assert converse_sync(" \n", session, model).failure() == NothingAsked(("the prompt",))
    launch = plan_launch(request("a"), session, capture(session.cwd, session.home)).unwrap()
    assert run_sync(launch, "", model).failure() == NothingAsked(("task",))
    shared = execute_sync(request("", context="Count them all."), session, ScriptedModel([say("Three.")])).unwrap()
    assert shared.conclusions[0].text == "Three."


def test_results_keep_the_order_of_the_request_however_they_end(tmp_path: Path) -> None:
    ended: list[str] = []
    after = {"a": "b", "b": "c", "c": ""}

    async def last_first(asked: ModelRequest) -> Reply:
        task = first_text(asked)
        while after[task] not in ("", *ended):
            await anyio.sleep(0)
        ended.append(task)
        if task == "b":
            raise RuntimeError("b fell over")
        return say(f"{task} is done")

    session = project(tmp_path, scout={})
    conclusions = execute_sync(request("a", "b", "c"), session, FunctionModel(last_first)).unwrap().conclusions
    assert ended == ["c", "b", "a"]
    assert [(each.status, each.text) for each in conclusions] == [
        ("completed", "a is done"),
        ("error", "RuntimeError: b fell over"),
        ("completed", "c is done"),
    ]


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_no_more_run_at_once_than_may(tmp_path: Path, at_once: int) -> None:
    running: list[int] = [0, 0]

    async def counted(_: ModelRequest) -> Reply:
        running[0] += 1
        running[1] = max(running)
        await anyio.sleep(0.001)
        running[0] -= 1
        return say("done")

    session = project(tmp_path, scout={})
    execute_sync(request(*"abcdef"), session, FunctionModel(counted), Options(at_once=at_once)).unwrap()
    assert running == [0, at_once]


def test_one_place_is_enough_for_a_family(tmp_path: Path) -> None:
    session = project(tmp_path, boss={"spawns": "[hand]"}, hand={})
    model = by_agent(boss=in_turn(say("", use("task", agent="hand", description="Dig.")), say("They dug.")), hand=in_turn(say("Dug.")))
    (conclusion,) = execute_sync(request("Get it dug.", agent="boss"), session, model, Options(at_once=1)).unwrap().conclusions
    assert (conclusion.status, conclusion.text) == ("completed", "They dug.")


def test_refusals_are_values(tmp_path: Path) -> None:
    session = project(tmp_path, scout={})
    nobody = ScriptedModel([])
    assert isinstance(execute_sync(request("x", agent="skout"), session, nobody).failure(), UnknownAgent)
    assert execute_sync(request("x"), session, nobody, Options(workspace=str(tmp_path / "gone"))).failure() == NoWorkspace(
        str(tmp_path / "gone"), "missing"
    )
    assert isinstance(execute_sync(request("x", schema={"type": "nonsense"}), session, nobody).failure(), NotASchema)
    assert nobody.requests == []


def test_an_abort_reaches_all_and_they_conclude(tmp_path: Path) -> None:
    session = project(tmp_path, boss={"spawns": "[hand]"}, hand={})
    context = root_context()
    events: list[RunEvent] = []

    async def stuck(asked: ModelRequest) -> Reply:
        if "Prompt of boss." in asked.system:
            return say("I delegate.", use("task", agent="hand", description="Dig."))
        if len(asked.messages) == 1:
            return say("Digging.", use("bash", command="true"))
        context.cancellation.abort("enough")
        await anyio.sleep_forever()
        raise AssertionError

    async def aborted() -> None:
        found = await execute(request("x", agent="boss"), session, FunctionModel(stuck), Options(listener=events.append), context=context)
        (conclusion,) = found.unwrap().conclusions
        assert (conclusion.status, conclusion.text, conclusion.reason) == ("aborted", "I delegate.", "enough")

    anyio.run(aborted)
    assert [(event.agent, event.status, event.text) for event in events if isinstance(event, Finished)] == [
        ("hand", "aborted", "Digging."),
        ("boss", "aborted", "I delegate."),
    ]


def test_born_aborted(tmp_path: Path) -> None:
    context = Context()
    context.cancellation.abort("too late")
    nobody = ScriptedModel([])
    execution = anyio.run(lambda: execute(request("x"), project(tmp_path, scout={}), nobody, context=context)).unwrap()
    assert [(each.status, each.reason) for each in execution.conclusions] == [("aborted", "too late")]


def test_lines_of_a_script_serve_agents_side_by_side(tmp_path: Path) -> None:
    session = project(tmp_path, scout={})
    model = ScriptedModel([Line(say("B."), says="b"), Line(say("A."), says="a", system="Prompt of scout")])
    conclusions = execute_sync(request("a", "b", "c"), session, model).unwrap().conclusions
    assert [each.text for each in conclusions][:2] == ["A.", "B."]
    assert conclusions[2].reason == "ScriptError: the script has 2 replies, and another was asked for"
    assert model.unsaid == ()
    misfit = execute_sync(request("c"), session, ScriptedModel([Line(say("A."), says="a")])).unwrap().conclusions[0]
    assert misfit.reason == "ScriptError: no reply of the script fits 'c'; those left wait for 'a'"
    elsewhere = ScriptedModel([Line(say("A."), says="c", system="nowhere"), Line(say("B."), system="there")], "a.json")
    misfit = execute_sync(request("c"), session, elsewhere).unwrap().conclusions[0]
    assert misfit.reason == (
        "ScriptError: no reply of a.json fits 'c'; those left wait for 'c' and a system prompt with 'nowhere', a system prompt with 'there'"
    )


def test_a_session_in_no_directory(tmp_path: Path) -> None:
    found = execute_sync(request("x"), Session(cwd=str(tmp_path / "nowhere"), home=str(tmp_path)), ScriptedModel([]))
    assert found.failure() == NoWorkspace(str(tmp_path / "nowhere"), "missing")
