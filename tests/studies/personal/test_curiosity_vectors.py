import numpy as np
import pytest
from scipy.special import softmax
from tests.studies.personal.made import changed, votes, with_other

from genie_inspect.errors import UnfittableError, UnknownChoiceError
from genie_inspect.studies.personal.curiosity_vectors import (
    EXPLANATIONS,
    ExplainedVote,
    Explanation,
    LoraSettings,
    RaterMeans,
    VectorCuriosity,
    VectorSettings,
    linear,
    ridge,
    settings_of,
    softmax_regression,
)

LEARNED, OUT = votes(12)[:16], votes(12)[16:]


@pytest.fixture(scope="module")
def fitted() -> dict[Explanation, VectorCuriosity]:
    return {reading: VectorCuriosity(reading, VectorSettings(penalty=0.01)).fit(LEARNED) for reading in EXPLANATIONS}


def test_read_explanations_give_the_verdict_away(fitted: dict[Explanation, VectorCuriosity]) -> None:
    chances = fitted["held-out"].probabilities(OUT)
    assert [chance >= 0.5 for chance in chances] == [vote.verdict for vote in OUT]
    swapped = fitted["held-out"].probabilities(with_other(OUT, explanation="I found the voice flat and predictable"))
    assert (swapped < 0.5).all()
    with pytest.raises(UnfittableError, match="8 of 8 votes have no explanation"):
        fitted["held-out"].probabilities(with_other(OUT, explanation=None))


def test_without_the_explanation_nothing_held_out_is_read(fitted: dict[Explanation, VectorCuriosity]) -> None:
    chances = fitted["none"].probabilities(OUT)
    for other in (with_other(OUT, explanation="fresh"), with_other(OUT, explanation=None)):
        assert fitted["none"].probabilities(other).tolist() == chances.tolist()


@pytest.mark.parametrize("reading", EXPLANATIONS)
def test_the_rater_counts_and_the_held_out_verdict_is_not_looked_at(
    fitted: dict[Explanation, VectorCuriosity], reading: Explanation
) -> None:
    chances = fitted[reading].probabilities
    for verdict in (True, False):
        assert chances(with_other(OUT, verdict=verdict)).tolist() == chances(OUT).tolist()
    assert not np.allclose(chances(with_other(OUT, rater="ann")), chances(with_other(OUT, rater="bob")))
    # that is by the curiosity alone: 128 of the story, 128 of the question; 128 of the curiosity and one for each rater
    assert fitted[reading].inputs(OUT).shape == (8, 128 + 128 + 128 + 2)


def test_a_rater_who_was_not_learned_from_counts_as_none_of_them(fitted: dict[Explanation, VectorCuriosity]) -> None:
    chances = fitted["none"].probabilities(with_other(OUT, rater="cy"))
    assert ((chances > 0) & (chances < 1)).all()
    assert chances.tolist() == fitted["none"].probabilities(with_other(OUT, rater="dee")).tolist()


def test_an_inverse_vector_has_length_one_and_lambda_weighs_the_raters() -> None:
    lengths, shares = [], []
    for weight in (0, 1, 3):
        rows = VectorCuriosity("none", VectorSettings(rater_weight=weight)).fit(LEARNED).inverse(LEARNED)
        lengths += np.linalg.norm(rows, axis=1).tolist()
        shares.append(float((rows[:, -2:] ** 2).sum()))
    assert lengths == pytest.approx([1] * len(lengths))
    assert shares[0] == 0 < shares[1] < shares[2]


def test_the_forward_model_comes_near_the_inverse_model(fitted: dict[Explanation, VectorCuriosity]) -> None:
    one = fitted["held-out"]
    forward, inverse = linear(one.texts(LEARNED, one.raters), one.forward), one.inverse(LEARNED)
    cosines = (forward * inverse).sum(axis=1) / np.linalg.norm(forward, axis=1)
    assert cosines.mean() > 0.9


ROWS = np.random.default_rng(0).normal(size=(40, 3))


