"""Spawn guards: each a named function that lets an agent through or says why not. `passed` is all of them in the order of the rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from returns.result import Failure, Result, Success

from pipeline.agent import AgentDefinition
from pipeline.discovery import Discovery
from pipeline.policy import allows, joined
from pipeline.refusal import AgentDisabled, BadTaskIds, NoTasks, Refusal, SpawnForbidden, SpawnsItself, as_refusal
from pipeline.request import Session, TaskRequest
from pipeline.selection import get_agent

Checked: TypeAlias = Result[AgentDefinition, Refusal]
Guard: TypeAlias = Callable[[TaskRequest, Session, AgentDefinition], Checked]


def passed(request: TaskRequest, session: Session, discovery: Discovery) -> Checked:
    """The agent that a request asks for, if every guard lets it through; else the first refusal."""

    def by(guard: Guard) -> Callable[[AgentDefinition], Checked]:
        return partial(guard, request, session)

    found: Checked = get_agent(discovery, request.agent).alt(as_refusal)
    return found.bind(by(enabled(discovery))).bind(by(has_tasks)).bind(by(tasks_have_ids)).bind(by(not_itself)).bind(by(parent_allows))


def enabled(discovery: Discovery) -> Guard:
    """The guard that refuses what the settings disable; the discovery tells what is left."""

    def is_enabled(_: TaskRequest, session: Session, agent: AgentDefinition) -> Checked:
        if agent.name not in session.disabled:
            return Success(agent)
        return Failure(AgentDisabled(agent.name, tuple([each.name for each in discovery.agents if each.name not in session.disabled])))

    return is_enabled


def has_tasks(request: TaskRequest, _: Session, agent: AgentDefinition) -> Checked:
    """Refuses a request without tasks."""
    return Success(agent) if request.tasks else Failure(NoTasks())


def tasks_have_ids(request: TaskRequest, _: Session, agent: AgentDefinition) -> Checked:
    """Refuses tasks without an id, and ids that differ by nothing but case.

    >>> from pipeline.request import TaskItem
    >>> agent = AgentDefinition("a", "b", "", "user", "/a.md")
    >>> tasks_have_ids(TaskRequest("a", (TaskItem("Foo"), TaskItem(" "), TaskItem("foo"))), Session(), agent).failure()
    BadTaskIds(missing=(1,), repeated=(('Foo', (0, 2)),))
    """
    places: dict[str, list[int]] = {}
    for at, task in enumerate(request.tasks):
        places.setdefault(task.id.strip().lower(), []).append(at)
    missing = tuple(places.pop("", ()))
    repeated = tuple([(request.tasks[found[0]].id.strip(), tuple(found)) for found in places.values() if len(found) > 1])
    return Failure(BadTaskIds(missing, repeated)) if missing or repeated else Success(agent)


def not_itself(_: TaskRequest, session: Session, agent: AgentDefinition) -> Checked:
    """Refuses an agent that asks for itself from within."""
    return Failure(SpawnsItself(agent.name)) if agent.name == session.blocked else Success(agent)


def parent_allows(_: TaskRequest, session: Session, agent: AgentDefinition) -> Checked:
    """Refuses an agent that the parent's spawn policy leaves out."""
    if allows(session.policy, agent.name):
        return Success(agent)
    given = session.spawns if isinstance(session.spawns, str) else joined(session.policy)
    return Failure(SpawnForbidden(agent.name, given))
