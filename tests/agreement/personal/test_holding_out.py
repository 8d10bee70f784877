"""Whole plots are held out, and every model is told what it may know."""

from dataclasses import replace

import numpy as np
import pytest

from genie_inspect.agreement.personal.ballots import Factor
from genie_inspect.agreement.personal.holding_out import Foretold, figures, folds_of, foretell
from genie_inspect.agreement.personal.models import held_out, judge_model, models_of, shares
from genie_inspect.agreement.personal.simulation import World, simulated
from genie_inspect.agreement.votes import VotesError
from genie_inspect.raters.figures import GRADER, MAJORITY, RATER, SOURCE, WITH_LENIENCY, WITH_TASTE, Figure
from genie_inspect.statistics.forecasts import Draws
from genie_inspect.statistics.shrunken.ordinal import chance as logistic

BALLOTS = simulated(World(stories=24, tests=3, raters=4, leniency=1.0), 1).ballots


def test_few_plots_are_each_held_out_alone_and_many_in_ten_folds_of_whole_plots() -> None:
    few = np.repeat(np.arange(8), 3)
    assert folds_of(few, 8, seed=0).tolist() == few.tolist()
    many = np.repeat(np.arange(45), 3)
    folds = folds_of(many, 45, seed=0)
    assert len(set(folds.tolist())) == 10
    assert all(len(set(folds[many == plot].tolist())) == 1 for plot in range(45))
    assert np.bincount(folds).max() - np.bincount(folds).min() <= 3
    assert (folds_of(many, 45, seed=1) != folds).any()


def test_one_plot_cannot_be_held_out() -> None:
    with pytest.raises(VotesError, match="all votes are on stories of one plot"):
        folds_of(np.zeros(5, dtype=int), 1, seed=0)


def test_no_vote_of_a_plot_has_a_part_in_what_is_foretold_of_it() -> None:
    plot = BALLOTS.plots.codes == 2
    turned = replace(BALLOTS, levels=np.where(plot, 1 - BALLOTS.levels, BALLOTS.levels))
    here, there = foretell(BALLOTS), foretell(turned)
    for name in here.chances:
        assert here.chances[name][plot] == pytest.approx(there.chances[name][plot])
        assert (here.chances[name][~plot] != there.chances[name][~plot]).any()


def test_the_models_are_what_the_votes_allow() -> None:
    fitted = [RATER, GRADER, WITH_LENIENCY, WITH_TASTE]
    assert models_of(BALLOTS) == [MAJORITY, *fitted]
    sources = Factor.of([f"w{code % 3}" for code in BALLOTS.stories.codes])
    assert models_of(replace(BALLOTS, sources=sources)) == [MAJORITY, SOURCE, *fitted]
    one_test = BALLOTS.at(np.flatnonzero(BALLOTS.tests.codes == 0))
    one_test = replace(one_test, tests=Factor(("t0",), one_test.tests.codes))
    assert WITH_TASTE not in models_of(one_test)
    many = replace(BALLOTS, raters=Factor(tuple(map(str, range(1_001))), BALLOTS.raters.codes))
    assert WITH_TASTE not in models_of(many)
    assert judge_model(many, taste=True) == judge_model(BALLOTS, taste=False) == WITH_LENIENCY


def test_the_majority_is_the_share_of_yes_on_a_test_with_half_a_vote_for_and_against() -> None:
    rows = np.arange(len(BALLOTS))
    learnt, wanted = rows[:40], rows[40:43]
    chances = held_out(BALLOTS, MAJORITY, learnt, wanted)[:, 0]
    for row, chance in zip(wanted, chances, strict=True):
        own = BALLOTS.levels[learnt][BALLOTS.tests.codes[learnt] == BALLOTS.tests.codes[row]]
        assert chance == (own.sum() + 0.5) / (len(own) + 1)


def test_the_source_alone_knows_nothing_but_who_wrote_it() -> None:
    sources = Factor(("human", "machine"), BALLOTS.stories.codes % 2)
    rows = np.arange(len(BALLOTS))
    chances = shares(BALLOTS, sources, rows, rows)[:, 0]
    assert len(set(chances[sources.codes == 0].tolist())) == len(set(chances[sources.codes == 1].tolist())) == 1


