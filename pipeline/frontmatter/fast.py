"""The fast twin of `strict.py`: libyaml's events folded into the same tree, refusing what StrictYAML refuses.

StrictYAML takes 1.5 to 5 ms for a file, libyaml 30 us. Where the two programs are known to part (`UNSURE`), the text goes to the strict reading;
a law holds both to one answer for every text (`properties/laws/readings.py`).
"""

from __future__ import annotations

import re
from typing import Final

import yaml
from returns.result import Failure, Result, Success

from pipeline.frontmatter.tree import Node, NotReadable, Refused, fold

try:
    from yaml._yaml import CParser
except ImportError:  # pragma: no cover - PyYAML built without libyaml: every text goes to the strict reading
    from yaml.loader import BaseLoader as CParser  # type: ignore[assignment]

_LIBYAML: Final = yaml.__with_libyaml__

UNSURE: Final = re.compile(
    "\t|\r|\x85|\u2028|\u2029|\ufeff"  # tabs between tokens; characters that end a line for one of the two or only sometimes
    r"|\n%|\n\.\.\."  # directives and document ends
    r"|\n *[?:]|:\s+:"  # keys and values with marks of their own
    r"|\[\s*[?:]|\{\s*[?:]|,\s*[?:]|\?\s*[\]},:]|:[,\[\]{}?]"  # a colon or question mark beside an indicator, in a flow collection
    r"""|"\s*:\S|'\s*:\S"""  # a value right after a quoted key, in a flow sequence
    r"|\|[-+\d]*#|>[-+\d]*#"  # a comment right after a block scalar's header
)
"""What libyaml and StrictYAML may read differently, to be sought in a line break and the text: so every alternative begins with one certain
character, which makes the search ten times as fast. None takes more than linear time.
"""


def is_unsure(text: str) -> bool:
    """Whether only the strict reading may say what the text means.

    >>> is_unsure("a: [b, c]"), is_unsure("a: [b:]"), is_unsure("%YAML 1.1")
    (False, True, True)
    """
    return not _LIBYAML or UNSURE.search("\n" + text) is not None


def read_fast(text: str, *, last_wins: bool = False) -> Result[Node | None, NotReadable]:
    """The tree of a YAML text of one document, None for an empty one; anchors and tags are refused, duplicate keys too unless the last wins.

    >>> read_fast("tools: [Read, Grep]").unwrap()
    Mapping(entries={'tools': Sequence(items=(Scalar(text='Read', plain=True), Scalar(text='Grep', plain=True)))})
    >>> read_fast("a: b: c").failure()
    NotReadable(line=1, column=5, reason='mapping values are not allowed in this context', key=None)
    """
    try:
        return Success(fold(CParser(text).get_event, yaml, last_wins=last_wins))
    except Refused as refused:
        return Failure(refused.refusal)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return Failure(NotReadable(line, column, error.problem or error.context or "not YAML"))
    except (yaml.YAMLError, UnicodeEncodeError):
        return Failure(character_refusal(text))


_UNACCEPTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def character_refusal(text: str) -> NotReadable:
    """Where the first character stands that no YAML text may hold."""
    found = _UNACCEPTABLE.search(text)
    at = found.start() if found else 0
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    what = f"character U+{ord(found[0]):04X} is not allowed" if found else "not YAML"
    return NotReadable(line, column, what)
