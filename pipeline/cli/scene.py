"""What all commands share: their options, the scene they are asked about, how they say things."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from returns.result import Failure

from pipeline.capture import capture
from pipeline.discovery import Discovery, discover
from pipeline.hosts import HOSTS, Host
from pipeline.refusal import Refusal
from pipeline.snapshot import Snapshot
from pipeline.view.answers import refusal_json
from pipeline.view.rows import refusal_lines
from pipeline.view.text import visible

MISUSE = 2
PROBLEMS = 1

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Which AI sub-agents are in force here, which file each comes from, and what is wrong with the others.",
)

Name = Annotated[str, typer.Argument(help="The agent's exact name.")]
Cwd = Annotated[Path, typer.Option("--cwd", help="The directory to look from.")]
Home = Annotated[Path | None, typer.Option("--home", help="The user's home directory; yours unless given.")]
HostName = Annotated[str, typer.Option("--host", help=f"Whose rules: {', '.join(HOSTS)}.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SnapshotFile = Annotated[Path | None, typer.Option("--snapshot", help="Answer from this snapshot instead of the disk.")]

HERE = Path()
BLOCKED = "PI_BLOCKED_AGENT"

Blocked = Annotated[str | None, typer.Option(envvar=BLOCKED, help="The agent that asks, which may not ask for itself.")]


@dataclass(frozen=True, slots=True)
class Scene:
    """What a command is asked about: whose rules, what there is to see, and what discovery makes of it."""

    host: Host
    snapshot: Snapshot
    discovery: Discovery


def host_of(name: str) -> Host:
    """The host of a name, or misuse."""
    host = HOSTS.get(name)
    if host is None:
        misuse(f"--host {name}: no such host; there are {', '.join(HOSTS)}")
    return host


def scene_of(cwd: Path, home: Path | None, host_name: str, file: Path | None) -> Scene:
    """The scene that the options describe."""
    host = host_of(host_name)
    if file is not None:
        snapshot = replayed(file)
    else:
        must_be_directories(cwd, home)
        snapshot = capture(cwd, home, host=host)
    return Scene(host, snapshot, discover(snapshot, host=host))


def must_be_directories(*given: Path | None) -> None:
    """Misuse where one that is given is no directory, or is told from a working directory that is gone."""
    try:
        Path.cwd()
    except FileNotFoundError:
        misuse("the working directory is not there any more: go to one that is")
    for directory in given:
        if directory is not None and not directory.is_dir():
            misuse(f"{directory}: no such directory")


def replayed(file: Path) -> Snapshot:
    """The snapshot in a file, or misuse."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        misuse(f"{file}: cannot be read ({error})")
    snapshot = Snapshot.from_json(text)
    if isinstance(snapshot, Failure):
        bad = snapshot.failure()
        misuse(f"{file}: no snapshot: {bad.where} must be {bad.expected}")
    return snapshot.unwrap()


def misuse(message: str) -> NoReturn:
    """End with a message that names what was wrong with the call."""
    typer.echo(visible(message), err=True)
    raise typer.Exit(MISUSE)


def say_refusal(refusal: Refusal, *, as_json: bool) -> None:
    """Print why an agent may not start, and what would lift that."""
    say_json(refusal_json(refusal)) if as_json else say(*map(visible, refusal_lines(refusal)))


def say(*lines: str) -> None:
    """Print lines that are harmless already."""
    for line in lines:
        sys.stdout.write(line + "\n")


def say_json(value: object) -> None:
    """Print a value as JSON, which writes out every character that a terminal would obey."""
    say(json.dumps(value, indent=2))
