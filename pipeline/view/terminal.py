"""Tables for a terminal, by rich; the one place that knows it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from pipeline.view.text import visible

_UNLIMITED = 100_000
"""A width that no table reaches: what goes to a file or a pipe is not cut to a screen."""


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under headings, made harmless, folded to the terminal's width where there is one."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - 40 ms that other commands need not wait for
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console = Console(markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else _UNLIMITED)
    console.print(table)
