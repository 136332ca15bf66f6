"""Tables for a terminal, by rich, and as plain columns for a file or a pipe; the one place that knows rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pipeline.view.text import visible

if TYPE_CHECKING:
    from rich.table import Table


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under headings, made harmless: folded to the width of a terminal, or in full where there is none."""
    cells = [[visible(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _print_folded(headings, cells)
    else:
        sys.stdout.writelines(f"{line}\n" for line in columns([headings, *cells]))


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines in which each column is as wide as its widest cell.

    >>> columns([["a", "b"], ["long", ""], ["x", "y"]])
    ['a     b', 'long', 'x     y']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _print_folded(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - 40 ms that nobody without a screen need wait for

    Console(markup=False, highlight=False, emoji=False).print(folded(headings, rows))


def folded(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Rows under headings, as they are: they must be harmless already."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
