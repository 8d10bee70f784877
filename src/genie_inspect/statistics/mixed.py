"""Logistic models with crossed random intercepts: verdicts of several raters on expressions of several writers.

Source: the likelihood by Laplace's approximation, as lme4's `glmer` has it (Bates et al. 2015, arXiv 1406.5823).
Deviation: standard errors come from the whole likelihood's curvature, the variances' included.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genie_inspect.errors import UnfittableError
from genie_inspect.statistics.determined import check_determined
from genie_inspect.statistics.laplace import Codes, LaplaceLikelihood

Values = NDArray[np.float64]

INTERCEPT = "intercept"
STEPS = 500
STEP = 1e-4  # of each parameter, for the curvature by differences of the gradient
NEAR = 1e-6  # in log-likelihood: what is left to be gained where the search may end
POLISHING = 20
NO_VARIANCE = 1e-3  # standard deviation that counts as none: its variance has no digit that is shown
MOST_DEVIATION = 30.0  # in log-odds: a group's chances would lie between 1e-13 and its complement


@dataclass(frozen=True, slots=True)
class MixedModel:
    """A fitted model: log-odds of the outcome, by name."""

    coefficients: dict[str, float]
    """Log-odds that one unit of each predictor adds; `intercept` comes first."""
    standard_errors: dict[str, float]
    """Of the coefficients."""
    variances: dict[str, float]
    """Of the random intercepts of each grouping; 0 where its groups do not differ beyond chance."""
    log_likelihood: float
    rows: int
    groups: dict[str, int]
    """How many groups each grouping has."""

    @property
    def aic(self) -> float:
        """Akaike's criterion, smaller = better: twice the number of coefficients and variances less the likelihood."""
        return 2 * (len(self.coefficients) + len(self.variances) - self.log_likelihood)


def mixed_logistic(
    outcome: ArrayLike, fixed: Mapping[str, ArrayLike], groups: Mapping[str, Sequence[Hashable]]
) -> MixedModel:
    """A logistic model with an intercept, fixed effects and a random intercept for each group of each grouping.

    Args:
        outcome: 0 or 1 for each row, shape (N,).
        fixed: For each predictor its value in each row, shape (N,); the intercept is added.
        groups: For each grouping the group of each row; groupings may be crossed or nested.

    Raises:
        UnfittableError: If the numbers do not determine the model (separation, a predictor that is constant or adds
            nothing, one group, too few rows), or no maximum was found.
        ValueError: If a column has another length, a value that is no number, or an outcome that is not 0 or 1.
    """
    values, design = _outcome(outcome), _design(fixed, len(np.asarray(outcome)))
    codes = {name: _codes(name, column, len(values)) for name, column in groups.items()}
    names = [INTERCEPT, *fixed]
    check_determined(values, design, names, codes)
    # standardised, so that one step of the search means as much for every predictor
    shift, scale = np.r_[0, design[:, 1:].mean(axis=0)], np.r_[1, design[:, 1:].std(axis=0)]
    likelihood = LaplaceLikelihood(values, (design - shift) / scale, list(codes.values()))
    best, value, curvature = _maximum(likelihood, len(codes), len(names))
    deviations, standardised = np.split(best, [len(codes)])
    _check_finite(dict(zip(codes, deviations, strict=True)))
    # back to the predictors' own units: the shift moves into the intercept
    back = np.diag(1 / scale)
    back[0, 1:] = -shift[1:] / scale[1:]
    errors = np.sqrt(np.diag(back @ _covariance(deviations, curvature) @ back.T))
    return MixedModel(
        dict(zip(names, (back @ standardised).tolist(), strict=True)),
        dict(zip(names, errors.tolist(), strict=True)),
        {name: _variance(deviation) for name, deviation in zip(codes, deviations.tolist(), strict=True)},
        -value,
        len(values),
        {name: int(code.max()) + 1 for name, code in codes.items()},
    )


