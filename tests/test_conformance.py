"""250 recorded trees: what discovery answers is what the rules say, and under XCSH what the real program said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline import STANDARD, XCSH, Host, capture, discover
from tests.trees import by_hand, lay, rows, unrooted

ROWS = rows()
HOSTS = pytest.mark.parametrize(("host", "key"), [(STANDARD, "default"), (XCSH, "xcsh")], ids=["standard", "xcsh"])


def test_there_are_250_trees() -> None:
    assert len(ROWS) == 250


@HOSTS
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_from_a_snapshot_made_by_hand(row: dict[str, Any], host: Host, key: str) -> None:
    assert discover(by_hand(row), host=host).to_dict() == row["expected"][key]


@HOSTS
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_from_real_directories(row: dict[str, Any], host: Host, key: str, tmp_path: Path) -> None:
    cwd, home = lay(row, tmp_path)
    answer = discover(capture(cwd, home, host=host), host=host).to_dict()
    assert unrooted(answer, tmp_path) == row["expected"][key]
