"""Snapshots are values: they survive JSON, share what does not change, and lose nothing that discovery would look at."""

from __future__ import annotations

from pipeline.commands import discover_commands
from pipeline.discovery import discover
from pipeline.hosts import STANDARD, Host
from pipeline.nodes import ABSENT, Directory, File, Node, Unknown, Unread
from pipeline.places import Want, wanted
from pipeline.snapshot import Snapshot


def json_round_trips(snapshot: Snapshot) -> None:
    """A snapshot's JSON is a snapshot equal to it, and equal snapshots have one JSON."""
    text = snapshot.to_json()
    back = Snapshot.from_json(text).unwrap()
    assert back == snapshot
    assert back.to_json() == text
    assert text.isascii()


def discovery_needs_only_what_is_wanted(snapshot: Snapshot, host: Host = STANDARD) -> None:
    """Discovering over only what `wanted` asks for, to the fixpoint, is discovering over the whole tree."""
    seen = revealed(snapshot, host)
    assert discover(seen, host=host) == discover(snapshot, host=host)
    assert discover_commands(seen, host=host) == discover_commands(snapshot, host=host)


def revealed(whole: Snapshot, host: Host) -> Snapshot:
    """The part of a whole tree that a host asks to see, found as `capture` finds it."""
    seen = Snapshot(whole.cwd, whole.home, user=whole.user)
    for _ in range(20):
        wants = wanted(host, seen)
        if not wants:
            return seen
        for want in wants:
            seen = _shown(want, seen, whole)
    raise AssertionError(f"still wanted: {wanted(host, seen)}")


def _shown(want: Want, seen: Snapshot, whole: Snapshot) -> Snapshot:
    real, node = seen.locate(want.path)
    while isinstance(node, Unknown):
        seen = seen.with_nodes([(real, _closed(_at(whole, real)))])
        real, node = seen.locate(want.path)
    if want.what == "listing" and isinstance(node, Directory) and not node.complete:
        listed = _at(whole, real)
        assert isinstance(listed, Directory)
        met = {name: child if want.suffix and name.endswith(want.suffix) else _closed(child) for name, child in listed.children.items()}
        known = dict(node.children.items())
        seen = seen.at_real(real, Directory(owner=listed.owner, mode=listed.mode))
        seen = seen.with_nodes((f"{real}/{name}", child) for name, child in (met | known).items())
        for linked in want.behind_links(real, listed):
            seen = _shown(linked, seen, whole)
        return seen
    if want.what == "content" and isinstance(node, Unread):
        return seen.with_nodes([(real, _at(whole, real))])
    return seen


def _at(whole: Snapshot, real: str) -> Node:
    """The node at a path without links, itself not followed."""
    directory = whole.root
    *above, name = real.strip("/").split("/")
    for part in above:
        child = directory.children.get(part)
        if not isinstance(child, Directory):
            return child if child is not None else ABSENT
        directory = child
    return directory.children.get(name, ABSENT)


def _closed(node: Node) -> Node:
    match node:
        case Directory(owner=owner, mode=mode):
            return Directory(complete=False, owner=owner, mode=mode)
        case File(data):
            return Unread(len(data))
    return node


def putting_then_removing_is_nothing(snapshot: Snapshot, path: str, text: str) -> None:
    """A file put where nothing was and removed again leaves a discovery as it was; reading it in between gives what was put."""
    if snapshot.real_path(path).value_or(None) is not None:
        return
    put = snapshot.put(path, text)
    assert put.read(path).unwrap().data == text.encode("utf-8", "surrogatepass")
    assert discover(put.remove(path)).agents == discover(snapshot).agents


def what_does_not_change_is_shared(snapshot: Snapshot, path: str, text: str) -> None:
    """A new snapshot holds the very nodes of the old one everywhere but on the way to what was put."""
    put = snapshot.put(path, text)
    changed = put.absolute(path).strip("/").split("/")[0]
    for name, node in snapshot.root.children.items():
        assert name == changed or put.root.children[name] is node
