"""What a mixed model makes of made-up rows, and what it refuses to fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from genie_inspect.errors import GenieError, UnfittableError
from genie_inspect.statistics import mixed
from genie_inspect.statistics.mixed import LaplaceLikelihood, check_determined, mixed_logistic

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
    assert scaled.coefficients["intercept"] == pytest.approx(
        plain.coefficients["intercept"] - 10 * plain.coefficients["x"], rel=1e-4
    )
    assert (scaled.log_likelihood, scaled.variances["group"]) == pytest.approx(
        (plain.log_likelihood, plain.variances["group"])
    )


ODD = np.array([group % 2 for group in GROUPS], dtype=float)


@pytest.mark.parametrize(
    ("outcome", "fixed", "groups", "message"),
    [
        (X > 0, {"x": X}, {"g": GROUPS}, r"told apart without error by x \(separation\)"),
        (np.where(X > 1, 1, COIN), {"z": COIN * 0 + (X > 1), "x": X}, {"g": GROUPS}, "told apart without error by z "),
        (ODD, {"x": X}, {"g": GROUPS}, "variance of grouping 'g' grows without end"),
        (ODD, {"x": X}, {"g": GROUPS, "h": [row % 7 for row in range(ROWS)]}, "variance of grouping 'g' grows"),
        (COIN, {"x": np.ones(ROWS)}, {"g": GROUPS}, "predictor 'x' is 1 in every row"),
        (COIN, {"x": X, "y": 2 * X + 1}, {"g": GROUPS}, "predictor 'y' is a sum of multiples of those before it"),
        (COIN, {"x": X}, {"g": ["a"] * ROWS}, "grouping 'g' has one group, expected at least two"),
        (COIN, {"x": X}, {"g": range(ROWS)}, "grouping 'g' has a group for each row"),
        (COIN, {"x": X}, {"g": GROUPS, "h": [-g for g in GROUPS]}, "groupings 'g' and 'h' have the same groups"),
        (COIN, {"x": X}, {}, "groups is empty"),
        (COIN[:3], {"x": X[:3]}, {"g": GROUPS[:3]}, "3 rows are too few for 2 coefficients and 1 variances"),
        ([], {"x": []}, {"g": []}, "0 rows are too few"),
        (COIN * 0, {"x": X}, {"g": GROUPS}, "outcome is 0 in every row"),
    ],
)
def test_rows_that_determine_no_model_are_refused_with_the_reason(
    outcome: object, fixed: dict[str, object], groups: dict[str, list[object]], message: str
) -> None:
    with pytest.raises(UnfittableError, match=message) as caught:
        mixed_logistic(outcome, fixed, groups)  # type: ignore[arg-type]  # of several kinds
    assert isinstance(caught.value, GenieError)


def test_a_standard_deviation_means_the_same_under_either_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    def fitted(deviation: float) -> mixed.MixedModel:
        maximum = np.array([29.0, deviation, 0.5]), 1.0, np.eye(3)
        monkeypatch.setattr(mixed, "_maximum", lambda *_: maximum)
        return mixed_logistic([0, 1] * 4, {}, {"f": "aabbaabb", "g": "aaaabbbb"})

    assert [fitted(deviation).variances["g"] for deviation in (-2.0, 2.0, -0.0005)] == [4.0, 4.0, 0.0]
    for deviation in (-31.0, 31.0):
        with pytest.raises(UnfittableError) as caught:
            fitted(deviation)
        assert str(caught.value) == (
            "the variance of grouping 'g' grows without end: nearly every group has one outcome alone; leave the "
            "grouping out"
        )


def test_a_search_that_does_not_end_at_a_maximum_is_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    # three steps from the start: far from the maximum, and nothing tried after them
    monkeypatch.setattr(mixed, "STEPS", 3)
    monkeypatch.setattr(mixed, "POLISHING", 1)
    with pytest.raises(UnfittableError, match="the model did not converge"):
        mixed_logistic((X > 1) | (COIN > 0), {"x": X}, {"g": GROUPS})


def plain(outcome: np.ndarray, design: np.ndarray, codes: list[np.ndarray], parameters: np.ndarray) -> float:
    """Minus the log-likelihood by whole matrices and a general search for the most probable intercepts."""
    deviations, coefficients = np.split(parameters, [len(codes)])
    blocks = [np.eye(code.max() + 1)[code] * deviation for code, deviation in zip(codes, deviations, strict=True)]
    weights = np.hstack(blocks)

    def loss(intercepts: np.ndarray) -> float:
        linear = design @ coefficients + weights @ intercepts
        return float(np.logaddexp(0, linear).sum() - outcome @ linear + intercepts @ intercepts / 2)

    found = minimize(loss, np.zeros(weights.shape[1]), method="BFGS", options={"gtol": 1e-7})
    expected = 1 / (1 + np.exp(-(design @ coefficients + weights @ found.x)))
    curvature = weights.T @ (weights * (expected * (1 - expected))[:, None]) + np.eye(weights.shape[1])
    return float(found.fun + np.linalg.slogdet(curvature).logabsdet / 2)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_likelihood_and_gradient_are_those_of_whole_matrices(seed: int, groupings: int) -> None:
    draw = np.random.default_rng(seed)
    codes = [np.unique(draw.integers(0, size, 30), return_inverse=True)[1] for size in (3, 7, 5)[:groupings]]
    outcome, design = draw.integers(0, 2, 30).astype(float), np.column_stack([np.ones(30), draw.normal(size=30)])
    likelihood = LaplaceLikelihood(outcome, design, codes)
    # either sign of a deviation means the same
    point = np.concatenate([draw.normal(size=groupings), draw.normal(size=2)])
    value, gradient = likelihood(point)
    assert value == pytest.approx(plain(outcome, design, codes, point), abs=1e-6)
    steps = np.eye(len(point)) * 1e-4
    slopes = [(likelihood(point + step)[0] - likelihood(point - step)[0]) / 2e-4 for step in steps]
    assert gradient == pytest.approx(slopes, abs=1e-5)


DETERMINED_X, Y = DRAW.normal(size=(2, 40))
DETERMINED_COIN = DRAW.integers(0, 2, 40).astype(float)
TWO, FOUR = np.arange(40) % 2, np.arange(40) // 10


def checked(outcome: object, codes: dict[str, np.ndarray], fixed: dict[str, np.ndarray], rows: int = 40) -> None:
    design = np.column_stack([np.ones(rows), *(column[:rows] for column in fixed.values())])
    cut = {name: code[:rows] for name, code in codes.items()}
    check_determined(np.asarray(outcome, dtype=float)[:rows], design, ["intercept", *fixed], cut)


@pytest.mark.parametrize(
    ("outcome", "codes", "fixed"),
    [
        (DETERMINED_COIN, {"g": TWO}, {"x": DETERMINED_X}),
        # groups may lie within each other
        (DETERMINED_COIN, {"g": TWO, "h": FOUR * 2 + TWO}, {"x": DETERMINED_X, "y": Y}),
        # what adds little still adds something
        (DETERMINED_COIN, {"g": FOUR}, {"x": DETERMINED_X, "y": DETERMINED_X + 1e-4 * Y}),
    ],
)
def test_rows_that_determine_a_model_pass(
    outcome: np.ndarray, codes: dict[str, np.ndarray], fixed: dict[str, np.ndarray]
) -> None:
    checked(outcome, codes, fixed)


def test_rows_must_be_more_than_coefficients_and_variances() -> None:
    outcome, x = np.array([0.0, 1, 1, 0, 1]), np.array([1.0, 2, 1, 2, 3])
    checked(outcome[:4], {"g": np.array([0, 0, 1, 1])}, {"x": x}, rows=4)
    with pytest.raises(UnfittableError) as caught:
        checked(outcome[:3], {"g": np.array([0, 0, 1])}, {"x": x}, rows=3)
    assert str(caught.value) == (
        "3 rows are too few for 2 coefficients and 1 variances, expected more rows than both together"
    )


@pytest.mark.parametrize(
    ("outcome", "codes", "fixed", "said"),
    [
        (
            DETERMINED_COIN,
            {},
            {"x": DETERMINED_X},
            "groups is empty, expected at least one grouping for random intercepts",
        ),
        (DETERMINED_COIN * 0, {"g": TWO}, {"x": DETERMINED_X}, "outcome is 0 in every row, expected some 0 and some 1"),
        (
            DETERMINED_COIN * 0 + 1,
            {"g": TWO},
            {"x": DETERMINED_X},
            "outcome is 1 in every row, expected some 0 and some 1",
        ),
        (
            DETERMINED_COIN,
            {"g": TWO},
            {"x": DETERMINED_X, "y": np.full(40, 2.0)},
            "predictor 'y' is 2 in every row, expected values that differ",
        ),
        (
            DETERMINED_COIN,
            {"g": TWO, "h": TWO * 0},
            {"x": DETERMINED_X},
            "grouping 'h' has one group, expected at least two",
        ),
        (
            DETERMINED_COIN,
            {"g": np.arange(40)},
            {"x": DETERMINED_X},
            "grouping 'g' has a group for each row, expected groups of several rows",
        ),
        (
            DETERMINED_COIN,
            {"g": TWO, "h": FOUR, "i": FOUR},
            {"x": DETERMINED_X},
            "groupings 'h' and 'i' have the same groups, expected one of them",
        ),
        (
            DETERMINED_COIN,
            {"g": TWO},
            {"x": DETERMINED_X, "y": Y, "z": DETERMINED_X - 2 * Y + 1},
            "predictor 'z' is a sum of multiples of those before it, expected one that adds something: leave it out",
        ),
        *[
            (
                outcome,
                {"g": TWO},
                fixed,
                f"the outcomes are told apart without error by {by} (separation), so that no finite coefficient fits "
                "best: leave it out, or join levels that have one outcome alone",
            )
            for outcome, fixed, by in (
                (DETERMINED_X > 0, {"x": DETERMINED_X}, "x"),
                (DETERMINED_X < 0, {"x": DETERMINED_X}, "x"),
                (DETERMINED_X > Y, {"x": DETERMINED_X, "y": Y}, "x, y"),
                (np.maximum(DETERMINED_COIN, DETERMINED_X > 1), {"y": Y, "high": DETERMINED_X > 1}, "high"),
            )
        ],
    ],
)
def test_rows_that_determine_none_are_refused_in_one_line(
    outcome: np.ndarray, codes: dict[str, np.ndarray], fixed: dict[str, np.ndarray], said: str
) -> None:
    with pytest.raises(UnfittableError) as caught:
        checked(outcome, codes, fixed)
    assert str(caught.value) == said
