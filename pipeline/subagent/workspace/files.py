"""The tools for files: read, write, edit, glob. Each resolves its path in the workspace, and does its work in a thread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Final

from anyio import from_thread, to_thread

from pipeline.subagent.context import FilesRead, Version
from pipeline.subagent.tools import ToolCall, ToolError
from pipeline.subagent.workspace.contents import MAX_BYTES, Place, encoded, read, replace, reported
from pipeline.subagent.workspace.globbing import Pattern, matches
from pipeline.subagent.workspace.inputs import text, whole
from pipeline.subagent.workspace.output import capped, visible
from pipeline.subagent.workspace.paths import MAX_PATH, Workspace

MAX_LINES: Final = 2000
"""Lines that a reading has unless it says otherwise."""
MAX_MATCHES: Final = 1000
"""Matches of a pattern that are shown."""
_MAX_PLACES: Final = 20


async def read_file(workspace: Workspace, call: ToolCall) -> str:
    """Lines of a text file as they are, from `offset` (1 for the first), at most `limit` of them; then how many more there are.

    What the context has read is not opened again while it is unchanged. ToolError for what is no text file, for an offset beyond its end.
    """
    path, offset, limit = text(call, "path"), whole(call, "offset", 1), whole(call, "limit", MAX_LINES)
    return await to_thread.run_sync(_read, workspace, call.context.files, path, offset, limit)


async def write_file(workspace: Workspace, call: ToolCall) -> str:
    """Replace a file's content at once, or make the file and its parents; says how many bytes. ToolError for what cannot be written."""
    return await to_thread.run_sync(_write, workspace, call.context.files, text(call, "path"), text(call, "content"))


async def edit_file(workspace: Workspace, call: ToolCall) -> str:
    """Replace the one place of a text file that has `old_string`; every other byte stays. ToolError for no such place, and for several."""
    old, new = text(call, "old_string"), text(call, "new_string")
    return await to_thread.run_sync(_edit, workspace, call.context.files, text(call, "path"), old, new)


async def glob(workspace: Workspace, call: ToolCall) -> str:
    """The paths below `path` (by default the root) that fit a pattern: sorted by code point, relative to the root, `/` after directories.

    At most `MAX_MATCHES`, then how many there were. ToolError for a pattern that leads outside, for a path that is no directory.
    """
    return await to_thread.run_sync(_glob, workspace, text(call, "pattern"), text(call, "path", "."))


def _read(workspace: Workspace, files: FilesRead, given: str, offset: int, limit: int) -> str:
    place = workspace.file(given)
    content, shown = _content(files, place), place.shown
    if not content:
        return f"{shown}: it is empty"
    # Not `splitlines`, which knows other ends of lines than files have.
    lines = content.removesuffix("\n").split("\n")
    if offset > len(lines):
        raise ToolError(f"{shown}: there is no line {offset}, the number of lines is {len(lines)}")
    chosen, more = lines[offset - 1 : offset - 1 + limit], len(lines) - (offset - 1 + limit)
    last = f"\n... ({more} more lines)" if more > 0 else "\n" * content.endswith("\n")
    return capped("\n".join(chosen) + last)


def _content(files: FilesRead, place: Place) -> str:
    with reported(place.shown):
        with place.opened() as (folder, name):
            known = files.get(place.real, Version.of(os.lstat(name, dir_fd=folder)))
        if known is not None:
            return known
        version, content = read(place)
        files.put(place.real, version, content)
        return content


def _write(workspace: Workspace, files: FilesRead, given: str, content: str) -> str:
    data = encoded(content, "content")
    with workspace.changing:
        place = workspace.file(given)
        _replace(files, place, data, content)
    return f"{place.shown}: {len(data)} bytes written"


def _replace(files: FilesRead, place: Place, data: bytes, content: str) -> None:
    with reported(place.shown):
        version = replace(place, data)
    _remember(files, place, version, content)


def _remember(files: FilesRead, place: Place, version: Version, content: str) -> None:
    """Keep what was written; not what would be refused if it were read."""
    if version.stamp.size <= MAX_BYTES and "\0" not in content:
        files.put(place.real, version, content)


def _edit(workspace: Workspace, files: FilesRead, given: str, old: str, new: str) -> str:
    if not old:
        raise ToolError("old_string is empty: it must be the text that is replaced")
    encoded(new, "new_string")
    with workspace.changing:
        place = workspace.file(given)
        with reported(place.shown):
            _, content = read(place)
        at = _only_place(content, old, place.shown)
        edited = content[:at] + new + content[at + len(old) :]
        _replace(files, place, edited.encode(), edited)
    return f"{place.shown}: replaced on line {_line(content, at)}"


def _only_place(content: str, old: str, shown: str) -> int:
    first = content.find(old)
    if first < 0:
        raise ToolError(f"{shown}: there is no match for old_string")
    # One that overlaps the first counts too: which of them is meant?
    second = content.find(old, first + 1)
    if second >= 0:
        number = 1 + content.count(old, second)
        places = (first, *islice(_places(content, old, second), _MAX_PLACES))
        lines = ", ".join(map(str, dict.fromkeys(_line(content, at) for at in places)))
        raise ToolError(f"{shown}: there are {number} matches for old_string, on lines {lines}{' ...' if number > len(places) else ''}")
    return first


def _places(content: str, old: str, at: int) -> Iterator[int]:
    while at >= 0:
        yield at
        at = content.find(old, at + len(old))


def _line(content: str, at: int) -> int:
    return content.count("\n", 0, at) + 1


def _glob(workspace: Workspace, given: str, path: str) -> str:
    pattern, base = _pattern(workspace, given), workspace.resolve("." if given.startswith("/") else path)
    if not os.path.isdir(base):
        raise ToolError(f"{workspace.shown(base)}: it is not a directory")
    found = sorted(_found(workspace, base, pattern))
    if not found:
        return "no matches" + "; braces stand for themselves in a pattern" * ("{" in given)
    more = [f"[{MAX_MATCHES} of {len(found)} matches]"] if len(found) > MAX_MATCHES else []
    return capped("\n".join(found[:MAX_MATCHES] + more))


def _pattern(workspace: Workspace, given: str) -> Pattern:
    """The pattern below the root that an absolute one means, or the relative one itself."""
    root = f"{workspace.root.rstrip('/')}/"
    inside = given.removeprefix(root)
    pattern = Pattern.of(inside[:MAX_PATH])
    if inside.startswith("/") or ".." in pattern.segments:
        raise ToolError(f"{visible(given[:MAX_PATH])}: the pattern leads outside the workspace")
    if not pattern.segments or len(inside) > MAX_PATH:
        raise ToolError(f"{visible(given[:100])}: a pattern has at least one name or wildcard, and at most {MAX_PATH} characters")
    return pattern


def _found(workspace: Workspace, base: str, pattern: Pattern) -> Iterator[str]:
    for entry in matches(base, pattern, from_thread.check_cancelled):
        if not entry.is_symlink() or _leads_inside(workspace, entry.path):
            yield workspace.shown(entry.path) + "/" * os.path.isdir(entry.path)


def _leads_inside(workspace: Workspace, link: str) -> bool:
    try:
        workspace.resolve(link)
    except ToolError:
        return False
    return True
