"""Judges that compare vectors: no model at all, and a fit to ratings on record."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.scripted import Asked

from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import FitError
from genie_inspect.graders.embedding_judge import (
    NO_VECTOR,
    SHIPPED,
    EmbeddingJudge,
    FeatureFit,
    VectorFit,
    embedding_judge,
    read_fit,
    shipped_fit,
)
from genie_inspect.graders.offline_judge import (
    ANCHORS,
    OfflineJudge,
    OfflineReader,
    PronounAnswer,
    attended,
    pronoun_answer,
)
from genie_inspect.graders.protocols import Answer
from genie_inspect.measures.genie import question_novelty
from genie_inspect.populations.population import open_population

STARTER = open_population("starter")
WORDS = {feature.name: feature.words for feature in STARTER.features}
PROMPT = STARTER.prompts[0]
DOCUMENTS = [document.text for document in STARTER.documents(PROMPT)]
QUESTIONS = STARTER.questions(PROMPT)

FIRST_PERSON = "I walked to the harbour. My brother waited for me. We took our boat and I rowed."
THIRD_PERSON = "She walked to the harbour. Her brother waited for her. They took their boat and she rowed."
PERSPECTIVE = Asked("Who tells the story?", "perspective")
PLOT = Asked("What problem does the main character face?", "plot")


class Letters:
    """An embedder that counts letters: small, deterministic, and not the one that ships."""

    name = "letters"
    identity = "letters@1"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        counts = np.array([[text.lower().count(letter) + 0.01 for letter in "aeiounrst"] for text in texts])
        unit: NDArray[np.float64] = counts / np.linalg.norm(counts, axis=1, keepdims=True)
        return unit


async def directions(texts: Sequence[str], question: Asked) -> list[Answer]:
    reader = OfflineReader(embedder(), WORDS)
    found = [(await reader.read(text, [question])).answers[0] for text in texts]
    return [answer for answer in found if answer]


async def test_an_identical_document_rates_4_on_every_question_and_no_other_document_more() -> None:
    reader, judge = OfflineReader(embedder(), WORDS), OfflineJudge(embedder())
    readings = [await reader.read(text, QUESTIONS) for text in DOCUMENTS]
    again = await reader.read(DOCUMENTS[0], QUESTIONS)
    for index, question in enumerate(QUESTIONS):
        answer = again.answers[index]
        assert answer is not None, f"a story of {len(DOCUMENTS[0])} characters has sentences and pronouns"
        others = [reading.answers[index] for reading in readings]
        rated = await judge.rate(question, answer, [other for other in others if other])
        assert rated.ratings[0] == 4.0
        assert all(rating is not None and 1 <= rating <= 4 for rating in rated.ratings)
        assert rated.faults == {}


async def test_first_and_third_person_are_far_apart_and_each_is_near_its_kind() -> None:
    first, third, more = await directions(
        [FIRST_PERSON, THIRD_PERSON, "He lost his dog. It found him again."], PERSPECTIVE
    )
    rated = await OfflineJudge(embedder()).rate(PERSPECTIVE, third, [first, more])
    # no pronoun of the one is first person, every pronoun of the other is: a right angle, cosine 0, rating 1
    assert rated.ratings == pytest.approx((1.0, 4.0))


@pytest.mark.parametrize(
    ("words", "by_pronouns"), [(["I", "she"], True), (["I", "we"], False), (["he", "they"], False)]
)
async def test_pronouns_answer_for_a_feature_whose_words_hold_both_persons(words: list[str], by_pronouns: bool) -> None:
    reading = await OfflineReader(Letters(), {"perspective": words}).read(THIRD_PERSON, [PERSPECTIVE])
    assert isinstance(reading.answers[0], PronounAnswer) == by_pronouns


async def test_the_anchor_of_other_features_does_not_move_ratings_by_pronouns() -> None:
    mixed, all_third = pronoun_answer("I saw her."), pronoun_answer("She saw him.")
    assert mixed is not None
    assert all_third is not None
    rated = await OfflineJudge(embedder(), {"perspective": 0.5}).rate(PERSPECTIVE, mixed, [all_third])
    # 45 degrees apart: 1 + 3 sqrt(1/2)
    assert rated.ratings == pytest.approx((1 + 3 * math.sqrt(0.5),))


@pytest.mark.parametrize(
    ("text", "share", "direction"),
    [
        ("She left.", "0%", [1, 0]),
        ("I left.", "100%", [0, 1]),
        ("I saw her.", "50%", [math.sqrt(0.5), math.sqrt(0.5)]),  # half way between the two: 45 degrees
        ("“I am late, and my train is gone,” said the man. He sighed.", "0%", [1, 0]),  # quoted speech does not count
        ("“I left my hat. He came.", "67%", [0.5, math.sqrt(0.75)]),  # I, my and he: a quote that is never closed
    ],
)
def test_pronouns_are_a_direction_from_third_person_to_first(text: str, share: str, direction: list[float]) -> None:
    said = pronoun_answer(text)
    assert said is not None
    assert said.text == f"{share} of its pronouns are first person"
    assert said.vector is not None
    assert said.vector.tolist() == pytest.approx(direction)
    assert pronoun_answer("Snow on the tracks. Silence.") is None


async def test_a_document_without_words_has_no_answers() -> None:
    for nothing in ("", "* * *"):
        assert (await OfflineReader(embedder(), WORDS).read(nothing, [PLOT, PERSPECTIVE])).answers == (None, None)


async def test_a_question_on_the_ending_looks_at_the_last_three_sentences_or_at_the_only_one() -> None:
    reader, questions = OfflineReader(embedder(), WORDS), [PLOT, Asked("What is the ending?", "plot")]
    reading = await reader.read("The owl waits on the runway.", questions)
    assert [answer.text for answer in reading.answers if answer] == ["The owl waits on the runway."] * 2
    story = "The ending was near. One. Two. Three birds sang. The king slept. A door closed."
    (answer,) = (await reader.read(story, questions[1:])).answers
    assert answer is not None
    assert answer.text in {"Three birds sang.", "The king slept.", "A door closed."}


async def test_where_all_others_agree_the_same_answer_still_rates_4() -> None:
    # three equal directions: their median cosine, the anchor, is 1, and nothing is left to stretch
    same, same_again, once_more, other = await directions(
        [DOCUMENTS[0], DOCUMENTS[0], DOCUMENTS[0], DOCUMENTS[1]], PLOT
    )
    judge = OfflineJudge(embedder(), anchors={})
    assert (await judge.rate(PLOT, same, [same_again, once_more])).ratings == (4.0, 4.0)
    assert (await judge.rate(PLOT, other, [same_again, once_more])).ratings == (1.0, 1.0)


async def test_the_anchor_is_rating_1_and_half_way_to_identity_is_half_the_scale() -> None:
    answer = Answer("x", np.array([1.0, 0.0]))
    others = [Answer("y", np.array([cosine, math.sqrt(1 - cosine**2)])) for cosine in (0.2, 0.4, 0.7, 1.0)]
    rated = await OfflineJudge(embedder(), anchors={"plot": 0.4}).rate(PLOT, answer, others)
    # below the anchor 1; at it 1; (0.7 - 0.4) / (1 - 0.4) = 0.5 -> 1 + 3 * 0.5; identity 4
    assert rated.ratings == pytest.approx((1.0, 1.0, 2.5, 4.0))


@pytest.mark.parametrize(("anchor", "rating"), [(0.2, 2.5), (0.0, 2.8)])
async def test_an_anchor_of_the_question_also_of_0_goes_before_that_of_its_feature(
    anchor: float, rating: float
) -> None:
    answer, other = Answer("x", np.array([1.0, 0.0])), Answer("y", np.array([0.6, 0.8]))
    judge = OfflineJudge(embedder(), anchors={"plot": 0.6, PLOT.text: anchor})
    # (0.6 - 0.2) / (1 - 0.2) = 0.5; 1 + 3 * 0.6
    assert (await judge.rate(PLOT, answer, [other])).ratings == pytest.approx((rating,))


async def test_without_an_anchor_one_other_answer_is_too_few() -> None:
    answer = Answer("x", np.array([1.0, 0.0]))
    assert (await OfflineJudge(Letters()).rate(PLOT, answer, [])).ratings == ()
    rated = await OfflineJudge(Letters()).rate(PLOT, answer, [answer])
    assert rated.ratings == (None,)
    assert rated.faults == {0: "no anchor: too few answers"}


async def test_another_embedder_has_no_anchors_on_record_and_says_that_it_uses_its_own() -> None:
    judge, reader = OfflineJudge(Letters()), OfflineReader(Letters(), WORDS)
    assert judge.signature == "offline(letters@1,anchors=own)"
    answers = [(await reader.read(text, [PLOT])).answers[0] for text in DOCUMENTS]
    first, *others = [answer for answer in answers if answer]
    rated = await judge.rate(PLOT, first, others)
    # cosines spread around their own median, so that not all ratings are at one end
    assert len(set(rated.ratings)) > 1


async def test_answers_of_a_reading_model_are_refused_because_they_have_no_direction() -> None:
    with pytest.raises(ValueError, match="needs the offline reader"):
        await OfflineJudge(embedder()).rate(PLOT, Answer("in the rain"), [Answer("at sea")])


def test_the_anchors_that_ship_are_cosines_of_questions_or_features_of_the_starter_population_as_it_ships() -> None:
    recorded = json.loads(ANCHORS.read_text(encoding="utf-8"))
    known = {question.text for prompt in STARTER.prompts for question in STARTER.questions(prompt)} | WORDS.keys()
    assert recorded["population"] == STARTER.name
    assert recorded["anchors"].keys() <= known
    assert all(0 <= anchor < 1 for anchor in recorded["anchors"].values())
    shipped = OfflineJudge(embedder())
    assert shipped.anchors == recorded["anchors"]
    assert shipped.signature == f"offline({embedder().identity},anchors=starter)"
    assert OfflineJudge(embedder(), anchors={}).signature == f"offline({embedder().identity},anchors=own)"


async def test_a_question_stands_beside_its_features_words_and_one_of_another_feature_alone() -> None:
    class Heard(Letters):
        texts: list[Sequence[str]] = []  # noqa: RUF012  # one test's

        def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
            self.texts.append(texts)
            return super().embed(texts)

    words = {"plot": ("happens", "ending")}
    await OfflineReader(Heard(), words).read("It rained.", [PLOT, Asked("In what tone?", "style")])
    assert Heard.texts[-1] == [f"{PLOT.text} happens ending", "In what tone?"]


def test_the_words_of_a_direction_are_those_of_the_sentence_that_weighs_most() -> None:
    vectors, query = np.eye(3), np.array([0.0, 0.6, 0.8])
    found = attended(["x", "y", "z"], vectors, query, ending=False)
    assert found is not None
    assert found.text == "z"
    assert found.vector is not None
    # weights e^0, e^6 and e^8, at length 1
    weights = np.exp([0.0, 6.0, 8.0])
    assert found.vector.tolist() == pytest.approx((weights / np.linalg.norm(weights)).tolist())
    four = attended(list("wxyz"), np.eye(4), np.array([1.0, 0, 0, 0.5]), ending=True)
    assert four is not None
    assert four.text == "z", "of the last three"


def changed(folder: Path, **parts: Any) -> Path:
    """The fit that ships with other values, in a file of its own."""
    facts = json.loads(SHIPPED.read_text(encoding="utf-8")) | parts
    (folder / "fit.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder / "fit.json"


def pooled(**parts: Any) -> dict[str, Any]:
    return dict(json.loads(SHIPPED.read_text(encoding="utf-8"))["pooled"], **parts)


def test_the_fit_that_ships_is_of_the_starter_population_as_it_ships() -> None:
    fit = shipped_fit()
    assert fit.population == STARTER.name  # else run tools/measure_embedding_fit.py
    assert fit.embedder == embedder().identity
    assert set(fit.features) == {feature.name for feature in STARTER.features}
    assert fit.pooled.pairs == sum(part.pairs for part in fit.features.values())
    assert 0.2 < (fit.pooled.kendall or 0) < (fit.pooled.spearman or 0) < 0.9, "better than chance, and no reader"


def test_the_nearer_the_vectors_the_higher_the_rating() -> None:
    for feature in (*shipped_fit().features, "unheard of"):
        ratings = [shipped_fit().rating(feature, cosine / 10) for cosine in range(-10, 11)]
        assert ratings == sorted(ratings)
        assert 1 <= ratings[0] < ratings[-1] <= 4


def test_a_fit_of_the_users_is_read_and_its_digest_tells_it_apart(tmp_path: Path) -> None:
    assert embedding_judge(embedder(), str(changed(tmp_path))).signature == embedding_judge(embedder()).signature
    assert read_fit(changed(tmp_path, raters=["me"])).digest != shipped_fit().digest


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"pooled": pooled(knots=[])}, "field pooled.knots"),
        ({"pooled": pooled(knots=[[0.2, 1.0], [0.1, 2.0]])}, "expected cosines that rise"),
        ({"pooled": pooled(knots=[[0.1, 2.0], [0.2, 1.0]])}, "ratings that do not fall"),
        ({"pooled": pooled(knots=[[0.1, 5.0]])}, "less than or equal to 4"),
        ({"pooled": pooled(spearman=2)}, "field pooled.spearman"),
        ({"knots": []}, "field knots"),
        ({"embedder": "letters@1"}, "was measured with letters@1"),
    ],
)
def test_a_file_that_is_no_fit_for_the_embedder_is_one_line_that_names_it(
    parts: dict[str, Any], named: str, tmp_path: Path
) -> None:
    file = changed(tmp_path, **parts)
    with pytest.raises(FitError) as caught:
        embedding_judge(embedder(), str(file))
    assert named in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_says_what_would_write_it_and_one_of_no_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FitError, match=r"nowhere\.json cannot be read: No such file .*--fit-embedding"):
        embedding_judge(embedder(), str(tmp_path / "nowhere.json"))
    (tmp_path / "fit.json").write_text("fit", encoding="utf-8")
    with pytest.raises(FitError, match=r"fit\.json: Invalid JSON"):
        read_fit(tmp_path / "fit.json")


VECTORS_PLOT, MOOD = Asked("What is lost?", "plot"), Asked("What is the mood?", "mood")
DEGREES = {"a": 0, "b": 60, "c": 90}


@dataclass
class Angles:
    """An embedder of single letters, each at its angle; of anything else it knows nothing."""

    name: str = "angles"
    identity: str = "angles@1"
    embedded: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.embedded += texts
        return np.array([self._vector(text) for text in texts]) if texts else np.zeros((0, 0))

    def _vector(self, text: str) -> tuple[float, float]:
        angle = math.radians(DEGREES.get(text, 0))
        return (math.cos(angle), math.sin(angle)) if text in DEGREES else (0.0, 0.0)


def line(*knots: tuple[float, float]) -> FeatureFit:
    return FeatureFit(pairs=40, knots=knots, answers=9, spearman=0.614, kendall=None)


FIT = VectorFit(
    embedder="angles@1",
    population="small",
    raters=("people",),
    features={"plot": line((0.0, 1.0), (1.0, 4.0))},
    pooled=line((0.0, 2.0), (1.0, 2.0)),
)


def answers(*texts: str) -> list[Answer]:
    return [Answer(text) for text in texts]


async def test_a_rating_is_what_the_features_line_says_of_the_cosine() -> None:
    rated = await EmbeddingJudge(Angles(), FIT).rate(VECTORS_PLOT, Answer("a"), answers("b", "c"))
    # cos 60 = 0.5, halfway from 1 to 4; cos 90 = 0
    assert rated.ratings == pytest.approx((2.5, 1.0))
    assert rated.faults == {}
    assert question_novelty(rated.ratings) == pytest.approx(0.75)


async def test_equal_answers_are_interchangeable_without_any_vector() -> None:
    engine = Angles()
    rated = await EmbeddingJudge(engine, FIT).rate(VECTORS_PLOT, Answer("The owl"), answers("the  owl.", "The owl"))
    assert rated.ratings == (4.0, 4.0)
    assert engine.embedded == []


async def test_an_answer_without_a_vector_has_no_rating_and_a_reason() -> None:
    judge = EmbeddingJudge(Angles(), FIT)
    rated = await judge.rate(VECTORS_PLOT, Answer("a"), answers("?", "b"))
    assert rated.ratings[0] is None
    assert rated.faults == {0: NO_VECTOR}
    assert (await judge.rate(VECTORS_PLOT, Answer("?"), answers("a", "?"))).ratings == (None, 4.0)
    assert (await judge.rate(VECTORS_PLOT, Answer("a"), [])).ratings == ()


async def test_a_feature_that_the_fit_does_not_know_is_judged_by_the_line_over_all_and_named() -> None:
    judge = EmbeddingJudge(Angles(), FIT, ["plot", "pace", "mood"])
    assert (await judge.rate(MOOD, Answer("a"), answers("b"))).ratings == (2.0,)
    assert judge.signature == f"embedding(angles@1,fit={FIT.digest},spearman=0.61,kendall=not defined,pooled=mood+pace)"
    assert "pooled" not in EmbeddingJudge(Angles(), FIT, ["plot"]).signature


def test_an_embedder_without_a_fit_is_refused_with_the_way_to_one() -> None:
    with pytest.raises(FitError) as caught:
        embedding_judge(Angles())
    said = str(caught.value)
    assert "embedder is 'angles' (angles@1)" in said
    assert "genie calibrate --ratings ratings.jsonl --embedder angles --fit-embedding fit.json" in said
    assert "judge=embedding/fit.json" in said
    assert "\n" not in said
