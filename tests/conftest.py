"""What tests share: the settings of the laws, folders, workspaces, event loops."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.subagent.workspace.paths import Workspace
from properties.profiles import load
from properties.strategies import valid_agent

load()


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that any user may enter, for tests that become another user."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder).resolve()


@pytest.fixture
def agents(place: Path) -> Path:
    """The agent directory of a project in the place, with one valid agent, beside a home."""
    made = place / "proj" / ".claude" / "agents"
    made.mkdir(parents=True)
    (place / "home").mkdir()
    (made / "good.md").write_text(valid_agent("good"))
    return made


@pytest.fixture
def workspace(place: Path) -> Workspace:
    """A workspace with a folder in it, and a secret beside it."""
    (place / "ground" / "src").mkdir(parents=True)
    (place / "outside").mkdir()
    (place / "outside" / "secret").write_text("secret")
    return Workspace.open(place / "ground").unwrap()


@pytest.fixture
def root(workspace: Workspace) -> Path:
    """The folder of the workspace."""
    return Path(workspace.root)


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    """The event loops that a run works on."""
    return str(request.param)
