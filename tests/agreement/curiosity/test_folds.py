from dataclasses import replace

import numpy as np
import pytest
from tests.engines.curiosity.explained import votes

from genie_inspect.agreement.curiosity.folds import by_plots, by_rows
from genie_inspect.agreement.votes import VotesError

VOTES = votes(30)  # 15 yes by ann, 10 by bob, of 60


def test_rows_are_dealt_with_as_many_yes_and_no_in_each_fold() -> None:
    verdicts = np.array([vote.verdict for vote in VOTES])
    fold_of = by_rows(VOTES, 5)
    assert [int(verdicts[fold_of == fold].sum()) for fold in range(5)] == [5] * 5
    assert [int((fold_of == fold).sum()) for fold in range(5)] == [12] * 5


def test_by_rows_a_plot_stands_on_both_sides() -> None:
    fold_of = by_rows(VOTES, 5)
    assert any(
        len({fold_of[place] for place, vote in enumerate(VOTES) if vote.plot == plot}) > 1 for plot in "0123456789"
    )


def test_by_plots_a_plot_stands_on_one_side() -> None:
    fold_of = by_plots(VOTES, 5)
    for plot in {vote.plot for vote in VOTES}:
        assert len({fold_of[place] for place, vote in enumerate(VOTES) if vote.plot == plot}) == 1


def test_plots_are_dealt_so_that_each_fold_has_about_as_many_yes_and_votes() -> None:
    verdicts = np.array([vote.verdict for vote in VOTES])
    fold_of = by_plots(VOTES, 5)
    assert [int(verdicts[fold_of == fold].sum()) for fold in range(5)] == [5] * 5
    assert sorted(int((fold_of == fold).sum()) for fold in range(5))[0] >= 10


@pytest.mark.parametrize("divided", [by_rows, by_plots])
def test_folds_follow_the_seed(divided: type) -> None:
    first, again, other = (divided(VOTES, 5, seed) for seed in (0, 0, 1))
    assert first.tolist() == again.tolist() != other.tolist()


def test_too_few_plots_are_refused() -> None:
    with pytest.raises(VotesError, match="4 plots, expected at least 5, one for each fold"):
        by_plots(votes(4), 5)


def test_a_text_under_several_plots_is_refused_by_name() -> None:
    copied = [
        *votes(6),
        replace(votes(1)[0], story="9_model", plot="9", text="the lamp by the  river went out. Chapter 0."),
    ]
    with pytest.raises(VotesError, match=r"1 stories are copies .*one plot\): '9_model' \(plot '9'\) of '0_model' \("):
        by_plots(copied, 3)
    by_plots([replace(vote, plot="0") if vote.plot == "9" else vote for vote in copied], 3)


def test_a_fold_of_whole_plots_without_a_yes_is_refused() -> None:
    lone = [replace(vote, verdict=vote.plot == "3") for vote in votes(6)]
    with pytest.raises(VotesError, match=r"fold \d of 3 \(plots [\d, ]+\) holds no yes: ask for fewer folds"):
        by_plots(lone, 3)


@pytest.mark.parametrize(("verdict", "name"), [(True, "no"), (False, "yes")])
def test_fewer_yes_or_no_than_folds_are_refused(verdict: bool, name: str) -> None:
    few = [replace(vote, verdict=verdict) for vote in votes(6)]
    with pytest.raises(VotesError, match=f"0 of 12 votes say {name}, expected at least 5"):
        by_rows(few, 5)
