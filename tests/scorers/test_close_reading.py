"""Close reading through real evaluations, under readers of every kind."""

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score
from markdown_it import MarkdownIt
from tests import scripted
from tests.scorers.test_explanation import size
from tests.scripted import OWL, Script, metadata, saying

from genie_inspect.graders.close_reader import Approach, Mark, Reading
from genie_inspect.prompting.templates import unfenced
from genie_inspect.scorers.close_reading import close_reading, cost, evidence, explained, with_marks
from genie_inspect.scorers.explanation import MOST_BYTES

STORY = (
    "The tide folded its letters and went home. She paid the fare, sat by the window and counted the lamps "
    "of the town.\n\n"
    "Her silence was in full swing by noon; the kettle had stopped, and the door stood a hand wide, as she had left it."
)  # 47 words
NOVEL, AWKWARD = "folded its letters", "in full swing"


def quoting(**expressions: list[str]) -> Callable[[str], str]:

    def reply(request: str) -> str:
        quoted = expressions.get(unfenced(request)["aspect"], [])
        return json.dumps([{"expression": one, "reason": f"It is so: {one[:20]}."} for one in quoted])

    return reply


def scored(reply: Callable[[str], str], folder: Path, story: str = STORY, **options: Any) -> Score:
    return scripted.scored(close_reading(**options), saying(story), Script(reply), folder)


def value(score: Score, aspect: str = "novel") -> float:
    assert isinstance(score.value, dict)
    return float(str(score.value[f"{aspect}_per_100_words"]))


def test_marks_are_counted_in_a_hundred_words_and_each_aspect_is_one_request(tmp_path: Path) -> None:
    reader = Script(quoting(novel=[NOVEL, "counted the lamps"], awkward=[AWKWARD]))
    score = scripted.scored(close_reading(), saying(STORY), reader, tmp_path)
    assert len(STORY.split()) == 47
    assert score.value == {"novel_per_100_words": 4.255, "awkward_per_100_words": 2.128}
    assert sorted(data["aspect"] for data in reader.data) == ["awkward", "novel"]
    assert [data["text"] for data in reader.data] == [STORY, STORY]
    facts = score.metadata or {}
    assert facts["signature"].endswith(f"|examples:{Approach().examples_identity}|version:2-A")
    assert (facts["prompt"], facts["marked"]) == (OWL, {"novel": 2, "awkward": 1})


def test_where_one_aspect_of_two_is_known_there_is_no_reason(tmp_path: Path) -> None:
    score = scored(lambda request: "[]" if unfenced(request)["aspect"] == "novel" else "Hm.", tmp_path)
    assert (score.reason, value(score)) == (None, 0)
    assert math.isnan(value(score, "awkward"))


def test_with_sensical_what_makes_no_sense_is_asked_for_too(tmp_path: Path) -> None:
    score = scored(quoting(senseless=[NOVEL]), tmp_path, sensical=True)
    assert score.value == {"novel_per_100_words": 0, "awkward_per_100_words": 0, "senseless_per_100_words": 2.128}
    with_two = scored(quoting(), tmp_path / "two")
    assert metadata(score)["signature"] == metadata(with_two)["signature"], "the others are asked alike"


