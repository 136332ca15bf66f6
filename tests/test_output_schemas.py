"""Schemas of answers and of tools' inputs, by example."""

from __future__ import annotations

import pytest

from pipeline.frozen import Json, JsonObject, freeze
from pipeline.request import as_schema
from pipeline.subagent.schemas import MAX_DATA, MAX_SENTENCE, OutputSchema, input_mismatch, output_schema
from pipeline.subagent.typedef import is_timestamp, is_typedef, translated


def of(schema: object) -> OutputSchema:
    made = output_schema(as_schema(schema, "schema")).unwrap()
    assert made is not None
    return made


def why(schema: object) -> str:
    return str(output_schema(as_schema(schema, "schema")).failure())


TREE = {"definitions": {"tree/~%": {"properties": {"of": {"elements": {"ref": "tree/~%"}}}}}, "ref": "tree/~%"}
SHAPES = {"discriminator": "kind", "mapping": {"dot": {"properties": {}}, "disc": {"properties": {"r": {"type": "float32"}}}}}
PERSON = {"properties": {"name": {"type": "string"}}, "optionalProperties": {"age": {"type": "uint8"}}}


@pytest.mark.parametrize(
    ("schema", "fits", "fails"),
    [
        ({}, [None, 1, {"a": []}], []),
        ({"nullable": True}, [None, 1], []),
        ({"type": "boolean"}, [True], [1, "true", None]),
        ({"type": "int8"}, [-128, 127, 1.0], [128, -129, 1.5, True, "1"]),
        ({"type": "uint32"}, [0, 2**32 - 1], [-1, 2**32]),
        ({"type": "float64"}, [1, 1.5], [True, "1"]),
        ({"type": "string", "nullable": True}, ["", None], [1]),
        ({"type": "timestamp"}, ["2024-02-29T23:59:59.5+01:00"], ["2023-02-29T00:00:00Z", "now", 5]),
        ({"enum": ["a", "b"]}, ["a"], ["c", None]),
        ({"enum": ["a"], "nullable": True}, ["a", None], ["b"]),
        ({"elements": {"type": "string"}}, [[], ["a"]], [[1], {}, "a"]),
        ({"values": {"type": "int8"}, "nullable": True}, [{}, {"a": 1}, None], [{"a": "x"}, []]),
        (PERSON, [{"name": "a"}, {"name": "a", "age": 1}], [{}, {"name": 1}, {"name": "a", "age": -1}, {"name": "a", "x": 1}, []]),
        ({**PERSON, "additionalProperties": True}, [{"name": "a", "x": 1}], [{"x": 1}]),
        ({"optionalProperties": {"a": {}}, "additionalProperties": False}, [{}, {"a": 1}], [{"b": 1}]),
        (TREE, [{"of": []}, {"of": [{"of": []}]}], [{}, {"of": [{}]}]),
        ({**TREE, "nullable": True}, [None, {"of": []}], [5]),
        (SHAPES, [{"kind": "dot"}, {"kind": "disc", "r": 1}], [{}, {"kind": "x"}, {"kind": 5}, {"kind": "disc"}, {"kind": "dot", "r": 1}, 5]),
        ({"discriminator": "kind", "mapping": {}}, [], [{}, {"kind": "a"}]),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, [{}, {"a": 1, "b": 2}], [{"a": "x"}, 5]),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}, [["a", 1]], [[1]]),
        ({"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"}, ["x"], [1]),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, [{"type": "string"}], [{"type": 5}]),
        (True, [1, None], []),
        (False, [], [1, None]),
    ],
)
def test_what_fits_and_what_does_not(schema: object, fits: list[object], fails: list[object]) -> None:
    made = of(schema)
    assert [made.mismatches(freeze(data)) for data in fits] == [()] * len(fits)
    assert all(made.mismatches(freeze(data)) for data in fails)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer"},
        {"type": ["string"]},
        {"type": "string", "extra": 1},
        {"type": "string", "enum": ["a"]},
        {"nullable": 1},
        {"metadata": 5},
        {"enum": []},
        {"enum": ["a", "a"]},
        {"enum": [1]},
        {"enum": "a"},
        {"ref": "a"},
        {"ref": ["a"], "definitions": {}},
        {"definitions": 5},
        {"definitions": {"a": 5}},
        {"definitions": {"a": {"definitions": {}}}},
        {"elements": True},
        {"values": 5},
        {"properties": 5},
        {"optionalProperties": 5},
        {"properties": {"a": 5}},
        {"properties": {"a": {}}, "optionalProperties": {"a": {}}},
        {"properties": {}, "additionalProperties": {}},
        {"additionalProperties": True},
        {"discriminator": "a"},
        {"discriminator": 5, "mapping": {}},
        {"discriminator": "a", "mapping": 5},
        {"discriminator": "a", "mapping": {"x": 5}},
        {"discriminator": "a", "mapping": {"x": {"type": "string"}}},
        {"discriminator": "a", "mapping": {"x": {"properties": {"a": {}}}}},
        {"discriminator": "a", "mapping": {"x": {"optionalProperties": {"a": {}}}}},
        {"discriminator": "a", "mapping": {"x": {"properties": {}, "nullable": True}}},
        True,
    ],
)
def test_what_is_no_type_definition(schema: object) -> None:
    assert not is_typedef(freeze(schema))


