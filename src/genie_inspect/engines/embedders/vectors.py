"""Rows of numbers from an embedder: checked, pooled, made to unit length. Nothing is used or kept unchecked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from genie_inspect.engines.embedders.windows import Window
from genie_inspect.errors import EngineFailedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float64]


def checked_vectors(rows: object, count: int, embedder: str) -> "Vectors":
    """What an embedder gave, as one row a text, shape (count, D).

    Args:
        rows: An array, or a list of lists of numbers as JSON has them.
        count: How many texts were embedded.
        embedder: Its name, for messages.

    Raises:
        EngineFailedError: If it is another number of rows, they are of different widths or of none, or a row holds
            what is no finite number; truth values and figures in quotes are no numbers.
    """
    import numpy as np

    listed = list(rows) if isinstance(rows, list | tuple | np.ndarray) else None
    if listed is None or len(listed) != count:
        sent = "no list of vectors" if listed is None else f"{len(listed)} vectors"
        raise EngineFailedError(f"embedder {embedder} gave {sent} for {count} texts, expected one a text")
    vectors = [_checked(row, index, embedder) for index, row in enumerate(listed)]
    widths = sorted({len(vector) for vector in vectors})
    if len(widths) > 1:
        raise EngineFailedError(
            f"embedder {embedder} gave vectors of {' and '.join(map(str, widths))} numbers, expected one width"
        )
    return np.stack(vectors) if vectors else np.zeros((0, 0))


def check_width(vectors: "Vectors", width: int, embedder: str) -> None:
    """Refuse vectors of another width than those that the same embedder gave before.

    Raises:
        EngineFailedError: If the width is another.
    """
    if vectors.shape[1] != width:
        raise EngineFailedError(
            f"embedder {embedder} gives vectors of {vectors.shape[1]} numbers and gave {width} before: another model "
            "goes by its name now. Start again; what was kept of it is forgotten by: genie cache clear"
        )


def pooled(vectors: "Vectors", texts: Sequence[Sequence[Window]]) -> "Vectors":
    """One vector a text: the mean of its windows' vectors weighted by their tokens; of one window the vector itself.

    Args:
        vectors: One row a window, shape (W, D), the windows of the first text first.
        texts: The windows of each text.
    """
    import numpy as np

    rows, start = [], 0
    for windows in texts:
        part = vectors[start : start + len(windows)]
        # a window of unknown characters only has no tokens, and weights that sum to 0 have no mean
        weights = [max(window.tokens, 1) for window in windows]
        rows.append(part[0] if len(part) == 1 else np.average(part, axis=0, weights=weights))
        start += len(windows)
    return np.stack(rows) if rows else np.zeros((0, 0))


def unit(vectors: "Vectors", embedder: str) -> "Vectors":
    """The rows at length 1; a row of zeros stays as it is.

    Raises:
        EngineFailedError: If a row is too long to be measured.
    """
    import numpy as np

    if not len(vectors):
        return vectors.reshape(0, 0)
    # the squares of large numbers overflow to infinity, which is refused below
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EngineFailedError(f"embedder {embedder} gave numbers too large for a vector's length to be measured")
    # a text of nothing but unknown characters has no vector: it is like nothing, itself included
    rows: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return rows


def _checked(row: object, index: int, embedder: str) -> "Vectors":
    """One row as numbers, shape (D,)."""
    import numpy as np

    vector = None
    if isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind in "fiu":
        vector = row.astype(np.float64)
    elif isinstance(row, list) and all(type(number) in (int, float) for number in row):  # a bool is an int's subclass
        try:
            vector = np.array(row, dtype=np.float64)
        except OverflowError:
            vector = None
    if vector is None or not len(vector) or not np.isfinite(vector).all():
        shown = f"{row!r:.60}"
        raise EngineFailedError(
            f"embedder {embedder}: the vector of text {index} is not all numbers but {shown}, expected a list of them"
        )
    return vector