def _maximum(likelihood: LaplaceLikelihood, groupings: int, predictors: int) -> tuple[Values, float, Values]:
    """The parameters of the greatest likelihood, minus its logarithm there, and the curvature.

    Raises:
        UnfittableError: If there is none, or it was not found.
    """
    from scipy.optimize import minimize

    start = np.concatenate([np.ones(groupings), np.zeros(predictors)])
    point = np.asarray(minimize(likelihood, start, jac=True, method="BFGS", options={"maxiter": STEPS}).x)
    for _ in range(POLISHING):
        value, gradient = likelihood(point)
        curvature = _curvature(likelihood, point)
        if not (np.isfinite(value) and np.isfinite(curvature).all()):
            break
        moving = _moving(point[:groupings], predictors)
        # a deviation of 0 may be the least likely one as well
        if np.linalg.eigvalsh(curvature[np.ix_(moving, moving)])[0] <= 0 or (curvature.diagonal() < -STEP).any():
            break
        step = np.zeros_like(point)
        step[moving] = np.linalg.solve(curvature[np.ix_(moving, moving)], gradient[moving])
        # half the gradient times the step is what a parabola would still gain
        if gradient @ step / 2 < NEAR:
            return point, value, curvature
        point = point - step
    raise UnfittableError(
        "the model did not converge: its likelihood has no maximum that could be found; leave out a predictor or a "
        "grouping, or give more rows"
    )


def _curvature(likelihood: Callable[[Values], tuple[float, Values]], point: Values) -> Values:
    steps = np.eye(len(point)) * STEP
    rows = np.array([likelihood(point + step)[1] - likelihood(point - step)[1] for step in steps]) / (2 * STEP)
    return np.asarray((rows + rows.T) / 2)


def _moving(deviations: Values, predictors: int) -> NDArray[np.bool_]:
    # at a deviation of 0 the likelihood is level, whatever its sign: there it has no error and moves nothing else
    return np.concatenate([np.abs(deviations) > NO_VARIANCE, np.ones(predictors, dtype=bool)])


def _covariance(deviations: Values, curvature: Values) -> Values:
    """Of the coefficients."""
    moving = _moving(deviations, len(curvature) - len(deviations))
    covariance = np.linalg.inv(curvature[np.ix_(moving, moving)])
    first = int(moving[: len(deviations)].sum())
    return np.asarray(covariance[first:, first:])


def _variance(deviation: float) -> float:
    return deviation**2 if abs(deviation) > NO_VARIANCE else 0.0


def _outcome(outcome: ArrayLike) -> Values:
    values = np.asarray(outcome, dtype=float)
    if values.ndim != 1:
        raise ValueError(f"outcome has shape {values.shape}, expected one 0 or 1 a row")
    strange = values[~np.isin(values, (0, 1))]
    if len(strange):
        raise ValueError(f"outcome holds {strange[0]}, expected one 0 or 1 a row")
    return values


def _design(fixed: Mapping[str, ArrayLike], rows: int) -> Values:
    columns = [np.ones(rows)]
    for name, column in fixed.items():
        values = np.asarray(column, dtype=float)
        if name == INTERCEPT:
            raise ValueError(f"a predictor is named {INTERCEPT!r}, expected another name: the intercept is added")
        if values.shape != (rows,):
            raise ValueError(f"predictor {name!r} has shape {values.shape}, expected ({rows},): one value a row")
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(f"predictor {name!r} is {values[row]} in row {row}, expected a number")
        columns.append(values)
    return np.column_stack(columns)


def _codes(name: str, column: Sequence[Hashable], rows: int) -> Codes:
    if len(column) != rows:
        raise ValueError(f"grouping {name!r} has {len(column)} rows, expected {rows}")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in column], dtype=np.int64)


def _check_finite(deviations: Mapping[str, float]) -> None:
    for name, deviation in deviations.items():
        if abs(deviation) > MOST_DEVIATION:
            raise UnfittableError(
                f"the variance of grouping {name!r} grows without end: nearly every group has one outcome alone; leave "
                "the grouping out"
            )
