"""Tasks in the background: told of at once and once more, whatever becomes of them and of whoever started them; turns that go on with them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from pipeline.subagent.conversation import Notified
from pipeline.subagent.engine import Options
from pipeline.subagent.events import Finished, RunEvent, Said, Started
from pipeline.subagent.messages import Message, Reply, Text, ToolResult, Usage
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.models.scripted import ScriptedModel
from pipeline.subagent.permission import Allow, Ask, Decision, Deny, Occasion, allow_all
from pipeline.subagent.requests import ModelRequest
from pipeline.subagent.running import Turn, converse, converse_sync, root_context
from properties.projects import project
from tests.talking import first_text, in_turn, result, say, use


class Behind:
    """A main conversation with tasks in the background that end when told to."""

    def __init__(self, tmp_path: Path, *calls: dict[str, object], **fields: str) -> None:
        self.calls = calls
        self.heard: list[str] = []
        self.results: list[ToolResult] = []
        self.may_end = anyio.Event()
        self.session = project(tmp_path, scout=fields)
        self.events: list[RunEvent] = []

    async def said(self, request: ModelRequest) -> Reply:
        if "Prompt of scout." in request.system:
            await self.may_end.wait()
            if first_text(request) == "fall":
                raise RuntimeError("fell")
            return say(f"{first_text(request)} is done.")
        return self.main(request)

    def main(self, request: ModelRequest) -> Reply:
        last = request.messages[-1].content
        self.results.extend(block for block in last if isinstance(block, ToolResult))
        self.heard.extend(block.text for block in last if isinstance(block, Text))
        if len(request.messages) == 1:
            return say("", *(use("task", at, agent="scout", **call) for at, call in enumerate(self.calls)))
        self.may_end.set()
        return say("Meanwhile.")


def test_behind_the_parent_is_told_at_once_and_once_more(tmp_path: Path) -> None:
    tasks = [{"id": "stand", "assignment": "stand"}, {"id": "fall", "assignment": "fall"}]
    behind = Behind(tmp_path, {"tasks": tasks, "run_in_background": True})
    turn = converse_sync("Go.", behind.session, FunctionModel(behind.said), Options(listener=behind.events.append)).unwrap()
    (answer,) = behind.results
    launched = json.loads(answer.content)
    assert launched["status"] == "async_launched"
    ids = {task["id"]: task["task_id"] for task in launched["tasks"]}
    news = [message for message in turn.conversation.messages if message.role == "user" and isinstance(message.content[0], Text)][1:]
    assert sorted(news, key=str) == sorted(
        [
            Message("user", (Text(f"[Background task {ids['stand']}] stand: completed\nstand is done."),)),
            Message("user", (Text(f"[Background task {ids['fall']}] fall: error\nRuntimeError: fell"),)),
        ],
        key=str,
    )
    assert turn.conclusion.status == "completed"
    assert not turn.conversation.open
    assert {event.chain for event in behind.events if isinstance(event, Started)} > set(ids.values())


def test_an_agent_marked_blocking_is_waited_for(tmp_path: Path) -> None:
    behind = Behind(tmp_path, {"description": "stand", "run_in_background": True}, blocking="true")
    behind.may_end.set()
    converse_sync("Go.", behind.session, FunctionModel(behind.said)).unwrap()
    assert [each.content for each in behind.results] == ["task: completed\nstand is done."]
    assert behind.heard == ["Go."]


def test_what_is_left_behind_at_the_limit_is_aborted_and_told_of_in_the_next_turn(tmp_path: Path) -> None:
    behind = Behind(tmp_path, {"description": "stand", "run_in_background": True})
    options, once = Options(listener=behind.events.append), replace(behind.session, max_rounds=1)

    def main(request: ModelRequest) -> Reply:
        if len(request.messages) == 1:
            return say("", use("task", agent="scout", description="stand", run_in_background=True))
        return say("Heard.")

    behind.main = main  # type: ignore[method-assign]
    turn = converse_sync("Go.", once, FunctionModel(behind.said), options).unwrap()
    assert turn.conclusion.status == "limit"
    assert turn.conversation.open == {news.task for news in turn.news}

    async def abandoned() -> Turn:
        first = (await converse("Go.", replace(once, max_rounds=2), FunctionModel(behind.said), options)).unwrap()
        assert first.conclusion.status == "limit"
        return (await converse("And?", behind.session, FunctionModel(behind.said), options, after=first)).unwrap()

    def main_that_goes_on(request: ModelRequest) -> Reply:
        at = sum(message.role == "assistant" for message in request.messages)
        calls = [use("task", agent="scout", description="stand", run_in_background=True), use("bash", command="true")]
        return say("", calls[at]) if at < len(calls) else say("Heard.")

    behind.main = main_that_goes_on  # type: ignore[method-assign]
    behind.may_end = anyio.Event()  # the other belongs to the loop before
    behind.events.clear()
    second = anyio.run(abandoned)
    texts = [block.text for message in second.conversation.messages for block in message.content if isinstance(block, Text)]
    assert sum("Background task" in text and "aborted" in text for text in texts) == 1
    assert [(event.agent, event.status) for event in behind.events if isinstance(event, Finished) and event.agent == "scout"] == [
        ("scout", "aborted")
    ]


def test_an_abort_while_news_is_awaited(tmp_path: Path) -> None:
    behind = Behind(tmp_path, {"description": "stand", "run_in_background": True})
    context = root_context()

    def main(request: ModelRequest) -> Reply:
        if len(request.messages) == 1:
            return say("", use("task", agent="scout", description="stand", run_in_background=True))
        return say("I wait.")

    behind.main = main  # type: ignore[method-assign]

    async def aborted() -> Turn:
        async with anyio.create_task_group() as group:

            async def later() -> None:
                await anyio.wait_all_tasks_blocked()
                context.cancellation.abort("the user left")

            def listener(event: RunEvent) -> None:
                if isinstance(event, Said) and event.text == "I wait.":
                    group.start_soon(later)

            options = Options(listener=listener)
            return (await converse("Go.", behind.session, FunctionModel(behind.said), options, context=context)).unwrap()

    turn = anyio.run(aborted)
    assert (turn.conclusion.status, turn.conclusion.text, turn.conclusion.reason) == ("aborted", "I wait.", "the user left")


@pytest.mark.parametrize("fresh", [True, False], ids=["in a fresh context", "in another's"])
def test_going_on_from_a_turn_that_left_a_task_open(tmp_path: Path, *, fresh: bool) -> None:
    """A turn is a value: whoever goes on from it hears all its news, as often as that is done."""
    behind = Behind(tmp_path, {"description": "stand", "run_in_background": True})

    def main(request: ModelRequest) -> Reply:
        if len(request.messages) == 1:
            return say("", use("task", agent="scout", description="stand", run_in_background=True))
        if len(request.messages) == 3:
            raise RuntimeError("the line is dead")
        return say("Heard." if "Background task" in str(request.messages[-1]) else "I wait.")

    behind.main = main  # type: ignore[method-assign]

    async def all_of_them() -> tuple[Turn, list[Turn]]:
        model = FunctionModel(behind.said)
        first = (await converse("Go.", behind.session, model)).unwrap()
        with anyio.fail_after(60):
            contexts = [root_context() if fresh else None for _ in range(3)]
            after = [(await converse("And?", behind.session, model, after=first, context=context)).unwrap() for context in contexts]
        return first, after

    first, after = anyio.run(all_of_them)
    assert (first.conclusion.status, len(first.conversation.open), [type(news) for news in first.news]) == ("error", 1, [Notified])
    for turn in after:
        assert (turn.conclusion.status, turn.conclusion.text, turn.news) == ("completed", "Heard.", ())
        assert sum("Background task" in str(message) for message in turn.conversation.messages) == 1


def test_going_on_after_an_abort_in_a_fresh_context(tmp_path: Path) -> None:
    behind, context = Behind(tmp_path, {"description": "stand", "run_in_background": True}), root_context()

    def main(request: ModelRequest) -> Reply:
        if len(request.messages) == 1:
            return say("", use("task", agent="scout", description="stand", run_in_background=True))
        context.cancellation.abort("enough")
        return say("Heard." if "Background task" in str(request.messages[-1]) else "I wait.")

    behind.main = main  # type: ignore[method-assign]
    first = converse_sync("Go.", behind.session, FunctionModel(behind.said), context=context).unwrap()
    assert first.conclusion.status == "aborted"

    async def again() -> Turn:
        with anyio.fail_after(60):
            return (await converse("And?", behind.session, FunctionModel(behind.said), after=first, context=root_context())).unwrap()

    assert anyio.run(again).conclusion.text == "Heard."
    # In its own context it stays aborted.
    assert converse_sync("And?", behind.session, FunctionModel(behind.said), after=first).unwrap().conclusion.status == "aborted"


def test_a_turn_ends_with_its_own_words_and_its_own_cost(tmp_path: Path) -> None:
    session = project(tmp_path)
    model = ScriptedModel([say("Paris."), say("", use("glob", pattern="*"))])
    first = converse_sync("The capital of France?", session, model).unwrap()
    assert (first.conclusion.text, first.conclusion.usage) == ("Paris.", Usage(10, 5))
    second = converse_sync("Of Spain?", replace(session, max_rounds=1), model, after=first).unwrap()
    assert (second.conclusion.status, second.conclusion.rounds, second.conclusion.usage) == ("limit", 1, Usage(10, 5))
    assert second.conclusion.text == "The sub-agent reached its limit of rounds without a word."
    failed = converse_sync("Of Spain?", session, ScriptedModel([]), after=first).unwrap()
    assert (failed.conclusion.status, failed.conclusion.text) == ("error", "ScriptError: the script has 0 replies, and another was asked for")
    assert failed.conclusion.usage == Usage()


def test_the_tools_of_the_last_round_run(tmp_path: Path) -> None:
    session = replace(project(tmp_path), max_rounds=1)
    model = FunctionModel(in_turn(say("I write.", use("write_file", path="a", content="x"))))
    turn = converse_sync("Write it.", session, model, Options(policy=allow_all)).unwrap()
    assert (turn.conclusion.status, turn.conclusion.text) == ("limit", "I write.")
    assert (Path(session.cwd) / "a").read_text() == "x"
    assert turn.conversation.messages[-1].content == (ToolResult("u1", "a: 1 bytes written"),)


def test_a_prompt_that_was_refused_never_comes_before_the_model(tmp_path: Path) -> None:
    def hook(occasion: Occasion) -> Decision | None:
        return Deny("no secrets") if occasion.event == "UserPromptSubmit" and "SECRET" in occasion.text else None

    session, options, model = project(tmp_path), Options(hooks=(hook,)), ScriptedModel([say("Hello."), say("Hello again.")])
    refused = converse_sync("A SECRET.", session, model, options).unwrap()
    assert (refused.conclusion.status, refused.conclusion.text, list(refused.conversation.messages)) == ("refused", "no secrets", [])
    heard = converse_sync("Hello?", session, model, options, after=refused).unwrap()
    again = converse_sync("Another SECRET.", session, model, options, after=heard).unwrap()
    assert (again.conclusion.status, again.conversation.messages) == ("refused", heard.conversation.messages)
    assert converse_sync("Hello?", session, model, options, after=again).unwrap().conclusion.text == "Hello again."
    assert not any("SECRET" in str(request) for request in model.requests)


def test_a_later_turn_may_be_stricter_and_never_laxer(tmp_path: Path) -> None:
    session = project(tmp_path)
    heard: list[str] = []

    def said(request: ModelRequest) -> Reply:
        if request.messages[-1].content[0] != Text("Go."):
            heard.append(result(request).content)
            return say("Done.")
        return say("", use("glob", pattern="*.none"))

    def strict(_: Occasion) -> Decision:
        return Deny("nothing may be done")

    def asking(_: Occasion) -> Decision:
        return Ask()

    turn = converse_sync("Go.", session, FunctionModel(said), Options(policy=asking, approver=lambda *_: Allow())).unwrap()
    turn = converse_sync("Go.", session, FunctionModel(said), Options(policy=strict), after=turn).unwrap()
    turn = converse_sync("Go.", session, FunctionModel(said), Options(policy=allow_all, approver=lambda *_: Deny("no")), after=turn).unwrap()
    assert heard == ["no matches", "nothing may be done", "nothing may be done"]
    assert turn.context.policies == (asking, strict, allow_all)
    again = converse_sync("Go.", session, FunctionModel(said), Options(policy=strict), after=turn).unwrap()
    assert again.context.policies == turn.context.policies
