import pytest

from genie_inspect.asking.cost import Cost
from genie_inspect.costs.engines import Engine
from genie_inspect.costs.estimate import TaskCost
from genie_inspect.costs.plan import (
    CALL_SECONDS,
    FLIGHT,
    HOUR,
    OURS,
    PAIR_SECONDS,
    TOKENS,
    WINDOW,
    as_measured,
    plan,
    step_seconds,
)
from genie_inspect.errors import GenieError

# 600,000 tokens in and 30,000 out to read, 1,200,000 and 60,000 to judge
TASK = TaskCost(
    documents=10,
    judged=1_000.0,
    reading=Cost(50, 400_000, 20_000),
    population=Cost(50, 200_000, 10_000),
    rating=Cost(200, 1_200_000, 60_000),
)
GPU = Engine(name="gpu", gpus=2, prefill=10_000, decode=500)
OWN = 300 * CALL_SECONDS + 1_000 * PAIR_SECONDS  # this process, of all steps


def test_an_engine_reads_and_then_writes_and_this_process_comes_on_top() -> None:
    found = plan(TASK, GPU, None)
    # 400,000 / 10,000 + 20,000 / 500 = 80; half of that for the population; 120 + 120 = 240
    expected = {"reading": 80 + 50 * CALL_SECONDS, "population": 40 + 50 * CALL_SECONDS}
    assert found.seconds == pytest.approx(expected | {"rating": 240 + 200 * CALL_SECONDS + 1_000 * PAIR_SECONDS})
    assert found.wall == pytest.approx(360 + OWN)
    assert found.bound == TOKENS


def test_copies_share_the_tokens_and_every_gpu_is_paid_for_as_long_as_the_run_takes() -> None:
    one, four = plan(TASK, GPU, None, gpu_hour=3.0), plan(TASK, GPU.model_copy(update={"copies": 4}), None, 3.0)
    assert four.wall == pytest.approx(90 + OWN)
    assert one.gpu_hours == pytest.approx(2 * (360 + OWN) / HOUR)
    assert four.gpu_hours == pytest.approx(8 * (90 + OWN) / HOUR)
    assert four.money == pytest.approx(3 * four.gpu_hours)


def test_what_a_prefix_cache_has_is_not_read() -> None:
    half = plan(TASK, GPU.model_copy(update={"cached": 0.5}), None)
    assert half.wall == pytest.approx(360 - 90 + OWN)


def test_where_requests_take_their_time_the_connections_set_the_pace() -> None:
    remote = Engine(name="remote", latency=2.0, connections=10)
    found = plan(TASK, remote, None)
    assert found.wall == pytest.approx(300 * 2 / 10 + OWN)
    assert (found.bound, found.gpu_hours) == (FLIGHT, 0)


def test_of_tokens_and_requests_in_flight_the_slower_counts() -> None:
    step = Cost(100, 10_000, 500)  # 1 + 1 seconds of tokens
    slow = GPU.model_copy(update={"latency": 1.0, "connections": 10})  # 10 seconds of requests
    fast = GPU.model_copy(update={"latency": 1.0, "connections": 100})
    assert step_seconds(step, 0, slow) == pytest.approx({FLIGHT: 10, OURS: 100 * CALL_SECONDS})
    assert step_seconds(step, 0, fast) == pytest.approx({TOKENS: 2, OURS: 100 * CALL_SECONDS})


def test_this_process_is_named_where_it_is_what_takes_longest() -> None:
    fleet = GPU.model_copy(update={"copies": 100_000})
    assert plan(TASK, fleet, None).bound == OURS


def test_files_take_a_window_a_round_and_their_share_of_the_price() -> None:
    batch = Engine(name="batch", window=24, price_share=0.5)
    found = plan(TASK, batch, (1.0, 10.0))
    assert (found.wall, found.bound, found.seconds) == (48 * HOUR, WINDOW, {})
    assert found.money == pytest.approx((1.8 * 1 + 0.09 * 10) / 2)
    read_alone = TaskCost(documents=10, reading=TASK.reading)
    assert plan(read_alone, batch, None).wall == 24 * HOUR


def test_an_engine_of_ones_own_is_paid_by_the_hour_and_somebody_elses_by_the_token() -> None:
    assert plan(TASK, GPU, (1.0, 10.0)).money is None
    assert plan(TASK, GPU.model_copy(update={"gpus": 0}), (1.0, 10.0)).money == pytest.approx(2.7)


@pytest.mark.parametrize("known", [{}, {"prefill": 5.0}, {"decode": 5.0}, {"latency": 1.0}, {"connections": 5}])
def test_an_engine_of_which_nothing_says_how_fast_it_is_is_refused(known: dict[str, float]) -> None:
    with pytest.raises(GenieError, match="engine slow has neither a window nor both prefill and decode"):
        plan(TASK, Engine.model_validate({"name": "slow"} | known), None)


def test_a_measured_run_scales_both_rates_of_a_copy() -> None:
    # a copy would take 40 + 40 seconds; it took 160
    ran = (Cost(0, 400_000, 20_000), 160.0)
    for copies in (1, 8):
        engine = as_measured(GPU.model_copy(update={"copies": copies}), [ran], "run.eval")
        assert (engine.prefill, engine.decode, engine.copies) == (5_000, 250, copies)
        assert engine.source("prefill") == "measured: run.eval"
    both = as_measured(GPU, [ran, (Cost(0, 200_000, 10_000), 20.0)], "two")
    assert both.prefill == pytest.approx(10_000 * 120 / 180)


@pytest.mark.parametrize("ran", [(Cost(), 10.0), (Cost(0, 10, 10), 0.0)])
def test_a_run_without_tokens_or_time_measures_nothing(ran: tuple[Cost, float]) -> None:
    with pytest.raises(GenieError, match=r"run.eval has no tokens or no time"):
        as_measured(GPU, [ran], "run.eval")


def test_what_has_no_rates_cannot_be_scaled() -> None:
    with pytest.raises(GenieError, match="no prefill and decode that a log could scale"):
        as_measured(Engine(name="remote", latency=1, connections=1), [(Cost(0, 1, 1), 1.0)], "run.eval")
