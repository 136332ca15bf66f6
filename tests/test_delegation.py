"""The parent's side: a main conversation that delegates in every mode, waits or does not, keeps a list of work, and goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from pipeline.frozen import JsonObject
from pipeline.subagent.caching import cache_key, first_divergence
from pipeline.subagent.engine import Options
from pipeline.subagent.messages import Message, Reply, Text, ToolResult
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.models.scripted import ScriptedModel
from pipeline.subagent.modes import FORK_BY_NAME, FORKING
from pipeline.subagent.requests import ModelRequest, ToolSpec
from pipeline.subagent.running import Turn, converse_sync
from pipeline.subagent.starting import FORK_TAG, MAIN_PROMPT, PLACEHOLDER
from pipeline.subagent.tools import Tool, ToolCall
from pipeline.subagent.toolset import TODOS
from properties.projects import project
from tests.talking import by_agent, first_text, in_turn, result, results, say, use


def delegated(tmp_path: Path, *calls: dict[str, object], **agents: dict[str, str]) -> list[ToolResult]:
    """What a main conversation hears of these calls of `task`, one reply each; every sub-agent says `Done.`"""
    heard: list[ToolResult] = []

    def main(request: ModelRequest) -> Reply:
        heard.extend(results(request))
        at = sum(message.role == "assistant" for message in request.messages)
        return say("", use("task", at, **calls[at])) if at < len(calls) else say("All done.")

    def said(request: ModelRequest) -> Reply:
        return main(request) if request.system == MAIN_PROMPT else say("Done.")

    turn = converse_sync("Go.", project(tmp_path, **agents), FunctionModel(said)).unwrap()
    assert turn.conclusion.text == "All done."
    return heard


def test_a_named_agent_gets_a_clean_context(tmp_path: Path) -> None:
    seen: list[ModelRequest] = []

    def scout(request: ModelRequest) -> Reply:
        seen.append(request)
        return say("It is in a.py.")

    main = in_turn(
        say("I ask.", use("task", agent="scout", context="A large project.", tasks=[{"id": "one", "assignment": "Find it."}])), say("Found.")
    )
    turn = converse_sync("A secret wish.", project(tmp_path, scout={"tools": "[read]"}), by_agent(main=main, scout=scout)).unwrap()
    assert (turn.conclusion.status, turn.conclusion.text, turn.conclusion.rounds) == ("completed", "Found.", 2)
    assert list(seen[0].messages) == [Message("user", (Text("A large project.\n\nFind it."),))]
    assert "secret" not in seen[0].system
    assert [tool.name for tool in seen[0].tools] == ["read_file", "submit_result"]
    assert turn.conversation.messages[2].content == (ToolResult("u1", "one: completed\nIt is in a.py."),)
    assert len(turn.conversation.messages) == 4


def test_a_description_alone_is_one_task_in_the_mode_of_the_policy(tmp_path: Path) -> None:
    (answer,) = delegated(tmp_path, {"description": "Look around."})
    assert (answer.content, answer.is_error) == ("task: completed\nDone.", False)


def test_two_calls_in_one_reply_run_side_by_side(tmp_path: Path) -> None:
    both: set[str] = set()

    async def meets(request: ModelRequest) -> Reply:
        if "Prompt of scout." not in request.system:
            calls = (use("task", 1, agent="scout", description="left"), use("task", 2, agent="scout", description="right"))
            return say("", *calls) if len(request.messages) == 1 else say(" ".join(each.content for each in results(request)))
        both.add(first_text(request))
        while len(both) < 2:
            await anyio.sleep(0)
        return say(first_text(request))

    turn = converse_sync("Go.", project(tmp_path, scout={}), FunctionModel(meets)).unwrap()
    assert turn.conclusion.text == "task: completed\nleft task: completed\nright"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"agent": "skout", "description": "x"}, 'Unknown agent "skout". Available: scout, '),
        ({"agent": "scout"}, "No tasks provided."),
        ({"agent": "scout", "tasks": [{"id": "a"}, {"id": "A"}]}, "Invalid tasks: Duplicate task ids detected"),
        ({"agent": "scout", "description": "x", "schema": {"type": "nonsense"}}, "The schema for the answer of 'scout' is no schema: "),
        ({"agent": "scout", "description": "x", "schema": 5}, "schema must be a schema: a JSON object, true or false"),
        ({"agent": 5}, "the input does not fit: "),
    ],
)
def test_what_cannot_start_is_an_error_and_the_conversation_goes_on(tmp_path: Path, call: dict[str, object], said: str) -> None:
    (answer,) = delegated(tmp_path, call, scout={})
    assert answer.is_error
    assert answer.content.startswith(said)


def test_an_agent_that_was_described_and_is_gone_is_told_of(tmp_path: Path) -> None:
    session = project(tmp_path, scout={})
    gone = tmp_path / "proj" / ".claude" / "agents" / "scout.md"

    def main(request: ModelRequest) -> Reply:
        if len(request.messages) > 1:
            return say(result(request).content)
        assert "## scout" in next(tool.description for tool in request.tools if tool.name == "task")
        gone.unlink()
        return say("", use("task", agent="scout", description="x"))

    text = converse_sync("Go.", session, by_agent(main=main)).unwrap().conclusion.text
    assert text.startswith('Unknown agent "scout".')
    assert text.endswith(f"It was defined by {gone} when this session began.")


def test_a_failed_child_is_an_error_result_and_no_more(tmp_path: Path) -> None:
    def scout(_: ModelRequest) -> Reply:
        raise RuntimeError("no line")

    main = in_turn(say("", use("task", agent="scout", description="x")), say("Then without."))
    turn = converse_sync("Go.", project(tmp_path, scout={}), by_agent(main=main, scout=scout)).unwrap()
    assert turn.conclusion.text == "Then without."
    assert turn.conversation.messages[2].content == (ToolResult("u1", "task: error\nRuntimeError: no line", is_error=True),)


def test_data_comes_back_as_json(tmp_path: Path) -> None:
    schema = {"properties": {"found": {"type": "string"}}}
    main = in_turn(say("", use("task", agent="scout", description="x", schema=schema)), say("Good."))
    scout = in_turn(say("", use("submit_result", data={"found": "a.py"})))
    turn = converse_sync("Go.", project(tmp_path, scout={}), by_agent(main=main, scout=scout)).unwrap()
    assert turn.conversation.messages[2].content == (ToolResult("u1", 'task: completed\n{"found": "a.py"}'),)


def test_depth_ends_delegation(tmp_path: Path) -> None:
    seen: dict[str, list[str]] = {}

    def delegates_to(name: str, own: str) -> Callable[[ModelRequest], Reply]:
        def reply(request: ModelRequest) -> Reply:
            seen[own] = [tool.name for tool in request.tools]
            return say("", use("task", agent=name, description="further")) if len(request.messages) == 1 else say(result(request).content)

        return reply

    session = project(tmp_path, boss={"spawns": "'*'"}, other={"spawns": "'*'"})
    model = by_agent(main=delegates_to("boss", "main"), boss=delegates_to("other", "boss"), other=delegates_to("boss", "other"))
    text = converse_sync("Go.", session, model).unwrap().conclusion.text
    assert ["task" in seen[name] for name in ("main", "boss", "other")] == [True, True, False]
    assert "there is no tool 'task'" in text


class Forking:
    """A main conversation that forks twice at once; what each side was asked is kept."""

    def __init__(self, tmp_path: Path, options: Options, **call: object) -> None:
        self.main: list[ModelRequest] = []
        self.forks: list[ModelRequest] = []
        self.session = project(tmp_path)
        tasks = [{"id": "a", "assignment": "Do a."}, {"id": "b", "assignment": "Do b."}]
        self.reply = say("I think.", use("bash", 1, command="echo hi"), use("task", 2, tasks=tasks, **call))
        self.turn = converse_sync("Go.", self.session, FunctionModel(self.said), options).unwrap()

    def said(self, request: ModelRequest) -> Reply:
        last = request.messages[-1].content
        if Text(FORK_TAG) in last:
            self.forks.append(request)
            again = say("", use("task", description="Another."), use("todo_write", 2, todos=[]))
            return again if last[-1] == Text("Do a.") else say("b is done.")
        if len(request.messages) > 3 and Text(FORK_TAG) in request.messages[2].content:
            return say(" | ".join(each.content for each in results(request)))
        self.main.append(request)
        return self.reply if len(request.messages) == 1 else say("Ended.")


@pytest.mark.parametrize(("options", "call"), [(Options(modes=FORKING), {}), (Options(modes=FORK_BY_NAME), {"agent": "fork"})])
def test_forks_see_what_the_parent_sees_and_end_their_line(tmp_path: Path, options: Options, call: dict[str, object]) -> None:
    forking = Forking(tmp_path, options, **call)
    parent = forking.main[0]
    assert len(forking.forks) == 2
    for fork in forking.forks:
        assert first_divergence(parent, fork) is None
        assert cache_key(fork, messages=1) == cache_key(parent)
        placeholders = (ToolResult("u1", PLACEHOLDER), ToolResult("u2", PLACEHOLDER))
        assert fork.messages[2].content[:3] == (*placeholders, Text(FORK_TAG))
    answer = result_of(forking.turn, 1)
    refused = "Cannot fork 'fork of main': it is a fork itself. Do the work here, or name an agent to start."
    if call:  # a description alone names no type, which is no fork here
        assert answer.startswith("a: completed\ntask: ")
    else:
        assert answer == f"a: completed\n{refused} | todo_write may not be used here\n\nb: completed\nb is done."
    assert forking.turn.conclusion.text == "Ended."


def result_of(turn: Turn, at: int) -> str:
    block = turn.conversation.messages[2].content[at]
    assert isinstance(block, ToolResult)
    return block.content


def test_a_fork_owes_no_schema(tmp_path: Path) -> None:
    call = {"description": "Sum up.", "schema": {"type": "string"}}
    model = ScriptedModel([say("", use("task", **call)), say("So be it.")])
    turn = converse_sync("Go.", project(tmp_path), model, Options(modes=FORKING)).unwrap()
    assert result(model.requests[1]) == ToolResult("u1", "a fork answers in words: leave out `schema`, or name an agent", is_error=True)
    assert turn.conclusion.text == "So be it."
    mute = ScriptedModel([say("", use("task", tasks=[{"id": "a"}])), say("So be it.")])
    converse_sync("Go.", project(tmp_path), mute, Options(modes=FORKING)).unwrap()
    assert result(mute.requests[1]).content == "Nothing is asked in a."


def test_whoever_may_start_nobody_may_not_fork_either(tmp_path: Path) -> None:
    main = in_turn(say("", use("task", description="x")), say("Ended."))
    turn = converse_sync("Go.", replace(project(tmp_path), spawns=""), by_agent(main=main), Options(modes=FORKING)).unwrap()
    assert result_of(turn, 0) == "Cannot spawn 'fork'. Allowed: none (spawns disabled for this agent)"


def test_the_list_of_work_is_kept_with_the_context(tmp_path: Path) -> None:
    good = [{"content": "Look", "status": "in_progress"}]
    bad = [{"content": "Look", "status": "pending"}, {"content": "", "status": "pending"}, {"content": "x", "status": "done"}]
    main = in_turn(say("", use("todo_write", todos=good)), say("", use("todo_write", todos=bad)), say("Noted."), say("Still there."))
    model, session = by_agent(main=main), project(tmp_path)
    turn = converse_sync("Go.", session, model).unwrap()
    assert turn.conversation.messages[2].content == (ToolResult("u1", "[>] Look"),)
    wrong = 'item 1: content must be text that says what is to be done\nitem 2: status must be pending, in_progress or completed, not "done"'
    assert turn.conversation.messages[4].content == (ToolResult("u1", wrong, is_error=True),)
    again = converse_sync("And?", session, model, after=turn).unwrap()
    assert again.conclusion.text == "Still there."
    assert again.context.state.get(TODOS) == (JsonObject(good[0]),)
    assert list(again.conversation.messages)[: len(turn.conversation.messages)] == list(turn.conversation.messages)


@pytest.mark.parametrize(("given", "shares", "kept"), [({}, True, "scout"), ({}, False, None), ({"run_in_background": True}, True, None)])
def test_state_is_shared_on_request_with_whoever_is_waited_for(tmp_path: Path, given: dict[str, object], shares: bool, kept: str | None) -> None:
    async def note(call: ToolCall) -> str:
        call.context.state.set("noted", call.context.agent)
        return "noted"

    noting = Tool(ToolSpec("note", "Notes.", JsonObject({"type": "object"})), note)
    main = in_turn(say("", use("task", agent="scout", description="x", **given)), say("Ended."), say("Ended."))
    model = by_agent(main=main, scout=in_turn(say("", use("note")), say("Done.")))
    turn = converse_sync("Go.", project(tmp_path, scout={}), model, Options(tools=(noting,), shares_state=shares)).unwrap()
    assert turn.context.state.get("noted") == kept
