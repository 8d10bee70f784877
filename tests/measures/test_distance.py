"""Cosine distances."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.measures.distance import cosine_distances, mean_distance, nearest, nearest_distance


def test_distances_run_from_0_over_1_to_2() -> None:
    population = [[2.0, 0.0], [0.0, 0.5], [-1.0, 0.0]]
    assert cosine_distances([3.0, 0.0], population).tolist() == pytest.approx([0, 1, 2])
    assert mean_distance([3.0, 0.0], population) == pytest.approx(1)
    assert nearest_distance([3.0, 0.0], population) == pytest.approx(0)


def test_a_worked_case() -> None:
    # cos((1, 1), (1, 0)) = 1 / sqrt(2); cos((1, 1), (3, 4)) = 7 / (5 sqrt(2))
    expected = [1 - 1 / math.sqrt(2), 1 - 7 / (5 * math.sqrt(2))]
    assert cosine_distances([1, 1], [[1, 0], [3, 4]]).tolist() == pytest.approx(expected)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 10_000))
def test_length_does_not_matter_and_order_does_not_either(rows: int, width: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    target, population = draw.normal(size=width), draw.normal(size=(rows, width))
    found = mean_distance(target, population)
    assert 0 <= nearest_distance(target, population) <= found + 1e-12
    scaled = mean_distance(target * 7, population[::-1] * draw.uniform(0.1, 9, size=(rows, 1)))
    assert scaled == pytest.approx(found, abs=1e-9)


def test_the_nearest_row_is_the_one_at_the_nearest_distance_and_of_equals_the_first() -> None:
    population = [[0.0, 2.0], [1.0, 0.0], [2.0, 0.0]]
    assert nearest([0.1, 2.0], population) == 0
    assert nearest([1.0, 0.0], population) == 1


def test_an_empty_population_has_no_distance() -> None:
    assert math.isnan(mean_distance([1.0], np.zeros((0, 1))))
    assert math.isnan(nearest_distance([1.0], []))


def test_a_vector_without_direction_or_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="target is a zero vector"):
        mean_distance([0, 0], [[1, 0]])
    with pytest.raises(ValueError, match="population row 1 is a zero vector"):
        mean_distance([1, 0], [[1, 0], [0, 0]])
    with pytest.raises(ValueError, match="shape"):
        mean_distance([1, 0, 0], [[1, 0]])
