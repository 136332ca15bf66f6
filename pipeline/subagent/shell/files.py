"""Rules about files and devices: what is removed, moved, written over, or shut to everybody."""

from __future__ import annotations

import re
from typing import Final

from pipeline.subagent.shell.options import has, named, values
from pipeline.subagent.shell.paths import first, is_all_kept, is_device, is_here, is_kept, is_of_system, is_vital, plain_path, shortened
from pipeline.subagent.shell.words import Words

_MOUNTS: Final = frozenset({"/mnt", "/media"})
_SHUT: Final = re.compile(r"0*[0-7]?[0246][0-7]{2}|0+|([ugoa]*[ua][ugoa]*)?(-[rwXst]*x[rwXst]*|=[rwst]*)")
"""Modes after which not even the owner enters a directory."""


def removal(words: Words) -> str | None:
    """An `rm` of a whole tree that is vital or where one stands, or of what the system cannot be without.

    >>> removal(Words("rm", ("-r", "..")))
    'rm -r of .. destroys what it names'
    """
    if words.name != "rm":
        return None
    if any(len(word) > len("--no") and "--no-preserve-root".startswith(word) for word in words.arguments):
        return "rm --no-preserve-root destroys the whole system"
    whole = first(named(words), lambda word: is_vital(word) or is_here(word), "rm -r of {} destroys what it names")
    kept = first(named(words), lambda word: is_kept(word) or is_all_kept(word), "rm of {} breaks the system")
    return (whole if has(words, "rR", "--recursive") else None) or kept


def change_of_all(words: Words) -> str | None:
    """A change of mode or owner all the way down, or a mode that lets nobody in.

    >>> change_of_all(Words("chmod", ("-R", "777", "/")))
    'chmod -R of / breaks the system or a home'
    """
    if words.name not in ("chmod", "chown", "chgrp"):
        return None
    if has(words, "R", "--recursive"):
        return first(named(words), is_vital, f"{words.name} -R of {{}} breaks the system or a home")
    mode, *changed = named(words) or ("",)
    shut = words.name == "chmod" and any(map(_SHUT.fullmatch, mode.split(",")))
    return first(changed, _is_one_vital, f"chmod {shortened(mode)} of {{}} shuts it to everybody") if shut else None


def _is_one_vital(word: str) -> bool:
    return is_vital(word) and not set("*?[").intersection(word)


def move(words: Words) -> str | None:
    """A vital directory that is moved.

    >>> move(Words("mv", ("-t", "~", "/usr")))
    'mv of /usr takes it away'
    """
    if words.name != "mv":
        return None
    given = named(words)
    moved = given if len(given) == 1 or values(words, "-t", "--target-directory") else given[:-1]
    return first(moved, is_vital, "mv of {} takes it away")


def over_device(words: Words) -> str | None:
    """A write to a disk or to the memory.

    >>> over_device(Words("tee", ("/dev/sda",)))
    'writing to /dev/sda destroys what is on it'
    """
    return first((*words.redirects, *_written(words)), is_device, "writing to {} destroys what is on it")


def over_system(words: Words) -> str | None:
    """A write over a file that the system cannot be without. A copy may be a repair, unless it is of nothing.

    >>> over_system(Words("", redirects=("/etc/passwd",)))
    'writing over /etc/passwd breaks the system'
    """
    copies = words.name in ("cp", "install") and "/dev/null" not in words.arguments
    adds = words.name == "tee" and has(words, "a", "--append")
    written = () if copies or adds else _written(words)
    return first((*(path for path in words.redirects if path not in words.appended), *written), is_kept, "writing over {} breaks the system")


def _written(words: Words) -> tuple[str, ...]:
    match words.name:
        case "dd":
            return tuple(word.removeprefix("of=") for word in words.arguments if word.startswith("of="))
        case "tee" | "sponge":
            return named(words)
        case "cp" | "install":
            return values(words, "-t", "--target-directory") or named(words)[1:][-1:]
    return ()


def shredding(words: Words) -> str | None:
    """Any use of `shred`.

    >>> shredding(Words("shred", ("x",)))
    'shred destroys what it names'
    """
    return "shred destroys what it names" if words.name == "shred" else None


def truncation(words: Words) -> str | None:
    """A `truncate` of a file of the system.

    >>> truncation(Words("truncate", ("-s0", "/etc/x")))
    'truncate of /etc/x destroys a file of the system'
    """
    if words.name != "truncate":
        return None
    return first(named(words), lambda word: is_of_system(word) or is_vital(word), "truncate of {} destroys a file of the system")


def mirror(words: Words) -> str | None:
    """An `rsync` that deletes what is in a vital directory and not in its source; where disks are mounted it is a backup.

    >>> mirror(Words("rsync", ("-a", "--delete", "x/", "/")))
    'rsync --delete to / destroys what is there'
    """
    if words.name != "rsync" or not any(word.startswith("--del") for word in words.arguments) or has(words, "n", "--dry-run"):
        return None
    return first(named(words)[-1:], lambda word: is_vital(word) and plain_path(word) not in _MOUNTS, "rsync --delete to {} destroys what is there")
