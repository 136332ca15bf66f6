"""What the sub-agent engine costs by itself, on models and tools that take no time; prints, and never fails on time.

pytest tests/benchmarks -n 0
"""

from __future__ import annotations

import copy
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest

from pipeline import Launch, Session, Snapshot, TaskItem, TaskRequest, plan_launch
from pipeline.frozen import JsonObject
from pipeline.subagent import FunctionModel, ModelRequest, Options, Reply, Text, Tool, ToolCall, ToolResult, ToolSpec, ToolUse, Usage, begin, fork
from pipeline.subagent.context import Context
from pipeline.subagent.conversation import Answered, Begun, Conversation, Judged, Replied
from pipeline.subagent.running import run
from pipeline.subagent.step import advance

ROUNDS = 200
ROUND_LIMIT = 200e-6
CHILDREN = 1_000
HISTORY = 10_000
FLAT = 100
"""The bytes that may stay for a sub-agent that is done: less than any object that could be forgotten."""
SCHEMA = JsonObject({"type": "object", "properties": JsonObject({"path": JsonObject({"type": "string"})}), "required": ("path",)})


async def echo(call: ToolCall) -> str:
    return str(call.input["path"])


ECHO = Tool(ToolSpec("read_file", "Reads a file.", SCHEMA), echo)


def launch() -> Launch:
    request = TaskRequest("scout", (TaskItem("one"),))
    text = "---\nname: scout\ndescription: d\ntools: [read]\n---\nScout."
    return plan_launch(request, Session(), Snapshot.from_tree({".claude/agents/scout.md": text})).unwrap()


def reply(request: ModelRequest) -> Reply:
    """A tool use every time; the conversation ends at its limit of rounds."""
    return Reply((Text("On."), ToolUse("u", "read_file", JsonObject({"path": "a"}))), "tool_use", Usage(1, 1))


def seconds(rounds: int) -> float:
    """What a conversation of so many rounds takes."""
    launched, options = replace(launch(), max_rounds=rounds), Options(tools=(ECHO,))

    async def timed() -> float:
        begun = time.perf_counter()
        await run(launched, "x", FunctionModel(reply), options)
        return time.perf_counter() - begun

    return anyio.run(timed)


def test_the_engine_s_own_cost_of_a_round(capsys: pytest.CaptureFixture[str]) -> None:
    seconds(10)
    each = statistics.median(seconds(ROUNDS) / ROUNDS for _ in range(9))
    long = seconds(10 * ROUNDS) / (10 * ROUNDS)
    verdict = "met" if each <= ROUND_LIMIT else f"MISSED by {each / ROUND_LIMIT - 1:.0%}"
    say(
        capsys,
        f"a round with a tool use: {each * 1e6:.0f} us (target {ROUND_LIMIT * 1e6:.0f} us: {verdict}); ten times as many rounds: x {long / each:.2f}",
    )


def test_a_fork_of_a_long_conversation(capsys: pytest.CaptureFixture[str]) -> None:
    parent = grown(HISTORY)
    foreign = replace(parent, vouched=0)
    forked, scanned = best(lambda: fork(parent, "go").unwrap()), best(lambda: fork(foreign, "go").unwrap())
    copied = best(lambda: copy.deepcopy(list(parent.messages)))
    say(capsys, f"a fork of {HISTORY:,} messages: {forked * 1e6:.0f} us, a deep copy of them {copied / forked:,.0f} times as long")
    say(capsys, f"a fork of a history that the engine did not write: {scanned * 1e6:.0f} us, as it is looked through for the tag")


def grown(messages: int) -> Conversation:
    """A conversation of at least so many messages, each of which the engine added."""
    step = advance(begin(replace(launch(), max_rounds=messages), "x", (ECHO.spec,)), Begun())
    while len(step.conversation.messages) < messages:
        judged = advance(advance(step.conversation, Replied(reply(step.conversation.request))).conversation, Judged({"u": None}))
        step = advance(judged.conversation, Answered({"u": ToolResult("u", "a")}))
    return step.conversation


def test_a_thousand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    launched, options = replace(launch(), max_rounds=10), Options(tools=(ECHO,), at_once=CHILDREN)

    async def all_of_them() -> tuple[float, int, int]:
        context = Context(policies=())
        begun = time.perf_counter()
        tracemalloc.start()
        await crowd(context)
        first = held()
        for _ in range(3):
            await crowd(context)
        last = held()
        tracemalloc.stop()
        return time.perf_counter() - begun, first, last

    async def crowd(context: Context) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(CHILDREN):
                group.start_soon(lambda: run(launched, "x", FunctionModel(reply), options, context=context))

    async def timed() -> float:
        begun = time.perf_counter()
        await crowd(Context(policies=()))
        return time.perf_counter() - begun

    together = anyio.run(timed) / (CHILDREN * 10)
    alone = seconds(10) / 10
    _, first, last = anyio.run(all_of_them)
    say(capsys, f"{CHILDREN:,} sub-agents of 10 rounds on one loop: {together * 1e6:.0f} us a round, {together / alone:.2f} x one alone")
    more = (last - first) / (3 * CHILDREN)
    verdict = "met" if more < FLAT else "MISSED"
    say(capsys, f"memory after 1,000 sub-agents {first / 1e6:.2f} MB, after 4,000 {last / 1e6:.2f} MB, {more:.0f} bytes for each (flat: {verdict})")


def held() -> int:
    """The bytes that are in use once the garbage is gone."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(7):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def say(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with capsys.disabled():
        print(f"\n{line}")
