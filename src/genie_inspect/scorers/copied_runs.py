"""How little of a text is copied from a corpus, run by run: the scorer `creativity_index`."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anyio import to_thread
from inspect_ai.util import concurrency

from genie_inspect.engines.embedders import blindness
from genie_inspect.scorers.assessment import Compared
from genie_inspect.scorers.corpora import AT_ONCE, Corpora
from genie_inspect.scorers.explanation import cell
from genie_inspect.scorers.outcome import Measurement

if TYPE_CHECKING:
    from genie_inspect.engines.corpora import CopiedRun, Copies

LENGTHS = range(5, 13)  # the authors' follow-up code; the paper does not state its range
KEYS = ("creativity_index_mean", "creativity_index_sum", *(f"creativity_index_{length}" for length in LENGTHS))
SHOWN = 10  # longest runs in an explanation
WIDTH = 160  # characters of a run


class Copying:
    """Measures how little of texts is copied from a corpus."""

    def __init__(self, corpora: Corpora) -> None:
        self.corpora = corpora

    async def __call__(self, text: str, prompt: str, others: Compared) -> Measurement:
        """How little of a text stands in the corpus."""
        if self.corpora.near and (blind := blindness(self.corpora.near, text)):
            reason = f"{blind}; matcher=exact reads every script"
            return Measurement(dict.fromkeys(KEYS, math.nan), f"Not measured: {reason}.", reason=reason)
        corpus = await self.corpora.of(prompt, others.made_of)
        async with concurrency("creativity_index", AT_ONCE, visible=False):
            return measurement(await to_thread.run_sync(corpus.copies, text))


def measurement(copies: "Copies") -> Measurement:
    """The index of a document from its runs that stand in a corpus, with the longest of them."""
    from genie_inspect.measures.ngrams import creativity_index

    index = creativity_index((), (), LENGTHS, matched=copies.lengths)
    values = (index.mean, index.sum, *(index.by_length[length] for length in LENGTHS))
    runs = sorted(copies.runs, key=lambda run: -run.tokens)[:SHOWN]
    metadata = {
        "tokens": len(copies.lengths),
        "runs": len(copies.runs),
        "longest": [{"words": run.words[:WIDTH], "tokens": run.tokens, "where": run.where} for run in runs[:3]],
        "left_out_of_corpus": list(copies.left_out),
    }
    return Measurement(dict(zip(KEYS, values, strict=True)), explained(copies, runs), metadata)


def explained(copies: "Copies", runs: "Sequence[CopiedRun]") -> str:
    """A Markdown table of copied runs and where each stands."""
    if not runs:
        return f"No run of {LENGTHS[0]} or more of its {len(copies.lengths)} tokens stands in the corpus."
    rows = ["| copied words | tokens | where |", "|:--|--:|:--|"]
    rows += [f"| {cell(run.words[:WIDTH])} | {run.tokens} | {cell(run.where)} |" for run in runs]
    return "\n".join([*rows, "", f"{len(copies.runs)} runs of {LENGTHS[0]} or more tokens stand in the corpus."])
