"""The scorer `creativity_index`: how little of a document stands in a corpus, run by run."""

from typing import TYPE_CHECKING

from inspect_ai.scorer import Scorer, scorer

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.scorers.assessment import Compared

MATCHERS = ("exact", "near")
LENGTHS = range(5, 13)  # the authors' follow-up code; the paper does not state its range
KEYS = ("creativity_index_mean", "creativity_index_sum", *(f"creativity_index_{length}" for length in LENGTHS))
SHOWN = 10  # longest runs in an explanation
WIDTH = 160  # characters of a run

# the sum of eight, for 5 to 12 tokens
RANGES = {"creativity_index_mean": (0, 1), "creativity_index_sum": (0, 8), "creativity_index_*": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="creativity_index_mean",
    ranges=RANGES,
    meaning="0: all of it is in the corpus, word for word. 1: no run of its words is. Higher is less copied.",
)
def creativity_index(
    population: str = "starter", corpus: str = "population", matcher: str = "exact", embedder: str = "static"
) -> Scorer:
    """Share of a document's tokens outside every run that is in a corpus, 0 (all copied) to 1 (nothing is).

    Keys: `creativity_index_mean`, the mean over runs of at least 5 to 12 tokens; `creativity_index_sum`, the sum; and
    `creativity_index_5` to `creativity_index_12`. All higher = more novel. The explanation shows the longest copied
    runs and where they are.

    Args:
        population: `starter` or the folder of a population with documents; its prompts say what is scored.
        corpus: `population` (its documents for the prompt), a folder of *.txt, *.md and *.jsonl,
            `infini-gram:<folder>` for an index by `genie build-index`, or `infini-gram:<service url>#<index>`, whose
            user and password, if it asks for any, go into `~/.netrc` and never into the address.
        matcher: `exact`, or `near`: windows whose words say the same by the embedder's vectors count as copied too.
        embedder: For `matcher=near`.

    Raises:
        RefusedError: If the population cannot be opened or has only answers, the corpus cannot be used or does not
            answer, infini-gram is asked for and not installed, or matcher or embedder is unknown.

    Source: Lu et al. 2025 (arXiv 2410.04265); deviations in measures.ngrams.
    """
    from genie_inspect.engines.embedders import blindness
    from genie_inspect.graders.grader import refusals
    from genie_inspect.measures.ngrams import creativity_index as measured_index
    from genie_inspect.scorers.explanation import cell
    from genie_inspect.scorers.outcome import Corpora, Measurement, kept_embedder, nothing, panel_scorer, reference
    from genie_inspect.signature import signature

    with refusals():
        if matcher not in MATCHERS:
            raise UnknownChoiceError("matcher", matcher, "one of " + ", ".join(MATCHERS))
        opened = reference(population, "creativity_index")
        engine = kept_embedder(embedder)
        near = engine if matcher == "near" else None
        corpora = Corpora(opened, corpus, near)
    matched = f"near({near.identity})" if near else "exact"
    facts = {
        "signature": signature(
            "creativity_index", version="2-A", corpus=corpora.name, matcher=matched, population=opened.name
        )
    }

    async def copied(text: str, prompt: str, others: "Compared") -> Measurement:
        if near and (blind := blindness(near, text)):
            return nothing(f"{blind}; matcher=exact reads every script")
        copies = await corpora.looked_up(lambda corpus: corpus.copies(text), prompt, others.made_of)
        index = measured_index((), (), LENGTHS, matched=copies.lengths)
        values = (index.mean, index.sum, *(index.by_length[length] for length in LENGTHS))
        runs = sorted(copies.runs, key=lambda run: -run.tokens)[:SHOWN]
        metadata = {
            "tokens": len(copies.lengths),
            "runs": len(copies.runs),
            "longest": [{"words": run.words[:WIDTH], "tokens": run.tokens, "where": run.where} for run in runs[:3]],
            "left_out_of_corpus": list(copies.left_out),
        }
        shown = f"No run of {LENGTHS[0]} or more of its {len(copies.lengths)} tokens is in the corpus."
        if runs:
            lines = [f"| {cell(run.words[:WIDTH])} | {run.tokens} | {cell(run.where)} |" for run in runs]
            counted = f"{len(copies.runs)} runs of {LENGTHS[0]} or more tokens are in the corpus."
            shown = "\n".join(["| copied words | tokens | where |", "|:--|--:|:--|", *lines, "", counted])
        return Measurement(dict(zip(KEYS, values, strict=True)), shown, metadata)

    return panel_scorer(opened, KEYS, facts, copied)
