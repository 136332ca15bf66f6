"""What a running conversation waits on: news from the tasks it left in the background, and its place among those that run at once."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import anyio

from pipeline.subagent.conversation import Notified


class Mailbox:
    """News for one conversation, in the order in which they came. Each is taken once."""

    def __init__(self, news: Iterable[Notified] = ()) -> None:
        self._news = deque(news)
        self._arrived: anyio.Event | None = None

    def post(self, news: Notified) -> None:
        """Leave news; whoever waits for some wakes."""
        self._news.append(news)
        if self._arrived is not None:
            self._arrived.set()

    def take(self) -> Notified | None:
        """The oldest news; None where there is none."""
        return self._news.popleft() if self._news else None

    def taken(self) -> tuple[Notified, ...]:
        """All news, oldest first; none is left."""
        news = tuple(self._news)
        self._news.clear()
        return news

    async def wait(self) -> Notified:
        """The oldest news, once there is some."""
        while not self._news:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        return self._news.popleft()


class Slot:
    """One agent's place among those that run at once; without `places` there is room for all.

    An agent that waits for others does not run: it gives its place back meanwhile, or a full house of waiting parents would wait for ever.
    """

    def __init__(self, places: anyio.Semaphore | None = None) -> None:
        self.places = places
        self._held = False

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Within, the place is taken."""
        await self._take()
        try:
            yield
        finally:
            self._leave()

    @asynccontextmanager
    async def given_back(self) -> AsyncIterator[None]:
        """Within, the place is free for others; it is taken again afterwards, where it was held."""
        was_held = self._held
        self._leave()
        try:
            yield
        finally:
            if was_held:
                await self._take()

    async def _take(self) -> None:
        if self.places is not None:
            await self.places.acquire()
            self._held = True

    def _leave(self) -> None:
        if self.places is not None and self._held:
            self._held = False
            self.places.release()
