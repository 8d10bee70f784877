"""Agreement on the starter population: second and third ratings, and the smoke test, against the record."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import anyio

from genie_inspect.agreement.raters import RatingsFile
from genie_inspect.engines.embedders import embedder
from genie_inspect.graders.offline_judge import OfflineJudge, OfflineReader
from genie_inspect.measures.genie import question_novelty
from genie_inspect.providers.replay import Record
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.ranking import kendall

Pairs = dict[str, list[tuple[float, float]]]
HEAD = (
    *("feature", "pairs rated twice", "exact", "alpha", "blind pairs", "exact", "alpha"),
    *("alpha, offline", "tau, offline"),
)


def rated_again(record: Record, name: str) -> Pairs:
    """By feature: recorded rating and that of the other file, of each pair in it."""
    file = RatingsFile(record.folder / f"{name}.jsonl", record.population)
    (ratings,) = file.raters.values()
    pairs: Pairs = defaultdict(list)
    for target in file.targets:
        for other, pair in zip(target.others, target.pairs, strict=True):
            recorded = record.rating(target.question.text, target.answer, other)
            pairs[target.question.feature].append((recorded, ratings[pair] or math.nan))
    return pairs


async def embedded_pairs(record: Record) -> tuple[Pairs, Pairs]:
    """By feature: recorded and embedded rating of each pair; recorded and embedded novelty of each question."""
    words = {feature.name: feature.words for feature in record.population.features}
    reader, judge = OfflineReader(embedder("static"), words), OfflineJudge(embedder("static"))
    ratings: Pairs = defaultdict(list)
    novelties: Pairs = defaultdict(list)
    for story in record.stories:
        questions = record.population.questions(story.prompt)
        documents = record.population.documents(story.prompt)
        own = await reader.read(story.text, questions)
        others = [await reader.read(document.text, questions) for document in documents]
        for index, question in enumerate(questions):
            answer = record.answer(story.text, question.text)
            embedded = own.answers[index]
            recorded = [record.answer(document.text, question.text) for document in documents]
            usable = [
                (text, other.answers[index])
                for text, other in zip(recorded, others, strict=True)
                if text is not None and other.answers[index] is not None
            ]
            if answer is None or embedded is None or not usable:
                continue
            rated = await judge.rate(question, embedded, [vector for _, vector in usable if vector is not None])
            first = [record.rating(question.text, answer, text) for text, _ in usable]
            ratings[question.feature] += [(a, b) for a, b in zip(first, rated.ratings, strict=True) if b is not None]
            novelties[question.feature].append((question_novelty(first), question_novelty(rated.ratings)))
    return ratings, novelties


def alpha(pairs: Sequence[tuple[float, float]]) -> float:
    """Ordinal Krippendorff alpha of two raters; continuous ratings are rounded to whole ones, 0 is missing."""
    columns = [[math.nan if not value else float(round(value)) for value in pair] for pair in pairs]
    return krippendorff_alpha([list(rater) for rater in zip(*columns, strict=True)], level="ordinal")


def exact(pairs: Sequence[tuple[float, float]]) -> float:
    """Share of pairs with one rating from both."""
    return fmean(first == second for first, second in pairs)


def agreement_table(record: Record) -> list[Sequence[object]]:
    """A row a feature, and one of all: how far each other rating, and the smoke test, agrees."""
    second, third = rated_again(record, "second_ratings"), rated_again(record, "third_ratings")
    embedded, novelties = anyio.run(embedded_pairs, record)
    rows: list[Sequence[object]] = [HEAD]
    groups = {feature.name: [feature.name] for feature in record.population.features}
    for label, names in (groups | {"all": list(groups)}).items():
        twice, thrice, pairs, both = (
            [pair for name in names for pair in table[name]] for table in (second, third, embedded, novelties)
        )
        figures = [exact(twice), alpha(twice), exact(thrice), alpha(thrice), alpha(pairs)]
        shown = [f"{value:.2f}" for value in (*figures, kendall(*zip(*both, strict=True)))]
        rows.append((label, len(twice), *shown[:2], len(thrice), *shown[2:]))
    return rows
