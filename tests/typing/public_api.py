"""The public names as a type checker must see them; checked by mypy and pyright, never run."""

from __future__ import annotations

from typing import assert_type

from returns.result import Result

from pipeline import (
    AgentDefinition,
    Discovery,
    Explanation,
    FileOutcome,
    Refusal,
    Session,
    Snapshot,
    TaskItem,
    TaskRequest,
    UnknownAgent,
    capture,
    discover,
    explain,
    get_agent,
    load_bundled_agents,
    parse_agent,
    plan_launch,
    render,
)
from pipeline.problem import Invalid
from pipeline.refusal import ForkOfFork
from pipeline.subagent import (
    Allow,
    Ask,
    Begun,
    Conversation,
    Deny,
    Divergence,
    Execution,
    ModelRequest,
    Occasion,
    Options,
    Reply,
    ScriptedModel,
    Text,
    Turn,
    advance,
    begin,
    begin_main,
    converse_sync,
    execute_sync,
    first_divergence,
    fork,
)
from pipeline.subagent.conversation import Status
from pipeline.subagent.events import RunEvent

snapshot = capture(".")
assert_type(snapshot, Snapshot)
assert_type(capture(".", "/home", previous=snapshot), Snapshot)
assert_type(snapshot.put("a", "b").remove("a"), Snapshot)
assert_type(discover(snapshot), Discovery)
assert_type(discover(snapshot).files, tuple[FileOutcome[AgentDefinition], ...])
assert_type(get_agent(discover(snapshot), "a"), Result[AgentDefinition, UnknownAgent])
assert_type(get_agent(discover(snapshot), "a").map(lambda agent: agent.name).value_or("none"), str)
assert_type(parse_agent("", "/a.md", "user"), Result[AgentDefinition, tuple[Invalid, ...]])
assert_type(explain(discover(snapshot), "a"), Explanation)
assert_type(load_bundled_agents(), tuple[AgentDefinition, ...])
assert_type([render(problem) for problem in discover(snapshot).problems], list[str])

request, session, model = TaskRequest("explore", (TaskItem("one", assignment="Look."),)), Session(), ScriptedModel([Reply((Text("Done."),))])
assert_type(execute_sync(request, session, model), Result[Execution, Refusal])
assert_type(execute_sync(request, session, model).unwrap().conclusions[0].status, Status)
events: list[RunEvent] = []
assert_type(converse_sync("Hello.", session, model, Options(listener=events.append)), Result[Turn, Refusal])
assert_type(plan_launch(request, session, snapshot).map(lambda launch: begin(launch, "Look.")).unwrap(), Conversation)
assert_type(advance(begin_main("Hello."), Begun()).conversation, Conversation)
assert_type(fork(begin_main("Hello."), "Go.").map(lambda forked: forked.request), Result[ModelRequest, ForkOfFork])
assert_type(first_divergence(begin_main("a").request, begin_main("b").request), Divergence | None)


class Echo:
    async def reply(self, request: ModelRequest) -> Reply:
        return Reply((Text(str(len(request.messages))),))


def policy(occasion: Occasion) -> Allow | Deny | Ask:
    return Ask("really?") if occasion.tool == "bash" else Allow()


async def approver(_: Occasion, question: Ask) -> Allow | Deny:
    return Deny(question.reason)


assert_type(execute_sync(request, session, Echo(), Options(policy=policy, approver=approver)), Result[Execution, Refusal])
