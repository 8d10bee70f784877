"""Which rows determine a mixed model, and in which words the others are refused."""

import numpy as np
import pytest

from genie_inspect.errors import UnfittableError
from genie_inspect.statistics.determined import check_determined

DRAW = np.random.default_rng(0)
X, Y = DRAW.normal(size=(2, 40))
COIN = DRAW.integers(0, 2, 40).astype(float)
TWO, FOUR = np.arange(40) % 2, np.arange(40) // 10


def checked(outcome: object, codes: dict[str, np.ndarray], fixed: dict[str, np.ndarray], rows: int = 40) -> None:
    design = np.column_stack([np.ones(rows), *(column[:rows] for column in fixed.values())])
    cut = {name: code[:rows] for name, code in codes.items()}
    check_determined(np.asarray(outcome, dtype=float)[:rows], design, ["intercept", *fixed], cut)


@pytest.mark.parametrize(
    ("outcome", "codes", "fixed"),
    [
        (COIN, {"g": TWO}, {"x": X}),
        # groups may lie within each other
        (COIN, {"g": TWO, "h": FOUR * 2 + TWO}, {"x": X, "y": Y}),
        # what adds little still adds something
        (COIN, {"g": FOUR}, {"x": X, "y": X + 1e-4 * Y}),
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
        (COIN, {}, {"x": X}, "groups is empty, expected at least one grouping for random intercepts"),
        (COIN * 0, {"g": TWO}, {"x": X}, "outcome is 0 in every row, expected some 0 and some 1"),
        (COIN * 0 + 1, {"g": TWO}, {"x": X}, "outcome is 1 in every row, expected some 0 and some 1"),
        (
            COIN,
            {"g": TWO},
            {"x": X, "y": np.full(40, 2.0)},
            "predictor 'y' is 2 in every row, expected values that differ",
        ),
        (COIN, {"g": TWO, "h": TWO * 0}, {"x": X}, "grouping 'h' has one group, expected at least two"),
        (
            COIN,
            {"g": np.arange(40)},
            {"x": X},
            "grouping 'g' has a group for each row, expected groups of several rows",
        ),
        (
            COIN,
            {"g": TWO, "h": FOUR, "i": FOUR},
            {"x": X},
            "groupings 'h' and 'i' have the same groups, expected one of them",
        ),
        (
            COIN,
            {"g": TWO},
            {"x": X, "y": Y, "z": X - 2 * Y + 1},
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
                (X > 0, {"x": X}, "x"),
                (X < 0, {"x": X}, "x"),
                (X > Y, {"x": X, "y": Y}, "x, y"),
                (np.maximum(COIN, X > 1), {"y": Y, "high": X > 1}, "high"),
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
