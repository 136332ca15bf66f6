"""What is asked for and where from: a request to run a sub-agent, and the session it is asked in. Checked when they are made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NoReturn, TypeAlias, get_args

from pyrsistent import PMap, pmap
from returns.result import Failure, Result, Success

from pipeline.agent import AnyAgent, OnlyAgents, Spawns
from pipeline.frozen import Json, freeze
from pipeline.policy import decode

SchemaSource: TypeAlias = Literal["agent", "call", "session"]
ExecMode: TypeAlias = Literal["both", "python", "bash"]
DEFAULT_MAX_DEPTH: Final = 2
DEFAULT_MAX_ROUNDS: Final = 30


class InvalidValueError(ValueError):
    """A value that a record cannot hold: which field, what was found, what is expected."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        super().__init__(f"{field} must be {expected}, not {found!r:.80}")
        self.field = field


@dataclass(frozen=True, slots=True)
class TaskItem:
    """One task of a request: an id for its result, a word on it for people, and what the sub-agent is to do."""

    id: str
    description: str = ""
    assignment: str = ""

    def __post_init__(self) -> None:
        for name in ("id", "description", "assignment"):
            must(isinstance(getattr(self, name), str), f"task.{name}", getattr(self, name), "text")

    @property
    def words(self) -> str:
        """What is asked: the assignment, else the description."""
        return self.assignment or self.description


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A request to run a sub-agent: which one, what all its tasks share, the schema its answer is to have, if any, and the tasks.

    A schema is a JSON object, true or false, or a text that holds one; InvalidValueError for anything else and for wrong types.
    """

    agent: str
    tasks: tuple[TaskItem, ...] = ()
    context: str = ""
    schema: Json = None

    def __post_init__(self) -> None:
        must(isinstance(self.agent, str), "agent", self.agent, "text")
        must(isinstance(self.context, str), "context", self.context, "text")
        must(isinstance(self.tasks, list | tuple), "tasks", self.tasks, "a list of tasks")
        for task in self.tasks:
            must(isinstance(task, TaskItem), "tasks", task, "a list of tasks")
        object.__setattr__(self, "tasks", tuple(self.tasks))
        object.__setattr__(self, "schema", as_schema(self.schema, "schema"))

    def message(self, words: str) -> str:
        """What an agent is told that is given one of the tasks: what all share, then the words of its own; blank where it is told nothing."""
        return "\n\n".join(part for part in (self.context, words) if part.strip())


_NO_MODELS: Final[PMap[str, tuple[str, ...]]] = pmap()


@dataclass(frozen=True, slots=True)
class Session:
    """Where a request comes from. `spawns` is the policy of the one who asks, or its text as the environment has it; `depth` is 0 for the
    main conversation; at `max_depth` nobody spawns, and a negative one is no limit; `blocked` is the agent this session itself runs.

    `models` overrides an agent's own list; `schema_order` says whose schema counts first; `cwd` and `home` are where to discover from, as `capture`
    takes them; `max_rounds` is how often each conversation may call its model. InvalidValueError for wrong types and values.
    """

    spawns: Spawns | str | None = None
    depth: int = 0
    max_depth: int = DEFAULT_MAX_DEPTH
    plan_mode: bool = False
    disabled: frozenset[str] = frozenset()
    blocked: str | None = None
    output: Json = None
    exec_mode: ExecMode = "both"
    model: tuple[str, ...] | None = None
    models: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NO_MODELS)
    schema_order: tuple[SchemaSource, ...] = ("agent", "call", "session")
    cwd: str = "."
    home: str | None = None
    max_rounds: int = DEFAULT_MAX_ROUNDS

    def __post_init__(self) -> None:
        policy = self.spawns is None or isinstance(self.spawns, AnyAgent | OnlyAgents | str)
        must(policy, "spawns", self.spawns, "a spawn policy, its text, or None")
        must(is_count(self.depth) and self.depth >= 0, "depth", self.depth, "a number from 0")
        must(is_count(self.max_depth), "max_depth", self.max_depth, "a number; negative is no limit")
        must(isinstance(self.plan_mode, bool), "plan_mode", self.plan_mode, "true or false")
        names: object = self.disabled
        must(isinstance(names, list | tuple | set | frozenset) and all(isinstance(name, str) for name in names), "disabled", names, "names")
        must(self.blocked is None or isinstance(self.blocked, str), "blocked", self.blocked, "a name or None")
        must(self.exec_mode in get_args(ExecMode), "exec_mode", self.exec_mode, "both, python or bash")
        order: object = self.schema_order
        in_order = isinstance(order, list | tuple) and sorted(map(str, order)) == sorted(get_args(SchemaSource))
        must(in_order, "schema_order", order, "agent, call and session in some order")
        must(self.model is None or _are_names(self.model), "model", self.model, "names of models, or None")
        models: object = self.models
        by_name = isinstance(models, Mapping) and all(isinstance(name, str) and _are_names(each) for name, each in models.items())
        must(by_name, "models", models, "names of models by the name of an agent")
        must(isinstance(self.cwd, str), "cwd", self.cwd, "a path")
        must(self.home is None or isinstance(self.home, str), "home", self.home, "a path or None")
        must(is_count(self.max_rounds) and self.max_rounds > 0, "max_rounds", self.max_rounds, "a number from 1")
        object.__setattr__(self, "disabled", frozenset(self.disabled))
        object.__setattr__(self, "schema_order", tuple(self.schema_order))
        object.__setattr__(self, "output", as_schema(self.output, "output"))

    @property
    def policy(self) -> Spawns:
        """The spawn policy, decoded where it was given as text."""
        return self.spawns if isinstance(self.spawns, AnyAgent | OnlyAgents) else decode(self.spawns)


def _are_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def is_count(value: object) -> bool:
    """Whether a value is a whole number and no boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def as_schema(value: object, field: str) -> Json:
    """A schema as frozen JSON: an object, true or false, or such a thing in a text; None for none; InvalidValueError for anything else.

    >>> as_schema('{"type": "string"}', "schema")
    JsonObject({'type': 'string'})
    """
    found = _parsed(value, field) if isinstance(value, str) else value
    if found is not None and not isinstance(found, bool | Mapping):
        _fail(field, value, "a schema: a JSON object, true or false, or a text that holds one")
    try:
        return freeze(found)
    except (TypeError, RecursionError) as error:
        raise InvalidValueError(field, value, f"a schema of JSON values ({error})") from None


