"""Figures of chances, against cases worked by hand and against simpler ways to the same number."""

import math

import numpy as np
import pytest

from genie_inspect.statistics.agreement import cohen_kappa
from genie_inspect.statistics.forecasts import BINS, Draws, Forecasts, auc, figures_of

CHANCES = np.array([0.9, 0.6, 0.4, 0.2])
OUTCOMES = np.array([1.0, 0.0, 1.0, 0.0])
NONE = np.zeros(4, dtype=int)


def forecasts(
    chances: np.ndarray = CHANCES, outcomes: np.ndarray = OUTCOMES, clusters: np.ndarray | None = None
) -> Forecasts:
    zeros = np.zeros(len(chances), dtype=int)
    return Forecasts(chances, outcomes, zeros if clusters is None else clusters, zeros, np.arange(len(chances)) % 2)


def test_the_figures_of_four_forecasts_by_hand() -> None:
    figures = figures_of(forecasts().sums.sum(axis=0))
    # right: 0.9 for a yes; wrong: 0.6 for a no, 0.4 for a yes; right: 0.2 for a no
    assert figures["log_loss"] == pytest.approx(-(math.log(0.9) + 2 * math.log(0.4) + math.log(0.8)) / 4)
    assert figures["brier"] == pytest.approx((0.01 + 0.36 + 0.36 + 0.04) / 4)
    # yes to two, one of them rightly, of two
    assert {name: float(figures[name]) for name in ("precision", "recall", "f1")} == dict.fromkeys(
        ("precision", "recall", "f1"), 0.5
    )
    assert figures["kappa"] == pytest.approx(0)
    assert figures["pearson"] == pytest.approx(np.corrcoef(CHANCES, OUTCOMES)[0, 1])


def test_kappa_is_that_of_two_raters() -> None:
    draw = np.random.default_rng(0)
    chances, outcomes = draw.random(200), (draw.random(200) < 0.3).astype(float)
    kappa = figures_of(forecasts(chances, outcomes).sums.sum(axis=0))["kappa"]
    assert kappa == pytest.approx(cohen_kappa((chances > 0.5).tolist(), (outcomes > 0).tolist()))


def test_what_is_not_defined_is_nan() -> None:
    figures = figures_of(forecasts(np.full(4, 0.1), np.zeros(4)).sums.sum(axis=0))
    undefined = {name for name, value in figures.items() if math.isnan(value)}
    assert undefined == {"kappa", "f1", "precision", "recall", "pearson"}


def test_f1_is_0_where_there_are_yes_and_none_is_called() -> None:
    assert figures_of(forecasts(np.full(4, 0.1)).sums.sum(axis=0))["f1"] == 0


def test_chances_of_one_value_throughout_have_no_correlation() -> None:
    assert math.isnan(figures_of(forecasts(np.full(4, 1 / 3)).sums.sum(axis=0))["pearson"])


def test_certainty_that_is_wrong_is_dear_and_not_infinite() -> None:
    losses = forecasts(np.array([0.0, 1.0]), np.array([1.0, 0.0])).log_losses
    assert losses == pytest.approx([-math.log(1e-12)] * 2, rel=1e-4)


def test_auc_counts_pairs_and_ties_by_half() -> None:
    chances, outcomes = np.array([0.5, 0.5, 0.9, 0.1]), np.array([1, 0, 1, 0])
    # (.5, .5) a half; (.5, .1), (.9, .5), (.9, .1) whole
    assert auc(chances, outcomes, NONE)(np.ones(4)) == 3.5 / 4


def test_auc_holds_against_each_other_what_is_of_one_stratum() -> None:
    chances, outcomes = np.array([0.9, 0.8, 0.2, 0.1]), np.array([0, 1, 0, 1])
    assert auc(chances, outcomes, np.array([0, 0, 1, 1]))(np.ones(4)) == 0
    assert auc(chances, outcomes, np.array([0, 1, 1, 0]))(np.ones(4)) == 0.5


