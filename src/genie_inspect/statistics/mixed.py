"""Logistic models with crossed random intercepts: verdicts of several raters on expressions of several writers.

Source: the likelihood by Laplace's approximation, as lme4's `glmer` has it (Bates et al. 2015, arXiv 1406.5823).
Deviation: standard errors come from the whole likelihood's curvature, the variances' included.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from genie_inspect.errors import UnfittableError
from genie_inspect.statistics.ordinal import Codes, Curvature, Piece, Values, most_probable

LEAST_GAIN = 1e-11  # of a step of Newton's; the next one would gain its square


class LaplaceLikelihood:
    """Minus the log-likelihood and its gradient, as a function of the standard deviations and the coefficients."""

    def __init__(self, outcome: Values, design: Values, codes: Sequence[Codes]) -> None:
        self._outcome, self._design = outcome, design
        sizes = [int(code.max()) + 1 for code in codes]
        # the largest first, as the curvature has it
        self._order = sorted(range(len(codes)), key=lambda grouping: -sizes[grouping])
        self._codes = [codes[grouping] for grouping in self._order]
        self._sizes = [sizes[grouping] for grouping in self._order]
        starts = np.cumsum([0, *self._sizes[:-1]])
        self._places = np.stack([code + start for code, start in zip(self._codes, starts, strict=True)])
        self._intercepts = np.zeros(sum(sizes))

    def __call__(self, parameters: Values) -> tuple[float, Values]:
        """Minus the log-likelihood and its gradient; infinite where the intercepts cannot be found."""
        deviations, coefficients = np.split(parameters, [len(self._order)])
        deviations = deviations[self._order]
        pieces = [Piece(*part) for part in zip(self._sizes, self._codes, deviations, strict=True)]
        fixed = self._design @ coefficients

        def expected_at(intercepts: Values) -> Values:
            return np.asarray(expit(fixed + deviations @ intercepts[self._places]))

        def curvature_of(expected: Values) -> Curvature:
            return Curvature(pieces, expected * (1 - expected), np.ones_like(self._intercepts))

        def loss_at(intercepts: Values) -> float:
            linear = fixed + deviations @ intercepts[self._places]
            return float(np.logaddexp(0, linear).sum() - self._outcome @ linear + intercepts @ intercepts / 2)

        def slope_at(intercepts: Values) -> tuple[Values, Curvature]:
            expected = expected_at(intercepts)
            return _summed(pieces, expected - self._outcome) + intercepts, curvature_of(expected)

        # from where the last call ended: between two calls the parameters hardly move
        intercepts, step, _ = most_probable(self._intercepts, loss_at, slope_at, LEAST_GAIN)
        # taken unchecked: the gain is below rounding, but the curvature moves with the step and not with its square
        self._intercepts = intercepts - step
        expected = expected_at(self._intercepts)
        curvature = curvature_of(expected)
        value = loss_at(self._intercepts) + curvature.log_determinant / 2
        return value, self._gradient(pieces, deviations, expected, curvature)

    def _gradient(self, pieces: Sequence[Piece], deviations: Values, expected: Values, curvature: Curvature) -> Values:
        """By the deviations, in the order of the call, then by the coefficients; the mode moves with both."""
        groupings = range(len(pieces))
        size, inverse, variances = self._sizes[0], curvature.inverse, curvature.variances()
        crossed = -(curvature.border / curvature.diagonal[:, None]) @ inverse
        # the entry of the curvature's inverse between two groupings' groups, for each row
        entries = {(one, one): variances[self._places[one]] for one in groupings}
        for first, second in combinations(groupings, 2):
            block, places = (crossed, self._places[0]) if first == 0 else (inverse, self._places[first] - size)
            entries[first, second] = block[places, self._places[second] - size]
        weighted = [
            np.sum([deviations[each] * entries[min(first, each), max(first, each)] for each in groupings], axis=0)
            for first in groupings
        ]
        weights, residual = expected * (1 - expected), expected - self._outcome
        # log |A| / 2 by each row's linear predictor, then less what the mode's own move takes back
        skew = weights * (1 - 2 * expected) * (deviations @ np.array(weighted)) / 2
        moved = curvature.solve(_summed(pieces, skew))
        row = residual + skew - weights * (deviations @ moved[self._places])
        intercepts, moves = self._intercepts[self._places], moved[self._places]
        by_deviation = intercepts @ row - moves @ residual + np.array(weighted) @ weights
        return np.concatenate([by_deviation[np.argsort(self._order)], self._design.T @ row])


def _summed(pieces: Sequence[Piece], rows: Values) -> Values:
    """The rows' values summed by group, of all groupings in a line."""
    return np.concatenate([piece.summed(rows) for piece in pieces])