def test_a_description_is_kept() -> None:
    described = {"elements": {"type": "string", "metadata": {"description": "a name", "x": 1}}, "metadata": {"description": 5}}
    assert translated(freeze(described)) == {"type": "array", "items": {"type": "string", "description": "a name"}}


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("0000-02-29T00:00:00z", True),
        ("2024-01-01t00:00:00-23:59", True),
        ("1990-12-31T23:59:60Z", True),
        ("1991-01-01T08:59:60+09:00", True),
        ("1990-12-31T22:59:60Z", False),
        ("1990-12-31T23:59:61Z", False),
        ("2024-01-01T24:00:00Z", False),
        ("2024-01-01T00:60:00Z", False),
        ("2024-01-01T00:00:00+24:00", False),
        ("2024-01-01T00:00:00+00:60", False),
        ("2024-13-01T00:00:00Z", False),
        ("2024-01-01T00:00:00", False),
        ("2024-01-01T00:00:00Z\n", False),
        ("２０２４-01-01T00:00:00Z", False),
    ],
)
def test_timestamps(text: str, valid: bool) -> None:
    assert is_timestamp(text) == valid


def test_mismatches_are_sentences_with_places() -> None:
    assert of(PERSON).mismatches(freeze({"name": 5, "age": "x"})) == (
        "at /name: 5 is not of type 'string'",
        "at /age: 'x' is not of type 'integer'",
    )
    assert of({"values": {"type": "string"}}).mismatches(freeze({"a/b~\ud800": 1})) == (r"at /a~1b~0\ud800: 1 is not of type 'string'",)
    assert of({"anyOf": [{"type": "string"}, {"properties": {"a": {"type": "string"}}}]}).mismatches(freeze({"a": 1})) != ()
    deep = {"type": "array", "items": {"items": {"type": "string"}}, "minItems": 3}
    assert of(deep).mismatches(((1,), ())) == ("at the top: [[1], []] is too short", "at /0/0: 1 is not of type 'string'")


def test_there_are_five_sentences_at_most_and_none_is_long() -> None:
    names = of({"elements": {"type": "int8"}})
    assert names.mismatches(("x",) * 8)[-1] == "and 3 more"
    assert names.mismatches(("x",) * 500)[-1] == "and 95 or more"
    assert len(names.mismatches(("x",) * 5)) == 5
    (long,) = of({"values": {"type": "int8"}}).mismatches(freeze({"k" * 500: "x" * 500}))
    assert len(long) == MAX_SENTENCE
    assert long.endswith("xxx' is not of type 'integer'")


def test_data_that_cannot_be_checked_does_not_fit() -> None:
    assert of({"type": "string"}).mismatches("x" * MAX_DATA) == ("at the top: 1000002 characters of JSON are more than the 1000000 that are checked",)
    loop = {"definitions": {"a": {"ref": "b"}, "b": {"ref": "a"}}, "ref": "a"}
    assert of(loop).mismatches(1) == ("at the top: the data, or what the schema refers to, is nested too deep",)
    (unreckoned,) = of({"multipleOf": 0.5}).mismatches(10**400)
    assert unreckoned.startswith("at the top: the data cannot be checked: ")
    deep: Json = ()
    for _ in range(5_000):
        deep = (deep,)
    assert of({}).mismatches(deep) == ("at the top: the data, or what the schema refers to, is nested too deep",)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "nonsense"}, "at /type: 'nonsense' is not valid under any of the given schemas"),
        ({"pattern": "("}, "at /pattern: '(' is not a 'regex'"),
        ({"$schema": 5}, "at /$schema: 5 is not known"),
        ({"$schema": "nonsense"}, "at /$schema: 'nonsense' is not known"),
        ({"$ref": "https://nowhere.invalid/x"}, "at the top: a reference is not in the schema: https://nowhere.invalid/x"),
        ({"$ref": "file:///etc/passwd"}, "at the top: a reference is not in the schema: file:///etc/passwd"),
        ({"properties": {"a": {"items": {"$ref": "#/$defs/x"}}}}, "at the top: a reference is not in the schema: '/$defs/x' does not exist within"),
        ({"$id": "http://[x", "$ref": "y"}, "at the top: a reference is not in the schema: Invalid IPv6 URL"),
        ({"$ref": "#/const", "const": 5}, "at the top: a reference is to what is no schema: 5 is not of type"),
        ({"ref": "a"}, ""),
    ],
)
def test_what_is_no_schema(schema: object, said: str) -> None:
    assert why(schema).startswith(said) if said else of(schema)


def test_a_schema_that_nests_too_deep_is_none() -> None:
    schema = JsonObject({})
    for _ in range(400):
        schema = JsonObject({"items": schema})
    assert output_schema(schema).failure() == "it is nested too deep"


def test_none_is_no_schema_and_the_text_is_the_original() -> None:
    assert output_schema(None).unwrap() is None
    assert of('{"elements": {"type": "int8"}}').as_text() == '{"elements": {"type": "int8"}}'
    assert of(True).as_text() == "true"


def test_inputs_of_tools() -> None:
    schema = JsonObject({"type": "object", "properties": freeze({"n": {"type": "integer", "minimum": 1}}), "required": ("n",)})
    assert input_mismatch(schema, JsonObject({"n": 1})) is None
    assert input_mismatch(schema, JsonObject({"n": 0})) == "at /n: 0 is less than the minimum of 1"
    assert input_mismatch(schema, JsonObject({})) == "at the top: 'n' is a required property"
    broken = JsonObject({"type": 5})
    assert str(input_mismatch(broken, JsonObject({}))).startswith("the schema itself is at fault: at /type: 5 is not")


def test_schemas_that_are_equal_in_python_alone_are_not_confused() -> None:
    one, true = JsonObject({"const": 1}), JsonObject({"const": True})
    assert one == true
    assert (input_mismatch(JsonObject({"properties": JsonObject({"a": one})}), JsonObject({"a": 1}))) is None
    assert (input_mismatch(JsonObject({"properties": JsonObject({"a": true})}), JsonObject({"a": 1}))) == "at /a: True was expected"
