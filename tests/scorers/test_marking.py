"""The score of a document by a close reader: its keys, what it rests on, what it costs."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.scorer import Score
from tests.scorers.test_explanation import size
from tests.scripted import OWL, Script, evaluated, saying, scores, small_population

from genie_inspect.graders.close_reader import Approach, Mark, Reading
from genie_inspect.graders.cost import tokens
from genie_inspect.prompting.fence import unfenced
from genie_inspect.scorers.close_reading import (
    KEYS,
    close_reading,
    cost,
    evidence,
    explained,
    with_marks,
)
from genie_inspect.scorers.explanation import MOST_BYTES

STORY = "The tide folded its letters and went home, for nobody had come to the pier."


def quoting(request: str) -> str:
    quoted = ["folded its letters"] if unfenced(request)["aspect"] == "novel" else []
    return json.dumps([{"expression": one, "reason": "So."} for one in quoted])


def read(reply: Callable[[str], str], folder: Path, story: str = STORY, prompt: str = OWL) -> Score:
    (score,) = scores(evaluated(close_reading(), saying(story), Script(reply), folder, [prompt]), "close_reading")
    return score


def test_a_document_has_its_marks_a_hundred_words_and_all_that_they_rest_on(tmp_path: Path) -> None:
    score = read(quoting, tmp_path, prompt="Tide! " * 100)
    assert score.value == {"novel_per_100_words": 6.667, "awkward_per_100_words": 0.0}
    assert (score.answer, score.reason) == (STORY, None)
    facts = score.metadata or {}
    assert facts["signature"].startswith("measure:close_reading|reader:")
    assert facts["signature"].endswith(f"|examples:{Approach().examples_identity}|version:2-A")
    assert facts["prompt"] == ("Tide! " * 100)[:159] + "…"
    assert facts["marked"] == {"novel": 1, "awkward": 0}
    assert "⟦folded its letters⟧ (1 novel)" in (score.explanation or "")


def test_where_no_aspect_is_known_the_reason_is_inspect_s_and_where_one_is_there_is_none(tmp_path: Path) -> None:
    lost = read(lambda request: "Hm.", tmp_path)
    assert lost.reason == "invalid_response_format"
    assert isinstance(lost.value, dict)
    assert tuple(lost.value) == KEYS
    assert all(math.isnan(float(str(value))) for value in lost.value.values())
    assert read(lambda request: "[]" if unfenced(request)["aspect"] == "novel" else "Hm.", tmp_path).reason is None


def test_what_is_asked_of_new_documents_grows_with_their_number_and_the_population_s_mean_length(
    tmp_path: Path,
) -> None:
    texts = ("Grey owl over barns.", "White owl in snow, all night long, and then on.")
    population = small_population(tmp_path / "population", {OWL: texts})
    approach = Approach()
    mean = sum(map(tokens, texts)) / 2
    assert cost(approach, population, {OWL: 3}) == approach.cost(mean) * 3
    assert cost(approach, population, {"Unknown.": 3}).calls == 0


@pytest.mark.parametrize(("letter", "kept"), [("a", 300), ("ж", 160)])
def test_reasons_are_cut_to_fit_in_bytes_of_which_a_letter_may_have_several(letter: str, kept: int) -> None:
    marks = tuple(Mark("novel", "salt light", 20 * n, 20 * n + 10, letter * 300) for n in range(14))
    found = evidence("Salt light fell.", [Reading("novel", marks, quoted=14, share=0.1)])
    assert [len(mark["reason"]) for mark in found["marks"]] == [kept] * 14
    assert size(found) <= MOST_BYTES


TEXT = "# Tides\n\n1. The \x1b[1mtide⟦ folded *its* letters. \nHer silence."
NOVEL = Mark("novel", "folded *its* letters", TEXT.index("folded"), TEXT.index(". \n"), "Tides | have\x1b letters.")
SILENCE = Mark("awkward", "Her silence", TEXT.index("Her"), len(TEXT) - 1, "It swings.")


def test_the_whole_of_what_a_reader_sees_of_marks_and_of_quotes_that_are_none() -> None:
    novel = Reading("novel", (NOVEL,), quoted=2, share=0.1, dropped={"quote of one word": 1})
    awkward = Reading("awkward", (SILENCE,), quoted=3, share=0.2, dropped={"quote given again": 1})
    assert explained(TEXT, [awkward, novel]).split("\n\n") == [
        "Awkward: 1 mark in 10 words.",
        "Novel: 1 mark in 10 words.",
        "**Beware:** Of 3 quotes for awkward, 2 do not count: 1 quote given again.",
        "**Beware:** Of 2 quotes for novel, 1 do not count: 1 quote of one word.",
        "\\# Tides  ",
        "1\\. The \N{REPLACEMENT CHARACTER}\\[1mtide\\[ ⟦folded \\*its\\* letters⟧ (1 novel).   \n"
        "⟦Her silence⟧ (2 awkward).",
        "| | quote | aspect | reason |\n|--:|:--|:--|:--|\n"
        "| 1 | folded \\*its\\* letters | novel | Tides \\| have\N{REPLACEMENT CHARACTER} letters. |\n"
        "| 2 | Her silence | awkward | It swings. |",
    ]


def test_what_is_not_measured_says_why_and_a_text_without_marks_is_not_shown() -> None:
    silent, lost = Reading("novel"), Reading("awkward", reason="unreadable reply")
    assert explained(TEXT, [silent, lost]) == (
        "Novel: 0 marks in 10 words.\n\n**Awkward: not measured, unreadable reply.**"
    )
    few = Reading("novel", (NOVEL, SILENCE), quoted=3, share=0.1, dropped={"quote of one word": 1})
    assert "\n\nOf 3 quotes for novel, 1 do not count: 1 quote of one word.\n\n" in explained(TEXT, [few])


def test_of_a_long_text_the_first_20_000_characters_are_shown_with_the_marks_that_end_there() -> None:
    text = "word " * 4001
    marks = [Mark("novel", "word word", 0, 9, ""), Mark("novel", "word", 19_995, 20_001, "")]
    shown = with_marks(text, marks)
    assert shown.startswith("⟦word word⟧ (1 novel) word")
    assert shown.endswith(" […] (5 more characters)")
    assert "(2 novel)" not in shown
    assert "[…]" not in with_marks(text[:20_000], [])


def test_the_log_counts_what_was_quoted_marked_and_dropped() -> None:
    novel = Reading("novel", (NOVEL,), quoted=4, share=0.123456, dropped={"quote of one word": 2})
    lost = Reading("awkward", reason="unreadable reply")
    assert evidence(TEXT, [novel, lost], judge="me") == {
        "judge": "me",
        "words": 10,
        "marked": {"novel": 1, "awkward": 0},
        "quoted": {"novel": 4, "awkward": 0},
        "absent": {"novel": 0, "awkward": 0},
        "quoted_share": {"novel": 0.1235, "awkward": None},
        "faults": {"quote of one word": 2, "unreadable reply": 1},
        "marks": [
            {
                "aspect": "novel",
                "text": NOVEL.text,
                "start": NOVEL.start,
                "end": NOVEL.end,
                "reason": NOVEL.reason,
            }
        ],
    }
    many = Reading("novel", (NOVEL,) * 80, quoted=80, share=0.1)
    assert "reason" not in evidence(TEXT, [many])["marks"][0]