def check_determined(outcome: Values, design: Values, names: Sequence[str], codes: Mapping[str, Codes]) -> None:
    """Refuse rows whose likelihood has no single maximum."""
    from scipy.optimize import linprog

    if not codes:
        raise UnfittableError("groups is empty, expected at least one grouping for random intercepts")
    if len(outcome) <= len(names) + len(codes):
        raise UnfittableError(
            f"{len(outcome)} rows are too few for {len(names)} coefficients and {len(codes)} variances, expected more "
            "rows than both together"
        )
    if len(set(outcome.tolist())) < 2:
        raise UnfittableError(f"outcome is {outcome[0]:.0f} in every row, expected some 0 and some 1")
    for name, column in zip(names[1:], design.T[1:], strict=True):
        if np.ptp(column) == 0:
            raise UnfittableError(f"predictor {name!r} is {column[0]:g} in every row, expected values that differ")
    standard = design / np.linalg.norm(design, axis=0)
    for count, name in enumerate(names[1:], start=2):
        if np.linalg.matrix_rank(standard[:, :count], tol=1e-8 * math.sqrt(count)) < count:
            raise UnfittableError(
                f"predictor {name!r} is a sum of multiples of those before it, expected one that adds something: leave "
                "it out"
            )
    for name, code in codes.items():
        if code.max() == 0:
            raise UnfittableError(f"grouping {name!r} has one group, expected at least two")
        if code.max() + 1 == len(code):
            raise UnfittableError(f"grouping {name!r} has a group for each row, expected groups of several rows")
    for first, second in combinations(codes, 2):
        if (codes[first] == codes[second]).all():
            raise UnfittableError(f"groupings {first!r} and {second!r} have the same groups, expected one of them")
    # predictors that tell the outcomes apart without error would have infinite coefficients. Konis (2007): a linear
    # programme finds a direction along which no row's likelihood falls and some rise
    signed = (2 * outcome - 1)[:, None] * design / np.abs(design).max(axis=0)
    found = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(signed)), bounds=(-1, 1))
    if found.status == 0 and -found.fun > 1e-6:
        apart = [name for name, share in zip(names[1:], found.x[1:], strict=True) if abs(share) > 1e-6]
        raise UnfittableError(
            f"the outcomes are told apart without error by {', '.join(apart)} (separation), so that no finite "
            "coefficient fits best: leave it out, or join levels that have one outcome alone"
        )


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

    coefficients: dict[str, float]  # log-odds that one unit of each predictor adds; `intercept` comes first
    standard_errors: dict[str, float]
    variances: dict[str, float]  # of each grouping's random intercepts; 0 where its groups do not differ beyond chance
    log_likelihood: float
    rows: int
    groups: dict[str, int]  # how many groups each grouping has

    @property
    def aic(self) -> float:
        """Akaike's criterion, smaller = better: twice the number of coefficients and variances less the likelihood."""
        return 2 * (len(self.coefficients) + len(self.variances) - self.log_likelihood)


