"""Metadata that is YAML but for keys that stand twice: the last counts, is warned about, and all else means what it says."""

from __future__ import annotations

import pytest

from pipeline import STANDARD, XCSH, AgentDefinition, Host, Snapshot, discover
from pipeline.frozen import freeze
from pipeline.problem import DuplicateKey

A = ".claude/agents/a.md"
HOSTS = pytest.mark.parametrize("host", [STANDARD, XCSH], ids=lambda host: str(host.name))


def loaded(host: Host, *lines: str) -> tuple[AgentDefinition, list[tuple[str, int | None]]]:
    """The agent of these lines, and the keys that are said to stand twice, with their lines; nothing else is said of it."""
    found = discover(Snapshot.from_tree({A: "\n".join(("---", *lines, "---", "Do it."))}), host=host)
    said = [(problem.key, problem.line) for problem in found.problems if isinstance(problem, DuplicateKey)]
    assert len(said) == len(found.problems)
    return found.by_name["a"], said


@HOSTS
@pytest.mark.parametrize("tools", ['"tools": [Read]', "tools : Read", "'tools': Read", "tools: [\n  Read,\n]", "tools:\n- Read"])
def test_an_entry_beside_a_repeated_key_keeps_its_meaning(host: Host, tools: str) -> None:
    agent, said = loaded(host, "name: a", "description: b", "color: x", *tools.split("\n"), "color: y")
    assert agent.tools == ("read", "submit_result")
    assert said == [("color", 5 + len(tools.split("\n")))]


@HOSTS
def test_every_repeated_key_is_named(host: Host) -> None:
    agent, said = loaded(host, '"name": z', "description: b", "model: m", "name : a", "model: n")
    assert (agent.name, agent.model) == ("a", ("n",))
    assert said == [("name", 5), ("model", 6)]


@HOSTS
def test_a_mapping_in_braces_may_repeat_a_key(host: Host) -> None:
    agent, said = loaded(host, "{name: z, description: b, name: a}")
    assert (agent.description, said) == ("b", [("name", 2)])


@HOSTS
def test_a_key_that_stands_twice_within_a_schema_leaves_it_a_schema(host: Host) -> None:
    agent, said = loaded(host, "name: a", "description: b", "output:", "  properties:", "    x: {type: string}", "    x: {type: int8}")
    assert (agent.output, said) == (freeze({"properties": {"x": {"type": "int8"}}}), [])
