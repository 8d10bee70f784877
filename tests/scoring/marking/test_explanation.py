"""What stays of a marked text in the log."""

import pytest
from tests.scoring.test_explanation import size

from genie_inspect.close_reader.reading import Mark, Reading
from genie_inspect.scoring.marking.explanation import MOST_BYTES, evidence, explained, in_order, with_marks


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


def test_marks_of_all_aspects_come_in_the_order_of_the_text_the_shorter_first() -> None:
    long, short, later = (Mark("novel", "", *span, "") for span in ((0, 9), (0, 4), (5, 6)))
    assert in_order([Reading("novel", (later, long)), Reading("awkward", (short,))]) == [short, long, later]


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
