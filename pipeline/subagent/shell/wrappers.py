"""What a command runs in its turn: `sudo rm x` runs `rm x`, `sh -c TEXT` a whole text, `find -exec` what stands behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Inner: TypeAlias = "str | tuple[str, ...]"
"""What is run: the words of a command, or a text that a shell reads."""

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"})
_ASSIGNMENT: Final = re.compile(r"\w+\+?=")
_FILTERS: Final = re.compile(
    r"-(i?name|i?path|i?wholename|i?regex|i?lname|[acm](time|min)|newer.*|size|user|group|perm|empty|inum|samefile|links|uid|gid)"
)


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A command that runs another: the options that take the next word as their value, and how many words come before the command."""

    takes: frozenset[str]
    skips: int = 0


def _wrapper(takes: str = "", skips: int = 0) -> _Wrapper:
    return _Wrapper(frozenset(takes.split()), skips)


WRAPPERS: Final[Mapping[str, _Wrapper]] = {
    "sudo": _wrapper("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --role --type --other-user --chdir --chroot"),
    "doas": _wrapper("-u -C"),
    "env": _wrapper("-u -C -S --unset --chdir --split-string"),
    "command": _wrapper(),
    "builtin": _wrapper(),
    "exec": _wrapper("-a"),
    "nohup": _wrapper(),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n --class --classdata"),
    "time": _wrapper("-f -o --format --output"),
    "timeout": _wrapper("-s -k --signal --kill-after", 1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "xargs": _wrapper("-I -n -P -L -d -a -E -s --replace --max-args --max-procs --max-lines --delimiter --arg-file --max-chars"),
    "setsid": _wrapper(),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "chroot": _wrapper("", 1),
    "flock": _wrapper("-w -E --timeout --wait --conflict-exit-code", 1),
    "taskset": _wrapper("", 1),
    "watch": _wrapper("-n --interval"),
    "coproc": _wrapper(),
    **dict.fromkeys(("{", "!", "then", "do", "else", "if", "elif", "while", "until"), _wrapper()),
}
"""The last line is for words that the grammar leaves in front of a command: `time { rm x; }`, and texts that do not parse."""


def run_by(name: str, arguments: tuple[str, ...], fed: str | None = None) -> Iterator[Inner]:
    """What a command runs in its turn; `fed` is the text on its standard input, where it is known.

    >>> list(run_by("sudo", ("-u", "root", "rm", "x")))
    [('rm', 'x')]
    >>> list(run_by("bash", ("-c", "rm x")))
    ['rm x']
    >>> list(run_by("ls", ("rm",)))
    []
    """
    match name:
        case "find":
            yield from _of_find(arguments)
        case "eval":
            yield " ".join(arguments)
        case "trap":
            yield from arguments[:1]
        case "su" | "runuser":
            yield from _option_text(arguments, ("--command=", "--command", "-c"))
        case _ if name in SHELLS:
            yield from _of_shell(arguments, fed)
        case _ if name in WRAPPERS:
            yield from _of_wrapper(name, arguments, fed)


def operands(arguments: tuple[str, ...], takes: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """What is left of the arguments from the first that is neither an option nor an assignment; `takes` are the options with a value.

    >>> operands(("-n", "5", "A=1", "make", "-k"), frozenset({"-n"}))
    ('make', '-k')
    """
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if not word.startswith("-") and not _ASSIGNMENT.match(word):
            return arguments[at:]
        at += 2 if _takes_next(word, takes) else 1
    return ()


def _takes_next(word: str, takes: frozenset[str]) -> bool:
    if word.startswith("--"):
        return word in takes
    taker = next((at for at, letter in enumerate(word) if f"-{letter}" in takes), None)
    return taker is not None and taker == len(word) - 1


def _of_wrapper(name: str, arguments: tuple[str, ...], fed: str | None) -> Iterator[Inner]:
    if name == "command" and arguments[:1] in (("-v",), ("-V",)):
        return
    if name == "env":
        yield from _option_text(arguments, ("--split-string=", "--split-string", "-vS", "-iS", "-S"))
    found = operands(arguments, WRAPPERS[name].takes)[WRAPPERS[name].skips :]
    if name == "xargs" and fed is not None:
        found = (*found, *fed.split())
    if found:
        yield " ".join(found) if name == "watch" else found


def _option_text(arguments: tuple[str, ...], options: tuple[str, ...]) -> Iterator[str]:
    """The text that an option carries in its own word or the next, with the words that follow."""
    for at, word in enumerate(arguments):
        option = next((option for option in options if word.startswith(option)), None)
        if option is not None:
            yield " ".join((word.removeprefix(option), *arguments[at + 1 :])).strip()
            return


def shell_reads(arguments: tuple[str, ...]) -> tuple[bool, str | None]:
    """What the arguments make a shell read: whether a text, and the text's or the file's own word; (False, None) is its standard input.

    >>> shell_reads(("-eo", "pipefail", "-c", "ls")), shell_reads(("x.sh", "-c")), shell_reads(("-s",))
    ((True, 'ls'), (False, 'x.sh'), (False, None))
    """
    text, piped, at = False, False, 0
    while at < len(arguments) and arguments[at][:1] in ("-", "+"):
        word = arguments[at]
        short = not word.startswith("--")
        text, piped = text or (short and "c" in word), piped or (short and "s" in word)
        at += 2 if word in ("--rcfile", "--init-file") or (short and word[-1:] in ("o", "O")) else 1
    first = next(iter(arguments[at:]), None)
    return text, None if first == "/dev/stdin" or (piped and not text) else first


def _of_shell(arguments: tuple[str, ...], fed: str | None) -> Iterator[Inner]:
    is_text, word = shell_reads(arguments)
    if is_text and word is not None:
        yield word
    elif word is None and fed is not None:
        yield fed


def _of_find(arguments: tuple[str, ...]) -> Iterator[Inner]:
    """The commands of -exec and its like with `{}` as the places it starts from, and a recursive `rm` of these for -delete."""
    starts = _starts(arguments)
    for at, word in enumerate(arguments):
        if word == "-delete":
            yield ("rm", "-r", *starts)
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            yield from _executed(arguments[at + 1 :], starts)


def _executed(words: tuple[str, ...], starts: tuple[str, ...]) -> Iterator[Inner]:
    end = next((at for at, word in enumerate(words) if word == ";" or (word == "+" and words[at - 1] == "{}")), len(words))
    found = tuple(each for word in words[:end] for each in (starts if word == "{}" else (word,)))
    if found:
        yield found


def _starts(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Where find starts; with a filter only what is absolute or in a home: `find . -name x -delete` takes no whole tree away."""
    at = next((at for at, word in enumerate(arguments) if word[:1] in ("-", "(", "!") and word not in ("-H", "-L", "-P")), len(arguments))
    starts = tuple(word for word in arguments[:at] if not word.startswith("-")) or (".",)
    if any(_FILTERS.fullmatch(word) for word in arguments[at:]):
        return tuple(start for start in starts if start[:1] in ("/", "~", "$"))
    return starts
