"""What mixed models make of made-up rows and votes, and what they refuse to fit."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from genie_inspect.errors import GenieError, UnfittableError
from genie_inspect.statistics import mixed
from genie_inspect.statistics.mixed import LaplaceLikelihood, check_determined, mixed_logistic
from genie_inspect.statistics.ordinal import Curvature, Piece, ShrunkenModel, shrunken_ordinal

ROWS = 600
DRAW = np.random.default_rng(0)
X = DRAW.normal(size=ROWS)
COIN = (DRAW.random(ROWS) < 0.4).astype(float)
GROUPS = [row % 20 for row in range(ROWS)]


def test_coefficients_and_variances_that_made_the_rows_come_back() -> None:
    draw = np.random.default_rng(1)
    rows, readers, passages = 8_000, 80, 400
    reader, passage = draw.integers(0, readers, rows), draw.integers(0, passages, rows)
    x = draw.normal(size=rows)
    log_odds = -1 + 0.5 * x + 0.7 * draw.normal(size=readers)[reader] + draw.normal(size=passages)[passage]
    outcome = draw.random(rows) < 1 / (1 + np.exp(-log_odds))
    model = mixed_logistic(outcome, {"x": x}, {"reader": reader.tolist(), "passage": passage.tolist()})
    assert model.coefficients["x"] == pytest.approx(0.5, abs=0.06)
    # Laplace's approximation is a little low where groups are small
    assert model.variances == pytest.approx({"reader": 0.49, "passage": 1.0}, abs=0.2)
    assert model.groups == {"reader": readers, "passage": len(set(passage.tolist()))}


def test_without_differences_between_groups_it_is_the_plain_logistic_model() -> None:
    def loss(parameters: np.ndarray) -> float:
        linear = parameters[0] + parameters[1] * X
        return float(np.logaddexp(0, linear).sum() - COIN @ linear)

    plain = minimize(loss, [0, 0], options={"gtol": 1e-8})
    model = mixed_logistic(COIN, {"x": X}, {"group": GROUPS})
    assert (model.variances, model.rows, model.groups) == ({"group": 0.0}, ROWS, {"group": 20})
    assert list(model.coefficients.values()) == pytest.approx(plain.x, abs=1e-4)
    assert model.log_likelihood == pytest.approx(-plain.fun)
    assert model.aic == pytest.approx(2 * 3 + 2 * plain.fun)
    expected = 1 / (1 + np.exp(-plain.x[0] - plain.x[1] * X))
    design = np.column_stack([np.ones(ROWS), X])
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ (design * (expected * (1 - expected))[:, None]))))
    assert list(model.standard_errors.values()) == pytest.approx(errors, rel=1e-3)


def test_units_and_names_of_groups_change_nothing_but_the_coefficient() -> None:
    outcome = (DRAW.random(ROWS) < 1 / (1 + np.exp(-X - np.array(GROUPS) / 10))).astype(float)
    plain = mixed_logistic(outcome, {"x": X}, {"group": GROUPS})
    scaled = mixed_logistic(outcome, {"x": 1e6 * X + 1e7}, {"group": [f"reader {group}" for group in GROUPS]})
    assert scaled.coefficients["x"] == pytest.approx(plain.coefficients["x"] / 1e6)
    assert scaled.standard_errors["x"] == pytest.approx(plain.standard_errors["x"] / 1e6, rel=1e-4)
    intercept = plain.coefficients["intercept"] - 10 * plain.coefficients["x"]
    assert scaled.coefficients["intercept"] == pytest.approx(intercept, rel=1e-4)
    assert scaled.log_likelihood == pytest.approx(plain.log_likelihood)
    assert scaled.variances == pytest.approx(plain.variances)


ODD = np.array([group % 2 for group in GROUPS], dtype=float)
G, H = {"g": GROUPS}, [row % 7 for row in range(ROWS)]
Y = DRAW.normal(size=ROWS)
GROWS = (
    "the variance of grouping 'g' grows without end: nearly every group has one outcome alone; leave the grouping out"
)
SUM = "is a sum of multiples of those before it, expected one that adds something: leave it out"


def apart(by: str) -> str:
    return (
        f"the outcomes are told apart without error by {by} (separation), so that no finite coefficient fits best: "
        "leave it out, or join levels that have one outcome alone"
    )


@pytest.mark.parametrize(
    ("outcome", "fixed", "groups", "said"),
    [
        (X < 0, {"x": X}, G, apart("x")),
        (X > Y, {"x": X, "y": Y}, G, apart("x, y")),
        (np.maximum(COIN, X > 1), {"high": X > 1, "y": Y}, G, apart("high")),
        (ODD, {"x": X}, G | {"h": H}, GROWS),
        (COIN, {"x": X, "y": Y * 0 + 2}, G, "predictor 'y' is 2 in every row, expected values that differ"),
        (COIN, {"x": X, "y": 2 * X + 1}, G, f"predictor 'y' {SUM}"),
        (COIN, {"x": X, "y": Y, "z": X - 2 * Y + 1}, G, f"predictor 'z' {SUM}"),
        (COIN, {"x": X}, {"g": ["a"] * ROWS}, "grouping 'g' has one group, expected at least two"),
        (
            *(COIN, {"x": X}, {"g": range(ROWS)}),
            "grouping 'g' has a group for each row, expected groups of several rows",
        ),
        (
            *(COIN, {"x": X}, {"g": GROUPS, "h": H, "i": [-group for group in H]}),
            "groupings 'h' and 'i' have the same groups, expected one of them",
        ),
        (COIN, {"x": X}, {}, "groups is empty, expected at least one grouping for random intercepts"),
        (
            *(COIN[:3], {"x": X[:3]}, {"g": GROUPS[:3]}),
            "3 rows are too few for 2 coefficients and 1 variances, expected more rows than both together",
        ),
        (COIN * 0 + 1, {"x": X}, G, "outcome is 1 in every row, expected some 0 and some 1"),
    ],
)
def test_rows_that_determine_no_model_are_refused_with_the_reason(
    outcome: object, fixed: dict[str, object], groups: dict[str, list[object]], said: str
) -> None:
    with pytest.raises(UnfittableError) as caught:
        mixed_logistic(outcome, fixed, groups)  # type: ignore[arg-type]  # of several kinds
    assert isinstance(caught.value, GenieError)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("rows", "groups", "fixed"),
    [
        (40, {"g": np.arange(40) % 2}, {"x": X}),
        # groups may lie within each other
        (40, {"g": np.arange(40) % 2, "h": np.arange(40) // 10 * 2 + np.arange(40) % 2}, {"x": X, "y": Y}),
        # what adds little still adds something
        (40, {"g": np.arange(40) // 10}, {"x": X, "y": X + 1e-4 * Y}),
        # one row more than coefficients and variances
        (4, {"g": np.array([0, 0, 1, 1])}, {"x": np.array([1.0, 2, 1, 2])}),
    ],
)
def test_rows_that_determine_a_model_pass(
    rows: int, groups: dict[str, np.ndarray], fixed: dict[str, np.ndarray]
) -> None:
    design = np.column_stack([np.ones(rows), *(column[:rows] for column in fixed.values())])
    outcome = COIN[:rows] if rows > 4 else np.array([0.0, 1, 1, 0])
    check_determined(outcome, design, ["intercept", *fixed], groups)


@pytest.mark.parametrize(("deviation", "variance"), [(-2.0, 4.0), (-0.0005, 0.0), (-31.0, None)])
def test_a_standard_deviation_means_the_same_under_either_sign(
    deviation: float, variance: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for signed in (deviation, -deviation):
        maximum = np.array([29.0, signed, 0.5]), 1.0, np.eye(3)
        monkeypatch.setattr(mixed, "_maximum", lambda *_, found=maximum: found)
        with nullcontext() if variance is not None else pytest.raises(UnfittableError, match="grows without end"):
            model = mixed_logistic([0, 1] * 4, {}, {"f": "aabbaabb", "g": "aaaabbbb"})
            assert model.variances["g"] == variance


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_the_gradient_is_that_of_small_steps(seed: int, groupings: int) -> None:
    draw = np.random.default_rng(seed)
    codes = [np.unique(draw.integers(0, size, 30), return_inverse=True)[1] for size in (3, 7, 5)[:groupings]]
    outcome, design = draw.integers(0, 2, 30).astype(float), np.column_stack([np.ones(30), draw.normal(size=30)])
    likelihood = LaplaceLikelihood(outcome, design, codes)
    point = draw.normal(size=groupings + 2)
    steps = np.eye(len(point)) * 1e-4
    slopes = [(likelihood(point + step)[0] - likelihood(point - step)[0]) / 2e-4 for step in steps]
    assert likelihood(point)[1] == pytest.approx(slopes, abs=1e-5)


def test_the_likelihood_is_that_of_whole_matrices() -> None:
    outcome, design, codes = COIN[:30], np.column_stack([np.ones(30), X[:30]]), [np.arange(30) % 3, np.arange(30) % 7]
    deviations, fixed = (-0.7, 1.3), design @ [0.2, -0.5]
    weights = np.hstack([np.eye(n)[code] * own for n, code, own in zip((3, 7), codes, deviations, strict=True)])

    def loss(intercepts: np.ndarray) -> float:
        linear = fixed + weights @ intercepts
        return float(np.logaddexp(0, linear).sum() - outcome @ linear + intercepts @ intercepts / 2)

    found = minimize(loss, np.zeros(10), options={"gtol": 1e-7})
    chances = expit(fixed + weights @ found.x)
    curvature = weights.T @ (weights * (chances * (1 - chances))[:, None]) + np.eye(10)
    expected = found.fun + np.linalg.slogdet(curvature).logabsdet / 2
    value, _ = LaplaceLikelihood(outcome, design, codes)(np.array([*deviations, 0.2, -0.5]))
    assert value == pytest.approx(expected, abs=1e-6)


def test_a_search_that_does_not_end_at_a_maximum_is_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    # three steps from the start: far from the maximum, and nothing tried after them
    monkeypatch.setattr(mixed, "STEPS", 3)
    monkeypatch.setattr(mixed, "POLISHING", 1)
    with pytest.raises(UnfittableError, match="the model did not converge"):
        mixed_logistic((X > 1) | (COIN > 0), {"x": X}, {"g": GROUPS})


RATERS, VOTES = 12, 1_200


def votes(spread: float, seed: int = 0, levels: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Levels, raters, a number beside each vote, and how lenient each rater is."""
    draw = np.random.default_rng(seed)
    rater, number = np.arange(VOTES) % RATERS, draw.normal(size=VOTES)
    lenient = draw.normal(0, spread, RATERS)
    latent = 0.8 * number + lenient[rater] + draw.logistic(size=VOTES)
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


