"""How far raters agree, feature by feature, how much the order of what they saw matters, and a line fitted to them.

Novelties and swapped sides are compared question by question, with percentile bootstrap intervals over questions:
answers to one question share more than a feature. Where questions are few, as in one feature of few prompts, such
intervals are somewhat narrow.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.raters import CalibrationError, Pair, Ratings, Target
from genie_inspect.engines.embedders import Embedder
from genie_inspect.files.tables import plain
from genie_inspect.graders.embedding_judge import FeatureFit, VectorFit
from genie_inspect.measures.genie import FEWEST_RATINGS, is_used, question_novelty
from genie_inspect.populations.schema import Question
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.bootstrap import UNKNOWN, BootstrapInterval, paired_bootstrap
from genie_inspect.statistics.descriptive import Knots, height, isotonic_knots
from genie_inspect.statistics.ranking import kendall, position_effect, spearman

if TYPE_CHECKING:
    import altair

ALL = "all features"  # no feature's name has a space
RESAMPLES = 2_000

Values = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    first: str
    second: str
    feature: str
    pairs: int  # that both rated; nothing else is compared
    questions: int
    alpha: float  # ordinal Krippendorff alpha of the ratings, continuous ones rounded: 1 alike, 0 as by chance
    tau: float  # Kendall's tau-b of the novelty of the answers, each against the same others
    difference: BootstrapInterval  # feature novelty by the second less that by the first, 95% over questions


@dataclass(frozen=True, slots=True)
class Conduct:
    """How one rater rated the pairs of a feature: how many came, why others did not, and the rater's biases."""

    rater: str
    feature: str
    asked: int  # ratings that the rater was asked for
    unusable: float  # share of these that did not come, 0 to 1; NaN when none was requested
    faults: dict[str, int]
    novelty: float  # mean over the questions, 0 to 1
    position: BootstrapInterval  # how much higher the last of a list is rated than the first; NaN without lists
    swapped: BootstrapInterval  # mean of rating(answer, other) - rating(other, answer); NaN where no pair was swapped


def compare(
    targets: Sequence[Target], raters: Sequence[Ratings], features: Sequence[str], resamples: int = RESAMPLES
) -> tuple[list[RaterAgreement], list[Conduct]]:
    """Every two raters, and every rater alone, for each feature that has pairs and for all together."""
    table, groups = _Table(targets, resamples), pairs_by_feature(targets, features)
    pairs = combinations(raters, 2)
    agreements = [table.agreement(first, second, *group) for first, second in pairs for group in groups.items()]
    return agreements, [table.conduct(rater, *group) for rater in raters for group in groups.items()]


def pairs_by_feature(targets: Sequence[Target], features: Sequence[str]) -> dict[str, Rows]:
    """The places of the pairs of each feature that has some, and of all of them."""
    of_pair = np.repeat([target.question.feature for target in targets], [len(target.others) for target in targets])
    groups = {feature: np.flatnonzero(of_pair == feature) for feature in features}
    return {feature: rows for feature, rows in groups.items() if len(rows)} | {ALL: np.arange(len(of_pair))}


class _Table:
    """The pairs as rows: which target and question each belongs to."""

    def __init__(self, targets: Sequence[Target], resamples: int) -> None:
        sizes = [len(target.others) for target in targets]
        self.target = np.repeat(np.arange(len(targets)), sizes)
        self.question = np.repeat([target.question.id for target in targets], sizes)
        self.resamples = resamples

    def agreement(self, first: Ratings, second: Ratings, feature: str, rows: Rows) -> RaterAgreement:
        sides = [np.array(rater.values) for rater in (first, second)]
        # pairs that only one of the two could rate would move its novelty and not the other's
        both = rows[~np.isnan(sides[0][rows]) & ~np.isnan(sides[1][rows])]
        novelties = [self._novelties(side, both) for side in sides]
        by_question = [self._by_question(side, both) for side in sides]
        return RaterAgreement(
            first=first.name,
            second=second.name,
            feature=feature,
            pairs=len(both),
            questions=len(by_question[0]),
            alpha=krippendorff_alpha([rater.levels[both] for rater in (first, second)]),
            tau=kendall(*novelties),
            difference=self._mean_delta(*by_question),
        )

    def conduct(self, rater: Ratings, feature: str, rows: Rows) -> Conduct:
        values = np.array(rater.values)
        faults = Counter(rater.faults[row] for row in rows.tolist() if row in rater.faults)
        rated = rows[~np.isnan(values[rows])]
        # a pair that a person left out has neither a rating nor a fault: it does not count as asked for
        requested = len(rated) + sum(faults.values())
        novelty = self._by_question(values, rated)
        position = swapped = UNKNOWN
        if rater.positions:
            position = position_effect(values[rated], np.array(rater.positions)[rated], self.target[rated].tolist())
        if rater.swapped:
            sides = np.array(rater.swapped), values
            # a swapped rating is made of pairs alone that have one the other way round
            both = _grouped(rated[~np.isnan(sides[0][rated])], self.question)
            swapped = self._mean_delta(*(np.array([side[group].mean() for group in both]) for side in sides))
        return Conduct(
            rater=rater.name,
            feature=feature,
            asked=requested,
            unusable=1 - len(rated) / requested if requested else math.nan,
            faults=dict(faults),
            novelty=float(novelty.mean()) if len(novelty) else math.nan,
            position=position,
            swapped=swapped,
        )

    def _novelties(self, values: Values, rows: Rows) -> Values:
        return np.array([question_novelty(values[group].tolist()) for group in _grouped(rows, self.target)])

    def _by_question(self, values: Values, rows: Rows) -> Values:
        """Novelty of each question: mean over its targets."""
        return np.array([self._novelties(values, group).mean() for group in _grouped(rows, self.question)])

    def _mean_delta(self, before: Values, after: Values) -> BootstrapInterval:
        test = paired_bootstrap(before, after, self.resamples)
        return BootstrapInterval(test.delta, test.low, test.high)


