"""The fast twin of `strict.py`: libyaml's events folded into the same tree, refusing what StrictYAML refuses.

StrictYAML takes 1.5 to 5 ms for a file, libyaml 30 us. Where the two programs are known to part (`UNSURE`), the text goes to the strict reading;
a law holds both to one answer for every text (`properties/laws/readings.py`).
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml
from returns.result import Failure, Result, Success

from pipeline.frontmatter.tree import Node, NotReadable, Refused, fold

try:
    from yaml._yaml import CParser as _Parser  # type: ignore[import-untyped]
except ImportError:  # pragma: no cover - PyYAML built without libyaml: slower, the same answers
    from yaml.loader import BaseLoader as _Parser

UNSURE: Final = re.compile(
    "[\x85\u2028\u2029\ufeff]"  # line breaks in YAML 1.1, text in 1.2; a byte order mark in the middle
    r"|^%|^\.\.\."  # directives and document ends
    r"|\t"  # after a flow indicator the two differ on tabs
    r"|[\[{,]\s*[?:]|\?\s*[\]},]|\?:"  # a question mark or a colon without a key in a flow collection
    r"|:[,\[\]{}?]|:\s+:"  # a colon at the end of plain text in a flow collection
    r"|(?<![^ \n])[|>][-+\d]*#"  # a comment right after a block scalar's header
    , re.MULTILINE,
)


def read_fast(text: str) -> Result[Node | None, NotReadable]:
    """The tree of a YAML text of one document, None for an empty one; anchors, tags, duplicate keys are refused.

    >>> read_fast("tools: [Read, Grep]").unwrap()
    Mapping(entries=(('tools', Sequence(items=(Scalar(text='Read', plain=True), Scalar(text='Grep', plain=True)))),))
    >>> read_fast("a: b: c").failure()
    NotReadable(line=1, column=5, reason='mapping values are not allowed in this context', key=None)
    """
    try:
        return Success(fold(_Parser(text).get_event, yaml))
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
