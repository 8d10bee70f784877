"""How far a text's vector is from those of the documents of its prompt: the scorer `cosine`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from genie_inspect.engines.embedders import Embedder, blindness, half_blindness
from genie_inspect.scorers.assessment import Compared
from genie_inspect.scorers.explanation import cell
from genie_inspect.scorers.outcome import Measurement, Warm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNKNOWN_WORDS = "the embedder knows no word of it"
KEYS = ("cosine_mean", "cosine_nearest")


class Distances:
    """Measures distances to the documents of each prompt, which are embedded once."""

    def __init__(self, engine: Embedder) -> None:
        self.engine = engine
        self._warm: Warm[tuple[list[str], NDArray[np.float64]]] = Warm()

    async def __call__(self, text: str, prompt: str, others: Compared) -> Measurement:
        """How far a text is from the documents."""
        if blind := blindness(self.engine, text):
            return Measurement(dict.fromkeys(KEYS, math.nan), f"Not measured: {blind}.", reason=blind)
        ids, vectors = await self._warm.get((prompt, others.left_out), partial(self._embedded, others))
        # in a thread: embedding blocks, and other samples go on meanwhile
        target = (await to_thread.run_sync(self.engine.embed, [text]))[0]
        if not target.any() or not ids:
            return Measurement(dict.fromkeys(KEYS, math.nan), f"Not measured: {UNKNOWN_WORDS}.", reason=UNKNOWN_WORDS)
        measured = measurement(target, ids, vectors)
        warning = half_blindness(self.engine, text)
        return replace(measured, explanation=f"{measured.explanation}\n\n{warning}") if warning else measured

    async def _embedded(self, others: Compared) -> "tuple[list[str], NDArray[np.float64]]":
        """Ids and vectors of the documents; a text of nothing but unknown characters has no direction."""
        import numpy as np

        vectors = await to_thread.run_sync(self.engine.embed, [document.text for document in others.documents])
        seen = [not blindness(self.engine, document.text) for document in others.documents]
        usable = np.flatnonzero(vectors.any(axis=1) & np.array(seen, dtype=bool))
        return [others.documents[place].id for place in usable], vectors[usable]


def measurement(target: "NDArray[np.float64]", ids: Sequence[str], vectors: "NDArray[np.float64]") -> Measurement:
    """Mean distance, and the nearest document with its distance."""
    from genie_inspect.measures.distance import mean_distance, nearest, nearest_distance

    value = {"cosine_mean": mean_distance(target, vectors), "cosine_nearest": nearest_distance(target, vectors)}
    name = ids[nearest(target, vectors)]
    return Measurement(
        value,
        f"Mean cosine distance {value['cosine_mean']:.3f}; nearest is {cell(name)} at {value['cosine_nearest']:.3f}.",
        {"nearest": name},
    )
