"""How precise a score by a few ratings per answer is, on the starter's recorded ratings.

    python benchmarks/sampled_ratings.py 2000      # draws; 100 unless given

Each of the 176 stories is compared with the others of its prompt, by all recorded ratings and by samples of them that
are drawn as `-T ratings=` draws them. `at random` takes the static embedder away.
"""

import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from genie_inspect.engines.embedders import StaticEmbedder
from genie_inspect.measures.genie import collapsed, mean_novelty, represented, similarity, variances
from genie_inspect.prompting.answers import normalised
from genie_inspect.providers.replay import starter_record
from genie_inspect.scorers.assessor import Sampler

SIZES = (3, 4, 6, 8, 12)
Asked = tuple[str, str, list[str], list[float]]  # feature, question, answer and others, the others' similarities


class Once:
    """The static embedder with a memory, or vectors that say nothing."""

    def __init__(self, *, at_random: bool = False) -> None:
        self.engine, self.kept, self.at_random = StaticEmbedder(), dict[str, NDArray[np.float64]](), at_random
        self.name, self.identity = self.engine.name, self.engine.identity

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """As an embedder does."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self.kept]:
            vectors = np.zeros((len(missing), 1)) if self.at_random else self.engine.embed(missing)
            self.kept |= dict(zip(missing, vectors, strict=True))
        return np.stack([self.kept[text] for text in texts])


def asked() -> dict[str, list[Asked]]:
    """By story its answered questions."""
    record = starter_record()
    population, found = record.population, defaultdict[str, list[Asked]](list)
    for prompt in population.prompts:
        recorded = population.answers(population.readers[0], prompt)
        for question in population.questions(prompt):
            answers = {doc: text for (doc, asks), text in recorded.items() if asks == question.id and text}
            for document, answer in answers.items():
                others = [text for doc, text in answers.items() if doc != document]
                alike = [
                    similarity(
                        4 if normalised(text) == normalised(answer) else record.rating(question.text, answer, text)
                    )
                    for text in others
                ]
                found[document].append((question.feature, question.text, [answer, *others], alike))
    return found


def strata_of(sampler: Sampler, row: Asked) -> list[list[float]]:
    """The similarities in each stratum of a question: an equal answer is one of its own, as every answer of few is."""
    _, question, (answer, *others), alike = row
    (draw,) = sampler.draws([(question, answer, others)])
    return [[alike[place]] for place in draw.same] + [[alike[place] for place in part] for part in draw.strata]


def sampled(weights: list[int]) -> Callable[[tuple[float, ...]], tuple[float, list[tuple[float, float]]]]:
    """By what was drawn: novelty by one of each stratum, and what its variance is made of; draws repeat."""
    return cache(lambda rated: (mean_novelty(rated, weights), collapsed(rated, weights)))


def normalised_twice(row: Asked) -> int:
    """How many of the others are equal answers."""
    answer, *others = map(normalised, row[2])
    return others.count(answer)


def table(draws: int, size: int, *, at_random: bool = False) -> list[str]:
    """The cells of one row."""
    stories, engine = asked(), Once(at_random=at_random)
    features = sorted({row[0] for rows in stories.values() for row in rows})
    shape = (draws, len(stories))
    values, errors = ({name: np.empty(shape) for name in features} for _ in range(2))
    sampler, choice = Sampler(size, engine), random.Random(0).choice  # no secret
    rated = pairs = 0
    for number, rows in enumerate(stories.values()):
        cut = [strata_of(sampler, row) for row in rows]
        measures = [sampled(represented([len(part) for part in parts], [True] * len(parts))) for parts in cut]
        # an equal answer is no call
        rated += sum(len(parts) - normalised_twice(row) for parts, row in zip(cut, rows, strict=True))
        pairs += sum(len(row[3]) for row in rows)
        for seed in range(draws):
            found = [measure(tuple(map(choice, parts))) for measure, parts in zip(measures, cut, strict=True)]
            squares = variances([groups for _, groups in found], [row[0] for row in rows])
            for name in features:
                own = [place for place, row in enumerate(rows) if row[0] == name]
                values[name][seed, number] = fmean(found[place][0] for place in own)
                errors[name][seed, number] = math.sqrt(sum(squares[place] for place in own)) / len(own)
    cells = defaultdict[str, list[float]](list)
    for name in features:
        truth = np.array([fmean(mean_novelty(row[3]) for row in rows if row[0] == name) for rows in stories.values()])
        off = values[name] - truth
        cells["rmse"].append(float(np.sqrt((off**2).mean())))
        cells["stated"].append(float(np.sqrt((errors[name] ** 2).mean())))
        cells["bias"].append(abs(float(off.mean())))
        cells["r"].append(fmean(float(np.corrcoef(row, truth)[0, 1]) for row in values[name]))
        cells["inside"].append(float((np.abs(off) <= 1.96 * errors[name] + 1e-12).mean()))
    ranges = [f"{min(each):.3f} to {max(each):.3f}" for each in cells.values()]
    return [f"{rated / pairs:.0%}", *ranges, f"{fmean(cells['inside']):.3f}"]


def main(draws: int = 100) -> None:
    """Print error, bias, correlation and coverage by number of ratings; ranges are over the six features."""
    print(f"{draws} draws")
    heads = (
        "ratings",
        "share of pairs",
        "error of a story (RMSE)",
        "stated",
        "bias of the mean",
        "r with all",
        "covered",
        "mean",
    )
    print(f"| {' | '.join(heads)} |\n|{'--:|' * len(heads)}")
    with ProcessPoolExecutor() as pool:
        rows = {f"{size}": pool.submit(table, draws, size) for size in SIZES}
        for name, row in {"6 at random": pool.submit(table, draws, 6, at_random=True), **rows}.items():
            print(f"| {name} | {' | '.join(row.result())} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
