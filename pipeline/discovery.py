"""The pipeline itself: places -> candidates -> the first-wins fold -> the agents in force, with every file accounted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from pipeline.agent import AgentDefinition, Source
from pipeline.bundled import load_bundled_agents
from pipeline.candidates import mistaken_directories
from pipeline.collecting import nothing_to_collect
from pipeline.definition import Verdict, read_agent
from pipeline.hosts import STANDARD, Host
from pipeline.merging import FileOutcome, merge
from pipeline.places import passed_over, project_agents_dir, surroundings, survey
from pipeline.problem import Problem, Surrounding
from pipeline.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Discovery:
    """The agents in force, in order of precedence, bundled last, and what became of every file."""

    agents: tuple[AgentDefinition, ...]
    files: tuple[FileOutcome[AgentDefinition], ...]
    project_agents_dir: str | None
    surroundings: tuple[Surrounding, ...] = ()
    """What is wrong outside the files: registries, directories."""
    host: Host = field(default=STANDARD, compare=False)
    by_name: Mapping[str, AgentDefinition] = field(init=False, repr=False, compare=False)
    """The agents in force by their exact names."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", MappingProxyType({agent.name: agent for agent in self.agents}))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong, the surroundings first, then file by file in order of precedence."""
        return (*self.surroundings, *chain.from_iterable(outcome.problems for outcome in self.files))

    def to_dict(self) -> dict[str, object]:
        """The answer as plain JSON data, in the shape of the host's own: bundled agents by name alone."""
        agents = [{"name": a.name, "source": a.source} if a.source == "bundled" else a.to_dict() for a in self.agents]
        answer: dict[str, object] = {"agents": agents, "project_agents_dir": self.project_agents_dir}
        if self.host.says_outcomes:
            answer["files"] = {outcome.path: outcome.status for outcome in self.files}
        return answer


@nothing_to_collect()
def discover(snapshot: Snapshot, *, host: Host = STANDARD) -> Discovery:
    r"""The agents in force in a snapshot by a host's rules, with every file accounted for; pure and total.

    >>> found = discover(Snapshot.from_tree({".claude/agents/a.md": "---\nname: a\ndescription: b\n---"}))
    >>> found.agents[0].name, found.files[0].status, len(found.agents)
    ('a', 'loaded', 7)
    """
    where, problems = survey(host, snapshot)
    shipped = load_bundled_agents()
    merged = merge([(place, _AGENTS) for place in where], snapshot, host, {agent.name: agent.file_path for agent in shipped})
    mistaken = chain.from_iterable(mistaken_directories(place, snapshot, host) for place in where)
    return Discovery(
        (*merged.loaded, *(agent for agent in shipped if agent.name not in merged.winners)),
        merged.outcomes,
        project_agents_dir(host, snapshot),
        (*problems, *surroundings((*passed_over(host, snapshot), *where), snapshot), *mistaken),
        host,
    )


@dataclass(frozen=True, slots=True)
class _AgentReader:
    """Files of agents, in the order that the host gives their names."""

    def read(self, text: str, path: str, source: Source, host: Host) -> Verdict[AgentDefinition]:
        return read_agent(text, path, source, host=host)

    def order(self, host: Host) -> Callable[[str], Any] | None:
        return host.file_order


_AGENTS: Final = _AgentReader()
