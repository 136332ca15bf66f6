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
_PASSES: Final = 10


def kill_group(leader: int) -> None:
    """Send SIGKILL to a process group, if there is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def kill_session(leader: int, processes: str = PROCESSES) -> None:
    """Send SIGKILL to all of a session: the leader's group, and the groups of its own that a command made (`timeout` does, and job control).

    Where the system lists no processes, the leader's group alone is reached.
    """
    kill_group(leader)
    passes = 0
    # A process may have started another between the listing and its end. Few passes: what outruns them is no accident.
    while passes < _PASSES and (found := tuple(members(leader, processes))):
        passes += 1
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)


def members(leader: int, processes: str = PROCESSES) -> Iterator[int]:
    """The processes of a session that still run, by id."""
    for path in Path(processes).glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            # The name, in parentheses, may hold any character; the fields that follow it are state, parent, group, session.
            state, _, _, session = path.read_bytes().rpartition(b")")[2].split()[:4]
            if int(session) == leader and state not in {b"Z", b"X"}:
                yield int(path.parent.name)
