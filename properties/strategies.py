"""Hypothesis strategies for whole file trees: families at several depths, plugins, links, odd names, bad YAML, duplicates.

Each is made once and kept: Hypothesis would otherwise look through the whole of it anew for every example.
"""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass, replace
from functools import cache

from hypothesis import strategies as st
from returns.result import Failure, Success

from pipeline.agent import AgentDefinition, AnyAgent, OnlyAgents, Spawns
from pipeline.candidates import Candidate
from pipeline.discovery import Discovery
from pipeline.frozen import JsonObject
from pipeline.hosts import STANDARD, Host
from pipeline.nodes import Directory, Link, Node, Special, TooLarge, Unreadable
from pipeline.problem import UnreadableFile
from pipeline.request import Session, TaskItem, TaskRequest
from pipeline.snapshot import Snapshot
from properties.choosing import weighted

HOME = "/home/u"
CWDS = ("/home/u/p/deep", "/home/u/p", "/home/u", "/srv/q", "/")
NAMES = ("alpha", "beta", "Alpha", "task", "Task", "explore", "two words", "x,y", "é", "e\u0301", "404")
FILE_NAMES = ("a.md", "b.md", "B.md", "Z.md", "é.md", "10.md", "9.md", "README.md", "odd \x1b[2J.md", "bytes\udcff.md")
PASSED_OVER = ("a.MD", "a.markdown", "a.md.bak", "notes.txt")
PLUGIN_ROOTS = ("/opt/one", "/opt/two", "/home/u/three")

_FIELDS = (
    "tools: read, Grep",
    "tools: []",
    "tools: [Read, task]",
    "tools: {read: yes}",
    "tools: '*'",
    "tools: *",
    "allowed_tools: read",
    "spawns: '*'",
    "spawns: [alpha, beta]",
    "spawns: false",
    "model: a/b, c",
    "thinking-level: high",
    "thinking: med",
    "blocking: TRUE",
    "output: {a-b: {type: int32}}",
    "color: red",
    "name: again",
)
_DESCRIPTIONS = ("plain", "has: a colon", '"quoted"', "|\n  block\n  text", "[a, list]", "", "~")
_BODIES = ("", "Do it.", "# Title\n\nText\n", "<!-- hidden -->seen", "a\n---\nb")


@cache
def agent_names() -> st.SearchStrategy[str]:
    """Names of agents, few enough that files collide."""
    return st.sampled_from(NAMES)


@cache
def agent_texts() -> st.SearchStrategy[str]:
    """Agent files: most are valid and some of their names are common, many are not YAML, some lack a field."""
    names = st.sampled_from((*NAMES, *("alpha",) * 5, *("beta",) * 3, "Alpha", "task"))
    descriptions = st.sampled_from(("plain",) * 7 + _DESCRIPTIONS)
    fields = st.lists(st.sampled_from(_FIELDS), max_size=4)
    return st.builds(_agent_text, names, descriptions, fields, st.integers(0, 5), st.sampled_from(_BODIES))


def _agent_text(name: str, description: str, fields: list[str], turn: int, body: str) -> str:
    lines = [f"name: {name}", f"description: {description}", *fields]
    at = turn % len(lines)
    return "---\n" + "\n".join(lines[at:] + lines[:at]) + "\n---\n" + body


def valid_agent(name: str, description: str = "d", **fields: str) -> str:
    """The text of a valid agent file; names are quoted, so that any text without a line break will do."""
    extra = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\nname: {json.dumps(name)}\ndescription: {description}\n{extra}---\nPrompt of {name}."


@cache
def broken_texts() -> st.SearchStrategy[str]:
    """Texts that no host takes for an agent."""
    return st.sampled_from(
        (
            "",
            "no frontmatter",
            "---\nname: alpha",
            "---\nname: alpha\n---\n",
            "---\n- a\n---\n",
            "text\n---\nname: a\ndescription: b\n---\n",
            "---\n---\n",
        )
    )


@cache
def contents() -> st.SearchStrategy[str | bytes | Node]:
    """What may stand where an agent's file is looked for."""
    special: tuple[Node, ...] = (Special("a named pipe"), TooLarge(1 << 30, 1 << 20), Unreadable("permission denied"), Directory())
    links: tuple[Node, ...] = (Link("/shared/real.md"), Link("/nowhere"), Link("a.md"), Link("/shared"))
    return weighted(
        *[agent_texts()] * 6,
        broken_texts(),
        agent_texts().map(lambda text: "\ufeff" + text),
        agent_texts().map(lambda text: text.replace("\n", "\r\n")),
        agent_texts().map(lambda text: text.encode() + b"\xff"),
        st.sampled_from(special),
        st.sampled_from(links),
    )


