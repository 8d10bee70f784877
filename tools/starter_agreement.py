"""Agreement on the starter population: a second rating, and the embedded judge, against the recorded ratings.

    python tools/starter_agreement.py

Prints the table that stands in the starter population's data card.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

import anyio

from genie_inspect.agreement.calibration import ALL, compare
from genie_inspect.agreement.raters import recorded_ratings
from genie_inspect.agreement.ratings_file import RatingsFile
from genie_inspect.engines.embedders.choices import embedder
from genie_inspect.judges.embedded import EmbeddedJudge, EmbeddedReader
from genie_inspect.measures.genie import question_novelty
from genie_inspect.providers.record import Record, starter_record
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.ranking import kendall

Pairs = dict[str, list[tuple[float, float]]]


def second_agreement(record: Record) -> dict[str, tuple[int, float]]:
    """By feature, and of all: pairs that were rated twice, and the ratings' alpha."""
    population = record.population
    files = {name: RatingsFile(record.folder / f"{name}.jsonl", population) for name in ("second_ratings", "ratings")}
    targets = files["second_ratings"].targets
    raters = [recorded_ratings(name, file.raters[name], targets) for name, file in files.items()]
    found = compare(targets, raters, [feature.name for feature in population.features], resamples=1)
    asked = {one.feature: one.asked for one in found.conducts if one.rater == "second_ratings"}
    return {one.feature: (asked[one.feature], one.alpha) for one in found.agreements}


async def embedded_pairs(record: Record) -> tuple[Pairs, Pairs]:
    """By feature: recorded and embedded rating of each pair; recorded and embedded novelty of each question."""
    words = {feature.name: feature.words for feature in record.population.features}
    reader, judge = EmbeddedReader(embedder("static"), words), EmbeddedJudge(embedder("static"))
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


def main() -> None:
    """Print the table."""
    record = starter_record()
    second = second_agreement(record)
    embedded, novelties = anyio.run(embedded_pairs, record)
    print("| feature | pairs rated twice | alpha, second rating | pairs | alpha, embedded | tau, question novelty |")
    print("|:--|--:|--:|--:|--:|--:|")
    groups = {feature.name: [feature.name] for feature in record.population.features}
    for label, names in (groups | {ALL: list(groups)}).items():
        twice, agreed = second[label]
        pairs, both = ([pair for name in names for pair in table[name]] for table in (embedded, novelties))
        embedding = f"{len(pairs)} | {alpha(pairs):.2f} | {kendall(*zip(*both, strict=True)):.2f}"
        print(f"| {'all' if label == ALL else label} | {twice} | {agreed:.2f} | {embedding} |")


if __name__ == "__main__":
    main()
