"""How well and how fast embedders tell generations of one class from generations of another.

    python benchmarks/embedders.py TEXTS.jsonl static sentence-transformers/<id>

The file has, a line a prompt, `generations` and their `partition` into classes (NoveltyBench, Zhang et al. 2025). AUC
is over all pairs of generations of one prompt, pooled: the chance that a pair of one class has the higher cosine.
"""

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from genie_inspect.engines.embedders import embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DATA = Path(__file__).parents[2] / "shared" / "data" / "noveltybench_texts_first50.jsonl"


def separation(vectors: "NDArray[np.float64]", rows: list[dict[str, list[str]]]) -> tuple[float, int]:
    """AUC, and the number of pairs; one vector a generation, in the order of the rows."""
    from scipy.stats import mannwhitneyu

    same: list[float] = []
    other: list[float] = []
    start = 0
    for row in rows:
        own = vectors[start : start + len(row["generations"])]
        start += len(own)
        cosines = own @ own.T
        for i, j in itertools.combinations(range(len(own)), 2):
            (same if row["partition"][i] == row["partition"][j] else other).append(float(cosines[i, j]))
    return float(mannwhitneyu(same, other).statistic) / len(same) / len(other), len(same) + len(other)


def main() -> None:
    """Print a row an embedder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=DATA)
    parser.add_argument("embedders", nargs="*", default=["static"])
    arguments = parser.parse_args()
    if not arguments.file.is_file():
        print(f"skipped: {arguments.file} is not there")
        return
    rows = [json.loads(line) for line in arguments.file.read_text(encoding="utf-8").splitlines()]
    texts = [text.strip() or "-" for row in rows for text in row["generations"]]
    print("| embedder | AUC | pairs | texts a second |")
    print("|:--|--:|--:|--:|")
    for name in arguments.embedders:
        engine = embedder(name)
        engine.embed(["warm up"])
        start = time.perf_counter()
        vectors = engine.embed(texts)
        rate = len(texts) / (time.perf_counter() - start)
        auc, pairs = separation(vectors, rows)
        print(f"| {engine.name} | {auc:.3f} | {pairs} | {rate:,.0f} |")


if __name__ == "__main__":
    main()
