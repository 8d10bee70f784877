import math

from tests.scripted import OWL

from genie_inspect.populations.schema import Document
from genie_inspect.scoring.compared import KEPT, Compared, Others


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