@dataclass(frozen=True, slots=True)
class Tree:
    """A file tree to make a snapshot of: what stands at each path, seen from a directory by a user with a home."""

    cwd: str
    entries: dict[str, str | bytes | Node]
    home: str = HOME

    def snapshot(self) -> Snapshot:
        """The whole tree as a snapshot."""
        return Snapshot.from_tree(self.entries, cwd=self.cwd, home=self.home)


def agent_directories(host: Host, cwd: str) -> list[str]:
    """Where a host would find agents from a directory, nearest places more often than once, and some places where it would not."""
    upward = [cwd]
    while upward[-1] != "/":
        upward.append(posixpath.dirname(upward[-1]))
    project = [posixpath.join(place, family.project) for place in (cwd, cwd, cwd, *upward) for family in host.families]
    user = [posixpath.join(HOME, family.user) for family in host.families] * 2
    plugin = [posixpath.join(root, host.plugins.folder) for root in PLUGIN_ROOTS] * 3
    return [*project, *user, *plugin, posixpath.join(cwd, ".other/agents")]


def command_directories(host: Host, cwd: str) -> list[str]:
    """Where a host would find commands from a directory."""
    bases = {"cwd": (cwd,), "home": (HOME,), "upward": (cwd, posixpath.dirname(cwd)), "plugin": PLUGIN_ROOTS}
    return [posixpath.join(base, folder) for rule in host.commands for base in bases[rule.base] for folder in rule.folders]


@cache
@st.composite
def trees(draw: st.DrawFn, host: Host = STANDARD) -> Tree:
    """Whole trees for a host, with collisions of names within and across directories."""
    cwd = draw(st.sampled_from(CWDS))
    folders = draw(_some(tuple(agent_directories(host, cwd))))
    entries = _placed(folders, draw(_files(12))) | _placed(draw(_some(tuple(command_directories(host, cwd)))), draw(_files(4)))
    if draw(st.booleans()):
        entries[posixpath.join(folders[0], "README.md")] = "These are our agents."
    if draw(st.booleans()):
        entries[posixpath.join(cwd, ".git", "HEAD")] = "ref: refs/heads/main"
    entries["/shared/real.md"] = draw(agent_texts())
    return Tree(cwd, entries | draw(_registry_files(_registry_paths(host, cwd))))


@cache
def _some(folders: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(folders), min_size=1, max_size=4)


@cache
def _files(most: int) -> st.SearchStrategy[list[tuple[int, str, str | bytes | Node]]]:
    """Files by the number of their directory, their name and what is in them."""
    names = weighted(*[st.sampled_from(FILE_NAMES)] * 5, st.sampled_from(PASSED_OVER))
    return st.lists(st.tuples(st.integers(0, 3), names, contents()), max_size=most)


def _placed(folders: list[str], files: list[tuple[int, str, str | bytes | Node]]) -> dict[str, str | bytes | Node]:
    return {posixpath.join(folders[at % len(folders)], name): content for at, name, content in files}


@cache
def _registry_files(paths: tuple[str, ...]) -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from(paths), registries(), max_size=2)


def _registry_paths(host: Host, cwd: str) -> tuple[str, ...]:
    return tuple(sorted({posixpath.join(base, registry.path) for base in (HOME, cwd) for registry in host.plugins.registries}))


_EVERY_PLUGIN = json.dumps({"version": 2, "plugins": {f"{at}@m": [{"scope": "user", "installPath": root}] for at, root in enumerate(PLUGIN_ROOTS)}})


@cache
def registries() -> st.SearchStrategy[str]:
    """Plugin registries, some of the wrong shape."""
    entry = st.fixed_dictionaries(
        {"installPath": st.sampled_from((*PLUGIN_ROOTS, "relative", ""))},
        optional={"scope": st.sampled_from(("user", "project", "odd")), "enabled": st.booleans()},
    )
    entries = st.one_of(st.lists(st.one_of(entry, st.none()), max_size=2), st.just("odd"))
    plugins = st.dictionaries(st.sampled_from(("one@m", "two@m", "three@m", "nomarket")), entries, max_size=3)
    good = plugins.map(lambda found: json.dumps({"version": 2, "plugins": found}))
    bad = st.sampled_from(("", "[]", "{}", '{"version": "2", "plugins": {}}', "{", "[" * 5000, "1e999", "9" * 5000))
    return weighted(*[st.just(_EVERY_PLUGIN)] * 2, good, good, bad)


