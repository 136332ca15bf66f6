"""The data of problems and refusals to words, with the way out: the only place that words them."""

from __future__ import annotations

from collections.abc import Iterator
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
from pipeline.refusal import (
    AgentDisabled,
    BadTaskIds,
    CannotEncode,
    ForkOfFork,
    NotASchema,
    NoTasks,
    NothingAsked,
    NoWorkspace,
    Refusal,
    SpawnForbidden,
    SpawnsItself,
    UnknownAgent,
)


def render(what: Problem | Refusal) -> str:
    """A problem or a refusal in words; see `problem_text` and `refusal_text`.

    >>> render(SpawnForbidden("scout", ""))
    "Cannot spawn 'scout'. Allowed: none (spawns disabled for this agent)"
    """
    return refusal_text(what) if isinstance(what, Refusal) else problem_text(what)


def problem_text(problem: Problem) -> str:  # noqa: C901, PLR0912 - one case a kind is the point
    """One sentence on what is wrong and what to do, without the place; what it quotes of files is as it stands there, so show it through
    `pipeline.view.text.visible`.

    >>> problem_text(MissingField(path="/a.md", line=1, field="name", found="nothing"))
    'no name: add `name: ...` to the frontmatter'
    """
    match problem:
        case NoFrontmatter():
            return "no frontmatter: an agent's file starts with a line `---`, its metadata, and another `---`"
        case FenceNotFirst(before=before):
            what = "a byte order mark" if before == "\ufeff" else shortened(before) if before else "nothing but blanks"
            return f"the frontmatter does not start on the first line: remove what stands before it ({what})"
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
            by = "by case" if name.lower() != name or other.lower() != other else "in how their characters are composed"
            return f"{shortened(name)} and {shortened(other)} ({path}) differ only {by} and are two agents: rename one"
        case ByteOrderMark():
            return "the text starts with a byte order mark: save it as UTF-8 without one"
        case ReplacedBytes(count=count):
            return f"{count} piece(s) of it are not UTF-8 and became U+FFFD: save it as UTF-8"
        case WouldHaveWon(name=name, winner=winner):
            return f"once mended, this file and not {winner} would define {shortened(name)}: mend it or remove it"
        case _:
            assert_never(problem)


def refusal_text(refusal: Refusal) -> str:  # noqa: C901 - one case a kind is the point
    """The text that the task tool answers with, word for word as agents are used to it.

    >>> refusal_text(BadTaskIds((0, 2), (("Foo", (1, 3)),)))
    'Invalid tasks: Missing task ids at indexes: 0, 2. Duplicate task ids detected (case-insensitive): Foo (indexes 1, 3)'
    """
    match refusal:
        case UnknownAgent(name, available):
            return f'Unknown agent "{name}". Available: {_listed(available)}'
        case AgentDisabled(name, available):
            way_out = "Enable it via /agents, or use a different agent type."
            return f'Agent "{name}" is disabled in settings. {way_out} Available: {_listed(available)}'
        case NoTasks():
            return "No tasks provided. Use: { agent, context, tasks: [{id, description, args}, ...] }"
        case BadTaskIds(missing, repeated):
            return f"Invalid tasks: {'. '.join(_bad_ids(missing, repeated))}"
        case SpawnsItself(name):
            return f"Cannot spawn {name} agent from within itself (recursion prevention). Use a different agent type."
        case SpawnForbidden(name, policy):
            return f"Cannot spawn '{name}'. Allowed: {policy or 'none (spawns disabled for this agent)'}"
        case CannotEncode(agent, name, why):
            return f"Cannot hand on the spawn policy of '{agent}': the name '{name}' holds {why}, so no list of names can hold it. Rename that agent."
        case NotASchema(agent, why):
            return f"The schema for the answer of '{agent}' is no schema: {why}"
        case NothingAsked(tasks):
            return f"Nothing is asked in {', '.join(tasks)}."
        case NoWorkspace(path, what):
            return f"Cannot work in {shortened(path)}: it is {what}."
        case ForkOfFork(agent):
            return f"Cannot fork '{agent}': it is a fork itself. Do the work here, or name an agent to start."
        case _:
            assert_never(refusal)


def lifting(refusal: Refusal) -> str:  # noqa: C901, PLR0912 - one case a kind is the point
    """What would lift a refusal, for the person who asks.

    >>> lifting(SpawnForbidden("scout", "plan"))
    'add scout to the spawns of the agent that asks'
    """
    match refusal:
        case UnknownAgent(name, _, near):
            return f"ask for {' or '.join(near)}, or define {name}" if near else f"define {name} in an agents directory"
        case AgentDisabled(name):
            return f"enable {name} in the settings"
        case NoTasks():
            return "give it a task"
        case BadTaskIds():
            return "give every task an id of its own"
        case SpawnsItself():
            return "ask for another agent, or do the work here"
        case SpawnForbidden(name, ""):
            return f"declare `spawns: {name}` in the agent that asks; at the depth limit nothing helps"
        case SpawnForbidden(name):
            return f"add {name} to the spawns of the agent that asks"
        case CannotEncode(_, name):
            return f"rename {name}"
        case NotASchema():
            return "mend the schema: it must be JTD (RFC 8927) or JSON Schema"
        case NothingAsked():
            return "say in words what is to be done"
        case NoWorkspace():
            return "name a directory that is there"
        case ForkOfFork():
            return "do the work in the fork, or name an agent to start"
        case _:
            assert_never(refusal)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _bad_ids(missing: tuple[int, ...], repeated: tuple[tuple[str, tuple[int, ...]], ...]) -> Iterator[str]:
    if missing:
        yield f"Missing task ids at indexes: {', '.join(map(str, missing))}"
    if repeated:
        several = "; ".join(f"{name} (indexes {', '.join(map(str, at))})" for name, at in repeated)
        yield f"Duplicate task ids detected (case-insensitive): {several}"


_LONGEST: Final = 60


def shortened(text: str) -> str:
    """A text from a file in back quotes, cut where it is long.

    >>> shortened("x" * 80)[-3:]
    'x…`'
    """
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}`"
