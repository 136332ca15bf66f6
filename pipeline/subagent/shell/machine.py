"""Rules about the machine: its disks, its power, its processes, and what programs keep on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pipeline.subagent.shell.options import VALUED, has, named, options, values
from pipeline.subagent.shell.paths import first, shortened
from pipeline.subagent.shell.words import Words

_FORMAT: Final = re.compile(r"mkfs(\..*)?|mke2fs|mkswap|newfs|blkdiscard|wipefs|c?fdisk|sfdisk|s?gdisk|parted")
_SHOWS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "fdisk": ("lxsVv", ("--list", "--list-details", "--getsz", "--version")),
    "sfdisk": ("dJlFsgTVvn", ("--dump", "--json", "--list", "--list-free", "--show-size", "--show-geometry", "--list-types", "--verify", "--no-act")),
    "gdisk": ("l", ()),
    "parted": ("lv", ("--list", "--version")),
    **dict.fromkeys(("mke2fs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4"), ("nV", ())),
    **dict.fromkeys(("mkfs.xfs",), ("NV", ())),
    **dict.fromkeys(("mkfs.btrfs",), ("V", ("--version",))),
}
"""Options with which a command for disks only shows something."""
_SGDISK_SHOWS: Final = frozenset({"-p", "-i", "-v", "-O", "-E", "-F", "-f", "-D", "-L", "-V", "--print", "--info", "--verify", "--print-mbr"})
_PARTED: Final = frozenset(
    {"mklabel", "mktable", "mkpart", "mkpartfs", "mkfs", "rm", "resize", "resizepart", "name", "set", "toggle", "disk_set", "rescue", "move", "cp"}
)
_STOPS: Final = frozenset({"poweroff", "reboot", "halt", "kexec", "emergency", "rescue"})
_SIGNAL: Final = re.compile(r"-(SIG)?[A-Z][A-Z0-9+-]+|-\d+")
_UNDOES: Final[Mapping[str, frozenset[str]]] = {
    "zpool": frozenset({"destroy", "labelclear"}),
    "zfs": frozenset({"destroy"}),
    "cryptsetup": frozenset({"luksFormat", "luksErase", "erase"}),
    "docker": frozenset({"system prune", "volume prune"}),
    "podman": frozenset({"system prune", "volume prune"}),
}
"""What some commands do with the first word or the first two that they are given."""
_REMOVES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "crontab": ("r", ()),
    "userdel": ("r", ("--remove",)),
    "deluser": ("", ("--remove-home", "--remove-all-files")),
}
_ALWAYS: Final = frozenset({"lvremove", "vgremove", "pvremove"})


def format_of_disk(words: Words) -> str | None:
    """A new file system or table of partitions.

    >>> format_of_disk(Words("mkfs.ext4", ("/dev/sda1",)))
    'mkfs.ext4 destroys what is on a disk'
    """
    return f"{shortened(words.name)} destroys what is on a disk" if _FORMAT.fullmatch(words.name) and not _only_shows(words) else None


def _only_shows(words: Words) -> bool:
    letters, names = _SHOWS.get(words.name, ("", ()))
    match words.name:
        case "wipefs":
            return not has(words, "ao", "--all", "--offset") or has(words, "n", "--no-act")
        case "sgdisk":
            return _SGDISK_SHOWS.issuperset(each.name for each in options(words.arguments, VALUED["sgdisk"])[0])
        case "parted" if {"print", "p", "align-check"}.intersection(words.arguments):
            return not _PARTED.intersection(words.arguments)
    return has(words, letters, *names) or (words.name in _SHOWS and not words.arguments)


def shutdown(words: Words) -> str | None:
    """An end of the machine's work.

    >>> shutdown(Words("systemctl", ("reboot",)))
    'systemctl reboot stops the machine'
    """
    match words.name, words.arguments:
        case "shutdown", ("-c", *_):
            return None
        case (("shutdown" | "reboot" | "halt" | "poweroff"), _):
            return f"{words.name} stops the machine"
        case (("init" | "telinit"), (("0" | "6") as level, *_)):
            return f"{words.name} {level} stops the machine"
        case "systemctl", _:
            return first(named(words)[:1], _STOPS.__contains__, "systemctl {} stops the machine")
        case "kexec", _ if has(words, "e", "--exec"):
            return "kexec -e stops the machine"
    return None


def killing(words: Words) -> str | None:
    """An end of every process, or of all that a user has.

    >>> killing(Words("kill", ("-9", "-1")))
    'kill of -1 ends every process'
    """
    match words.name:
        case "killall5":
            return "killall5 ends every process"
        case "pkill" | "killall":
            return _killing_by_name(Words(words.name, tuple(word for word in words.arguments if not _SIGNAL.fullmatch(word))))
        case "kill":
            return first(_killed(words), ("-1", "1").__contains__, "kill of {} ends every process")
    return None


def _killing_by_name(words: Words) -> str | None:
    by_pattern = words.name == "pkill" or has(words, "r", "--regexp")
    if by_pattern and {".", ".*", ""}.intersection(named(words)):
        return f"{words.name} of any name ends every process"
    of_user = not named(words) and has(words, "uU", "--user", "--euid", "--uid")
    return f"{words.name} -u ends every process of a user" if of_user else None


def _killed(words: Words) -> tuple[str, ...]:
    """The processes that a kill is for: a signal without effect has none."""
    given = words.arguments
    if given[:1] in (("-0",), ("-l",), ("-L",)) or "0" in values(words, "-s", "-n", "--signal"):
        return ()
    match given:
        case (("-s" | "-n" | "--signal"), _, *rest):
            return tuple(rest)
        case (first_one, *rest) if first_one.startswith("-"):
            return tuple(rest)
    return given


def undoing(words: Words) -> str | None:
    """What some programs keep that is thrown away: volumes, accounts, tables.

    >>> undoing(Words("docker", ("system", "prune", "-f")))
    'docker system prune destroys data'
    """
    given, undoes = named(words), _UNDOES.get(words.name, frozenset())
    letters, names = _REMOVES.get(words.name, ("", ()))
    if words.name in _ALWAYS:
        return f"{words.name} destroys data"
    if has(words, letters, *names):
        return f"{words.name} destroys what it is told to remove"
    return first((" ".join(given[:1]), " ".join(given[:2])), undoes.__contains__, f"{words.name} {{}} destroys data")
