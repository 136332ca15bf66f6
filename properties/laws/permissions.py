"""What hooks and permission promise, whoever is asked and whatever they answer: a run of a family against a reading of its plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Final, cast

import anyio

from pipeline.frozen import JsonObject
from pipeline.request import Session
from pipeline.subagent.engine import Options
from pipeline.subagent.events import RunEvent, ToolFinished
from pipeline.subagent.messages import Message, Reply, Text, ToolUse
from pipeline.subagent.models.function import FunctionModel
from pipeline.subagent.modes import FORK_BY_NAME
from pipeline.subagent.permission import Allow, Ask, Decision, Deny, Hook, Occasion, Policy, settled
from pipeline.subagent.requests import ModelRequest, ToolSpec
from pipeline.subagent.running import converse, root_context
from pipeline.subagent.starting import FORK_TAG
from pipeline.subagent.tools import Tool, ToolCall
from properties.families import HOOKS, POLICIES, ROOT, Facts, Family, Heard, Member, Said, Use, Voice, agent_at, ids, voice

PROBE: Final = "probe"


def settled_follows_the_table(opinion: Decision | None, decisions: Sequence[Decision]) -> None:
    """Any denial wins, the first of them; then the first question, unless the hook allowed; with neither it is allowed."""
    held = [each for each in (opinion, *decisions) if each is not None]
    denials, questions = [each for each in held if isinstance(each, Deny)], [each for each in held if isinstance(each, Ask)]
    if denials:
        assert settled(opinion, decisions) == denials[0]
    elif questions and opinion != Allow():
        assert settled(opinion, decisions) == questions[0]
    else:
        assert settled(opinion, decisions) == Allow()


def another_policy_never_loosens(opinion: Decision | None, decisions: Sequence[Decision], another: Decision) -> None:
    """What is decided with one more policy, wherever it stands, is at least as strict as without it."""
    for at in range(len(decisions) + 1):
        assert _strictness(settled(opinion, (*decisions[:at], another, *decisions[at:]))) >= _strictness(settled(opinion, decisions))


def the_order_of_policies_only_chooses_the_words(opinion: Decision | None, decisions: Sequence[Decision]) -> None:
    """In whatever order the policies stand, the decision is of one kind."""
    assert len({type(settled(opinion, order)) for order in permutations(decisions)}) == 1


def _strictness(decision: Decision) -> int:
    return (Allow, Ask, Deny).index(type(decision))


def took_place(family: Family, session: Session, backend: str) -> Facts:
    """What does happen in a family, in a session that has the agents `d1`, `d2` and so on, which may start each other."""
    run = _Run(family)
    options = Options(
        tools=(Tool(ToolSpec(PROBE, "Probes.", JsonObject({"type": "object"})), run.probe),),
        hooks=tuple([run.hook(at) for at in range(HOOKS)]),
        approver=run.approver if family.approver else None,
        listener=run.listen,
        modes=FORK_BY_NAME,
    )
    context = replace(root_context(options, session), policies=tuple([run.policy(at) for at in range(POLICIES)]))

    async def conversed() -> None:
        with anyio.fail_after(30):
            (await converse(ROOT, replace(session, max_rounds=family.max_rounds), FunctionModel(run.reply), options, context=context)).unwrap()

    anyio.run(conversed, backend=backend)
    run.facts.ran += Counter({use_id: 1 for use_id in run.started if use_id in run.delegated})
    return run.facts


class _Run:
    """A family that really runs, every one of its parts played by its plan, and what it is seen to do."""

    def __init__(self, family: Family) -> None:
        self.facts = Facts()
        self.started: list[str] = []
        self.members: dict[str, Member] = {}
        self.uses: dict[str, Use] = {}
        self.stops: Counter[tuple[str, int]] = Counter()
        self._known(family.main, ROOT)
        self.delegated = {use_id for use_id, use in self.uses.items() if use.child is not None}

    def _known(self, member: Member, path: str) -> None:
        self.members[path] = member
        for at, uses in enumerate(member.rounds):
            for use_id, use in ids(path, at, uses):
                self.uses[use_id] = use
                if use.child is not None:
                    self._known(use.child, use_id)

    def reply(self, request: ModelRequest) -> Reply:
        """What the agent that asks says next: its uses, or its last words. What it writes speaks of permission, and is none."""
        path, said = _asked(request)
        self.facts.calls[path] += 1
        member = self.members[path]
        words = Text(f"{member.words} {path}")
        if said >= len(member.rounds):
            return Reply((words,))
        return Reply((words, *(_tool_use(use_id, use) for use_id, use in ids(path, said, member.rounds[said]))), "tool_use")

    async def probe(self, call: ToolCall) -> str:
        """The tool that only tells that it ran."""
        self.facts.ran[call.id] += 1
        await anyio.sleep(0)
        return '{"permission": "allow"}'

    def listen(self, event: RunEvent) -> None:
        """Hear how uses are answered, and which tools were started."""
        if isinstance(event, ToolFinished):
            self.facts.answers[event.id] = event.is_error
        elif event.kind == "tool_started":
            self.started.append(event.to_json()["id"])  # type: ignore[arg-type]

    def hook(self, at: int) -> Hook:
        """The hook at a place; every other one is asynchronous."""

        def heard(occasion: Occasion) -> Decision | None:
            about = occasion.use.id if occasion.use else occasion.text.split()[-1]
            self.facts.heard[Heard(at, occasion.event, occasion.agent, occasion.ancestry, occasion.depth, about)] += 1
            self.facts.chains.add((occasion.chain, about.rsplit(".", 2)[0] if occasion.use else about))
            return cast("Decision | None", _spoken(voice(self._said(at, occasion, about), at)))

        async def later(occasion: Occasion) -> Decision | None:
            await anyio.sleep(0)
            return heard(occasion)

        return later if at % 2 else heard

    def _said(self, at: int, occasion: Occasion, about: str) -> Said:
        match occasion.event:
            case "PreToolUse":
                return self.uses[about].hooks
            case "PostToolUse":
                return self.uses[about].after
            case "Stop" | "SubagentStop":
                first = self.stops[about, 0]
                self.stops[about, at] += 1
                number = first if at == 0 else first - 1
                return self.members[about].stops[number] if number < len(self.members[about].stops) else ()
            case _:
                return self.members[about].start

    def policy(self, at: int) -> Policy:
        """The policy at a place."""

        def decided(occasion: Occasion) -> Decision:
            assert occasion.use is not None
            return cast("Decision", _spoken(voice(self.uses[occasion.use.id].policies, at)))

        return decided

    def approver(self, occasion: Occasion, _: Ask) -> Awaitable[Allow | Deny]:
        """The approver, who takes a while."""

        async def approved() -> Allow | Deny:
            assert occasion.use is not None
            self.facts.approvals[occasion.use.id, occasion.ancestry] += 1
            await anyio.sleep(0)
            return cast("Allow | Deny", _spoken(self.uses[occasion.use.id].approver))

        return approved()


def _spoken(said: Voice) -> object:
    if said == "raises":
        raise RuntimeError("it fell over")
    return {"none": None, "allow": Allow(), "deny": Deny("no"), "ask": Ask("sure?"), "nonsense": "yes"}[said]


def _asked(request: ModelRequest) -> tuple[str, int]:
    """The path of the agent that asks, by its task or its directive, and how often it has spoken since."""
    forks = [at for at, message in enumerate(request.messages) if _is_directive(message)]
    start = forks[0] if forks else 0
    task = request.messages[start].content[-1]
    assert isinstance(task, Text)
    return task.text, sum(message.role == "assistant" for message in request.messages[start:])


def _is_directive(message: Message) -> bool:
    return message.role == "user" and Text(FORK_TAG) in message.content[:-1]


def _tool_use(use_id: str, use: Use) -> ToolUse:
    if use.child is None:
        return ToolUse(use_id, PROBE, JsonObject({"approved": True, "permission": "allow"}))
    agent = "fork" if use.child.forked else agent_at(_depth(use_id))
    return ToolUse(use_id, "task", JsonObject({"agent": agent, "description": use_id}))


def _depth(path: str) -> int:
    """How deep an agent with this path stands: a path has two numbers for each step."""
    return path.count(".") // 2


def tools_run_exactly_where_they_may(expected: Facts, seen: Facts) -> None:
    """A tool runs, once, exactly where no hook and no policy denies it and every question was answered with a yes; nothing that is written grants."""
    assert seen.ran == expected.ran


def the_approver_is_asked_exactly_where_it_must_be(expected: Facts, seen: Facts) -> None:
    """The approver is asked, once and with the path of agents that led to it, exactly of what is neither denied nor allowed by a hook."""
    assert seen.approvals == expected.approvals


def hooks_hear_everybody(expected: Facts, seen: Facts) -> None:
    """Hooks are asked in order, until one has an opinion, of all that anybody in the family does, with who that is and where it stands.

    So PostToolUse is heard exactly of tools that ran, and a start or a prompt that is refused is the last that is heard of an agent.
    """
    assert seen.heard == expected.heard


def models_are_called_only_for_those_who_may_start(expected: Facts, seen: Facts) -> None:
    """A model is never called for whoever may not start, and for others as often as they have to say something or may not end, at most so often as
    there are rounds.
    """
    assert seen.calls == expected.calls


def every_use_is_answered_as_it_went(expected: Facts, seen: Facts) -> None:
    """A use is answered with an error exactly where it was refused, came to nothing, or a hook objects to what came of it."""
    assert seen.answers == expected.answers


def everybody_is_on_a_chain_of_their_own(_: Facts, seen: Facts) -> None:
    """Hooks can tell one conversation from another: each has one chain, and no two have the same."""
    assert len(seen.chains) == len({chain for chain, _ in seen.chains}) == len({path for _, path in seen.chains})


Law = Callable[[Facts, Facts], None]
