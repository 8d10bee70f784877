"""Close reading through real evaluations, under readers of every kind."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.scorer import Score
from markdown_it import MarkdownIt
from tests.scripted import Script, evaluated, output, saying, scores

from genie_inspect.prompting.fence import unfenced
from genie_inspect.scorers.close_reading import close_reading

STORY = (
    "The tide folded its letters and went home. She paid the fare, sat by the window and counted the lamps "
    "of the town.\n\n"
    "Her silence was in full swing by noon; the kettle had stopped, and the door stood a hand wide, as she had left it."
)  # 47 words
NOVEL, AWKWARD = "folded its letters", "in full swing"


def quoting(**expressions: list[str]) -> Callable[[str], str]:
    """A reader that quotes these for each aspect."""

    def reply(request: str) -> str:
        quoted = expressions.get(unfenced(request)["aspect"], [])
        return json.dumps([{"expression": one, "reason": f"It is so: {one[:20]}."} for one in quoted])

    return reply


def scored(reply: Callable[[str], str], folder: Path, story: str = STORY, **options: object) -> Score:
    (score,) = scores(evaluated(close_reading(**options), saying(story), Script(reply), folder), "close_reading")  # type: ignore[arg-type]
    return score


def value(score: Score, aspect: str = "novel") -> float:
    assert isinstance(score.value, dict)
    return float(str(score.value[f"{aspect}_per_100_words"]))


def test_marks_are_counted_in_a_hundred_words_and_each_aspect_is_one_request(tmp_path: Path) -> None:
    reader = Script(quoting(novel=[NOVEL, "counted the lamps"], awkward=[AWKWARD]))
    (score,) = scores(evaluated(close_reading(), saying(STORY), reader, tmp_path), "close_reading")
    assert len(STORY.split()) == 47
    assert score.value == {"novel_per_100_words": 4.255, "awkward_per_100_words": 2.128}
    assert sorted(data["aspect"] for data in reader.data) == ["awkward", "novel"]
    assert [data["text"] for data in reader.data] == [STORY, STORY]


def test_with_sensical_what_makes_no_sense_is_asked_for_too(tmp_path: Path) -> None:
    score = scored(quoting(senseless=[NOVEL]), tmp_path, sensical=True)
    assert score.value == {"novel_per_100_words": 0, "awkward_per_100_words": 0, "senseless_per_100_words": 2.128}
    with_two = scored(quoting(), tmp_path / "two")
    assert (score.metadata or {})["signature"] == (with_two.metadata or {})["signature"], "the others are asked alike"


def test_the_log_keeps_where_each_mark_stands(tmp_path: Path) -> None:
    metadata = scored(quoting(novel=["Folded its letter", NOVEL]), tmp_path).metadata or {}
    (mark,) = metadata["marks"]
    assert STORY[mark["start"] : mark["end"]] == mark["text"] == NOVEL
    assert metadata["quoted"] == {"novel": 2, "awkward": 0}
    assert metadata["faults"] == {"quote within another": 1}
    assert metadata["quoted_share"] == {"novel": round(3 / 47, 4), "awkward": 0}


HOSTILE: dict[str, tuple[Callable[[str], str], float, str]] = {
    # the value of novel, and what the explanation says
    "nothing": (lambda request: "[]", 0.0, "Novel: 0 marks in 47 words."),
    "everything": (quoting(novel=[STORY]), math.nan, "Novel: not measured, the reader quotes over 30% of the text."),
    "every word": (quoting(novel=STORY.split()), math.nan, "quotes over 30% of the text"),
    "one letter": (quoting(novel=["e"]), math.nan, "no quote is an expression of the text"),
    "one word": (quoting(novel=["tide"]), math.nan, "no quote is an expression of the text"),
    "always the same": (quoting(novel=[NOVEL] * 1000), 2.128, "**Beware:** Of 1000 quotes for novel, 999 do not count"),
    "another text": (quoting(novel=["a bell of salt"]), math.nan, "no quote is an expression of the text"),
    "prose": (lambda request: f"Well: {quoting(novel=[NOVEL])(request)} That is all.", 2.128, "(1 novel)"),
    "no list": (lambda request: "It is all so very fresh.", math.nan, "Novel: not measured, unreadable reply."),
    "half a list": (lambda request: '[{"expression": "folded its letters", "rea', math.nan, "unreadable reply"),
    "the example": (
        lambda request: '[{"expression": "words of the text", "reason": "One sentence."}]',
        math.nan,
        "no quote is an expression of the text",
    ),
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


def test_a_reply_that_ends_before_its_list_does_is_asked_for_again(tmp_path: Path) -> None:
    replies = iter([output('[{"expression": "folded its', "max_tokens"), output("[]"), output("[]")])
    reader = Script(lambda request: next(replies))
    (score,) = scores(evaluated(close_reading(), saying(STORY), reader, tmp_path), "close_reading")
    assert [config.temperature for config in reader.configs] == [0.0, 0.0, 0.7] or len(reader.requests) == 3
    assert value(score) == value(score, "awkward") == 0


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
    (mark,) = (score.metadata or {})["marks"]
    assert text[mark["start"] : mark["end"]] == mark["text"]
    assert mark["start"] == start
    shown = score.explanation or ""
    html = MarkdownIt("commonmark").enable("table").render(shown)
    for tag in ("<b>", "<script", "<h1", "<h2", "<li", "<blockquote", "<pre", "<hr", "<a ", "<code"):
        assert tag not in html
    assert not any(character in shown for character in "\x1b\x9b\x07\N{RIGHT-TO-LEFT OVERRIDE}")
    assert shown.count("⟦") == shown.count("(1 novel)") == 1
