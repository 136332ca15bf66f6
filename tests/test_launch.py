"""Requests, sessions and launches by example: what STANDARD does otherwise than XCSH, what bad input gets, what changed and drifted."""

from __future__ import annotations

from typing import Any

import pytest
from returns.result import Failure, Success

from pipeline import (
    STANDARD,
    XCSH,
    AnyAgent,
    Discovery,
    Host,
    Launch,
    OnlyAgents,
    Session,
    Snapshot,
    TaskItem,
    TaskRequest,
    describe,
    diff,
    discover,
    drift,
    launches_along,
    lifting,
    parse_request,
    plan_launch,
    render,
)
from pipeline.changes import Changed, ChangedHands, Difference, Gone, Undescribed
from pipeline.description import STRUCTURED, Settings
from pipeline.launch import PLAN_PROMPT, PLAN_TOOLS
from pipeline.refusal import AgentDisabled, BadTaskIds, CannotEncode, NoTasks, SpawnForbidden, SpawnsItself, UnknownAgent
from pipeline.request import InvalidValueError
from properties.strategies import valid_agent

TASKS = (TaskItem("one", assignment="x"),)


def found(**files: str) -> Discovery:
    return discover(Snapshot.from_tree({f".claude/agents/{name}.md": text for name, text in files.items()}))


def launched(text: str, host: Host = STANDARD, **session: Any) -> Launch:
    seen = discover(Snapshot.from_tree({".claude/agents/a.md": text}), host=host)
    return plan_launch(TaskRequest("a", TASKS), Session(**session), seen, host=host).unwrap()


WRITER = valid_agent("a", tools="[read, write, task]", spawns="[explore]")
DOES_ALL = valid_agent("a", spawns="'*'")


def test_at_the_limit_every_tool_is_every_tool_but_task() -> None:
    standard = launched(DOES_ALL, depth=1)
    assert (standard.tools, standard.withheld, standard.may_use("task"), standard.may_use("bash")) == (None, ("task",), False, True)
    xcsh = launched(DOES_ALL, XCSH, depth=1)
    assert (xcsh.tools, xcsh.withheld, xcsh.may_use("task"), xcsh.spawns_text) == (None, (), True, "")


def test_plan_mode_is_enforced_or_a_labelled_hole() -> None:
    standard = launched(WRITER, plan_mode=True)
    assert (standard.tools, standard.spawns, standard.plan_mode) == (("read", "submit_result"), OnlyAgents(()), "enforced")
    assert standard.prompt == f"{PLAN_PROMPT}\n\nPrompt of a."
    assert launched(DOES_ALL, plan_mode=True).tools == (*PLAN_TOOLS, "submit_result")
    xcsh = launched(WRITER, XCSH, plan_mode=True)
    assert (xcsh.tools, xcsh.spawns_text, xcsh.plan_mode) == (("read", "write", "task", "submit_result"), "explore", "as_documented")
    assert xcsh.prompt == "Prompt of a."
    assert not xcsh.plan_prompt_reaches_child


def test_a_name_with_a_comma_is_never_put_in_a_list() -> None:
    text = valid_agent("a", spawns='["x,y", z]')
    refusal = plan_launch(TaskRequest("a", TASKS), Session(), found(a=text)).failure()
    assert refusal == CannotEncode("a", "x,y", "a comma")
    assert launched(text, XCSH).spawns_text == "x,y,z"
    assert launched(text, depth=1).spawns_text == ""


def test_task_comes_with_spawns_and_goes_at_the_limit() -> None:
    text = valid_agent("a", tools="[read]", spawns="[explore]")
    assert launched(text).tools == ("read", "submit_result", "task")
    assert launched(text, depth=1).tools == ("read", "submit_result")
    assert launched(text, depth=9, max_depth=-1).tools == ("read", "submit_result", "task")
    assert launched(valid_agent("a", tools="[read]", spawns="[]")).tools == ("read", "submit_result")


