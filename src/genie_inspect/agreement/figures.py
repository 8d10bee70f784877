"""Whether a machine judges stories as people do: rank agreement by prompt, chance-corrected agreement of raters."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.rankings import (
    Counted,
    LengthTakenOut,
    Ranking,
    check_scored,
    compared_stories,
    length_taken_out,
    ranked,
    stories_by_prompt,
)
from genie_inspect.agreement.votes import VotedStory, are_numbers
from genie_inspect.statistics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha, randolph_kappa
from genie_inspect.statistics.bootstrap import BootstrapInterval, bootstrap_interval

RatingTable = NDArray[np.float64]
AVERAGE = "average"


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far one judge agrees with people."""

    rankings: dict[str, Ranking]
    raters: dict[str, BootstrapInterval]
    """Agreement of the judge and the people's majority, test by test."""
    not_judged: int
    """Stories with votes that the judge could not judge; they are left out."""
    length: LengthTakenOut | None = None
    """None where the length of no story is known."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people and each judge agree on the same stories."""

    prompts: int
    stories: int
    raters: int
    judges: dict[str, JudgeAgreement]
    people: dict[str, BootstrapInterval]
    """Agreement of people among themselves, test by test."""
    pass_rates: dict[str, dict[str, float]] = field(default_factory=dict)
    """By writer and test: share of people's votes that say it passes, over all voted stories; `average` last.

    Where votes are numbers, their means.
    """
    published_averages: bool = False
    scale: tuple[float, float] | None = None
    """Lowest and highest vote, where votes are numbers in place of yes and no."""


def agreement(
    votes: Sequence[VotedStory],
    scores: Mapping[str, Mapping[str, JudgedStory]],
    *,
    leave_out: Sequence[str] = (),
    published_averages: bool = False,
    resamples: int = 2_000,
    seed: int = 0,
) -> Agreement:
    """The agreement of people and of each judge.

    Args:
        votes: Stories with their votes; stories of one prompt are compared in this order.
        scores: Scores by judge and story.
        leave_out: Patterns of story ids that are not compared, such as `*_NewYorker`; pass rates keep them.
        published_averages: Enter an undefined correlation as 0 in the means, as the published figures do.
        resamples: Of the bootstrap.
        seed: Of the bootstrap.

    Raises:
        VotesError: If a story has votes but no score, or nothing is left to compare.
    """
    compared = compared_stories(votes, leave_out)
    check_scored(compared, scores)
    by_prompt = stories_by_prompt(compared)
    numbers = are_numbers(compared)
    draws = _Draws(resamples, seed, NUMBER_RATERS if numbers else RATERS)
    raters = sorted({rater for story in compared for rater in story.votes})
    # a story is as long whoever judges it
    words = {one.story: one.words for own in scores.values() for one in own.values() if not math.isnan(one.words)}
    return Agreement(
        prompts=len(by_prompt),
        stories=len(compared),
        raters=len(raters),
        judges={
            judge: _judge(by_prompt, judged, words, draws, published_averages=published_averages, numbers=numbers)
            for judge, judged in scores.items()
        },
        people=draws.raters([_people(stories, raters) for stories in by_prompt.values()]),
        # of all stories, those that are left out of the comparison among them
        pass_rates=_pass_rates(votes),
        published_averages=published_averages,
        scale=_scale(compared) if numbers else None,
    )


@dataclass(frozen=True, slots=True)
class _Draws:
    """How intervals are made: prompts are drawn with replacement."""

    resamples: int
    seed: int
    statistics: Mapping[str, Callable[[RatingTable], float]]
    """Of raters."""

    def raters(self, parts: Sequence[RatingTable]) -> dict[str, BootstrapInterval]:
        """Chance-corrected agreement of raters; `parts` has a table (raters, units) for each prompt."""

        def over(statistic: Callable[[RatingTable], float]) -> BootstrapInterval:
            # prompts are drawn whole: stories of one prompt have the same raters and the same source
            def drawn_statistic(drawn: NDArray[np.intp]) -> float:
                return statistic(np.concatenate([parts[index] for index in drawn], axis=1))

            return bootstrap_interval(drawn_statistic, len(parts), self.resamples, self.seed)

        return {name: over(statistic) for name, statistic in self.statistics.items()}


