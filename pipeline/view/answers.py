"""Answers as plain JSON data, for the command line's `--json`."""

from __future__ import annotations

from dataclasses import asdict

from pipeline.advice import lifting, refusal_text, render
from pipeline.changes import Difference
from pipeline.frozen import thaw
from pipeline.launch import Launch
from pipeline.problem import Problem
from pipeline.refusal import Refusal
from pipeline.selection import Explanation


def problem_json(problem: Problem) -> dict[str, object]:
    """A problem's kind, its data and its message."""
    return {"kind": type(problem).__name__, **asdict(problem), "message": render(problem)}


def explanation_json(why: Explanation) -> dict[str, object]:
    """An explanation with its files by path."""
    return {
        "name": why.name,
        "in_force": why.agent is not None,
        "winner": why.winner.path if why.winner else None,
        "losers": [{"path": loser.file.path, "rule": loser.rule} for loser in why.losers],
        "replaces_bundled": why.replaces_bundled,
        "broken": [
            {"path": outcome.path, "status": outcome.status, "problems": [problem_json(problem) for problem in outcome.problems]}
            for outcome in why.broken
        ],
        "near": list(why.near),
    }


def launch_json(launch: Launch) -> dict[str, object]:
    """What a child would get, as data; `tools` null is every tool but those withheld."""
    return {
        "agent": launch.agent.name,
        "file_path": launch.agent.file_path,
        "depth": launch.depth,
        "tools": None if launch.tools is None else list(launch.tools),
        "withheld": list(launch.withheld),
        "spawns": launch.spawns_text,
        "schema": thaw(launch.schema),
        "schema_from": launch.schema_from,
        "model": None if launch.model is None else list(launch.model),
        "thinking_level": launch.thinking_level,
        "plan_mode": launch.plan_mode,
        "max_rounds": launch.max_rounds,
        "prompt": launch.prompt,
    }


def refusal_json(refusal: Refusal) -> dict[str, object]:
    """A refusal's kind, its data, its text and what would lift it."""
    return {"kind": type(refusal).__name__, **asdict(refusal), "message": refusal_text(refusal), "lift": lifting(refusal)}


def difference_json(found: Difference) -> dict[str, object]:
    """A difference as data."""
    return asdict(found)
