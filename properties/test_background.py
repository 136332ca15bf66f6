"""The laws of delegation, tried on families that really run, and the table of open tasks as a state machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import get_args

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from pipeline.frozen import JsonObject
from pipeline.request import Session
from pipeline.subagent.conversation import (
    Aborted,
    Answered,
    AwaitNews,
    Begun,
    CallModel,
    Event,
    Judged,
    Notified,
    Prompted,
    Replied,
    Resumed,
    Wanted,
)
from pipeline.subagent.events import Finished
from pipeline.subagent.messages import Reply, Text, ToolResult, ToolUse
from pipeline.subagent.starting import begin_main
from pipeline.subagent.step import advance
from properties.choosing import weighted
from properties.laws import background
from properties.laws.background import Call, Course, End, Job, Plan, Where
from properties.laws.conversations import news_of
from properties.projects import project

pytestmark = pytest.mark.usefixtures("files_on_the_loop")

REACHED: Counter[str] = Counter()
CHECKPOINTS = st.integers(0, 6)


@st.composite
def jobs(draw: st.DrawFn, depth: int = 0) -> Job:
    """What the main conversation or an agent does: fewer rounds the deeper it stands."""
    number = draw(st.sampled_from(((1, 2, 2), (0, 1, 2), (0, 0, 1))[depth]))
    rounds = tuple([tuple([draw(calls(depth)) for _ in range(draw(st.sampled_from((1, 2, 2))))]) for _ in range(number)])
    ends: tuple[End, ...] = ("says", "says", *get_args(End)) if depth else ("says",)
    return Job(rounds, draw(st.sampled_from(ends)), draw(CHECKPOINTS))


@st.composite
def calls(draw: st.DrawFn, depth: int) -> Call:
    """Work of its own, or jobs for others."""
    if depth == 2 or draw(st.integers(0, 4)) == 4:
        return Call(checkpoints=draw(CHECKPOINTS))
    where: tuple[Where, ...] = ("background", *get_args(Where))
    return Call(tuple([draw(jobs(depth + 1)) for _ in range(draw(st.sampled_from((1, 2))))]), draw(st.sampled_from(where)))


def plans() -> st.SearchStrategy[Plan]:
    """Plans of which some are aborted, some meet their limit, some go on."""
    abort = weighted(st.none(), st.none(), st.integers(1, 25))
    return st.builds(Plan, jobs(), st.integers(1, 3), st.sampled_from((2, 3, 9, 9)), abort, st.sampled_from((True, False)))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return project(tmp_path_factory.mktemp("background"), **background.AGENTS)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=80)
@given(plan=plans(), seed=st.integers(0, 999))
def test_laws_of_delegation(backend: str, session: Session, plan: Plan, seed: int) -> None:
    trio._core._run._r.seed(seed)
    course = background.ran(plan, session, backend)
    for law in background.LAWS:
        law(plan, course)


def test_the_plans_reach_every_end(session: Session) -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=80, database=None, derandomize=True)
    @given(plans())
    def gather(plan: Plan) -> None:
        reached.update(_reached(plan, background.ran(plan, session, "asyncio")))

    gather()
    ends = {f"{agent} {status}" for agent in ("main", "one", "two") for status in ("completed", "aborted")}
    others = {"main limit", "one error", "one limit", "slow_one completed", "a full house", "told in the next turn", "untold", "out of order"}
    assert ends | others <= set(reached)


def _reached(plan: Plan, course: Course) -> Iterator[str]:
    yield from (f"{event.agent} {event.status}" for event in course.events if isinstance(event, Finished))
    yield from ["a full house"] * (course.most == plan.at_once > 1)
    launched, told = background.launched(course.messages), background.news(course.messages)
    yield from ["untold"] * (len(told) < len(launched))
    yield from ["out of order"] * ([chain for chain, _, _ in told] != [chain for chain in launched if chain in {news[0] for news in told}])
    before = background.news(tuple(course.turns[0].conversation.messages))
    yield from ["told in the next turn"] * (len(before) < len(told))


class OpenTasks(RuleBasedStateMachine):
    """A main conversation launches tasks and hears of them, of some twice, of some that it never launched; a dict says what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.conversation = begin_main("Go.", max_rounds=4)
        self.wanted: Wanted = AwaitNews()
        self.told: dict[str, int] = {}
        self.replies = 0

    @initialize()
    def begin(self) -> None:
        """The conversation begins."""
        self.takes(Begun())

    def takes(self, event: Event) -> None:
        self.conversation, self.wanted = advance(self.conversation, event)

    @precondition(lambda self: isinstance(self.wanted, CallModel))
    @rule(tasks=st.lists(st.integers(0, 2), min_size=1, max_size=2), aborted=st.booleans())
    def delegates(self, tasks: list[int], aborted: bool) -> None:
        """The model starts some tasks in the background, in one reply; at times the work is aborted meanwhile."""
        uses = tuple([ToolUse(f"u{self.replies}-{at}", "task", JsonObject({})) for at in range(len(tasks))])
        self.replies += 1
        self.takes(Replied(Reply(uses, "tool_use")))
        REACHED.update(["launched some in the last round"] * (self.conversation.rounds == self.conversation.max_rounds))
        self.takes(Judged({use.id: None for use in uses}))
        results = {use.id: ToolResult(use.id, "launched") for use in uses}
        if aborted:
            self.takes(Aborted("enough", results))
            return
        names = [f"{use.id}-{number}" for use, many in zip(uses, tasks, strict=True) for number in range(many)]
        self.told |= dict.fromkeys(names, 0)
        self.takes(Answered(results, tuple(names)))

    @precondition(lambda self: isinstance(self.wanted, CallModel))
    @rule()
    def says(self) -> None:
        """The model has nothing to do."""
        self.replies += 1
        self.takes(Replied(Reply((Text("I wait."),))))

    @precondition(lambda self: isinstance(self.wanted, CallModel | AwaitNews))
    @rule(data=st.data())
    def hears(self, data: st.DataObject) -> None:
        """A task is said to have ended, be it for the first time, again, or though nobody launched it."""
        task = data.draw(st.sampled_from((*self.told, "unknown")))
        before, wanted = self.conversation, self.wanted
        self.takes(Notified(task, news_of(task)))
        if self.told.get(task) == 0:
            self.told[task] = 1
            assert self.conversation.messages[:-1] == before.messages
            return
        REACHED.update(["told of what nobody launched" if task == "unknown" else "told again"])
        assert (self.conversation, self.wanted) == (before, wanted)

    @precondition(lambda self: isinstance(self.wanted, CallModel | AwaitNews))
    @rule()
    def aborted(self) -> None:
        """Somebody wants the work to end."""
        self.takes(Aborted("enough"))

    @precondition(lambda self: self.conversation.state == "concluded")
    @rule(event=st.sampled_from((Prompted("And?"), Resumed("Not yet."))))
    def goes_on(self, event: Event) -> None:
        """The user has more to say, or a hook will not let it end."""
        REACHED.update(["went on with open tasks"] * bool(self.conversation.open))
        self.takes(event)

    @invariant()
    def agrees_with_the_dict(self) -> None:
        """Open is what was launched and not told of; each task told of is told of by one message of its own."""
        assert set(self.conversation.open) == {task for task, times in self.told.items() if not times}
        texts = Counter(message.content[0] for message in self.conversation.messages if len(message.content) == 1)
        assert {task: texts[Text(news_of(task))] for task in self.told} == self.told
        assert texts[Text(news_of("unknown"))] == 0

    @invariant()
    def its_own_end_leaves_nobody_untold(self) -> None:
        """A conversation that came to its own end has heard of all that it launched."""
        ended = self.conversation.conclusion
        if ended is not None and ended.status in ("completed", "empty"):
            assert all(self.told.values())
        REACHED.update([self.conversation.state, *([ended.status] if ended else [])])


TestOpenTasks = OpenTasks.TestCase
TestOpenTasks.settings = settings(max_examples=60, stateful_step_count=30)


def test_the_open_tasks_reach_every_state() -> None:
    REACHED.clear()
    run_state_machine_as_test(OpenTasks, settings=settings(max_examples=60, stateful_step_count=30, derandomize=True, database=None))
    heard = {"told again", "told of what nobody launched", "went on with open tasks", "launched some in the last round"}
    assert heard | {"awaiting a reply", "awaiting news", "concluded", "completed", "limit", "aborted"} <= set(REACHED)
