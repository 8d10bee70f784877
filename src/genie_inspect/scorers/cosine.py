"""The scorer `cosine`: how far a document's embedding is from the population's."""

from typing import TYPE_CHECKING

from anyio import to_thread
from inspect_ai.scorer import Scorer, scorer

from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from genie_inspect.scorers.assessment import Compared

KEYS = ("cosine_mean", "cosine_nearest")
UNKNOWN_WORDS = "the embedder knows no word of it"
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
    import numpy as np

    from genie_inspect.engines.embedders import blindness, cosine_distances, half_blindness
    from genie_inspect.graders.grader import refusals
    from genie_inspect.scorers.explanation import cell
    from genie_inspect.scorers.outcome import Measurement, Warm, kept_embedder, nothing, panel_scorer, reference
    from genie_inspect.signature import signature

    with refusals():
        opened = reference(population, "cosine")
        engine = kept_embedder(embedder)
    facts = {"signature": signature("cosine", version="2-A", embedder=engine.identity, population=opened.name)}
    warm: Warm[tuple[list[str], NDArray[np.float64]]] = Warm()

    async def embedded(others: "Compared") -> "tuple[list[str], NDArray[np.float64]]":
        """Ids and vectors of the documents; a text of nothing but unknown characters has no direction."""
        vectors = await to_thread.run_sync(engine.embed, [document.text for document in others.documents])
        seen = [not blindness(engine, document.text) for document in others.documents]
        usable = np.flatnonzero(vectors.any(axis=1) & np.array(seen, dtype=bool))
        return [others.documents[place].id for place in usable], vectors[usable]

    async def distances(text: str, prompt: str, others: "Compared") -> Measurement:
        if blind := blindness(engine, text):
            return nothing(blind)
        ids, vectors = await warm.get((prompt, others.left_out), lambda: embedded(others))
        # in a thread: embedding blocks, and other samples go on meanwhile
        (target,) = await to_thread.run_sync(engine.embed, [text])
        if not target.any() or not ids:
            return nothing(UNKNOWN_WORDS)
        apart = cosine_distances(target, vectors)
        mean, least, nearest = float(apart.mean()), float(apart.min()), ids[int(apart.argmin())]
        said = f"Mean cosine distance {mean:.3f}; nearest is {cell(nearest)} at {least:.3f}."
        if warning := half_blindness(engine, text):
            said += f"\n\n{warning}"
        return Measurement({"cosine_mean": mean, "cosine_nearest": least}, said, {"nearest": nearest})

    return panel_scorer(opened, KEYS, facts, distances)
