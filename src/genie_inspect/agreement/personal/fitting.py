"""A judge of one's own from votes and scores: its coefficients, and what it foretold of plots held out."""

from itertools import product

import numpy as np

from genie_inspect.agreement.personal.ballots import Ballots
from genie_inspect.agreement.personal.holding_out import Told, figures, foretell
from genie_inspect.agreement.personal.models import TERMS, Fitted, fitted, judge_model
from genie_inspect.raters.figures import HeldOut
from genie_inspect.raters.judge import LENIENCY, SCORES, TASTE, TEST, Column, PersonalJudge, RaterTerms

DECIMALS = 6


def fit_judge(
    ballots: Ballots, *, taste: bool = True, resamples: int = 1_000, seed: int = 0, told: Told = lambda *_: None
) -> tuple[PersonalJudge, HeldOut]:
    """A judge, and how well it foretells.

    Args:
        ballots: Votes with scores.
        taste: Whether raters may differ by test too.
        resamples: Of the bootstrap over plots.
        seed: Of the bootstrap, and of the folds where plots are many.
        told: Called with step, fits done and fits in all.

    Raises:
        VotesError: If no plot can be held out.
        UnfittableError: If the votes do not determine a model.
    """
    model = judge_model(ballots, taste=taste)
    found = foretell(ballots, seed, told=told)
    return judge_of(ballots, fitted(ballots, TERMS[model])), figures(found, model, resamples, seed)


def judge_of(ballots: Ballots, fit: Fitted) -> PersonalJudge:
    """The judge that a fitted model is."""
    model = fit.model
    slopes = model.terms[SCORES]
    return PersonalJudge(
        scale=ballots.scale,
        thresholds=tuple(_rounded(value) for value in model.thresholds),
        tests={name: _rounded(value) for name, value in zip(ballots.tests.names, model.terms[TEST], strict=True)},
        columns=tuple(
            Column(**dict(source), mean=_rounded(mean), spread=_rounded(spread), slope=_rounded(slope))
            for source, mean, spread, slope in zip(ballots.columns, fit.means, fit.spreads, slopes, strict=True)
        ),
        raters=_raters(ballots, fit),
        variances={name: _rounded(value) for name, value in model.variances.items()},
    )


def _raters(ballots: Ballots, fit: Fitted) -> dict[str, RaterTerms]:
    tests, raters = ballots.tests, ballots.raters
    cells = np.bincount(raters.codes * len(tests) + tests.codes, minlength=len(raters) * len(tests))
    votes = cells.reshape(len(raters), len(tests))
    tastes = fit.model.terms.get(TASTE, np.zeros(votes.size)).reshape(votes.shape)
    own: dict[str, dict[str, float]] = {name: {} for name in raters.names}
    for (rater, name), (test, label) in product(enumerate(raters.names), enumerate(tests.names)):
        if votes[rater, test] and tastes[rater, test]:
            own[name][label] = _rounded(tastes[rater, test])
    return {
        name: RaterTerms(
            votes=int(votes[index].sum()),
            leniency=_rounded(fit.model.terms[LENIENCY][index]),
            error=_rounded(fit.model.errors[LENIENCY][index]),
            taste=own[name],
        )
        for index, name in enumerate(raters.names)
    }


def _rounded(value: float) -> float:
    return round(float(value), DECIMALS)
