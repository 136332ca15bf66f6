"""What delegation promises under any interleaving, failure and cancellation: one answer to each use, one message on each task left behind."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, Literal

import anyio

from pipeline.frozen import JsonObject
from pipeline.request import Session
from pipeline.subagent.context import Context
from pipeline.subagent.engine import Options
from pipeline.subagent.events import Finished, RunEvent, Started
from pipeline.subagent.messages import Message, Reply, Text, ToolResult, ToolUse
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.permission import Decision, Occasion
from pipeline.subagent.requests import ModelRequest, ToolSpec
from pipeline.subagent.running import Turn, converse, root_context
from pipeline.subagent.tools import Tool, ToolCall

End = Literal["says", "fails", "aborts itself"]
Where = Literal["foreground", "background", "background, blocking"]
ROOT: Final = "m"
WORK: Final = "work"
GIVE_UP: Final = "give_up"
PATIENCE: Final = 30
"""Seconds after which a run is taken to hang."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool use: work of its own, of so many checkpoints, or jobs for others, waited for or not."""

    jobs: tuple[Job, ...] = ()
    where: Where = "foreground"
    checkpoints: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """What an agent does: its uses in each round, how it ends, and how many checkpoints each of its replies takes."""

    rounds: tuple[tuple[Call, ...], ...] = ()
    end: End = "says"
    checkpoints: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A main conversation and all below it; how many run at once, how many rounds each may take, after how many hooks asked the whole is aborted,
    if at all, and whether the user says something more at the end.
    """

    main: Job
    at_once: int = 4
    max_rounds: int = 9
    aborted_after: int | None = None
    goes_on: bool = False


@dataclass(slots=True)
class Course:
    """What was seen of a run: its turns, its events, the last request of each agent, and how many sub-agents ran at once at most."""

    turns: list[Turn] = field(default_factory=list)
    events: list[RunEvent] = field(default_factory=list)
    requests: dict[str, ModelRequest] = field(default_factory=dict)
    most: int = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of the main conversation."""
        return tuple(self.turns[-1].conversation.messages)

    @property
    def histories(self) -> tuple[tuple[Message, ...], ...]:
        """The messages of all conversations: the main one's to its end, the others' as they were last asked about."""
        return self.messages, *(tuple(request.messages) for path, request in self.requests.items() if path != ROOT)


def ran(plan: Plan, session: Session, backend: str) -> Course:
    """Run a plan in a session that has the agents of `AGENTS`."""
    course = Course()
    session = replace(session, max_rounds=plan.max_rounds)
    run = _Run(plan, course)
    options = Options(
        tools=(
            Tool(ToolSpec(WORK, "Works.", JsonObject({"type": "object"})), run.work),
            Tool(ToolSpec(GIVE_UP, "Gives up.", JsonObject({"type": "object"})), run.give_up),
        ),
        hooks=(run.hook,),
        listener=course.events.append,
        at_once=plan.at_once,
    )
    context = run.root = replace(root_context(options, session), chains=map("c{}".format, count()).__next__)

    async def conversed() -> None:
        with anyio.fail_after(PATIENCE):
            model = FunctionModel(run.reply)
            course.turns.append((await converse(ROOT, session, model, options, context=context)).unwrap())
            if plan.goes_on:
                course.turns.append((await converse("And?", session, model, options, after=course.turns[0])).unwrap())

    anyio.run(conversed, backend=backend)
    return course


AGENTS: Final = {
    "one": {"spawns": "'*'"},
    "two": {"spawns": "'*'"},
    "slow_one": {"spawns": "'*'", "blocking": "true"},
    "slow_two": {"blocking": "true"},
}
"""The agents that a plan needs, with the fields of their files: those that start at depth one and two, and those that must be waited for."""


