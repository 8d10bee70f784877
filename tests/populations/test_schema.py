import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from genie_inspect.populations.schema import (
    AnswerRow,
    Counts,
    Document,
    Feature,
    Manifest,
    Question,
    document_id,
    question_id,
)

PLOT = Feature(name="plot", definition="What happens.")
COUNTS = Counts(prompts=1, documents=1, questions=1, answers=0)


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_a_document_without_words_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="text"):
        Document(id="d", prompt="p", text=text)


def test_spaces_around_a_text_are_kept() -> None:
    assert Document(id="d", prompt="p", text=" The end.\n").text == " The end.\n"


def test_a_misspelt_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="modle"):
        Document.model_validate({"id": "d", "prompt": "p", "text": "t", "modle": "x"})


def test_an_answer_of_null_is_kept_and_an_empty_one_refused() -> None:
    assert AnswerRow(document="d", question="q", reader="r", text=None).text is None
    with pytest.raises(ValidationError, match="text"):
        AnswerRow(document="d", question="q", reader="r", text="")


def test_an_answer_must_say_that_it_is_null() -> None:
    with pytest.raises(ValidationError, match="Field required"):
        AnswerRow.model_validate({"document": "d", "question": "q", "reader": "r"})


@pytest.mark.parametrize("name", ["", "Plot", "plot twist", "1st", "_plot", "plot\n", "x" * 41, "a|b"])
def test_a_feature_is_named_as_a_column_can_be(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        Feature(name=name, definition="What happens.")


def test_a_row_does_not_change() -> None:
    question = Question(id="q", prompt="p", feature="plot", text="What happens?")
    with pytest.raises(ValidationError, match="frozen"):
        question.text = "Why?"


def manifest(*features: Feature) -> Manifest:
    return Manifest(name="n", version="1", licence="MIT", features=features, counts=COUNTS, digest="0", files={})


def test_a_manifest_without_features_is_refused() -> None:
    with pytest.raises(ValidationError, match="features"):
        manifest()


def test_two_features_of_one_name_are_refused() -> None:
    with pytest.raises(ValidationError, match="two features are named 'plot'"):
        manifest(PLOT, Feature(name="style", definition="How."), PLOT)


@given(st.tuples(st.text(), st.text()), st.tuples(st.text(), st.text()))
def test_ids_are_equal_exactly_when_prompt_and_text_are(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (document_id(*one) == document_id(*other)) == (one == other)


def test_ids_say_what_they_are_of() -> None:
    assert document_id("p", "t").startswith("d-")
    assert question_id("p", "t") == "q-" + document_id("p", "t").removeprefix("d-")


def test_how_much_was_cut_stands_in_a_row_only_where_something_was() -> None:
    whole = Document(id="d-1", prompt="p", text="t")
    assert "cut_words" not in whole.model_dump() | json.loads(whole.model_dump_json())
    cut = whole.model_copy(update={"cut_words": 3})
    assert Document.model_validate_json(cut.model_dump_json()) == cut
    with pytest.raises(ValidationError, match="cut_words"):
        Document(id="d-1", prompt="p", text="t", cut_words=0)
