"""Pytest takes the settings of the laws from here, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import anyio
import pytest

from properties.profiles import load

load()


@pytest.fixture(scope="module")
def files_on_the_loop() -> Iterator[None]:
    """Files are looked at where the loop runs: which agent comes first is then a matter of the example and not of threads."""

    async def at_once(function: Callable[..., object], *args: object) -> object:
        await anyio.sleep(0)
        return function(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anyio.to_thread, "run_sync", at_once)
        yield
