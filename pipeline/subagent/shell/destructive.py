"""Commands that destroy: small rules over a command's words. They stop accidents; whoever wants to get past them can."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from pipeline.subagent.shell.commands import reading
from pipeline.subagent.shell.files import change_of_all, mirror, move, over_device, over_system, removal, shredding, truncation
from pipeline.subagent.shell.git import git
from pipeline.subagent.shell.machine import format_of_disk, killing, shutdown, undoing
from pipeline.subagent.shell.paths import first, shortened
from pipeline.subagent.shell.words import Words
from pipeline.subagent.shell.wrappers import READERS, shell_reads

Rule: TypeAlias = Callable[[Words], str | None]
"""Why a command is held to be destructive; None where the rule has nothing to say."""

_FETCH: Final = frozenset({"curl", "wget", "aria2c"})
_DECODE: Final = frozenset({"base64", "base32", "xxd", "uudecode", "openssl", "rev"})


def destructive(text: str) -> str | None:
    """Why a shell text is held to be destructive; None if it is not. A text that cannot be read to its end is.

    >>> destructive("cd x && sudo /bin/rm -rf ~")
    'rm -r of ~ destroys what it names'
    >>> destructive("echo 'rm -rf /'; rm -rf build")
    """
    read = reading(text)
    reason = next((reason for command in read.commands if (reason := why(command)) is not None), None)
    return reason if reason is not None or read.unread is None else f"{read.unread}: it cannot be judged"


def why(words: Words) -> str | None:
    """The reason of the first rule that holds a command to be destructive; None if there is none.

    >>> why(Words("rm", ("-rf", "/")))
    'rm -r of / destroys what it names'
    >>> why(Words("rm", ("-rf", "build")))
    """
    if words.arguments[:1] in (("--help",), ("--version",)):
        return over_device(words)
    return next((reason for rule in RULES if (reason := rule(words)) is not None), None)


def _fork_bomb(words: Words) -> str | None:
    bomb = words.name in words.within and words.name in words.fed_by
    return f"{shortened(words.name)} is a function that pipes into itself without end" if bomb else None


def _fetched(words: Words) -> str | None:
    """A text from the network, or one that is decoded, that a shell runs: from a pipe, `<(...)` or `$(...)`."""
    if words.name in READERS and shell_reads(words.arguments) == (False, None):
        source = next((name for name in words.fed_by if name in _FETCH | _DECODE), None)
        if source is not None:
            return f"{words.name} runs a text unseen, from {source}"
    places = (words.name, *(words.arguments[:1] if words.name in READERS else ()))
    return first(places, re.compile(rf"(\$\(|`|<\()\s*(sudo\s+)?({'|'.join(sorted(_FETCH))})\b").match, "{} runs a text from the network unseen")


RULES: Final[tuple[Rule, ...]] = (
    removal,
    change_of_all,
    move,
    format_of_disk,
    over_device,
    over_system,
    shredding,
    truncation,
    mirror,
    shutdown,
    killing,
    _fork_bomb,
    git,
    _fetched,
    undoing,
)
"""The deny list."""
