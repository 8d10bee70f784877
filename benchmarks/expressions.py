"""What the novelty of expressions costs a document, by our suffix array and by infini-gram.

    python benchmarks/expressions.py [--documents 10000]

Made-up documents of 500 words with a natural skew, as those of panel.py, a comma every 4 to 12 words. Each way counts
the same runs, every expression in both forms; the numbers are compared, and those of the plain way too: infini-gram's
own probability of each word after all before it, a call a word, in one form and without the share of new n-grams. CPU
time on one thread, the median over the documents. Needs the extra `infini-gram`.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from panel import documents

from genie_inspect.engines.corpora import Corpus, DocumentsCorpus, folder_texts
from genie_inspect.engines.infini_gram import InfiniGramCorpus, build_index
from genie_inspect.measures.infinity_gram import FLOOR, RunsInCorpus, log_perplexity
from genie_inspect.measures.tokens import split_expressions
from genie_inspect.scorers.expression_novelty import with_small_first

TARGETS = 20  # documents that are measured

Perplexities = list[float]
Measure = Callable[[str], Perplexities]


def punctuated(texts: Sequence[str], seed: int) -> list[str]:
    """The texts with a comma every few words."""
    draw = np.random.default_rng(seed)
    return [_punctuated(text.split(), draw) for text in texts]


def _punctuated(words: list[str], draw: np.random.Generator) -> str:
    place = 0
    while (place := place + int(draw.integers(4, 13))) < len(words):
        words[place - 1] += ","
    return " ".join(words)


def counting(corpus: Corpus) -> Measure:
    """As the scorer does it: every expression in both forms, all looked up together."""

    def measure(text: str) -> Perplexities:
        counted = corpus.counted(text)
        texts = [expression.text for expression in split_expressions(text)]
        both = [counted.words(form) for form in (*texts, *map(with_small_first, texts))]
        known = RunsInCorpus(both, counted.counts)
        return [log_perplexity(words, known) for words in both[: len(texts)]]

    return measure


def asking(corpus: InfiniGramCorpus) -> Measure:
    """infini-gram's own probability of each word after all before it."""

    def surprise(symbols: list[int], place: int) -> float:
        reply = corpus._engine.infgram_prob(prompt_ids=symbols[:place], cont_id=symbols[place])
        # with nothing before the word it counts separators among the tokens
        whole = corpus.manifest.symbols / corpus._tokens if not reply["suffix_len"] else 1
        return -math.log(reply["prob"] * whole or FLOOR)

    def measure(text: str) -> Perplexities:
        found = []
        for expression in split_expressions(text):
            symbols = corpus.vocabulary.symbols(corpus.counted(text).words(expression.text))
            # a word that the corpus does not have has no symbol to ask for
            found.append(
                statistics.fmean(surprise(symbols, place) for place in range(len(symbols))) if symbols else math.nan
            )
        return found

    return measure


def timed(measure: Measure, texts: Sequence[str]) -> tuple[list[Perplexities], float]:
    """What it gives, and the median of its milliseconds."""
    found, seconds = [], []
    for text in texts:
        start = time.process_time()
        found.append(measure(text))
        seconds.append(time.process_time() - start)
    return found, 1000 * statistics.median(seconds)


def main() -> None:
    """Print a row a way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=10_000)
    count = parser.parse_args().documents
    made = punctuated(documents(count + TARGETS, seed=0), seed=1)
    corpus, targets = made[:count], made[count:]
    with tempfile.TemporaryDirectory() as name:
        folder, index = Path(name) / "texts", Path(name) / "index"
        folder.mkdir()
        for number, text in enumerate(corpus):
            (folder / f"{number}.txt").write_text(text)
        start = time.process_time()
        ours = DocumentsCorpus("folder", folder_texts(folder))
        prepared = [time.process_time() - start]
        begun = time.monotonic()
        build_index(folder, index)
        # the indexer is a process of its own, whose CPU time is not ours
        prepared.append(time.monotonic() - begun)
        theirs = InfiniGramCorpus(index)
        ways = {
            "our suffix array": counting(ours),
            "the same look-ups of infini-gram": counting(theirs),
            "infini-gram's probability, a call a word": asking(theirs),
        }
        results = {way: timed(measure, targets) for way, measure in ways.items()}
    expected = results["our suffix array"][0]
    print("| way | prepare s | ms a document | same numbers |", "|:--|--:|--:|--:|", sep="\n")
    for (way, (found, milliseconds)), seconds in zip(results.items(), [*prepared, prepared[1]], strict=True):
        pairs = [pair for sides in zip(found, expected, strict=True) for pair in zip(*sides, strict=True)]
        asked = [pair for pair in pairs if not math.isnan(pair[0])]
        same = sum(math.isclose(*pair, rel_tol=1e-9) for pair in asked)
        print(f"| {way} | {seconds:.1f} | {milliseconds:.1f} | {same} of {len(asked)} |")


if __name__ == "__main__":
    main()
