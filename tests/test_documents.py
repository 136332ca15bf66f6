"""What the documents show is what happens: the README's example runs, the notebooks print what is kept in them."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_the_readme_s_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert len(examples) == 7
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "('read', 'grep', 'find', 'ls', 'submit_result')",
        f"{tmp_path}/.claude/agents/explore.md",
        "2 ('read', 'grep', 'find', 'ls', 'bash', 'submit_result') spawns nobody",
        "Cannot spawn 'reviewer'. Allowed: explore, plan",
        "['*', 'explore']",
        "['started', 'text', 'tool_started', 'tool_finished', 'text', 'finished']",
        "completed There is none. 2",
        "Both are back. [1, 1, 3, 3]",
        "True None",
        "It is done. ['user']",
        "I was asked 1 thing, and have 5 tools.",
    ]


def test_there_are_notebooks() -> None:
    assert [path.name for path in NOTEBOOKS] == ["01_discovery.ipynb", "02_guards_and_launch.ipynb", "03_subagents.ipynb"]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_prints_what_is_kept_in_it(path: Path) -> None:
    kept = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    NotebookClient(fresh, timeout=300, kernel_name="python3").execute()
    assert outputs(fresh) == outputs(kept)


def outputs(notebook: Any) -> list[tuple[str, list[object]]]:
    """What each cell of code printed, in however many pieces it arrived, and what it gave."""
    cells = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    return [("".join(each.get("text", "") for each in cell), [each["data"] for each in cell if "data" in each]) for cell in cells]


@pytest.mark.parametrize("name", ["pipeline", "pipeline.subagent"])
def test_a_package_names_every_public_name_once_and_in_order(name: str) -> None:
    package = import_module(name)
    assert all(getattr(package, each) is getattr(package, each) for each in package.__all__)
    assert not [each for each in package.__all__ if isinstance(getattr(package, each), ModuleType)]
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nonsense'"):
        package.nonsense  # noqa: B018
    assert sorted(set(package.__all__), key=lambda each: (not each.isupper(), each)) == package.__all__
