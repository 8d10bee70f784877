"""What a person reads of a verdict that was foretold, whole."""

import math

from tests.scoring.personal.judged import FIGURES, SENTENCE, column, judge

from genie_inspect.raters.figures import Figure, RaterFigures
from genie_inspect.scoring.personal.explanation import explained, explained_all


def test_a_row_a_test_then_what_is_expected_and_how_far_the_rater_stands_apart() -> None:
    own = judge(column(), column("words", slope=0.0))
    numbers = {"01": {"critic|a": 1.0, "words": 1234.5}, "02": {"critic|a": math.nan, "words": 0.5}}
    opinions = {test: own.opinion("ann", test, row) for test, row in numbers.items()}
    # log-odds 1 by the score, and 1 and 0.5 more by the rater: chances 0.73 and 0.92
    assert explained(own, "ann", opinions, numbers, FIGURES) == (
        "| test | critic\\|a | words | average rater | ann | log-odds moved by |\n"
        "| :-- | --: | --: | --: | --: | --: |\n"
        "| 01 | 1 | 1.23e+03 | 0.73 | 0.92 | scores +1.00, leniency +1.00, taste +0.50 |\n"
        "| 02 | none | 0.5 |  |  | a score is missing |\n\n"
        "Expected of ann: 0.92 yes on 1 tests; average rater: 0.73.\n\n"
        "1 of 2 tests are not foretold: a score of theirs is missing.\n\n"
        "ann, 40 votes: more lenient than the average rater (+1.00 [+0.76, +1.24]).\n\n" + SENTENCE
    )


def test_of_whole_stories_with_numbers_points_are_expected_of_whoever_is_harsh() -> None:
    own = judge(scale=(1.0, 2.0, 3.0), tests=("",))
    numbers = {"": {"critic|a": 0.5}}
    # steps at log-odds 0 and 1: chances 0.5 and 0.27 by the average, 0.27 and 0.12 by one who is harsher by 1
    assert explained(own, "bob|b", {"": own.opinion("bob|b", "", numbers[""])}, numbers, FIGURES) == (
        "| test | critic\\|a | average rater | bob\\|b | log-odds moved by |\n"
        "| :-- | --: | --: | --: | --: |\n"
        "| story | 0.5 | 1.77 | 1.39 | leniency -1.00 |\n\n"
        "Expected of bob\\|b: 1.39 points on 1 tests; average rater: 1.77.\n\n"
        "bob\\|b, 30 votes: harsher than the average rater (-1.00 [-1.24, -0.76]).\n\n" + SENTENCE
    )


def test_a_rater_like_the_average_is_moved_by_nothing() -> None:
    own = judge()
    numbers = {"01": {"critic|a": 0.5}}
    said = explained(own, "cy", {"01": own.opinion("cy", "01", numbers["01"])}, numbers, FIGURES)
    assert "| 01 | 0.5 | 0.50 | 0.50 | nothing |" in said
    assert "cy, 19 votes: cannot be told from the average rater in leniency (as the average)." in said
    assert "not foretold" not in said


def test_a_rater_who_is_foretold_better_or_worse_than_by_the_grader_is_told_apart_by_that() -> None:
    own, numbers = judge(), {"01": {"critic|a": 0.5}}
    opinions = {"01": own.opinion("cy", "01", numbers["01"])}
    for gain, says in (
        (Figure(value=-0.074, low=-0.131, high=-0.014), "foretold better than by the grader alone (-0.074 [-0.131, "),
        (Figure(value=0.02, low=0.01, high=0.03), "foretold worse than by the grader alone (+0.020 [+0.010, +0.030])."),
    ):
        raters = {"cy": RaterFigures(votes=19, stories=10, gain=gain)}
        said = explained(own, "cy", opinions, numbers, FIGURES.model_copy(update={"raters": raters}))
        assert f"cannot be told from the average rater in leniency (as the average); {says}" in said


def test_of_all_raters_each_has_a_row_also_who_has_too_few_votes() -> None:
    own = judge()
    opinions = {rater: {"01": own.opinion(rater, "01", {"critic|a": 1.0}), "02": None} for rater in ("ann", "bob|b")}
    assert explained_all(own, opinions, tuple(own.raters), FIGURES) == (
        "| rater | votes | leniency | expected |\n"
        "| :-- | --: | --: | --: |\n"
        "| ann | 40 | +1.00 \\[+0.76, +1.24\\] | 0.92 |\n"
        "| bob\\|b | 30 | -1.00 \\[-1.24, -0.76\\] | 0.50 |\n"
        "| cy | 19 | as the average | too few votes |\n\n" + SENTENCE
    )
