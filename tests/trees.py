"""Recorded trees, as snapshots and as real directories."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from pipeline import Snapshot

DATA = Path(__file__).parent / "data"


def rows() -> list[dict[str, Any]]:
    """The recorded trees with the answers of the real program."""
    return [json.loads(line) for line in (DATA / "trees.jsonl").read_text("utf-8").splitlines()]


def by_hand(row: dict[str, Any]) -> Snapshot:
    """A recorded tree as a snapshot that no disk was asked for."""
    return Snapshot.from_json(json.dumps(row)).unwrap()


def lay(row: dict[str, Any], root: Path) -> tuple[str, str]:
    """A recorded tree as real files below `root`; cwd and home there. Links and install paths lead to where things are now."""
    for entry in row["entries"]:
        path = Path(f"{root}{entry['path']}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if "link" in entry:
            path.symlink_to(f"{root}{entry['link']}" if entry["link"].startswith("/") else entry["link"])
        elif "dir" in entry:
            path.mkdir(exist_ok=True)
        elif "base64" in entry:
            path.write_bytes(base64.b64decode(entry["base64"]))
        else:
            path.write_bytes(rerooted(entry, root).encode("utf-8", "surrogatepass"))
    for place in (row["cwd"], row["home"]):
        Path(f"{root}{place}").mkdir(parents=True, exist_ok=True)
    return f"{root}{row['cwd']}", f"{root}{row['home']}"


def rerooted(entry: dict[str, Any], root: Path) -> str:
    """The text of an entry; a registry's install paths led below `root`."""
    text = str(entry["text"])
    if os.path.basename(entry["path"]) != "installed_plugins.json":
        return text
    return text.replace('"installPath": "/', f'"installPath": "{root}/')


def unrooted(answer: object, root: Path) -> object:
    """An answer with `root` taken off every path in it."""
    if isinstance(answer, dict):
        return {str(unrooted(key, root)): unrooted(value, root) for key, value in answer.items()}
    if isinstance(answer, list):
        return [unrooted(item, root) for item in answer]
    return answer.removeprefix(str(root)) if isinstance(answer, str) else answer
