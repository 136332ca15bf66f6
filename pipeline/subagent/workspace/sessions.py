"""The end of a process and of all that it started and did not send away."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

PROCESSES: Final = "/proc"
"""Where the system lists its processes, on systems that do."""
MARK: Final = "TASK_AGENTS_COMMAND"
"""The variable by which the processes of one command are told, whatever they did to their sessions and parents."""
_PASSES: Final = 10


def kill_group(leader: int) -> None:
    """Send SIGKILL to a process group, if there is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def kill_session(leader: int, mark: str, processes: str = PROCESSES) -> None:
    """Send SIGKILL to all that a command started: the leader's group, the groups of its own that it made (`timeout` does, and job control), and
    what went into a session of its own and still bears the mark.

    Where the system lists no processes, the leader's group alone is reached.
    """
    kill_group(leader)
    passes = 0
    # A process may have started another between the listing and its end. Few passes: what outruns them is no accident.
    while passes < _PASSES and (found := tuple(members(leader, mark, processes))):
        passes += 1
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def members(leader: int, mark: str, processes: str = PROCESSES) -> Iterator[int]:
    """The processes of a session that still run, and those that bear the mark, by id."""
    marked = f"{MARK}={mark}".encode()
    for path in Path(processes).glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            # The name, in parentheses, may hold any character; the fields that follow it are state, parent, group, session.
            state, _, _, session = path.read_bytes().rpartition(b")")[2].split()[:4]
            if state not in {b"Z", b"X"} and (int(session) == leader or marked in (path.parent / "environ").read_bytes().split(b"\0")):
                yield int(path.parent.name)
