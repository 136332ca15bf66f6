"""The values themselves: frozen JSON, snapshots and their JSON, nodes."""

from __future__ import annotations

import gc
import hashlib
import json
import pickle

import pytest

from pipeline import Directory, File, Link, Snapshot, clear_bundled_agents_cache, discover, load_bundled_agents
from pipeline.bundled import BundledAgentError, parse_bundled
from pipeline.encoding import BadSnapshot, decode_tree
from pipeline.frozen import JsonObject, freeze, thaw
from pipeline.nodes import Absent, Special, Stamp, TooLarge, Unread, Unreadable
from properties.strategies import valid_agent


def test_a_frozen_object_is_a_mapping_that_cannot_change() -> None:
    frozen = freeze({"b": [1, {"c": None}], "a": True})
    assert isinstance(frozen, JsonObject)
    assert (list(frozen), len(frozen), frozen["a"]) == (["b", "a"], 2, True)
    assert thaw(frozen) == {"b": [1, {"c": None}], "a": True}
    assert frozen == freeze({"a": True, "b": (1, {"c": None})})
    assert hash(frozen) == hash(freeze({"a": True, "b": [1, {"c": None}]}))
    assert pickle.loads(pickle.dumps(frozen)) == frozen
    assert repr(freeze({"a": 1})) == "JsonObject({'a': 1})"
    with pytest.raises(AttributeError, match="cannot change"):
        frozen.x = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="not a JSON value: set"):
        freeze({1, 2})


def test_each_kind_of_node_survives_json() -> None:
    nodes: dict[str, str | bytes | File | Link | Directory | Special | TooLarge | Unread | Unreadable | Absent] = {
        "/d/text": File(b"text", Stamp(1, 4, 7)),
        "/d/bytes": b"\xff",
        "/d/link": Link("../x"),
        "/d/special": Special("a socket"),
        "/d/large": TooLarge(9, 5),
        "/d/unread": Unread(3),
        "/d/unreadable": Unreadable("no"),
        "/d/closed": Unreadable("no", directory=True),
        "/part": Directory(complete=False, owner=3, mode=0o755),
        "/part/absent": Absent(),
        "/empty": Directory(),
    }
    snapshot = Snapshot.from_tree(nodes, user=5)
    assert Snapshot.from_json(snapshot.to_json()).unwrap() == snapshot
    assert Snapshot("/", "/") == Snapshot.from_json(Snapshot("/", "/").to_json()).unwrap()


@pytest.mark.parametrize(
    ("entries", "where"),
    [
        ({}, "entries"),
        ([1], "entries[0]"),
        ([{"path": "/a", "text": "x"}, {"path": 5}], "entries[1].path"),
        ([{"path": "/a"}], "entries[0]"),
        ([{"path": "/a", "base64": "é"}], "entries[0]"),
        ([{"path": "/a", "base64": "AAA"}], "entries[0]"),
    ],
)
def test_entries_that_are_none(entries: object, where: str) -> None:
    assert decode_tree(entries).failure().where == where


def test_directories_named_like_files_are_listed_in_order_whatever_the_map_s_own_order() -> None:
    names = [f"{letter}.md" for letter in "hgfedcba"]
    made = Snapshot.from_tree({f".claude/agents/{name}": Directory() for name in names})
    assert [problem.path.rpartition("/")[2] for problem in discover(made).problems] == sorted(names)


def test_a_stamp_of_another_shape_is_no_stamp() -> None:
    text = json.dumps({"cwd": "/", "home": "/", "entries": [{"path": "/a", "text": "x", "stamp": [1]}]})
    assert Snapshot.from_json(text).unwrap().read("/a").unwrap().stamp is None


def test_json_nested_too_deep_is_no_snapshot() -> None:
    assert isinstance(Snapshot.from_json("[" * 100_000).failure(), BadSnapshot)


