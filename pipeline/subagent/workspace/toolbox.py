"""The tools of a workspace as values: one specification of each, the same everywhere, and the functions behind them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, cast

from pipeline.frozen import JsonObject, freeze
from pipeline.subagent.limits import BASH_SECONDS
from pipeline.subagent.requests import ToolSpec
from pipeline.subagent.tools import Tool
from pipeline.subagent.workspace.files import MAX_LINES, MAX_MATCHES, edit_file, glob, read_file, write_file
from pipeline.subagent.workspace.output import MAX_CHARACTERS
from pipeline.subagent.workspace.paths import Workspace
from pipeline.subagent.workspace.processes import bash, grep


def _text(description: str, *, may_be_empty: bool = False) -> dict[str, object]:
    least: dict[str, object] = {} if may_be_empty else {"minLength": 1}
    return {"type": "string", "description": description, **least}


def _count(description: str) -> dict[str, object]:
    return {"type": "integer", "minimum": 1, "description": description}


def _spec(name: str, description: str, required: tuple[str, ...], properties: Mapping[str, object]) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ToolSpec(name, description, cast("JsonObject", freeze(schema)))


_PATH: Final = _text("Relative to the workspace, or absolute inside it.")

READ_FILE: Final = _spec(
    "read_file",
    f"Reads lines of a text file as they are. Long answers are cut to {MAX_CHARACTERS} characters.",
    ("path",),
    {"path": _PATH, "offset": _count("The first line, 1 by default."), "limit": _count(f"How many lines, {MAX_LINES} by default.")},
)
WRITE_FILE: Final = _spec(
    "write_file",
    "Writes a file: what it held is replaced, directories that are missing are made.",
    ("path", "content"),
    {"path": _PATH, "content": _text("All that the file is to hold.", may_be_empty=True)},
)
EDIT_FILE: Final = _spec(
    "edit_file",
    "Replaces the one place of a text file where old_string stands. With no such place, or with several, the file stays as it is.",
    ("path", "old_string", "new_string"),
    {
        "path": _PATH,
        "old_string": _text("What is replaced, exactly as the file has it; with so much around it that it stands there once."),
        "new_string": _text("What takes its place.", may_be_empty=True),
    },
)
GLOB: Final = _spec(
    "glob",
    f"Lists files and directories by a pattern, sorted, at most {MAX_MATCHES}; directories end in a slash. `*` lists a directory.",
    ("pattern",),
    {
        "pattern": _text("Such as `src/**/*.py`. `**` is any number of directories; hidden names need a pattern with a dot first."),
        "path": _text("The directory that the pattern starts from; the whole workspace by default."),
    },
)
GREP: Final = _spec(
    "grep",
    "Searches text files for lines that match an extended regular expression (POSIX), and gives them as path:line:text.",
    ("pattern",),
    {
        "pattern": _text("The expression; `[0-9]` and not `\\d`."),
        "path": _text("A directory, searched with all below it, or a file; the whole workspace by default."),
        "glob": _text("Only files whose names match, such as `*.py`."),
    },
)
BASH: Final = _spec(
    "bash",
    "Runs a command with bash in the workspace, without input, and gives what it prints and its exit code. It is killed at its time limit, "
    f"and what it leaves running is killed when it ends. Long output is cut to {MAX_CHARACTERS} characters.",
    ("command",),
    {
        "command": _text("The command."),
        "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "A shorter time limit than the usual one, in seconds."},
    },
)


def workspace_tools(workspace: Workspace, *, seconds: float = BASH_SECONDS) -> tuple[Tool, ...]:
    """The tools that work in a workspace; `seconds` limits each command and each search.

    >>> [tool.spec.name for tool in workspace_tools(Workspace("/srv"))]
    ['read_file', 'write_file', 'edit_file', 'glob', 'grep', 'bash']
    """
    return (
        Tool(READ_FILE, partial(read_file, workspace)),
        Tool(WRITE_FILE, partial(write_file, workspace)),
        Tool(EDIT_FILE, partial(edit_file, workspace)),
        Tool(GLOB, partial(glob, workspace)),
        Tool(GREP, partial(grep, workspace, seconds)),
        Tool(BASH, partial(bash, workspace, seconds)),
    )