def test_raters_who_do_not_differ_have_no_terms_and_a_number_that_says_nothing_moves_nothing() -> None:
    level, rater, number, _ = votes(0.0, seed=3)
    model = fit(level, rater, number)
    assert model.variances["rater"] == 0
    assert not model.terms["rater"].any()
    assert not model.errors["rater"].any()
    level, rater, _, _ = votes(0.9, seed=2)
    noise = np.random.default_rng(7).normal(size=VOTES)
    assert abs(fit(level, rater, noise).terms["number"][0]) < 0.05


def test_raters_of_known_leniency_and_the_thresholds_of_a_scale_are_recovered() -> None:
    level, rater, number, lenient = votes(0.6, seed=4, levels=5)
    model = fit(level, rater, number, levels=5)
    found, centred = model.terms["rater"], lenient - lenient.mean()
    assert 0.7 < found.std() / centred.std() < 1.05
    within = np.abs(found - found.mean() - centred) < 2.5 * model.errors["rater"]
    assert within.mean() > 0.9
    assert model.thresholds == pytest.approx(np.linspace(-1, 1.5, 4), abs=0.35)
    assert (np.diff(model.thresholds) > 0).all()
    assert model.terms["number"][0] == pytest.approx(0.8, abs=0.12)


def test_steps_that_nobody_used_have_a_threshold_and_hardly_a_chance_and_a_group_without_a_vote_is_the_average() -> (
    None
):
    level, rater, number, _ = votes(0.9, levels=4)
    steps = np.array([0, 1, 1, 3])[level]
    model = shrunken_ordinal(steps, 4, {"rater": (rater, RATERS + 1)}, {"number": number[:, None]})
    assert model.terms["rater"][-1] == 0
    assert model.errors["rater"][-1] == pytest.approx(model.variances["rater"] ** 0.5, rel=1e-3)
    chances = model.chances({"rater": np.array([0, -1])}, {"number": np.array([[0.5], [0.5]])})
    # a group that is unknown adds nothing
    expected = 0.5 * model.terms["number"] + [[model.terms["rater"][0]], [0]] - model.thresholds
    assert chances == pytest.approx(expit(expected))
    assert (np.diff(chances, axis=1) < 0).all()
    assert (chances[:, 1] - chances[:, 2]).max() < 0.01


