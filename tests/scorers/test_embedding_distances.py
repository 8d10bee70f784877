"""Distances of a document whose vectors are known."""

import numpy as np

from genie_inspect.scorers.cosine import measurement


def test_the_mean_and_the_nearest_distance_are_told_with_the_nearest_document() -> None:
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]])
    found = measurement(np.array([0.6, 0.8]), ["d-a", "d*b", "d-c"], vectors)
    # cosines 0.6, 1 and -0.6
    assert found.value["cosine_mean"] == (0.4 + 0 + 1.6) / 3
    assert abs(found.value["cosine_nearest"]) < 1e-12
    assert found.metadata == {"nearest": "d*b"}
    apart = measurement(np.array([0.8, 0.6]), ["d-a", "d*b", "d-c"], vectors)
    # 1 less 0.8, 0.96 and -0.8; shown with three digits, and markup as text
    assert apart.explanation == "Mean cosine distance 0.680; nearest is d\\*b at 0.040."
