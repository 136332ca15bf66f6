"""A process from its start to its end: bounded in time and in what is kept of its output, never outlived by what it started."""

from __future__ import annotations

import os
import signal
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from subprocess import DEVNULL, STDOUT
from typing import Final

from anyio import CancelScope, create_task_group, move_on_after, open_process, to_thread, wait_readable
from anyio.abc import Process

from pipeline.subagent.tools import ToolError
from pipeline.subagent.workspace.output import Kept, visible
from pipeline.subagent.workspace.sessions import MARK, kill_group, kill_session

_CHUNK: Final = 65_536
_WHOLE_PIPE: Final = 1_048_576
"""Bytes that a pipe holds at most, unless the administrator says otherwise."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is run: what it is called, its words, what it has in its environment besides."""

    name: str
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its output, errors included, within bounds; its exit code, negative for a signal, None at the time limit."""

    output: str
    code: int | None


async def run(command: Command, folder: str, seconds: float) -> Ended:
    """Run a command without input, in a session of its own; ToolError where it cannot be started.

    When it ends, at the time limit and on cancellation, all that it started and is still there is killed: what is left of its session, and what
    left that with the mark in its environment.
    """
    mark = token_hex(16)
    reading, writing = os.pipe()
    try:
        # Not to be cancelled halfway, when there is a process and nobody to end it.
        with CancelScope(shield=True):
            process = await _started(command, folder, writing, mark)
        return await _watched(process, reading, seconds, mark)  # pyright: ignore[reportPossiblyUnboundVariable] - the scope swallows nothing
    finally:
        os.close(reading)


async def _started(command: Command, folder: str, writing: int, mark: str) -> Process:
    """The process, its output going to a pipe of ours: one of the event loop's would be waited for until its last holder is gone."""
    environment = {**os.environ, **command.environment, MARK: mark}
    try:
        return await open_process(command.words, stdin=DEVNULL, stdout=writing, stderr=STDOUT, cwd=folder, env=environment, start_new_session=True)
    except OSError as error:
        raise ToolError(f"{visible(str(error.filename or command.name))}: {error.strerror}") from error
    except ValueError as error:
        raise ToolError(f"{command.name}: its words cannot be passed on: {error}") from error
    finally:
        os.close(writing)


async def _watched(process: Process, reading: int, seconds: float, mark: str) -> Ended:
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
            await _end(process, mark)
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


async def _end(process: Process, mark: str) -> None:
    kill_group(process.pid)
    await process.wait()
    await to_thread.run_sync(kill_session, process.pid, mark)


def signal_name(number: int) -> str:
    """What a signal is called.

    >>> signal_name(9), signal_name(40)
    ('SIGKILL', '40')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
