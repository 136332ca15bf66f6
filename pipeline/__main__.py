"""`task-agents` and `python -m pipeline`: the command line, or a word on the extra that it needs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from pipeline.cli import app  # noqa: PLC0415 - the bare library has no typer
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The command line needs an extra: pip install 'task-agent-pipeline[cli]'")
    app(prog_name="task-agents")


if __name__ == "__main__":
    main()
