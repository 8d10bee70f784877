from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.engines.curiosity.explained import votes

from genie_inspect.engines.curiosity.explanations import EXPLANATIONS, Explanation
from genie_inspect.engines.curiosity.sentence_vectors import COEFFICIENTS, FittedVectors, VectorCuriosity
from genie_inspect.engines.curiosity.settings import VectorSettings
from genie_inspect.engines.curiosity.votes import ExplainedVote
from genie_inspect.errors import UnfittableError

LEARNED, OUT = votes(12)[:16], votes(12)[16:]


@pytest.fixture(scope="module")
def fitted() -> dict[Explanation, FittedVectors]:
    return {reading: VectorCuriosity(reading, VectorSettings(penalty=0.01)).fit(LEARNED) for reading in EXPLANATIONS}


def with_other(votes: Sequence[ExplainedVote], **changes: str | bool | None) -> list[ExplainedVote]:
    return [replace(vote, **changes) for vote in votes]  # type: ignore[arg-type]


def test_read_explanations_give_the_verdict_away(fitted: dict[Explanation, FittedVectors]) -> None:
    chances = fitted["held-out"].probabilities(OUT)
    assert [chance >= 0.5 for chance in chances] == [vote.verdict for vote in OUT]
    swapped = fitted["held-out"].probabilities(with_other(OUT, explanation="I found the voice flat and predictable"))
    assert (swapped < 0.5).all()


def test_without_the_explanation_nothing_held_out_is_read(fitted: dict[Explanation, FittedVectors]) -> None:
    chances = fitted["none"].probabilities(OUT)
    for changed in (with_other(OUT, explanation="fresh"), with_other(OUT, explanation=None)):
        assert fitted["none"].probabilities(changed).tolist() == chances.tolist()


@pytest.mark.parametrize("reading", EXPLANATIONS)
def test_the_held_out_verdict_is_not_looked_at(fitted: dict[Explanation, FittedVectors], reading: Explanation) -> None:
    for verdict in (True, False):
        same = fitted[reading].probabilities(with_other(OUT, verdict=verdict))
        assert same.tolist() == fitted[reading].probabilities(OUT).tolist()


@pytest.mark.parametrize("reading", EXPLANATIONS)
def test_the_rater_counts_by_the_curiosity(fitted: dict[Explanation, FittedVectors], reading: Explanation) -> None:
    ann, bob = (fitted[reading].probabilities(with_other(OUT, rater=rater)) for rater in ("ann", "bob"))
    assert not np.allclose(ann, bob)


def test_the_classifier_reads_no_rater_beside_the_curiosity(fitted: dict[Explanation, FittedVectors]) -> None:
    # 128 of the story, 128 of the question; 128 of the curiosity and one for each rater
    assert fitted["none"].inputs(OUT).shape == (8, 128 + 128 + 128 + 2)


def test_a_rater_who_was_not_learned_from_counts_as_none_of_them(fitted: dict[Explanation, FittedVectors]) -> None:
    chances = fitted["none"].probabilities(with_other(OUT, rater="cy"))
    assert ((chances > 0) & (chances < 1)).all()
    assert chances.tolist() == fitted["none"].probabilities(with_other(OUT, rater="dee")).tolist()


def test_an_inverse_vector_has_length_one_and_lambda_weighs_the_raters() -> None:
    lengths, shares = [], []
    for weight in (0, 1, 3):
        model = VectorCuriosity("none", VectorSettings(rater_weight=weight))
        rows = model.inverse(model.fit(LEARNED).tell, LEARNED)
        lengths += np.linalg.norm(rows, axis=1).tolist()
        shares.append(float((rows[:, -2:] ** 2).sum()))
    assert lengths == pytest.approx([1] * len(lengths))
    assert shares[0] == 0 < shares[1] < shares[2]


def test_the_forward_model_comes_near_the_inverse_model(fitted: dict[Explanation, FittedVectors]) -> None:
    one = fitted["held-out"]
    forward, inverse = one.forward(one.model.texts(LEARNED, one.raters)), one.model.inverse(one.tell, LEARNED)
    cosines = (forward * inverse).sum(axis=1) / np.linalg.norm(forward, axis=1)
    assert cosines.mean() > 0.9


def test_held_out_without_an_explanation_is_refused(fitted: dict[Explanation, FittedVectors]) -> None:
    with pytest.raises(UnfittableError, match="8 of 8 votes have no explanation"):
        fitted["held-out"].probabilities(with_other(OUT, explanation=None))


def test_what_is_saved_are_numbers_and_names_of_arrays(
    fitted: dict[Explanation, FittedVectors], tmp_path: Path
) -> None:
    fitted["held-out"].save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [COEFFICIENTS]
    with np.load(tmp_path / COEFFICIENTS, allow_pickle=False) as arrays:
        kept = {name: arrays[name] for name in arrays.files}
    assert {array.dtype.kind for array in kept.values()} == {"f"}
    assert kept["verdict_weights"].tolist() == fitted["held-out"].classifier.weights.tolist()
    assert kept["rater_means"].shape == (3, 130)  # two raters and everybody


def test_it_is_named_after_its_embedder() -> None:
    model = VectorCuriosity("none")
    assert model.name.startswith("vectors(static@")
    assert model.settings_used() == {"rater_weight": 1, "ridge": 1, "penalty": 1}