@cache
def snapshots(host: Host = STANDARD) -> st.SearchStrategy[Snapshot]:
    """Snapshots of whole trees."""
    return trees(host).map(Tree.snapshot)


@cache
@st.composite
def candidate_lists(draw: st.DrawFn, max_size: int = 12) -> list[Candidate[AgentDefinition]]:
    """Candidates in order of precedence, as a fold meets them: valid ones of few names, and broken ones."""
    drawn = draw(st.lists(st.tuples(agent_names(), st.sampled_from(("x", "y")), st.integers(0, 3)), max_size=max_size))
    return [candidate(name, f"/{directory}/{at:02}.md", broken=fate == 0) for at, (name, directory, fate) in enumerate(drawn)]


def candidate(name: str, path: str, *, broken: bool = False) -> Candidate[AgentDefinition]:
    """One candidate file that asks for a name."""
    if broken:
        return Candidate(path, "project", Failure((UnreadableFile(path=path, reason="permission denied"),)), (), name)
    return Candidate(path, "project", Success(AgentDefinition(name, "d", "", "project", path)), (), name)


def as_json(value: object) -> str:
    """A value as JSON text."""
    return json.dumps(value)


@cache
def policies() -> st.SearchStrategy[Spawns]:
    """Spawn policies, some with names that no text can hold."""
    names = st.one_of(agent_names(), st.text(max_size=4), st.sampled_from(("*", " a ", "", "a\nb")))
    return st.one_of(st.just(AnyAgent()), st.lists(names, max_size=4).map(lambda some: OnlyAgents(tuple(some))))


@cache
def agents(name: str) -> st.SearchStrategy[AgentDefinition]:
    """An agent in force with any tools, spawns and schema."""
    tools = st.lists(st.sampled_from(("read", "write", "bash", "exec", "task", "grep", "submit_result")), max_size=4).map(tuple)
    return st.builds(
        AgentDefinition,
        st.just(name),
        st.just("d"),
        st.just(f"Prompt of {name}."),
        st.just("project"),
        st.just(f"/{name}.md"),
        st.none() | tools,
        st.none() | policies(),
        output=st.none() | st.just(JsonObject({"type": "string"})),
    )


@cache
def discoveries() -> st.SearchStrategy[Discovery]:
    """Discoveries of a few agents that name each other, and some that nobody defines."""
    names = st.lists(st.sampled_from(NAMES[:6]), min_size=1, max_size=5, unique=True)
    return names.flatmap(lambda some: st.tuples(*map(agents, some))).map(lambda found: Discovery(found, (), None))


@cache
def requests() -> st.SearchStrategy[TaskRequest]:
    """Requests for agents that may be there, with good and bad tasks."""
    ids = st.lists(st.sampled_from(("a", "A", "a ", "b", "", " ")).map(TaskItem), max_size=3).map(tuple)
    good = st.just((TaskItem("one"),))
    return st.builds(TaskRequest, st.sampled_from(NAMES[:6]), weighted(good, good, ids), schema=st.none() | st.just({"type": "int8"}))


@cache
def sessions() -> st.SearchStrategy[Session]:
    """Sessions at several depths, under several policies."""
    return st.builds(
        Session,
        spawns=st.one_of(st.none(), policies(), st.sampled_from(("", "*", "alpha, beta", "alpha,,"))),
        depth=st.integers(0, 3),
        max_depth=st.sampled_from((-1, 0, 2, 3, 4, 6)),
        plan_mode=st.sampled_from((False, False, True)),
        exec_mode=st.sampled_from(("both", "python", "bash")),
        model=st.sampled_from((None, ("small",))),
        models=st.sampled_from(({}, {"alpha": ("large",)})),
        max_rounds=st.integers(1, 40),
        disabled=st.frozensets(st.sampled_from(NAMES[:6]), max_size=1),
        blocked=st.none() | st.sampled_from(NAMES[:6]),
        output=st.none() | st.just({"type": "float32"}),
        schema_order=st.permutations(("agent", "call", "session")).map(tuple),
    )


@cache
@st.composite
def questions(draw: st.DrawFn) -> tuple[TaskRequest, Session, Discovery]:
    """A request, the session that makes it and the discovery that it is held to: three times in four for an agent that is there."""
    found, asked = draw(discoveries()), draw(requests())
    if draw(st.sampled_from((True, True, True, False))):
        asked = replace(asked, agent=draw(st.sampled_from(found.agents)).name)
    return asked, draw(sessions()), found
