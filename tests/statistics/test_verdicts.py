import math
from collections.abc import Callable

import numpy as np
import pytest

from genie_inspect.statistics import forecasts, verdicts
from genie_inspect.statistics.verdicts import auc, brier, f1, log_loss, pearson, precision, recall

Figure = Callable[..., float]
EVERY = [auc, brier, f1, log_loss, pearson, precision, recall]
# called yes: the first three; true yes: 1st, 3rd, 4th
CHANCES, YES = [0.9, 0.8, 0.5, 0.4, 0.1], [1, 0, 1, 1, 0]


def test_log_loss_is_the_mean_surprise() -> None:
    expected = -(math.log(0.9) + math.log(0.2) + math.log(0.5) + math.log(0.4) + math.log(0.9)) / 5
    assert log_loss(CHANCES, YES) == pytest.approx(expected)


def test_a_sure_mistake_costs_much_and_not_infinitely() -> None:
    assert log_loss([1, 0], [0, 1]) == pytest.approx(-math.log(1e-12), rel=1e-5)


def test_brier_is_the_mean_squared_difference() -> None:
    assert brier(CHANCES, YES) == pytest.approx((0.01 + 0.64 + 0.25 + 0.36 + 0.01) / 5)


def test_auc_counts_the_pairs_in_order() -> None:
    # .9 is above .8 and .1; .5 and .4 above .1 alone: 4 of 6
    assert auc(CHANCES, YES) == pytest.approx(4 / 6)


def test_tied_probabilities_are_half_in_order() -> None:
    assert auc([0.3, 0.3, 0.3], [1, 0, 0]) == 0.5


def test_precision_recall_and_f1_call_yes_from_one_half() -> None:
    # .5 itself is a yes: called 3, hits 2, true 3
    assert precision(CHANCES, YES) == pytest.approx(2 / 3)
    assert recall(CHANCES, YES) == pytest.approx(2 / 3)
    assert f1(CHANCES, YES) == pytest.approx(4 / 6)


def test_another_threshold_calls_others() -> None:
    assert (precision(CHANCES, YES, 0.85), recall(CHANCES, YES, 0.85), f1(CHANCES, YES, 0.85)) == (1, 1 / 3, 0.5)


def test_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    two = precision(CHANCES, YES, 0.85), recall(CHANCES, YES, 0.85)
    assert f1(CHANCES, YES, 0.85) == pytest.approx(2 * two[0] * two[1] / sum(two))


@pytest.mark.parametrize("figure", EVERY)
def test_without_a_pair_nothing_is_measured(figure: Figure) -> None:
    assert math.isnan(figure([], []))


@pytest.mark.parametrize("figure", EVERY)
def test_a_pair_with_a_hole_is_left_out(figure: Figure) -> None:
    assert figure([*CHANCES, np.nan, 0.7], [*YES, 1, np.nan]) == figure(CHANCES, YES)


@pytest.mark.parametrize("outcomes", [[1, 1], [0, 0]])
def test_one_outcome_alone_has_no_order(outcomes: list[int]) -> None:
    assert math.isnan(auc([0.2, 0.8], outcomes))


def test_what_nobody_calls_has_no_precision_and_what_is_not_there_no_recall() -> None:
    assert math.isnan(precision([0.1], [1]))
    assert math.isnan(recall([0.9], [0]))
    assert math.isnan(f1([0.1], [0]))
    assert f1([0.1], [1]) == 0


@pytest.mark.parametrize("figure", EVERY)
def test_what_is_no_probability_or_outcome_is_refused(figure: Figure) -> None:
    with pytest.raises(ValueError, match=r"probability is 1\.5, expected 0 to 1"):
        figure([1.5], [1])
    with pytest.raises(ValueError, match="outcome is 2, expected 0 for a no or 1 for a yes"):
        figure([0.5], [2])


def test_pearson_is_the_covariance_over_both_spreads() -> None:
    # deviations of .4 against .5, four in step and two not: (4 - 2) * .2 / 6 over .4 * .5
    assert pearson([0.9, 0.1, 0.9, 0.9, 0.1, 0.1], [1, 0, 1, 0, 0, 1]) == pytest.approx(2 / 6)


@pytest.mark.parametrize(("chances", "outcomes"), [([0.3, 0.3], [0, 1]), ([0.1, 0.9], [1, 1])])
def test_what_never_varies_has_no_correlation(chances: list[float], outcomes: list[int]) -> None:
    assert math.isnan(pearson(chances, outcomes))


def test_a_figure_is_the_same_as_that_of_forecasts_which_are_drawn_again() -> None:
    draw = np.random.default_rng(0)
    chances, outcomes = draw.random(60), (draw.random(60) < 0.4).astype(float)
    # sure ones, right and wrong, and ties
    chances[:6], outcomes[:6] = [0, 1, 0, 1, 0.25, 0.25], [0, 1, 1, 0, 1, 0]
    together = np.zeros(60, dtype=int)
    drawn = forecasts.figures_of(forecasts.Forecasts(chances, outcomes, together, together, together).sums.sum(axis=0))
    for name in ("log_loss", "brier", "f1", "precision", "recall", "pearson"):
        assert getattr(verdicts, name)(chances, outcomes) == pytest.approx(float(drawn[name]), rel=1e-4)
    assert auc(chances, outcomes) == pytest.approx(forecasts.auc(chances, outcomes, together)(np.ones(60)))


@pytest.mark.parametrize("wrong", [([-0.5], [1]), ([0.5], [-1])])
def test_what_lies_below_0_is_refused(wrong: tuple[list[float], list[float]]) -> None:
    with pytest.raises(ValueError, match="expected 0"):
        brier(*wrong)
