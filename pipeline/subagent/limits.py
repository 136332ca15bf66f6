"""The limits that hold unless somebody sets others."""

from __future__ import annotations

from typing import Final

MAX_TOKENS: Final = 8192
"""Tokens of one reply."""
MAX_REMINDERS: Final = 3
"""How often a model that owes a result is reminded of it."""
TODO_ROUNDS: Final = 3
"""After so many rounds without a look at its list of work, a model that has one is reminded of it."""
AT_ONCE: Final = 4
"""Sub-agents that run side by side."""
BASH_SECONDS: Final = 120.0
"""The time limit of a shell command, in seconds."""
