"""Second derivatives solved block by block give what the whole matrix gives."""

import numpy as np
import pytest

from genie_inspect.statistics.shrunken.curvature import Curvature, Piece

DRAW = np.random.default_rng(0)
ROWS = 60
PIECES = [
    Piece(9, DRAW.integers(9, size=ROWS)),
    Piece(4, DRAW.integers(4, size=ROWS)),
    Piece(3, columns=DRAW.normal(size=(ROWS, 3))),
    Piece(2, DRAW.integers(2, size=ROWS), sign=-1.0),
]
WEIGHTS = DRAW.uniform(0.1, 0.3, ROWS)
PRECISIONS = np.concatenate([np.full(9, 2.0), np.full(4, 0.5), np.full(3, 1.0), np.zeros(2)])
EXTRA = np.array([[0.4, -0.1], [-0.1, 0.4]])


def dense() -> np.ndarray:
    """The same with every row's share of every term written out."""
    columns = [
        piece.sign * (piece.columns if piece.columns is not None else np.eye(piece.size)[piece.codes])
        for piece in PIECES
    ]
    design = np.concatenate(columns, axis=1)
    whole = design.T @ (WEIGHTS[:, None] * design) + np.diag(PRECISIONS)
    whole[-2:, -2:] += EXTRA
    return np.asarray(whole)


def test_it_solves_as_the_whole_matrix_does() -> None:
    right = DRAW.normal(size=18)
    assert Curvature.of(PIECES, WEIGHTS, PRECISIONS, EXTRA).solve(right) == pytest.approx(
        np.linalg.solve(dense(), right)
    )


def test_it_knows_the_variance_of_each_term() -> None:
    assert Curvature.of(PIECES, WEIGHTS, PRECISIONS, EXTRA).variances() == pytest.approx(
        np.diag(np.linalg.inv(dense()))
    )


@pytest.mark.parametrize("piece", PIECES)
def test_what_terms_add_to_rows_and_rows_to_terms_is_one_matrix(piece: Piece) -> None:
    terms, rows = DRAW.normal(size=piece.size), DRAW.normal(size=ROWS)
    assert piece.linear(terms) @ rows == pytest.approx(terms @ piece.summed(rows))
