"""The laws of schemas: JTD in JSON Schema means what it meant, and whatever is given has an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

import jtd  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from returns.pipeline import is_successful

from pipeline.frozen import Json, JsonObject, freeze, thaw
from pipeline.subagent.schemas import input_mismatch, output_schema
from pipeline.subagent.typedef import is_typedef, translated

NAMES: st.SearchStrategy[str] = st.sampled_from(("a", "b", "c/~%", "\ud800"))
TYPES = st.sampled_from(("boolean", "string", "timestamp", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32"))
BORDERS = [sign * 2**bits + more for bits in (7, 8, 15, 16, 31, 32) for more in (-1, 0, 1) for sign in (1, -1)]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from((*BORDERS, 1.0, 1.5, -0.0, 255.0)),
    st.integers(-2, 2),
    NAMES,
    st.sampled_from(("2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "1985-04-12T23:20:50.52+01:00", "2024-01-01", "x")),
)
KEYS = st.one_of(NAMES, st.sampled_from(("tag", "x")))
DATA = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)), max_leaves=8)


def _properties(inner: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[Mapping[str, Json]]:
    parts = st.tuples(st.dictionaries(NAMES, inner, max_size=2), st.dictionaries(NAMES, inner, max_size=2))
    return parts.map(lambda both: {"properties": JsonObject(both[0]), "optionalProperties": JsonObject(_others(both[1], both[0]))})


def _others(those: Mapping[str, JsonObject], taken: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    return {name: each for name, each in those.items() if name not in taken}


def _forms(inner: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[Mapping[str, Json]]:
    cases = st.dictionaries(NAMES, _properties(inner).map(JsonObject), max_size=2).map(JsonObject)
    return st.one_of(
        inner.map(lambda each: {"elements": each}),
        inner.map(lambda each: {"values": each}),
        _properties(inner),
        cases.map(lambda each: {"discriminator": "tag", "mapping": each}),
    )


def _nullable(forms: st.SearchStrategy[Mapping[str, Json]]) -> st.SearchStrategy[JsonObject]:
    return st.tuples(forms, st.sampled_from(({}, {"nullable": True}, {"nullable": False}))).map(lambda both: JsonObject({**both[0], **both[1]}))


SIMPLE: st.SearchStrategy[Mapping[str, Json]] = st.one_of(
    st.just({}),
    TYPES.map(lambda name: {"type": name}),
    st.lists(NAMES, min_size=1, max_size=3, unique=True).map(lambda names: {"enum": tuple(names)}),
    st.just({"ref": "tree/~%"}),
    st.just({"ref": "int"}),
)
SCHEMAS = st.one_of(_nullable(SIMPLE), st.recursive(_nullable(SIMPLE), lambda inner: _nullable(_forms(inner)), max_leaves=6))
DEFINITIONS = freeze({"tree/~%": {"optionalProperties": {"a": {"ref": "tree/~%"}, "b": {"elements": {"ref": "tree/~%"}}}}, "int": {"type": "int8"}})
TYPEDEFS = SCHEMAS.map(lambda schema: JsonObject({**schema, "definitions": DEFINITIONS}))


def judged_by_jtd(schema: Json, data: object) -> bool:
    parsed = jtd.Schema.from_dict(cast("dict[str, object]", thaw(schema)))
    parsed.validate()
    return not jtd.validate(schema=parsed, instance=data)


@given(TYPEDEFS, DATA)
def test_json_schema_accepts_what_jtd_accepts(schema: JsonObject, data: object) -> None:
    """A JTD schema and its translation accept the same data."""
    assert is_typedef(schema)
    made = output_schema(schema).unwrap()
    assert made is not None
    assert (made.mismatches(freeze(data)) == ()) == judged_by_jtd(schema, data)


def test_the_data_fit_and_do_not_fit_in_every_form() -> None:
    reached: set[tuple[str, bool]] = set()

    @settings(max_examples=900, database=None, derandomize=True)
    @given(TYPEDEFS, DATA)
    def gather(schema: JsonObject, data: object) -> None:
        form = min({"ref", "type", "enum", "elements", "values", "properties", "discriminator"} & set(schema), default="")
        reached.add((form, judged_by_jtd(schema, data)))

    gather()
    forms = ("ref", "type", "enum", "elements", "values", "properties", "discriminator")
    assert {(form, fits) for form in forms for fits in (True, False)} <= reached


WORDS = (
    "type enum properties items $ref $id $schema pattern anyOf not minimum multipleOf required $defs ref mapping discriminator elements values"
    " nullable definitions additionalProperties if then const $dynamicRef $anchor format"
)
KEYWORDS = st.sampled_from(WORDS.split())
VALUES = st.one_of(
    LEAVES,
    TYPES,
    st.sampled_from(("integer", "object", "#", "#/$defs/a", "http://x/y", "(", "a*", "date", "http://json-schema.org/draft-04/schema#")),
)
ANYTHING = st.recursive(
    VALUES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYWORDS, NAMES), inner, max_size=4)), max_leaves=12
)


@given(st.one_of(st.none(), st.booleans(), st.dictionaries(KEYWORDS, ANYTHING, max_size=4)), DATA)
def test_every_schema_has_an_answer(schema: object, data: object) -> None:
    """Any JSON is a schema or is told why not in a short sentence; any data fits one or is told why not; nothing raises."""
    made = output_schema(freeze(schema))
    if not is_successful(made):
        assert 0 < len(made.failure()) <= 200
        return
    held = made.unwrap()
    for sentence in held.mismatches(freeze(data)) if held else ():
        assert re.match(r"at (the top|/)|and \d", sentence)
        assert len(sentence) <= 200
    if held:
        assert freeze(json.loads(held.as_text())) == held.original


@given(TYPEDEFS, st.dictionaries(KEYS, DATA, max_size=3))
def test_a_tool_s_input_is_judged_as_an_answer_is(schema: JsonObject, data: dict[str, object]) -> None:
    """An input fits a tool's JSON Schema exactly if it fits as an answer; the sentences are the same."""
    plain = translated(schema)
    made = output_schema(plain).unwrap()
    given_data = freeze(data)
    assert made is not None
    assert isinstance(given_data, JsonObject)
    assert input_mismatch(plain, given_data) == ("; ".join(made.mismatches(given_data)) or None)


@pytest.mark.parametrize("schema", [{"type": "string"}, {"optionalProperties": {"a": {}}}])
def test_the_oracle_itself(schema: object) -> None:
    assert judged_by_jtd(freeze(schema), 5) is False
