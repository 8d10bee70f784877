import pytest

from genie_inspect.logs.evidence import NOTHING, Evidence, RatingRange
from genie_inspect.logs.warnings import ENOUGH_RATINGS, warnings
from genie_inspect.statistics.descriptive.spread import Spread


def test_nothing_known_is_nothing_to_beware_of() -> None:
    assert warnings(NOTHING) == []


def test_a_grader_whose_ratings_never_vary_is_named() -> None:
    assert warnings(Evidence(ratings=RatingRange(12, 4.0, 4.0))) == [
        "the grader gave every pair the same rating (4): these numbers say nothing about the documents"
    ]


@pytest.mark.parametrize("ratings", [RatingRange(ENOUGH_RATINGS - 1, 4.0, 4.0), RatingRange(1_000, 3.9, 4.0)])
def test_few_ratings_may_be_alike_by_chance_and_many_may_vary_little(ratings: RatingRange) -> None:
    assert warnings(Evidence(ratings=ratings)) == []
    assert warnings(Evidence(ratings=RatingRange(ENOUGH_RATINGS, 1.5, 1.5)))[0].startswith(
        "the grader gave every pair the same rating (1.5)"
    )


def test_a_population_of_one_document_is_named() -> None:
    (line,) = warnings(Evidence(documents=1))
    assert "the population has one document" in line
    assert warnings(Evidence(documents=2)) == []


def test_questions_that_rest_on_few_ratings_are_counted() -> None:
    (line,) = warnings(Evidence(few_answers=(3, 12)))
    assert line.startswith("3 of 12 questions rest on fewer than three ratings")
    assert warnings(Evidence(few_answers=(0, 12))) == []


def test_a_grader_whose_ratings_hardly_differ_within_questions_is_named() -> None:
    near = {"plot": Spread(0.02, 80), "style": Spread(0.01, 40)}
    (line,) = warnings(Evidence(spread=near, ratings=RatingRange(140, 2.5, 3.1)))
    assert line.startswith("the grader's ratings of the answers to one question hardly differ")
    assert "a standard deviation of 0.02 in" in line
    # the extremes alone would hide it: one rating in a hundred may be far off
    assert warnings(Evidence(spread=near, ratings=RatingRange(140, 1, 4))) == [line]
    assert warnings(Evidence(spread={"plot": Spread(0.02, 80), "style": Spread(0.3, 40)})) == []
    assert warnings(Evidence(spread={"plot": Spread(0.02, 99)})) == []
    # of ratings that are all the same one line is enough
    assert len(warnings(Evidence(spread={"plot": Spread(0.0, 200)}, ratings=RatingRange(240, 3, 3)))) == 1


def test_a_reader_that_repeats_the_questions_is_named() -> None:
    (line,) = warnings(Evidence(repeated=(90, 560)))
    assert line.startswith("90 of the reader's 560 answers say nothing but words of the question: it hardly reads")
    assert warnings(Evidence(repeated=(2, 20)))
    # one in twenty may be an answer, and of few answers nothing is told
    assert warnings(Evidence(repeated=(1, 20))) == warnings(Evidence(repeated=(19, 19))) == []


def test_fewer_than_half_of_the_ratings_is_named_feature_by_feature_and_half_is_not() -> None:
    pairs = {"social_atmosphere": (5, 12), "plot": (6, 12), "style": (0, 12), "form": (0, 0)}
    assert warnings(Evidence(pairs=pairs)) == [
        "fewer than half of the ratings that were due could be used: style 0 of 12, social atmosphere 5 of 12"
    ]


def test_unused_questions_are_named_with_the_least_used_feature_first() -> None:
    coverage = {"plot": (3, 4), "style": (0, 4), "agent": (4, 4), "form": (0, 0)}
    assert warnings(Evidence(coverage=coverage)) == [
        "not every question or test could be used: style 0 of 4, plot 3 of 4"
    ]


def test_of_many_features_six_are_named_and_the_rest_counted() -> None:
    (line,) = warnings(Evidence(coverage={f"test {number}": (number, 20) for number in range(9)}))
    assert line.endswith(
        "test 0 0 of 20, test 1 1 of 20, test 2 2 of 20, test 3 3 of 20, test 4 4 of 20, test 5 5 of 20 and 3 more"
    )
