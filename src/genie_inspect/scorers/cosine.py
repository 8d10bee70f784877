"""The scorer `cosine`: how far a document's embedding is from the population's."""

import math
from typing import TYPE_CHECKING

from anyio import to_thread
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from genie_inspect.asking.refusals import refusals
from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.engines.embedding_cache import CachedEmbedder
from genie_inspect.judges.cache import cache_folder
from genie_inspect.scorers.against_documents import Finding, Warm, reference, scored
from genie_inspect.scorers.compared import Compared
from genie_inspect.signature import signature

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNKNOWN_WORDS = "the embedder knows no word of it"
KEYS = ("cosine_mean", "cosine_nearest")


@scorer(metrics={"*": [mean(), stderr()]})
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
    with refusals():
        opened = reference(population, "cosine")
        engine = CachedEmbedder(chosen_embedder(embedder), cache_folder())
    warm: Warm[tuple[list[str], NDArray[np.float64]]] = Warm()
    facts = {"signature": signature("cosine", embedder=engine.identity, population=opened.name)}

    async def measure(text: str, prompt: str, others: Compared) -> Finding:
        import numpy as np

        from genie_inspect.measures.distance import cosine_distances

        async def embedded() -> "tuple[list[str], NDArray[np.float64]]":
            texts = [document.text for document in others.documents]
            vectors = await to_thread.run_sync(engine.embed, texts)
            # a text of nothing but unknown characters has no direction
            usable = np.flatnonzero(vectors.any(axis=1))
            return [others.documents[place].id for place in usable], vectors[usable]

        ids, vectors = await warm.get((prompt, others.left_out), embedded)
        target = (await to_thread.run_sync(engine.embed, [text]))[0]
        if not target.any() or not ids:
            return Finding(
                dict.fromkeys(KEYS, math.nan), "Not measured: the embedder knows no word of it.", reason=UNKNOWN_WORDS
            )
        distances = cosine_distances(target, vectors)
        value = {"cosine_mean": float(distances.mean()), "cosine_nearest": float(distances.min())}
        nearest = ids[int(distances.argmin())]
        return Finding(
            value,
            f"Mean cosine distance {value['cosine_mean']:.3f}; nearest is {nearest} at {value['cosine_nearest']:.3f}.",
            {"nearest": nearest},
        )

    async def score(state: TaskState, target: Target) -> Score:
        return await scored(state, opened, KEYS, facts, measure)

    return score
