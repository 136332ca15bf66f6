"""What all conversations of one run share, as one value: the model, the tools, hooks and permission, limits, who listens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pipeline.hosts import STANDARD, Host
from pipeline.request import is_count, must
from pipeline.subagent.budget import Budget, Prices
from pipeline.subagent.events import Listener, nobody
from pipeline.subagent.limits import AT_ONCE, BASH_SECONDS, MAX_TOKENS
from pipeline.subagent.models.protocol import Model
from pipeline.subagent.modes import CLEAN, ModePolicy
from pipeline.subagent.permission import Approver, Hook, Policy, deny_destructive
from pipeline.subagent.tools import Tool


@dataclass(frozen=True, slots=True)
class Options:
    """How sub-agents are run. Everything has a default.

    `workspace` is the directory that the tools work in, the session's `cwd` unless given; `tools` replaces the tools over it. `policy` is what
    may be done; `approver` is asked where it asks, and without one it is denied. `budget` and `prices` bound all conversations together.
    `at_once` bounds the sub-agents side by side, `max_tokens` each reply, `bash_seconds` each command.
    Sub-agents in the foreground may write the application's state where `shares_state` says so. A listener that raises ends the run.
    InvalidValueError for a limit that leaves no room for anything.
    """

    workspace: str | None = None
    tools: tuple[Tool, ...] | None = None
    hooks: tuple[Hook, ...] = ()
    policy: Policy = deny_destructive
    approver: Approver | None = None
    listener: Listener = nobody
    modes: ModePolicy = CLEAN
    budget: Budget = field(default_factory=Budget)
    prices: Prices = field(default_factory=Prices)
    at_once: int = AT_ONCE
    max_tokens: int = MAX_TOKENS
    bash_seconds: float = BASH_SECONDS
    shares_state: bool = False
    host: Host = STANDARD

    def __post_init__(self) -> None:
        for name in ("at_once", "max_tokens"):
            must(is_count(getattr(self, name)) and getattr(self, name) > 0, name, getattr(self, name), "a number from 1")
        must(self.bash_seconds > 0, "bash_seconds", self.bash_seconds, "a number of seconds above 0")


DEFAULTS: Final = Options()


@dataclass(frozen=True, slots=True)
class Engine:
    """A model and the options it is run with."""

    model: Model
    options: Options = DEFAULTS
