"""The tools that are processes: the shell, and the search that the system's `grep` does."""

from __future__ import annotations

import os
from typing import Final

from anyio import to_thread

from pipeline.subagent.tools import Answer, ToolCall, ToolError
from pipeline.subagent.workspace.contents import reported
from pipeline.subagent.workspace.inputs import number, text
from pipeline.subagent.workspace.output import visible
from pipeline.subagent.workspace.paths import Workspace
from pipeline.subagent.workspace.running import Command, Ended, run, signal_name

_NO_MATCH: Final = 1
_MEMORY: Final = 1_048_576
"""KiB that a search may take: an expression can ask for any amount."""
_BOUNDED: Final = ("bash", "-pc", f'ulimit -v {_MEMORY}; exec "$@"', "grep")


async def bash(workspace: Workspace, seconds: float, call: ToolCall) -> Answer:
    """A command's output, errors included, and a last line that says how it ended; an error unless with exit code 0.

    Its `timeout` counts where it is shorter than the limit. ToolError where the command cannot be started.
    """
    limit = min(seconds, number(call, "timeout", seconds))
    ended = await run(Command("bash", ("bash", "-c", text(call, "command"))), workspace.root, limit)
    return Answer(_with_last_line(ended.output, _last_line(ended, limit)), is_error=ended.code != 0)


async def grep(workspace: Workspace, seconds: float, call: ToolCall) -> str | Answer:
    """The lines that match an extended regular expression, as `path:line:text`, below a path or in it; links are not followed.

    What it warns of is told beside them. ToolError for an expression or a path that cannot be searched.
    """
    path = await to_thread.run_sync(_existing, workspace, text(call, "path", "."))
    words = (*_BOUNDED, "grep", "-rnHIE", "--devices=skip", *_only(text(call, "glob")), "-e", text(call, "pattern"))
    # Without a path it searches the folder it runs in, and says no `./` before each name.
    where = () if path == workspace.root else ("--", os.path.relpath(path, workspace.root))
    # In the C locale, text beyond ASCII is binary.
    ended = await run(Command("grep", (*words, *where), {"LC_ALL": "C.UTF-8"}), workspace.root, seconds)
    return _searched(ended, seconds)


def _existing(workspace: Workspace, given: str) -> str:
    path = workspace.resolve(given)
    with reported(workspace.shown(path)):
        os.stat(path)
    return path


def _only(glob: str) -> tuple[str, ...]:
    """The option for files of certain names; they are sought at any depth as it is."""
    name = glob.removeprefix("**/")
    if "/" in name:
        raise ToolError(f"{visible(glob[:100])}: the glob is for names of files, without directories; give the directory as the path")
    return (f"--include={name}",) if name else ()


def _searched(ended: Ended, seconds: float) -> str | Answer:
    if ended.code is None or ended.code < 0:
        return Answer(_with_last_line(ended.output, _last_line(ended, seconds)), is_error=True)
    if ended.code == _NO_MATCH:
        return _with_last_line(ended.output, "no matches")
    if not ended.output:
        return "no matches that are text; there are some in binary files"
    # Files that cannot be read give its code for errors too; what it found elsewhere counts.
    if ended.code > _NO_MATCH and all(line.startswith("grep: ") for line in ended.output.splitlines()):
        raise ToolError(ended.output.rstrip("\n"))
    return ended.output


def _last_line(ended: Ended, seconds: float) -> str:
    if ended.code is None:
        return f"[time limit of {seconds:g} s: killed with its children]"
    return f"[exit code {ended.code}]" if ended.code >= 0 else f"[killed by signal {signal_name(-ended.code)}]"


def _with_last_line(output: str, line: str) -> str:
    return output + "\n" * (bool(output) and not output.endswith("\n")) + line
