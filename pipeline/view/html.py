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
    '<table><thead><tr><th>name</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{_cell(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _cell(text: str) -> str:
    return escape(visible(text))
