"""The public names as a type checker must see them; checked by mypy and pyright, never run."""

from __future__ import annotations

from typing import assert_type

from returns.result import Result

from pipeline import (
    AgentDefinition,
    Discovery,
    Explanation,
    FileOutcome,
    Snapshot,
    UnknownAgent,
    capture,
    discover,
    explain,
    get_agent,
    load_bundled_agents,
    parse_agent,
    render,
)
from pipeline.problem import Invalid

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
