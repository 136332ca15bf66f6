"""What a model gets to see: text within bounds, its first and last part kept, and nothing in it that cannot be sent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

END: Final = 25_000
"""Characters kept of each end of a long text."""
MAX_CHARACTERS: Final = 2 * END
"""Characters of a text that are shown whole."""
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(slots=True)
class Kept:
    """The first and the last `END` characters of a text that comes in pieces, and how many were cut between; what it holds is bounded.

    >>> kept = Kept()
    >>> for _ in range(3):
    ...     kept.add("ab" * 10_000)
    >>> len(kept.first), len(kept.last), kept.cut
    (25000, 25000, 10000)
    """

    first: str = ""
    last: str = ""
    cut: int = 0

    def add(self, piece: str) -> None:
        """Take the next piece of the text."""
        room = END - len(self.first)
        self.first += piece[:room]
        self.last += piece[room:]
        self.cut += max(0, len(self.last) - END)
        self.last = self.last[-END:]

    @property
    def text(self) -> str:
        """The whole text where it is short enough; else its ends, with a line between that says how many characters were cut."""
        note = f"\n[... {self.cut} characters cut ...]\n" if self.cut else ""
        return f"{self.first}{note}{self.last}"


def capped(text: str) -> str:
    r"""A text of at most `MAX_CHARACTERS` as it is; of a longer one both ends, with a line between that says how many characters were cut.

    >>> capped("short")
    'short'
    >>> capped("x" * 50_123)[24_998:25_035]
    'xx\n[... 123 characters cut ...]\nxxxxx'
    """
    kept = Kept()
    kept.add(text)
    return kept.text


def visible(name: str) -> str:
    r"""A path on one line, in characters that can be sent: control characters and bytes that are no UTF-8 are written as escapes.

    >>> print(visible("two\nlines, a byte \udcff"))
    two\nlines, a byte \udcff
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), name)
