"""The command line: `app` holds every command."""

from __future__ import annotations

from pipeline.cli import discovery, running, spawning
from pipeline.cli.scene import app

__all__ = ["app", "discovery", "running", "spawning"]
