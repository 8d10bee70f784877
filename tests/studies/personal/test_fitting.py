"""A judge is what its votes say: leniency and taste recovered, counts right, nothing claimed where nothing is."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import expit
from tests.processes import tries

from genie_inspect.agreement.votes import VotesError
from genie_inspect.statistics.agreement import drawn_clusters, mean_difference
from genie_inspect.studies.personal.ballots import Factor
from genie_inspect.studies.personal.fitting import (
    TERMS,
    figures,
    fit_judge,
    fitted,
    folds_of,
    foretell,
    judge_model,
    judge_of,
)
from genie_inspect.studies.personal.judge import GRADER, MAJORITY, RATER, SOURCE, WITH_LENIENCY, WITH_TASTE, Figure
from genie_inspect.studies.personal.power import (
    LEAST,
    Point,
    World,
    learning_curve,
    power_sentence,
    simulated,
    world_of,
)

TASTES = World(stories=90, tests=4, raters=8, raters_a_story=4, leniency=1.0, taste=1.0)


def test_raters_of_known_leniency_and_taste_are_recovered() -> None:
    ballots, leniency, taste = simulated(TASTES, 1)
    judge, figures = fit_judge(ballots, resamples=100)
    order = [int(name[1:]) for name in judge.raters]
    found = [terms.leniency for terms in judge.raters.values()]
    assert np.corrcoef(found, leniency[order])[0, 1] > 0.85
    tests = [f"t{number}" for number in range(4)]
    whole = np.array([[terms.leniency + terms.taste[test] for test in tests] for terms in judge.raters.values()])
    assert np.corrcoef(whole.ravel(), (leniency[:, None] + taste)[order].ravel())[0, 1] > 0.85
    assert figures.model == WITH_TASTE
    assert figures.gain.is_below
    assert figures.sentence.startswith("Better than the grader alone by 0.")
    # votes behind each rater are counted
    counts = {name: terms.votes for name, terms in judge.raters.items()}
    assert {name: own.votes for name, own in figures.raters.items()} == counts
    assert sum(counts.values()) == len(ballots) == figures.votes


@pytest.mark.repeated
def test_raters_who_do_not_differ_cannot_be_told_from_the_average() -> None:
    for seed in range(tries(1, 8)):
        judge, figures = fit_judge(simulated(World(), seed)[0], resamples=100, seed=seed)
        assert not figures.gain.is_below
        assert not any(map(judge.leaning, judge.raters))


def test_the_judge_says_what_its_model_does() -> None:
    ballots, *_ = simulated(TASTES, 4)
    fit = fitted(ballots, TERMS[WITH_TASTE])
    judge = judge_of(ballots, fit)
    raters, tests = ([factor.names[code] for code in factor.codes] for factor in (ballots.raters, ballots.tests))
    numbers = ({"score0": number} for number in ballots.scores[:, 0])
    opinions = map(judge.opinion, raters, tests, numbers)
    chances = [opinion["expected"] for opinion in opinions if opinion]
    assert chances == pytest.approx(fit.chances(ballots)[:, 0], abs=1e-5)


def test_a_rater_with_one_vote_is_near_the_average_and_least_sure() -> None:
    ballots, *_ = simulated(TASTES, 7)
    first = np.flatnonzero(ballots.raters.codes == 0)
    judge, figures = fit_judge(ballots.at(np.delete(np.arange(len(ballots)), first[1:])), resamples=10)
    lone = judge.raters[ballots.raters.names[0]]
    others = [terms for terms in judge.raters.values() if terms is not lone]
    assert lone.votes == 1
    assert abs(lone.leniency) < 0.7 * max(abs(terms.leniency) for terms in others)
    assert lone.error > max(terms.error for terms in others)
    assert figures.raters[ballots.raters.names[0]].gain.low is None


def test_a_world_is_found_again_from_its_votes() -> None:
    ballots, leniency, _ = simulated(World(stories=200, tests=6, leniency=0.8, taste=0.6, story=0.7), 9)
    world = world_of(ballots)
    assert (world.stories, world.tests, world.raters, world.raters_a_story, world.stories_a_plot) == (200, 6, 10, 3, 3)
    assert (world.leniency, world.taste, world.story) == pytest.approx((leniency.std(), 0.6, 0.7), abs=0.15)
    assert world.scores[0] == pytest.approx(0.8, abs=0.12)


BALLOTS, *_ = simulated(World(stories=24, tests=3, raters=4, leniency=1.0), 1)
foretold_once = cache(lambda: foretell(BALLOTS))


def test_few_plots_are_each_held_out_alone_and_many_in_ten_folds_of_whole_plots() -> None:
    few = np.repeat(np.arange(8), 3)
    assert folds_of(few, 8, seed=0).tolist() == few.tolist()
    many = np.repeat(np.arange(45), 3)
    folds = folds_of(many, 45, seed=0)
    assert len(set(folds.tolist())) == 10
    assert all(len(set(folds[many == plot].tolist())) == 1 for plot in range(45))
    assert np.bincount(folds).max() - np.bincount(folds).min() <= 3
    assert (folds_of(many, 45, seed=1) != folds).any()
    with pytest.raises(VotesError, match="all votes are on stories of one plot"):
        folds_of(np.zeros(5, dtype=int), 1, seed=0)


def test_no_vote_of_a_plot_has_a_part_in_what_is_foretold_of_it() -> None:
    plot = BALLOTS.plots.codes == 2
    turned = replace(BALLOTS, levels=np.where(plot, 1 - BALLOTS.levels, BALLOTS.levels))
    here, there = foretold_once(), foretell(turned)
    for name in here:
        assert here[name].chances[plot] == pytest.approx(there[name].chances[plot])
        assert (here[name].chances[~plot] != there[name].chances[~plot]).any()


def test_the_models_are_what_the_votes_allow() -> None:
    fitted = [RATER, GRADER, WITH_LENIENCY, WITH_TASTE]
    assert list(foretold_once()) == [MAJORITY, *fitted]
    one_test = BALLOTS.at(np.flatnonzero(BALLOTS.tests.codes == 0))
    one_test = replace(one_test, tests=Factor(("t0",), one_test.tests.codes))
    sources = Factor.of([f"w{code % 3}" for code in one_test.stories.codes])
    assert list(foretell(replace(one_test, sources=sources))) == [MAJORITY, SOURCE, *fitted[:-1]]
    many = replace(BALLOTS, raters=Factor(tuple(map(str, range(1_001))), BALLOTS.raters.codes))
    assert judge_model(many, taste=True) == judge_model(BALLOTS, taste=False) == WITH_LENIENCY
    assert judge_model(BALLOTS, taste=True) == WITH_TASTE
    judge, found = fit_judge(BALLOTS, taste=False, resamples=10)
    assert found.model == WITH_LENIENCY
    assert not any(terms.taste for terms in judge.raters.values())


def test_the_majority_is_the_share_of_yes_on_a_test_with_half_a_vote_for_and_against() -> None:
    chances = foretell(BALLOTS, models=[MAJORITY])[MAJORITY].chances
    for row in (0, 40, 100):
        like = (BALLOTS.plots.codes != BALLOTS.plots.codes[row]) & (BALLOTS.tests.codes == BALLOTS.tests.codes[row])
        assert chances[row] == (BALLOTS.levels[like].sum() + 0.5) / (like.sum() + 1)


def test_a_source_that_decides_stands_above_what_only_found_a_part_of_it() -> None:
    human = BALLOTS.stories.codes % 3 == 0
    decided = replace(BALLOTS, sources=Factor(("machine", "human"), human.astype(int)), levels=human.astype(int))
    assert next(iter(figures(decided, foretell(decided), WITH_TASTE, resamples=20).models)) == SOURCE


def test_leniency_cannot_change_the_order_of_a_raters_votes() -> None:
    draw = np.random.default_rng(0)
    folds = folds_of(BALLOTS.plots.codes, len(BALLOTS.plots), 0)
    plain = draw.normal(BALLOTS.levels, 1.0)
    # what a rater adds, and what the fold's own votes take away from the others' level
    moved = plain + np.linspace(-2, 2, 4)[BALLOTS.raters.codes] - np.linspace(0, 3, 8)[folds]
    foretold, chances = foretold_once()[GRADER], {GRADER: plain, WITH_LENIENCY: moved}
    found = figures(BALLOTS, {name: replace(foretold, chances=expit(own)) for name, own in chances.items()}, GRADER)
    within = [found.models[name]["auc_within"] for name in chances]
    assert within[0] == within[1]
    assert found.models[GRADER]["auc"] != found.models[WITH_LENIENCY]["auc"]


def test_intervals_of_raters_hold_for_all_of_them_together() -> None:
    found, row = foretold_once(), BALLOTS.raters.codes == 0
    deltas = found[WITH_LENIENCY].log_losses - found[GRADER].log_losses
    draws = drawn_clusters(8, 1_000, 0)
    plots = BALLOTS.plots.codes[row]
    sums, counts = (np.bincount(plots, own, 8).astype(float) for own in (deltas[row], np.ones(row.sum())))
    # four raters, each with votes on all eight plots: 1 - .05 / 4
    own = Figure.model_validate(mean_difference(draws, sums, counts, 0.9875))
    assert figures(BALLOTS, found, WITH_LENIENCY).raters[BALLOTS.raters.names[0]].gain == own
    assert own != Figure.model_validate(mean_difference(draws, sums, counts))


def test_the_gain_is_the_difference_in_log_loss() -> None:
    found = figures(BALLOTS, foretold_once(), WITH_LENIENCY, resamples=20)
    ours, graders = (found.models[name]["log_loss"].value or 0 for name in (WITH_LENIENCY, GRADER))
    assert found.gain.value == pytest.approx(ours - graders, abs=1e-5)
    votes = sum((own.gain.value or 0) * own.votes for own in found.raters.values())
    assert votes / found.votes == pytest.approx(found.gain.value, abs=1e-5)


LENIENT_BALLOTS, *_ = simulated(World(stories=60, tests=2, raters=4, leniency=1.2), 0)


def test_the_gain_grows_with_the_stories() -> None:
    _, (few, many) = learning_curve(LENIENT_BALLOTS, (3, 40), repeats=12)
    assert (few.stories, many.stories) == (3, 39)
    assert many.gain < few.gain
    assert many.gain < 0
    assert many.better > 0.9
    assert many.votes == pytest.approx(39 * 2 * 3 / 4)
    assert many.low < many.gain < many.high


@pytest.mark.repeated
def test_a_gain_of_next_to_nothing_is_not_better() -> None:
    # raters who do not differ: their terms shrink to nearly nothing, and so do gains and losses
    alike, *_ = simulated(World(stories=60, tests=2, raters=4), 1)
    _, (point,) = learning_curve(alike, (30,), repeats=tries(20, 40))
    losses = foretell(alike, models=[GRADER])[GRADER].log_losses
    assert abs(point.gain) < LEAST * losses.mean()
    assert point.better < 0.05


def test_stories_are_those_that_there_are_or_simulated() -> None:
    _, points = learning_curve(LENIENT_BALLOTS, repeats=2)
    # from two plots to all but two
    assert (points[0].stories, points[-1].stories, len(points)) == (6, 54, 6)
    title, points = learning_curve(LENIENT_BALLOTS, simulate=True, repeats=2)
    assert title.startswith("Learning curve, simulated: 2 tests, 3 of 4 raters a story, leniency ")
    assert [point.stories for point in points] == [60, 120, 240, 480]
    with pytest.raises(VotesError, match="stories is 80, expected fewer than the 60 that there are"):
        learning_curve(LENIENT_BALLOTS, (80,))
    with pytest.raises(VotesError, match="there are 2 plots, expected 3 or more"):
        learning_curve(simulated(World(stories=6), 0)[0])


def test_the_sentence_names_the_first_number_from_which_on_it_is_sure() -> None:
    shares = {6: 0.97, 12: 0.9, 18: 1}
    points = [Point(stories, stories / 2, -0.01, -0.02, 0, better, 40) for stories, better in shares.items()]
    assert power_sentence(points) == (
        "Learnt from 18 stories (9 votes per rater), votes are predicted better than by the grader alone (1% of its "
        "log loss or more) in 95% of the draws or more."
    )
    assert power_sentence(points[:2]).endswith("in 90% of the draws, not yet in 95%.")