def test_a_number_that_tells_all_votes_is_bounded_and_votes_of_one_kind_are_refused() -> None:
    level, rater, _, _ = votes(0.0)
    model = fit(level, rater, 2.0 * level - 1)
    assert np.isfinite(model.terms["number"]).all()
    assert model.terms["number"][0] > 3
    with pytest.raises(UnfittableError, match="all 1200 votes are the same"):
        fit(np.ones(VOTES, dtype=int), *votes(0.5)[1:3])


SHARES = 60
PIECES = [
    Piece(9, DRAW.integers(9, size=SHARES)),
    Piece(4, DRAW.integers(4, size=SHARES)),
    Piece(3, columns=DRAW.normal(size=(SHARES, 3))),
    Piece(2, DRAW.integers(2, size=SHARES), scale=-1.0),
]
WEIGHTS = DRAW.uniform(0.1, 0.3, SHARES)
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


def test_a_curvature_solves_as_the_whole_matrix_does_and_knows_the_variance_of_each_term() -> None:
    right, curvature = DRAW.normal(size=18), Curvature(PIECES, WEIGHTS, PRECISIONS, EXTRA)
    assert curvature.solve(right) == pytest.approx(np.linalg.solve(dense(), right))
    assert curvature.variances() == pytest.approx(np.diag(np.linalg.inv(dense())))


@pytest.mark.parametrize("piece", PIECES)
def test_what_terms_add_to_rows_and_rows_to_terms_is_one_matrix(piece: Piece) -> None:
    terms, rows = DRAW.normal(size=piece.size), DRAW.normal(size=SHARES)
    assert piece.linear(terms) @ rows == pytest.approx(terms @ piece.summed(rows))
