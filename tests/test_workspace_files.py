"""The tools for files on real files: what is read, what is refused, what a replacement keeps, and that edits side by side lose nothing."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import anyio
import jsonschema
import pytest

from pipeline.frozen import Json, JsonObject, thaw
from pipeline.subagent.context import Context, ReadFile, Version
from pipeline.subagent.conversation import Conversation
from pipeline.subagent.tools import Answer, ToolCall, ToolError
from pipeline.subagent.workspace.contents import read, replace
from pipeline.subagent.workspace.files import edit_file
from pipeline.subagent.workspace.paths import Workspace
from pipeline.subagent.workspace.toolbox import READ_FILE, workspace_tools
from tests.users import as_nobody

NO_CONVERSATION = cast("Conversation", None)


async def use(workspace: Workspace, name: str, context: Context | None = None, /, **given: Json) -> str:
    """A tool's answer, its input checked as a driver does."""
    tool = next(tool for tool in workspace_tools(workspace) if tool.spec.name == name)
    jsonschema.validate(thaw(JsonObject(given)), cast("dict[str, object]", thaw(tool.spec.input_schema)))
    answer = await tool.function(ToolCall("u1", JsonObject(given), context or Context(), NO_CONVERSATION))
    assert not isinstance(answer, Answer)
    return answer


def said(workspace: Workspace, name: str, context: Context | None = None, /, **given: Json) -> str:
    async def once() -> str:
        return await use(workspace, name, context, **given)

    return anyio.run(once)


def refused(workspace: Workspace, name: str, **given: Json) -> str:
    with pytest.raises(ToolError) as error:
        said(workspace, name, **given)
    return str(error.value)


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Within, a write beyond so many bytes fails, for every user."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_lines_are_read_as_they_are(workspace: Workspace, root: Path) -> None:
    (root / "a").write_bytes("one\r\n\ttwo\u2028\x0c\n\nfour".encode())
    assert said(workspace, "read_file", path="a") == "one\r\n\ttwo\u2028\x0c\n\nfour"
    assert said(workspace, "read_file", path="a", limit=2) == "one\r\n\ttwo\u2028\x0c\n... (2 more lines)"
    assert said(workspace, "read_file", path=f"{root}/a", offset=2, limit=2) == "\ttwo\u2028\x0c\n\n... (1 more lines)"
    assert said(workspace, "read_file", path="a", offset=4.0, limit=9) == "four"
    assert refused(workspace, "read_file", path="a", offset=5) == "a: there is no line 5, the number of lines is 4"
    (root / "ends").write_text("one\ntwo\n")
    assert said(workspace, "read_file", path="ends") == "one\ntwo\n"
    assert said(workspace, "read_file", path="ends", limit=1) == "one\n... (1 more lines)"
    assert refused(workspace, "read_file", path="ends", offset=3) == "ends: there is no line 3, the number of lines is 2"
    (root / "many").write_text("x\n" * 2003)
    assert said(workspace, "read_file", path="many").endswith("x\n... (3 more lines)")
    (root / "empty").touch()
    assert said(workspace, "read_file", path="empty", offset=7) == "empty: it is empty"


def test_long_answers_are_cut_in_the_middle(workspace: Workspace, root: Path) -> None:
    (root / "a").write_text("<" + "é" * 60_000 + ">\nmore")
    answer = said(workspace, "read_file", path="a", limit=1)
    assert answer.startswith("<éé")
    assert answer.endswith("é>\n... (1 more lines)")
    assert answer.splitlines()[1] == f"[... {60_002 + len('@... (1 more lines)') - 50_000} characters cut ...]"


def test_what_is_no_text_file(workspace: Workspace, root: Path) -> None:
    (root / "nul").write_bytes(b"a\0b")
    assert refused(workspace, "read_file", path="nul") == "nul: it is a binary file of 3 bytes"
    (root / "latin").write_bytes("é".encode("latin-1"))
    assert refused(workspace, "read_file", path="latin") == "latin: it is a binary file of 1 bytes, not UTF-8"
    (root / "limit").write_bytes(b"x" * 1_048_576)
    assert len(said(workspace, "read_file", path="limit")) < 51_000
    with (root / "huge").open("wb") as file:
        file.truncate(1_048_577)
    assert refused(workspace, "read_file", path="huge") == "huge: it is too large to be read, 1048577 bytes where 1048576 are allowed"
    assert refused(workspace, "edit_file", path="huge", old_string="a", new_string="b").startswith("huge: it is too large")
    os.mkfifo(root / "pipe")
    assert refused(workspace, "read_file", path="pipe") == "pipe: it is not a regular file"
    assert refused(workspace, "edit_file", path="pipe", old_string="a", new_string="b") == "pipe: it is not a regular file"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        assert refused(workspace, "read_file", path="socket") == "socket: No such device or address"
    assert refused(workspace, "read_file", path="src") == "src: it is a directory"
    assert refused(workspace, "read_file", path="none") == "none: No such file or directory"
    assert refused(workspace, "read_file", path="nul/below") == "nul/below: Not a directory"
    assert refused(workspace, "read_file", path="../outside/secret") == "../outside/secret: it lies outside the workspace"
    whole = Workspace.open("/dev").unwrap()
    assert refused(whole, "read_file", path="zero") == "zero: it is not a regular file"