def test_exec_stands_for_what_the_session_runs() -> None:
    text = valid_agent("a", tools="[exec, bash]")
    assert launched(text).tools == ("bash", "submit_result", "python")
    assert launched(text, exec_mode="bash").tools == ("bash", "submit_result")
    assert launched(valid_agent("a", tools="[exec]"), exec_mode="python").tools == ("submit_result", "python")


def test_models_and_schemas_in_their_order() -> None:
    text = valid_agent("a", model="own, second", output="{type: string}", thinking="high")
    own = launched(text, model=("session",), output={"type": "int8"})
    assert (own.model, own.schema, own.schema_from, own.thinking_level) == (("own", "second"), {"type": "string"}, "agent", "high")
    assert launched(text, models={"a": ("override",)}).model == ("override",)
    plain = launched(valid_agent("a"), model=("session",), output={"type": "int8"})
    assert (plain.model, plain.schema, plain.schema_from) == (("session",), {"type": "int8"}, "session")
    newest = plan_launch(TaskRequest("a", TASKS, schema="{}"), Session(schema_order=("call", "agent", "session")), found(a=text)).unwrap()
    assert (newest.schema, newest.schema_from) == ({}, "call")


@pytest.mark.parametrize(
    ("request_", "session", "text", "way_out"),
    [
        (TaskRequest("Explore", TASKS), Session(), 'Unknown agent "Explore". Available: ', "ask for explore, or define Explore"),
        (TaskRequest("zebra", TASKS), Session(), 'Unknown agent "zebra". Available: ', "define zebra in an agents directory"),
        (TaskRequest("plan", TASKS), Session(disabled=frozenset({"plan"})), 'Agent "plan" is disabled in settings. ', "enable plan in the settings"),
        (TaskRequest("plan"), Session(), "No tasks provided. ", "give it a task"),
        (TaskRequest("plan", (TaskItem(""),)), Session(), "Invalid tasks: Missing task ids at indexes: 0", "give every task an id of its own"),
        (
            TaskRequest("plan", (TaskItem("a"), TaskItem("b"), TaskItem("A"), TaskItem("B"))),
            Session(),
            "Invalid tasks: Duplicate task ids detected (case-insensitive): a (indexes 0, 2); b (indexes 1, 3)",
            "give every task an id of its own",
        ),
        (
            TaskRequest("plan", TASKS),
            Session(blocked="plan"),
            "Cannot spawn plan agent from within itself (recursion prevention). Use a different agent type.",
            "ask for another agent, or do the work here",
        ),
        (TaskRequest("plan", TASKS), Session(spawns=" a ,b"), "Cannot spawn 'plan'. Allowed:  a ,b", "add plan to the spawns of the agent that asks"),
        (TaskRequest("plan", TASKS), Session(spawns=OnlyAgents(("a", "b"))), "Cannot spawn 'plan'. Allowed: a,b", "add plan to"),
        (
            TaskRequest("plan", TASKS),
            Session(spawns=OnlyAgents(())),
            "Cannot spawn 'plan'. Allowed: none (spawns disabled for this agent)",
            "declare `spawns: plan` in the agent that asks; at the depth limit nothing helps",
        ),
    ],
)
def test_refusals_in_words(request_: TaskRequest, session: Session, text: str, way_out: str) -> None:
    refusal = plan_launch(request_, session, found()).failure()
    assert render(refusal).startswith(text)
    assert lifting(refusal).startswith(way_out)


def test_refusals_where_there_is_nothing_at_all() -> None:
    nothing = Discovery((), (), None)
    assert render(plan_launch(TaskRequest("a", TASKS), Session(), nothing).failure()) == 'Unknown agent "a". Available: none'
    assert render(AgentDisabled("a", ())).endswith("Available: none")
    assert render(CannotEncode("a", "x,y", "a comma")).startswith("Cannot hand on the spawn policy of 'a': the name 'x,y' holds a comma")
    assert lifting(CannotEncode("a", "x,y", "a comma")) == "rename x,y"


