from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.engines.curiosity.explained import votes

from genie_inspect.engines.curiosity.explanations import (
    READING,
    RaterMeans,
    check_both_verdicts,
    check_readable,
    curiosity,
    explained,
)
from genie_inspect.engines.curiosity.votes import ExplainedVote, Values
from genie_inspect.errors import UnfittableError


def unread(votes: Sequence[ExplainedVote]) -> Values:
    raise AssertionError("an explanation is read")


def means(rows: Sequence[Sequence[float]]) -> RaterMeans:
    """Of ann, bob, ann."""
    first, second, third, *_ = votes()
    return RaterMeans([first, second, third], np.array(rows))


def test_a_rater_stands_for_the_mean_of_what_was_learned_from() -> None:
    ann, bob, *_ = votes()
    stranger = replace(ann, rater="cy")
    rows = means([[0, 1], [6, 6], [2, 5]]).rows([bob, ann, stranger])
    # ann: (0 + 2) / 2, (1 + 5) / 2; a stranger is everybody: 8 / 3, 12 / 3
    assert rows.tolist() == [[6, 6], [1, 3], [8 / 3, 4]]


def test_without_the_explanation_nothing_reads_it() -> None:
    ann, bob, *_ = votes()
    scores = curiosity([ann, bob], np.array([[5.0], [7.0]]), unread, means([[1], [2], [3]]), "none")
    assert scores.tolist() == [[3], [5]]


def test_held_out_takes_the_inverse_of_the_held_out_explanation() -> None:
    ann, bob, *_ = votes()
    scores = curiosity(
        [ann, bob], np.array([[5.0], [7.0]]), lambda _: np.array([[1.0], [9.0]]), means([[1]] * 3), "held-out"
    )
    assert scores.tolist() == [[4], [-2]]


def test_only_votes_with_an_explanation_are_learned_from() -> None:
    given = votes()
    given[0] = replace(given[0], explanation=None)
    assert explained(given, "none") == given[1:]


def test_held_out_needs_every_explanation() -> None:
    given = votes()
    given[0] = replace(given[0], explanation=None)
    with pytest.raises(
        UnfittableError, match="1 of 12 votes have no explanation, expected one each with explanation=h"
    ):
        explained(given, "held-out")
    with pytest.raises(UnfittableError, match="1 of 12 votes have no explanation"):
        check_readable(given, "held-out")
    check_readable(given, "none")


@pytest.mark.parametrize("reading", ["none", "held-out"])
def test_without_any_explanation_there_is_no_curiosity_model(reading: str) -> None:
    with pytest.raises(UnfittableError, match="none of 12 votes has an explanation"):
        explained(votes(explained=False), "held-out" if reading == "held-out" else "none")


def test_one_rater_alone_cannot_be_told_apart() -> None:
    with pytest.raises(UnfittableError, match="all explanations are by rater 'ann', expected at least two raters"):
        explained([vote for vote in votes() if vote.rater == "ann"], "none")


@pytest.mark.parametrize(("verdict", "missing"), [(True, "no"), (False, "yes")])
def test_verdicts_that_are_all_alike_teach_nothing(verdict: bool, missing: str) -> None:
    with pytest.raises(UnfittableError, match=f"among 12 votes to learn from there is no '{missing}'"):
        check_both_verdicts([replace(vote, verdict=verdict) for vote in votes()])


def test_held_out_says_that_it_reads_the_answer_and_none_does_not() -> None:
    assert "reads the held-out rater's own explanation" in READING["held-out"]
    assert "the answer" in READING["held-out"]
    assert "the answer" not in READING["none"]
