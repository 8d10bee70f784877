import pytest
from inspect_ai.log import transcript
from inspect_ai.log._transcript import Transcript, init_transcript
from tests.scripted import Asked, Script, grading, saying

from genie_inspect.errors import GraderFailedError
from genie_inspect.graders.pairwise_judge import PairwiseJudge
from genie_inspect.graders.protocols import UNREADABLE, UNSPECIFIED, Answer

QUESTION = Asked("How does it end?")
ANSWER = Answer("in the rain")


async def test_each_pair_is_one_call_and_ratings_stand_in_the_order_of_the_others() -> None:
    wanted = {"in rain": 4, "in bad weather": 3, "outdoors": 2, "at a wedding": 1}
    script = grading(rating=lambda answer, other: wanted[other])
    rated = await PairwiseJudge(script.model()).rate(QUESTION, ANSWER, [Answer(text) for text in wanted])
    assert rated.ratings == (4, 3, 2, 1)
    assert rated.faults == {}
    assert sorted(data["other"] for data in script.data) == sorted(wanted)
    assert all(data["question"] == QUESTION.text and data["answer"] == ANSWER.text for data in script.data)


async def test_equal_answers_are_judged_once() -> None:
    script = grading(rating=lambda answer, other: 2)
    rated = await PairwiseJudge(script.model()).rate(QUESTION, ANSWER, [Answer("At sea"), Answer("at sea.")])
    assert rated.ratings == (2, 2)
    assert len(script.requests) == 1


@pytest.mark.parametrize("reply", ["", "They are much alike.", "Rating: 7", "Rating: high", "Rating: 3.5", "Rating:"])
async def test_a_pair_without_a_readable_rating_is_asked_twice_more_and_then_given_up(reply: str) -> None:
    script = saying(reply)
    rated = await PairwiseJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea")])
    assert rated.ratings == (None,)
    assert rated.faults == {0: UNREADABLE}
    assert len(script.requests) == 1 + 2


async def test_a_second_try_counts() -> None:
    script = saying("hm", "Both are outdoors.\nRating: 2")
    rated = await PairwiseJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea")])
    assert rated.ratings == (2,)


async def test_the_reason_may_mention_numbers_before_the_rating() -> None:
    script = saying("A rating: 4 would need the same weather, and 1 of 2 differs.\n**Rating:** 2")
    rated = await PairwiseJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea")])
    assert rated.ratings == (2,)


async def test_a_zero_means_that_one_side_gives_no_answer() -> None:
    rated = await PairwiseJudge(saying("Rating: 0").model()).rate(QUESTION, ANSWER, [Answer("at sea")])
    assert rated.ratings == (None,)
    assert rated.faults == {0: UNSPECIFIED}


async def test_many_calls_that_fail_side_by_side_are_one_grader_failed_error() -> None:
    def broken(request: str) -> str:
        raise ConnectionError("refused")

    others = [Answer(f"ending {number}") for number in range(8)]
    with pytest.raises(GraderFailedError, match="ConnectionError: refused"):
        await PairwiseJudge(Script(broken).model()).rate(QUESTION, ANSWER, others)


async def test_sampling_is_the_studys() -> None:
    script = grading()
    await PairwiseJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea")])
    assert (script.configs[0].temperature, script.configs[0].top_p) == (0.7, 0.9)


async def test_the_calls_of_single_pairs_are_not_in_the_log() -> None:
    init_transcript(Transcript())
    script = grading()
    await PairwiseJudge(script.model()).rate(QUESTION, ANSWER, [Answer("at sea"), Answer("at home")])
    assert len(script.requests) == 2
    assert transcript().events == []


@pytest.mark.parametrize("repeats", [0, 1])
async def test_a_pair_is_asked_again_so_often_as_is_wanted(repeats: int) -> None:
    script = saying("Hm.")
    await PairwiseJudge(script.model(), repeats=repeats).rate(QUESTION, ANSWER, [Answer("at sea")])
    assert len(script.requests) == 1 + repeats
