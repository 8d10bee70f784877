"""Room for calls: as many in flight as a model has connections for, whatever number of documents wait to be judged."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TypeVar

import anyio
from inspect_ai.model import Model

from genie_inspect.asking.gathering import one_error
from genie_inspect.inspect_private import connections, waiting

ALL = 1_000_000
S = TypeVar("S")
T = TypeVar("T")


class Room:
    """Starts a call when it can soon be sent: a hundred documents' 85,000 at once would take a gigabyte, and more time.

    Args:
        model: Who is called.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._turn = anyio.Lock()

    @cached_property
    def _places(self) -> anyio.Semaphore:
        """Made by the first call: only then are the run's settings known."""
        return anyio.Semaphore(calls_in_flight(self.model))

    async def each(self, ask: Callable[[S], Awaitable[T]], items: Sequence[S]) -> list[T]:
        """What each item got, in order; the calls of one question after those of another, as a prompt cache wants them.

        Args:
            ask: The call for one item.
            items: What one question needs calls for.

        Raises:
            Exception: What a call raised, as `gathered` does.
        """
        results: dict[int, T] = {}
        taken = 0

        async def run(index: int, item: S) -> None:
            nonlocal taken
            try:
                results[index] = await ask(item)
            finally:
                taken -= 1
                self._places.release()

        try:
            with one_error():
                async with anyio.create_task_group() as group, self._its_turn():
                    for index, item in enumerate(items):
                        with waiting():
                            await self._places.acquire()
                        taken += 1
                        group.start_soon(run, index, item)
        finally:
            for _ in range(taken):  # those that were cancelled before they began
                self._places.release()
        return [results[index] for index in range(len(items))]

    @asynccontextmanager
    async def _its_turn(self) -> AsyncIterator[None]:
        with waiting():
            await self._turn.acquire()
        try:
            yield
        finally:
            self._turn.release()


def calls_in_flight(model: Model) -> int:
    """Twice the model's connections, so that none waits for a call; all calls where the provider takes batches."""
    most = connections(model)
    return ALL if most is None else 2 * most