def test_the_first_refusal_is_the_answer() -> None:
    blocked = Session(spawns="", blocked="plan")
    everything_wrong = Session(spawns="", blocked="plan", disabled=frozenset({"plan"}))
    asked = (
        (TaskRequest("plan"), everything_wrong, AgentDisabled),
        (TaskRequest("plan"), blocked, NoTasks),
        (TaskRequest("plan", (TaskItem(""),)), blocked, BadTaskIds),
        (TaskRequest("plan", TASKS), blocked, SpawnsItself),
        (TaskRequest("plan", TASKS), Session(spawns=""), SpawnForbidden),
    )
    for request, session, kind in asked:
        assert type(plan_launch(request, session, found()).failure()) is kind
    assert isinstance(plan_launch(TaskRequest("nope"), everything_wrong, found()).failure(), UnknownAgent)


def test_a_path_of_spawns() -> None:
    launches = launches_along(["task", "plan", "explore"], Session(max_depth=3), Snapshot.from_tree({})).unwrap()
    assert [(launch.agent.name, launch.depth, launch.spawns_text) for launch in launches] == [
        ("task", 1, "*"),
        ("plan", 2, "explore"),
        ("explore", 3, ""),
    ]
    assert launches_along(["task", "plan", "task"], Session(max_depth=-1), found()).failure() == SpawnForbidden("task", "explore")
    assert launches_along(["task", "task"], Session(), found()).failure() == SpawnsItself("task")
    assert launches_along([], Session(), found()).unwrap() == ()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Session(depth=-1), "depth must be a number from 0, not -1"),
        (lambda: Session(depth=True), "depth must be a number from 0, not True"),
        (lambda: Session(max_depth="2"), "max_depth must be a number; negative is no limit, not '2'"),
        (lambda: Session(spawns=5), "spawns must be a spawn policy, its text, or None, not 5"),
        (lambda: Session(disabled="plan"), "disabled must be names, not 'plan'"),
        (lambda: Session(blocked=5), "blocked must be a name or None, not 5"),
        (lambda: Session(plan_mode=None), "plan_mode must be true or false, not None"),
        (lambda: Session(exec_mode="perl"), "exec_mode must be both, python or bash, not 'perl'"),
        (lambda: Session(schema_order=("agent",)), "schema_order must be agent, call and session in some order, not ('agent',)"),
        (lambda: Session(schema_order=5), "schema_order must be agent, call and session in some order, not 5"),
        (lambda: Session(schema_order=("agent", 5, "call")), "schema_order must be agent, call and session in some order"),
        (lambda: Session(model="gpt"), "model must be names of models, or None, not 'gpt'"),
        (lambda: Session(models=5), "models must be names of models by the name of an agent, not 5"),
        (lambda: Session(models={"task": "x"}), "models must be names of models by the name of an agent, not {'task': 'x'}"),
        (lambda: Session(cwd=5), "cwd must be a path, not 5"),
        (lambda: Session(home=5), "home must be a path or None, not 5"),
        (lambda: Session(output=5), "output must be a schema: a JSON object, true or false, or a text that holds one, not 5"),
        (lambda: Session(output={"a": {1}}), "output must be a schema of JSON values"),
        (lambda: TaskRequest(5), "agent must be text, not 5"),
        (lambda: TaskRequest("a", context=5), "context must be text, not 5"),
        (lambda: TaskRequest("a", 5), "tasks must be a list of tasks, not 5"),
        (lambda: TaskRequest("a", ["x"]), "tasks must be a list of tasks, not 'x'"),
        (lambda: TaskRequest("a", schema="{"), "schema must be a schema"),
        (lambda: TaskRequest("a", schema="[1]"), "schema must be a schema"),
        (lambda: TaskRequest("a", schema="[" * 100_000), "schema must be a schema"),
        (lambda: TaskItem(5), "task.id must be text, not 5"),
    ],
)
def test_values_of_the_wrong_sort_never_get_in(make: Any, message: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_a_request_from_a_tool_call() -> None:
    data = {"agent": "plan", "context": "c", "schema": '{"type": "string"}', "tasks": [{"id": "a", "description": "d", "assignment": "x"}, {}]}
    request = parse_request(data).unwrap()
    assert request.tasks == (TaskItem("a", "d", "x"), TaskItem(""))
    assert request.schema == {"type": "string"}
    assert parse_request({}).unwrap() == TaskRequest("")
    for bad in (5, {"agent": 5}, {"tasks": 5}, {"tasks": [5]}, {"tasks": [{"id": 5}]}, {"schema": 5}, {"context": 5}):
        assert isinstance(parse_request(bad), Failure)


def test_the_policy_of_a_session() -> None:
    assert Session().policy == AnyAgent()
    assert Session(spawns="a, b").policy == OnlyAgents(("a", "b"))
    assert Session(spawns=AnyAgent()).policy == AnyAgent()


def test_a_description_leaves_out_what_would_be_refused() -> None:
    seen = found(a=valid_agent("evil\n## plan", "|\n  two\n  lines", output="{type: string}", tools="[Read]"))
    text = describe(seen, Settings(frozenset({"plan"})))
    assert "## evil ## plan\nTools: read, submit_result\ntwo\nlines\n" + STRUCTURED in text
    assert "\n## plan\n" not in text
    assert text.count(STRUCTURED) == 3
    assert describe(Discovery((), (), None)).endswith("There are no agents.\n")


def test_what_changed_between_two_discoveries() -> None:
    before = found(a=valid_agent("a"), b=valid_agent("b"), c=valid_agent("c"))
    after = discover(
        Snapshot.from_tree(
            {
                ".claude/agents/a.md": valid_agent("a", "new", tools="[read]"),
                "~/.claude/agents/b.md": valid_agent("b"),
                ".claude/agents/d.md": valid_agent("d"),
            }
        )
    )
    hands = ChangedHands("b", "/home/user/project/.claude/agents/b.md", "/home/user/.claude/agents/b.md")
    changed = (Changed("a", ("description", "tools")), Changed("b", ("source",)))
    assert diff(before, after) == Difference(("d",), ("c",), changed, (hands,))
    assert not diff(before, before)
    assert drift(TaskRequest("a"), before, after) == (Changed("a", ("description", "tools")),)
    assert drift(TaskRequest("b"), before, after) == (hands, Changed("b", ("source",)))
    assert drift(TaskRequest("c"), before, after) == (Gone("c", "/home/user/project/.claude/agents/c.md"),)
    assert drift(TaskRequest("d"), before, after) == (Undescribed("d"),)
    assert drift(TaskRequest("plan"), before, after) == drift(TaskRequest("nobody"), before, after) == ()


def test_a_snapshot_is_discovered_afresh() -> None:
    snapshot = Snapshot.from_tree({})
    asked = TaskRequest("scout", TASKS)
    assert isinstance(plan_launch(asked, Session(), snapshot), Failure)
    assert isinstance(plan_launch(asked, Session(), snapshot.put(".claude/agents/s.md", valid_agent("scout"))), Success)


@pytest.mark.parametrize(("was", "now"), [("{m: 1}", "{m: true}"), ("{m: 0}", "{m: false}"), ("{m: 1}", "{m: 1.0}")])
def test_values_that_python_takes_for_equal_are_a_change_of_the_schema(was: str, now: str) -> None:
    before, after = (discover(Snapshot.from_tree({".claude/agents/a.md": valid_agent("a", output=text)})) for text in (was, now))
    assert diff(before, after).changed == (Changed("a", ("output",)),)
    assert not diff(before, before)


def test_under_xcsh_a_child_knows_of_its_policy_what_its_text_says() -> None:
    agents = {name: valid_agent(name, spawns=spawns) for name, spawns in {"a": '["x,y"]', "b": '[" z "]', "x": "", "x,y": "", "z": ""}.items()}
    tree = Snapshot.from_tree({f".claude/agents/{at}.md": text for at, text in enumerate(agents.values())})
    for path, passes in ((["a", "x"], True), (["a", "x,y"], False), (["b", "z"], True)):
        assert isinstance(launches_along(path, Session(max_depth=-1), tree, host=XCSH), Success) == passes
