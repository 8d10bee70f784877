"""Whether other words of an instruction give the same scores: what a grader says in several wordings of it."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.calibration import ALL, TENTATIVE, pairs_by_feature
from genie_inspect.agreement.raters import Ratings, Target, recorded_targets
from genie_inspect.logs.scores import known_mean
from genie_inspect.measures.genie import HIGHEST, is_used, question_novelty
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.prompting.answers import normalised
from genie_inspect.reports.charts import in_words
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.descriptive import variance_parts

LEAST_MOVE = 1e-9
Place = tuple[str, str]  # a document's id and a question's


@dataclass(frozen=True, slots=True)
class Stability:
    """How far the scores of one grader in a feature depend on the words of its instruction."""

    rater: str
    feature: str
    documents: int  # with a score in every wording
    alpha: float  # Krippendorff's alpha among the wordings: ordinal of ratings, or interval of novelties
    means: Mapping[str, float]  # by wording the mean novelty of the documents, each 0 to 1
    # shares of the variance of novelty, which add up to 1
    document: float
    wording: float
    interaction: float  # of document and wording together, and chance
    document_moves: float  # standard deviation among wordings of one document's score
    mean_moves: float  # and of a mean over many documents
    flips: tuple[str, ...]  # models "a, b" of which one is the more novel in some wordings and the other in others


def targets_of(population: Population, reader: str, documents: Sequence[Document]) -> list[Target]:
    """Each different answer of these documents on record, with all different ones of the prompt's others."""
    chosen = {document.id for document in documents}
    answers = ((*place, text) for place, text in population.answers(reader).items() if text is not None)
    wanted = {(question, normalised(text)) for document, question, text in answers if document in chosen}
    targets = recorded_targets(population, reader)
    return [target for target in targets if target.others and (target.question.id, normalised(target.answer)) in wanted]


def rated_novelties(
    population: Population, reader: str, documents: Sequence[Document], targets: Sequence[Target], rated: Ratings
) -> dict[Place, float]:
    """The novelty of each document's answer to a question, against the others', as a score by `rated` has it."""
    recorded = population.answers(reader)
    given: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (_, question), text in recorded.items():
        if text is not None:
            given[question][normalised(text)] += 1
    values, novelty_of = iter(rated.values), dict[Place, float]()
    for target in targets:
        counts, own = given[target.question.id], normalised(target.answer)
        # of equal answers of several documents each counts, and needs no rating
        ratings: list[float | None] = [float(HIGHEST)] * (counts[own] - 1)
        for other in target.others:
            rating = next(values)
            ratings += [None if math.isnan(rating) else rating] * counts[normalised(other)]
        if is_used(ratings):
            novelty_of[target.question.id, own] = question_novelty(ratings)
    chosen = {document.id for document in documents}
    places = (((document, question), text) for (document, question), text in recorded.items() if document in chosen)
    keyed = ((place, (place[1], normalised(text))) for place, text in places if text is not None)
    return {place: novelty_of[key] for place, key in keyed if key in novelty_of}


def rating_alphas(targets: Sequence[Target], raters: Sequence[Ratings]) -> dict[str, float]:
    """Ordinal alpha among the wordings by feature, over pairs of answers."""
    levels = np.array([rater.levels for rater in raters])
    features = list(dict.fromkeys(target.question.feature for target in targets))
    return {name: krippendorff_alpha(levels[:, rows]) for name, rows in pairs_by_feature(targets, features).items()}


def stability(
    rater: str,
    novelties: Mapping[str, Mapping[Place, float]],
    questions: Sequence[Question],
    models: Mapping[str, str],
    features: Sequence[str],
    alphas: Mapping[str, float] | None = None,
) -> list[Stability]:
    """Each feature that was measured, and all together; a document's score is the mean over its questions.

    `novelties` has by wording the novelty of each document's answer to a question, `models` by document who wrote it,
    empty where that is not known, `alphas` by feature that among the wordings; without them alpha is interval alpha
    of the novelties.
    """
    feature_of = {question.id: question.feature for question in questions}
    every = sorted(set().union(*novelties.values()))
    rows = []
    for feature in (*features, ALL):
        places = [place for place in every if feature in (ALL, feature_of[place[1]])]
        if not places:
            continue
        by_document: defaultdict[str, list[Place]] = defaultdict(list)
        for place in places:
            by_document[place[0]].append(place)
        scores = [
            [known_mean(values.get(place, math.nan) for place in own) for values in novelties.values()]
            for own in by_document.values()
        ]
        complete = ~np.isnan(scores).any(axis=1)
        table = np.array(scores)[complete]
        parts = variance_parts(table)
        document, wording, interaction = parts.shares
        alpha = (
            alphas.get(feature, math.nan)
            if alphas
            else krippendorff_alpha(
                [[values.get(place, math.nan) for place in places] for values in novelties.values()], level="interval"
            )
        )
        rows.append(
            Stability(
                rater=rater,
                feature=feature,
                documents=len(table),
                alpha=alpha,
                means=dict(zip(novelties, map(float, table.mean(axis=0)), strict=True)) if len(table) else {},
                document=document,
                wording=wording,
                interaction=interaction,
                document_moves=math.sqrt(parts.columns + parts.rest),
                mean_moves=math.sqrt(parts.columns),
                flips=_flips(table, np.array([models.get(name, "") for name in by_document])[complete]),
            )
        )
    return rows


def _flips(table: NDArray[np.float64], models: NDArray[np.str_]) -> tuple[str, ...]:
    """The pairs of models whose order by mean novelty is not the same in all wordings."""
    means = {model: table[models == model].mean(axis=0) for model in sorted(set(models.tolist())) if model}
    pairs = ((one, other, means[one] - means[other]) for one, other in combinations(means, 2))
    return tuple(f"{one}, {other}" for one, other, deltas in pairs if deltas.min() < 0 < deltas.max())


def stability_verdict(rows: Sequence[Stability]) -> list[str]:
    """How far other words move the scores of one grader, in sentences."""
    *by_feature, whole = rows
    known = [row for row in by_feature if not math.isnan(row.document_moves)]
    wordings = len(whole.means)
    if not known:
        return [f"{whole.rater}: how far rewording moves its scores cannot be told from {whole.documents} documents."]
    most, least = (pick(known, key=lambda row: row.document_moves) for pick in (max, min))
    means = dict.fromkeys(f"{move:.2f}" for move in sorted(row.mean_moves for row in known))
    ends = dict.fromkeys(f"{row.document_moves:.2f} ({in_words(row.feature)})" for row in (least, most))
    sentences = [f"{whole.rater} gives the same scores in {wordings} wordings of the instruction."]
    # of equal values a mean has rounding errors
    if most.document_moves > LEAST_MOVE:
        sentences = [
            f"Rewording the instruction moves a document's score by {whole.rater} by {' to '.join(ends)}, and a mean "
            f"over many documents by {' to '.join(list(means)[:: max(len(means) - 1, 1)])} (standard deviations over "
            f"{wordings} wordings). Do not quote smaller differences."
        ]
    if math.isnan(whole.alpha):
        sentences.append("It says the same of everything: it tells no answers apart, in whatever words it is asked.")
    elif low := [f"{in_words(row.feature)} {row.alpha:.2f}" for row in by_feature if row.alpha < TENTATIVE]:
        sentences.append(
            f"Do not quote its scores where alpha among the wordings is below {TENTATIVE}: {', '.join(low)}."
        )
    if flips := sorted({flip for row in rows for flip in row.flips}):
        sentences.append(f"Which of two models is the more novel depends on the wording: {'; '.join(flips)}.")
    return sentences