class _Run:
    """A plan that really runs, every one of its parts played by what the plan says."""

    def __init__(self, plan: Plan, course: Course) -> None:
        self.plan, self.course = plan, course
        self.jobs: dict[str, Job] = {}
        self.calls: dict[str, Call] = {}
        self.root: Context | None = None
        self.occasions = 0
        self.running: Counter[str] = Counter()
        self._known(plan.main, ROOT)

    def _known(self, job: Job, path: str) -> None:
        self.jobs[path] = job
        for at, calls in enumerate(job.rounds):
            for number, call in enumerate(calls):
                self.calls[f"{path}.{at}.{number}"] = call
                for which, below in enumerate(call.jobs):
                    self._known(below, f"{path}.{at}.{number}.{which}")

    @contextmanager
    def _runs(self, path: str) -> Iterator[None]:
        """Within, an agent runs; the main conversation has no place and needs none."""
        self.running[path] += path != ROOT
        self.course.most = max(self.course.most, len(+self.running))
        try:
            yield
        finally:
            self.running[path] -= path != ROOT

    async def reply(self, request: ModelRequest) -> Reply:
        """What an agent says next."""
        first = request.messages[0].content[0]
        assert isinstance(first, Text)
        path, said = first.text, sum(message.role == "assistant" for message in request.messages)
        self.course.requests[path] = request
        job = self.jobs[path]
        with self._runs(path):
            for _ in range(job.checkpoints):
                await anyio.sleep(0)
        if said < len(job.rounds):
            return Reply(tuple([self._use(f"{path}.{said}.{number}") for number in range(len(job.rounds[said]))]), "tool_use")
        if job.end == "fails":
            raise RuntimeError("it fell over")
        if job.end == "aborts itself":
            return Reply((ToolUse(f"{path}.{said}", GIVE_UP, JsonObject({})),), "tool_use")
        return Reply((Text(f"{path} is done"),))

    def _use(self, use_id: str) -> ToolUse:
        call = self.calls[use_id]
        if not call.jobs:
            return ToolUse(use_id, WORK, JsonObject({}))
        agent = ("slow_" if call.where == "background, blocking" else "") + ("one" if use_id.count(".") == 2 else "two")
        tasks = tuple([JsonObject({"id": f"{use_id}.{at}", "assignment": f"{use_id}.{at}"}) for at in range(len(call.jobs))])
        return ToolUse(use_id, "task", JsonObject({"agent": agent, "tasks": tasks, "run_in_background": call.where != "foreground"}))

    async def work(self, call: ToolCall) -> str:
        """The tool that takes its time."""
        with self._runs(call.id.rsplit(".", 2)[0]):
            for _ in range(self.calls[call.id].checkpoints):
                await anyio.sleep(0)
        return "worked"

    async def give_up(self, call: ToolCall) -> str:
        """The tool by which an agent aborts itself."""
        call.context.cancellation.abort("it gave up")
        await anyio.sleep(0)
        return "gave up"

    def hook(self, _: Occasion) -> Decision | None:
        """The hook that has no opinion, and may abort the whole."""
        self.occasions += 1
        if self.occasions == self.plan.aborted_after and self.root is not None:
            self.root.cancellation.abort("the user left")
        return None


Law = Callable[[Plan, Course], None]
_NEWS: Final = re.compile(r"\[Background task (\w+)\] (\S+): (\w+)")
_RESULT: Final = re.compile(r"^(m[.\d]+): (\w+)", re.MULTILINE)


def each_use_has_one_answer(plan: Plan, course: Course) -> None:
    """Each tool use of any conversation is answered exactly once, in the order of the reply, by the very next message; nothing else is answered."""
    for messages in course.histories:
        for at, message in enumerate(messages):
            used = [block.id for block in message.content if isinstance(block, ToolUse)]
            answers = messages[at + 1].content if at + 1 < len(messages) else ()
            assert [block.tool_use_id for block in answers if isinstance(block, ToolResult)] == used
    uses = [block.id for message in course.messages for block in message.content if isinstance(block, ToolUse)]
    assert len(uses) == len(set(uses))