def _parsed(text: str, field: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        _fail(field, text, "a schema: a JSON object, true or false, or a text that holds one")


def parse_request(data: object) -> Result[TaskRequest, InvalidValueError]:
    """The request that JSON data holds, as a model's tool call gives it.

    >>> parse_request({"agent": "explore", "tasks": [{"id": "a", "assignment": "Look."}]}).unwrap().tasks[0].id
    'a'
    >>> str(parse_request({"agent": 5}).failure())
    'agent must be text, not 5'
    """
    if not isinstance(data, Mapping):
        return Failure(InvalidValueError("the request", data, "an object"))
    try:
        tasks = data.get("tasks") or ()
        must(isinstance(tasks, list | tuple), "tasks", tasks, "a list of tasks")
        items = tuple([_item(task) for task in tasks])
        return Success(TaskRequest(data.get("agent", ""), items, data.get("context") or "", data.get("schema")))
    except InvalidValueError as error:
        return Failure(error)


def _item(data: object) -> TaskItem:
    if not isinstance(data, Mapping):
        _fail("tasks", data, "a list of objects with id, description and assignment")
    return TaskItem(data.get("id") or "", data.get("description") or "", data.get("assignment") or "")


def must(holds: bool, field: str, found: object, expected: str) -> None:
    """InvalidValueError unless it holds."""
    if not holds:
        _fail(field, found, expected)


def _fail(field: str, found: object, expected: str) -> NoReturn:
    raise InvalidValueError(field, found, expected)
