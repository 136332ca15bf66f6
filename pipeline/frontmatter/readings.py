"""The one road from a text to its tree: the cheapest reading that is sure of it. All give the same tree, so nobody need know which it was."""

from __future__ import annotations

from typing import Final

from returns.result import Failure, Result, Success

from pipeline.frontmatter.fast import is_unsure, read_fast
from pipeline.frontmatter.plain import read_plain
from pipeline.frontmatter.tree import Node, NotReadable

MAX_UNSURE: Final = 1 << 15
"""The longest text that is given to the strict reading, in characters: a second's work. Real metadata has a few hundred."""


def read_yaml(text: str, *, last_wins: bool = False) -> Result[Node | None, NotReadable]:
    r"""The tree of a YAML text of one document, None for an empty one; where it is no YAML that is accepted here, the place and the reason.

    >>> read_yaml("name: reviewer").unwrap()
    Mapping(entries={'name': Scalar(text='reviewer', plain=True)})
    >>> read_yaml("name: one\nname: two").failure()
    NotReadable(line=2, column=1, reason="duplicate key 'name'", key='name')
    """
    plain = read_plain(text)
    if plain is not None:
        return Success(plain)
    if is_unsure(text):
        if len(text) > MAX_UNSURE:
            return Failure(NotReadable(1, 1, f"longer than {MAX_UNSURE:,} characters, with some that only a slow reading understands"))
        from pipeline.frontmatter.strict import read_strict  # noqa: PLC0415 - StrictYAML takes 50 ms to import, and most files never need it

        return read_strict(text, last_wins=last_wins)
    return read_fast(text, last_wins=last_wins)
