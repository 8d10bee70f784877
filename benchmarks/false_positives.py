"""Does `genie compare` find what is not there, and would it find what the study reports?

    python benchmarks/false_positives.py [COMPARISONS] [PICTURE]

1. Choice of the test: what the candidates find, by shape of the differences and number of pairs (paired_tests.py), in
   ten times as many comparisons. 2. False positives: comparisons of two runs that do not differ, 50 prompts and six
   features each; how often any feature "differs" at 5%, by correction. 3. Power: how often a true difference of 0.02 is
   found, at two spreads of the paired differences: that of chance alone under the study's design, and that of documents
   as the starter population has them. The picture shows power by number of prompts. 4. Pairs of documents, as negative
   sampling has them: how often any feature "differs" where documents of one prompt are alike, if each counts by itself
   and if a prompt is one pair. 5. How long the test takes.
"""

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from inspect_ai import eval as evaluate
from paired_tests import SHAPES, SKEWED, Array, print_candidates

from genie_inspect.reports.charts import write_chart
from genie_inspect.statistics.bootstrap import paired_bootstrap
from genie_inspect.statistics.differences import LEVEL, Difference, differences, findings, paired_permutation
from genie_inspect.statistics.effect import PairedTest, paired_power

if TYPE_CHECKING:
    import altair

# Genie (arXiv 2606.12790): standard deviation of similarities, documents a population, documents a prompt and model,
# and questions by feature over its 60 prompts (15 of these have none on social atmosphere)
SIMILARITY_SD, POPULATION, DOCUMENTS, PROMPTS = 0.28, 50, 5, 50
QUESTIONS = {
    "agent": 254 / 60,
    "perspective": 79 / 60,
    "plot": 369 / 60,
    "setting": 140 / 60,
    "social_atmosphere": 82 / 45,
    "style": 108 / 60,
}
DELTA = 0.02
PROMPT_SD = 0.08
TELLERS = ("bundled/ordinary", "bundled/inventive")
FOUND = 300  # comparisons for each estimate of power
SHARED = (0.0, 0.1, 0.3)  # of the variance of a difference, what all documents of a prompt have in common
TIMED = 9
TOGETHER = 20  # comparisons


def chance_spread() -> dict[str, float]:
    """Standard deviation of paired differences when nothing varies but which similarities are drawn, by feature."""
    question = SIMILARITY_SD / math.sqrt(POPULATION)
    return {name: question / math.sqrt(count * DOCUMENTS) * math.sqrt(2) for name, count in QUESTIONS.items()}


def document_spread() -> dict[str, float]:
    """The same when documents vary as the bundled storytellers' two stories a prompt do, by feature."""
    variances: dict[str, list[float]] = {name: [] for name in QUESTIONS}
    with tempfile.TemporaryDirectory() as folder:
        logs = evaluate(
            "genie_inspect/synthetic_prompts", model=list(TELLERS), model_roles={"grader": "bundled/grader"}, epochs=2,
            display="none", log_dir=folder,
        )  # fmt: skip
        for log in logs:
            values: dict[str | int, list[dict[str, float]]] = {}
            for sample in log.samples or []:
                values.setdefault(sample.id, []).append((sample.scores or {})["genie"].value)  # type: ignore[arg-type]  # by key
            for pair in values.values():
                for name in QUESTIONS:
                    variances[name].append(float(np.var([value[name] for value in pair], ddof=1)))
    return {name: math.sqrt(np.nanmean(found) * 2 / DOCUMENTS) for name, found in variances.items()}


def simulated(generator: np.random.Generator, shape: str, spread: Array, delta: float) -> tuple[Array, Array]:
    """Scores of two runs, shape (prompts, features); a third of the noise is the document's, not the feature's."""
    prompts = generator.normal(0.8, PROMPT_SD, (PROMPTS, len(spread)))

    def noise() -> Array:
        own, shared = (SHAPES[shape](generator, (PROMPTS, columns)) for columns in (len(spread), 1))
        return (math.sqrt(2 / 3) * own + math.sqrt(1 / 3) * shared) * spread / math.sqrt(2)

    return prompts + noise(), prompts + noise() + delta


def share_found(
    count: int, shape: str, spread: Array, delta: float, corrections: tuple[str, ...]
) -> dict[str, tuple[float, float]]:
    """By correction: share of comparisons in which any feature differs, and mean share of features that do."""
    generator = np.random.default_rng(0)
    measured = list(compared(simulated(generator, shape, spread, delta) for _ in range(count)))
    hits = {name: [[f.differs for f in findings(columns, name)] for columns in measured] for name in corrections}
    return {name: (float(np.any(found, axis=1).mean()), float(np.mean(found))) for name, found in hits.items()}


def compared(sides: Iterable[tuple[Array, Array]], margin: float | None = None) -> Iterator[list[Difference]]:
    """The differences of each comparison, some comparisons at a time: these share the flips that are drawn."""
    waiting, seed = iter(sides), 0
    while some := list(islice(waiting, TOGETHER)):
        before, after = (np.hstack(side) for side in zip(*some, strict=True))
        columns = iter(differences(before, after, margin, seed=seed))
        yield from (list(islice(columns, own.shape[1])) for own, _ in some)
        seed += 1


