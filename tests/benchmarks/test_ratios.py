"""How discovery compares to merely reading the files, as ratios measured side by side in fresh processes; prints, and never fails on time.

pytest tests/benchmarks -n 0
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROBE = Path(__file__).with_name("probe.py")
BODY = "You are a careful engineer. Read what is asked for, say what you found, and stop when the question is answered.\n" * 19
DESCRIPTION = "Reviews changes to the storage layer and its tests before anything is merged, and says what is risky and what is missing in them"


def make(root: Path, count: int) -> tuple[str, str]:
    """A project with `count` agents of about 2.4 kB each, and an empty home."""
    agents = root / "proj" / ".claude" / "agents"
    agents.mkdir(parents=True)
    (root / "home").mkdir()
    for at in range(count):
        name = f"agent-{at:06}"
        (agents / f"{name}.md").write_text(f"---\nname: {name}\ndescription: {DESCRIPTION}\ntools: Read, Grep, Glob\nmodel: sonnet\n---\n\n{BODY}")
    return str(root / "proj"), str(root / "home")


def probe(cwd: str, home: str, runs: int) -> list[dict[str, Any]]:
    return [json.loads(subprocess.run([sys.executable, str(PROBE), cwd, home], check=True, capture_output=True).stdout) for _ in range(runs)]


def median(runs: list[dict[str, Any]], of: Callable[[dict[str, Any]], float]) -> float:
    return statistics.median(of(run) for run in runs)


def verdict(value: float, limit: float) -> str:
    return "met" if value <= limit else f"MISSED by {value / limit - 1:.0%}"


@pytest.mark.parametrize(("count", "runs"), [(1_000, 9), (10_000, 5), (100_000, 2)])
def test_cold_and_refresh(count: int, runs: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cwd, home = make(tmp_path, count)
    measured = probe(cwd, home, runs)
    assert all(run["agents"] == count + 6 for run in measured)
    cold = median(measured, lambda run: run["cold"] / run["read_floor"])
    refresh = median(measured, lambda run: run["refresh"] / run["cold"])
    with capsys.disabled():
        print(f"\n{count:>7,} files: cold {cold:.2f} x the read floor (at most 6: {verdict(cold, 6)}; moonshot 4: {verdict(cold, 4)})")
        print(f"{'':15} refresh {refresh:.3f} of cold (at most 0.2: {verdict(refresh, 0.2)})")
        print(f"{'':15} refresh {median(measured, lambda run: run['refresh'] / run['stat_floor']):.2f} x listing and stat alone")
        print(f"{'':15} cold {median(measured, lambda run: run['cold'] / run['system_floor']):.2f} x the same reads in bare system calls")
        print(f"{'':15} per file: floor {per_file(measured, 'read_floor', count)}, cold {per_file(measured, 'cold', count)} us")


def per_file(runs: list[dict[str, Any]], key: str, count: int) -> str:
    return f"{median(runs, lambda run: run[key]) / count * 1e6:.1f}"


def test_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = probe(*make(tmp_path / "small", 1_000), 5)
    large = probe(*make(tmp_path / "large", 30_000), 3)
    growth = median(large, lambda run: run["cold"] / run["read_floor"]) / median(small, lambda run: run["cold"] / run["read_floor"])
    with capsys.disabled():
        print(f"\n30 times the files cost {growth:.2f} times as much a file, the floor's own growth taken out (linear is 1)")


def test_whole_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cwd, home = make(tmp_path, 1_000)
    library = "import sys, pipeline; print(len(pipeline.discover(pipeline.capture(*sys.argv[1:])).agents))"
    commands = {
        "python alone": [sys.executable, "-c", "pass"],
        "the library": [sys.executable, "-c", library, cwd, home],
        "task-agents list": [sys.executable, "-m", "pipeline", "list", "--cwd", cwd, "--home", home],
    }
    times = {name: statistics.median(wall(command) for _ in range(7)) for name, command in commands.items()}
    with capsys.disabled():
        for name, seconds in times.items():
            print(f"\nwhole process, 1,000 files, {name}: {seconds / times['python alone']:.1f} x python alone, {seconds * 1000:.0f} ms", end="")
        print()


def wall(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start
