"""A run in a terminal while it goes on: a table of the agents that moves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live

from pipeline.subagent.events import Listener, RunEvent
from pipeline.view.progress import HEADINGS, Progress, progress_rows, progressed
from pipeline.view.terminal import folded
from pipeline.view.text import visible


@contextmanager
def live_progress() -> Iterator[Listener]:
    """A listener that keeps a table of the agents on the error stream's terminal up to date, and leaves its last state there."""
    progress: Progress = {}
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    with Live(console=console, refresh_per_second=8) as live:

        def listen(event: RunEvent) -> None:
            nonlocal progress
            progress = progressed(progress, event)
            live.update(folded(HEADINGS, [[visible(cell) for cell in row] for row in progress_rows(progress)]))

        yield listen
