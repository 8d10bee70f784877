import math
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from genie_inspect.measures.labels import LABELS, label_reading

PROBABILITIES = st.dictionaries(
    st.sampled_from([*LABELS, *string.ascii_letters, " ", "The", "10", "1.5"]),
    st.floats(1e-9, 1),
    min_size=1,
)


def logged(probabilities: dict[str, float]) -> list[tuple[str, float]]:
    return [(token, math.log(share)) for token, share in probabilities.items()]


def test_the_rating_is_the_mean_of_the_labels_weighted_by_their_probabilities() -> None:
    # (1 x 0.1 + 2 x 0.2 + 4 x 0.5) / (0.1 + 0.2 + 0.5) = 2.5 / 0.8
    reading = label_reading(logged({"1": 0.1, "2": 0.2, "4": 0.5, "The": 0.2}))
    assert reading.rating == pytest.approx(3.125)
    assert reading.off_labels == pytest.approx(0.2)
    assert reading.no_answer == 0.0


def test_the_label_0_is_no_part_of_the_mean_but_its_share_is_told() -> None:
    # 0.3 of 0.3 + 0.3 is on the label 0; the mean is over 2 alone
    reading = label_reading(logged({"0": 0.3, "2": 0.3}))
    assert reading.rating == pytest.approx(2.0)
    assert reading.no_answer == pytest.approx(0.5)
    assert reading.off_labels == pytest.approx(0.4)


def test_a_label_counts_with_space_around_it_and_no_other_way() -> None:
    tokens = {"3": 0.1, " 3": 0.1, "\n3": 0.1, "Ġ3": 0.1, "3.": 0.1, "33": 0.1, "three": 0.1, "٣": 0.1}
    reading = label_reading(logged(tokens))
    assert reading.rating == pytest.approx(3.0)
    assert reading.off_labels == pytest.approx(0.7)


def test_without_any_label_there_is_no_rating_and_everything_is_off_the_labels() -> None:
    reading = label_reading(logged({"The": 0.9}))
    assert math.isnan(reading.rating)
    assert math.isnan(reading.no_answer)
    assert reading.off_labels == 1.0
    assert label_reading([]).off_labels == 1.0


def test_no_answer_alone_is_no_rating() -> None:
    reading = label_reading([("0", 0.0)])
    assert math.isnan(reading.rating)
    assert (reading.no_answer, reading.off_labels) == (1.0, 0.0)


def test_impossible_tokens_of_a_constrained_server_count_as_nothing() -> None:
    # vLLM writes -9999 for what a constraint rules out
    reading = label_reading([("4", 0.0), ("3", -9999.0), ("The", -9999.0)])
    assert (reading.rating, reading.off_labels) == (4.0, 0.0)


@given(st.floats(0.01, 0.99), st.sampled_from(["1", "4"]))
def test_a_label_with_the_label_0_alone_beside_it_is_the_rating_itself(no_answer: float, label: str) -> None:
    assert label_reading(logged({"0": no_answer, label: 1 - no_answer})).rating == int(label)


@given(PROBABILITIES)
@example({"0": 1.0, "1": 1e-9, "a": 1.0})  # nearly everything is on the label 0
def test_a_rating_stays_on_the_scale_and_shares_between_0_and_1(weights: dict[str, float]) -> None:
    total = sum(weights.values())
    reading = label_reading(logged({token: weight / total for token, weight in weights.items()}))
    assert 0 <= reading.off_labels <= 1
    assert math.isnan(reading.rating) or 1 <= reading.rating <= 4
    assert math.isnan(reading.no_answer) or 0 <= reading.no_answer <= 1


@given(PROBABILITIES)
def test_the_order_of_the_candidates_does_not_matter(weights: dict[str, float]) -> None:
    forwards, backwards = label_reading(logged(weights)), label_reading(logged(weights)[::-1])
    assert forwards.rating == pytest.approx(backwards.rating, nan_ok=True)
    assert forwards.off_labels == pytest.approx(backwards.off_labels)
