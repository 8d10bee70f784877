import anyio
import pytest

from genie_inspect.asking.gathering import gathered
from genie_inspect.errors import GraderFailedError


async def after(seconds: float, value: int) -> int:
    await anyio.sleep(seconds)
    return value


async def failing(error: Exception) -> int:
    raise error


async def test_results_stand_in_the_order_of_the_tasks_and_not_of_their_ends() -> None:
    assert await gathered(after(0.02, 1), after(0, 2), after(0.01, 3)) == [1, 2, 3]


async def test_graders_that_fail_side_by_side_are_one_error_also_when_gathered_twice_over() -> None:
    with pytest.raises(GraderFailedError, match="down"):
        await gathered(
            gathered(failing(GraderFailedError("down")), failing(GraderFailedError("down"))),
            failing(GraderFailedError("down")),
        )


async def test_another_fault_does_not_hide_behind_a_failed_grader() -> None:
    with pytest.raises(KeyError, match="bug"):
        await gathered(failing(GraderFailedError("down")), failing(KeyError("bug")), failing(GraderFailedError("down")))
