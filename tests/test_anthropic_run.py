"""Whole runs over the real SDK against the strict server: the protocol is kept, forks hit the cache, faults end what they must and no more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anthropic
import anyio
import pytest

from pipeline import TaskItem, TaskRequest
from pipeline.subagent import FORKING, AnthropicModel, Options, converse, execute, root_context
from pipeline.subagent.conversation import Conclusion
from pipeline.subagent.events import Finished, RunEvent
from pipeline.subagent.messages import Usage
from pipeline.subagent.running import Turn
from pipeline.subagent.starting import FORK_TAG
from properties.projects import project
from tests.messages_server import Dropped, Fault, Hangs, Malformed, RateLimited, Server, ServerError, messages_server, says, uses

T = TypeVar("T")
LONG = "The rules of the house. " * 200


def over(server: Server, work: Callable[[AnthropicModel], Awaitable[T]], retries: int = 2) -> T:
    async def run() -> T:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=retries, timeout=60) as client:
            return await work(AnthropicModel("claude-test", client=client))

    return anyio.run(run)


def texts(body: dict[str, Any]) -> str:
    """All text of the last message, results included."""
    content = body["messages"][-1]["content"]
    return " ".join(str(block.get("text") or block.get("content")) for block in content)


def task(number: int, **given: object) -> dict[str, Any]:
    return uses("task", number, **given)


def family(body: dict[str, Any]) -> Any:
    """A parent that starts a named agent, a fork, and one in the background, all in one reply; each child uses a tool before it ends."""
    said = texts(body)
    last, first = body["messages"][-1]["content"], body["messages"][0]["content"][0]["text"]
    if "wrote" in said or "bytes" in said:
        return says("It is written.")
    if FORK_TAG in said:
        return says("The fork sums up.", uses("bash", 9, command="echo from the fork"))
    if "from the fork" in said:
        return says("Summed up.")
    if first == "Write.":
        return says("I write.", uses("write_file", 1, path="a.txt", content="hello"))
    if first == "Later.":
        return says("Later it is.")
    if any(block["type"] == "tool_result" for block in last) or "Background task" in said:
        return says("All heard.")
    behind = task(3, agent="scout", description="Later.", run_in_background=True)
    return says("I delegate.", task(1, agent="scout", description="Write."), task(2, description="Sum up."), behind)


def test_a_family_keeps_the_protocol_and_a_fork_hits_the_cache(tmp_path: Path) -> None:
    session = project(tmp_path, scout={"tools": "[write]"})
    events: list[RunEvent] = []
    with messages_server(family) as server:
        options = Options(modes=FORKING, listener=events.append)
        turn: Turn = over(server, lambda model: converse("Go.", session, model, options, system=LONG)).unwrap()
        assert server.refusals == []
        assert (turn.conclusion.status, turn.conclusion.text) == ("completed", "All heard.")
        assert (tmp_path / "proj" / "a.txt").read_text() == "hello"
        parent = next(body for body in server.requests if texts(body) == "Go.")
        fork = next(body for body in server.requests if FORK_TAG in texts(body))
        assert {key: value for key, value in fork.items() if key != "messages"} == {key: value for key, value in parent.items() if key != "messages"}
        assert fork["messages"][: len(parent["messages"])] == parent["messages"]
    ends = [(event.agent, event.usage) for event in events if isinstance(event, Finished)]
    assert share(next(usage for agent, usage in ends if agent == "fork of main")) > 0.9


def share(usage: Usage) -> float:
    """How much of what was sent came from the cache."""
    return usage.cache_read / (usage.cache_read + usage.input)


def conclusions(server: Server, tmp_path: Path, *tasks: str, retries: int = 2) -> tuple[Conclusion, ...]:
    request = TaskRequest("scout", tuple([TaskItem(str(at), assignment=task) for at, task in enumerate(tasks)]))
    session = project(tmp_path, scout={})
    return over(server, lambda model: execute(request, session, model), retries).unwrap().conclusions


@pytest.mark.parametrize("fault", [RateLimited(0.01), ServerError(), Dropped()])
def test_a_fault_that_passes_is_not_noticed(tmp_path: Path, fault: Fault) -> None:
    with messages_server([fault, says("Done.")]) as server:
        assert [(each.status, each.text) for each in conclusions(server, tmp_path, "x")] == [("completed", "Done.")]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (RateLimited(0.01), "RateLimitError"),
        (ServerError(), "InternalServerError"),
        (Dropped(), "APIConnectionError"),
        (Malformed("{", "application/json"), "ReplyError"),
    ],
)
def test_a_fault_that_stays_ends_one_child_and_not_its_sibling(tmp_path: Path, fault: Fault, said: str) -> None:
    with messages_server(lambda body: fault if texts(body) == "bad" else says("Done.")) as server:
        bad, good = conclusions(server, tmp_path, "bad", "good", retries=0)
    assert (bad.status, good.status) == ("error", "completed")
    assert said in bad.reason


def test_a_call_that_hangs_ends_with_an_abort(tmp_path: Path) -> None:
    session, context = project(tmp_path, scout={}), root_context()
    request = TaskRequest("scout", (TaskItem("one", assignment="x"),))

    async def aborted(model: AnthropicModel) -> Conclusion:
        async with anyio.create_task_group() as group:

            async def soon() -> None:
                while not server.requests:
                    await anyio.sleep(0.01)
                context.cancellation.abort("tired of waiting")

            group.start_soon(soon)
            return (await execute(request, session, model, context=context)).unwrap().conclusions[0]

    with messages_server(lambda _: Hangs()) as server:
        conclusion = over(server, aborted)
    assert (conclusion.status, conclusion.reason) == ("aborted", "tired of waiting")


def test_an_error_of_the_sdk_comes_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    request, session = TaskRequest("scout", (TaskItem("one", assignment="x"),)), project(tmp_path, scout={})

    def reason() -> str:
        return anyio.run(execute, request, session, AnthropicModel("claude-test")).unwrap().conclusions[0].reason

    assert reason().endswith("give the key in ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert "APIConnectionError: Connection error.; the address is http://127.0.0.1:9" in reason()
    assert "because of ConnectError" in reason()