def _scale(stories: Sequence[VotedStory]) -> tuple[float, float]:
    votes = [vote for story in stories for cast in story.by_test().values() for vote in cast]
    return min(votes), max(votes)


def _judge(
    by_prompt: Mapping[str, Sequence[VotedStory]],
    judged: Mapping[str, JudgedStory],
    words: Mapping[str, float],
    draws: _Draws,
    *,
    published_averages: bool,
    numbers: bool,
) -> JudgeAgreement:
    counted = Counted(numbers, published_averages, draws.resamples, draws.seed)
    tables = [_against_people(stories, judged, numbers=numbers) for stories in by_prompt.values()]
    missing = sum(math.isnan(judged[story.story].score) for stories in by_prompt.values() for story in stories)
    length = length_taken_out(by_prompt, judged, words, counted) if words else None
    return JudgeAgreement(ranked(by_prompt, judged, counted), draws.raters(tables), missing, length)


def _people(stories: Sequence[VotedStory], raters: Sequence[str]) -> RatingTable:
    """One row a rater, one column a story and test; NaN where a rater did not vote."""
    return np.array(
        [
            [story.votes.get(rater, {}).get(test, math.nan) for story in stories for test in story.by_test()]
            for rater in raters
        ]
    )


def _against_people(stories: Sequence[VotedStory], judged: Mapping[str, JudgedStory], *, numbers: bool) -> RatingTable:
    """Two rows, people and the judge; one column a story and test that both have a verdict or a number on.

    People are their majority, or where they give numbers their median.
    """
    units = [
        (vote, judged[story.story].tests.get(test, math.nan))
        for story in stories
        for test, vote in (story.medians() if numbers else story.majority()).items()
    ]
    both = [unit for unit in units if not any(map(math.isnan, unit))]
    # passes and fails beside numbers are no two ratings on one scale
    if numbers and {result for _, result in both} <= {0, 1}:
        both = []
    return np.array(both).reshape(-1, 2).T


def _counts(ratings: RatingTable) -> RatingTable:
    """Votes against and for each unit, shape (units, 2); none when units differ in how many votes they have."""
    counts = np.stack([(ratings == 0).sum(axis=0), (ratings == 1).sum(axis=0)], axis=1)
    # both kappas are defined for as many votes on every unit only
    return counts if len(np.unique(counts.sum(axis=1))) <= 1 else counts[:0]


def _cohen(ratings: RatingTable) -> float:
    return cohen_kappa(*ratings.tolist()) if len(ratings) == 2 else math.nan


RATERS: dict[str, Callable[[RatingTable], float]] = {
    "fleiss_kappa": lambda ratings: fleiss_kappa(_counts(ratings)),
    "cohen_kappa": _cohen,
    "randolph_kappa": lambda ratings: randolph_kappa(_counts(ratings)),
    "krippendorff_alpha": lambda ratings: krippendorff_alpha(ratings, level="nominal"),
}


NUMBER_RATERS: dict[str, Callable[[RatingTable], float]] = {
    "krippendorff_alpha": lambda ratings: krippendorff_alpha(ratings, level="ordinal"),
}
"""Of numbers: the kappas know kinds and no order."""


def _pass_rates(votes: Sequence[VotedStory]) -> dict[str, dict[str, float]]:
    cast: dict[str, dict[str, list[float]]] = {}  # votes by writer and test
    for story in votes:
        for test, ballots in story.by_test().items():
            cast.setdefault(story.writer, {}).setdefault(test, []).extend(ballots)
    rates = {}
    for writer, tests in cast.items():
        rates[writer] = {test: _mean(ballots) for test, ballots in sorted(tests.items())}
        rates[writer][AVERAGE] = _mean([vote for ballots in tests.values() for vote in ballots])
    return rates


def _mean(votes: Sequence[float]) -> float:
    return math.fsum(votes) / len(votes) if votes else math.nan
