"""Forecasts held against what came true."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from genie_inspect.statistics.agreement import (
    Forecasts,
    auc,
    cohen_kappa,
    drawn_clusters,
    figures_of,
    kappa,
    mean_difference,
    pearson,
)
from genie_inspect.statistics.bootstrap import percentile_interval

NAN = math.nan
ONCE = np.ones((1, 4))
CHANCES = np.array([0.9, 0.6, 0.4, 0.2])
OUTCOMES = np.array([1.0, 0.0, 1.0, 0.0])
NONE = np.zeros(4, dtype=int)
EACH = np.arange(4)  # a cluster each


def forecasts(
    chances: np.ndarray = CHANCES, outcomes: np.ndarray = OUTCOMES, clusters: np.ndarray | None = None
) -> Forecasts:
    zeros = np.zeros(len(chances), dtype=int)
    return Forecasts(chances, outcomes, zeros if clusters is None else clusters, zeros, np.arange(len(chances)) % 2)


def plain(forecasts: Forecasts) -> dict[str, float]:
    draw = np.ones((1, int(forecasts.clusters.max()) + 1))
    return {name: found.value for name, found in figures_of(forecasts, draw, folds=2).items()}


def test_the_figures_of_four_forecasts_by_hand() -> None:
    figures = plain(forecasts())
    # right: 0.9 for a yes; wrong: 0.6 for a no, 0.4 for a yes; right: 0.2 for a no
    assert figures["log_loss"] == pytest.approx(-(math.log(0.9) + 2 * math.log(0.4) + math.log(0.8)) / 4)
    # certainty that is wrong is dear and not infinite
    losses = forecasts(np.array([0.0, 1.0]), np.array([1.0, 0.0])).log_losses
    assert losses == pytest.approx([-math.log(1e-12)] * 2, rel=1e-4)
    assert figures["brier"] == pytest.approx((0.01 + 0.36 + 0.36 + 0.04) / 4)
    # yes to two, one of them rightly, of two
    assert [figures[name] for name in ("precision", "recall", "f1")] == [0.5] * 3
    # a chance of a half is no yes
    halves = plain(forecasts(np.array([0.5, 0.6]), np.array([1.0, 1.0])))
    assert (halves["recall"], halves["precision"]) == (0.5, 1.0)
    assert kappa(CHANCES, OUTCOMES, NONE, EACH, ONCE)[0] == pytest.approx(0)
    assert pearson(CHANCES, OUTCOMES, NONE, EACH, ONCE)[0] == pytest.approx(np.corrcoef(CHANCES, OUTCOMES)[0, 1])


def test_what_is_not_defined_is_nan_and_f1_is_0_where_there_are_yes_and_none_is_called() -> None:
    figures = plain(forecasts(np.full(4, 0.1), np.zeros(4)))
    undefined = {name for name, value in figures.items() if math.isnan(value)}
    assert undefined == {"kappa", "f1", "precision", "recall", "pearson", "auc", "auc_within"}
    assert plain(forecasts(np.full(4, 0.1)))["f1"] == 0
    # chances of one value throughout have no correlation, nor have those that differ by less than rounding could leave
    # (a variance below 1e-9); outcomes of one kind have no pair
    assert math.isnan(pearson(np.full(4, 1 / 3), OUTCOMES, NONE, EACH, ONCE)[0])
    apart = [pearson(0.5 + OUTCOMES * 2 * spread, OUTCOMES, NONE, EACH, ONCE)[0] for spread in (3.1e-5, 3.2e-5)]
    assert apart == pytest.approx([NAN, 1], nan_ok=True)
    assert math.isnan(auc(CHANCES, np.ones(4), NONE, EACH, ONCE)[0])


def test_pearson_is_the_mean_over_strata_by_pairs_and_equal_chances_count_as_0() -> None:
    chances, outcomes = np.array([0.9, 0.1, 0.5, 0.1, 0.3, 0.4, 0.4]), np.array([1.0, 0, 0, 1, 0, 1, 0])
    strata = np.array([0, 0, 1, 1, 1, 2, 2])
    # r is 1 over 1 pair, that of the second over 2, and 0 over 1; the stratum's level says nothing
    second = np.corrcoef([0.5, 0.1, 0.3], [0, 1, 0])[0, 1]
    found = pearson(chances, outcomes, strata, np.arange(7), np.ones((1, 7)))[0]
    assert found == pytest.approx((1 + 2 * second + 0) / 4)


def test_kappa_of_one_stratum_is_that_of_two_raters_and_of_several_is_by_the_chance_of_their_own() -> None:
    draw = np.random.default_rng(0)
    chances, outcomes, zeros = draw.random(200), (draw.random(200) < 0.3).astype(float), np.zeros(200, dtype=int)
    expected = cohen_kappa((chances > 0.5).tolist(), (outcomes > 0).tolist())
    assert kappa(chances, outcomes, zeros, zeros, np.ones((1, 1)))[0] == pytest.approx(expected)
    # all yes is said of the stratum with half a yes, all no of the one with three quarters: nothing is told apart
    chances = np.repeat([0.9, 0.1], 4)
    outcomes = np.array([1.0, 1, 0, 0, 1, 1, 1, 0])
    strata = np.repeat([0, 1], 4)
    assert kappa(chances, outcomes, strata, strata, np.ones((1, 2)))[0] == 0
    assert cohen_kappa((chances > 0.5).tolist(), (outcomes > 0).tolist()) == pytest.approx(-0.25)


def test_auc_counts_pairs_of_one_stratum_and_ties_by_half() -> None:
    def of(chances: list[float], outcomes: list[int], strata: list[int]) -> float:
        return float(auc(np.array(chances), np.array(outcomes), np.array(strata), EACH, ONCE)[0])

    # (.5, .5) a half; (.5, .1), (.9, .5), (.9, .1) whole
    assert of([0.5, 0.5, 0.9, 0.1], [1, 0, 1, 0], [0] * 4) == 3.5 / 4
    assert of([0.9, 0.8, 0.2, 0.1], [0, 1, 0, 1], [0, 0, 1, 1]) == 0
    assert of([0.9, 0.8, 0.2, 0.1], [0, 1, 0, 1], [0, 1, 1, 0]) == 0.5
    # the highest chance of the first stratum is the lowest of the second, and each stratum has its order right
    assert of([0.2, 0.5, 0.5, 0.9], [0, 1, 0, 1], [0, 0, 1, 1]) == 1


@pytest.mark.parametrize("figure", [auc, pearson, kappa])
def test_a_cluster_that_is_drawn_twice_is_not_held_against_itself(figure: Callable[..., Any]) -> None:
    draw = np.random.default_rng(2)
    chances, folds = draw.random(60), np.repeat(np.arange(6), 10)
    outcomes = draw.integers(2, size=60).astype(np.float64)
    twice = np.r_[np.arange(60), np.flatnonzero(folds == 3)]
    # each copy is a fold of its own
    copied = np.r_[folds, np.full(10, 6)]
    counts = np.array([1.0, 1, 1, 2, 1, 1])
    expected = figure(chances[twice], outcomes[twice], copied, copied, np.ones((1, 7)))[0]
    assert figure(chances, outcomes, folds, folds, np.array([counts]))[0] == pytest.approx(expected)


def test_resamples_draw_clusters_whole() -> None:
    clusters = np.array([0, 0, 1, 1])
    draws = np.array([[2.0, 0.0], [1.0, 1.0]])
    found = figures_of(forecasts(clusters=clusters), draws, folds=2)["brier"]
    assert (found.value, found.high) == pytest.approx((0.77 / 4, 0.77 / 4))
    assert found.low == pytest.approx((0.01 + 0.36) / 2)
    # of (.9, .6) and (.4, .2) and, between the clusters, (.9, .2) and (.4, .6)
    assert auc(CHANCES, OUTCOMES, NONE, clusters, draws).tolist() == [1, 0.75]


def test_an_interval_of_order_is_wider_for_what_the_folds_share_and_ends_at_the_bounds() -> None:
    draws, clusters = drawn_clusters(12, 200, 0), np.repeat(np.arange(12), 10)
    draw = np.random.default_rng(4)
    outcomes = draw.integers(2, size=120).astype(float)
    own = Forecasts(draw.random(120) + 0.4 * outcomes, outcomes, clusters, clusters, clusters)
    found = figures_of(own, draws, folds=12)["auc"]
    middle = percentile_interval(found.value, auc(own.chances, outcomes, clusters, clusters, draws))
    # 2.201 over 1.960, times the root of 1 + 12/11
    assert (found.high - found.value) / (middle.high - middle.value) == pytest.approx(1.123 * 1.446, rel=1e-3)
    sure = Forecasts(outcomes, outcomes, clusters, clusters, clusters)
    assert (figures_of(sure, draws, folds=2)["auc"].low, figures_of(sure, draws, folds=2)["pearson"].high) == (1, 1)


def test_a_difference_is_the_mean_of_events_with_the_interval_of_its_clusters() -> None:
    interval = mean_difference(drawn_clusters(20, 500, seed=0), np.linspace(-1, 3, 20), np.ones(20))
    assert interval.value == pytest.approx(1)
    assert interval.low < 0.6 < 1.4 < interval.high
    first, again, other = (drawn_clusters(5, 20, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert first.sum(axis=1).tolist() == [5] * 20
    draws = drawn_clusters(2, 10, seed=0)
    assert mean_difference(draws, np.array([3.0, 1.0]), np.array([3.0, 5.0])).value == 0.5
    assert math.isnan(mean_difference(draws, np.zeros(2), np.zeros(2)).value)


def test_calibration_says_what_came_true_in_each_tenth() -> None:
    tenths = forecasts(np.array([0.05, 0.07, 0.52, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])).calibration()
    assert [(count, round(mean, 3), share) for count, mean, share in tenths] == [
        (2, 0.06, 0.5),
        (1, 0.52, 1),
        (1, 1, 1),
    ]
    assert len(forecasts(np.array([0.05, 0.15, 0.16]), np.ones(3)).calibration()) == 2


def test_order_is_by_strata_and_within_by_the_inner_ones() -> None:
    chances, outcomes = np.array([0.9, 0.8, 0.2, 0.1]), 1 - OUTCOMES
    orders = plain(Forecasts(chances, outcomes, NONE, NONE, np.array([0, 1, 1, 0])))
    assert [orders[name] for name in ("auc", "auc_within")] == [0.25, 0.5]
