"""Choosing between strategies by weight."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


def weighted(*choices: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """One of these, each as often as it stands here; `one_of` takes a strategy that stands there twice for one.

    Source: Hypothesis, `OneOfStrategy.element_strategies`.
    """
    return st.integers(0, len(choices) - 1).flatmap(choices.__getitem__)
