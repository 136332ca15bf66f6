"""Commands that destroy: small rules over a command's words. They stop accidents; whoever wants to get past them can."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from posixpath import dirname, normpath
from typing import Final, TypeAlias

from pipeline.subagent.shell.commands import reading
from pipeline.subagent.shell.words import Words
from pipeline.subagent.shell.wrappers import SHELLS, operands, shell_reads

Rule: TypeAlias = Callable[[Words], str | None]
"""Why a command is held to be destructive; None where the rule has nothing to say."""

_LONGEST: Final = 60
_TOP: Final = "Applications Library System Users Volumes bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys usr var"
_SECOND: Final = "usr/bin usr/lib usr/lib64 usr/local usr/sbin usr/share var/lib var/log"
_SYSTEM: Final = frozenset(("/", *(f"/{name}" for name in f"{_TOP} {_SECOND}".split())))
_SYSTEM_FILE: Final = re.compile(r"/(etc|usr|boot|bin|sbin|lib\d*|dev(?!/null$)|sys|proc)(/|$)")
_HOME: Final = re.compile(r"~[^/]*|\$HOME|\$\{HOME\b[^}]*\}|/(home|Users)/[^/]+")
_HERE: Final = re.compile(r"\$PWD|\$\{PWD\b[^}]*\}|\$\(pwd\)|`pwd`|\.git|[*?.\[\]!^/]+")
_GLOBS: Final = re.compile(r"[*?.\[\]!^]+")
_DEVICE: Final = re.compile(r"/dev/(disk|dm-|hd|loop|mapper/|md|mem|kmem|mmcblk|nvme|port|rdisk|sd|sr|vd|xvd)|/proc/sysrq-trigger")
_FETCH: Final = frozenset({"curl", "wget", "aria2c"})
_DECODE: Final = frozenset({"base64", "base32", "xxd", "uudecode", "openssl", "rev"})
_FORMAT: Final = frozenset({"mke2fs", "mkswap", "newfs", "blkdiscard", "wipefs", "fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted"})
_LISTS: Final = frozenset({"fdisk", "sfdisk", "gdisk", "sgdisk", "parted"})
_GIT_TAKES: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix"})


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
        return _over_device(words)
    return next((reason for rule in RULES if (reason := rule(words)) is not None), None)


def shortened(text: str) -> str:
    """A text of a command as a reason quotes it: at most 60 characters, on one line.

    >>> shortened("a b")
    'a b'
    """
    printable = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[: _LONGEST + 1])
    return printable if len(text) <= _LONGEST else f"{printable[: _LONGEST - 3]}..."


def _has(words: Words, letters: str, *names: str) -> bool:
    """Whether one of the options is given, a short one alone or bundled, a long one in full or cut short."""
    for word in words.arguments:
        if word == "--":
            return False
        if word.startswith("--"):
            if any(name.startswith(word.split("=", 1)[0]) for name in names):
                return True
        elif word.startswith("-") and set(letters).intersection(word):
            return True
    return False


def _named(words: Words) -> tuple[str, ...]:
    """The arguments that are no options."""
    end = words.arguments.index("--") if "--" in words.arguments else len(words.arguments)
    return (*(word for word in words.arguments[:end] if not word.startswith("-")), *words.arguments[end + 1 :])


def _plain_path(word: str) -> str:
    return re.sub("^//+", "/", normpath(word)) if word else ""


def _is_vital(word: str) -> bool:
    """Whether a path is the root, a home, a directory of the system, or all that is directly in one of these."""
    path = _plain_path(word)
    parent, last = dirname(path), path.rsplit("/", 1)[-1]
    within = _GLOBS.fullmatch(last) and (parent in _SYSTEM or _HOME.fullmatch(parent))
    if path in _SYSTEM or _HOME.fullmatch(path) or within or path.startswith(("/$", "/`")):
        return True
    return path.startswith("/") and any(letter in path for letter in "*?[") and any(fnmatchcase(known, path) for known in _SYSTEM)


def _is_here(word: str) -> bool:
    """Whether a path is the working directory, one above it, or all that is in one of these; or the repository's own `.git`."""
    path = _plain_path(word)
    parent = dirname(path)
    within = _HERE.fullmatch(parent) and _GLOBS.fullmatch(path[len(parent) + 1 :])
    return not path.startswith("/") and bool(_HERE.fullmatch(path) or within)


def _first(found: Iterable[str], holds: Callable[[str], object], form: str) -> str | None:
    return next((form.format(shortened(word)) for word in found if holds(word)), None)


def _removal(words: Words) -> str | None:
    if words.name != "rm":
        return None
    if any(len(word) > len("--no") and "--no-preserve-root".startswith(word) for word in words.arguments):
        return "rm --no-preserve-root destroys the whole system"
    if not _has(words, "rR", "--recursive"):
        return None
    return _first(_named(words), lambda word: _is_vital(word) or _is_here(word), "rm -r of {} destroys what it names")


def _change_of_all(words: Words) -> str | None:
    if words.name not in ("chmod", "chown", "chgrp") or not _has(words, "R", "--recursive"):
        return None
    return _first(_named(words), _is_vital, f"{words.name} -R of {{}} breaks the system or a home")


def _move(words: Words) -> str | None:
    if words.name != "mv":
        return None
    named = _named(words)
    moved = named if len(named) == 1 or _has(words, "t", "--target-directory") else named[:-1]
    return _first(moved, _is_vital, "mv of {} takes it away")


