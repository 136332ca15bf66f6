"""JSON Type Definition (RFC 8927): whether a schema is one, and the JSON Schema that accepts the same data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final

from pipeline.frozen import Json, JsonObject

_COMMON: Final = frozenset({"definitions", "nullable", "metadata"})
_INTEGERS: Final = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
}
_TYPES: Final = {
    "boolean": JsonObject({"type": "boolean"}),
    "string": JsonObject({"type": "string"}),
    "float32": JsonObject({"type": "number"}),
    "float64": JsonObject({"type": "number"}),
    "timestamp": JsonObject({"type": "string", "format": "timestamp"}),
    **{name: JsonObject({"type": "integer", "minimum": low, "maximum": high}) for name, (low, high) in _INTEGERS.items()},
}
_TIMESTAMP: Final = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})[Tt]"
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<hours>[0-9]{2}):(?P<minutes>[0-9]{2}))"
)
_LEAP_YEAR: Final = 2000
_HOURS, _MINUTES, _LEAP_SECOND = 24, 60, 60
_DAY: Final = _HOURS * _MINUTES


def is_timestamp(value: object) -> bool:
    """Whether a text is an RFC 3339 timestamp, leap seconds included; anything but a text is no concern of a format, and passes.

    >>> is_timestamp("1990-12-31T23:59:60Z"), is_timestamp("1990-12-31T15:59:60-08:00"), is_timestamp("1990-02-29T00:00:00Z"), is_timestamp(5)
    (True, True, False, True)
    """
    if not isinstance(value, str):
        return True
    found = _TIMESTAMP.fullmatch(value)
    if found is None:
        return False
    year, month, day, hour, minute, second, hours, minutes = (
        int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second", "hours", "minutes")
    )
    offset = (hours * _MINUTES + minutes) * (-1 if found["sign"] == "-" else 1)
    last_minute = (hour * _MINUTES + minute - offset) % _DAY == _DAY - 1
    return (
        _is_day(year or _LEAP_YEAR, month, day)
        and max(hour, hours) < _HOURS
        and max(minute, minutes) < _MINUTES
        and second < _LEAP_SECOND + last_minute
    )


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def is_typedef(schema: Json) -> bool:
    """Whether a schema is a well-formed JTD schema throughout; RecursionError where it is nested too deep.

    >>> is_typedef(JsonObject({"elements": JsonObject({"type": "int8"})})), is_typedef(JsonObject({"type": "integer"}))
    (True, False)
    """
    if not isinstance(schema, JsonObject):
        return False
    definitions = schema.get("definitions", JsonObject({}))
    if not isinstance(definitions, JsonObject):
        return False
    names = frozenset(definitions)
    return all(_is_definition(each, names) for each in definitions.values()) and _is_form(schema, names)


def _is_definition(schema: Json, names: frozenset[str]) -> bool:
    """A schema anywhere but at the top: it has no definitions of its own."""
    return isinstance(schema, JsonObject) and "definitions" not in schema and _is_form(schema, names)


def _is_form(schema: JsonObject, names: frozenset[str]) -> bool:
    form = _FORMS.get(frozenset(schema) - _COMMON)
    common = isinstance(schema.get("nullable", False), bool) and isinstance(schema.get("metadata", schema), JsonObject)
    return form is not None and common and form(schema, names)


def _is_ref(schema: JsonObject, names: frozenset[str]) -> bool:
    return isinstance(schema["ref"], str) and schema["ref"] in names


def _is_type(schema: JsonObject, _: frozenset[str]) -> bool:
    return isinstance(schema["type"], str) and schema["type"] in _TYPES


def _is_enum(schema: JsonObject, _: frozenset[str]) -> bool:
    values = schema["enum"]
    return isinstance(values, tuple) and all(isinstance(each, str) for each in values) and 0 < len(values) == len(set(values))


def _is_properties(schema: JsonObject, names: frozenset[str]) -> bool:
    required, optional = (schema.get(name, JsonObject({})) for name in ("properties", "optionalProperties"))
    return (
        isinstance(required, JsonObject)
        and isinstance(optional, JsonObject)
        and not required.keys() & optional.keys()
        and isinstance(schema.get("additionalProperties", False), bool)
        and all(_is_definition(each, names) for part in (required, optional) for each in part.values())
    )


def _is_discriminator(schema: JsonObject, names: frozenset[str]) -> bool:
    tag, mapping = schema["discriminator"], schema["mapping"]
    return isinstance(tag, str) and isinstance(mapping, JsonObject) and all(_is_case(each, tag, names) for each in mapping.values())


def _is_case(schema: Json, tag: str, names: frozenset[str]) -> bool:
    """A schema of a mapping: of the form with properties, none of which is the tag, and not nullable."""
    return (
        _is_definition(schema, names)
        and isinstance(schema, JsonObject)
        and _FORMS[frozenset(schema) - _COMMON] is _is_properties
        and schema.get("nullable") is not True
        and not any(tag in _object(schema.get(part)) for part in ("properties", "optionalProperties"))
    )


_FORMS: Final[dict[frozenset[str], Callable[[JsonObject, frozenset[str]], bool]]] = {
    frozenset(): lambda _, __: True,
    frozenset({"ref"}): _is_ref,
    frozenset({"type"}): _is_type,
    frozenset({"enum"}): _is_enum,
    frozenset({"elements"}): lambda schema, names: _is_definition(schema["elements"], names),
    frozenset({"values"}): lambda schema, names: _is_definition(schema["values"], names),
    frozenset({"discriminator", "mapping"}): _is_discriminator,
    **{
        frozenset((*parts, *more)): _is_properties
        for parts in (("properties",), ("optionalProperties",), ("properties", "optionalProperties"))
        for more in ((), ("additionalProperties",))
    },
}
"""The forms by the keywords that they have besides the common ones."""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, JsonObject) else JsonObject({})


def translated(schema: Json) -> JsonObject:
    """The JSON Schema, draft 2020-12, that accepts what a well-formed JTD schema accepts; timestamps are its format `timestamp`.

    >>> translated(JsonObject({"type": "uint8"})) == JsonObject({"type": "integer", "minimum": 0, "maximum": 255})
    True
    """
    definitions = _object(_object(schema).get("definitions"))
    places = {name: str(at) for at, name in enumerate(definitions)}
    body = _form(schema, places)
    numbered = JsonObject({places[name]: each for name, each in _each(definitions, places).items()})
    return JsonObject({**body, "$defs": numbered}) if places else body


def _each(schemas: JsonObject, places: Mapping[str, str]) -> JsonObject:
    return JsonObject({name: _form(each, places) for name, each in schemas.items()})


def _form(schema: Json, places: Mapping[str, str], tag: str | None = None) -> JsonObject:
    """A schema in its place; `places` has the numbers of definitions, for their names may be anything; `tag` is a property besides its own."""
    found = _object(schema)
    body = _body(found, places, tag)
    description = _object(found.get("metadata")).get("description")
    whole = _nullable(body) if found.get("nullable") is True else body
    return JsonObject({**whole, "description": description}) if isinstance(description, str) else whole


def _nullable(body: JsonObject) -> JsonObject:
    """A schema that takes null too. Its other keywords say nothing of null, so the type is enough, and the errors stay plain."""
    match body:
        case {"type": str() as kind}:
            return JsonObject({**body, "type": (kind, "null")})
        case {"enum": tuple() as values}:
            return JsonObject({**body, "enum": (*values, None)})
        case {"$ref": _}:
            return JsonObject({"anyOf": (body, JsonObject({"type": "null"}))})
    return body


def _body(schema: JsonObject, places: Mapping[str, str], tag: str | None) -> JsonObject:
    match schema:
        case {"ref": str() as name}:
            return JsonObject({"$ref": f"#/$defs/{places[name]}"})
        case {"type": str() as kind}:
            return _TYPES[kind]
        case {"enum": values}:
            return JsonObject({"enum": values})
        case {"elements": inner}:
            return JsonObject({"type": "array", "items": _form(inner, places)})
        case {"values": inner}:
            return JsonObject({"type": "object", "additionalProperties": _form(inner, places)})
        case {"discriminator": str() as name, "mapping": JsonObject() as cases}:
            return _cases(name, cases, places)
        case {"properties": _} | {"optionalProperties": _}:
            return _properties(schema, places, tag)
    return JsonObject({})


def _properties(schema: JsonObject, places: Mapping[str, str], tag: str | None) -> JsonObject:
    required, optional = _object(schema.get("properties")), _object(schema.get("optionalProperties"))
    known = {**_each(required, places), **_each(optional, places), **({} if tag is None else {tag: JsonObject({})})}
    more = {} if schema.get("additionalProperties") is True else {"additionalProperties": False}
    return JsonObject({"type": "object", "properties": JsonObject(known), "required": tuple(required), **more})


def _cases(name: str, cases: JsonObject, places: Mapping[str, str]) -> JsonObject:
    tagged = JsonObject({name: JsonObject({"enum": tuple(cases)})})
    choices = tuple(JsonObject({"if": _tagged(name, value), "then": _form(case, places, name)}) for value, case in cases.items())
    return JsonObject({"type": "object", "required": (name,), "properties": tagged, **({"allOf": choices} if choices else {})})


def _tagged(name: str, value: str) -> JsonObject:
    return JsonObject({"type": "object", "required": (name,), "properties": JsonObject({name: JsonObject({"const": value})})})
