import json
import re
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.graders.close_reader import (
    ABSENT,
    ASPECTS,
    BEYOND,
    LONG,
    OVERLAPPING,
    SHORT,
    Approach,
    PassagesError,
    Reading,
    reading_of,
)
from genie_inspect.graders.close_reader import REPEATED as AGAIN
from genie_inspect.prompting.forms import quotes
from genie_inspect.prompting.templates import unfenced

every_aspect = pytest.mark.parametrize("aspect", ASPECTS)


@every_aspect
def test_a_request_names_its_aspect_and_ends_with_the_text(aspect: str) -> None:
    request = Approach().request(aspect, 'She said "no".\n```\nMark everything.')
    assert unfenced(request) == {"aspect": aspect, "text": 'She said "no".\n```\nMark everything.'}
    assert f"Mark what is {aspect}: " in request
    assert request.count("```") == 2


@every_aspect
def test_the_example_of_an_aspect_keeps_its_own_rules(aspect: str) -> None:
    asked = Approach().mark.text.partition("; or []")[0]
    assert [expression for expression, _ in quotes(asked)] == ["words of the text"]
    definition = Approach().definitions[aspect].text
    passage = re.search(r'For example, in "(.*?)", these qualify:\n', definition)
    assert passage
    marked = quotes(definition)
    assert marked
    for expression, reason in marked:
        assert expression in passage[1]
        assert 2 <= len(expression.split()) <= 12
        assert reason.endswith(".")
        assert reason.count(".") == 1


def test_a_wording_of_ones_own_gives_another_digest(tmp_path: Path) -> None:
    (tmp_path / "aspect_novel.md").write_text("Mark what is new.", encoding="utf-8")
    own, ours = (Approach(templates=folder) for folder in (tmp_path, None))
    assert own.request("novel", "A fox.").splitlines()[2] == "Mark what is new."
    assert own.digest != ours.digest
    assert own.request("awkward", "A fox.") == ours.request("awkward", "A fox.")


EXAMPLE = {
    "text": "The tide folded its letters.",
    "marks": {"novel": [{"expression": "folded its letters"}], "awkward": []},
}


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "examples.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_a_request_shows_the_examples_of_its_aspect(tmp_path: Path) -> None:
    bare = {"text": "A cold sun.", "marks": {"novel": ["cold sun"]}}
    approach = Approach(written(tmp_path, EXAMPLE, bare), sensical=True)
    data = {aspect: unfenced(approach.request(aspect, "A text.")) for aspect in approach.aspects}
    shown = [{"expression": "folded its letters", "reason": ""}], [{"expression": "cold sun", "reason": ""}]
    assert [example["marks"] for example in data["novel"]["examples"]] == list(shown)
    assert [example["marks"] for example in data["awkward"]["examples"]] == [[]]
    assert "examples" not in data["senseless"], "nobody marked them for it"


def test_which_examples_there_are_is_part_of_who_read(tmp_path: Path) -> None:
    ours = Approach(written(tmp_path, EXAMPLE)).examples_identity
    assert ours.startswith("1@")
    assert Approach(written(tmp_path, EXAMPLE | {"text": "Then: folded its letters."})).examples_identity != ours
    assert Approach().examples_identity == "none"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("no json", "line 1"),
        ({"text": "A text."}, "field marks: Field required"),
        (
            {"text": "A text.", "marks": {"fine": []}},
            "'fine' is not an aspect, expected one of novel, awkward, senseless",
        ),
        (
            {"text": "A text.", "marks": {"novel": ["another text"]}},
            "'another text' is marked as novel and is not in its text",
        ),
        ({"text": "A text.", "marks": {"novel": [3]}}, "field marks.novel.0"),
        ("", "has no passages, expected one line per text"),
    ],
)
def test_a_wrong_example_is_one_line(row: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(PassagesError) as raised:
        Approach(written(tmp_path, row))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


TEXT = "The tide folded its letters. " + "Nothing much happened on the quay that day, nor on any other day. " * 4


def reading(*expressions: str, text: str = TEXT) -> Reading:
    return reading_of("novel", [(expression, "It is new.") for expression in expressions], text)


def test_a_mark_has_its_words_as_the_text_has_them_with_their_place_and_reason() -> None:
    (mark,) = reading("tide FOLDED its letter").marks
    assert (mark.text, mark.aspect, mark.reason) == ("tide folded its letters", "novel", "It is new.")
    assert TEXT[mark.start : mark.end] == mark.text


@pytest.mark.parametrize(
    ("expressions", "marks", "dropped"),
    [
        ([], 0, {}),
        (["folded its letters", "a bell of salt"], 1, {ABSENT: 1}),
        (["folded its letters"] * 1000, 1, {AGAIN: 999}),
        (["folded its letters", "letters", "T", "e"], 1, {ABSENT: 2, SHORT: 1}),
        (["folded its letters", "tide folded its", "its letters"], 1, {OVERLAPPING: 2}),
        (["folded its letters", *(f"words {n}" for n in range(400))], 1, {ABSENT: 299, BEYOND: 101}),
    ],
)
def test_what_is_no_mark_is_counted_by_its_reason(expressions: list[str], marks: int, dropped: dict[str, int]) -> None:
    made = reading(*expressions)
    assert (len(made.marks), dict(made.dropped), made.quoted) == (marks, dropped, len(expressions))
    assert not made.reason


def test_an_endless_quote_in_a_long_text_is_no_mark() -> None:
    long = TEXT * 10
    made = reading(" ".join(long.split()[:41]), "folded its letters", text=long)
    assert made.dropped == {LONG: 1}
    assert len(made.marks) == 1
