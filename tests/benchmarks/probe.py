"""One fresh process's times for one directory of agents, as JSON: run by `test_ratios.py`, in seconds."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def read_floor(directory: str) -> list[bytes]:
    """The least that Python code does in its plain words: list, `open`, `fstat` and one exact read of every file."""
    contents = []
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            contents.append(file.read(os.fstat(file.fileno()).st_size))
    return contents


def system_floor(directory: str) -> list[bytes]:
    """The same in bare system calls: half of it is what Python's file objects cost."""
    contents = []
    with os.scandir(directory) as entries:
        for entry in entries:
            file = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC)
            contents.append(os.read(file, os.fstat(file).st_size))
            os.close(file)
    return contents


def stat_floor(directory: str) -> list[os.stat_result]:
    """The least that a second look must do."""
    with os.scandir(directory) as entries:
        return [os.stat(entry.path) for entry in entries]


FLOORS = (read_floor, system_floor, stat_floor)


def main(cwd: str, home: str) -> None:
    from pipeline import capture, discover, load_bundled_agents  # noqa: PLC0415 - its import is timed by whole processes

    directory = f"{cwd}/.claude/agents"
    load_bundled_agents()
    times = {floor.__name__: statistics.median(timed(lambda f=floor: f(directory)) for _ in range(5)) for floor in FLOORS}
    start = time.perf_counter()
    snapshot = capture(cwd, home)
    found = discover(snapshot)
    times["cold"] = time.perf_counter() - start

    def refresh() -> None:
        discover(capture(cwd, home, previous=snapshot))

    times["refresh"] = statistics.median(timed(refresh) for _ in range(5))
    print(json.dumps(times | {"agents": len(found.agents)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
