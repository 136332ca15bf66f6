"""Nothing crashes: every parser answers every input with a value."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from pipeline.advice import render
from pipeline.definition import read_agent
from pipeline.discovery import discover
from pipeline.hosts import STANDARD, Host
from pipeline.nodes import File
from pipeline.snapshot import Snapshot


def any_text_is_a_definition_or_says_why(text: str, host: Host = STANDARD) -> None:
    """Any text gives a definition with a name and a description, or at least one reason why not; every reason and warning can be rendered."""
    verdict = read_agent(text, "/x.md", "user", host=host)
    match verdict.result:
        case Success(agent):
            assert agent.name
            assert agent.description
            assert hash(agent) == hash(agent)
        case Failure(problems):
            assert problems
            assert all(render(problem) for problem in problems)
    assert all(render(warning) for warning in verdict.warnings)


def any_bytes_have_an_outcome(data: bytes, host: Host = STANDARD) -> None:
    """Any bytes in an agent's place have exactly one outcome."""
    path = f"/home/user/project/{host.families[0].project}/x.md"
    found = discover(Snapshot.from_tree({path: File(data)}), host=host)
    assert [outcome.path for outcome in found.files] == [path]


def any_registry_is_read_or_named(data: bytes, host: Host = STANDARD) -> None:
    """Any bytes in a registry's place leave the agents as they are: the registry is read, or a problem names it."""
    path = f"/home/user/{host.plugins.registries[0].path}"
    agent = f"/home/user/project/{host.families[0].project}/x.md"
    found = discover(Snapshot.from_tree({path: data, agent: "---\nname: x\ndescription: y\n---"}), host=host)
    assert found.agents[0].name == "x"
    assert all(problem.path == path for problem in found.surroundings)


def any_json_is_a_snapshot_or_says_why(text: str) -> None:
    """Any text is a snapshot or a reason why not."""
    found: Result[Snapshot, object] = Snapshot.from_json(text)
    assert isinstance(found, Success | Failure)


def every_candidate_is_accounted_for(snapshot: Snapshot, host: Host = STANDARD) -> None:
    """Every problem has a path and an absolute place, every outcome the one status that its result allows."""
    found = discover(snapshot, host=host)
    for outcome in found.files:
        assert (outcome.status in ("loaded", "shadowed")) == isinstance(outcome.result, Success)
        assert (outcome.winner is not None) == (outcome.status == "shadowed")
    for problem in found.problems:
        assert problem.path.startswith("/")
        assert problem.line is None or problem.line >= 1
        assert problem.column is None or problem.column >= 1
        assert render(problem)


def an_empty_tool_list_is_not_every_tool(text: str, host: Host = STANDARD) -> None:
    """An agent whose file gives a list of tools, be it empty, never has every tool."""
    agent = read_agent(f"---\nname: a\ndescription: b\ntools: {text}\n---", "/x.md", "user", host=host).result.unwrap()
    assert agent.tools is not None
    assert "submit_result" in agent.tools
