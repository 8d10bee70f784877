"""How far a judge puts the stories of a prompt in the order in which people put them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.votes import VotedStory, VotesError, are_numbers
from genie_inspect.statistics.bootstrap import BootstrapInterval, bootstrap_interval
from genie_inspect.statistics.ranking import kendall, pairwise_accuracy, rank_correlation, rank_products, spearman

RANKINGS: dict[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "spearman": spearman,
    "kendall": kendall,
    "pairwise_accuracy": pairwise_accuracy,
}


@dataclass(frozen=True, slots=True)
class Ranking:
    """One measure of rank agreement, over prompts."""

    mean: BootstrapInterval
    """Mean over prompts, with an interval by bootstrap over prompts."""
    undefined: int
    """Prompts in which it is undefined, because one side gives all stories the same score or there is but one."""
    by_prompt: dict[str, float]


@dataclass(frozen=True, slots=True)
class Counted:
    """How rankings are counted."""

    numbers: bool = False
    """Whether votes are numbers."""
    published_averages: bool = False
    """Enter an undefined correlation as 0 in the means, as the published figures do."""
    resamples: int = 2_000
    seed: int = 0

    def mean(self, values: Sequence[float]) -> BootstrapInterval:
        """Mean of the values that are no NaN, with an interval by bootstrap over all."""
        array = np.array(values)

        def mean(drawn: NDArray[np.intp]) -> float:
            defined = array[drawn][~np.isnan(array[drawn])]
            return float(defined.mean()) if len(defined) else math.nan

        return bootstrap_interval(mean, len(array), self.resamples, self.seed)


def rankings(
    votes: Sequence[VotedStory],
    judged: Mapping[str, JudgedStory],
    *,
    leave_out: Sequence[str] = (),
    published_averages: bool = False,
    resamples: int = 2_000,
    seed: int = 0,
) -> dict[str, Ranking]:
    """How far one judge ranks stories as people do: that part of `agreement` alone, which is the quick one.

    Raises:
        VotesError: As `agreement`.
    """
    compared = compared_stories(votes, leave_out)
    check_scored(compared, {"the judge": judged})
    counted = Counted(are_numbers(compared), published_averages, resamples, seed)
    return ranked(stories_by_prompt(compared), judged, counted)


def compared_stories(votes: Sequence[VotedStory], leave_out: Sequence[str]) -> list[VotedStory]:
    """The stories whose ids no pattern matches."""
    return [story for story in votes if not any(fnmatchcase(story.story, pattern) for pattern in leave_out)]


def stories_by_prompt(stories: Sequence[VotedStory]) -> dict[str, list[VotedStory]]:
    """The stories of each prompt."""
    by_prompt: dict[str, list[VotedStory]] = {}
    for story in stories:
        by_prompt.setdefault(story.prompt, []).append(story)
    return by_prompt


def ranked(
    by_prompt: Mapping[str, Sequence[VotedStory]], judged: Mapping[str, JudgedStory], counted: Counted
) -> dict[str, Ranking]:
    """Each measure over prompts.

    Args:
        by_prompt: Stories with votes, those of one prompt together.
        judged: The scores of one judge.
        counted: How they are counted.
    """
    values_by_ranking: dict[str, dict[str, float]] = {name: {} for name in RANKINGS}
    for prompt, stories in by_prompt.items():
        human = [human_score(story, numbers=counted.numbers) for story in stories]
        machine = [judged[story.story].score for story in stories]
        for name, measure in RANKINGS.items():
            values_by_ranking[name][prompt] = measure(human, machine)
    return {
        name: Ranking(
            # a correlation with a side that never varies is undefined; as 0 it pulls the mean towards no agreement
            counted.mean(
                [0.0 if counted.published_averages and math.isnan(value) else value for value in values.values()]
            ),
            sum(map(math.isnan, values.values())),
            values,
        )
        for name, values in values_by_ranking.items()
    }


@dataclass(frozen=True, slots=True)
class LengthTakenOut:
    """How far a judge ranks stories as people do, over all prompts, and what is left with length taken out of both.

    Correlations of ranks within prompts. NaN where no story's length is known.
    """

    as_it_is: BootstrapInterval
    partial: BootstrapInterval
    length_alone: BootstrapInterval
    """Of words and people's votes, on the stories that the judge scored."""


def length_taken_out(
    by_prompt: Mapping[str, Sequence[VotedStory]],
    judged: Mapping[str, JudgedStory],
    words: Mapping[str, float],
    counted: Counted,
) -> LengthTakenOut:
    """What a judge knows of people's votes beyond length.

    Args:
        by_prompt: Stories with votes, those of one prompt together.
        judged: The scores of one judge.
        words: By story; one that is not known is left out.
        counted: How votes are counted.
    """
    products = np.array(
        [
            rank_products(
                [human_score(story, numbers=counted.numbers) for story in stories],
                [judged[story.story].score for story in stories],
                [words.get(story.story, math.nan) for story in stories],
            )
            for stories in by_prompt.values()
        ]
    )

    def over(places: list[int], *, partial: bool = False) -> BootstrapInterval:
        # prompts are drawn whole
        def correlation(drawn: NDArray[np.intp]) -> float:
            return rank_correlation(products[drawn].sum(axis=0)[np.ix_(places, places)], partial=partial)

        return bootstrap_interval(correlation, len(products), counted.resamples, counted.seed)

    return LengthTakenOut(over([0, 1]), over([0, 1, 2], partial=True), over([0, 2]))


def human_score(story: VotedStory, *, numbers: bool) -> float:
    """What people say of a story: tests that most of them let pass; of numbers the mean over tests of their means."""
    if numbers:
        means = [mean for mean in story.means().values() if not math.isnan(mean)]
        return math.fsum(means) / len(means) if means else math.nan
    # NaN (no vote) adds nothing
    return math.fsum(vote for vote in story.majority().values() if vote == 1)


def check_scored(compared: Sequence[VotedStory], scores: Mapping[str, Mapping[str, JudgedStory]]) -> None:
    """Refuse to compare where a judge has no score of a story.

    Raises:
        VotesError: If a story has votes but no score, or there is no story or no judge.
    """
    if not compared or not scores:
        raise VotesError("there is nothing to compare: no votes are left, or no scores")
    for judge, judged in scores.items():
        for story in compared:
            if story.story not in judged:
                raise VotesError(
                    f"story {story.story!r} has votes but no score by {judge}, expected one of {_some(judged)}; "
                    "--leave-out leaves stories out"
                )


def _some(stories: Mapping[str, JudgedStory]) -> str:
    names = list(stories)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
