"""The laws of a workspace: no link leads out of it, patterns mean what they say, answers keep to their bounds."""

from __future__ import annotations

import glob
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.subagent.tools import ToolError
from pipeline.subagent.workspace.globbing import Pattern, matches
from pipeline.subagent.workspace.output import END, MAX_CHARACTERS, Kept, capped
from pipeline.subagent.workspace.paths import Workspace

NAMES = st.sampled_from(("a", "b", "c", ".h"))
PARTS = st.sampled_from(("a", "b", "c", ".h", ".", "..", "..", ""))
PATHS = st.lists(PARTS, max_size=7).map("/".join)
TARGETS = st.one_of(PATHS, PATHS.map("/{}".format), PATHS.map("{{root}}/{}".format), st.just("../outside/secret"), st.just("{root}/../outside"))
TREES = st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=3).map("/".join), st.one_of(st.none(), st.just("file"), TARGETS)), max_size=12)
"""Where something stands, and what: None for a directory, `file`, else a link's target, `{root}` for the workspace."""
SEGMENTS = st.sampled_from(("a", "b", "*", "**", "**", "?", "[ab]", "[!a]", ".*", ".h", "*a*", "[", "a**", "***"))
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=6).map("/".join)


@contextmanager
def standing(tree: list[tuple[str, str | None]]) -> Iterator[Workspace]:
    """A workspace with a tree in it, a secret beside it; what has no place in the tree is left out."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "work"
        (root.parent / "outside").mkdir()
        (root.parent / "outside" / "secret").touch()
        root.mkdir()
        for path, what in tree:
            place(root, path, what)
        yield Workspace.open(root).unwrap()


def place(root: Path, path: str, what: str | None) -> None:
    where = root / path
    # Only below real directories: what is built must not leave the temporary one.
    if os.path.realpath(where.parent) != str(where.parent) or os.path.lexists(where):
        return
    try:
        where.parent.mkdir(parents=True, exist_ok=True)
    except OSError:  # a file or a circle of links is in the way
        return
    if what is None:
        where.mkdir()
    elif what == "file":
        where.touch()
    else:
        where.symlink_to(what.replace("{root}", str(root)) or ".")


def opened(path: str) -> str | None:
    """Where the system itself ends up at a path, links followed; None where there is nothing."""
    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.readlink(f"/proc/self/fd/{file}")
    finally:
        os.close(file)


def law_of_resolving(workspace: Workspace, path: str) -> str:
    """A path that is accepted lies inside, has no link in it, and is where the system ends up; what the system finds outside is refused."""
    real = opened(os.path.join(workspace.root, path))
    try:
        resolved = workspace.resolve(path)
    except ToolError:
        assert real is None or not Path(real).is_relative_to(workspace.root)
        return "refused"
    assert Path(resolved).is_relative_to(workspace.root)
    assert not any(above.is_symlink() for above in (Path(resolved), *Path(resolved).parents))
    assert real in {None, resolved}
    assert opened(resolved) in {None, resolved}
    assert workspace.resolve(resolved) == resolved == workspace.resolve(os.path.relpath(resolved, workspace.root))
    return "found" if real else "new"


@given(TREES, PATHS)
def test_a_path_that_is_accepted_lies_inside(tree: list[tuple[str, str | None]], path: str) -> None:
    with standing(tree) as workspace:
        law_of_resolving(workspace, path)
        law_of_resolving(workspace, f"{workspace.root}/{path}")


def test_the_trees_lead_everywhere() -> None:
    reached: Counter[str] = Counter()

    @settings(max_examples=300, database=None, derandomize=True)
    @given(TREES, PATHS)
    def gather(tree: list[tuple[str, str | None]], path: str) -> None:
        with standing(tree) as workspace:
            links = any(Path(workspace.root, *path.split("/")[:length]).is_symlink() for length in range(1, 4))
            reached.update([f"{law_of_resolving(workspace, path)}{' by links' if links else ''}"])

    gather()
    assert set(reached) == {"refused", "found", "new", "refused by links", "found by links", "new by links"}


def found(root: str, pattern: str) -> list[str]:
    return sorted(os.path.relpath(entry.path, root) for entry in matches(root, Pattern.of(pattern), lambda: None))


@given(TREES.map(lambda tree: [(path, what if what == "file" else None) for path, what in tree]), PATTERNS)
def test_patterns_are_those_of_the_standard_library(tree: list[tuple[str, str | None]], pattern: str) -> None:
    with standing(tree) as workspace:
        # There, `a/**` has `a/` too.
        expected = {path for path in glob.glob(pattern, root_dir=workspace.root, recursive=True) if not path.endswith("/")}
        assert found(workspace.root, pattern) == sorted(expected)


def fits(segments: list[str], names: list[str]) -> bool:
    """Whether names fit a pattern, by its definition: every way to share the names among the segments is tried."""
    if not segments:
        return not names
    if segments[0] == "**":
        here = bool(names) and not names[0].startswith(".") and ((len(segments) == 1 and len(names) == 1) or fits(segments, names[1:]))
        return here or (len(segments) > 1 and fits(segments[1:], names))
    shown = bool(names) and (not names[0].startswith(".") or segments[0].startswith("."))
    return shown and fnmatchcase(names[0], segments[0]) and fits(segments[1:], names[1:])


@given(TREES, PATTERNS)
def test_patterns_by_definition_links_as_files(tree: list[tuple[str, str | None]], pattern: str) -> None:
    with standing(tree) as workspace:
        below = [os.path.relpath(os.path.join(at, name), workspace.root) for at, *both in os.walk(workspace.root) for names in both for name in names]
        expected = sorted(path for path in below if fits(pattern.split("/"), path.split("/")))
        assert found(workspace.root, pattern) == expected
        assert all(Pattern.of(pattern).fits(path) == (path in expected) for path in below)


SIZES = st.one_of(st.integers(0, 3 * MAX_CHARACTERS), st.integers(MAX_CHARACTERS - 2, MAX_CHARACTERS + 2))
TEXTS = st.builds(lambda size, alphabet: (alphabet * size)[:size], SIZES, st.text(min_size=1, max_size=5))


@given(TEXTS)
def test_a_cut_text_keeps_to_its_bound_and_a_short_one_is_untouched(text: str) -> None:
    shown = capped(text)
    note = f"\n[... {len(text) - MAX_CHARACTERS} characters cut ...]\n"
    assert shown == (text if len(text) <= MAX_CHARACTERS else text[:END] + note + text[-END:])
    assert len(shown) <= MAX_CHARACTERS + len(note)


@given(TEXTS, st.lists(st.integers(0, 3 * MAX_CHARACTERS), max_size=8).map(sorted))
def test_pieces_are_cut_as_the_whole_is(text: str, cuts: list[int]) -> None:
    kept = Kept()
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        kept.add(text[start:end])
        assert max(len(kept.first), len(kept.last)) <= END
    assert kept.text == capped(text)
