"""Linear models that a few hundred rows can bear: ridge and penalised softmax regression."""

from dataclasses import dataclass

import numpy as np

from genie_inspect.engines.curiosity.votes import Values
from genie_inspect.errors import UnfittableError


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights, shape (inputs, outputs), and what is added to each output."""

    weights: Values
    intercept: Values

    def __call__(self, rows: Values) -> Values:
        """One row of outputs a row."""
        outputs: Values = rows @ self.weights + self.intercept
        return outputs


def ridge(rows: Values, targets: Values, penalty: float) -> Linear:
    """The linear map of rows to targets with the least squared error plus penalty times its squared weights.

    Args:
        rows: Shape (N, D).
        targets: Shape (N, W).
        penalty: Above 0; the intercept bears none.
    """
    centre, middle = rows.mean(axis=0), targets.mean(axis=0)
    inputs = rows - centre
    weights = np.linalg.solve(inputs.T @ inputs + penalty * np.eye(rows.shape[1]), inputs.T @ (targets - middle))
    return Linear(weights, middle - centre @ weights)


def softmax_regression(rows: Values, labels: Values, penalty: float) -> Linear:
    """Log-odds of each class: the maximum of the likelihood less penalty / 2 times the squared weights.

    With two classes it is logistic regression; the weights of the two are each other's negative.

    Args:
        rows: Shape (N, D).
        labels: One row a row with 1 at its class, shape (N, C).
        penalty: Above 0; the intercept bears none.

    Raises:
        UnfittableError: If the maximum is not found.
    """
    from scipy.optimize import minimize

    inputs = np.column_stack([rows, np.ones(len(rows))])
    borne = np.full((inputs.shape[1], 1), penalty)
    borne[-1] = 0

    def cost(flat: Values) -> tuple[float, Values]:
        weights = flat.reshape(inputs.shape[1], -1)
        chances = softmax(inputs @ weights)
        surprise = -np.log(np.maximum((chances * labels).sum(axis=1), np.finfo(float).tiny)).sum()
        slope = inputs.T @ (chances - labels) + borne * weights
        return float(surprise + (borne * weights**2).sum() / 2), slope.ravel()

    start = np.zeros(inputs.shape[1] * labels.shape[1])
    best = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": 5_000, "maxfun": 10_000})
    if not best.success:
        raise UnfittableError(f"the classifier was not found after {best.nit} steps, expected a larger penalty")
    weights = best.x.reshape(inputs.shape[1], -1)
    return Linear(weights[:-1], weights[-1])


def softmax(logits: Values) -> Values:
    """Probabilities of the classes, each row with the sum 1."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances: Values = raised / raised.sum(axis=1, keepdims=True)
    return chances
