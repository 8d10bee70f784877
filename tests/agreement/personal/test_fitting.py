"""A judge is what its votes say: leniency and taste recovered, counts right, nothing claimed where nothing is."""

import numpy as np
import pytest
from tests.processes import tries

from genie_inspect.agreement.personal.ballots import Ballots
from genie_inspect.agreement.personal.claims import claims
from genie_inspect.agreement.personal.fitting import fit_judge
from genie_inspect.agreement.personal.holding_out import foretell
from genie_inspect.agreement.personal.simulation import World, simulated, world_of
from genie_inspect.raters.figures import WITH_LENIENCY, WITH_TASTE

TASTES = World(stories=90, tests=4, raters=8, raters_a_story=4, leniency=1.0, taste=1.0)


def numbers(ballots: Ballots, row: int) -> dict[str, float]:
    return {column.name: ballots.scores[row, index] for index, column in enumerate(ballots.columns)}


def test_raters_of_known_leniency_and_taste_are_recovered() -> None:
    truth = simulated(TASTES, 1)
    judge, figures = fit_judge(truth.ballots, resamples=100)
    order = [int(name[1:]) for name in judge.raters]
    leniency = [terms.leniency for terms in judge.raters.values()]
    assert np.corrcoef(leniency, truth.leniency[order])[0, 1] > 0.85
    tests = [f"t{number}" for number in range(4)]
    whole = np.array([[terms.leniency + terms.taste[test] for test in tests] for terms in judge.raters.values()])
    assert np.corrcoef(whole.ravel(), (truth.leniency[:, None] + truth.taste)[order].ravel())[0, 1] > 0.85
    assert figures.gain.is_below
    assert figures.sentence.startswith("Better than the grader alone by 0.")


@pytest.mark.repeated
def test_raters_who_do_not_differ_cannot_be_told_from_the_average() -> None:
    found = [claims(World(), seed, resamples=100) for seed in range(tries(3, 8))]
    assert not any(one.better or one.rater for one in found)


def test_without_a_difference_the_sentence_claims_no_gain() -> None:
    judge, figures = fit_judge(simulated(World(), 3).ballots, resamples=100)
    assert figures.sentence.startswith(("Cannot be told from the grader alone: better by -", "Worse than"))
    assert not any(map(judge.stands_out, judge.raters))


def test_a_large_difference_is_claimed() -> None:
    assert all(claims(World(stories=60, leniency=1.5), seed, resamples=200).better for seed in range(2))


def test_the_judge_foretells_what_its_model_does() -> None:
    ballots = simulated(TASTES, 4).ballots
    judge, _ = fit_judge(ballots, resamples=10)
    whole = foretell(ballots, models=[WITH_TASTE]).chances[WITH_TASTE]
    own = np.array(
        [
            opinion.expected
            for row in range(len(ballots))
            if (
                opinion := judge.opinion(
                    ballots.raters.names[ballots.raters.codes[row]],
                    ballots.tests.names[ballots.tests.codes[row]],
                    numbers(ballots, row),
                )
            )
        ]
    )
    # each plot's own votes are in the one and not in the other
    assert np.corrcoef(own, whole[:, 0])[0, 1] > 0.97


def test_votes_behind_each_rater_are_counted() -> None:
    ballots = simulated(TASTES, 5).ballots
    judge, figures = fit_judge(ballots, resamples=10)
    assert sum(terms.votes for terms in judge.raters.values()) == len(ballots) == figures.votes
    assert {name: own.votes for name, own in figures.raters.items()} == {
        name: terms.votes for name, terms in judge.raters.items()
    }


def test_without_taste_raters_have_leniency_alone() -> None:
    judge, figures = fit_judge(simulated(TASTES, 6).ballots, taste=False, resamples=10)
    assert figures.model == WITH_LENIENCY
    assert not any(terms.taste for terms in judge.raters.values())


def test_a_rater_with_one_vote_is_near_the_average_and_least_sure() -> None:
    ballots = simulated(TASTES, 7).ballots
    first = np.flatnonzero(ballots.raters.codes == 0)
    judge, figures = fit_judge(ballots.at(np.delete(np.arange(len(ballots)), first[1:])), resamples=10)
    lone = judge.raters[ballots.raters.names[0]]
    others = [terms for terms in judge.raters.values() if terms is not lone]
    assert lone.votes == 1
    assert abs(lone.leniency) < 0.7 * max(abs(terms.leniency) for terms in others)
    assert lone.error > max(terms.error for terms in others)
    assert figures.raters[ballots.raters.names[0]].gain.low is None


def test_the_same_votes_and_seed_give_the_same_judge_and_figures() -> None:
    ballots = simulated(TASTES, 8).ballots
    assert fit_judge(ballots, resamples=20) == fit_judge(ballots, resamples=20)


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    fit_judge(simulated(World(), 0).ballots, resamples=10, told=lambda *step: told.append(step))
    assert told[-1] == ("holding plots out", 12, 12)


def test_a_world_is_found_again_from_its_votes() -> None:
    truth = simulated(World(stories=200, tests=6, leniency=0.8, taste=0.6, story=0.7), 9)
    world = world_of(truth.ballots)
    assert (world.stories, world.tests, world.raters, world.raters_a_story, world.stories_a_plot) == (200, 6, 10, 3, 3)
    assert world.leniency == pytest.approx(truth.leniency.std(), abs=0.15)
    assert world.taste == pytest.approx(0.6, abs=0.15)
    assert world.story == pytest.approx(0.7, abs=0.15)
    assert world.scores[0] == pytest.approx(0.8, abs=0.12)