def _grouped(rows: Rows, keys: NDArray[np.generic]) -> list[Rows]:
    rows_by_key: dict[object, list[int]] = {}
    for row in rows.tolist():
        rows_by_key.setdefault(keys[row], []).append(row)
    return [np.array(group) for group in rows_by_key.values()]


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """What people say of the pairs of a feature, and one judge beside them."""

    feature: str
    judge: str  # empty where there is none: then the row is of people alone
    pairs: int  # that a person rated, and the judge
    people_alpha: float  # ordinal Krippendorff alpha among all people, over all pairs that they rated
    judge_alpha: float  # the same of the judge and the people's consensus, the median of their ratings
    tau: float  # Kendall's tau-b of the judge's ratings and the mean of the people's


def held_against_people(
    targets: Sequence[Target], people: Sequence[Ratings], judges: Sequence[Ratings], features: Sequence[str]
) -> list[PeopleAgreement]:
    """A row for each judge and each feature that has pairs, and for all together; for nobody where there is no judge.

    Source: Genie (arXiv 2606.12790), table 11, which does not say how a judge and two people were put into one alpha:
    here the consensus counts as one rater.
    """
    table, found = np.array([rater.values for rater in people]), []
    for judge in judges or (None,):
        for feature, rows in pairs_by_feature(targets, features).items():
            own, judge_alpha, tau = table[:, rows], math.nan, math.nan
            both = ~np.isnan(own).all(axis=0)
            if judge:
                values = np.array(judge.values)[rows]
                both &= ~np.isnan(values)
                if both.any():
                    of_both = own[:, both]
                    judge_alpha = krippendorff_alpha([np.nanmedian(of_both, axis=0), judge.levels[rows][both]])
                    tau = kendall(np.nanmean(of_both, axis=0), values[both])
            name = judge.name if judge else ""
            found.append(PeopleAgreement(feature, name, int(both.sum()), krippendorff_alpha(own), judge_alpha, tau))
    return found


# Krippendorff (2004), Content Analysis, chapter 11: what to rely on, and what to conclude from tentatively at most
RELIABLE, TENTATIVE = 0.8, 0.667


def verdict(agreements: Sequence[RaterAgreement]) -> list[str]:
    """For each two raters whether one can stand for the other, where least, and who finds more novelty."""
    paragraphs = []
    # as `compare` gives them: pair of raters by pair of raters
    for (first, second), rows in groupby(agreements, key=lambda agreement: (agreement.first, agreement.second)):
        *by_feature, whole = sorted(rows, key=lambda agreement: agreement.feature == ALL)
        if math.isnan(whole.alpha):
            paragraphs.append(f"{first} and {second}: whether they agree cannot be told from {whole.pairs} pairs.")
            continue
        if whole.alpha >= RELIABLE:
            worth = f"one can replace the other, alpha is at least {RELIABLE}"
        elif whole.alpha >= TENTATIVE:
            worth = f"they agree enough for tentative conclusions, alpha is at least {TENTATIVE} and below {RELIABLE}"
        else:
            worth = f"one cannot replace the other, alpha is below {TENTATIVE}"
        sentences = [f"{first} and {second}: {worth} (alpha {whole.alpha:.2f} over {whole.pairs} pairs)."]
        known = [agreement for agreement in by_feature if not math.isnan(agreement.alpha)]
        if len(known) > 1:
            least = min(known, key=lambda agreement: agreement.alpha)
            sentences.append(f"They agree least in {least.feature.replace('_', ' ')} ({least.alpha:.2f}).")
        delta = whole.difference
        # a NaN is on neither side of 0
        if delta.low > 0 or delta.high < 0:
            more = second if delta.value > 0 else first
            sentences.append(f"{more} finds more novelty, by {abs(delta.value):.2f}: do not mix their scores.")
        paragraphs.append(" ".join(sentences))
    return paragraphs


