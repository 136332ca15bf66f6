"""What a command runs in its turn: `sudo rm x` runs `rm x`, `sh -c TEXT` a whole text, `find -exec` what stands behind it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import dropwhile
from typing import Final, TypeAlias

from pipeline.subagent.shell.options import operands, options
from pipeline.subagent.shell.searching import run_by_find

Inner: TypeAlias = "str | tuple[str, ...]"
"""What is run: the words of a command, or a text that a shell reads."""

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash"})
READERS: Final = SHELLS | {"source", "."}
"""What runs the text on its standard input."""
_VARIABLE: Final = re.compile(r"\$\w+|\$\{\w+[^}]*\}|\$@|\$\*")
_INPUT: Final = re.compile(r"/dev/stdin|/dev/fd/0|/proc/self/fd/0|<\(.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A command that runs another: the options that take the next word as their value, and how many words may come before the command."""

    takes: frozenset[str]
    skips: tuple[int, ...] = (0,)


def _wrapper(takes: str = "", *skips: int) -> _Wrapper:
    return _Wrapper(frozenset(takes.split()), skips or (0,))


_SU_TAKES: Final = "-c -u -g -G -s -w --command --session-command --user --group --supp-group --shell --whitelist-environment"
_SCRIPT_TAKES: Final = "-c -o -E -I -O -B -T -m --command --echo --log-in --log-out --log-io --log-timing --output-limit"
_PARALLEL_TAKES: Final = "-j -P -a -S -n -N -L -I --jobs --arg-file --sshlogin --delay --timeout --retries --joblog --results --colsep --tmpdir"
WRAPPERS: Final[Mapping[str, _Wrapper]] = {
    "sudo": _wrapper("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --role --type --other-user --chdir --chroot"),
    "doas": _wrapper("-u -C"),
    "pkexec": _wrapper("-u --user"),
    "gosu": _wrapper("", 1),
    "su-exec": _wrapper("", 1),
    "runuser": _wrapper(_SU_TAKES),
    "setpriv": _wrapper("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig"),
    "fakeroot": _wrapper("-l -s -i -b --lib --faked"),
    "unshare": _wrapper("-S -G -R -w --setuid --setgid --root --wd --map-user --map-group --propagation --setgroups"),
    "nsenter": _wrapper("-t -S -G --target --setuid --setgid"),
    "systemd-run": _wrapper(
        "-u -p -E -M -H --unit --property --setenv --machine --host --description --slice --uid --gid --nice --working-directory --service-type"
        " --on-active --on-boot --on-startup --on-calendar --on-unit-active --timer-property"
    ),
    "env": _wrapper("-u -C -S --unset --chdir --split-string"),
    "command": _wrapper(),
    "builtin": _wrapper(),
    "exec": _wrapper("-a"),
    "nohup": _wrapper(),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n --class --classdata"),
    "chrt": _wrapper("-T -P -D --sched-runtime --sched-period --sched-deadline", 0, 1),
    "setarch": _wrapper("", 0, 1),
    "prlimit": _wrapper("-p -o --pid --output"),
    "time": _wrapper("-f -o --format --output"),
    "timeout": _wrapper("-s -k --signal --kill-after", 1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "unbuffer": _wrapper(),
    "strace": _wrapper("-a -b -e -E -I -o -O -p -P -s -S -u -U -X --output --trace --user --string-limit --attach --env"),
    "ltrace": _wrapper("-a -e -l -n -o -p -s -u -x --output --library"),
    "xargs": _wrapper("-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file --max-chars --process-slot-var"),
    "parallel": _wrapper(_PARALLEL_TAKES),
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
_TEXTS: Final[Mapping[str, tuple[frozenset[str], frozenset[str]]]] = {
    name: (frozenset(takes.split()), frozenset(texts.split()))
    for name, takes, texts in (
        ("su", _SU_TAKES, "-c --command --session-command"),
        ("runuser", _SU_TAKES, "-c --command --session-command"),
        ("script", _SCRIPT_TAKES, "-c --command"),
        ("flock", f"-c --command {' '.join(WRAPPERS['flock'].takes)}", "-c --command"),
        ("fish", "--command --init-command", "--command --init-command"),
    )
}
"""Who runs the value of an option as a text: all options with a value, and these."""


def run_by(name: str, arguments: tuple[str, ...], fed: str | None = None) -> Iterator[Inner]:
    """What a command runs in its turn; `fed` is the text on its standard input, where it is known.

    >>> list(run_by("sudo", ("-u", "root", "rm", "x")))
    [('rm', 'x')]
    >>> list(run_by("bash", ("-c", "rm x")))
    ['rm x']
    >>> list(run_by("ls", ("rm",)))
    []
    """
    if name in _TEXTS:
        takes, texts = _TEXTS[name]
        yield from (each.value for each in options(arguments, takes)[0] if each.value is not None and each.name in texts)
    match name:
        case "find":
            yield from run_by_find(arguments)
        case "eval":
            yield " ".join(_behind_dashes(arguments))
        case "trap":
            yield from _behind_dashes(arguments)[:1]
        case "xargs":
            yield from _of_xargs(arguments, fed)
        case "parallel":
            yield from _of_parallel(arguments, fed)
        case _ if name in READERS:
            yield from _of_shell(arguments, fed)
        case _ if name in WRAPPERS:
            yield from _of_wrapper(name, arguments)
        case _ if _VARIABLE.fullmatch(name):
            yield from filter(None, (tuple(dropwhile(_VARIABLE.fullmatch, arguments)),))


def _behind_dashes(arguments: tuple[str, ...]) -> tuple[str, ...]:
    return arguments[arguments[:1] == ("--",) :]


def _of_wrapper(name: str, arguments: tuple[str, ...]) -> Iterator[Inner]:
    wrapper = WRAPPERS[name]
    if name == "command" and arguments[:1] in (("-v",), ("-V",)):
        return
    if name == "env":
        yield from _split_by_env(arguments)
    found = operands(arguments, wrapper.takes)
    for skip in wrapper.skips:
        words = operands(found[skip:], wrapper.takes) if skip else found
        if words:
            yield " ".join(words) if name == "watch" else words


def _split_by_env(arguments: tuple[str, ...]) -> Iterator[str]:
    for each in options(arguments, WRAPPERS["env"].takes)[0]:
        if each.value is not None and each.name in ("-S", "--split-string"):
            yield " ".join((each.value, *map(shlex.quote, arguments[each.end :])))
            return


def _of_xargs(arguments: tuple[str, ...], fed: str | None) -> Iterator[Inner]:
    """The command with what it is fed at its end, or once for each line in the place of a mark."""
    found = operands(arguments, WRAPPERS["xargs"].takes)
    mark = _mark(arguments[: len(arguments) - len(found)])
    if not found:
        return
    if mark is None or fed is None:
        yield (*found, *filter(None, re.split(r"[\s\0]+", fed or "")))
        return
    for line in filter(None, re.split(r"[\n\0]+", fed)):
        yield tuple(word.replace(mark, line.strip()) for word in found)


def _mark(leading: tuple[str, ...]) -> str | None:
    """What stands for each line: `-I X`, or what may be left out of `-i` and `--replace`."""
    given, _ = options(leading, WRAPPERS["xargs"].takes)
    told = (*(each.value or "{}" for each in given if each.name in ("-I", "--replace")), *(word[2:] or "{}" for word in leading if word[:2] == "-i"))
    return next(iter(told), None)


def _of_parallel(arguments: tuple[str, ...], fed: str | None) -> Iterator[Inner]:
    """A text for each value behind `:::`, or for each line that it is fed."""
    at = next((at for at, word in enumerate(arguments) if word.startswith(":::")), len(arguments))
    command = " ".join(operands(arguments[:at], WRAPPERS["parallel"].takes))
    given = [word for word in arguments[at:] if not word.startswith(":::")] or (fed or "").splitlines() or [""]
    for value in given:
        yield command.replace("{}", value) if "{}" in command else f"{command} {value}"


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
    return text, None if first is not None and not text and (piped or _INPUT.fullmatch(first)) else first


def _of_shell(arguments: tuple[str, ...], fed: str | None) -> Iterator[Inner]:
    is_text, word = shell_reads(arguments)
    if is_text and word is not None:
        yield word
    elif word is None and fed is not None:
        yield fed
