"""Tables as HTML for notebooks: the only place that makes text from files harmless for a browser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pipeline.view.text import visible


class Html(str):
    """HTML that a notebook shows as it is."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def html_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """Rows of plain text as a table, every cell escaped.

    >>> str(html_table(["name"], [["<b>"]]))
    '<table><tr><th style="text-align:left">name</th></tr><tr><td style="text-align:left">&lt;b&gt;</td></tr></table>'
    """
    return Html(f"<table>{_row('th', headings)}{''.join(_row('td', row) for row in rows)}</table>")


def _row(tag: str, cells: Sequence[str]) -> str:
    opening = f'<{tag} style="text-align:left">'
    return f"<tr>{''.join(f'{opening}{escape(visible(cell))}</{tag}>' for cell in cells)}</tr>"
