"""Many requests side by side, and one error when several of them fail."""

from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio

from genie_inspect.errors import GraderFailedError

T = TypeVar("T")


async def gathered(*tasks: Awaitable[T]) -> list[T]:
    """The results in the order of the tasks, which run side by side.

    Inspect's `collect` opens a span a task, which at hundreds of small calls is a tenth of all time, and raises an
    ExceptionGroup when several tasks fail at once, which no `except` of one error sees.

    Raises:
        Exception: What a task raised; of several errors one, as `one_error` picks it.
    """
    results: dict[int, T] = {}

    async def run(index: int, task: Awaitable[T]) -> None:
        results[index] = await task

    with one_error():
        async with anyio.create_task_group() as group:
            for index, task in enumerate(tasks):
                group.start_soon(run, index, task)
    return [results[index] for index in range(len(tasks))]


@contextmanager
def one_error() -> Iterator[None]:
    """One error where a task group raises several.

    Raises:
        Exception: Of several errors the first that is not a failed grader, so that no other fault hides behind one;
            else the first.
    """
    try:
        yield
    except ExceptionGroup as failures:
        errors = list(_single(failures))
        raise next((error for error in errors if not isinstance(error, GraderFailedError)), errors[0]) from failures


def _single(group: ExceptionGroup[Exception]) -> Iterator[Exception]:
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _single(error)
        else:
            yield error
