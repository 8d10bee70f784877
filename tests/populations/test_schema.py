import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from genie_inspect.errors import PopulationError
from genie_inspect.populations.schema import (
    AnswerRow,
    Document,
    Feature,
    Question,
    document_id,
    file_digest,
    placed_rows,
    question_id,
    rows,
    write_rows,
)

DOCUMENT = {"id": "d", "prompt": "p", "text": "t"}
ANSWER = {"document": "d", "question": "q", "reader": "r", "text": None}


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        *((Document, DOCUMENT | {"text": text}, "text") for text in ("", " ", "\n\t")),
        (Document, DOCUMENT | {"modle": "x"}, "modle"),
        (Document, DOCUMENT | {"cut_words": 0}, "cut_words"),
        (AnswerRow, ANSWER | {"text": ""}, "text"),
        # an answer must say that it is null
        (AnswerRow, {"document": "d", "question": "q", "reader": "r"}, "Field required"),
        # a feature is named as a column can be
        *(
            (Feature, {"name": name, "definition": "What happens."}, "name")
            for name in ("", "Plot", "plot twist", "1st", "_plot", "plot\n", "x" * 41, "a|b")
        ),
    ],
)
def test_a_row_that_is_none_is_refused(kind: type[BaseModel], row: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        kind.model_validate(row)


def test_a_row_stays_as_it_is_with_the_spaces_around_its_text() -> None:
    assert Document.model_validate(DOCUMENT | {"text": " The end.\n"}).text == " The end.\n"
    assert AnswerRow.model_validate(ANSWER).text is None
    question = Question(id="q", prompt="p", feature="plot", text="What happens?")
    with pytest.raises(ValidationError, match="frozen"):
        question.text = "Why?"
    # how much was cut stands there only where something was
    whole = Document.model_validate(DOCUMENT)
    assert "cut_words" not in whole.model_dump() | json.loads(whole.model_dump_json())
    cut = whole.model_copy(update={"cut_words": 3})
    assert Document.model_validate_json(cut.model_dump_json()) == cut


@given(st.tuples(st.text(), st.text()), st.tuples(st.text(), st.text()))
def test_ids_are_equal_exactly_when_prompt_and_text_are(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (document_id(*one) == document_id(*other)) == (one == other)
    # they say what they are of
    assert document_id(*one).startswith("d-")
    assert question_id(*one) == "q-" + document_id(*one).removeprefix("d-")


GOOD = b'{"id": "d1", "prompt": "p", "text": "t"}\n'


def document(number: int, size: int = 1) -> Document:
    return Document(id=f"d{number}", prompt="p", text="t" * size)


BAD_LINES = {
    "no JSON": (b"once upon a time\n", r"line 3: Invalid JSON"),
    "cut off": (GOOD[:20], r"line 3: Invalid JSON"),
    "not UTF-8": (b'{"id": "d2", "prompt": "p", "text": "caf\xe9"}\n', r"line 3: Invalid JSON: invalid unicode"),
    "a list": (b'["d2", "p", "t"]\n', r"line 3: Input should be an object"),
    "null": (b"null\n", r"line 3: Input should be an object"),
    "a missing field": (b'{"id": "d2", "prompt": "p"}\n', r"line 3, field text: Field required"),
    "an unknown field": (GOOD[:-2] + b', "modle": "x"}\n', r"line 3, field modle: .* \(got 'x'\)"),
    "a wrong type": (b'{"id": "d2", "prompt": 7, "text": "t"}\n', r"line 3, field prompt: .* \(got '7'\)"),
    "an empty text": (b'{"id": "d2", "prompt": "p", "text": ""}\n', r"line 3, field text: .* \(got ''\)"),
}


@pytest.mark.parametrize(("line", "message"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_named_with_file_line_and_field(line: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_bytes(GOOD + b"\n" + line)  # the empty line counts as a line
    with pytest.raises(PopulationError, match=rf"documents\.jsonl, {message}"):
        list(rows(path, Document))


def test_a_digest_is_sha_256_and_a_missing_file_and_a_folder_in_place_of_one_are_named(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match=r"documents\.jsonl does not exist, expected a file of document rows"):
        list(rows(tmp_path / "documents.jsonl", Document))
    with pytest.raises(PopulationError, match=r"documents\.jsonl does not exist"):
        file_digest(tmp_path / "documents.jsonl")
    with pytest.raises(PopulationError, match="cannot be read"):
        list(rows(tmp_path, Document))
    (tmp_path / "f").write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert file_digest(tmp_path / "f") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_empty_lines_are_passed_over_and_counted_and_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    windows = GOOD.replace(b"d1", b"d2").replace(b"\n", b"\r\n")
    (tmp_path / "d.jsonl").write_bytes(b"\n" + GOOD + b" \n\r\n" + windows + GOOD.replace(b"d1", b"d3").rstrip())
    found = [(line, row.id, row.text) for line, _, row in placed_rows(tmp_path / "d.jsonl", Document)]
    assert found == [(2, "d1", "t"), (5, "d2", "t"), (6, "d3", "t")]


@given(st.lists(st.text(min_size=1).filter(lambda text: text.strip())))
def test_any_texts_are_read_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("rows") / "d.jsonl"
    written = [Document(id="d", prompt="p", text=text) for text in texts]
    write_rows(path, written)
    assert list(rows(path, Document)) == written


def test_ten_megabytes_are_written_and_read_in_two(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    tracemalloc.start()
    write_rows(path, (document(number, size=10_000) for number in range(1_000)))
    assert sum(1 for _ in rows(path, Document)) == 1_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 10_000_000
    assert peak < 2_000_000