def launched(messages: tuple[Message, ...]) -> dict[str, str]:
    """The tasks that were left in the background, each by its chain, as the answers of `task` told of them."""
    answers = [block.content for message in messages for block in message.content if isinstance(block, ToolResult)]
    told = [json.loads(answer)["tasks"] for answer in answers if answer.startswith('{"status": "async_launched"')]
    return {task["task_id"]: task["id"] for tasks in told for task in tasks}


def news(messages: tuple[Message, ...]) -> list[tuple[str, str, str]]:
    """The notifications of a conversation: of which chain, which task, how it ended. Each is a message of its own."""
    found = []
    for message in messages:
        texts = [block.text for block in message.content if isinstance(block, Text) and block.text.startswith("[Background task")]
        for text in texts:
            assert (message.role, len(message.content)) == ("user", 1)
            matched = _NEWS.match(text)
            assert matched is not None
            found.append((matched[1], matched[2], matched[3]))
    return found


def each_task_left_behind_is_told_of_once(plan: Plan, course: Course) -> None:
    """Of each task left in the background there is at most one notification, after its launch, and none of any other; exactly one where the
    conversation came to its own end.
    """
    for messages in course.histories:
        told = Counter(chain for chain, _, _ in news(messages))
        assert set(told) <= set(launched(messages))
        assert all(times == 1 for times in told.values())
    for turn in course.turns:
        messages = tuple(turn.conversation.messages)
        if turn.conclusion.status in ("completed", "empty"):
            assert {chain for chain, _, _ in news(messages)} == set(launched(messages))
            assert not turn.conversation.open


def news_is_true(plan: Plan, course: Course) -> None:
    """A notification comes after the launch, names the task, and says how it ended."""
    ended = {event.chain: event.status for event in course.events if isinstance(event, Finished) and event.agent != "main"}
    for messages in course.histories:
        tasks = launched(messages)
        assert all((tasks[chain], ended[chain]) == (task, status) for chain, task, status in news(messages))
        for at in range(len(messages)):
            assert {chain for chain, _, _ in news(messages[:at])} <= set(launched(messages[:at]))


def results_keep_the_order_of_the_request(plan: Plan, course: Course) -> None:
    """What is waited for is answered with its conclusions in the order in which its tasks were asked for, and what is not with its launches so."""
    for messages in course.histories:
        for message in messages:
            for block in message.content:
                if isinstance(block, ToolResult) and not block.content.startswith(("the limit", "the user left", "it gave up")):
                    found = [task for task, _ in _RESULT.findall(block.content)] or list(launched((Message("user", (block,)),)).values())
                    assert found == sorted(found, key=lambda task: int(task.rsplit(".", 1)[1]))
                    assert {task.rsplit(".", 1)[0] for task in found} <= {block.tool_use_id}


def no_more_run_at_once_than_may(plan: Plan, course: Course) -> None:
    """Never do more sub-agents run at the same time than may; whoever waits for others does not run."""
    assert course.most <= plan.at_once


def whoever_started_has_finished(plan: Plan, course: Course) -> None:
    """Every conversation that started has finished, once, by the time the main one is handed back."""
    started = Counter(event.chain for event in course.events if isinstance(event, Started))
    assert started == Counter(event.chain for event in course.events if isinstance(event, Finished))
    assert all(times == (len(course.turns) if event.agent == "main" else 1) for event in course.events for times in [started[event.chain]])


def an_agent_that_blocks_is_waited_for(plan: Plan, course: Course) -> None:
    """Nobody is told that an agent marked as blocking was left in the background."""
    blocking = {event.chain for event in course.events if event.agent.startswith("slow")}
    assert not blocking & {chain for messages in course.histories for chain in launched(messages)}


LAWS: Final[tuple[Law, ...]] = (
    each_use_has_one_answer,
    each_task_left_behind_is_told_of_once,
    news_is_true,
    results_keep_the_order_of_the_request,
    no_more_run_at_once_than_may,
    whoever_started_has_finished,
    an_agent_that_blocks_is_waited_for,
)
