"""The registries that list installed plugins: JSON to plugin roots, with whatever is wrong named and passed over."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain, takewhile
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from pipeline.hosts.host import Host, Registry
from pipeline.nodes import Absent, Directory, File, Unknown, describe
from pipeline.problem import RegistryProblem
from pipeline.snapshot import Snapshot, normal

T = TypeVar("T")

Scope: TypeAlias = Literal["user", "project"]


class PluginRoot(NamedTuple):
    """Where a plugin is installed, for whom, and under which id (`name@marketplace`)."""

    id: str
    path: str
    scope: Scope
    of_project: bool = False
    """Whether the project's own registry lists it."""


class Registries(NamedTuple):
    """The plugin roots in force and what is wrong with the registries.

    Those that the project's own registry lists come first, then those of project scope, then the user's, each group in registry order.
    """

    roots: tuple[PluginRoot, ...]
    problems: tuple[RegistryProblem, ...]


def plugin_roots(host: Host, snapshot: Snapshot) -> Registries:
    """The roots of all installed plugins that a host knows in this snapshot."""
    merged: dict[str, tuple[PluginRoot, ...]] = {}
    problems: list[RegistryProblem] = []
    for registry, path in registry_paths(host, snapshot):
        for entry in _read(path, registry, snapshot):
            if isinstance(entry, RegistryProblem):
                problems.append(entry)
            else:
                merged[entry[0]] = entry[1]
    roots = unrepeated(chain.from_iterable(merged.values()), attrgetter("path"))
    ordered = sorted(roots, key=lambda root: (root.scope != "project", not root.of_project))
    return Registries(tuple(ordered), tuple(problems))


def registry_paths(host: Host, snapshot: Snapshot) -> Iterator[tuple[Registry, str]]:
    """Where each registry of a host is to be found, least binding first; a project's only where there is a project."""
    project = project_directory(host, snapshot)
    for registry in host.plugins.registries:
        base = project if registry.of_project else snapshot.home
        if base is not None:
            yield registry, normal(posixpath.join(base, registry.path))


def project_directory(host: Host, snapshot: Snapshot) -> str | None:
    """The nearest directory at or above cwd and below home that holds the first marker, else the nearest with the next one."""
    for marker, places in marker_places(host, snapshot):
        for place in places:
            node = snapshot.locate(posixpath.join(place, marker)).node
            if isinstance(node, Directory) or (marker != host.plugins.markers[0] and not isinstance(node, Absent | Unknown)):
                return place
    return None


def marker_places(host: Host, snapshot: Snapshot) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each marker the directories that may hold it, nearest first."""
    places = tuple(takewhile(lambda place: place != snapshot.home, upward(snapshot.cwd)))
    return ((marker, places) for marker in host.plugins.markers)


@lru_cache(maxsize=256)
def upward(path: str) -> tuple[str, ...]:
    """A directory and all above it, up to the root.

    >>> upward("/a/b")
    ('/a/b', '/a', '/')
    """
    places = [path]
    while places[-1] != posixpath.dirname(places[-1]):
        places.append(posixpath.dirname(places[-1]))
    return tuple(places)


def unrepeated(items: Iterable[T], path: Callable[[T], str]) -> Iterator[T]:
    """The first item of each path, in order.

    >>> list(unrepeated(["/a", "/b", "/a"], str))
    ['/a', '/b']
    """
    seen: set[str] = set()
    for item in items:
        if path(item) not in seen:
            seen.add(path(item))
            yield item


def _read(path: str, registry: Registry, snapshot: Snapshot) -> Iterator[RegistryProblem | tuple[str, tuple[PluginRoot, ...]]]:
    node = snapshot.locate(path).node
    if isinstance(node, Absent | Unknown):
        return
    if not isinstance(node, File):
        yield RegistryProblem(path=path, where="the registry", reason=f"it cannot be read: {describe(node)}")
        return
    try:
        found = json.loads(node.text)
    except json.JSONDecodeError as error:
        yield RegistryProblem(path=path, line=error.lineno, column=error.colno, where="the registry", reason=f"not JSON: {error.msg}")
        return
    except (ValueError, RecursionError) as error:
        yield RegistryProblem(path=path, line=1, column=1, where="the registry", reason=f"not JSON: {error}")
        return
    yield from _entries(path, registry, found, snapshot)


def _entries(path: str, registry: Registry, found: object, snapshot: Snapshot) -> Iterator[RegistryProblem | tuple[str, tuple[PluginRoot, ...]]]:
    match found:
        case {"version": int() | float() as version, "plugins": dict() as plugins} if not isinstance(version, bool):
            for key, entries in plugins.items():
                if "@" not in key:
                    yield RegistryProblem(path=path, where=f"plugins[{key!r}]", reason="the id has no @marketplace")
                elif not isinstance(entries, list):
                    yield RegistryProblem(path=path, where=f"plugins[{key!r}]", reason="its entries are no list")
                else:
                    roots = (_root(key, entry, registry, snapshot) for entry in entries)
                    yield key, tuple(root for root in roots if root)
        case _:
            expected = '{"version": number, "plugins": {id: [entry, ...]}}'
            yield RegistryProblem(path=path, line=1, column=1, where="the registry", reason=f"not of the shape {expected}")


def _root(key: str, entry: object, registry: Registry, snapshot: Snapshot) -> PluginRoot | None:
    match entry:
        case {"installPath": str(install)} if install and isinstance(entry, dict) and entry.get("enabled") is not False:
            project = registry.of_project or entry.get("scope") == "project"
            return PluginRoot(key, snapshot.absolute(install), "project" if project else "user", registry.of_project)
    return None
