"""Intervals of means, and of forecasts."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t

from genie_inspect.statistics.agreement import cohen_kappa
from genie_inspect.statistics.bootstrap import percentile_interval
from genie_inspect.statistics.descriptive import prompt_interval, prompt_means, standard_error
from genie_inspect.statistics.forecasts import (
    BINS,
    Forecasts,
    auc,
    drawn_clusters,
    figures_of,
    kappa,
    mean_difference,
    pearson,
)

VALUES = st.lists(st.floats(-10, 10), min_size=2, max_size=12)


def test_one_value_a_prompt_is_the_ordinary_t_interval() -> None:
    # 1, 2, 3: mean 2, standard deviation 1, error 1 / sqrt(3) = 0.5773503; t with two degrees of freedom 4.3026527:
    # half width 2.4841377
    found = prompt_interval([1, 2, 3], ["a", "b", "c"])
    assert (found.mean, found.values, found.clusters) == (2, 3, 3)
    assert found.low == pytest.approx(2 - 2.4841377, abs=1e-6)
    assert found.high == pytest.approx(2 + 2.4841377, abs=1e-6)


def test_epochs_of_one_prompt_count_as_one_observation() -> None:
    # prompt means 1 and 3: mean 2, standard deviation sqrt(2), error 1; t with one degree of freedom is 12.7062047
    found = prompt_interval([1, 1, 3, 3], ["a", "a", "b", "b"])
    assert (found.values, found.clusters) == (4, 2)
    assert found.high - found.mean == pytest.approx(12.7062047, abs=1e-6)


def test_prompts_weigh_alike_however_many_values_each_has() -> None:
    # prompt means 1.5, 3, 6: mean 3.5, where the four values have 3; squares 4 + 0.25 + 6.25 = 10.5, error
    # sqrt(10.5 / 2 / 3) = 1.3228757; t with two degrees of freedom 4.3026527
    found = prompt_interval([1, 2, 3, 6], ["a", "a", "b", "c"])
    assert found.mean == 3.5
    assert found.mean - found.low == pytest.approx(1.3228757 * 4.3026527, abs=1e-6)


def clustered(values: list[list[float]]) -> tuple[float, float]:
    """Mean and half width by cluster-robust standard errors (Miller 2024), with t for z; a list of values a cluster."""
    every = np.concatenate([np.array(own) for own in values])
    sums = np.array([(np.array(own) - every.mean()).sum() for own in values])
    groups = len(values)
    error = math.sqrt(groups / (groups - 1) * (sums**2).sum()) / len(every)
    return float(every.mean()), float(t.ppf(0.975, groups - 1)) * error


@given(
    st.integers(1, 4).flatmap(
        lambda size: st.lists(st.lists(st.floats(-10, 10), min_size=size, max_size=size), min_size=2, max_size=8)
    )
)
def test_where_prompts_have_as_many_values_it_is_the_clustered_interval(values: list[list[float]]) -> None:
    prompts = [place for place, own in enumerate(values) for _ in own]
    found = prompt_interval([value for own in values for value in own], prompts)
    assume(not math.isnan(found.low))
    mean, half = clustered(values)
    assert (found.mean, found.high - found.mean) == pytest.approx((mean, half), abs=1e-9)


@given(VALUES, st.integers(2, 4))
def test_repeating_every_value_in_its_prompt_adds_no_certainty(values: list[float], times: int) -> None:
    once = prompt_interval(values, range(len(values)))
    often = prompt_interval(values * times, [*range(len(values))] * times)
    assert [often.low, often.high] == pytest.approx([once.low, once.high], abs=1e-9, nan_ok=True)


@given(VALUES)
def test_more_confidence_means_a_wider_interval_around_the_mean(values: list[float]) -> None:
    assume(not math.isnan(standard_error(values)))
    narrow, wide = (prompt_interval(values, range(len(values)), confidence) for confidence in (0.5, 0.99))
    assert wide.low <= narrow.low <= narrow.mean <= narrow.high <= wide.high


def test_missing_values_are_left_out_and_so_are_prompts_without_any() -> None:
    found = prompt_interval([1, math.nan, 3, math.nan], ["a", "a", "b", "c"])
    assert found == prompt_interval([1, 3], ["a", "b"])
    assert (found.values, found.clusters) == (2, 2)
    assert prompt_means([1, math.nan, 3, math.nan], ["a", "a", "b", "c"]) == {"a": 1, "b": 3}


def test_a_single_prompt_has_a_mean_but_no_interval() -> None:
    found = prompt_interval([1, 3], ["a", "a"])
    assert found.mean == 2
    assert math.isnan(found.low)
    assert math.isnan(found.high)


@pytest.mark.parametrize("values", [[14, 14], [1.0] * 8, [0.1 + 0.2, 0.3]])
def test_prompts_that_do_not_vary_have_a_mean_but_no_interval(values: list[float]) -> None:
    # two stories that pass all fourteen tests do not show that every story does
    found = prompt_interval(values, range(len(values)))
    assert found.mean == pytest.approx(values[0])
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isnan(standard_error(values))


def test_no_values_have_no_mean() -> None:
    assert math.isnan(prompt_interval([math.nan], ["a"]).mean)
    assert prompt_interval([], []).values == 0


def test_an_interval_ends_where_the_values_do() -> None:
    values = [0.9, 1.0, 1.0]  # mean 0.967, half width of the t interval 4.303 * 0.0333 = 0.143: it would end at 1.11
    found = prompt_interval(values, "abc", bounds=(0, 1))
    assert 0 < found.low < 0.823 < found.mean < found.high <= 1
    mirrored = prompt_interval([0.1, 0.0, 0.0], "abc", bounds=(0, 1))
    assert [1 - mirrored.high, 1 - mirrored.low] == pytest.approx([found.low, found.high])
    assert math.isnan(prompt_interval([0.5], ["a"], bounds=(0, 1)).low)


def test_a_scale_of_other_ends_bends_an_interval_alike() -> None:
    shares = prompt_interval([0.9, 1.0, 0.7, 0.95], "abcd", bounds=(0, 1))
    points = prompt_interval([18.0, 20.0, 14.0, 19.0], "abcd", bounds=(0, 20))
    assert [points.low, points.high] == pytest.approx([20 * shares.low, 20 * shares.high])
    # no end above: an interval of lengths 1, 2, 30 begins above 0, where that of t begins at -30
    assert 0 < prompt_interval([1, 2, 30], "abc", bounds=(0, math.inf)).low < 1


def test_far_from_the_ends_it_is_the_t_interval() -> None:
    values = [0.499, 0.5, 0.501]  # half width 0.0025, an end is 201 of them away
    assert prompt_interval(values, "abc", bounds=(0, 1)) == prompt_interval(values, "abc")
    # nearer ones differ by little: 0.5 +- 0.0248
    wide = prompt_interval([0.49, 0.5, 0.51], "abc", bounds=(0, 1))
    assert [wide.low, wide.high] == pytest.approx([0.5 - 0.0248, 0.5 + 0.0248], abs=0.002)


def test_values_beyond_the_stated_ends_have_the_t_interval() -> None:
    assert prompt_interval([5, 6, 7], "abc", bounds=(0, 1)) == prompt_interval([5, 6, 7], "abc")


@pytest.mark.parametrize(
    ("mean", "size", "least"),
    # as beta values: a t interval of 8 prompts covers 0.995 of size 30 in 71%, of 60 in 80%, of 350 (the demo's
    # creativity index: standard deviation 0.004) in 92%, and 0.95 of size 10 in 87%
    [
        (0.5, 3, 0.95),
        (0.8, 10, 0.94),
        (0.95, 10, 0.94),
        (0.99, 100, 0.94),
        (0.995, 30, 0.93),
        (0.995, 60, 0.93),
        (0.995, 350, 0.94),
    ],
)
def test_eight_prompts_cover_their_mean_also_near_an_end(mean: float, size: float, least: float) -> None:
    draws = np.random.default_rng(0).beta(mean * size, (1 - mean) * size, (2000, 8))
    intervals = [prompt_interval(values, range(8), bounds=(0, 1)) for values in draws.tolist()]
    assert np.mean([found.low <= mean <= found.high for found in intervals]) > least


def test_values_too_large_to_add_have_a_mean() -> None:
    # the sum is beyond any float; deviations of 1e308 / 3 and 2e308 / 3, error 1e308 / 3
    assert prompt_interval([1e308, 1e308, 0], "abc").mean == pytest.approx(1e308 / 3 * 2)
    assert standard_error([1e308, 1e308, 0]) == pytest.approx(1e308 / 3)
    infinite = prompt_interval([math.inf, 1, 2], "abc")
    assert infinite.mean == math.inf
    assert math.isnan(infinite.low)
    assert math.isnan(prompt_interval([math.inf, -math.inf], "ab").mean)


def test_means_that_differ_by_little_vary() -> None:
    # standard deviation 1e-10 / sqrt(2), over the root of 2
    assert standard_error([1, 1 + 1e-10]) == pytest.approx(0.5e-10, rel=1e-5)


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
    """The figures without intervals."""
    draw = np.ones((1, int(forecasts.clusters.max()) + 1))
    return {name: found.value for name, found in figures_of(forecasts, draw, folds=2).items()}


def test_the_figures_of_four_forecasts_by_hand() -> None:
    figures = plain(forecasts())
    # right: 0.9 for a yes; wrong: 0.6 for a no, 0.4 for a yes; right: 0.2 for a no
    assert figures["log_loss"] == pytest.approx(-(math.log(0.9) + 2 * math.log(0.4) + math.log(0.8)) / 4)
    assert figures["brier"] == pytest.approx((0.01 + 0.36 + 0.36 + 0.04) / 4)
    # yes to two, one of them rightly, of two
    assert [figures[name] for name in ("precision", "recall", "f1")] == [0.5] * 3
    assert kappa(CHANCES, OUTCOMES, NONE, EACH)(np.ones(4)) == pytest.approx(0)
    assert pearson(CHANCES, OUTCOMES, NONE, EACH)(np.ones(4)) == pytest.approx(np.corrcoef(CHANCES, OUTCOMES)[0, 1])


def test_kappa_of_one_stratum_is_that_of_two_raters() -> None:
    draw = np.random.default_rng(0)
    chances, outcomes = draw.random(200), (draw.random(200) < 0.3).astype(float)
    zeros = np.zeros(200, dtype=int)
    assert kappa(chances, outcomes, zeros, zeros)(np.ones(1)) == pytest.approx(
        cohen_kappa((chances > 0.5).tolist(), (outcomes > 0).tolist())
    )


def test_what_is_not_defined_is_nan() -> None:
    figures = plain(forecasts(np.full(4, 0.1), np.zeros(4)))
    undefined = {name for name, value in figures.items() if math.isnan(value)}
    assert undefined == {"kappa", "f1", "precision", "recall", "pearson", "auc", "auc_within"}


def test_f1_is_0_where_there_are_yes_and_none_is_called() -> None:
    assert plain(forecasts(np.full(4, 0.1)))["f1"] == 0


def test_chances_of_one_value_throughout_have_no_correlation() -> None:
    assert math.isnan(pearson(np.full(4, 1 / 3), OUTCOMES, NONE, EACH)(np.ones(4)))


def test_pearson_is_the_mean_over_strata_by_pairs_and_equal_chances_count_as_0() -> None:
    chances, outcomes = np.array([0.9, 0.1, 0.5, 0.1, 0.3, 0.4, 0.4]), np.array([1.0, 0, 0, 1, 0, 1, 0])
    strata = np.array([0, 0, 1, 1, 1, 2, 2])
    # r is 1 over 1 pair, that of the second over 2, and 0 over 1; the stratum's level says nothing
    second = np.corrcoef([0.5, 0.1, 0.3], [0, 1, 0])[0, 1]
    found = pearson(chances, outcomes, strata, np.arange(7))(np.ones(7))
    assert found == pytest.approx((1 + 2 * second + 0) / 4)


def test_kappa_holds_verdicts_against_the_chance_of_their_own_stratum() -> None:
    # all yes is said of the stratum with half a yes, all no of the one with three quarters: nothing is told apart
    chances = np.repeat([0.9, 0.1], 4)
    outcomes = np.array([1.0, 1, 0, 0, 1, 1, 1, 0])
    strata = np.repeat([0, 1], 4)
    assert kappa(chances, outcomes, strata, strata)(np.ones(2)) == 0
    assert cohen_kappa((chances > 0.5).tolist(), (outcomes > 0).tolist()) == pytest.approx(-0.25)


def test_certainty_that_is_wrong_is_dear_and_not_infinite() -> None:
    losses = forecasts(np.array([0.0, 1.0]), np.array([1.0, 0.0])).log_losses
    assert losses == pytest.approx([-math.log(1e-12)] * 2, rel=1e-4)


def test_auc_counts_pairs_and_ties_by_half() -> None:
    chances, outcomes = np.array([0.5, 0.5, 0.9, 0.1]), np.array([1, 0, 1, 0])
    # (.5, .5) a half; (.5, .1), (.9, .5), (.9, .1) whole
    assert auc(chances, outcomes, NONE, EACH)(np.ones(4)) == 3.5 / 4


def test_auc_holds_against_each_other_what_is_of_one_stratum() -> None:
    chances, outcomes = np.array([0.9, 0.8, 0.2, 0.1]), np.array([0, 1, 0, 1])
    assert auc(chances, outcomes, np.array([0, 0, 1, 1]), EACH)(np.ones(4)) == 0
    assert auc(chances, outcomes, np.array([0, 1, 1, 0]), EACH)(np.ones(4)) == 0.5


def test_auc_ties_no_chances_of_two_strata() -> None:
    # the highest chance of the first stratum is the lowest of the second, and each stratum has its order right
    chances, outcomes = np.array([0.2, 0.5, 0.5, 0.9]), np.array([0, 1, 0, 1])
    assert auc(chances, outcomes, np.array([0, 0, 1, 1]), EACH)(np.ones(4)) == 1


def test_auc_by_weights_is_auc_of_the_events_repeated() -> None:
    draw = np.random.default_rng(1)
    chances, strata = draw.random(40).round(1), draw.integers(3, size=40)
    outcomes = draw.integers(2, size=40).astype(np.float64)
    weights = draw.integers(0, 4, size=40)
    count = weights.sum()
    again = auc(np.repeat(chances, weights), np.repeat(outcomes, weights), np.repeat(strata, weights), np.arange(count))
    drawn = auc(chances, outcomes, strata, np.arange(40))(weights.astype(float))
    assert drawn == pytest.approx(again(np.ones(count)))


@pytest.mark.parametrize("figure", [auc, pearson, kappa])
def test_a_cluster_that_is_drawn_twice_is_not_held_against_itself(figure: Callable[..., Any]) -> None:
    draw = np.random.default_rng(2)
    chances, folds = draw.random(60), np.repeat(np.arange(6), 10)
    outcomes = draw.integers(2, size=60).astype(np.float64)
    twice = np.r_[np.arange(60), np.flatnonzero(folds == 3)]
    # each copy is a fold of its own
    copied = np.r_[folds, np.full(10, 6)]
    counts = np.array([1.0, 1, 1, 2, 1, 1])
    expected = figure(chances[twice], outcomes[twice], copied, copied)(np.ones(7))
    assert figure(chances, outcomes, folds, folds)(counts) == pytest.approx(expected)


def test_on_pure_noise_figures_of_order_say_nothing_and_their_intervals_say_so() -> None:
    # chances are the share of yes in the other folds, by one of three tests: all that a model could learn by mistake
    draw, found = np.random.default_rng(3), []
    plots, tests = np.repeat(np.arange(20), 12), np.tile(np.arange(3), 80)
    for _ in range(100):
        outcomes = (draw.random(240) < draw.beta(4, 4, 20)[plots]).astype(float)
        yes = np.array([np.bincount(tests, outcomes * (plots != plot), 3) for plot in range(20)])
        chances = yes[plots, tests] / 76
        both = forecasts(chances, outcomes, plots), Forecasts(chances, outcomes, plots, plots, plots)
        pooled, own = (figures_of(one, drawn_clusters(20, 50, 0), folds=20) for one in both)
        covers = [own[name].low <= none <= own[name].high for name, none in (("auc", 0.5), ("pearson", 0))]
        found.append([pooled["auc"].value, *(own[name].value for name in ("auc", "pearson", "kappa")), *covers])
    means = np.mean(found, axis=0)
    assert means[0] < 0.45
    assert means[1:4] == pytest.approx([0.5, 0, 0], abs=0.02)
    assert means[4:].min() > 0.85


def test_auc_without_a_pair_is_not_defined() -> None:
    assert math.isnan(auc(CHANCES, np.ones(4), NONE, EACH)(np.ones(4)))


def test_resamples_draw_clusters_whole() -> None:
    clusters = np.array([0, 0, 1, 1])
    draws = np.array([[2.0, 0.0], [1.0, 1.0]])
    found = figures_of(forecasts(clusters=clusters), draws, folds=2)["brier"]
    assert (found.value, found.high) == pytest.approx((0.77 / 4, 0.77 / 4))
    assert found.low == pytest.approx((0.01 + 0.36) / 2)
    # of (.9, .6) and (.4, .2) and, between the clusters, (.9, .2) and (.4, .6)
    order = auc(CHANCES, OUTCOMES, NONE, clusters)
    assert [order(counts) for counts in draws] == [1, 0.75]


def test_an_interval_of_order_is_wider_for_what_the_folds_share_and_ends_at_the_bounds() -> None:
    draws, clusters = drawn_clusters(12, 200, 0), np.repeat(np.arange(12), 10)
    draw = np.random.default_rng(4)
    outcomes = draw.integers(2, size=120).astype(float)
    own = Forecasts(draw.random(120) + 0.4 * outcomes, outcomes, clusters, clusters, clusters)
    found = figures_of(own, draws, folds=12)["auc"]
    order = auc(own.chances, outcomes, clusters, clusters)
    middle = percentile_interval(found.value, np.array([order(counts) for counts in draws]))
    # 2.201 over 1.960, times the root of 1 + 12/11
    assert (found.high - found.value) / (middle.high - middle.value) == pytest.approx(1.123 * 1.446, rel=1e-3)
    sure = Forecasts(outcomes, outcomes, clusters, clusters, clusters)
    assert (figures_of(sure, draws, folds=2)["auc"].low, figures_of(sure, draws, folds=2)["pearson"].high) == (1, 1)


def test_a_difference_has_the_interval_of_its_clusters() -> None:
    interval = mean_difference(drawn_clusters(20, 500, seed=0), np.linspace(-1, 3, 20), np.ones(20))
    assert interval.value == pytest.approx(1)
    assert interval.low < 0.6 < 1.4 < interval.high


def test_a_difference_is_the_mean_of_events_and_not_of_clusters() -> None:
    assert mean_difference(drawn_clusters(2, 10, seed=0), np.array([3.0, 1.0]), np.array([3.0, 5.0])).value == 0.5


def test_calibration_says_what_came_true_in_each_tenth() -> None:
    chances, outcomes = np.array([0.05, 0.07, 0.52, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])
    tenths = forecasts(chances, outcomes).calibration()
    assert [(count, round(mean, 3), share) for count, mean, share in tenths] == [
        (2, 0.06, 0.5),
        (1, 0.52, 1),
        (1, 1, 1),
    ]


def test_a_chance_of_a_half_is_no_yes() -> None:
    figures = plain(forecasts(np.array([0.5, 0.6]), np.array([1.0, 1.0])))
    assert (figures["recall"], figures["precision"]) == (0.5, 1.0)
    several = plain(forecasts(np.array([0.9, 0.8, 0.7, 0.1]), np.array([1.0, 0.0, 0.0, 0.0])))
    assert [several[name] for name in ("recall", "precision")] == pytest.approx([1, 1 / 3])
    assert [len(forecasts(np.array([0.05, 0.15, 0.16]), np.ones(3)).calibration()), BINS] == [2, 10]


def test_order_is_by_strata_and_within_by_the_inner_ones() -> None:
    chances, outcomes = np.array([0.9, 0.8, 0.2, 0.1]), np.array([0.0, 1.0, 0.0, 1.0])
    one, two = np.zeros(4, dtype=int), np.array([0, 1, 1, 0])
    orders = plain(Forecasts(chances, outcomes, one, one, two))
    assert [orders[name] for name in ("auc", "auc_within")] == [0.25, 0.5]


def test_draws_depend_on_their_seed_and_a_difference_of_nothing_is_none() -> None:
    first, again, other = (drawn_clusters(5, 20, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert first.sum(axis=1).tolist() == [5] * 20
    assert math.isnan(mean_difference(drawn_clusters(3, 10, 0), np.zeros(3), np.zeros(3)).value)