def power_chart(spreads: dict[str, dict[str, float]]) -> "altair.Chart":
    """Power by number of prompts, a line a feature, a panel a spread."""
    import altair

    rows = [
        {
            "spread": label,
            "feature": name.replace("_", " "),
            "prompts": n,
            "power": paired_power(DELTA, sd, n, LEVEL / 6),
        }
        for label, own in spreads.items()
        for name, sd in own.items()
        for n in (5, 8, *range(10, 201, 5))
    ]
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows))
        .mark_line(strokeWidth=2)
        .encode(
            x=altair.X("prompts:Q", title="prompts"),
            y=altair.Y("power:Q", title=f"power for a difference of {DELTA}", scale=altair.Scale(domain=[0, 1])),
            color=altair.Color("feature:N", title=None, scale=altair.Scale(scheme="tableau10")),
            strokeDash=altair.StrokeDash("feature:N", title=None),
            column=altair.Column("spread:N", title=None, sort=list(spreads)),
        )
        .properties(width=320, height=240)
    )
    return chart


def print_false_positives(count: int) -> None:
    """How often any of six features differs when none does, by noise and correction."""
    print(f"False positives: {count} comparisons without a difference, {PROMPTS} prompts, six features, {LEVEL:.0%}")
    print("\n| noise | uncorrected | Bonferroni | Holm |\n|:--|--:|--:|--:|")
    for shape in SHAPES:
        found = share_found(count, shape, np.full(len(QUESTIONS), DELTA), 0.0, ("none", "bonferroni", "holm"))
        print(f"| {shape} | " + " | ".join(f"{share:.1%}" for share, _ in found.values()) + " |")


def print_power(count: int, spreads: dict[str, dict[str, float]]) -> None:
    """How often a true difference is found, by feature from the formula, over all features by simulation."""
    print(f"\nPower: a true difference of {DELTA} in every feature, {PROMPTS} prompts, {DOCUMENTS} documents each")
    print("\n| feature | " + " | ".join(f"sd, {label} | power" for label in spreads) + " |\n|:--|--:|--:|--:|--:|")
    for name in QUESTIONS:
        sds = [own[name] for own in spreads.values()]
        cells = [f"{sd:.3f} | {paired_power(DELTA, sd, PROMPTS, LEVEL / 6):.0%}" for sd in sds]
        print(f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |")
    shares = [
        share_found(count, SKEWED, np.array(list(own.values())), DELTA, ("holm",))["holm"][1]
        for own in spreads.values()
    ]
    print("| found in simulation, Holm | | " + " | | ".join(f"{share:.0%}" for share in shares) + " |")


def print_clusters(count: int) -> None:
    """How often any of six features differs when none does, by how pairs of documents are counted."""
    print(
        f"\nPairs of documents: {count} comparisons without a difference, {PROMPTS} prompts x {DOCUMENTS} pairs, Holm"
    )
    print("\n| shared within a prompt | each pair by itself | a prompt is one pair |\n|:--|--:|--:|")
    for shared in SHARED:
        generator = np.random.default_rng(0)
        own = generator.normal(size=(count, PROMPTS, DOCUMENTS, len(QUESTIONS))) * math.sqrt(1 - shared)
        deltas = own + generator.normal(size=(count, PROMPTS, 1, len(QUESTIONS))) * math.sqrt(shared)
        shares = [
            np.mean([any(f.differs for f in findings(columns)) for columns in compared(sides, 1.0)])
            for sides in (
                [(np.zeros_like(way), way) for way in ways]
                for ways in (deltas.reshape(count, -1, len(QUESTIONS)), deltas.mean(axis=2))
            )
        ]
        print(f"| {shared:.0%} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")


def print_time() -> None:
    """Median seconds of the test behind 500 pairs and six features, beside the study's bootstrap."""
    before, after = np.random.default_rng(0).normal(size=(2, 500, 6))
    seconds: dict[Callable[..., PairedTest], list[float]] = {paired_permutation: [], paired_bootstrap: []}
    for _ in range(TIMED):
        for test, taken in seconds.items():
            start = time.process_time()
            test(before, after)
            taken.append(time.process_time() - start)
    flips, resamples = (float(np.median(taken)) for taken in seconds.values())
    print(
        f"\n10,000 sign flips of 500 pairs x 6 features: {flips:.2f} s of processor time (median of {TIMED}), "
        f"{flips / resamples:.1f} times what 10,000 resamples take"
    )


def main() -> None:
    """Print the tables, and write the picture."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    picture = Path(sys.argv[2] if len(sys.argv) > 2 else "power.svg")
    spreads = {"chance alone": chance_spread(), "documents vary": document_spread()}
    print_candidates(10 * count)
    print()
    print_false_positives(count)
    print_power(min(count, FOUND), spreads)
    print_clusters(count)
    print_time()
    write_chart(lambda: power_chart(spreads), picture)
    print(f"\nPicture: {picture}")


if __name__ == "__main__":
    main()
