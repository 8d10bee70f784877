"""The results of a document by question, from ratings made by hand."""

import math
from dataclasses import replace

import pytest
from tests.scorers.test_explanation import result as assessment_result
from tests.scripted import OWL

from genie_inspect.graders.protocols import Answer
from genie_inspect.measures import genie as measures
from genie_inspect.measures.genie import similarity
from genie_inspect.populations.schema import Document, Question
from genie_inspect.scorers import assessment
from genie_inspect.scorers.assessment import KEPT, Assessment, Compared, Neighbour, Others, QuestionResult, neighbours
from genie_inspect.scorers.explanation import evidence, explained, length_facts, notes_on


def test_among_fewer_and_fewer_documents_each_rating_stays_with_its_document() -> None:
    whole = replace(assessment_result("x", (1.0, 2.0, 4.0)), places=(0, 2, 3), unread=(1, 4))
    some = whole.among({2, 3, 4})
    assert (some.ratings, some.places, some.unread, some.others) == ((2.0, 4.0), (2, 3), (4,), whole.others[1:])
    assert (some.among({3}).ratings, some.among({3}).places) == ((4.0,), (3,))


def test_no_probability_off_the_labels_counts_in_the_mean_too() -> None:
    found = tuple(replace(assessment_result("x", (1,)), off_labels=mass) for mass in (0.0, 0.5, None))
    assert Assessment(found, 1, ()).off_labels() == 0.25
    assert Assessment(found[2:], 1, ()).off_labels() is None


def test_a_rating_becomes_a_similarity_once_however_often_its_document_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rated: list[float | None] = []

    def counted(rating: float | None) -> float:
        rated.append(rating)
        return similarity(rating)

    monkeypatch.setattr(measures, "similarity", counted)
    monkeypatch.setattr(assessment, "similarity", counted)
    ratings = (4, 3, 2, 1, None)
    one = replace(assessment_result("x", ratings), places=tuple(range(5)))
    found, features = Assessment((one,) * 3 + (replace(one),) * 2, 5, (), lengths=(10, 10, 12, 40, 10)), ["plot"]
    explained(found, features, notes_on(found))
    evidence(found, features, length=length_facts(found, features))
    # five places, two objects: the same question three times is looked at once
    assert len(rated) == 2 * len(ratings)
    # against the three of 10 and 12 words alone: similarities 1, 2/3 and 1/3, one of four lost
    assert length_facts(found, features) == {"population": 10, "matched": {"plot": pytest.approx(1 / 3)}}


def result(**ratings: tuple[float | None, ...]) -> QuestionResult:
    """A question whose population gave each answer once a rating."""
    pairs = [(Answer(text), rating) for text, given in ratings.items() for rating in given]
    question = Question(id="q-1", prompt="p", feature="plot", text="What happens?")
    return QuestionResult(question, Answer("x"), tuple(a for a, _ in pairs), tuple(r for _, r in pairs), ())


def test_the_answer_rated_most_alike_is_first_and_of_equals_the_one_that_more_documents_gave() -> None:
    found = neighbours(result(rain=(1,), snow=(2,), hail=(2, 2), fog=(3,)), most=3)
    assert found == (Neighbour("fog", 3, 1), Neighbour("hail", 2, 2), Neighbour("snow", 2, 1))


def test_answers_that_differ_in_case_and_end_punctuation_are_one_answer_in_the_first_spelling() -> None:
    assert neighbours(result(Rain=(2,), **{"rain.": (2,)})) == (Neighbour("Rain", 2, 2),)


def test_an_answer_that_several_documents_gave_is_as_near_as_its_highest_rating() -> None:
    first, last = result(rain=(1, 3), snow=(2,)), result(rain=(3, 1), snow=(2,))
    assert neighbours(first) == neighbours(last) == (Neighbour("rain", 3, 2), Neighbour("snow", 2, 1))


def test_answers_without_a_usable_rating_are_nobodys_neighbours() -> None:
    assert neighbours(result(rain=(None,), snow=(0,))) == ()


def test_of_answers_as_near_and_as_common_the_first_is_first_and_three_are_shown() -> None:
    found = neighbours(result(snow=(2,), hail=(2,), rain=(2,), fog=(2,)))
    assert [other.text for other in found] == ["snow", "hail", "rain"]


def document(name: str, text: str) -> Document:
    return Document(id=name, prompt=OWL, text=text)


GREY, WHITE, AGAIN = document("d-3", "Grey owl."), document("d-1", "White owl."), document("d-2", "Grey\n owl. ")


def test_a_text_is_compared_with_all_documents_in_their_order() -> None:
    assert Others([GREY, WHITE, AGAIN]).than("Old owl.") == Compared((GREY, WHITE, AGAIN), ())


def test_every_document_that_is_the_text_itself_but_for_spacing_is_left_out() -> None:
    assert Others([GREY, WHITE, AGAIN]).than("  Grey owl.") == Compared((WHITE,), ("d-3", "d-2"))


def test_without_documents_there_is_nothing_to_compare_with() -> None:
    assert Others([]).than("Grey owl.") == Compared((), ())


def test_the_text_of_which_one_was_made_is_left_out_beside_the_text_itself() -> None:
    others = Others([GREY, WHITE, AGAIN]).than(WHITE.text, "Grey  owl.")
    assert others == Compared((), (WHITE.id,), (GREY.id, AGAIN.id))
    assert others.left_out == (WHITE.id, GREY.id, AGAIN.id)


def test_a_text_made_of_itself_is_left_out_once() -> None:
    assert Others([GREY, WHITE]).than(WHITE.text, WHITE.text) == Compared((GREY,), (WHITE.id,))


def test_the_original_alone_is_left_out_where_the_text_is_none_of_the_documents() -> None:
    assert Others([GREY, WHITE]).than("Old owl.", WHITE.text) == Compared((GREY,), (), (WHITE.id,))


def test_documents_have_the_length_of_the_middle_one_and_none_without_any() -> None:
    long = document("d-4", "An owl " * 10)
    assert Compared((GREY, WHITE, long)).words == 2
    assert math.isnan(Compared(()).words)
    assert KEPT == 64
