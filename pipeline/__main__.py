"""`python -m pipeline`: the command line."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        from pipeline.cli import main
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The command line needs an extra: pip install 'task-agent-pipeline[cli]'")
    main()
