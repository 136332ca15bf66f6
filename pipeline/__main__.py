"""`task-agents` and `python -m pipeline`: the command line, or a word on the extra that it needs."""

from __future__ import annotations

import sys
from io import StringIO, TextIOWrapper


def main() -> None:
    """Run the command line. Whatever the streams are, what it has to say is said as far as it can be, and where it cannot, that is."""
    sys.stdout = sys.stdout or StringIO()  # both may have been closed by whoever calls
    sys.stderr = sys.stderr or StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        _run()
    except OSError as error:
        sys.stdout = StringIO()  # the interpreter would try again to write what is left
        sys.exit(1 if isinstance(error, BrokenPipeError) else f"task-agents: the answer could not be written: {error}")


def _run() -> None:
    try:
        from pipeline.cli import app  # noqa: PLC0415 - the bare library has no typer
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The command line needs an extra: pip install 'task-agent-pipeline[cli]'")
    try:
        app(prog_name="task-agents")
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    main()
