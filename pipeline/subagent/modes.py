"""Which way a request for a sub-agent goes: a named agent in a clean context, a fork of the one who asks, or the general purpose agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pipeline.agent import TASK


@dataclass(frozen=True, slots=True)
class Normal:
    """Fresh messages for a named agent."""

    agent: str


@dataclass(frozen=True, slots=True)
class Fork:
    """The messages of the one who asks."""


@dataclass(frozen=True, slots=True)
class GeneralPurpose:
    """Fresh messages for the agent that takes what names no other."""

    agent: str


Mode: TypeAlias = Normal | Fork | GeneralPurpose


@dataclass(frozen=True, slots=True)
class ModePolicy:
    """Whether a request without a type forks, the type by which a fork is asked for by name, if any, and the general purpose agent."""

    forks_without_type: bool = False
    fork_type: str | None = None
    general: str = TASK


FORKING: Final = ModePolicy(forks_without_type=True)
CLEAN: Final = ModePolicy()
FORK_BY_NAME: Final = ModePolicy(fork_type="fork")
MODE_POLICIES: Final[Mapping[str, ModePolicy]] = {"forking": FORKING, "clean": CLEAN, "fork-by-name": FORK_BY_NAME}


def select_mode(policy: ModePolicy, agent: str | None) -> Mode:
    """The mode of a request that names this type of agent, or none. A name that is empty or blank is none. Total.

    >>> select_mode(FORKING, None), select_mode(CLEAN, None), select_mode(FORK_BY_NAME, "fork"), select_mode(FORKING, "fork")
    (Fork(), GeneralPurpose(agent='task'), Fork(), Normal(agent='fork'))
    """
    if agent is None or not agent.strip():
        return Fork() if policy.forks_without_type else GeneralPurpose(policy.general)
    return Fork() if agent == policy.fork_type else Normal(agent)
