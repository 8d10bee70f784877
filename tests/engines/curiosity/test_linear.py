import numpy as np
import pytest

from genie_inspect.engines.curiosity.linear import ridge, softmax, softmax_regression

ROWS = np.random.default_rng(0).normal(size=(40, 3))


def test_ridge_by_hand() -> None:
    # x - mean = -1, 1; y - mean = -2, 2: weight = (2 + 2) / (2 + 2) = 1 with penalty 2; intercept 4 - 1 * 2
    found = ridge(np.array([[1.0], [3.0]]), np.array([[2.0], [6.0]]), penalty=2)
    assert found.weights.tolist() == [[1]]
    assert found.intercept.tolist() == [2]
    assert found(np.array([[5.0]])).tolist() == [[7]]


def test_a_large_penalty_leaves_the_mean() -> None:
    found = ridge(ROWS, ROWS[:, :2] + 3, penalty=1e9)
    assert found(ROWS) == pytest.approx(np.tile(ROWS[:, :2].mean(axis=0) + 3, (40, 1)), abs=1e-6)


def test_logistic_regression_as_scikit_learn_finds_it() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="needs the extra `discovery`")
    yes = ROWS[:, 0] + np.random.default_rng(1).normal(size=40) > 0.3
    found = softmax_regression(ROWS, np.column_stack([~yes, yes]).astype(float), penalty=0.5)
    # the two classes' weights are w and -w, whose penalty is twice that of w: as with a penalty of .25 on 2w
    other = linear_model.LogisticRegression(C=1 / 0.25, tol=1e-10).fit(ROWS, yes)
    assert softmax(found(ROWS)) == pytest.approx(other.predict_proba(ROWS), abs=1e-3)


def test_three_classes_as_scikit_learn_finds_them() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="needs the extra `discovery`")
    labels = np.digitize(ROWS[:, 1] + np.random.default_rng(1).normal(size=40), [-0.5, 0.5])
    found = softmax_regression(ROWS, np.eye(3)[labels], penalty=2)
    other = linear_model.LogisticRegression(C=1 / 2, tol=1e-10).fit(ROWS, labels)
    assert softmax(found(ROWS)) == pytest.approx(other.predict_proba(ROWS), abs=1e-3)


def test_the_intercept_bears_no_penalty() -> None:
    labels = np.array([[1.0, 0]] * 3 + [[0, 1.0]])
    found = softmax_regression(np.zeros((4, 1)), labels, penalty=1e6)
    assert softmax(found(np.zeros((1, 1))))[0] == pytest.approx([0.75, 0.25], abs=1e-4)


def test_softmax_bears_large_numbers() -> None:
    assert softmax(np.array([[1000.0, 1000.0, -1000.0]])).tolist() == [[0.5, 0.5, 0]]
