"""Paths that a command must not take away: the system, a home, the working directory; and devices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from posixpath import dirname, normpath
from typing import Final

_LONGEST: Final = 60
_TOP: Final = "Applications Library System Users Volumes bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys usr var"
_SECOND: Final = "usr/bin usr/lib usr/lib64 usr/local usr/sbin usr/share var/lib var/log"
_SYSTEM: Final = frozenset(("/", *(f"/{name}" for name in f"{_TOP} {_SECOND}".split())))
_PARTS: Final = "bin sbin lib lib32 lib64 bin/sh bin/bash usr/bin/sh usr/bin/bash usr/bin/env usr/bin/sudo boot/efi boot/grub lib/modules"
_RECORDS: Final = "etc/passwd etc/shadow etc/group etc/gshadow etc/sudoers etc/fstab etc/ssh etc/pam.d etc/systemd usr/lib/systemd usr/lib/modules"
_PACKAGES: Final = "lib/systemd var/lib/dpkg var/lib/rpm var/lib/pacman"
_KEPT: Final = frozenset(f"/{name}" for name in f"{_PARTS} {_RECORDS} {_PACKAGES}".split())
"""Without one of these the machine does not start, lets nobody in, or cannot be mended."""
_SYSTEM_FILE: Final = re.compile(r"/(etc|usr|boot|bin|sbin|lib\d*|dev(?!/null$)|sys|proc)(/|$)")
_HOME: Final = re.compile(r"~[^/]*|\$HOME|\$\{HOME\b[^}]*\}|/(home|Users)/[^/]+")
_HERE: Final = re.compile(r"\$PWD|\$\{PWD\b[^}]*\}|\$\(pwd\)|`pwd`|\.git|[*?.\[\]!^/]+|!\([^()]*\)")
_GLOBS: Final = re.compile(r"[*?.\[\]!^]+|!\([^()]*\)")
_DEVICE: Final = re.compile(
    r"/dev/((disk|rdisk|dm-|loop|md|mmcblk|nvme|sr)[\d*?\[$`{].*|(disk|mapper|md)/(?!control$).+|(sd|vd|xvd)[a-z]{1,2}\d*|hd[a-z]\d*"
    r"|(hd|sd|vd|xvd)[a-z]*[*?\[$`{].*|k?mem|port)"
    r"|/proc/sysrq-trigger"
)


def shortened(text: str) -> str:
    """A text of a command as a reason quotes it: at most 60 characters, on one line.

    >>> shortened("a b")
    'a b'
    """
    printable = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[: _LONGEST + 1])
    return printable if len(text) <= _LONGEST else f"{printable[: _LONGEST - 3]}..."


def first(found: Iterable[str], holds: Callable[[str], object], form: str) -> str | None:
    """A reason that quotes the first word for which something holds; None if there is none.

    >>> first(("a", "/"), is_vital, "{} is vital")
    '/ is vital'
    """
    return next((form.format(shortened(word)) for word in found if holds(word)), None)


def plain_path(word: str) -> str:
    """A path without what changes nothing in it.

    >>> plain_path("//etc/./x/.."), plain_path("")
    ('/etc', '')
    """
    return re.sub("^//+", "/", normpath(word)) if word else ""


def is_vital(word: str) -> bool:
    """Whether a path is the root, a home, a directory of the system, or all that is directly in one of these.

    >>> is_vital("/etc"), is_vital("~/*"), is_vital("/etc/x")
    (True, True, False)
    """
    path = plain_path(word)
    parent, last = dirname(path), path.rsplit("/", 1)[-1]
    within = _GLOBS.fullmatch(last) and (parent in _SYSTEM or _HOME.fullmatch(parent))
    if path in _SYSTEM or _HOME.fullmatch(path) or within or path.startswith(("/$", "/`")):
        return True
    return path.startswith("/") and any(letter in path for letter in "*?[") and any(fnmatchcase(known, path) for known in _SYSTEM)


def is_kept(word: str) -> bool:
    """Whether a path is something that the system cannot be without.

    >>> is_kept("/etc/passwd"), is_kept("/etc/hosts")
    (True, False)
    """
    return plain_path(word) in _KEPT


def is_all_kept(word: str) -> bool:
    """Whether a path is all the files of the root or of a directory of the system.

    >>> is_all_kept("/*"), is_all_kept("/usr/bin/*"), is_all_kept("/etc/x*")
    (True, True, False)
    """
    path = plain_path(word)
    parent, last = dirname(path), path.rsplit("/", 1)[-1]
    return "*" in last and bool(_GLOBS.fullmatch(last)) and (parent == "/" or parent in _KEPT or (parent in _SYSTEM and is_of_system(parent)))


def is_here(word: str) -> bool:
    """Whether a path is the working directory, one above it, or all that is in one of these; or the repository's own `.git`.

    >>> is_here("./x/.."), is_here("../*"), is_here("x")
    (True, True, False)
    """
    path = plain_path(word)
    parent = dirname(path)
    within = _HERE.fullmatch(parent) and _GLOBS.fullmatch(path[len(parent) + 1 :])
    return not path.startswith("/") and bool(_HERE.fullmatch(path) or within)


def is_of_system(word: str) -> bool:
    """Whether a path is in a directory of the system.

    >>> is_of_system("/etc/x"), is_of_system("/dev/null")
    (True, False)
    """
    return _SYSTEM_FILE.match(plain_path(word)) is not None


def is_device(word: str) -> bool:
    """Whether a path is a disk's or the memory's device.

    >>> is_device("/dev/sda1"), is_device("/dev/srv")
    (True, False)
    """
    return _DEVICE.fullmatch(plain_path(word)) is not None
