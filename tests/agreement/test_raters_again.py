import math
from collections.abc import Sequence

import pytest
from tests.scripted import Script, grading, saying

from genie_inspect.agreement.raters import (
    FAILED,
    CalibrationError,
    Rater,
    Target,
    judge_ratings,
    list_positions,
    pair,
    recorded_ratings,
)
from genie_inspect.graders.list_judge import CHUNK, ListJudge
from genie_inspect.graders.pairwise_judge import PairwiseJudge
from genie_inspect.graders.protocols import UNREADABLE, UNSPECIFIED
from genie_inspect.populations.schema import Question
from genie_inspect.prompting.fence import unfenced

pytestmark = pytest.mark.anyio
QUESTION = Question(id="q", prompt="p", feature="plot", text="Who?")
TARGETS = [Target(QUESTION, "owl", ("fox", "hen")), Target(QUESTION, "cat", ("dog",))]


def order_of(script: Script) -> Sequence[str]:
    """The other answers of a list request, in the order in which they were asked about."""
    return list(script.data[0]["others"].values())


async def test_a_pairwise_judge_is_asked_again_with_the_sides_swapped() -> None:
    script = grading(rating=lambda answer, other: 3 if answer < other else 2)
    told: list[int] = []
    judge = PairwiseJudge(script.model())
    found = await judge_ratings(Rater("pairs", judge), TARGETS, told.append)
    # owl/fox: 2, owl/hen: 2, cat/dog: 3; swapped 3, 3, 2
    assert found.values == (2, 2, 3)
    assert found.swapped == (3, 3, 2)
    assert found.positions == ()
    assert len(script.requests) == sum(told) == Rater("", judge).calls(TARGETS) == 6


async def test_a_list_judge_is_asked_once_and_tells_where_each_answer_stood() -> None:
    script = grading(rating=lambda answer, other: {"fox": 1, "hen": 4, "cow": 2}[other])
    target = Target(QUESTION, "owl", ("fox", "hen", "cow"))
    judge = ListJudge(script.model())
    found = await judge_ratings(Rater("lists", judge, CHUNK), [target])
    assert found.values == (1, 4, 2)
    assert found.swapped == ()
    order = order_of(script)
    assert found.positions == tuple(order.index(other) / 2 for other in target.others)
    assert len(script.requests) == 1
    assert Rater("", judge, CHUNK).calls([target]) == 3


async def test_positions_are_not_told_of_lists_that_a_cache_may_have_cut() -> None:
    judge = ListJudge(grading().model())
    assert (await judge_ratings(Rater("lists", judge, CHUNK), TARGETS, fresh=False)).positions == ()


def test_positions_begin_anew_in_each_call_and_a_list_of_one_has_none() -> None:
    target = Target(QUESTION, "owl", ("fox", "hen", "cow"))
    assert sorted(list_positions(target, chunk=2), key=lambda place: (math.isnan(place), place))[:2] == [0, 1]
    assert sum(map(math.isnan, list_positions(target, chunk=2))) == 1


async def test_what_comes_to_no_rating_keeps_its_reason() -> None:
    script = grading(rating=lambda answer, other: 0 if "dog" in (answer, other) else 4)
    found = await judge_ratings(Rater("pairs", PairwiseJudge(script.model())), TARGETS)
    assert found.faults == {2: UNSPECIFIED}
    assert math.isnan(found.values[2])
    babbling = await judge_ratings(Rater("pairs", PairwiseJudge(saying("Well, well.").model())), TARGETS)
    assert babbling.faults == dict.fromkeys(range(3), UNREADABLE)


async def test_a_grader_that_fails_now_and_then_costs_only_what_it_failed_at() -> None:
    def reply(request: str) -> str:
        if "dog" in request:
            raise RuntimeError("no more today")
        return "Rating: 2"

    found = await judge_ratings(Rater("pairs", PairwiseJudge(Script(reply).model())), TARGETS)
    assert found.values[:2] == (2, 2)
    assert found.faults == {2: FAILED}


async def test_each_pair_of_a_target_that_failed_has_the_fault_and_what_follows_keeps_its_place() -> None:
    def reply(request: str) -> str:
        if "hen" in unfenced(request).values():
            raise RuntimeError("no more today")
        return "Rating: 3"

    ratings = await judge_ratings(Rater("pairs", PairwiseJudge(Script(reply).model())), TARGETS)
    assert ratings.faults == {0: FAILED, 1: FAILED}
    assert [math.isnan(value) for value in ratings.values] == [True, True, False]
    assert ratings.values[2] == 3


async def test_a_grader_that_never_answers_ends_the_calibration_with_its_reason() -> None:
    def reply(request: str) -> str:
        raise RuntimeError("no more today")

    with pytest.raises(CalibrationError, match=r"pairs rated nothing: .*no more today"):
        await judge_ratings(Rater("pairs", PairwiseJudge(Script(reply).model())), TARGETS)


def test_recorded_ratings_come_in_the_order_of_the_targets() -> None:
    said = {pair("q", "hen", "owl"): 3.0, pair("q", "cat", "dog"): None}
    found = recorded_ratings("people", said, TARGETS)
    assert math.isnan(found.values[0])  # not asked: no fault
    assert found.values[1] == 3
    assert found.faults == {2: UNSPECIFIED}


@pytest.mark.parametrize(("chunk", "calls"), [(1, 6), (2, 3), (50, 3)])
def test_a_judge_of_pairs_is_asked_for_both_sides_and_one_of_lists_once(chunk: int, calls: int) -> None:
    assert Rater("", PairwiseJudge(saying("").model()), chunk).calls(TARGETS) == calls


async def test_a_judge_that_never_answered_is_named_with_the_first_reason() -> None:
    def failing(request: str) -> str:
        raise TimeoutError("no answer")

    with pytest.raises(CalibrationError, match=r"mine rated nothing: .*no answer"):
        await judge_ratings(Rater("mine", PairwiseJudge(Script(failing).model())), TARGETS)
