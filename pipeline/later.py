"""Names of a package that are imported when one is asked for, so that nobody waits for what he does not use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def later(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package whose names live in these modules; AttributeError for a name that is not among them.

    >>> later("pipeline", {"capture": "pipeline.capture"})("captrue")
    Traceback (most recent call last):
    AttributeError: module 'pipeline' has no attribute 'captrue'
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