HOSTILE: dict[str, tuple[Callable[[str], str], float, str]] = {
    # the value of novel, and what the explanation says
    "nothing": (lambda request: "[]", 0.0, "Novel: 0 marks in 47 words."),
    "everything": (quoting(novel=[STORY]), math.nan, "Novel: not measured, the grader quotes over 30% of the text."),
    "one word": (quoting(novel=["tide"]), math.nan, "no quote is an expression of the text"),
    "always the same": (
        quoting(novel=[NOVEL] * 1000),
        2.128,
        "**Warning:** Of 1000 quotes for novel, 999 do not count",
    ),
    "another text": (quoting(novel=["a bell of salt"]), math.nan, "no quote is an expression of the text"),
    "prose": (lambda request: f"Well: {quoting(novel=[NOVEL])(request)} That is all.", 2.128, "(1 novel)"),
    "no list": (lambda request: "It is all so very fresh.", math.nan, "Novel: not measured, unreadable reply."),
    "half a list": (lambda request: '[{"expression": "folded its letters", "rea', math.nan, "unreadable reply"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_reader_quotes_is_counted_and_the_score_says_so(name: str, tmp_path: Path) -> None:
    reply, expected, said = HOSTILE[name]
    score = scored(reply, tmp_path)
    assert value(score) == pytest.approx(expected, nan_ok=True)
    assert said in (score.explanation or "")
    if math.isnan(value(score)) and math.isnan(value(score, "awkward")):
        assert score.reason
        assert "marks" in (score.metadata or {})


REST = "and went home to sleep there for a good long while, they say."
RIGHT_TO_LEFT = "\N{RIGHT-TO-LEFT OVERRIDE}The tide folded its letters שלום עולם גדול \N{POP DIRECTIONAL FORMATTING}"
TEXTS = {
    "html": f"<b>The tide</b> folded its <i>letters</i> & <script>alert(1)</script> &amp; {REST}",
    "markdown": f"# The tide\n\n- folded **its** letters\n\n> | a |\n\n```\nwent home\n```\n---\n===\n1. ⟦l⟧ {REST}",
    "ansi": f"The \x1b[31mtide folded its letters\x1b[0m \x9b1m home\x07 {REST}",
    "right to left": f"{RIGHT_TO_LEFT}{REST}",
    "emoji": f"The 🌊 folded its 💌 letters 👩‍👩‍👧 and went 🏠 {REST}",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_markup_is_marked_where_it_says_and_shown_as_text(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    start = text.index("folded")
    quote = text[start : start + 18].rstrip()
    score = scored(quoting(novel=[quote]), tmp_path, text)
    (mark,) = metadata(score)["marks"]
    assert text[mark["start"] : mark["end"]] == mark["text"]
    assert mark["start"] == start
    shown = score.explanation or ""
    html = MarkdownIt("commonmark").enable("table").render(shown)
    for tag in ("<b>", "<script", "<h1", "<h2", "<li", "<blockquote", "<pre", "<hr", "<a ", "<code"):
        assert tag not in html
    assert not any(character in shown for character in "\x1b\x9b\x07\N{RIGHT-TO-LEFT OVERRIDE}")
    assert shown.count("⟦") == shown.count("(1 novel)") == 1


def test_what_is_asked_of_new_documents_grows_with_their_number_and_the_population_s_mean_length() -> None:
    assert cost(Approach(), OWL, [10, 20], 3) == Approach().cost(15) * 3


@pytest.mark.parametrize(("letter", "kept"), [("a", 300), ("ж", 160)])
def test_reasons_are_cut_to_fit_in_bytes_of_which_a_letter_may_have_several(letter: str, kept: int) -> None:
    marks = tuple(Mark("novel", "salt light", 20 * n, 20 * n + 10, letter * 300) for n in range(14))
    found = evidence("Salt light fell.", [Reading("novel", marks, quoted=14, share=0.1)])
    assert [len(mark["reason"]) for mark in found["marks"]] == [kept] * 14
    assert size(found) <= MOST_BYTES


TEXT = "# Tides\n\n1. The \x1b[1mtide⟦ folded *its* letters. \nHer silence."
MARKED = Mark("novel", "folded *its* letters", TEXT.index("folded"), TEXT.index(". \n"), "Tides | have\x1b letters.")
SILENCE = Mark("awkward", "Her silence", TEXT.index("Her"), len(TEXT) - 1, "It swings.")


def test_the_whole_of_what_a_reader_sees_of_marks_and_of_quotes_that_are_none() -> None:
    novel = Reading("novel", (MARKED,), quoted=2, share=0.1, dropped={"quote of one word": 1})
    awkward = Reading("awkward", (SILENCE,), quoted=3, share=0.2, dropped={"quote given again": 1})
    assert explained(TEXT, [awkward, novel]).split("\n\n") == [
        "Awkward: 1 mark in 10 words.",
        "Novel: 1 mark in 10 words.",
        "**Warning:** Of 3 quotes for awkward, 2 do not count: 1 quote given again.",
        "**Warning:** Of 2 quotes for novel, 1 do not count: 1 quote of one word.",
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
    few = Reading("novel", (MARKED, SILENCE), quoted=3, share=0.1, dropped={"quote of one word": 1})
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
    novel = Reading("novel", (MARKED,), quoted=4, share=0.123456, dropped={"quote of one word": 2})
    lost = Reading("awkward", reason="unreadable reply")
    assert evidence(TEXT, [novel, lost], judge="me") == {
        "judge": "me",
        "words": 10,
        "marked": {"novel": 1, "awkward": 0},
        "quoted": {"novel": 4, "awkward": 0},
        "absent": {"novel": 0, "awkward": 0},
        "quoted_share": {"novel": 0.1235, "awkward": None},
        "faults": {"quote of one word": 2, "unreadable reply": 1},
        "marks": [asdict(MARKED)],
    }
    many = Reading("novel", (MARKED,) * 80, quoted=80, share=0.1)
    assert "reason" not in evidence(TEXT, [many])["marks"][0]
