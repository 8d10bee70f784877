"""The arithmetic of a judge, by hand."""

import math

import pytest
from pydantic import ValidationError

from genie_inspect.raters.judge import Column, Given, PersonalJudge, RaterTerms, Source

CRITIC = Column(name="critic", scorer="ttcw", signature="measure:ttcw", mean=0.5, spread=0.25, slope=0.5)


def made(**other: object) -> PersonalJudge:
    fields: dict[str, object] = {
        "scale": (0, 1),
        "thresholds": (0.3,),
        "tests": {"01": 0.2, "02": -0.4},
        "columns": (CRITIC,),
        "raters": {
            "ann": RaterTerms(votes=40, leniency=-0.7, error=0.1, taste={"01": 0.1}),
            "bob": RaterTerms(votes=3, leniency=0.2, error=0.5),
        },
        "variances": {"leniency": 0.5},
    }
    return PersonalJudge.model_validate(fields | other)


def chance(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


def test_a_verdict_is_test_score_leniency_and_taste() -> None:
    opinion = made().opinion("ann", "01", {"critic": 1.0})
    assert opinion is not None
    # two standard deviations above the mean, half a log-odd each
    assert opinion.scores == pytest.approx(1.0)
    assert (opinion.leniency, opinion.taste) == (-0.7, 0.1)
    assert opinion.average == pytest.approx(chance(0.2 + 1.0 - 0.3))
    assert opinion.expected == pytest.approx(chance(0.2 + 1.0 - 0.7 + 0.1 - 0.3))


def test_a_test_without_a_vote_of_the_rater_is_foretold_by_leniency_alone() -> None:
    opinion = made().opinion("ann", "02", {"critic": 0.5})
    assert opinion is not None
    assert opinion.taste == 0
    assert opinion.expected == pytest.approx(chance(-0.4 - 0.7 - 0.3))


def test_a_missing_number_is_no_opinion() -> None:
    assert made().opinion("ann", "01", {}) is None
    assert made().opinion("ann", "01", {"critic": math.nan}) is None


def test_of_numbers_the_expected_one_counts_the_steps_between() -> None:
    judge = made(scale=(1, 2, 5), thresholds=(-1, 1))
    opinion = judge.opinion("bob", "01", {"critic": 0.5})
    assert opinion is not None
    first, second = chance(0.4 + 1), chance(0.4 - 1)
    assert opinion.chances == pytest.approx((first, second))
    assert opinion.expected == pytest.approx(1 + first + 3 * second)
    assert not judge.is_yes_or_no


def test_a_rater_stands_out_beyond_the_error_that_all_raters_share() -> None:
    assert made().stands_out("ann")
    assert not made().stands_out("bob")
    # 2.1 errors are beyond the bound of one rater, 1.96, and within that of two, 2.24
    pair = {name: RaterTerms(votes=9, leniency=0.21, error=0.1) for name in ("ann", "bob")}
    assert not made(raters=pair).stands_out("ann")
    assert made(raters={"ann": pair["ann"]}).stands_out("ann")


def test_raters_who_do_not_differ_do_not_stand_out() -> None:
    assert not made(raters={"ann": RaterTerms(votes=9, leniency=0, error=0)}).stands_out("ann")


def test_a_number_is_a_value_a_verdict_or_points() -> None:
    given = Given({"01": 1.0}, {"01": 3.0}, {"plot": 0.4})
    assert Source(name="a").number(given, "01") == 1
    assert Source(name="a", points=True).number(given, "01") == 3
    assert Source(name="a", key="plot").number(given, "01") == 0.4
    assert math.isnan(Source(name="a", key="style").number(given, "01"))
    assert math.isnan(Source(name="a").number(given, "02"))


def test_the_digest_is_of_all_that_it_says() -> None:
    assert made().digest == made().digest
    assert made().digest != made().without("bob").digest


@pytest.mark.parametrize(
    "other",
    [
        {"scale": (1, 0)},
        {"scale": (1,)},
        {"thresholds": (1, 1)},
        {"thresholds": (math.inf,)},
        {"format": 2},
        {"votes": {"ann": [1, 0]}},
    ],
)
def test_what_is_no_judge_is_refused(other: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        made(**other)
