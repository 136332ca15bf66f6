"""The small parts that a run is made of, each by itself: cache keys, the list of work, verdicts, places, budgets, scripts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from pyrsistent import pvector

from pipeline import Refusal, lifting, render
from pipeline.frozen import Json, JsonObject
from pipeline.refusal import ForkOfFork, NotASchema, NothingAsked, NoWorkspace
from pipeline.request import InvalidValueError
from pipeline.subagent import (
    Allow,
    Ask,
    Budget,
    Context,
    Deny,
    Message,
    ModelRequest,
    Occasion,
    Options,
    Prices,
    ScriptedModel,
    Text,
    ToolSpec,
    ToolUse,
    Turn,
    Usage,
    allow_all,
    cache_key,
    converse_sync,
    deny_destructive,
    first_divergence,
    root_context,
)
from pipeline.subagent.budget import Cost, Purse
from pipeline.subagent.caching import Divergence
from pipeline.subagent.engine import Engine
from pipeline.subagent.judging import objection, occasion, verdict
from pipeline.subagent.permission import Approver, Decision, Hook, Policy
from pipeline.subagent.todos import Todo, parse_todos, todo_text
from pipeline.subagent.waiting import Slot
from properties.projects import project
from tests.talking import say, use

ANYTHING = JsonObject({"type": "object"})
BASE = ModelRequest("s", (ToolSpec("a", "d", ANYTHING), ToolSpec("b", "d", ANYTHING)), pvector([Message("user", (Text("hello"),))]), ("m",))


def said(*texts: str) -> ModelRequest:
    return replace(BASE, messages=pvector([Message("user", (Text(text),)) for text in texts]))


@pytest.mark.parametrize("given", [{"at_once": 0}, {"at_once": True}, {"max_tokens": -1}, {"bash_seconds": 0}])
def test_options_that_leave_no_room_are_none(given: dict[str, int]) -> None:
    (name,) = given
    with pytest.raises(InvalidValueError, match=f"{name} must be a number"):
        Options(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "divergence"),
    [
        (BASE, None),
        (said("hello", "more"), None),
        (said("help"), Divergence("messages", "/0/content/0/text@3", "lo", "p")),
        (replace(BASE, model=("n",)), Divergence("model", "/0@0", "m", "n")),
        (replace(BASE, thinking="high"), Divergence("thinking", "", "null", '"high"')),
        (replace(BASE, tools=BASE.tools[::-1]), Divergence("tools", "/0/name@0", "a", "b")),
        (replace(BASE, tools=BASE.tools[:1]), Divergence("tools", "/1", '{"name":"b","description":"d","input_sch', "")),
        (replace(BASE, system="so"), Divergence("system", "@1", "", "o")),
        (replace(BASE, messages=pvector([Message("assistant", (Text("hello"),))])), Divergence("messages", "/0/role@0", "user", "assistant")),
    ],
)
def test_where_two_requests_part(other: ModelRequest, divergence: Divergence | None) -> None:
    assert first_divergence(BASE, other) == divergence
    parts = {
        part for part in ("model", "thinking", "tools", "system", "messages") if getattr(cache_key(BASE), part) != getattr(cache_key(other), part)
    }
    assert parts == (set() if other is BASE else {divergence.part if divergence else "messages"})


def test_blocks_of_another_kind_part_as_a_whole() -> None:
    used = replace(BASE, messages=pvector([Message("user", (ToolUse("u", "t", ANYTHING),))]))
    found = first_divergence(BASE, used)
    assert found is not None
    assert (found.place, found.left) == ("/0/content/0", '{"type":"text","text":"hello"}')


def test_true_and_one_are_not_the_same_bytes() -> None:
    one, true = (replace(BASE, tools=(ToolSpec("a", "d", JsonObject({"x": value})),)) for value in (1, True))
    assert one == true
    assert first_divergence(one, true) == Divergence("tools", "/0/input_schema/x", "1", "true")


@pytest.mark.parametrize(
    ("items", "wrong"),
    [
        ("x", ("todos must be a list",)),
        (("x",), ("item 0: must be an object with content and status",)),
        ((JsonObject({"content": 5, "status": "pending"}),), ("item 0: content must be text that says what is to be done",)),
        ((JsonObject({"content": "x"}),), ("item 0: status must be pending, in_progress or completed, not missing",)),
        ((JsonObject({"content": "x", "status": 5}),), ("item 0: status must be pending, in_progress or completed, not no text",)),
    ],
)
def test_bad_lists_of_work_are_named_by_index(items: Json, wrong: tuple[str, ...]) -> None:
    assert parse_todos(items).failure() == wrong


def test_lists_of_work() -> None:
    assert parse_todos(()).unwrap() == ()
    assert todo_text(()) == "The list of work is empty."
    assert Todo("x", "pending").to_json() == {"content": "x", "status": "pending"}


def raises(*_: object) -> Allow:
    raise ValueError("fell over")


async def later(*_: object) -> Allow:
    return Allow()


def judged(hooks: tuple[Hook, ...] = (), policy: Policy = allow_all, approver: Approver | None = None) -> str | None:
    engine = Engine(ScriptedModel([]), Options(hooks=hooks))
    return anyio.run(verdict, engine, Context(policies=(policy,), approver=approver), use("bash", command="ls"))


def nonsense(*_: object) -> Decision:
    return "yes"  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("why", "hooks", "policy", "approver"),
    [
        (None, (), allow_all, None),
        ("a hook failed: ValueError: fell over", (raises,), allow_all, None),
        ("a hook gave no decision but a str", (nonsense,), allow_all, None),
        (None, (lambda _: None, later, raises), allow_all, None),
        ("the policy failed: ValueError: fell over", (), raises, None),
        ("the policy gave no decision but a str", (), nonsense, None),
        ("nobody is there to approve it", (), lambda _: Ask(), None),
        ("sure?: nobody is there to approve it", (), lambda _: Ask("sure?"), None),
        ("the approver failed: ValueError: fell over", (), lambda _: Ask(), raises),
        ("the approver gave no decision but a str", (), lambda _: Ask(), nonsense),
        ("the approver gave no decision but a Ask", (), lambda _: Ask(), lambda *_: Ask()),
        (None, (), lambda _: Ask(), later),
        ("not that", (), lambda _: Ask(), lambda *_: Deny("not that")),
    ],
)
def test_whatever_is_asked_there_is_a_verdict(why: str | None, hooks: tuple[Hook, ...], policy: Policy, approver: Approver | None) -> None:
    assert judged(hooks, policy, approver) == why


def test_on_other_occasions_a_question_is_a_denial() -> None:
    def objected(hook: Hook) -> str | None:
        context = Context()
        engine = Engine(ScriptedModel([]), Options(hooks=(hook,)))
        return anyio.run(objection, engine, context, occasion("Stop", context))

    assert objected(lambda _: Ask("really?")) == "really?"
    assert objected(lambda _: Ask()) == "a hook asks, and there is nobody to ask"
    assert objected(lambda _: Deny("no")) == "no"
    assert objected(lambda _: Allow()) is None


def test_a_hook_that_hangs_ends_with_an_abort() -> None:
    context = root_context()

    async def hangs(_: Occasion) -> None:
        context.cancellation.abort("enough")
        await anyio.sleep_forever()

    async def asked() -> str | None:
        return await objection(Engine(ScriptedModel([]), Options(hooks=(hangs,))), context, occasion("Stop", context))

    assert anyio.run(asked) is None


def test_the_default_policy_knows_shells_alone() -> None:
    def decided(tool: str, command: object) -> Decision:
        used = use(tool, command=command)
        return deny_destructive(Occasion("PreToolUse", "a", ("main", "a"), 1, "c", use=used))

    assert isinstance(decided("bash", "/bin/rm -rf ~"), Deny)
    assert decided("bash", "echo reboot") == Allow()
    assert decided("bash", 5) == Allow()
    assert decided("write_file", "reboot") == Allow()
    assert deny_destructive(Occasion("Stop", "a", ("a",), 0, "c")) == Allow()


def test_a_prompt_that_a_hook_refuses_reaches_no_model(tmp_path: Path) -> None:
    def no_prompt(asked: Occasion) -> Decision | None:
        return Deny(f"not {asked.text}") if asked.event == "UserPromptSubmit" else None

    model, session = ScriptedModel([say("Done.")]), project(tmp_path)
    refused = converse_sync("this", session, model, Options(hooks=(no_prompt,))).unwrap()
    assert (refused.conclusion.status, refused.conclusion.text, model.requests) == ("refused", "not this", [])
    again = converse_sync("and this", session, model, after=refused).unwrap()
    assert again.conclusion.text == "Done."


def test_a_conversation_goes_on_with_a_fresh_context_after_an_abort(tmp_path: Path) -> None:
    session, context = project(tmp_path), root_context()
    context.cancellation.abort("the user left")
    aborted: Turn = converse_sync("Go.", session, ScriptedModel([]), context=context).unwrap()
    assert aborted.conclusion.status == "aborted"
    assert converse_sync("Go on.", session, ScriptedModel([]), after=aborted).unwrap().conclusion.status == "aborted"
    assert converse_sync("Go on.", session, ScriptedModel([say("Yes.")]), after=aborted, context=root_context()).unwrap().conclusion.text == "Yes."


def test_no_conversation_in_a_workspace_that_is_not_there(tmp_path: Path) -> None:
    session = replace(project(tmp_path), cwd=str(tmp_path / "gone"))
    assert converse_sync("Go.", session, ScriptedModel([])).failure() == NoWorkspace(str(tmp_path / "gone"), "missing")


def test_places() -> None:
    async def at_once(slot: Slot) -> int:
        async with slot.held(), slot.given_back():
            assert slot.places is None or slot.places.value == 1
            return 1

    assert anyio.run(at_once, Slot()) == 1

    async def placed() -> int:
        return await at_once(Slot(anyio.Semaphore(1)))

    assert anyio.run(placed) == 1


def test_prices_and_purses() -> None:
    prices = Prices(input=1, output=2, cache_read=0.1, cache_written=3)
    assert prices.worst(10, 5) == Cost(1, 15, 40)
    assert prices.cost(Usage(10, 5, 100, 1)) == Cost(1, 116, 33)
    purse, told = Purse(Budget(micros=40), prices), []
    assert purse.reserve(prices.worst(10, 5)) is None
    refused = purse.reserve(Cost(1, 0, 1))
    assert str(refused) == "the budget of 40 micros has no room for another call: 0 left, and the next call could take 1"
    assert (purse.may_fit(Cost(1, 0, 1)), purse.may_fit(Cost(1, 0, 41))) == (True, False)
    with purse.waiting(lambda: told.append("settled")):
        purse.settle(prices.worst(10, 5), Cost(1, 15, 20))
    purse.settle(Cost(), Cost())
    assert (told, purse.budget.spent, purse.budget.reserved) == (["settled"], Cost(1, 15, 20), Cost())


@pytest.mark.parametrize(
    ("refusal", "text", "lift"),
    [
        (NotASchema("scout", "it is a list"), "The schema for the answer of 'scout' is no schema: it is a list", "mend the schema"),
        (NothingAsked(("a", "b")), "Nothing is asked in a, b.", "say in words what is to be done"),
        (NoWorkspace("/gone", "missing"), "Cannot work in `/gone`: it is missing.", "name a directory that is there"),
        (ForkOfFork("fork of main"), "Cannot fork 'fork of main': it is a fork itself.", "do the work in the fork"),
    ],
)
def test_refusals_to_run_say_what_would_lift_them(refusal: Refusal, text: str, lift: str) -> None:
    assert render(refusal).startswith(text)
    assert lifting(refusal).startswith(lift)
