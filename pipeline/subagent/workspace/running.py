"""A process from its start to its end: bounded in time and in what is kept of its output, never outlived by what it started."""

from __future__ import annotations

import os
import signal
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from subprocess import DEVNULL, STDOUT
from typing import Final

from anyio import CancelScope, create_task_group, move_on_after, open_process, to_thread, wait_readable
from anyio.abc import Process

from pipeline.subagent.tools import ToolError
from pipeline.subagent.workspace.output import Kept, visible
from pipeline.subagent.workspace.sessions import kill_group, kill_session

_CHUNK: Final = 65_536
_WHOLE_PIPE: Final = 1_048_576
"""Bytes that a pipe holds at most, unless the administrator says otherwise."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its output, errors included, within bounds; its exit code, negative for a signal, None at the time limit."""

    output: str
    code: int | None


async def run(command: Sequence[str], folder: str, seconds: float, environment: Mapping[str, str] | None = None) -> Ended:
    """Run a command by its words, without input, in a session of its own; ToolError where it cannot be started.

    When it ends, at the time limit and on cancellation, all that is left of its session is killed. What left the session is not waited for.
    """
    reading, writing = os.pipe()
    try:
        # Not to be cancelled halfway, when there is a process and nobody to end it.
        with CancelScope(shield=True):
            process = await _started(command, folder, writing, environment)
        return await _watched(process, reading, seconds)  # pyright: ignore[reportPossiblyUnboundVariable] - the scope swallows nothing
    finally:
        os.close(reading)


async def _started(command: Sequence[str], folder: str, writing: int, environment: Mapping[str, str] | None) -> Process:
    """The process, its output going to a pipe of ours: one of the event loop's would be waited for until its last holder is gone."""
    try:
        return await open_process(command, stdin=DEVNULL, stdout=writing, stderr=STDOUT, cwd=folder, env=environment, start_new_session=True)
    except OSError as error:
        raise ToolError(f"{visible(str(error.filename or command[0]))}: {error.strerror}") from error
    except ValueError as error:
        raise ToolError(f"{command[0]}: its words cannot be passed on: {error}") from error
    finally:
        os.close(writing)


async def _watched(process: Process, reading: int, seconds: float) -> Ended:
    kept, decoder = Kept(), getincrementaldecoder("utf-8")("replace")
    code: int | None = None
    try:
        with move_on_after(seconds):
            async with create_task_group() as tasks:
                tasks.start_soon(_drain, reading, lambda data: kept.add(decoder.decode(data)))
                code = await process.wait()
                tasks.cancel_scope.cancel()
    finally:
        with CancelScope(shield=True):
            await _end(process)
    with suppress(BlockingIOError):
        # One reading, not until the end: that may be far where the pipe was taken along.
        kept.add(decoder.decode(os.read(reading, _WHOLE_PIPE)))
    kept.add(decoder.decode(b"", final=True))
    return Ended(kept.text, code)


async def _drain(reading: int, take: Callable[[bytes], None]) -> None:
    os.set_blocking(reading, False)
    data = b"more"
    while data:
        await wait_readable(reading)
        with suppress(BlockingIOError):
            data = os.read(reading, _CHUNK)
            take(data)


async def _end(process: Process) -> None:
    kill_group(process.pid)
    await process.wait()
    await to_thread.run_sync(kill_session, process.pid)


def signal_name(number: int) -> str:
    """What a signal is called.

    >>> signal_name(9), signal_name(40)
    ('SIGKILL', '40')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
