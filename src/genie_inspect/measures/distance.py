"""Cosine distance of a document to a population. Source: Genie (arXiv 2606.12790), section 6.1."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def cosine_distances(target: ArrayLike, population: ArrayLike) -> NDArray[np.float64]:
    """One minus the cosine with each document, 0 (same direction) to 2 (opposite), shape (P,)."""
    vector, rows = np.asarray(target), np.asarray(population)
    if rows.size == 0:
        return np.zeros(0)
    if vector.ndim != 1 or rows.ndim != 2 or rows.shape[1] != len(vector):
        raise ValueError(f"target has shape {vector.shape}, population {rows.shape}, expected (D,) and (P, D)")
    lengths = np.sqrt(np.einsum("pd,pd->p", rows, rows))
    length = np.linalg.norm(vector)
    if length == 0 or not lengths.all():
        which = "target" if length == 0 else f"population row {int(lengths.argmin())}"
        raise ValueError(f"{which} is a zero vector, expected a direction")
    cosines = np.asarray(rows @ vector, dtype=np.float64) / (lengths * length)
    # rounding can carry the cosine of equal vectors above 1
    return np.asarray(np.clip(1 - cosines, 0, 2))