def test_a_source_that_decides_stands_above_what_only_found_a_part_of_it() -> None:
    human = BALLOTS.stories.codes % 3 == 0
    decided = replace(BALLOTS, sources=Factor(("machine", "human"), human.astype(int)), levels=human.astype(int))
    assert next(iter(figures(foretell(decided), WITH_TASTE, resamples=20).models)) == SOURCE


def test_every_figure_of_every_model_has_an_interval_and_the_best_comes_first() -> None:
    found = figures(foretell(BALLOTS), WITH_LENIENCY, resamples=200)
    losses = [own["log_loss"].value or 0 for own in found.models.values()]
    assert losses == sorted(losses)
    assert (found.votes, found.stories, found.plots, found.folds) == (216, 24, 8, 8)
    for own in found.models.values():
        loss = own["log_loss"]
        assert loss.value is not None
        assert loss.low is not None
        assert loss.high is not None
        assert loss.low < loss.value < loss.high
    assert found.gains[GRADER].value == 0
    assert sum(tenth.votes for tenth in found.calibration) == found.votes


def test_leniency_cannot_change_the_order_of_a_raters_votes() -> None:
    draw = np.random.default_rng(0)
    folds = folds_of(BALLOTS.plots.codes, len(BALLOTS.plots), 0)
    plain = draw.normal(BALLOTS.levels, 1.0)
    # what a rater adds, and what the fold's own votes take away from the others' level
    moved = plain + np.linspace(-2, 2, 4)[BALLOTS.raters.codes] - np.linspace(0, 3, 8)[folds]
    chances = {GRADER: plain, WITH_LENIENCY: moved}
    found = figures(Foretold(BALLOTS, folds, {name: logistic(own)[:, None] for name, own in chances.items()}), GRADER)
    within = [found.models[name]["auc_within"] for name in chances]
    assert within[0] == within[1]
    assert found.models[GRADER]["auc"] != found.models[WITH_LENIENCY]["auc"]


def test_intervals_of_raters_hold_for_all_of_them_together() -> None:
    found = foretell(BALLOTS, models=[GRADER, WITH_LENIENCY])
    row = BALLOTS.raters.codes == 0
    deltas = found.losses(WITH_LENIENCY) - found.losses(GRADER)
    draws = Draws.of(8, 1_000, 0)
    plots = BALLOTS.plots.codes[row]
    sums, counts = (np.bincount(plots, own, 8).astype(float) for own in (deltas[row], np.ones(row.sum())))
    # four raters, each with votes on all eight plots: 1 - .05 / 4
    own = Figure.of(draws.difference(sums, counts, 0.9875))
    assert figures(found, WITH_LENIENCY).raters[BALLOTS.raters.names[0]].gain == own
    assert own != Figure.of(draws.difference(sums, counts))


def test_the_gain_is_the_difference_in_log_loss() -> None:
    found = figures(foretell(BALLOTS), WITH_LENIENCY, resamples=20)
    ours, graders = (found.models[name]["log_loss"].value or 0 for name in (WITH_LENIENCY, GRADER))
    assert found.gain.value == pytest.approx(ours - graders, abs=1e-5)
    votes = sum((own.gain.value or 0) * own.votes for own in found.raters.values())
    assert votes / found.votes == pytest.approx(found.gain.value, abs=1e-5)


def test_a_rater_on_few_plots_has_no_interval() -> None:
    few = BALLOTS.at(np.flatnonzero((BALLOTS.raters.codes > 0) | (BALLOTS.plots.codes < 4)))
    raters = figures(foretell(few), WITH_LENIENCY, resamples=20).raters
    assert raters[few.raters.names[0]].gain.low is None
    assert raters[few.raters.names[1]].gain.low is not None


def test_numbers_have_no_precision_and_are_foretold_step_by_step() -> None:
    steps = replace(BALLOTS, levels=BALLOTS.levels + (BALLOTS.scores[:, 0] > 0), scale=(1.0, 2.0, 3.0))
    found = foretell(steps)
    chances = found.chances[WITH_TASTE]
    assert chances.shape == (len(steps), 2)
    assert (chances[:, 0] > chances[:, 1]).all()
    own = figures(found, WITH_TASTE, resamples=20).models[WITH_TASTE]
    assert {"f1", "precision", "recall"}.isdisjoint(own)
    assert own["auc"].value is not None