def test_ridge_by_hand() -> None:
    # x - mean = -1, 1; y - mean = -2, 2: weight = (2 + 2) / (2 + 2) = 1 with penalty 2; intercept 4 - 1 * 2
    found = ridge(np.array([[1.0], [3.0]]), np.array([[2.0], [6.0]]), penalty=2)
    assert found.tolist() == [[1], [2]]
    assert linear(np.array([[5.0]]), found).tolist() == [[7]]


def test_three_classes_as_scikit_learn_finds_them() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="needs the extra `discovery`")
    labels = np.digitize(ROWS[:, 1] + np.random.default_rng(1).normal(size=40), [-0.5, 0.5])
    found = softmax_regression(ROWS, np.eye(3)[labels], penalty=2)
    other = linear_model.LogisticRegression(C=1 / 2, tol=1e-10).fit(ROWS, labels)
    assert softmax(linear(ROWS, found), axis=1) == pytest.approx(other.predict_proba(ROWS), abs=1e-3)


def test_the_intercept_bears_no_penalty() -> None:
    labels = np.array([[1.0, 0]] * 3 + [[0, 1.0]])
    found = softmax_regression(np.zeros((4, 1)), labels, penalty=1e6)
    assert softmax(linear(np.zeros((1, 1)), found), axis=1)[0] == pytest.approx([0.75, 0.25], abs=1e-4)


def test_a_rater_stands_for_the_mean_of_what_was_learned_from() -> None:
    ann, bob, again, *_ = votes()
    means = RaterMeans([ann, bob, again], np.array([[0, 1], [6, 6], [2, 5]]))
    # ann: (0 + 2) / 2, (1 + 5) / 2; a stranger is everybody: 8 / 3, 12 / 3
    assert means.rows([bob, ann, changed(ann, rater="cy")]).tolist() == [[6, 6], [1, 3], [8 / 3, 4]]


GIVEN = votes()
PARTLY = [changed(GIVEN[0], explanation=None), *GIVEN[1:]]


@pytest.mark.parametrize(
    ("given", "reading", "said"),
    [
        (PARTLY, "held-out", "1 of 12 votes have no explanation, expected one each with explanation=h"),
        (votes(explained=False), "none", "none of 12 votes has an explanation"),
        (GIVEN[::2], "none", "all explanations are by rater 'ann', expected at least two raters"),
        ([changed(vote, verdict=True) for vote in GIVEN], "none", "among 12 votes to learn from there is no 'no'"),
        ([changed(vote, verdict=False) for vote in GIVEN], "none", "among 12 votes to learn from there is no 'yes'"),
    ],
)
def test_votes_that_teach_nothing_are_refused(given: list[ExplainedVote], reading: Explanation, said: str) -> None:
    with pytest.raises(UnfittableError, match=said):
        VectorCuriosity(reading).fit(given)


def test_the_settings_that_the_study_states_are_the_defaults() -> None:
    stated = {"rater_weight": 1, "rank": 16, "alpha": 32, "dropout": 0.1, "epochs": 3, "batch": 4}
    stated |= {"accumulation": 8, "length": 4096, "warmup": 0.1}
    settings = LoraSettings().model_dump()
    assert {name: settings[name] for name in stated} == stated
    assert set(settings) - set(stated) == {"learning_rate", "width", "clip", "seed"}


@pytest.mark.parametrize(
    ("kind", "pair", "said"),
    [
        *((VectorSettings, pair, f"'{pair}', expected a value") for pair in ("ridge=0", "ridge=much", "penalty=-1")),
        (VectorSettings, "ridge", "'ridge', expected a value in range"),
        # the cosine of two numbers has no gradient
        (LoraSettings, "width=1", "width"),
    ],
)
def test_a_value_out_of_range_is_refused(kind: type[LoraSettings], pair: str, said: str) -> None:
    with pytest.raises(UnknownChoiceError, match=f"setting is .*{said}"):
        settings_of(kind, [pair])
