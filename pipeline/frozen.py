"""JSON values that cannot change: what a schema or a registry holds once it has been read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | tuple[Json, ...] | JsonObject | None"


class JsonObject(Mapping[str, Json]):
    """A JSON object that keeps the order of its keys and can be hashed.

    Equal to any mapping with the same items, in whatever order.

    >>> JsonObject({"type": "string"})["type"]
    'string'
    >>> freeze({"a": [1]}) == {"a": (1,)}
    True
    """

    __slots__ = ("_items",)
    _items: dict[str, Json]

    def __init__(self, items: Mapping[str, Json]) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __getitem__(self, key: str) -> Json:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"JsonObject({self._items!r})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a JsonObject cannot change: {name}")

    def __reduce__(self) -> tuple[type[JsonObject], tuple[dict[str, Json]]]:
        return JsonObject, (self._items,)


def freeze(value: object) -> Json:
    """The frozen copy of what `json.loads` gives; TypeError for anything that is not JSON, and so for the numbers that only Python takes for JSON.

    >>> freeze([1, {"a": None}])
    (1, JsonObject({'a': None}))
    """
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return JsonObject({str(key): freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    raise TypeError(f"not a JSON value: {value if isinstance(value, float) else type(value).__name__}")


def thaw(value: Json) -> object:
    """The plain dicts and lists of a frozen value, fresh at each call.

    >>> thaw(freeze({"a": [1]}))
    {'a': [1]}
    """
    if isinstance(value, JsonObject):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value
