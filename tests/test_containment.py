"""What models, tools, hooks and policies do that nobody expects of them stays with the agent that met it: all others go on and are heard of."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import anyio
import pytest

from pipeline import Session, TaskItem, TaskRequest
from pipeline.frozen import JsonObject
from pipeline.subagent.cancellation import Cancellation, contained, unless_aborted
from pipeline.subagent.conversation import Failed
from pipeline.subagent.engine import Options
from pipeline.subagent.faults import words_of
from pipeline.subagent.messages import Reply, Text, ToolResult
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.permission import Decision, Hook, Occasion, Policy, allow_all
from pipeline.subagent.requests import ModelRequest, ToolSpec
from pipeline.subagent.running import Execution, converse, execute, root_context
from pipeline.subagent.tools import Answer, Tool, ToolCall
from properties.projects import project
from tests.talking import by_agent, first_text, in_turn, result, results, say, use

ANYTHING = JsonObject({"type": "object"})


class MuteError(RuntimeError):
    def __str__(self) -> str:
        raise ValueError("not even this")


async def cancels_itself(*_: object) -> NoReturn:
    """Work that awaits a task of its own, which somebody cancels."""
    task = asyncio.ensure_future(asyncio.sleep(60))
    asyncio.get_running_loop().call_soon(task.cancel)
    await task
    raise AssertionError


async def exits(*_: object) -> NoReturn:
    raise SystemExit(3)


async def is_mute(*_: object) -> NoReturn:
    raise MuteError


ODD: list[tuple[Callable[..., Awaitable[NoReturn]], str]] = [
    (cancels_itself, "StrayError: it was cancelled from within"),
    (exits, "StrayError: it wanted to end the program, with 3"),
    (is_mute, "MuteError, which cannot say what it is about"),
]
ODDITIES = pytest.mark.parametrize(("odd", "why"), ODD, ids=[each.__name__ for each, _ in ODD])


@ODDITIES
def test_a_model_that_fails_oddly_ends_its_own_agent_alone(tmp_path: Path, odd: Callable[..., Awaitable[NoReturn]], why: str) -> None:
    async def reply(request: ModelRequest) -> Reply:
        return await odd() if first_text(request) == "b" else say(f"{first_text(request)} is done")

    request = TaskRequest("scout", tuple([TaskItem(task, assignment=task) for task in "abc"]))
    execution = anyio.run(execute, request, project(tmp_path, scout={}), FunctionModel(reply)).unwrap()
    assert [(each.status, each.reason) for each in execution.conclusions] == [("completed", ""), ("error", why), ("completed", "")]


@ODDITIES
def test_a_tool_that_fails_oddly_gives_an_error(odd: Callable[..., Awaitable[NoReturn]], why: str) -> None:
    heard: list[ToolResult] = []

    def said(request: ModelRequest) -> Reply:
        heard.extend(results(request))
        return say("Done.") if heard else say("", use("odd", 1), use("even", 2))

    async def even(_: ToolCall) -> Answer:
        return Answer(4)  # type: ignore[arg-type]

    tools = (Tool(ToolSpec("odd", "Fails.", ANYTHING), odd), Tool(ToolSpec("even", "Counts.", ANYTHING), even))
    turn = anyio.run(partial(converse, "Go.", Session(), FunctionModel(said), Options(tools=tools))).unwrap()
    assert turn.conclusion.status == "completed"
    assert heard == [ToolResult("u1", why, is_error=True), ToolResult("u2", "4")]


@ODDITIES
@pytest.mark.parametrize("who", ["hook", "policy", "approver"])
def test_a_judge_that_fails_oddly_denies(odd: Callable[..., Awaitable[NoReturn]], why: str, who: str) -> None:
    def judge(*_: object) -> NoReturn:
        if odd is exits:
            raise SystemExit(3)
        if odd is is_mute:
            raise MuteError
        raise asyncio.CancelledError

    def ask(_: Occasion) -> Decision:
        from pipeline.subagent.permission import Ask  # noqa: PLC0415

        return Ask()

    hooks: tuple[Hook, ...] = (lambda occasion: judge() if occasion.event == "PreToolUse" else None,) if who == "hook" else ()
    policy: Policy = judge if who == "policy" else ask if who == "approver" else allow_all
    options = Options(hooks=hooks, policy=policy, approver=judge if who == "approver" else None)
    heard: list[ToolResult] = []

    def said(request: ModelRequest) -> Reply:
        heard.extend(results(request))
        return say("Done.") if heard else say("", use("glob", pattern="*"))

    turn = anyio.run(partial(converse, "Go.", Session(), FunctionModel(said), options)).unwrap()
    assert turn.conclusion.status == "completed"
    assert heard == [ToolResult("u1", f"{'a' if who == 'hook' else 'the'} {who} failed: {why}", is_error=True)]


@ODDITIES
def test_a_task_in_the_background_that_fails_oddly_is_told_of_once(tmp_path: Path, odd: Callable[..., Awaitable[NoReturn]], why: str) -> None:
    async def reply(request: ModelRequest) -> Reply:
        if "Prompt of scout." in request.system:
            return await odd()
        if len(request.messages) == 1:
            return say("", use("task", agent="scout", description="dig", run_in_background=True))
        return say("It fell over." if "Background task" in str(request.messages[-1]) else "I wait.")

    turn = anyio.run(partial(converse, "Go.", project(tmp_path, scout={}), FunctionModel(reply))).unwrap()
    assert (turn.conclusion.status, turn.conclusion.text) == ("completed", "It fell over.")
    assert sum("Background task" in str(message) and why in str(message) for message in turn.conversation.messages) == 1


def test_a_cancellation_from_outside_is_no_failure() -> None:
    async def cancelled() -> bool:
        with anyio.move_on_after(0.01) as scope:
            await contained(anyio.sleep_forever)
        return scope.cancelled_caught

    assert anyio.run(cancelled)
    assert anyio.run(cancelled, backend="trio")


def test_one_loop_s_cancellation_is_a_failure_on_another() -> None:
    async def foreign() -> None:
        raise asyncio.CancelledError

    with pytest.raises(RuntimeError, match="cancelled from within"):
        anyio.run(contained, foreign, backend="trio")


def test_words_of_an_error_name_what_it_came_of() -> None:
    error = ConnectionError("no answer")
    error.__cause__ = OSError("refused")
    error.add_note("the address is x")
    assert words_of(error) == "ConnectionError: no answer; the address is x; because of OSError: refused"
    assert Failed(words_of(MuteError())).reason == "MuteError, which cannot say what it is about"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_any_thread_may_abort(tmp_path: Path, backend: str) -> None:
    context = root_context()
    waiting = threading.Event()

    async def waits(_: ModelRequest) -> Reply:
        waiting.set()
        await anyio.sleep_forever()
        raise AssertionError

    def abort() -> None:
        assert waiting.wait(30)
        context.cancellation.abort("somebody else wants the machine")

    request = TaskRequest("scout", (TaskItem("a", assignment="a"), TaskItem("b", assignment="b")))
    thread = threading.Thread(target=abort)
    thread.start()

    async def running() -> Execution:
        with anyio.fail_after(60):
            return (await execute(request, project(tmp_path, scout={}), FunctionModel(waits), context=context)).unwrap()

    execution = anyio.run(running, backend=backend)
    thread.join()
    assert [(each.status, each.reason) for each in execution.conclusions] == [("aborted", "somebody else wants the machine")] * 2


class Aborting(Cancellation):
    """A cancellation that a thread aborts just after it was looked at for the first time."""

    looked = False

    @property
    def reason(self) -> str | None:  # type: ignore[override]
        seen: str | None = self.__dict__.get("why")
        if not self.looked and seen is None:
            self.looked = True
            self.abort("late")
            return None
        return seen

    @reason.setter
    def reason(self, why: str | None) -> None:
        self.__dict__["why"] = why


def test_who_comes_below_while_a_thread_aborts_hears_of_it() -> None:
    assert Aborting().child().reason == "late"


def test_who_begins_to_watch_while_a_thread_aborts_hears_of_it() -> None:
    async def watches() -> object:
        with anyio.fail_after(30):
            return await unless_aborted(Aborting(), anyio.sleep_forever)

    assert anyio.run(watches) is None


def test_a_hook_that_looks_at_what_was_done_cannot_undo_it() -> None:
    context = root_context()

    async def hook(occasion: Occasion) -> None:
        if occasion.event == "PostToolUse":
            context.cancellation.abort("enough")
            await anyio.sleep_forever()

    model = FunctionModel(in_turn(say("", use("glob", pattern="*.none"))))
    turn = anyio.run(partial(converse, "Go.", Session(), model, Options(hooks=(hook,)), context=context)).unwrap()
    assert turn.conclusion.status == "aborted"
    assert turn.conversation.messages[-1].content == (ToolResult("u1", "no matches"),)


def test_a_child_s_faulty_reply_is_its_parent_s_news(tmp_path: Path) -> None:
    heard: list[str] = []

    def main(request: ModelRequest) -> Reply:
        if len(request.messages) == 1:
            return say("", use("task", agent="scout", description="dig"))
        heard.append(result(request).content)
        return say("So be it.")

    model = by_agent(main=main, scout=lambda _: Reply((Text(None),)))  # type: ignore[arg-type]
    turn = anyio.run(partial(converse, "Go.", project(tmp_path, scout={}), model)).unwrap()
    assert turn.conclusion.text == "So be it."
    assert heard == ["task: error\nblock 0 of the reply is a Text with a part of the wrong type"]