def quotable(agreements: Sequence[RaterAgreement], people: Sequence[Ratings], judged: Sequence[Ratings]) -> list[str]:
    """Which judges stand near enough to the ratings of a file for their scores to be quoted, and which is nearest."""
    sentences = []
    for judge in judged:
        ratings = [rating for rating in judge.values if not math.isnan(rating)]
        if judge.values and not ratings:
            reasons = ", ".join(f"{count} {reason}" for reason, count in Counter(judge.faults.values()).most_common())
            sentences.append(f"{judge.name} gave none of {len(judge.values)} pairs a rating: {reasons}.")
        elif len(ratings) > 1 and len(set(ratings)) == 1:
            sentences.append(f"{judge.name} gave every pair the rating {ratings[0]:g}: it tells no answers apart.")
    names = {judge.name for judge in judged}
    for reference in (rater.name for rater in people):
        # judges by their agreement with one rater, the nearest first
        ranked = sorted(
            (-agreement.alpha, name)
            for agreement in agreements
            for name in {agreement.first, agreement.second} - {reference}
            if agreement.feature == ALL and reference in (agreement.first, agreement.second)
            if name in names and not math.isnan(agreement.alpha)
        )
        if ranked:
            listed = ", ".join(f"{name} {-alpha:.2f}" for alpha, name in ranked)
            low = [name for alpha, name in ranked if -alpha < TENTATIVE]
            warning = f" Do not quote scores of {', '.join(low)}: alpha is below {TENTATIVE}." if low else ""
            sentences.append(f"Nearest to {reference}, by alpha: {listed}.{warning}")
    return sentences


FEWEST_PAIRS = 30  # of a feature with fewer the line over all features is the better guess
DECIMALS = 5
# a question, two different answers as they count for equality, the mean of their ratings and their vectors' cosine
RatedPair = tuple[Question, frozenset[str], float, float]


def vector_fit(population: str, targets: Sequence[Target], raters: Sequence[Ratings], embedder: Embedder) -> VectorFit:
    """The line from the cosine of two answers to their rating, and how it ranks answers that it has not seen."""
    pairs = rated_pairs(targets, raters, embedder)
    if len(pairs) < FEWEST_PAIRS:
        raise CalibrationError(
            f"{len(pairs)} rated pairs of different answers, expected at least {FEWEST_PAIRS} to fit to"
        )
    novelties, lines = held_out(pairs), _lines(pairs)

    def fit(name: str) -> FeatureFit:
        """Of a feature, or of all by an empty name."""
        own = [sides for feature, *sides in novelties if name in ("", feature)]
        sides = list(zip(*own, strict=True)) or [(), ()]
        rho, tau = (None if math.isnan(r) else round(r, DECIMALS) for r in (spearman(*sides), kendall(*sides)))
        count = sum(name in ("", question.feature) for question, *_ in pairs)
        return FeatureFit(pairs=count, knots=tuple(lines[name]), answers=len(own), spearman=rho, kendall=tau)

    return VectorFit(
        embedder=embedder.identity,
        population=population,
        raters=tuple(rater.name for rater in raters),
        features={name: fit(name) for name in sorted(lines.keys() - {""})},
        pooled=fit(""),
    )