def test_trees_of_any_depth_compare_and_go_through_json() -> None:
    path = "/d" * 300 + "/f"
    one, other = Snapshot.from_tree({path: "x"}), Snapshot.from_tree({path: "y"})
    assert one != other
    assert one == Snapshot.from_tree({path: "x"}) == Snapshot.from_json(one.to_json()).unwrap()
    assert hash(one.root) == hash(Snapshot.from_tree({path: "x"}).root)
    assert one.root != "a directory"
    deep = "/d" * 2000 + "/f"
    again = Snapshot.from_json(Snapshot.from_tree({deep: "x"}).to_json()).unwrap()
    assert [each for each, _ in again.walk()] == [deep]
    assert not list(again.remove(deep).walk())


@pytest.mark.parametrize("path", ["relative", "", "/a\0b", "/" + "a" * 4096])
@pytest.mark.parametrize("key", ["cwd", "home"])
def test_a_snapshot_is_seen_from_a_path_that_there_can_be(key: str, path: str) -> None:
    found = Snapshot.from_json(json.dumps({"cwd": "/p", "home": "/h", "entries": []} | {key: path}))
    assert found.failure() == BadSnapshot(key, "an absolute path of at most 4096 characters")
    whole = {"cwd": "/p", "home": "/h", "entries": [{"path": path, "text": ""}]}
    assert Snapshot.from_json(json.dumps(whole)).failure().where == "entries[0].path"


def test_a_file_knows_its_hash_and_its_real_path() -> None:
    snapshot = Snapshot.from_tree({"/a": Link("/b"), "/b": "text"})
    assert snapshot.read("/a").unwrap().digest == hashlib.sha256(b"text").hexdigest()
    assert snapshot.real_path("/a").unwrap() == "/b"
    assert snapshot.real_path("/c").failure().node == Absent()


def test_what_is_no_directory_has_no_listing() -> None:
    assert Snapshot.from_tree({"/a": "x"}).list("/a").failure().path == "/a"


def test_paths_with_dots_and_links_in_them() -> None:
    snapshot = Snapshot.from_tree({"/a/b/c": "x", "/l": Link("a/b"), "/a/up": Link("../../..")})
    assert snapshot.locate("/l/../b/./c").real == "/a/b/c"
    assert snapshot.locate("/a/up/a").real == "/a"
    assert snapshot.locate("/a/b/c/d").node == Absent()
    assert snapshot.put("/l/new", "y").read("/a/b/new").unwrap().text == "y"
    assert snapshot.put("/l", "y").read("/l").unwrap().text == "y"


def test_removing_what_is_not_there_changes_nothing() -> None:
    snapshot = Snapshot.from_tree({"/a/b": "x"})
    assert snapshot.remove("/nowhere/b") == snapshot
    assert snapshot.remove("/a/none") == snapshot
    assert Snapshot("/", "/").remove("/a").locate("/a").node == Absent()


def test_bundled_agents_are_read_at_level_fatal() -> None:
    first = load_bundled_agents()
    assert load_bundled_agents() is first
    clear_bundled_agents_cache()
    assert load_bundled_agents() == first
    assert [agent.name for agent in first if agent.output is not None] == ["explore", "reviewer"]
    for broken in ("no frontmatter", "---\nname: x\ndescription: a: b\n---\n", valid_agent("y")):
        with pytest.raises(BundledAgentError, match=r"bundled:x\.md"):
            parse_bundled("x", broken)


@pytest.mark.parametrize("name", ["explore", "reviewer"])
def test_bundled_output_schemas_are_json_type_definitions(name: str) -> None:
    agent = next(agent for agent in load_bundled_agents() if agent.name == name)
    assert_jtd(thaw(agent.output))


FORMS = {"type", "enum", "elements", "properties", "optionalProperties"}
TYPES = {"boolean", "string", "timestamp", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32"}


def assert_jtd(schema: object) -> None:
    """Every level is one form of RFC 8927, as far as the bundled schemas use them."""
    assert isinstance(schema, dict)
    assert set(schema) <= FORMS
    assert len(set(schema) - {"optionalProperties"}) <= 1
    assert schema.get("type", "string") in TYPES
    for inner in (*schema.get("properties", {}).values(), *schema.get("optionalProperties", {}).values()):
        assert_jtd(inner)
    if "elements" in schema:
        assert_jtd(schema["elements"])


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_left_as_it_was(on: bool) -> None:
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        discover(Snapshot.from_tree({}))
        assert gc.isenabled() is on
    finally:
        (gc.enable if was_on else gc.disable)()
