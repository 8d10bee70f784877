"""The scorer `cosine`: how far a document's embedding is from the population's."""

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

RANGES = {"cosine_*": (0, 2)}


@scorer(
    metrics=per_key(RANGES),
    headline="cosine_mean",
    ranges=RANGES,
    meaning="0: in meaning the same as the population's documents. Up to 2; higher is farther from them.",
)
def cosine(population: str = "starter", embedder: str = "static") -> Scorer:
    """Cosine distance of a document to the population's for its prompt, 0 (same direction) to 2 (opposite).

    Keys: `cosine_mean`, the mean over the documents, and `cosine_nearest`, the distance to the nearest one; both
    higher = more novel.

    Args:
        population: `starter` or the folder of a population with documents.
        embedder: static, openai/<model> or sentence-transformers/<id or folder>; embeddings are cached.

    Raises:
        RefusedError: If the population cannot be opened or has only answers, or the embedder is unknown.

    Source: Genie (arXiv 2606.12790), section 6.1.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.scorers.embedding_distances import KEYS, Distances
    from genie_inspect.scorers.outcome import kept_embedder, reference, scored
    from genie_inspect.signature import signature

    with refusals():
        opened = reference(population, "cosine")
        engine = kept_embedder(embedder)
    facts = {"signature": signature("cosine", version="2-A", embedder=engine.identity, population=opened.name)}
    measure = Distances(engine)

    async def score(state: TaskState, target: Target) -> Score:
        return await scored(state, opened, KEYS, facts, measure)

    return score