def rated_pairs(targets: Sequence[Target], raters: Sequence[Ratings], embedder: Embedder) -> list[RatedPair]:
    """Every pair of different answers that has a rating and two vectors; in either order it is one."""
    texts = list(dict.fromkeys(text for target in targets for text in (target.answer, *target.others)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    found: dict[Pair, tuple[Question, float]] = {}
    ratings: defaultdict[Pair, list[float]] = defaultdict(list)
    keyed = [(target, other, key) for target in targets for other, key in zip(target.others, target.pairs, strict=True)]
    for place, (target, other, key) in enumerate(keyed):
        ratings[key] += [rater.values[place] for rater in raters if not math.isnan(rater.values[place])]
        here, there = vectors[target.answer], vectors[other]
        if len(key[1]) > 1 and here.any() and there.any():
            found.setdefault(key, (target.question, float(here @ there)))
    rated = ((question, key[1], ratings[key], cosine) for key, (question, cosine) in found.items())
    return [(question, answers, fmean(values), cosine) for question, answers, values, cosine in rated if values]


def held_out(pairs: Sequence[RatedPair]) -> list[tuple[str, float, float]]:
    """Feature and novelty, by the ratings and by a line fitted without its prompt, of each answer with enough ratings.

    Equal answers are in neither: they count as 4 unasked with every judge, and the two novelties would agree in them
    whatever the vectors say.
    """
    novelties = []
    by_question: defaultdict[tuple[str, str, str], list[RatedPair]] = defaultdict(list)
    for pair in pairs:
        by_question[pair[0].prompt, pair[0].feature, pair[0].id].append(pair)
    prompts = {prompt for prompt, _, _ in by_question}
    lines_without = {prompt: _lines(pair for pair in pairs if pair[0].prompt != prompt) for prompt in prompts}
    for (prompt, feature, _), group in by_question.items():
        lines = lines_without[prompt]
        both: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        for _, answers, rating, cosine in group if lines else ():
            for answer in answers:
                both[answer].append((rating, height(lines.get(feature, lines[""]), cosine)))
        for ratings_of_answer in both.values():
            recorded, predicted = zip(*ratings_of_answer, strict=True)
            # an answer that was rated against few of the others has no novelty among them
            missing = [None] * (len(both) - 1 - len(recorded))
            if len(recorded) >= FEWEST_RATINGS and is_used([*recorded, *missing]):
                novelties.append((feature, question_novelty(recorded), question_novelty(predicted)))
    return novelties


def _lines(pairs: Iterable[RatedPair]) -> dict[str, Knots]:
    """By feature the line fitted to its pairs, where there are enough; under "" the one over all."""
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for question, _, rating, cosine in pairs:
        for name in (question.feature, ""):
            points[name].append((cosine, rating))
    lines: dict[str, Knots] = {}
    for name, found in points.items():
        if len(found) >= FEWEST_PAIRS:
            cosines, ratings = np.array(found).T
            # rounded first, so that no two bends fall on one cosine when they are written
            knots = isotonic_knots(cosines.round(DECIMALS), ratings)
            lines[name] = [(cosine, round(rating, DECIMALS)) for cosine, rating in knots]
    return lines


ROW = 16  # height of a pair of raters in a feature
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # told apart by the colour-blind
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]  # and in grey


def calibration_chart(agreements: Sequence[RaterAgreement]) -> "altair.VConcatChart":
    """Alpha above, the difference of feature novelty with its interval below; a row a feature, a mark two raters."""
    import altair

    rows = [
        {
            "feature": row.feature.replace("_", " "),
            "raters": f"{row.first} and {row.second}",
            "alpha": row.alpha,
            **plain(row.difference),
        }
        for row in agreements
    ]
    title = altair.TitleParams("How far raters agree", subtitle="lines: 95% intervals over questions", anchor="start")
    return altair.vconcat(
        _panel(rows, "alpha", "ordinal Krippendorff alpha (1: alike, 0: as by chance)"),
        _panel(rows, "value", "feature novelty by the second less by the first"),
        title=title,
    )


def _panel(rows: Iterable[dict[str, Any]], name: str, title: str) -> "altair.LayerChart | altair.FacetChart":
    import altair

    features, raters = (list(dict.fromkeys(row[each] for row in rows)) for each in ("feature", "raters"))
    # NaN is no JSON: the picture's data would be refused
    drawn = [row for row in map(plain, rows) if row[name] is not None]
    height = ROW * max(1, len(raters)) + 8
    base = altair.Chart(altair.InlineData(values=drawn)).properties(width=420, height=height * len(features))
    y = altair.Y("feature:N", title=None, sort=features, scale=altair.Scale(paddingInner=0.2))
    offset = altair.YOffset("raters:N", sort=raters)
    legend = altair.Legend(orient="bottom", direction="vertical", columns=1, labelLimit=420)
    colour, shape = (
        kind("raters:N", title=None, scale=altair.Scale(domain=raters, range=values), legend=legend)
        for kind, values in ((altair.Color, COLOURS), (altair.Shape, SHAPES))
    )
    x = altair.X(f"{name}:Q", title=title)
    # as by chance, or no difference, in both panels
    zero = altair.Chart(altair.InlineData(values=[{name: 0}])).mark_rule(color="#888888", strokeDash=[4, 3])
    layers = [zero.encode(x=x)]  # first, so that it lies under the marks
    if name == "value" and drawn:
        ends = base.mark_rule(strokeWidth=2)
        layers.append(ends.encode(x=altair.X("low:Q", title=title), x2="high:Q", y=y, yOffset=offset, color=colour))
    points = base.mark_point(filled=True, size=60, opacity=1)
    layers.append(points.encode(x=x, y=y, yOffset=offset, color=colour, shape=shape))
    return altair.layer(*layers)