def test_a_context_reads_a_file_once_while_it_is_unchanged(workspace: Workspace, root: Path) -> None:
    context, file = Context(), root / "a"
    file.write_text("old")
    assert said(workspace, "read_file", context, path="a") == "old"
    found = file.stat()
    assert context.files.files[str(file)] == ReadFile(Version.of(found), "old")
    # Only a text that the file has not could tell that it was not opened again.
    context.files.put(str(file), Version.of(found), "known")
    assert said(workspace, "read_file", context, path="a") == "known"
    assert said(workspace, "read_file", context.child("scout"), path="a") == "known"
    assert said(workspace, "read_file", path="a") == "old"
    # The same size, time and inode: that the system noted a change is all that tells of it.
    file.write_text("new")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert said(workspace, "read_file", context, path="a") == "new"
    file.unlink()
    with pytest.raises(ToolError, match="a: No such file"):
        said(workspace, "read_file", context, path="a")


def test_what_is_written_is_known(workspace: Workspace, root: Path) -> None:
    context = Context()
    said(workspace, "write_file", context, path="a", content="one\ntwo")
    assert context.files.files[str(root / "a")].text == "one\ntwo"
    said(workspace, "edit_file", context, path="a", old_string="two", new_string="2")
    file = context.files.files[str(root / "a")]
    found = (root / "a").stat()
    assert (file.text, file.version) == ("one\n2", ((found.st_mtime_ns, found.st_size, found.st_ino), found.st_ctime_ns))
    for name, content in {"binary": "a\0b", "large": "x" * 1_048_577}.items():
        assert said(workspace, "write_file", context, path=name, content=content) == f"{name}: {len(content)} bytes written"
        assert str(root / name) not in context.files.files


def test_files_are_written_with_their_parents(workspace: Workspace, root: Path) -> None:
    assert said(workspace, "write_file", path="new/deep/é", content="é\r\n") == "new/deep/é: 4 bytes written"
    assert (root / "new" / "deep" / "é").read_bytes() == b"\xc3\xa9\r\n"
    assert said(workspace, "write_file", path="new/deep/é", content="") == "new/deep/é: 0 bytes written"
    assert [path.name for path in (root / "new" / "deep").iterdir()] == ["é"]


def test_a_replaced_file_keeps_its_mode_and_a_new_one_gets_the_usual_one(workspace: Workspace, root: Path) -> None:
    (root / "script").write_text("old")
    (root / "script").chmod(0o751)
    inode = (root / "script").stat().st_ino
    with (root / "script").open() as reader:
        said(workspace, "write_file", path="script", content="new")
        assert reader.read() == "old"
    assert ((root / "script").stat().st_mode & 0o777, (root / "script").stat().st_ino != inode) == (0o751, True)
    (root / "usual").touch()
    said(workspace, "write_file", path="made", content="")
    assert (root / "made").stat().st_mode == (root / "usual").stat().st_mode


def test_links_are_written_through(workspace: Workspace, root: Path) -> None:
    (root / "link").symlink_to("src/target")
    (root / "folder").symlink_to("src")
    (root / "out").symlink_to("../outside")
    said(workspace, "write_file", path="link", content="one")
    said(workspace, "edit_file", path="folder/target", old_string="one", new_string="two")
    assert ((root / "link").is_symlink(), (root / "src" / "target").read_text()) == (True, "two")
    for path in ("out/new", "out/secret", "../outside/new", "src/../../outside/new"):
        assert refused(workspace, "write_file", path=path, content="x") == f"{path}: it lies outside the workspace"
    assert refused(workspace, "edit_file", path="out/secret", old_string="s", new_string="x") == "out/secret: it lies outside the workspace"
    assert [(path.name, path.read_text()) for path in (root.parent / "outside").iterdir()] == [("secret", "secret")]


def test_what_cannot_be_written(workspace: Workspace, root: Path) -> None:
    (root / "file").write_text("old")
    os.mkfifo(root / "pipe")
    assert refused(workspace, "write_file", path="file/below", content="x") == "file/below: Not a directory"
    assert refused(workspace, "write_file", path="src", content="x") == "src: it is a directory"
    assert refused(workspace, "write_file", path="pipe", content="x") == "pipe: it is not a regular file"
    assert refused(workspace, "write_file", path="new", content="\ud800") == "content holds half of a surrogate pair, which cannot be written"
    assert refused(workspace, "edit_file", path="file", old_string="o", new_string="\udc80").startswith("new_string holds half")
    with files_no_larger_than(1000):
        assert refused(workspace, "write_file", path="file", content="x" * 5000) == "file: File too large"
        assert refused(workspace, "write_file", path="new", content="x" * 500_000) == "new: File too large"
    assert ((root / "file").read_text(), sorted(path.name for path in root.iterdir())) == ("old", ["file", "pipe", "src"])


