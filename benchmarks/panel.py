"""What each measure of the panel costs a document as the population grows, ours against the plain way.

    python benchmarks/panel.py [--sizes 10 100 1000 10000] [--all-plain]

Made-up documents of 500 words with a natural skew (Zipf over 40,000 words). Each cell is a process of its own. A time
is CPU time on one thread (machines are shared), the median over the documents that were compared; memory is the peak
beyond what the process had with the documents in hand. The plain way: compress population and document again; for every
L from 5 to 12 a Python set of all n-grams; loops over vectors; a comparison with every document. The plain n-gram sets
of 10,000 documents take some 6 GB and are left out unless --all-plain; xz and zstd compress the population again for
every document and stop at 1,000.
"""

import argparse
import gc
import gzip
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from genie_inspect.engines.embedders import cosine_distances, embedder
from genie_inspect.measures.compression import CompressedPopulation, compression_novelty, compression_ratio
from genie_inspect.measures.ngrams import LENGTHS, TokenIndex, creativity_index
from genie_inspect.measures.partition import partition
from genie_inspect.measures.tokens import tokens

WORDS, VOCABULARY = 500, 40_000
TARGETS = 20  # documents that are compared; fewer where one takes long
SECONDS = 5.0  # after which no further document is compared
KINDS = 40  # classes among the documents
HEAVY = 1_000  # documents above which the plain n-gram sets and the codecs without a copy are left out

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")

Compare = Callable[[int, str], float]
"""Number and text of a document in; the measure out."""


def documents(count: int, seed: int) -> list[str]:
    """Made-up documents."""
    draw = np.random.default_rng(seed)
    shares = np.cumsum(1 / (np.arange(VOCABULARY) + 2.7))
    words = ["".join(draw.choice(list("etaoinshrdlucm"), size=draw.integers(2, 11))) for _ in range(VOCABULARY)]
    picks = np.searchsorted(shares / shares[-1], draw.random((count, WORDS)))
    return [" ".join(words[pick] for pick in row) for row in picks]


def compression_ours(population: Sequence[str]) -> Compare:
    """The compressor's state after the population, copied."""
    compressed = CompressedPopulation(population)
    return lambda number, text: compression_novelty(compressed, text)


def compression_plain(population: Sequence[str]) -> Compare:
    """Everything again."""
    whole = " ".join(population).encode()
    ratio = len(whole) / len(gzip.compress(whole, 9))

    def compare(number: int, text: str) -> float:
        longer = " ".join([*population, text]).encode()
        return ratio - len(longer) / len(gzip.compress(longer, 9))

    return compare


def compression_xz(population: Sequence[str]) -> Compare:
    """The long-window codec, which cannot be copied."""
    compression_ratio(population, "xz")
    return lambda number, text: compression_novelty(population, text, "xz")


def compression_zstd(population: Sequence[str]) -> Compare:
    """The other one."""
    return lambda number, text: compression_novelty(population, text, "zstd")


def creativity_ours(population: Sequence[str]) -> Compare:
    """One suffix array for every L."""
    index = TokenIndex(text.split() for text in population)
    return lambda number, text: creativity_index(text.split(), index).mean


def creativity_plain(population: Sequence[str]) -> Compare:
    """A set of n-grams for every L."""
    known: dict[int, set[tuple[str, ...]]] = {n: set() for n in LENGTHS}
    for text in population:
        words = text.split()
        for n in LENGTHS:
            known[n].update(tuple(words[start : start + n]) for start in range(len(words) - n + 1))

    def compare(number: int, text: str) -> float:
        words = text.split()
        total = 0.0
        for n in LENGTHS:
            copied: set[int] = set()
            for start in range(len(words) - n + 1):
                if tuple(words[start : start + n]) in known[n]:
                    copied.update(range(start, start + n))
            total += 1 - len(copied) / len(words)
        return total / len(LENGTHS)

    return compare


def cosine_ours(population: Sequence[str]) -> Compare:
    """One matrix of vectors."""
    engine = embedder()
    vectors = engine.embed(population)
    return lambda number, text: float(cosine_distances(engine.embed([text])[0], vectors).mean())


