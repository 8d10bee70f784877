"""The scorer `creativity_index`: how little of a document stands in a corpus, run by run."""

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.scorers.stderr import per_key

MATCHERS = ("exact", "near")

# the sum of eight, for 5 to 12 tokens
RANGES = {"creativity_index_mean": (0, 1), "creativity_index_sum": (0, 8), "creativity_index_*": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="creativity_index_mean",
    ranges=RANGES,
    meaning="0: all of it stands word for word in the corpus. 1: no run of its words does. Higher is less copied.",
)
def creativity_index(
    population: str = "starter", corpus: str = "population", matcher: str = "exact", embedder: str = "static"
) -> Scorer:
    """Share of a document's tokens outside every run that stands in a corpus, 0 (all copied) to 1 (nothing is).

    Keys: `creativity_index_mean`, the mean over runs of at least 5 to 12 tokens; `creativity_index_sum`, the sum; and
    `creativity_index_5` to `creativity_index_12`. All higher = more novel. The explanation shows the longest copied
    runs and where they stand.

    Args:
        population: `starter` or the folder of a population with documents; its prompts say what is scored.
        corpus: `population` (its documents for the prompt), a folder of *.txt, *.md and *.jsonl,
            `infini-gram:<folder>` for an index by `genie index`, or `infini-gram:<service url>#<index>`, whose user
            and password, if it asks for any, stand in `~/.netrc` and never in the address.
        matcher: `exact`, or `near`: windows whose words say the same by the embedder's vectors count as copied too.
        embedder: For `matcher=near`.

    Raises:
        RefusedError: If the population cannot be opened or has only answers, the corpus cannot be used or does not
            answer, infini-gram is asked for and not installed, or matcher or embedder is unknown.

    Source: Lu et al. 2025 (arXiv 2410.04265); deviations in measures.ngrams.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.scorers.copied_runs import KEYS, Copying
    from genie_inspect.scorers.corpora import Corpora, opened_corpus
    from genie_inspect.scorers.outcome import kept_embedder, reference, scored
    from genie_inspect.signature import signature

    with refusals():
        if matcher not in MATCHERS:
            raise UnknownChoiceError("matcher", matcher, "one of " + ", ".join(MATCHERS))
        opened = reference(population, "creativity_index")
        engine = kept_embedder(embedder)
        near = engine if matcher == "near" else None
        corpora = Corpora(opened, opened_corpus(corpus, near), near)
    matched = f"near({near.identity})" if near else "exact"
    facts = {
        "signature": signature(
            "creativity_index", version="2-A", corpus=corpora.name, matcher=matched, population=opened.name
        )
    }
    measure = Copying(corpora)

    async def score(state: TaskState, target: Target) -> Score:
        return await scored(state, opened, KEYS, facts, measure)

    return score