def test_auc_ties_no_chances_of_two_strata() -> None:
    # the highest chance of the first stratum is the lowest of the second, and each stratum has its order right
    chances, outcomes = np.array([0.2, 0.5, 0.5, 0.9]), np.array([0, 1, 0, 1])
    assert auc(chances, outcomes, np.array([0, 0, 1, 1]))(np.ones(4)) == 1


def test_auc_by_weights_is_auc_of_the_events_repeated() -> None:
    draw = np.random.default_rng(1)
    chances, strata = draw.random(40).round(1), draw.integers(3, size=40)
    outcomes = draw.integers(2, size=40).astype(np.float64)
    weights = draw.integers(0, 4, size=40)
    again = auc(np.repeat(chances, weights), np.repeat(outcomes, weights), np.repeat(strata, weights))
    assert auc(chances, outcomes, strata)(weights.astype(float)) == pytest.approx(again(np.ones(weights.sum())))


def test_auc_without_a_pair_is_not_defined() -> None:
    assert math.isnan(auc(CHANCES, np.ones(4), NONE)(np.ones(4)))


def test_resamples_draw_clusters_whole() -> None:
    clusters = np.array([0, 0, 1, 1])
    draws = Draws(np.array([[2.0, 0.0], [1.0, 1.0]]))
    found = draws.figures(forecasts(clusters=clusters))
    value, drawn = found["brier"]
    assert value == drawn[1] == pytest.approx(0.77 / 4)
    assert drawn[0] == pytest.approx((0.01 + 0.36) / 2)
    assert found["auc"][1][0] == 1
    assert found["auc"][1][1] == found["auc"][0] == 0.75


def test_a_difference_has_the_interval_of_its_clusters() -> None:
    interval = Draws.of(20, 500, seed=0).difference(np.linspace(-1, 3, 20), np.ones(20))
    assert interval.value == pytest.approx(1)
    assert interval.low < 0.6 < 1.4 < interval.high


def test_a_difference_is_the_mean_of_events_and_not_of_clusters() -> None:
    assert Draws.of(2, 10, seed=0).difference(np.array([3.0, 1.0]), np.array([3.0, 5.0])).value == 0.5


def test_calibration_says_what_came_true_in_each_tenth() -> None:
    chances, outcomes = np.array([0.05, 0.07, 0.52, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    tenths = forecasts(chances, outcomes).calibration()
    assert [(own.forecasts, round(own.mean, 3), own.share) for own in tenths] == [
        (2, 0.06, 0.5),
        (1, 0.52, 1),
        (1, 1, 1),
    ]


def test_a_chance_of_a_half_is_no_yes() -> None:
    figures = figures_of(forecasts(np.array([0.5, 0.6]), np.array([1.0, 1.0])).sums.sum(axis=0))
    assert (float(figures["recall"]), float(figures["precision"])) == (0.5, 1.0)
    several = figures_of(forecasts(np.array([0.9, 0.8, 0.7, 0.1]), np.array([1.0, 0.0, 0.0, 0.0])).sums.sum(axis=0))
    assert [float(several[name]) for name in ("recall", "precision")] == pytest.approx([1, 1 / 3])
    assert [len(forecasts(np.array([0.05, 0.15, 0.16]), np.ones(3)).calibration()), BINS] == [2, 10]


def test_order_is_by_strata_and_within_by_the_inner_ones() -> None:
    chances, outcomes = np.array([0.9, 0.8, 0.2, 0.1]), np.array([0.0, 1.0, 0.0, 1.0])
    one, two = np.zeros(4, dtype=int), np.array([0, 1, 1, 0])
    orders = Forecasts(chances, outcomes, one, one, two).orders
    assert (orders["auc"](np.ones(4)), orders["auc_within"](np.ones(4))) == (0.25, 0.5)


def test_draws_depend_on_their_seed_and_a_difference_of_nothing_is_none() -> None:
    first, again, other = (Draws.of(5, 20, seed).counts for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert first.sum(axis=1).tolist() == [5] * 20
    assert math.isnan(Draws.of(3, 10, 0).difference(np.zeros(3), np.zeros(3)).value)
