"""The laws of contexts, tried on families that grow, write, read, watch, abort and forget each other in any order."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pipeline.frozen import Json
from pipeline.nodes import Stamp
from pipeline.subagent.context import Context, Origin, Version
from pipeline.subagent.permission import Allow, Ask, Decision, Deny, Occasion, Policy, allow_all, deny_destructive
from properties.laws import contexts
from properties.laws.contexts import Expected, Traces, Watch

KEYS = ("todos", "theme")
PATHS = ("/p/a.py", "/p/b.py")
VERSIONS = (Version(Stamp(1, 1, 1), 1), Version(Stamp(1, 1, 1), 2))
AGENTS = ("scout", "hand", "main")
ORIGINS: tuple[Origin, ...] = ("normal", "fork")
REASONS = ("enough", "too late", "aborted")
REACHED: Counter[str] = Counter()


def denies(_: Occasion) -> Decision:
    return Deny("no")


def asks(_: Occasion) -> Decision:
    return Ask()


def approver(_: Occasion, __: Ask) -> Allow | Deny:
    return Allow()


POLICIES = st.lists(st.sampled_from((allow_all, denies, asks, deny_destructive)), max_size=2).map(tuple)


class Families(RuleBasedStateMachine):
    """A family of contexts beside a family of plain values, both under the same orders."""

    members = Bundle("members")
    watches = Bundle("watches")

    def __init__(self) -> None:
        super().__init__()
        self.contexts: dict[int, Context] = {}
        self.expected: list[Expected] = []
        self.watched: dict[int, Watch] = {}
        self.dropped: dict[int, Traces[object]] = {}
        self.chains: set[str] = set()

    def added(self, context: Context, expected: Expected) -> int:
        assert context.chain not in self.chains
        self.chains.add(context.chain)
        self.expected.append(expected)
        number = len(self.expected) - 1
        self.contexts[number] = context
        return number

    @initialize(target=members, policies=POLICIES)
    def family(self, policies: tuple[Policy, ...]) -> object:
        """The main conversation's context, and a small family below it."""
        root = self.added(Context(policies=policies, approver=approver), Expected("main", ("main",), 0, "root", policies))
        shares = self.started(root, "hand", "normal", True, ())
        drops = self.started(root, "scout", "fork", False, ())
        return multiple(root, shares, drops, self.started(drops, "hand", "normal", True, policies))

    @rule(target=members, parent=members, agent=st.sampled_from(AGENTS), origin=st.sampled_from(ORIGINS), shares=st.booleans(), policies=POLICIES)
    def child(self, parent: int, agent: str, origin: Origin, shares: bool, policies: tuple[Policy, ...]) -> int:
        """A sub-agent is started."""
        return self.started(parent, agent, origin, shares, policies)

    def started(self, parent: int, agent: str, origin: Origin, shares: bool, policies: tuple[Policy, ...]) -> int:
        above = self.contexts[parent]
        made = above.child(agent, origin=origin, shares_state=shares, policies=policies)
        contexts.a_child_stands_one_deeper(above, made)
        contexts.what_is_shared_is_the_same(above, made)
        contexts.policies_only_grow(above, made)
        REACHED.update(["born aborted"] * above.cancellation.aborted)
        return self.added(made, self.expected[parent].child(agent, origin, shares, policies))

    @rule(target=members, parent=members)
    def grandchild(self, parent: int) -> int:
        """A sub-agent starts another, and nobody holds the first any more."""
        between = self.started(parent, "hand", "normal", True, ())
        last = self.started(between, "scout", "normal", True, ())
        self.forgotten(between)
        return last

    @precondition(lambda self: len(self.expected) > 8)
    @rule(reason=st.sampled_from(REASONS))
    def abort_all(self, reason: str) -> None:
        """The user wants everything to end."""
        self.aborted(min(self.contexts), reason)

    @rule(who=members.filter(bool), reason=st.sampled_from(REASONS))
    def abort(self, who: int, reason: str) -> None:
        """Somebody wants a sub-agent, and all below it, to end."""
        self.aborted(who, reason)

    def aborted(self, who: int, reason: str) -> None:
        expected = self.expected[who]
        REACHED.update(["aborted again"] * (expected.reason is not None))
        struck = expected.abort(reason)
        for watch in self.watched.values():
            watch.expected += any(watch.of is each for each in struck)
        REACHED.update(["aborted below one that is gone"] * self.has_live_below_dropped(expected))
        self.contexts[who].cancellation.abort(reason)

    def has_live_below_dropped(self, expected: Expected) -> bool:
        gone = [each for each in expected.family() if any(self.expected[number] is each for number in self.dropped)]
        return any(self.is_held(each) for each in gone)

    def is_held(self, expected: Expected) -> bool:
        below = expected.family()[1:]
        return any(self.expected[number] is each for number in self.contexts for each in below)

    @rule(who=members, key=st.sampled_from(KEYS), value=st.integers())
    def write(self, who: int, key: str, value: Json) -> None:
        """An agent writes to the application's state."""
        REACHED.update(["written below the root" if self.expected[who].writes else "dropped"] * (who != 0))
        self.contexts[who].state.set(key, value)
        self.expected[who].write(key, value)

    @rule(who=members, path=st.sampled_from(PATHS), version=st.sampled_from(VERSIONS), text=st.text(max_size=2))
    def read(self, who: int, path: str, version: Version, text: str) -> None:
        """An agent reads a file."""
        self.contexts[who].files.put(path, version, text)
        self.expected[who].files[path] = (version, text)

    @rule(target=watches, who=members)
    def watch(self, who: int) -> int:
        """Somebody watches for an abort."""
        watch = Watch(self.expected[who], expected=int(self.expected[who].reason is not None))
        watch.closing.enter_context(self.contexts[who].cancellation.watched(watch.called))
        self.watched[len(self.watched)] = watch
        return len(self.watched) - 1

    @rule(at=consumes(watches))
    def leave(self, at: int) -> None:
        """A watcher leaves: what comes later is not told."""
        self.watched[at].leave()

    @precondition(lambda self: len(self.contexts) > 3)
    @rule(who=consumes(members))
    def forget(self, who: int) -> None:
        """Nobody holds a context any more."""
        self.forgotten(who)

    def forgotten(self, who: int) -> None:
        context = self.contexts.pop(who)
        for watch in self.watched.values():
            if watch.of is self.expected[who]:
                watch.leave()
        self.dropped[who] = Traces[object](context.cancellation, context.mailbox, context.slot)

    @invariant()
    def every_context_is_as_expected(self) -> None:
        """Every context is what the plain values say."""
        for number, context in self.contexts.items():
            expected = self.expected[number]
            contexts.a_context_stands_where_it_was_put(context, expected)
            contexts.aborts_go_down_and_never_up(context, expected)
            contexts.writes_are_dropped_unless_shared(context, expected, KEYS)
            contexts.files_read_go_their_own_way(context, expected, PATHS, VERSIONS)

    @invariant()
    def watchers_are_told_once(self) -> None:
        """Every watcher was called once, or had no reason to be."""
        assert all(watch.was_told_once for watch in self.watched.values())

    @invariant()
    def what_nobody_holds_is_gone(self) -> None:
        """A context that nobody holds, and below which nobody is held, is gone."""
        assert all(traces.gone for number, traces in self.dropped.items() if not self.is_held(self.expected[number]))


TestFamilies = Families.TestCase
TestFamilies.settings = settings(max_examples=50, stateful_step_count=25)


@given(st.integers(0, 5), st.booleans())
def test_a_dropped_child_is_not_kept(depth: int, aborted: bool) -> None:
    line = [Context()]
    for _ in range(depth):
        line.append(line[-1].child("scout"))
    if aborted:
        line[0].cancellation.abort()
    contexts.a_dropped_child_is_not_kept(line[-1])


@given(st.integers(0, 5))
def test_an_abort_reaches_all_below(generations: int) -> None:
    contexts.an_abort_reaches_all_below_whoever_is_gone(generations)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_a_watcher_that_has_left_is_not_called(leaving: list[int]) -> None:
    contexts.a_watcher_that_has_left_is_not_called(len(leaving), leaving.__getitem__)


def test_the_families_reach_what_the_laws_are_about() -> None:
    REACHED.clear()
    run_state_machine_as_test(Families, settings=settings(max_examples=100, stateful_step_count=25, derandomize=True, database=None))
    assert set(REACHED) == {"born aborted", "aborted again", "written below the root", "dropped", "aborted below one that is gone"}
