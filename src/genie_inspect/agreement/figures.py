"""Whether a machine judges stories as people do: rank agreement by prompt, chance-corrected agreement of raters."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.votes import VotedStory, VotesError, are_numbers
from genie_inspect.files.tables import plain
from genie_inspect.logs.scores import known_mean
from genie_inspect.statistics import ranking
from genie_inspect.statistics.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha, randolph_kappa
from genie_inspect.statistics.bootstrap import BootstrapInterval, bootstrap_interval

if TYPE_CHECKING:
    import altair

Values = NDArray[np.float64]
Judged = Mapping[str, JudgedStory]
RANKINGS: dict[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "spearman": ranking.spearman,
    "kendall": ranking.kendall,
    "pairwise_accuracy": ranking.order_free_accuracy,
}
AVERAGE = "average"


@dataclass(frozen=True, slots=True)
class Ranking:
    mean: BootstrapInterval  # mean over prompts, with an interval by bootstrap over prompts
    undefined: int  # prompts in which one side gives all stories the same score, or there is but one
    by_prompt: dict[str, float]


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    rankings: dict[str, Ranking]
    raters: dict[str, BootstrapInterval]  # agreement of the judge and the people's majority, test by test
    not_judged: int  # stories with votes that the judge could not judge; they are left out
    length: dict[str, BootstrapInterval] | None = None  # None where the length of no story is known


@dataclass(frozen=True, slots=True)
class Agreement:
    prompts: int
    stories: int
    raters: int
    judges: dict[str, JudgeAgreement]
    people: dict[str, BootstrapInterval]  # agreement of people among themselves, test by test
    # by writer and test, `average` last, over all voted stories: share of people's votes that say it passes, or of
    # numbers the mean
    pass_rates: dict[str, dict[str, float]] = field(default_factory=dict)
    published_averages: bool = False
    scale: tuple[float, float] | None = None  # lowest and highest vote, where votes are numbers


def rankings(votes: Sequence[VotedStory], judged: Judged, **options: Any) -> dict[str, Ranking]:
    """How far one judge ranks stories as people do: that part of `agreement` alone, which is the quick one."""
    return _Comparison(votes, {"the judge": judged}, **options).rankings(judged)


def agreement(votes: Sequence[VotedStory], scores: Mapping[str, Judged], **options: Any) -> Agreement:
    """The agreement of people and of each judge; the order of the stories changes nothing. The options are below."""
    compared = _Comparison(votes, scores, **options)
    stories = compared.stories
    people = sorted({rater for story in stories for rater in story.votes})
    cast = [vote for story in stories for votes in story.by_test().values() for vote in votes]
    # a story is as long whoever judges it
    words = {one.story: one.words for own in scores.values() for one in own.values() if not math.isnan(one.words)}

    def votes_by_rater(stories: Sequence[VotedStory]) -> Values:
        """One row a rater, one column a story and test; NaN where a rater did not vote."""
        units = [(story, test) for story in stories for test in story.by_test()]
        return np.array([[story.votes.get(name, {}).get(test, math.nan) for story, test in units] for name in people])

    judges = {
        judge: JudgeAgreement(
            compared.rankings(judged),
            compared.raters(partial(compared.against_people, judged)),
            sum(math.isnan(judged[story.story].score) for story in stories),
            compared.length_taken_out(judged, words) if words else None,
        )
        for judge, judged in scores.items()
    }
    return Agreement(
        prompts=len(compared.by_prompt),
        stories=len(stories),
        raters=len(people),
        judges=judges,
        people=compared.raters(votes_by_rater),
        # of all stories, those that are left out of the comparison among them
        pass_rates=_pass_rates(votes),
        published_averages=compared.published,
        scale=(min(cast), max(cast)) if compared.numbers else None,
    )


class _Comparison:
    """The stories that are compared, of which every judge must have a score, by prompt; prompts are drawn whole.

    Stories whose ids fit the patterns of `leave_out`, such as `*_NewYorker`, are not compared; pass rates keep them. As
    published, an undefined correlation is 0 in the means, and pairwise accuracy takes each pair from the side of the
    writer whom people rate lower.
    """

    def __init__(
        self,
        votes: Sequence[VotedStory],
        scores: Mapping[str, Judged],
        *,
        leave_out: Sequence[str] = (),
        published_averages: bool = False,
        resamples: int = 2_000,
        seed: int = 0,
    ) -> None:
        self.published = published_averages
        self.stories = compared_stories(votes, leave_out)
        if not self.stories or not scores:
            raise VotesError("there is nothing to compare: no votes are left, or no scores")
        for judge, judged in scores.items():
            if lacking := [story.story for story in self.stories if story.story not in judged]:
                raise VotesError(
                    f"story {lacking[0]!r} has votes but no score by {judge}, expected one of {some(judged)}; "
                    "--leave-out leaves stories out"
                )
        self.numbers = are_numbers(self.stories)
        self.by_prompt: dict[str, list[VotedStory]] = {}
        for story in self.stories:
            self.by_prompt.setdefault(story.prompt, []).append(story)
        self._interval = partial(bootstrap_interval, units=len(self.by_prompt), resamples=resamples, seed=seed)

    def _human(self, stories: Sequence[VotedStory]) -> list[float]:
        return [human_score(story, numbers=self.numbers) for story in stories]

    def rankings(self, judged: Judged) -> dict[str, Ranking]:
        measures = RANKINGS | ({"pairwise_accuracy": ranking.pairwise_accuracy} if self.published else {})
        values_by_ranking: dict[str, dict[str, float]] = {name: {} for name in measures}
        cast: dict[str, list[float]] = {}
        for story in self.stories:
            cast.setdefault(story.writer, []).extend(vote for votes in story.by_test().values() for vote in votes)
        for prompt, own in self.by_prompt.items():
            # with ties the published accuracy depends on the order: on the released votes this one is the study's
            stories = sorted(own, key=lambda story: (known_mean(cast[story.writer]), story.writer, story.story))
            human, machine = self._human(stories), [judged[story.story].score for story in stories]
            for name, measure in measures.items():
                values_by_ranking[name][prompt] = measure(human, machine)

        def mean(values: Values) -> BootstrapInterval:
            # a correlation with a side that never varies is undefined; as 0 it pulls the mean towards no agreement
            known = np.nan_to_num(values) if self.published else values
            return self._interval(lambda drawn: known_mean(known[drawn].tolist()))

        return {
            name: Ranking(mean(np.array(list(values.values()))), sum(map(math.isnan, values.values())), values)
            for name, values in values_by_ranking.items()
        }

    def length_taken_out(self, judged: Judged, words: Mapping[str, float]) -> dict[str, BootstrapInterval]:
        """How far a judge ranks stories as people do, over all prompts, and what is left with length taken out of both.

        Correlations of ranks within prompts. `length_alone` is that of words and people's votes, on the same stories.
        """
        products = np.array(
            [
                ranking.rank_products(
                    self._human(stories),
                    [judged[story.story].score for story in stories],
                    [words.get(story.story, math.nan) for story in stories],
                )
                for stories in self.by_prompt.values()
            ]
        )

        def over(*places: int) -> BootstrapInterval:
            def correlation(drawn: NDArray[np.intp]) -> float:
                chosen = products[drawn].sum(axis=0)[np.ix_(places, places)]
                return ranking.rank_correlation(chosen, partial=len(places) > 2)

            return self._interval(correlation)

        return {"as_it_is": over(0, 1), "partial": over(0, 1, 2), "length_alone": over(0, 2)}

    def raters(self, ratings_of: Callable[[Sequence[VotedStory]], Values]) -> dict[str, BootstrapInterval]:
        """Agreement of raters, from one row a rater and one column a story and test."""
        parts = [ratings_of(stories) for stories in self.by_prompt.values()]

        # stories of one prompt have the same raters and the same source
        def over(statistic: Callable[[Values], float]) -> BootstrapInterval:
            return self._interval(lambda drawn: statistic(np.concatenate([parts[i] for i in drawn], axis=1)))

        return {name: over(statistic) for name, statistic in (NUMBER_RATERS if self.numbers else RATERS).items()}

    def against_people(self, judged: Judged, stories: Sequence[VotedStory]) -> Values:
        """Two rows, people and the judge; one column a story and test that both have a verdict or a number on.

        People are their majority, or where they give numbers their median.
        """
        units = [
            (vote, judged[story.story].tests.get(test, math.nan))
            for story in stories
            for test, vote in (story.medians() if self.numbers else story.majority()).items()
        ]
        both = [unit for unit in units if not any(map(math.isnan, unit))]
        # passes and fails beside numbers are no two ratings on one scale
        if self.numbers and {result for _, result in both} <= {0, 1}:
            both = []
        return np.array(both).reshape(-1, 2).T


def compared_stories(votes: Sequence[VotedStory], leave_out: Sequence[str]) -> list[VotedStory]:
    return [story for story in votes if not any(fnmatchcase(story.story, pattern) for pattern in leave_out)]


def human_score(story: VotedStory, *, numbers: bool) -> float:
    """What people say of a story: tests that most of them let pass; of numbers the mean over tests of their means."""
    if numbers:
        return known_mean(story.means().values())
    # NaN (no vote) adds nothing
    return math.fsum(vote for vote in story.majority().values() if vote == 1)


def some(names: Iterable[str]) -> str:
    """The first names, each once, and how many more there are."""
    each = list(dict.fromkeys(names))
    return ", ".join(each[:3]) + (f" and {len(each) - 3} more" if len(each) > 3 else "")


def _counts(ratings: Values) -> Values:
    """Votes against and for each unit, shape (units, 2); none when units differ in how many votes they have."""
    counts = np.stack([(ratings == 0).sum(axis=0), (ratings == 1).sum(axis=0)], axis=1)
    # both kappas are defined for as many votes on every unit only
    return counts if len(np.unique(counts.sum(axis=1))) <= 1 else counts[:0]


RATERS: dict[str, Callable[[Values], float]] = {
    "fleiss_kappa": lambda ratings: fleiss_kappa(_counts(ratings)),
    "cohen_kappa": lambda ratings: cohen_kappa(*ratings.tolist()) if len(ratings) == 2 else math.nan,
    "randolph_kappa": lambda ratings: randolph_kappa(_counts(ratings)),
    "krippendorff_alpha": partial(krippendorff_alpha, level="nominal"),
}


# of numbers: the kappas know kinds and no order
NUMBER_RATERS = {"krippendorff_alpha": partial(krippendorff_alpha, level="ordinal")}


def _pass_rates(votes: Sequence[VotedStory]) -> dict[str, dict[str, float]]:
    cast: dict[str, dict[str, list[float]]] = {}  # votes by writer and test
    for story in votes:
        for test, ballots in story.by_test().items():
            cast.setdefault(story.writer, {}).setdefault(test, []).extend(ballots)
    rates = {}
    for writer, tests in cast.items():
        rates[writer] = {test: known_mean(ballots) for test, ballots in sorted(tests.items())}
        rates[writer][AVERAGE] = known_mean([vote for ballots in tests.values() for vote in ballots])
    return rates


INK, DOTS = "#1b1b1b", "#0072b2"  # told apart by the colour-blind, and in grey


def agreement_chart(agreement: Agreement, names: Mapping[str, str]) -> "altair.VConcatChart":
    """A row a measure, a line a judge: the prompts as dots, the mean a diamond on its 95% interval."""
    import altair

    # every judge has the same rankings, so the first one names the rows
    panels = [_panel(agreement, name, names[name]) for name in next(iter(agreement.judges.values())).rankings]
    title = altair.TitleParams(
        "How far machines rank stories as people do",
        subtitle=f"{agreement.prompts} prompts (dots, larger for several), {agreement.stories} stories, "
        f"{agreement.raters} raters; diamonds: means with 95% intervals",
        anchor="start",
    )
    return altair.vconcat(*panels, title=title)


def _panel(agreement: Agreement, name: str, title: str) -> "altair.LayerChart | altair.FacetChart":
    import altair

    dots: list[dict[str, Any]] = []
    means: list[dict[str, Any]] = []
    for judge, figures in agreement.judges.items():
        ranking = figures.rankings[name]
        dots += [{"judge": judge, "value": value} for value in ranking.by_prompt.values() if not math.isnan(value)]
        if not math.isnan(ranking.mean.value):
            mean = ranking.mean
            means.append(plain({"judge": judge, "value": mean.value, "low": mean.low, "high": mean.high}))
    # an accuracy cannot be negative, a correlation can
    lowest = 0 if name == "pairwise_accuracy" else -1
    x = altair.X("value:Q", title=title, scale=altair.Scale(domain=[lowest, 1]))
    y = altair.Y("judge:N", title=None, sort=list(agreement.judges))
    base = altair.Chart(altair.InlineData(values=means)).properties(
        width=420, height=34 * max(1, len(agreement.judges))
    )
    # prompts with equal values lie on one dot, whose size counts them
    points = altair.Chart(altair.InlineData(values=dots)).mark_circle(opacity=0.5, color=DOTS)
    return altair.layer(
        points.encode(x=x, y=y, size=altair.Size("count()", legend=None, scale=altair.Scale(range=[40, 300]))),
        base.mark_rule(strokeWidth=2, color=INK).encode(x=altair.X("low:Q", title=title), x2="high:Q", y=y),
        base.mark_point(shape="diamond", filled=True, size=90, color=INK, opacity=1).encode(x=x, y=y),
    )
