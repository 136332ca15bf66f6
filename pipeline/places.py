"""Where discovery looks: the ordered agent directories of a snapshot, and what it would have to see to know them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Final, Literal, NamedTuple

from pipeline.agent import Source
from pipeline.hosts.host import CommandPlace, Family, Host
from pipeline.nodes import Absent, Directory, Link, Node, Unknown, Unread, Unreadable, plain
from pipeline.plugins import Registries, marker_places, plugin_roots, registry_paths, unrepeated, upward
from pipeline.problem import OpenDirectory, RegistryProblem, Surrounding, UnreadableDirectory
from pipeline.snapshot import Snapshot, normal

REPOSITORY: Final = ".git"
"""What marks a repository's root."""


@dataclass(frozen=True, slots=True)
class Place:
    """One agent directory: its path, whose it is, and the plugin it belongs to, if any. The order of places is the precedence."""

    path: str
    source: Source
    plugin: str | None = None


class Want(NamedTuple):
    """Something that has to be looked at: that a path is there, a file's content, a listing, or a listing with the content of some files."""

    path: str
    what: Literal["presence", "content", "listing"]
    suffix: str | None = None
    """With a listing: files whose names end so are read too, and so is what links of such names lead to."""
    max_bytes: int = 0

    def behind_links(self, path: str, listed: Node) -> Iterator[Want]:
        """With a listing found at `path`: what its links lead to, if that is wanted."""
        if self.suffix is not None and isinstance(listed, Directory):
            for name, child in sorted(plain(listed).items(), key=itemgetter(0)):
                if isinstance(child, Link) and name.endswith(self.suffix):
                    yield Want(f"{path}/{name}", "content", max_bytes=self.max_bytes)


class Survey(NamedTuple):
    """The agent directories in order of precedence, each path once, and what is wrong with the registries that name some of them."""

    places: tuple[Place, ...]
    problems: tuple[RegistryProblem, ...]


def survey(host: Host, snapshot: Snapshot) -> Survey:
    """Where a host looks in a snapshot; user directories and plugins' whether or not they exist."""
    plugins = plugin_roots(host, snapshot)
    found = chain(_of_families(host, snapshot), _of_plugins(host, plugins))
    return Survey(tuple(unrepeated(found, lambda place: place.path)), plugins.problems)


def project_agents_dir(host: Host, snapshot: Snapshot) -> str | None:
    """The first project directory in the order of the families, or None."""
    found = (project_place(host, family, snapshot) for family in host.families)
    return next((path for path in found if path), None)


def _of_families(host: Host, snapshot: Snapshot) -> Iterator[Place]:
    for family in host.families:
        project = project_place(host, family, snapshot)
        if project is not None:
            yield Place(project, "project")
        yield Place(user_place(family, snapshot), "user")


def _of_plugins(host: Host, plugins: Registries) -> Iterator[Place]:
    for root in plugins.roots:
        yield Place(normal(posixpath.join(root.path, host.plugins.folder)), root.scope, root.id)


def user_place(family: Family, snapshot: Snapshot) -> str:
    """The user's own directory of a family."""
    return normal(posixpath.join(snapshot.home, family.user))


def project_place(host: Host, family: Family, snapshot: Snapshot) -> str | None:
    """The nearest project directory of a family at or above cwd; the user's own ends the walk unless the host takes it for a project's."""
    user = user_place(family, snapshot)
    for path in _project_paths(family, snapshot):
        if not snapshot.is_dir(path):
            continue
        return None if not host.home_is_project and _same(path, user, snapshot) else path
    return None


def _project_paths(family: Family, snapshot: Snapshot) -> Iterator[str]:
    """Where a family's project directory may be, nearest first."""
    return (normal(posixpath.join(above, family.project)) for above in upward(snapshot.cwd))


def passed_over(host: Host, snapshot: Snapshot) -> Iterator[Place]:
    """The project directories nearer than the one of their family that the system would not even look into: there may be agents in them.

    Of one above that cannot be entered itself nothing is known, and nothing said.
    """
    for family in host.families:
        for path in _project_paths(family, snapshot):
            real, node = snapshot.locate(path)
            if isinstance(node, Unreadable) and not node.directory and posixpath.basename(real) == posixpath.basename(path):
                yield Place(path, "project")
            elif snapshot.is_dir(path):
                break


def _same(path: str, other: str, snapshot: Snapshot) -> bool:
    return path == other or snapshot.locate(path).real == snapshot.locate(other).real


def wanted(host: Host, snapshot: Snapshot) -> tuple[Want, ...]:
    """What discovery would look at next, given what this snapshot knows; nothing once it knows enough.

    >>> from pipeline.hosts import STANDARD
    >>> wanted(STANDARD, Snapshot("/p", "/h"))[0]
    Want(path='/p/.xcsh/agents', what='presence', suffix=None, max_bytes=0)
    >>> wanted(STANDARD, Snapshot.from_tree({}))
    ()
    """
    return tuple(want for want in _wanted(host, snapshot) if not answered(want, snapshot))


