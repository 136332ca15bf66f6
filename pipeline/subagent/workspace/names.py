"""The names that agent files use for tools, and which tool answers to each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

_NAMES: Final = {
    "read_file": ("read", "view", "read_file", "cat"),
    "write_file": ("write", "write_file", "create"),
    "edit_file": ("edit", "multiedit", "edit_file", "replace"),
    "glob": ("find", "glob", "ls", "list_directory"),
    "grep": ("grep", "grep_search", "search"),
    "bash": ("bash", "shell", "run_shell_command", "execute"),
    "todo_write": ("todowrite", "todo", "todo_write"),
    "task": ("task",),
    "submit_result": ("submit_result",),
}
ANSWERING: Final[Mapping[str, str]] = MappingProxyType({name: tool for tool, names in _NAMES.items() for name in names})
"""From a name in an agent file, in lower case, to the tool that answers to it."""


def answering(names: Iterable[str], known: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tools that answer to some names, each once, in the order of `known`; and the names that none answers to, each once, in their order.

    A name that is known itself stands for itself. Only whole names count: `bash(git status *)` is less than the shell, and must not become it.

    >>> answering(["grep", "view", "cat", "webfetch", "bash(git *)"], ["read_file", "grep", "bash"])
    (('read_file', 'grep'), ('webfetch', 'bash(git *)'))
    """
    tools = tuple(dict.fromkeys(known))
    found = {name: name if name in tools else ANSWERING.get(name) for name in names}
    answered = {tool for tool in found.values() if tool in tools}
    return tuple([tool for tool in tools if tool in answered]), tuple([name for name, tool in found.items() if tool not in tools])