def cosine_plain(population: Sequence[str]) -> Compare:
    """Loops over lists of numbers."""
    engine = embedder()
    vectors = engine.embed(population).tolist()

    def compare(number: int, text: str) -> float:
        target = engine.embed([text])[0].tolist()
        length = math.sqrt(sum(x * x for x in target))
        total = 0.0
        for vector in vectors:
            dot = sum(x * y for x, y in zip(target, vector, strict=True))
            total += 1 - dot / (length * math.sqrt(sum(y * y for y in vector)))
        return total / len(vectors)

    return compare


def kind_of(number: int) -> int:
    """The class that a compared document belongs to; the first founds one of its own."""
    return (KINDS - number) % (KINDS + 1)


def partition_ours(population: Sequence[str]) -> Compare:
    """Comparisons with the first member of each class; the number of comparisons comes back."""
    founders = range(min(KINDS, len(population)))

    def compare(number: int, text: str) -> float:
        asked: list[bool] = []

        def same(first: int, _: int) -> bool:
            asked.append(first == kind_of(number))
            return asked[-1]

        partition([number], same, list(founders))
        return len(asked)

    return compare


def partition_plain(population: Sequence[str]) -> Compare:
    """Comparisons with every document."""
    kinds = [number % KINDS for number in range(len(population))]
    return lambda number, text: len([kind == kind_of(number) for kind in kinds])


WAYS: dict[str, tuple[Callable[[Sequence[str]], Compare], ...]] = {
    "compression": (compression_ours, compression_plain),
    "compression, xz": (compression_xz,),
    "compression, zstd": (compression_zstd,),
    "creativity_index": (creativity_ours, creativity_plain),
    "cosine": (cosine_ours, cosine_plain),
    "partition": (partition_ours, partition_plain),
}


def peak_mb() -> float:
    """The process's peak memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(measure: str, way: int, size: int) -> dict[str, float]:
    """Seconds to prepare, median seconds a document, peak memory and what came out, in this process."""
    whole = documents(size + TARGETS, seed=size)
    population, targets = whole[:size], whole[size:]
    # every fourth target copies something
    targets = [f"{population[0][:300]} {text}" if number % 4 == 0 else text for number, text in enumerate(targets)]
    embedder().embed([tokens(targets[0])[0]])  # loads the embedder's table once
    gc.collect()
    before, start = peak_mb(), time.process_time()
    compare = WAYS[measure][way](population)
    prepared = time.process_time() - start
    times, found = [], []
    for number, text in enumerate(targets):
        start = time.process_time()
        found.append(compare(number, text))
        times.append(time.process_time() - start)
        if sum(times) > SECONDS:
            break
    values = [value for value in found if not math.isnan(value)]
    return {
        "prepared": prepared,
        "seconds": statistics.median(times),
        "peak": peak_mb() - before,
        "first": values[0],
        "most": max(values),
    }


def cell(measure: str, way: int, size: int) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--cell", measure, str(way), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | ONE_THREAD)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1_000, 10_000])
    parser.add_argument("--all-plain", action="store_true", help="the plain n-gram sets at every size too")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        measure, way, size = arguments.cell
        print(json.dumps(measured(measure, int(way), int(size))))
        return
    print("| measure | documents | prepare s | ms a document | peak MB | plain ms | plain peak MB | faster |")
    print("|:--|--:|--:|--:|--:|--:|--:|--:|")
    for measure, ways in WAYS.items():
        for size in arguments.sizes:
            if len(ways) == 1 and size > HEAVY:
                continue
            ours = cell(measure, 0, size)
            row = [measure, f"{size:,}", f"{ours['prepared']:.2f}"]
            row += [f"{ours['most']:.0f} comparisons" if measure == "partition" else f"{ours['seconds'] * 1e3:.2f}"]
            row += [f"{ours['peak']:.0f}"]
            if len(ways) > 1 and (measure != "creativity_index" or size <= HEAVY or arguments.all_plain):
                plain = cell(measure, 1, size)
                if measure == "partition":
                    row += [f"{plain['most']:.0f} comparisons", "", ""]
                else:
                    same = math.isclose(ours["first"], plain["first"], abs_tol=1e-6)
                    faster = f"{plain['seconds'] / ours['seconds']:,.0f}x" if same else "DIFFERS"
                    row += [f"{plain['seconds'] * 1e3:.2f}", f"{plain['peak']:.0f}", faster]
            else:
                row += ["", "", ""]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
