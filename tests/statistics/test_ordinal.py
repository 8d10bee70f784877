"""Votes by terms that are shrunk by as much as the votes say."""

import numpy as np
import pytest
from scipy.special import expit

from genie_inspect.errors import UnfittableError
from genie_inspect.statistics.mixed import mixed_logistic
from genie_inspect.statistics.ordinal import Curvature, Piece, ShrunkenModel, shrunken_ordinal

RATERS, ROWS = 12, 1_200


def votes(spread: float, seed: int = 0, levels: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Levels, raters, a number beside each vote, and how lenient each rater is."""
    draw = np.random.default_rng(seed)
    rater, number = np.arange(ROWS) % RATERS, draw.normal(size=ROWS)
    lenient = draw.normal(0, spread, RATERS)
    latent = 0.8 * number + lenient[rater] + draw.logistic(size=ROWS)
    steps = np.linspace(-1, 1.5, levels - 1) if levels > 2 else np.array([0.5])
    return (latent[:, None] > steps).sum(axis=1), rater, number, lenient


def fit(level: np.ndarray, rater: np.ndarray, number: np.ndarray, levels: int = 2) -> ShrunkenModel:
    return shrunken_ordinal(level, levels, {"rater": (rater, RATERS)}, {"number": number[:, None]})


def test_it_is_the_mixed_model_of_the_same_votes() -> None:
    level, rater, number, _ = votes(0.9)
    model, mixed = fit(level, rater, number), mixed_logistic(level, {"number": number}, {"rater": rater.tolist()})
    # a slope of its own kind is shrunk by little, and a variance loses what the intercept's estimate takes
    assert model.terms["number"][0] == pytest.approx(mixed.coefficients["number"], rel=0.03)
    assert -model.thresholds[0] == pytest.approx(mixed.coefficients["intercept"], abs=0.05)
    assert model.variances["rater"] == pytest.approx(mixed.variances["rater"], rel=0.15)


def test_raters_of_known_leniency_are_recovered_and_a_little_shrunk() -> None:
    level, rater, number, lenient = votes(0.9, seed=1)
    model = fit(level, rater, number)
    found, centred = model.terms["rater"], lenient - lenient.mean()
    assert np.corrcoef(found, lenient)[0, 1] > 0.9
    assert 0.7 < found.std() / centred.std() < 1.05
    within = np.abs(found - found.mean() - centred) < 2.5 * model.errors["rater"]
    assert within.mean() > 0.9


def test_raters_who_do_not_differ_have_no_terms() -> None:
    level, rater, number, _ = votes(0.0, seed=3)
    model = fit(level, rater, number)
    assert model.variances["rater"] == 0
    assert not model.terms["rater"].any()
    assert not model.errors["rater"].any()


def test_a_number_that_says_nothing_moves_nothing() -> None:
    level, rater, _, _ = votes(0.9, seed=2)
    noise = np.random.default_rng(7).normal(size=ROWS)
    assert abs(fit(level, rater, noise).terms["number"][0]) < 0.05


def test_steps_of_a_scale_have_thresholds_that_rise_and_are_recovered() -> None:
    level, rater, number, _ = votes(0.6, seed=4, levels=5)
    model = fit(level, rater, number, levels=5)
    assert model.thresholds == pytest.approx(np.linspace(-1, 1.5, 4), abs=0.35)
    assert (np.diff(model.thresholds) > 0).all()
    assert model.terms["number"][0] == pytest.approx(0.8, abs=0.12)


def test_a_scale_of_two_steps_is_yes_and_no() -> None:
    level, rater, number, _ = votes(0.6, seed=5, levels=3)
    merged = fit((level > 0).astype(int), rater, number)
    both = fit(level, rater, number, levels=3)
    assert both.thresholds[0] == pytest.approx(merged.thresholds[0], abs=0.15)


def test_chances_fall_with_the_steps_and_an_unknown_group_adds_nothing() -> None:
    level, rater, number, _ = votes(0.9, levels=4)
    model = fit(level, rater, number, levels=4)
    chances = model.chances({"rater": np.array([0, -1])}, {"number": np.array([[0.5], [0.5]])})
    assert (np.diff(chances, axis=1) < 0).all()
    expected = expit(0.5 * model.terms["number"][0] - model.thresholds)
    assert chances[1] == pytest.approx(expected)
    assert chances[0] == pytest.approx(
        expit(0.5 * model.terms["number"][0] + model.terms["rater"][0] - model.thresholds)
    )


def test_a_step_that_nobody_used_has_a_threshold_and_hardly_a_chance() -> None:
    level, rater, number, _ = votes(0.5, levels=3)
    model = fit(np.where(level > 0, 2, 0), rater, number, levels=3)
    chances = model.chances({"rater": rater}, {"number": number[:, None]})
    assert np.isfinite(model.thresholds).all()
    assert (chances[:, 0] - chances[:, 1]).max() < 0.01


def test_a_group_without_a_vote_is_the_average() -> None:
    level, rater, number, _ = votes(0.9)
    model = shrunken_ordinal(level, 2, {"rater": (rater, RATERS + 1)}, {"number": number[:, None]})
    assert model.terms["rater"][-1] == 0
    assert model.errors["rater"][-1] == pytest.approx(model.variances["rater"] ** 0.5, rel=1e-3)


def test_several_groupings_and_the_order_in_which_they_come_make_no_difference() -> None:
    level, rater, number, _ = votes(0.9)
    test = (np.arange(ROWS) // RATERS) % 40
    groups = {"rater": (rater, RATERS), "test": (test, 40)}
    here = shrunken_ordinal(level, 2, groups, {"number": number[:, None]})
    there = shrunken_ordinal(level, 2, dict(reversed(groups.items())), {"number": number[:, None]})
    assert here.terms["rater"] == pytest.approx(there.terms["rater"], abs=1e-6)


def test_a_number_that_tells_all_votes_is_bounded() -> None:
    level, rater, _, _ = votes(0.0)
    model = fit(level, rater, 2.0 * level - 1)
    assert np.isfinite(model.terms["number"]).all()
    assert model.terms["number"][0] > 3


def test_votes_of_one_kind_are_refused() -> None:
    with pytest.raises(UnfittableError, match="all 1200 votes are the same"):
        fit(np.ones(ROWS, dtype=int), *votes(0.5)[1:3])


DRAW = np.random.default_rng(0)
CURVATURE_ROWS = 60
PIECES = [
    Piece(9, DRAW.integers(9, size=CURVATURE_ROWS)),
    Piece(4, DRAW.integers(4, size=CURVATURE_ROWS)),
    Piece(3, columns=DRAW.normal(size=(CURVATURE_ROWS, 3))),
    Piece(2, DRAW.integers(2, size=CURVATURE_ROWS), scale=-1.0),
]
WEIGHTS = DRAW.uniform(0.1, 0.3, CURVATURE_ROWS)
PRECISIONS = np.concatenate([np.full(9, 2.0), np.full(4, 0.5), np.full(3, 1.0), np.zeros(2)])
EXTRA = np.array([[0.4, -0.1], [-0.1, 0.4]])


def dense() -> np.ndarray:
    """The same with every row's share of every term written out."""
    columns = [
        piece.scale * (piece.columns if piece.columns is not None else np.eye(piece.size)[piece.codes])
        for piece in PIECES
    ]
    design = np.concatenate(columns, axis=1)
    whole = design.T @ (WEIGHTS[:, None] * design) + np.diag(PRECISIONS)
    whole[-2:, -2:] += EXTRA
    return np.asarray(whole)


def test_it_solves_as_the_whole_matrix_does() -> None:
    right = DRAW.normal(size=18)
    assert Curvature(PIECES, WEIGHTS, PRECISIONS, EXTRA).solve(right) == pytest.approx(np.linalg.solve(dense(), right))


def test_it_knows_the_variance_of_each_term() -> None:
    assert Curvature(PIECES, WEIGHTS, PRECISIONS, EXTRA).variances() == pytest.approx(np.diag(np.linalg.inv(dense())))


@pytest.mark.parametrize("piece", PIECES)
def test_what_terms_add_to_rows_and_rows_to_terms_is_one_matrix(piece: Piece) -> None:
    terms, rows = DRAW.normal(size=piece.size), DRAW.normal(size=CURVATURE_ROWS)
    assert piece.linear(terms) @ rows == pytest.approx(terms @ piece.summed(rows))