def test_what_is_read_only_stays(workspace: Workspace, root: Path) -> None:
    root.chmod(0o777)
    (root / "file").write_text("old")
    (root / "file").chmod(0o444)
    (root / "src").chmod(0o555)
    (root / "secret").touch()
    (root / "secret").chmod(0)
    with as_nobody():
        assert refused(workspace, "write_file", path="file", content="new") == "file: Permission denied"
        assert refused(workspace, "edit_file", path="file", old_string="old", new_string="new") == "file: Permission denied"
        assert refused(workspace, "write_file", path="src/new", content="new") == "src/new: Permission denied"
        assert refused(workspace, "write_file", path="src/new/deep", content="new") == "src/new/deep: Permission denied"
        assert refused(workspace, "read_file", path="secret") == "secret: Permission denied"
    assert ((root / "file").read_text(), list((root / "src").iterdir())) == ("old", [])
    (root / "src").chmod(0o755)


def test_one_place_is_edited_and_every_other_byte_stays(workspace: Workspace, root: Path) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n\r\nfour")
    assert said(workspace, "edit_file", path="a", old_string="\ntwo", new_string="\n2\r\n2") == "a: replaced on line 1"
    assert (root / "a").read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n2\rthree\n\r\nfour"
    assert said(workspace, "edit_file", path="a", old_string="four", new_string="") == "a: replaced on line 5"
    assert (root / "a").read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n2\rthree\n\r\n"


def test_no_place_and_several(workspace: Workspace, root: Path) -> None:
    (root / "a").write_text("x = 1\ny = x\n" + "z\n" * 30 + "aaa")

    def several(old: str) -> str:
        return refused(workspace, "edit_file", path="a", old_string=old, new_string="new")

    assert several("none") == "a: there is no match for old_string"
    assert several("x") == "a: there are 2 matches for old_string, on lines 1, 2"
    assert several("aa") == "a: there are 2 matches for old_string, on lines 33"
    assert several("z\n") == f"a: there are 30 matches for old_string, on lines {', '.join(str(line) for line in range(3, 24))} ..."
    with pytest.raises(jsonschema.ValidationError):
        several("")
    unchecked = ToolCall("u1", JsonObject({"path": "a", "old_string": "", "new_string": "x"}), Context(), NO_CONVERSATION)
    with pytest.raises(ToolError, match="old_string is empty"):
        anyio.run(edit_file, workspace, unchecked)


def test_edits_side_by_side_lose_nothing(workspace: Workspace, root: Path) -> None:
    (root / "a").write_text("".join(f"<{number}>\n" for number in range(20)))
    (root / "link").symlink_to("a")

    async def side_by_side() -> None:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(edit, number)

    async def edit(number: int) -> None:
        await use(workspace, "edit_file", path="link" if number % 2 else "a", old_string=f"<{number}>", new_string=f"done {number}")

    anyio.run(side_by_side)
    assert (root / "a").read_text() == "".join(f"done {number}\n" for number in range(20))
    assert sorted(path.name for path in root.iterdir()) == ["a", "link", "src"]


def test_a_tool_has_the_same_schema_everywhere(workspace: Workspace) -> None:
    first, second = workspace_tools(workspace), workspace_tools(Workspace("/"), seconds=1)
    assert all(one.spec is other.spec for one, other in zip(first, second, strict=True))
    assert first[0].spec is READ_FILE
    for tool in first:
        schema = cast("dict[str, object]", thaw(tool.spec.input_schema))
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
        assert all(cast("dict[str, dict[str, object]]", schema["properties"])[name]["description"] for name in cast("list[str]", schema["required"]))


def test_a_path_that_ends_in_a_slash_is_no_file_s(workspace: Workspace, root: Path) -> None:
    (root / "a").write_text("text")
    for tool, given in (("read_file", {}), ("write_file", {"content": "x"}), ("edit_file", {"old_string": "text", "new_string": "x"})):
        assert refused(workspace, tool, path="a/", **given) == "a/: a path that ends in a slash is that of a directory"
    assert refused(workspace, "write_file", path="new/", content="x") == "new/: a path that ends in a slash is that of a directory"
    assert refused(workspace, "read_file", path="src/") == "src: it is a directory"
    assert not (root / "new").exists()


def test_what_is_put_in_the_way_is_not_followed(workspace: Workspace, root: Path) -> None:
    """A path is resolved, then a directory on it is taken away and a link that leads outside stands there: as in a race, but every time."""
    outside = root.parent / "outside"
    (outside / "file").write_text("secret")
    (root / "folder").mkdir()
    (root / "folder" / "file").write_text("mine")
    place, new = workspace.file("folder/file"), workspace.file("folder/new/deep")
    (root / "folder").rename(root / "moved")
    (root / "folder").symlink_to(outside)
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        read(place)
    for there in (place, new):
        with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
            replace(there, b"x")
    assert sorted(path.name for path in outside.iterdir()) == ["file", "secret"]
    assert (outside / "file").read_text() == "secret"
