"""What frontmatter means: StrictYAML's reading, with its loose ends tied.

It raises `AttributeError`, `OverflowError` and `ValueError` on hostile input, counts lines from 0, and gives text without a key back as a document.
All of that ends here: for every text there is a tree or a `NotReadable`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from returns.result import Failure, Result, Success
from strictyaml import YAMLError
from strictyaml.parser import StrictYAMLLoader
from strictyaml.ruamel import events
from strictyaml.ruamel.reader import ReaderError

from pipeline.frontmatter.fast import character_refusal
from pipeline.frontmatter.tree import Node, NotReadable, Refused, fold


def read_strict(text: str, *, last_wins: bool = False) -> Result[Node | None, NotReadable]:
    """The tree of a YAML text as StrictYAML reads it (flow style allowed), None for an empty one; of duplicate keys the last wins if asked.

    >>> read_strict("name: 404").unwrap()
    Mapping(entries={'name': Scalar(text='404', plain=True)})
    >>> read_strict("a: &x 1").failure().line
    1
    """
    try:
        return Success(fold(_events(_Loader(text)), events, last_wins=last_wins))
    except Refused as refused:
        return Failure(refused.refusal)
    except ReaderError:
        return Failure(character_refusal(text))
    except YAMLError as error:
        return Failure(_refusal(error))
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return Failure(NotReadable(1, 1, f"not YAML ({type(error).__name__})"))


class _Loader(StrictYAMLLoader):  # type: ignore[misc]
    """StrictYAML's own loader, stopped at the events: only they know which scalars stood bare."""

    label = "frontmatter"
    allow_flow_style = True

    def fetch_comment(self, comment: Any) -> None:
        """Lets a comment go: keeping two that meet, as after an empty item between blank lines, raises `NotImplementedError`."""


def _events(loader: Any) -> Callable[[], Any]:
    def take() -> Any:
        event = loader.get_event()
        if type(event) is events.ScalarEvent:
            if event.style == ">":
                event.value = event.value.replace("\a", "")  # where a line was folded: for writing the text back, no part of it
            if not event.value.isascii():
                _check_surrogates(event)
        return event

    return take


def _check_surrogates(event: Any) -> None:
    try:
        event.value.encode()
    except UnicodeEncodeError:
        raise Refused(event, "an escape names half a character (a surrogate)") from None


def _refusal(error: Any) -> NotReadable:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return NotReadable(line, column, str(reason))
