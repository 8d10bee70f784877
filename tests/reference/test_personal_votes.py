"""A judge of one's own on the published TTCW votes, beside figures that were found elsewhere.

Source: Salesforce/creativity_eval (Chakrabarty et al. 2024, BSD-3-Clause) for votes and verdicts. Elsewhere, by
penalised fits with whole plots held out, on 540 votes of 36 machine stories: log loss .3981 by majority, .3711 by test
and the rater's leniency; with all seven published judges, of whom three are in these files, the rater's leniency
takes .0231 [.0134, .0344] off. The curiosity study's shortcut, yes where a human wrote it: kappa .599, F1 .709, r .604.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.reports.made_logs import made_log
from tests.studies.personal.made import verdict

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.votes import read_votes
from genie_inspect.studies.personal.ballots import Ballots, ballots
from genie_inspect.studies.personal.fitting import figures, fit_judge, foretell
from genie_inspect.studies.personal.judge import GRADER, MAJORITY, RATER, SOURCE, WITH_LENIENCY, WITH_TASTE, HeldOut

Shared = Callable[[str], Path]
FIVE = ("07", "08", "09", "10", "11")
MACHINES = ("*_NewYorker",)


def voted(shared: Shared, **choice: Any) -> Ballots:
    votes = read_votes(shared("ttcw_expert_votes.json"))
    return ballots(votes, read_scores([shared("ttcw_judge_verdicts.json")]), **choice)


def loss(found: HeldOut, model: str) -> float:
    value = found.models[model]["log_loss"].value
    assert value is not None
    return value


def test_the_rater_gives_these_judges_what_he_gives_seven(shared_data: Shared) -> None:
    rows = voted(shared_data, tests=FIVE, leave_out=MACHINES)
    assert (len(rows), len(rows.stories), len(rows.plots)) == (540, 36, 12)
    assert rows.levels.mean() == pytest.approx(0.143, abs=5e-4)
    found = figures(rows, foretell(rows), WITH_LENIENCY)
    assert loss(found, MAJORITY) == pytest.approx(0.3981, abs=1e-3)
    assert loss(found, RATER) == pytest.approx(0.3711, abs=2e-3)
    assert found.models[MAJORITY]["kappa"].value == 0
    assert loss(found, GRADER) == pytest.approx(0.3840, abs=5e-4)
    assert loss(found, WITH_LENIENCY) == pytest.approx(0.3603, abs=5e-4)
    gain = found.gain
    assert (gain.value, gain.low, gain.high) == pytest.approx((-0.0237, -0.0335, -0.0137), abs=2e-3)
    # leniency does not change the order of a rater's votes on a plot: pooled, .727 and .685
    within = [found.models[name]["auc_within"].value for name in (GRADER, WITH_LENIENCY)]
    assert within == pytest.approx([0.715, 0.716], abs=1e-3)
    # taste gives more
    _, found = fit_judge(rows)
    assert loss(found, WITH_TASTE) == pytest.approx(0.3453, abs=5e-4)
    assert found.sentence.startswith("Better than the grader alone by 0.0388 [0.0")
    assert next(iter(found.models)) == WITH_TASTE


def test_who_wrote_it_stands_above_the_models_that_only_found_it(shared_data: Shared) -> None:
    rows = voted(shared_data, tests=FIVE, humans=("NewYorker",))
    found = figures(rows, foretell(rows), WITH_TASTE)
    assert (found.votes, next(iter(found.models))) == (720, SOURCE)
    source = found.models[SOURCE]
    assert source["kappa"].value == pytest.approx(0.599, abs=5e-4)
    assert source["f1"].value == pytest.approx(0.709, abs=5e-4)
    # the mean over plots, weighted by pairs; of its verdicts over all votes it is .604
    assert source["pearson"].value == pytest.approx(0.610, abs=5e-4)


def test_the_votes_go_with_a_log_of_the_same_verdicts(shared_data: Shared, tmp_path: Path) -> None:
    file = shared_data("ttcw_judge_verdicts.json")
    judged = read_scores([file])["gpt4"]
    for writer in ("GPT3.5", "GPT4", "Claude"):
        own = {story: score for story, score in judged.items() if story.endswith(f"_{writer}")}
        made_log(
            tmp_path,
            [{"ttcw": verdict(score.tests)} for score in own.values()],
            model=writer,
            places=[(story.partition("_")[0], 1) for story in own],
        )
    votes = read_votes(shared_data("ttcw_expert_votes.json"))
    by_log, by_file = (
        ballots(votes, scores, tests=FIVE, leave_out=MACHINES) for scores in (read_scores([tmp_path]), {"gpt4": judged})
    )
    assert (by_log.scores == by_file.scores).all()
    assert by_log.columns[0].scorer == "ttcw"
    losses = [figures(rows, foretell(rows), WITH_TASTE, resamples=10).models for rows in (by_log, by_file)]
    assert losses[0] == losses[1]
