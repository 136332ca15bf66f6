"""The options of a command: which take a value, glued or as the next word, and long ones cut short."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pipeline.subagent.shell.words import Words

_ASSIGNMENT: Final = re.compile(r"\w+\+?=")

VALUED: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(takes.split())
    for names, takes in {
        "cp mv install": "-t -S -m -o -g --target-directory --suffix --mode --owner --group",
        "truncate": "-s -r --size --reference",
        "kill": "-s -n --signal",
        "pkill": "-u -U -g -G -s -t -P -F -O -r --euid --uid --group --pgroup --session --terminal --parent --pidfile --signal --ns --nslist"
        " --older --runstates --cgroup --env",
        "killall": "-u -s -y -o -n -Z --user --signal --ns --context --older-than --younger-than",
        "systemctl": "-t -p -P -o -s -n -H -M --type --property --output --signal --lines --host --machine --message --state --root --kill-whom"
        " --job-mode --check-inhibitors --when",
        "docker podman": "-c -H -l --context --config --connection --host --log-level --tlscacert --tlscert --tlskey --root --runroot --url",
        "crontab": "-u",
        "fdisk sfdisk": "-b -C -H -S -t -o -w -W -N -X -Y --sector-size --type --output --wipe --wipe-partitions --partno --label --label-nested",
        "sgdisk": "-i --info",
        "wipefs": "-o -t --offset --types",
        "rsync": "-e -f -B -T -M --rsh --filter --exclude --include --exclude-from --include-from --files-from --log-file --log-file-format --port"
        " --password-file --bwlimit --block-size --temp-dir --backup-dir --suffix --chmod --chown --timeout --max-size --min-size --out-format",
        "git-push": "-o --push-option --repo --receive-pack --exec",
        "git-checkout": "-b -B --orphan --conflict --pathspec-from-file",
        "git-switch": "-c -C --create --force-create --orphan --conflict",
        "git-restore": "-s --source --conflict --pathspec-from-file",
        "git-clean": "-e --exclude",
        "git-branch": "-u --set-upstream-to --sort --format --contains --no-contains --points-at",
    }.items()
    for name in names.split()
}
"""Which options of a command take a value; those of wrappers stand with them."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option as it was given: `-x` or `--name`, its value if it has one, and where the words behind it begin."""

    name: str
    value: str | None
    end: int


def options(arguments: tuple[str, ...], takes: frozenset[str] = frozenset()) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """The options among the arguments, bundles taken apart, and the words that are none.

    >>> found, named = options(("-xn5", "a", "--na=1", "--", "-b"), frozenset({"-n"}))
    >>> [(each.name, each.value) for each in found], named
    ([('-x', None), ('-n', '5'), ('--na', '1')], ('a', '-b'))
    """
    found: list[Option] = []
    named: list[str] = []
    at = 0
    while at < len(arguments):
        word, at = arguments[at], at + 1
        if word == "--":
            named += arguments[at:]
            break
        if len(word) < len("-x") or not word.startswith("-"):
            named.append(word)
            continue
        following = arguments[at] if at < len(arguments) and takes_next(word, takes) else None
        at += following is not None
        found += _long(word, following, at) if word.startswith("--") else _bundle(word, following, at, takes)
    return tuple(found), tuple(named)


def _long(word: str, following: str | None, end: int) -> list[Option]:
    name, glued, value = word.partition("=")
    return [Option(name, value if glued else following, end)]


def _bundle(word: str, following: str | None, end: int, takes: frozenset[str]) -> list[Option]:
    taker = _taker(word, takes)
    flags = [Option(f"-{letter}", None, end) for letter in word[1:taker]]
    return flags if taker is None else [*flags, Option(f"-{word[taker]}", word[taker + 1 :] or following, end)]


def _taker(word: str, takes: frozenset[str]) -> int | None:
    return next((at for at, letter in enumerate(word) if f"-{letter}" in takes), None)


def takes_next(word: str, takes: frozenset[str]) -> bool:
    """Whether an option takes the next word as its value; a long one may be cut short.

    >>> takes_next("-xn", frozenset({"-n"})), takes_next("-n5", frozenset({"-n"})), takes_next("--na", frozenset({"--name"}))
    (True, False, True)
    """
    if word.startswith("--"):
        return len(word) > len("--") and any(option.startswith(word) for option in takes)
    return _taker(word, takes) == len(word) - 1


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
        at += 2 if takes_next(word, takes) else 1
    return ()


def has(words: Words, letters: str, *names: str) -> bool:
    """Whether one of the options is given, a short one alone or bundled, a long one in full or cut short.

    >>> has(Words("rm", ("-vr",)), "rR"), has(Words("git-push", ("-ofoo", "--forc")), "f"), has(Words("git-push", ("--forc",)), "f", "--force")
    (True, False, True)
    """
    given, _ = options(words.arguments, VALUED.get(words.name, frozenset()))
    return any(any(name.startswith(each.name) for name in names) if each.name.startswith("--") else each.name[1] in letters for each in given)


def named(words: Words) -> tuple[str, ...]:
    """The arguments that are neither options nor their values.

    >>> named(Words("cp", ("-t", "x", "-v", "a")))
    ('a',)
    """
    return options(words.arguments, VALUED.get(words.name, frozenset()))[1]


def values(words: Words, *names: str) -> tuple[str, ...]:
    """The values that these options are given; long ones may be cut short.

    >>> values(Words("cp", ("-tx", "--target=y", "a")), "-t", "--target-directory")
    ('x', 'y')
    """
    given, _ = options(words.arguments, VALUED.get(words.name, frozenset()))
    return tuple(each.value for each in given if each.value is not None and any(_is(each.name, name) for name in names))


def _is(given: str, name: str) -> bool:
    return given == name or (given.startswith("--") and name.startswith(given))
