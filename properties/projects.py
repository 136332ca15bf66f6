"""Projects on the disk, for laws about real runs."""

from __future__ import annotations

from pathlib import Path

from pipeline.request import Session
from properties.strategies import valid_agent


def project(root: Path, **agents: dict[str, str]) -> Session:
    """A session in a directory whose project has these agents, with a home that has none."""
    for folder in ("home", "proj/.claude/agents"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, fields in agents.items():
        (root / "proj" / ".claude" / "agents" / f"{name}.md").write_text(valid_agent(name, **fields))
    return Session(cwd=str(root / "proj"), home=str(root / "home"))
