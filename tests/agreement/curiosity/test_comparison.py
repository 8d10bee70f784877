import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.engines.curiosity.explained import votes

from genie_inspect.agreement.curiosity.comparison import FIGURES, Plan, compared, shares
from genie_inspect.agreement.curiosity.folds import by_plots
from genie_inspect.agreement.votes import VotesError
from genie_inspect.engines.curiosity.explanations import READING, Explanation
from genie_inspect.engines.curiosity.sentence_vectors import VectorCuriosity
from genie_inspect.engines.curiosity.settings import VectorSettings
from genie_inspect.engines.curiosity.votes import ExplainedVote, Values

PLAN = Plan(folds=3, resamples=20)
VOTES = votes(12)


class Noting:
    """Notes what it learns from and what it is asked; says .25 of everything."""

    name = "noting"

    def __init__(self) -> None:
        self.learned: list[Sequence[ExplainedVote]] = []
        self.asked: list[Sequence[ExplainedVote]] = []

    def settings_used(self) -> dict[str, int | float]:
        return {"wit": 1}

    def fit(self, votes: Sequence[ExplainedVote]) -> "Noting":
        self.learned.append(votes)
        return self

    def probabilities(self, votes: Sequence[ExplainedVote]) -> Values:
        self.asked.append(votes)
        return np.full(len(votes), 0.25)

    def save(self, folder: Path) -> None: ...


def noting() -> dict[Explanation, Noting]:
    return {"none": Noting(), "held-out": Noting()}


def test_each_vote_is_asked_once_of_a_model_that_has_seen_nothing_of_its_plot() -> None:
    models = noting()
    compared(VOTES, models, "none", PLAN)
    asked = models["none"].asked
    assert sorted(vote.story + vote.rater for part in asked for vote in part) == sorted(
        v.story + v.rater for v in VOTES
    )
    for learned, out in zip(models["none"].learned, asked, strict=True):
        assert len(learned) + len(out) == len(VOTES)
        assert not {vote.plot for vote in learned} & {vote.plot for vote in out}


def test_without_the_explanation_no_model_that_reads_it_is_asked() -> None:
    models = noting()
    comparison = compared(VOTES, models, "none", PLAN)
    assert models["held-out"].learned == []
    assert [(column.explanation, column.held_out) for column in comparison.columns] == [
        ("none", "plots"),
        (None, "plots"),
    ]
    assert comparison.reading == READING["none"]


def test_held_out_shows_rows_whole_plots_and_the_figures_without_the_explanation() -> None:
    models = noting()
    comparison = compared(VOTES, models, "held-out", PLAN)
    assert [(column.explanation, column.held_out) for column in comparison.columns] == [
        ("held-out", "rows"),
        ("held-out", "plots"),
        ("none", "plots"),
        (None, "plots"),
    ]
    assert comparison.reading == READING["held-out"]
    by_rows = zip(models["held-out"].learned[:3], models["held-out"].asked[:3], strict=True)
    assert any({vote.plot for vote in learned} & {vote.plot for vote in out} for learned, out in by_rows)


def test_the_leak_is_seen_where_explanations_say_the_verdict() -> None:
    settings = VectorSettings(penalty=0.01)
    models = {reading: VectorCuriosity(reading, settings) for reading in READING}
    rows, plots, honest, _ = compared(votes(24), models, "held-out", PLAN).columns
    assert rows.figures["auc"].value > 0.95
    assert plots.figures["auc"].value > 0.95
    assert honest.figures["auc"].value < 0.8
    assert honest.figures["log_loss"].value > 2 * plots.figures["log_loss"].value


def test_figures_are_over_all_votes_with_intervals_by_plot() -> None:
    comparison = compared(VOTES, noting(), "none", PLAN)
    figures = comparison.columns[0].figures
    assert list(figures) == list(FIGURES) == ["pearson", "f1", "log_loss", "auc", "kappa"]
    # 10 yes of 24, of each of which .25 is said
    assert figures["log_loss"].value == pytest.approx(-(10 * math.log(0.25) + 14 * math.log(0.75)) / 24)
    assert figures["log_loss"].low < figures["log_loss"].value < figures["log_loss"].high
    assert figures["auc"].value == 0.5
    assert math.isnan(figures["pearson"].value)


def test_what_the_figures_rest_on_is_counted() -> None:
    given = [replace(VOTES[0], explanation=None), *VOTES[1:], replace(VOTES[-1], rater="cy")]
    comparison = compared(given, noting(), "none", PLAN)
    counts = (comparison.votes, comparison.yes, comparison.explained, comparison.stories, comparison.plots)
    assert counts == (25, 10, 24, 12, 12)
    assert (comparison.raters, comparison.model, comparison.settings) == (3, "noting", {"wit": 1})
    assert [column.unknown_raters for column in comparison.columns] == [1, 1]  # cy gave one vote


def test_the_baseline_is_the_share_of_yes_on_the_test_outside_of_the_fold() -> None:
    given = [*VOTES[:4], replace(VOTES[0], test="10")]  # ann and bob: yes yes no no, and one yes on another test
    # of test 09 in fold 1, no and no: (0 + 1) / (2 + 2); in fold 0, yes and yes; of test 10 nothing is known
    assert shares(given, np.array([0, 0, 1, 1, 0])).tolist() == [0.25, 0.25, 0.75, 0.75, 0.5]


@pytest.mark.parametrize(("said", "called"), [(0.5, 0), (0.5000001, 24)])
def test_a_yes_is_called_above_one_half_as_for_every_forecast(
    said: float, called: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noting, "probabilities", lambda self, votes: np.full(len(votes), said))
    figures = compared(VOTES, noting(), "none", PLAN).columns[0].figures
    # 10 yes of 24
    assert figures["f1"].value == pytest.approx(2 * (10 if called else 0) / (10 + called))


def test_the_share_of_yes_outside_of_the_fold_tells_no_vote_of_the_fold_from_another() -> None:
    # one test: the same chance for a whole fold, the lower the more yes it holds; over all votes AUC would be below .5
    figures = compared(VOTES, noting(), "none", PLAN).columns[-1].figures
    assert figures["auc"].value == 0.5
    assert math.isnan(figures["pearson"].value)
    folds = by_plots(VOTES, PLAN.folds, PLAN.seed)
    chances, yes = shares(VOTES, folds), np.array([vote.verdict for vote in VOTES])
    assert np.corrcoef(chances, yes)[0, 1] < -0.05


def test_progress_is_told_after_each_fold() -> None:
    told: list[tuple[str, int, int]] = []
    compared(VOTES, noting(), "held-out", PLAN, lambda *step: told.append(step))
    assert told[2:4] == [
        ("explanation=held-out, rows held out", 3, 3),
        ("explanation=held-out, plots held out", 1, 3),
    ]
    assert len(told) == 9


def test_one_rater_alone_is_refused_before_anything_is_learned() -> None:
    models = noting()
    with pytest.raises(VotesError, match="all votes are by rater 'ann', expected at least two raters"):
        compared([vote for vote in VOTES if vote.rater == "ann"], models, "none", PLAN)
    with pytest.raises(VotesError, match="12 plots, expected at least 13"):
        compared(VOTES, models, "none", Plan(folds=13))
    assert models["none"].learned == []
