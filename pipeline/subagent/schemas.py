"""Schemas: what a child's answer and a tool's input must fit. JTD (RFC 8927) is put into JSON Schema, and one validator checks both.

A pattern in a schema runs as it is: one that backtracks without end does so here too. Whoever writes the schema answers for that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from returns.result import Failure, Result, Success

from pipeline.frozen import Json, JsonObject, thaw
from pipeline.subagent.typedef import is_timestamp, is_typedef, translated

if TYPE_CHECKING:
    from jsonschema.exceptions import SchemaError, ValidationError
    from jsonschema.protocols import Validator

MAX_DATA: Final = 1_000_000
MAX_SENTENCE: Final = 200
MAX_SENTENCES: Final = 5
_MAX_ERRORS: Final = 100


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The schema of an answer, as it was given and as the JSON Schema that is checked; the two differ where it was JTD."""

    original: Json
    checked: Json

    def mismatches(self, data: Json) -> tuple[str, ...]:
        """Why data does not fit, in at most five sentences, the best first, each with its place; empty if it fits.

        >>> schema = output_schema(JsonObject({"elements": JsonObject({"type": "int8"})})).unwrap()
        >>> schema.mismatches((1, 300, "x"))
        ('at /1: 300 is greater than the maximum of 127', "at /2: 'x' is not of type 'integer'")
        >>> schema.mismatches((1, 2.0))
        ()
        """
        return _answered(self._sentences, data)

    def _sentences(self, data: Json) -> tuple[str, ...]:
        plain = thaw(data)
        if (size := len(json.dumps(plain))) > MAX_DATA:
            return (f"at the top: {size} characters of JSON are more than the {MAX_DATA} that are checked",)
        return _checker(_Same(self.checked)).map(lambda checker: _sentences(checker, plain)).value_or(())

    def as_text(self) -> str:
        """The JSON of the schema as it was given.

        >>> output_schema(JsonObject({"type": "string"})).unwrap().as_text()
        '{"type": "string"}'
        """
        return json.dumps(thaw(self.original))


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """A schema as the key of a cache: itself and nothing equal, for 1, 1.0 and true are equal and no schemas of the same data."""

    schema: Json

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.schema is other.schema

    def __hash__(self) -> int:
        return id(self.schema)


def output_schema(schema: Json) -> Result[OutputSchema | None, str]:
    """The schema to check answers with, None for none, or why this is no schema.

    It is JTD exactly if it is a well-formed JTD schema throughout, else JSON Schema of the draft that its `$schema` names, by default 2020-12.
    References are resolved within it; nothing is fetched.

    >>> output_schema(JsonObject({"type": "nonsense"})).failure()
    "at /type: 'nonsense' is not valid under any of the given schemas"
    >>> output_schema(None).unwrap()
    """
    if schema is None:
        return Success(None)
    try:
        made = OutputSchema(schema, translated(schema) if is_typedef(schema) else schema)
        return _checker(_Same(made.checked)).map(lambda _: made)
    except RecursionError:
        return Failure("it is nested too deep")


def input_mismatch(schema: JsonObject, data: JsonObject) -> str | None:
    """Why data does not fit the JSON Schema of a tool's input, in at most five sentences; None if it fits.

    >>> input_mismatch(JsonObject({"required": ("path",)}), JsonObject({}))
    "at the top: 'path' is a required property"
    >>> input_mismatch(JsonObject({"type": "object"}), JsonObject({}))
    """
    return "; ".join(_answered(lambda given: _faults(schema, given), data)) or None


def _faults(schema: JsonObject, data: Json) -> tuple[str, ...]:
    checker = _checker(_Same(schema))
    unusable = checker.swap().map(lambda why: (f"the schema itself is at fault: {why}",))
    return unusable.value_or(()) or _sentences(checker.unwrap(), thaw(data))


def _answered(sentences: Callable[[Json], tuple[str, ...]], data: Json) -> tuple[str, ...]:
    """The sentences on data; one for data and schemas that nest without end, and for numbers that cannot be reckoned with."""
    try:
        return sentences(data)
    except RecursionError:
        return ("at the top: the data, or what the schema refers to, is nested too deep",)
    except (ArithmeticError, ValueError) as error:
        return (_shortened(f"at the top: the data cannot be checked: {error}"),)