def _format(words: Words) -> str | None:
    if words.name in _LISTS and (not words.arguments or _has(words, "l", "--list") or words.arguments[-1] == "print"):
        return None
    if words.name == "wipefs" and not _has(words, "ao", "--all", "--offset"):
        return None
    return f"{shortened(words.name)} destroys what is on a disk" if words.name in _FORMAT or re.match(r"mkfs(\.|$)", words.name) else None


def _over_device(words: Words) -> str | None:
    match words.name:
        case "dd":
            written = [word.removeprefix("of=") for word in words.arguments if word.startswith("of=")]
        case "tee" | "cp" | "sponge":
            written = list(words.arguments)
        case _:
            written = []
    return _first((*words.redirects, *written), lambda word: _DEVICE.match(_plain_path(word)), "writing to {} destroys what is on it")


def _shredding(words: Words) -> str | None:
    return "shred destroys what it names" if words.name == "shred" else None


def _truncation(words: Words) -> str | None:
    if words.name != "truncate":
        return None
    return _first(_named(words), lambda word: _SYSTEM_FILE.match(_plain_path(word)), "truncate of {} destroys a file of the system")


def _shutdown(words: Words) -> str | None:
    match words.name, words.arguments:
        case "shutdown", ("-c", *_):
            return None
        case (("shutdown" | "reboot" | "halt" | "poweroff"), _):
            return f"{words.name} stops the machine"
        case (("init" | "telinit"), (("0" | "6") as level, *_)):
            return f"{words.name} {level} stops the machine"
        case "systemctl", _:
            return _first(
                _named(words)[:1], ("poweroff", "reboot", "halt", "kexec", "emergency", "rescue").__contains__, "systemctl {} stops the machine"
            )
    return None


def _killing(words: Words) -> str | None:
    match words.name:
        case "killall5":
            return "killall5 ends every process"
        case "pkill" | "killall" if _has(words, "uU", "--user", "--euid", "--uid"):
            return f"{words.name} -u ends every process of a user"
        case "pkill" if {".", ".*", ""}.intersection(_named(words)):
            return "pkill of any name ends every process"
        case "kill":
            return _first(_killed(words.arguments), ("-1", "1").__contains__, "kill of {} ends every process")
    return None


def _killed(arguments: tuple[str, ...]) -> tuple[str, ...]:
    match arguments:
        case (("-s" | "-n" | "--signal"), _, *rest):
            return tuple(rest)
        case (first, *rest) if first.startswith("-"):
            return () if first in ("-0", "-l", "-L") else tuple(rest)
    return arguments


def _fork_bomb(words: Words) -> str | None:
    bomb = words.name in words.within and words.name in words.fed_by
    return f"{shortened(words.name)} is a function that pipes into itself without end" if bomb else None


def _git(words: Words) -> str | None:
    if words.name != "git":
        return None
    command, *arguments = operands(words.arguments, _GIT_TAKES) or ("",)
    holds = _GIT.get(command)
    return f"git {command} throws away what cannot be had back" if holds is not None and holds(Words("git", tuple(arguments))) else None


def _overwrites(words: Words) -> bool:
    return any(word in (".", "*", ":/", "./") for word in _named(words))


_GIT: Final[dict[str, Callable[[Words], bool]]] = {
    "push": lambda given: (
        bool({"--force", "--mirror", "--delete", "--prune"}.intersection(given.arguments))
        or _has(given, "fd")
        or any(word.startswith(("+", ":")) for word in _named(given))
    ),
    "reset": lambda given: "--hard" in given.arguments,
    "clean": lambda given: _has(given, "f", "--force") and not _has(given, "n", "--dry-run"),
    "checkout": lambda given: _overwrites(given) or _has(given, "f", "--force"),
    "switch": lambda given: _has(given, "f", "--force", "--discard-changes"),
    "restore": lambda given: _overwrites(given) and (not _has(given, "S", "--staged") or _has(given, "W", "--worktree")),
    "branch": lambda given: _has(given, "D") or (_has(given, "d", "--delete") and _has(given, "f", "--force")),
    "stash": lambda given: given.arguments[:1] == ("clear",),
    "filter-branch": lambda _: True,
    "filter-repo": lambda _: True,
}


def _fetched(words: Words) -> str | None:
    """A text from the network, or one that is decoded, that a shell runs: from a pipe, `<(...)` or `$(...)`."""
    if words.name in SHELLS and shell_reads(words.arguments) == (False, None):
        source = next((name for name in words.fed_by if name in _FETCH | _DECODE), None)
        if source is not None:
            return f"{words.name} runs a text unseen, from {source}"
    runs = words.name in SHELLS or words.name in ("source", ".")
    places = (words.name, *(words.arguments[:1] if runs else ()))
    return _first(places, re.compile(rf"(\$\(|`|<\()\s*(sudo\s+)?({'|'.join(sorted(_FETCH))})\b").match, "{} runs a text from the network unseen")


def _small_ones(words: Words) -> str | None:
    match words.name, _named(words):
        case "crontab", _ if _has(words, "r"):
            return "crontab -r destroys the table of jobs"
        case (("docker" | "podman"), (("system" | "volume") as what, "prune", *_)):
            return f"{words.name} {what} prune destroys data that is not in use"
    return None


RULES: Final[tuple[Rule, ...]] = (
    _removal,
    _change_of_all,
    _move,
    _format,
    _over_device,
    _shredding,
    _truncation,
    _shutdown,
    _killing,
    _fork_bomb,
    _git,
    _fetched,
    _small_ones,
)
"""The deny list."""
