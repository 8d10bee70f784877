from itertools import groupby

import anyio
import pytest
from inspect_ai.model import GenerateConfig, Model, get_model

from genie_inspect.asking.in_flight import Room, calls_in_flight
from genie_inspect.errors import GraderFailedError


def model(**config: object) -> Model:
    return get_model("mockllm/model", config=GenerateConfig.model_validate(config), memoize=False)


class Busy:
    """Counts what is under way, and keeps the order in which it began."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.begun: list[str] = []

    async def call(self, name: str) -> str:
        self.now += 1
        self.most = max(self.most, self.now)
        self.begun.append(name)
        await anyio.sleep(0.001)
        self.now -= 1
        return name.upper()


async def test_results_stand_in_the_order_of_the_items() -> None:
    async def late(seconds: float) -> float:
        await anyio.sleep(seconds)
        return seconds

    assert await Room(model(max_connections=2)).each(late, [0.02, 0, 0.01]) == [0.02, 0, 0.01]


async def test_no_more_calls_are_under_way_than_twice_the_connections_and_questions_follow_each_other() -> None:
    room, busy = Room(model(max_connections=3)), Busy()
    async with anyio.create_task_group() as group:
        for question in "abcde":
            group.start_soon(room.each, busy.call, [f"{question}{number}" for number in range(10)])
    assert busy.most == 6
    assert [len(list(calls)) for _, calls in groupby(busy.begun, lambda name: name[0])] == [10] * 5


@pytest.mark.parametrize("calls", [1, 2])
async def test_questions_of_one_call_or_two_share_the_places(calls: int) -> None:
    room, busy = Room(model(max_connections=2)), Busy()
    async with anyio.create_task_group() as group:
        for question in "abcdefghij":
            group.start_soon(room.each, busy.call, [question] * calls)
    assert busy.most == 4


async def test_a_call_that_fails_ends_its_question_with_one_error_and_leaves_room_for_the_rest() -> None:
    room, busy = Room(model(max_connections=2)), Busy()

    async def failing(name: str) -> str:
        raise GraderFailedError(f"{name} is down")

    for _ in range(5):
        with pytest.raises(GraderFailedError, match="is down"):
            await room.each(failing, list("abcdef"))
    with anyio.fail_after(5):
        assert await room.each(busy.call, list("abcdef")) == list("ABCDEF")
    assert busy.most == 4, "every place is free again"


async def test_who_is_cancelled_anywhere_leaves_room_for_the_rest() -> None:
    room, busy = Room(model(max_connections=2)), Busy()
    for seconds in (0, 0.0005, 0.001, 0.002, 0.004) * 4:
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as group:
                group.start_soon(room.each, busy.call, list("abcdefgh"))
                group.start_soon(room.each, busy.call, list("abcdefgh"))
    busy = Busy()
    with anyio.fail_after(5):
        assert await room.each(busy.call, list("abcdefgh")) == list("ABCDEFGH")
    assert busy.most == 4


@pytest.mark.parametrize(
    ("config", "calls"),
    [
        ({"max_connections": 64}, 128),
        ({"adaptive_connections": 30}, 60),
        ({"adaptive_connections": False}, 20),  # Inspect's own default is 10
        ({"batch": True}, 1_000_000),
    ],
)
def test_calls_in_flight_follow_the_settings_of_the_model(config: dict[str, object], calls: int) -> None:
    assert calls_in_flight(model(**config)) == calls
