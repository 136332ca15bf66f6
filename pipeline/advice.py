"""A problem's data to one sentence with the way out: the only place that words them."""

from __future__ import annotations

from typing import Final, assert_never

from pipeline.problem import (
    BrokenLink,
    ByteOrderMark,
    DuplicateKey,
    EveryToolAllowed,
    FenceNotFirst,
    FileTooLarge,
    IgnoredValue,
    JunkLines,
    MissingField,
    NamesDifferByCase,
    NoFrontmatter,
    NotAFile,
    NotAMapping,
    NotYaml,
    OddName,
    OpenDirectory,
    Problem,
    ReadmeNotAgent,
    RegistryProblem,
    ReplacedBytes,
    SameNameInDirectory,
    UnclosedFrontmatter,
    UnknownKey,
    UnreadableDirectory,
    UnreadableFile,
    WouldHaveWon,
)


def render(problem: Problem) -> str:  # noqa: C901, PLR0912 - one case a kind is the point
    """One sentence on what is wrong and what to do, without the place; what it quotes of files is as it stands there, so show it through
    `pipeline.view.text.visible`.

    >>> render(MissingField(path="/a.md", line=1, field="name", found="nothing"))
    'no name: add `name: ...` to the frontmatter'
    """
    match problem:
        case NoFrontmatter():
            return "no frontmatter: an agent's file starts with a line `---`, its metadata, and another `---`"
        case FenceNotFirst(before=before):
            return f"the frontmatter does not start on the first line: remove what stands before it ({shortened(before)})"
        case ReadmeNotAgent():
            return "a README, no agent: move it out of the agents directory, or leave it, it does no harm"
        case UnclosedFrontmatter():
            return "the frontmatter is not closed: add a line `---` after the metadata"
        case NotAMapping(found=found):
            return f"the metadata is {found}, not `key: value` lines: write `name: ...` and `description: ...`"
        case MissingField(field=field, found="nothing"):
            return f"no {field}: add `{field}: ...` to the frontmatter"
        case MissingField(field=field, found=found):
            return f"{field} is {found}: write a text after `{field}:`, in quotes if need be"
        case UnreadableFile(reason=reason):
            return f"it cannot be read ({reason}): mend its permissions or remove it"
        case BrokenLink(target=target, reason=reason):
            return f"a link to {shortened(target)}, but {reason}: point it at a file or remove it"
        case NotAFile(kind=kind):
            return f"{kind}, not a file; it was not opened: rename it"
        case FileTooLarge(size=size, limit=limit):
            return f"{size:,} bytes, more than the {limit:,} that are read: shorten it"
        case UnreadableDirectory(reason=reason):
            return f"the directory cannot be listed ({reason}) and counts as empty: mend its permissions"
        case OpenDirectory(why="anyone may write"):
            return "anyone may write in this directory, so anyone can define your agents: chmod o-w"
        case OpenDirectory(owner=owner):
            return f"another user (id {owner}) owns this directory and can define your agents: take it over or work elsewhere"
        case RegistryProblem(where=where, reason=reason):
            return f"plugin registry, {shortened(where)}: {reason}; it counts as empty until it is mended"
        case _:
            return _warning(problem)


def _warning(  # noqa: C901, PLR0912
    problem: NotYaml
    | JunkLines
    | DuplicateKey
    | UnknownKey
    | EveryToolAllowed
    | IgnoredValue
    | OddName
    | SameNameInDirectory
    | NamesDifferByCase
    | ByteOrderMark
    | ReplacedBytes
    | WouldHaveWon,
) -> str:
    match problem:
        case NotYaml(reason=reason):
            return f"not YAML ({reason}); what could be read was kept: put the value in quotes"
        case JunkLines(count=count):
            return f"{count} line(s) of the metadata belong to no key and were passed over: indent them or remove them"
        case DuplicateKey(key=key):
            return f"{shortened(key)} stands more than once and the last one counts: remove the others"
        case UnknownKey(key=key, near=near):
            return f"{shortened(key)} means nothing here: did you mean {near}?"
        case EveryToolAllowed(found=found):
            return f"tools is {found}, so every tool is allowed: list them (`tools: read, grep`) or remove the key"
        case IgnoredValue(field=field, found=found, allowed=allowed):
            return f"{field} {shortened(found)} is ignored: use one of {', '.join(allowed)}"
        case OddName(name=name, why="comma"):
            return f"the name {shortened(name)} holds a comma, so that no list of names can hold it: rename it"
        case OddName(name=name, why=why):
            return f"the name {shortened(name)} has a {why}: rename it"
        case SameNameInDirectory(name=name, winner=winner):
            return f"{shortened(name)} is defined by {winner} in the same directory too, whose file name comes first: rename one"
        case NamesDifferByCase(name=name, other=other, other_path=path):
            return f"{shortened(name)} and {shortened(other)} ({path}) differ only by case and are two agents: rename one"
        case ByteOrderMark():
            return "the text starts with a byte order mark: save it as UTF-8 without one"
        case ReplacedBytes(count=count):
            return f"{count} piece(s) of it are not UTF-8 and became U+FFFD: save it as UTF-8"
        case WouldHaveWon(name=name, winner=winner):
            return f"once mended, this file and not {winner} would define {shortened(name)}: mend it or remove it"
        case _:
            assert_never(problem)


_LONGEST: Final = 60


def shortened(text: str) -> str:
    """A text from a file in back quotes, cut where it is long.

    >>> shortened("x" * 80)[-3:]
    'x…`'
    """
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}`"
