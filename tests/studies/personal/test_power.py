"""The learning curve: more stories, more gain; from the votes themselves, and simulated."""

import json

import pytest

from genie_inspect.agreement.votes import VotesError
from genie_inspect.studies.personal.fitting import foretell
from genie_inspect.studies.personal.judge import GRADER
from genie_inspect.studies.personal.power import (
    LEAST,
    Curve,
    Point,
    World,
    from_data,
    from_simulation,
    power_chart,
    simulated,
)

BALLOTS = simulated(World(stories=60, tests=2, raters=4, leniency=1.2), 0).ballots


def test_the_gain_grows_with_the_stories() -> None:
    curve = from_data(BALLOTS, (3, 40), repeats=12)
    few, many = curve.points
    assert (few.stories, many.stories) == (3, 39)
    assert many.gain < few.gain
    assert many.gain < 0
    assert many.better > 0.9
    assert many.votes == pytest.approx(39 * 2 * 3 / 4)
    assert many.low < many.gain < many.high


def test_a_gain_of_next_to_nothing_is_not_better() -> None:
    # raters who do not differ: their terms shrink to nearly nothing, and so do gains and losses
    alike = simulated(World(stories=60, tests=2, raters=4), 1).ballots
    (point,) = from_data(alike, (30,), repeats=40).points
    losses = foretell(alike, models=[GRADER]).losses(GRADER)
    assert abs(point.gain) < LEAST * losses.mean()
    assert point.better < 0.05


def test_without_numbers_the_curve_goes_from_two_plots_to_all_but_two() -> None:
    stories = [point.stories for point in from_data(BALLOTS, repeats=2).points]
    assert (stories[0], stories[-1], len(stories)) == (6, 54, 6)


def test_more_stories_than_there_are_must_be_simulated() -> None:
    with pytest.raises(VotesError, match="stories is 80, expected fewer than the 60 that there are"):
        from_data(BALLOTS, (80,))
    (point,) = from_simulation(BALLOTS, (80,), repeats=2).points
    assert point.stories == 80


def test_two_plots_are_too_few() -> None:
    with pytest.raises(VotesError, match="there are 2 plots, expected 3 or more"):
        from_data(simulated(World(stories=6), 0).ballots)


def test_a_simulated_curve_says_of_which_world() -> None:
    curve = from_simulation(BALLOTS, repeats=2)
    assert curve.title.startswith("Learning curve, simulated: 2 tests, 3 of 4 raters a story, leniency ")
    assert [point.stories for point in curve.points] == [60, 120, 240, 480]


def test_the_sentence_names_the_first_number_from_which_on_it_is_sure() -> None:
    points = [
        Point(stories, stories / 2, -0.01, -0.02, 0, better, 40) for stories, better in ((6, 0.97), (12, 0.9), (18, 1))
    ]
    assert Curve("", tuple(points)).sentence == (
        "Learnt from 18 stories (9 votes a rater), votes are foretold better than by the grader alone (1% of its log "
        "loss or more) in 95% of the draws or more."
    )
    assert Curve("", tuple(points[:2])).sentence.endswith("in 90% of the draws, not yet in 95%.")


def test_the_picture_has_a_point_for_each_number_of_stories() -> None:
    pytest.importorskip("altair")
    drawn = json.dumps(power_chart(from_data(BALLOTS, (6, 12), repeats=2)).to_dict())
    assert '"stories": 6' in drawn
    assert '"stories": 12' in drawn
