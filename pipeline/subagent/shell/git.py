"""Rules about git: work that is in no commit, and what others have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pipeline.subagent.shell.options import has, named, operands
from pipeline.subagent.shell.paths import is_here
from pipeline.subagent.shell.words import Words

_TAKES: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix"})


def git(words: Words) -> str | None:
    """A command of git that throws work away, or forces it on others.

    >>> git(Words("git", ("-C", "x", "push", "-f")))
    'git push throws away what cannot be had back'
    """
    if words.name != "git":
        return None
    command, *arguments = operands(words.arguments, _TAKES) or ("",)
    holds = _GIT.get(command)
    if holds is None or not holds(Words(f"git-{command}", tuple(arguments))):
        return None
    return f"git {command} throws away what cannot be had back"


def _pushes(given: Words) -> bool:
    forced = has(given, "fd", "--force", "--mirror", "--delete", "--prune") or any(word.startswith(("+", ":")) for word in named(given))
    return forced and not has(given, "n", "--dry-run")


def _overwrites(given: Words) -> bool:
    return any(word == ":/" or is_here(word) for word in named(given)) and not has(given, "p", "--patch")


_GIT: Final[dict[str, Callable[[Words], bool]]] = {
    "push": _pushes,
    "reset": lambda given: has(given, "", "--hard"),
    "clean": lambda given: has(given, "f", "--force") and not has(given, "n", "--dry-run"),
    "checkout": lambda given: _overwrites(given) or has(given, "f", "--force"),
    "switch": lambda given: has(given, "f", "--force", "--discard-changes"),
    "restore": lambda given: _overwrites(given) and (not has(given, "S", "--staged") or has(given, "W", "--worktree")),
    "branch": lambda given: has(given, "D") or (has(given, "d", "--delete") and has(given, "f", "--force")),
    "stash": lambda given: given.arguments[:1] == ("clear",),
    "filter-branch": lambda _: True,
    "filter-repo": lambda _: True,
}