def _wanted(host: Host, snapshot: Snapshot) -> Iterator[Want]:
    for family in host.families:
        for path in _project_paths(family, snapshot):
            yield Want(path, "presence")
    for marker, directories in marker_places(host, snapshot):
        for directory in directories:
            yield Want(posixpath.join(directory, marker), "presence")
    for _, path in registry_paths(host, snapshot):
        yield Want(path, "content", max_bytes=host.max_bytes)
    yield from _wanted_for_commands(host, snapshot)
    for place in chain(survey(host, snapshot).places, (place for place, _ in command_places(host, snapshot))):
        yield Want(place.path, "listing", host.suffix, host.max_bytes)


def _wanted_for_commands(host: Host, snapshot: Snapshot) -> Iterator[Want]:
    for directory in upward(snapshot.cwd):
        yield Want(posixpath.join(directory, REPOSITORY), "presence")
    for rule in host.commands:
        if rule.unless_empty is not None:
            for base, *_ in _bases(rule, host, snapshot):
                yield Want(normal(posixpath.join(base, rule.unless_empty)), "listing")


def answered(want: Want, snapshot: Snapshot) -> bool:
    """Whether a snapshot knows what a want asks for, be it that there is nothing."""
    node = snapshot.locate(want.path).node
    if isinstance(node, Directory):
        return want.what != "listing" or node.complete or node.unlisted is not None
    return not isinstance(node, Unknown) and not (want.what == "content" and isinstance(node, Unread))


def command_places(host: Host, snapshot: Snapshot) -> tuple[tuple[Place, CommandPlace], ...]:
    """The directories of commands in order of precedence, each path once, with what the host says of each."""
    found = ((place, rule) for rule in host.commands for place in _of_rule(rule, host, snapshot))
    return tuple(unrepeated(found, lambda each: each[0].path))


def _of_rule(rule: CommandPlace, host: Host, snapshot: Snapshot) -> Iterator[Place]:
    for base, source, plugin in _bases(rule, host, snapshot):
        if rule.unless_empty is None or _holds_something(normal(posixpath.join(base, rule.unless_empty)), snapshot):
            for folder in rule.folders:
                yield Place(normal(posixpath.join(base, folder)), source, plugin)


def _bases(rule: CommandPlace, host: Host, snapshot: Snapshot) -> Iterator[tuple[str, Source, str | None]]:
    if rule.base == "cwd":
        yield snapshot.cwd, "project", None
    elif rule.base == "home":
        yield snapshot.home, "user", None
    elif rule.base == "upward":
        for above in _up_to_repository(snapshot):
            yield above, "project", None
    else:
        for root in plugin_roots(host, snapshot).roots:
            yield root.path, root.scope, root.id.partition("@")[0]


def _up_to_repository(snapshot: Snapshot) -> Iterator[str]:
    """From cwd up to the first directory that holds `.git`; where there is none, up to the home directory or the root."""
    repository = next((above for above in upward(snapshot.cwd) if _holds_git(above, snapshot)), snapshot.home)
    for above in upward(snapshot.cwd):
        yield above
        if above == repository:
            return


def _holds_something(path: str, snapshot: Snapshot) -> bool:
    return snapshot.list(path).map(bool).value_or(False)


def _holds_git(path: str, snapshot: Snapshot) -> bool:
    return not isinstance(snapshot.locate(posixpath.join(path, REPOSITORY)).node, Absent | Unknown)


def surroundings(where: Iterable[Place], snapshot: Snapshot) -> tuple[Surrounding, ...]:
    """What is wrong with the agent directories themselves: they cannot be listed, others can write in them."""
    return tuple([problem for place in where for problem in _of_directory(place, snapshot)])


_ANYONE_MAY_WRITE: Final = 0o002
_ROOT: Final = 0


def _of_directory(place: Place, snapshot: Snapshot) -> Iterator[Surrounding]:
    node = snapshot.locate(place.path).node
    reason = node.reason if isinstance(node, Unreadable) else node.unlisted if isinstance(node, Directory) else None
    if reason is not None:
        yield UnreadableDirectory(path=place.path, reason=reason)
    if place.source != "project" or not isinstance(node, Directory):
        return
    if node.mode is not None and node.mode & _ANYONE_MAY_WRITE:
        yield OpenDirectory(path=place.path, why="anyone may write", owner=node.owner)
    if None not in (node.owner, snapshot.user) and node.owner not in (snapshot.user, _ROOT):
        yield OpenDirectory(path=place.path, why="another user owns it", owner=node.owner)
