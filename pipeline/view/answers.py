"""Answers as plain JSON data, for the command line's `--json`."""

from __future__ import annotations

from dataclasses import asdict

from pipeline.advice import render
from pipeline.problem import Problem
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
