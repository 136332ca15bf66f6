"""What a decision costs on many agents; prints, and never fails on time.

pytest tests/benchmarks -n 0
"""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from pipeline import AgentDefinition, AnyAgent, Discovery, OnlyAgents, Session, TaskItem, TaskRequest, plan_launch, spawn_graph


def many(count: int) -> Discovery:
    names = [f"agent-{at}" for at in range(count)]
    spawns = (None, AnyAgent(), OnlyAgents(tuple(names[:20])))
    agents = [AgentDefinition(name, "d", "p", "project", f"/{name}.md", ("read",), spawns[at % 3]) for at, name in enumerate(names)]
    return Discovery(tuple(agents), (), None)


def test_plan_launch_of_1000_agents(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    found, request, session = many(1_000), TaskRequest("agent-500", (TaskItem("one"),)), Session()
    planned = benchmark(plan_launch, request, session, found)
    assert planned.unwrap().agent.name == "agent-500"
    say(capsys, benchmark, "plan_launch on 1,000 agents", 50e-6)


def test_spawn_graph_of_10000_agents(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    graph = benchmark.pedantic(spawn_graph, args=(many(10_000),), rounds=5)
    assert len(graph.agents) == 10_000
    say(capsys, benchmark, "spawn_graph of 10,000 agents", 1.0)


def say(capsys: pytest.CaptureFixture[str], benchmark: BenchmarkFixture, what: str, limit: float) -> None:
    median = benchmark.stats.stats.median
    with capsys.disabled():
        print(f"\n{what}: median {median * 1e6:,.1f} us, target {limit * 1e6:,.0f} us: {'met' if median <= limit else 'MISSED'}")
