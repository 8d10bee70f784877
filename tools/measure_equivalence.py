"""Measure the cosine at which the embedding equivalence agrees best with NoveltyBench's published classifier.

    python tools/measure_equivalence.py noveltybench_texts_first50.jsonl [--embedder static]

The file holds one prompt a line with its generations and the published class of each (the released run of Gemini 1.5
Pro; Zhang et al. 2025, MIT). The threshold is the one with the smallest mean error of `distinct`; the agreement is
measured on prompts that the threshold was not chosen on (each fifth in turn).
"""

import argparse
import json
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genie_inspect.engines.embedders import embedder
from genie_inspect.measures.partition import distinct_count, partition

GRID = np.round(np.arange(0.30, 0.96, 0.01), 2)
FOLDS = 5


@dataclass(frozen=True)
class Prompt:
    """The generations of one prompt: how near they are, and in which published class each is."""

    cosines: NDArray[np.float64]
    classes: list[int]

    def distinct(self, threshold: float) -> int:
        """How many classes the embedding equivalence finds."""
        return distinct_count(
            partition(range(len(self.classes)), lambda first, item: bool(self.cosines[first, item] >= threshold))
        )

    def comparisons(self) -> list[tuple[float, bool]]:
        """Cosine and verdict of each comparison that the published partition made."""
        founders: dict[int, int] = {}
        made = []
        for item, label in enumerate(self.classes):
            made += [
                (float(self.cosines[first, item]), own == label) for own, first in founders.items() if own <= label
            ]
            founders.setdefault(label, item)
        return made


def error(prompts: Sequence[Prompt], threshold: float) -> float:
    """Mean absolute error of `distinct`."""
    return float(np.mean([abs(p.distinct(threshold) - distinct_count(p.classes)) for p in prompts]))


def chosen(prompts: Sequence[Prompt]) -> float:
    """The threshold with the smallest error; the middle one of equals."""
    errors = np.array([error(prompts, threshold) for threshold in GRID])
    best = GRID[errors == errors.min()]
    return float(best[len(best) // 2])


def kappa(verdicts: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Cohen's kappa of two series of yes and no."""
    agreed = (verdicts == truth).mean()
    chance = verdicts.mean() * truth.mean() + (1 - verdicts.mean()) * (1 - truth.mean())
    return float((agreed - chance) / (1 - chance))


def main() -> None:
    """Print the threshold and how well it agrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=pathlib.Path, help="generations and classes, one prompt a line")
    parser.add_argument("--embedder", default="static", help="as for the scorers")
    arguments = parser.parse_args()
    prompts = []
    for line in arguments.texts.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        vectors = embedder(arguments.embedder).embed(row["generations"])
        prompts.append(Prompt(vectors @ vectors.T, row["partition"]))
    verdicts, truth, found = [], [], []
    for fold in range(FOLDS):
        threshold = chosen([p for number, p in enumerate(prompts) if number % FOLDS != fold])
        for prompt in prompts[fold::FOLDS]:
            found.append((prompt.distinct(threshold), distinct_count(prompt.classes)))
            verdicts += [cosine >= threshold for cosine, _ in prompt.comparisons()]
            truth += [same for _, same in prompt.comparisons()]
        print(f"fold {fold}: threshold {threshold:.2f}")
    ours, published = np.array(found).T
    print(f"threshold on all {len(prompts)} prompts: {chosen(prompts):.2f}")
    print(f"held out, {len(truth)} comparisons: same verdict {np.mean(np.equal(verdicts, truth)):.2f}, ", end="")
    print(f"kappa {kappa(np.array(verdicts), np.array(truth)):.2f}")
    print(f"held out, distinct: {ours.mean():.2f} against {published.mean():.2f}, ", end="")
    print(f"mean error {np.abs(ours - published).mean():.2f}, correlation {np.corrcoef(ours, published)[0, 1]:.2f}")


if __name__ == "__main__":
    main()