def mixed_logistic(
    outcome: ArrayLike, fixed: Mapping[str, ArrayLike], groups: Mapping[str, Sequence[Hashable]]
) -> MixedModel:
    """A logistic model with an intercept, which is added, fixed effects and a random intercept for each group.

    Groupings may be crossed or nested. Refused are numbers that do not determine the model (separation, a predictor
    that is constant or adds nothing, one group, too few rows), and those for which no maximum is found.
    """
    values, design, codes = _checked_columns(outcome, fixed, groups)
    names = [INTERCEPT, *fixed]
    check_determined(values, design, names, codes)
    # standardised, so that one step of the search means as much for every predictor
    shift, scale = np.r_[0, design[:, 1:].mean(axis=0)], np.r_[1, design[:, 1:].std(axis=0)]
    likelihood = LaplaceLikelihood(values, (design - shift) / scale, list(codes.values()))
    best, value, curvature = _maximum(likelihood, len(codes), len(names))
    deviations, standardised = np.split(best, [len(codes)])
    for name, deviation in zip(codes, deviations, strict=True):
        if abs(deviation) > MOST_DEVIATION:
            raise UnfittableError(
                f"the variance of grouping {name!r} grows without end: nearly every group has one outcome alone; leave "
                "the grouping out"
            )
    # back to the predictors' own units: the shift moves into the intercept
    back = np.diag(1 / scale)
    back[0, 1:] = -shift[1:] / scale[1:]
    moving = _moving(deviations, len(names))
    covariance = np.linalg.inv(curvature[np.ix_(moving, moving)])[-len(names) :, -len(names) :]
    errors = np.sqrt(np.diag(back @ covariance @ back.T))
    variances = np.where(moving[: len(codes)], deviations**2, 0.0)
    return MixedModel(
        dict(zip(names, (back @ standardised).tolist(), strict=True)),
        dict(zip(names, errors.tolist(), strict=True)),
        dict(zip(codes, variances.tolist(), strict=True)),
        -value,
        len(values),
        {name: int(code.max()) + 1 for name, code in codes.items()},
    )


def _maximum(likelihood: LaplaceLikelihood, groupings: int, predictors: int) -> tuple[Values, float, Values]:
    """The parameters of the greatest likelihood, minus its logarithm there, and the curvature."""
    from scipy.optimize import minimize

    start = np.concatenate([np.ones(groupings), np.zeros(predictors)])
    point = np.asarray(minimize(likelihood, start, jac=True, method="BFGS", options={"maxiter": STEPS}).x)
    steps = np.eye(len(point)) * STEP
    for _ in range(POLISHING):
        value, gradient = likelihood(point)
        rows = np.array([likelihood(point + step)[1] - likelihood(point - step)[1] for step in steps]) / (2 * STEP)
        curvature = np.asarray((rows + rows.T) / 2)
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


def _moving(deviations: Values, predictors: int) -> NDArray[np.bool_]:
    # at a deviation of 0 the likelihood is level, whatever its sign: there it has no error and moves nothing else
    return np.concatenate([np.abs(deviations) > NO_VARIANCE, np.ones(predictors, dtype=bool)])


def _checked_columns(
    outcome: ArrayLike, fixed: Mapping[str, ArrayLike], groups: Mapping[str, Sequence[Hashable]]
) -> tuple[Values, Values, dict[str, Codes]]:
    """The outcome, the design with its intercept, and by grouping the number of each row's group."""
    outcomes = np.asarray(outcome, dtype=float)
    if outcomes.ndim != 1:
        raise ValueError(f"outcome has shape {outcomes.shape}, expected one 0 or 1 a row")
    if len(strange := outcomes[~np.isin(outcomes, (0, 1))]):
        raise ValueError(f"outcome contains {strange[0]}, expected one 0 or 1 a row")
    count = len(outcomes)
    columns = [np.ones(count)]
    for name, column in fixed.items():
        values = np.asarray(column, dtype=float)
        if name == INTERCEPT:
            raise ValueError(f"a predictor is named {INTERCEPT!r}, expected another name: the intercept is added")
        if values.shape != (count,):
            raise ValueError(f"predictor {name!r} has shape {values.shape}, expected ({count},): one value a row")
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(f"predictor {name!r} is {values[row]} in row {row}, expected a number")
        columns.append(values)
    codes = {}
    for name, members in groups.items():
        if len(members) != count:
            raise ValueError(f"grouping {name!r} has {len(members)} rows, expected {count}")
        numbers: dict[Hashable, int] = {}
        codes[name] = np.array([numbers.setdefault(group, len(numbers)) for group in members], dtype=np.int64)
    return outcomes, np.column_stack(columns), codes