@lru_cache(maxsize=256)
def _checker(key: _Same) -> Result[Validator, str]:
    """The validator of a schema, or why it is none. RecursionError may rise."""
    from jsonschema import Draft202012Validator, FormatChecker, SchemaError  # noqa: PLC0415 - an extra, and slow to import
    from jsonschema.validators import validator_for  # noqa: PLC0415 - as above
    from referencing import Registry  # noqa: PLC0415 - as above

    schema: Any = thaw(key.schema)
    dialect = schema.get("$schema", "") if isinstance(schema, dict) else ""
    named: Any = validator_for
    draft = Draft202012Validator if dialect == "" else named(schema, default=None) if isinstance(dialect, str) else None
    if draft is None:
        return Failure(_shortened(f"at /$schema: {dialect!r} is not known"))
    try:
        draft.check_schema(schema)
    except SchemaError as error:
        return Failure(_sentence(error))
    formats = FormatChecker(())
    formats.checks("timestamp")(is_timestamp)
    lost = _lost_reference(schema, draft)
    return Success(draft(schema, registry=Registry(), format_checker=formats)) if lost is None else Failure(lost)


def _lost_reference(schema: Any, draft: type[Validator]) -> str | None:
    """Why a schema's references lead nowhere within it and the drafts' own schemas, or to what is no schema; None if all is well."""
    from jsonschema import SchemaError  # noqa: PLC0415 - as above
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # noqa: PLC0415 - as above
    from referencing import Resource  # noqa: PLC0415 - as above
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - as above
    from referencing.jsonschema import specification_with  # noqa: PLC0415 - as above

    top = Resource.from_contents(schema, specification_with(draft.META_SCHEMA["$schema"]))
    checked: set[int] = set()
    try:
        within = [(top, REGISTRY.resolver_with_root(top))]
        for resource, resolver in within:
            for found in [resolver.lookup(reference).contents for reference in _references(resource.contents)]:
                if id(found) not in checked:
                    draft.check_schema(found)  # pyright: ignore[reportArgumentType] - the stubs forget that true and false are schemas
                checked.add(id(found))
            within += [(each, resolver.in_subresource(each)) for each in resource.subresources()]
    except (Unresolvable, ValueError) as error:
        return _shortened(f"at the top: a reference is not in the schema: {error}")
    except SchemaError as error:
        return _shortened(f"at the top: a reference is to what is no schema: {error.message}")
    return None


def _references(contents: object) -> Iterator[str]:
    if isinstance(contents, dict):
        yield from (found for key in ("$ref", "$dynamicRef", "$recursiveRef") if isinstance(found := contents.get(key), str))


def _sentences(checker: Validator, data: Any) -> tuple[str, ...]:
    """The errors in sentences: the least deep first, which say most. Of very many errors only the first ones are looked for."""
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - as above

    errors = sorted(islice(checker.iter_errors(data), _MAX_ERRORS), key=lambda error: len(error.absolute_path))
    told = [_sentence(best_match([error])) for error in errors[:MAX_SENTENCES]]
    more = f"and {len(errors) - MAX_SENTENCES}{' or' if len(errors) == _MAX_ERRORS else ''} more"
    return (*told, more) if len(errors) > MAX_SENTENCES else tuple(told)


def _sentence(error: SchemaError | ValidationError) -> str:
    place = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.absolute_path)
    return _shortened(f"at {_shortened(place, MAX_SENTENCE // 2) or 'the top'}: {error.message}")


def _shortened(text: str, longest: int = MAX_SENTENCE) -> str:
    """A text on one line, cut in its middle: a message has the value in front and what is wrong with it at the end."""
    clean = re.sub(r"\s+", " ", text).encode("utf-8", "backslashreplace").decode()
    tail = longest // 3
    return clean if len(clean) <= longest else f"{clean[: longest - tail - 3]}...{clean[-tail:]}"
