"""What stays of an assessment in the log, and how far its texts and numbers are cut."""

import copy
import json
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.scorers.test_explanation import result, size

from genie_inspect.graders.protocols import Answer
from genie_inspect.scorers.assessment import Assessment
from genie_inspect.scorers.explanation import LISTED, MOST_BYTES, cell, cut, evidence, explained, length_facts, notes_on
from genie_inspect.statistics.descriptive import Standing


@pytest.mark.parametrize(("text", "shown"), [("owls", "owls"), ("owlet", "owl…"), ("", "")])
def test_a_text_is_cut_to_its_width_the_ellipsis_among_it(text: str, shown: str) -> None:
    assert cut(text, 4) == shown


def test_of_the_nearest_answers_three_are_kept_with_rating_and_how_many_gave_them() -> None:
    # logit ratings lie in between; two of five documents say one thing
    found = result("x", (3.456, 2.0, 1.0, 1.0, 1.5))
    found = replace(found, others=(*found.others[:4], found.others[0]))
    (row,) = evidence(Assessment((found,), 5, ()), ["plot"])["questions"]
    assert row["nearest"] == [
        {"answer": "other 0", "rating": 3.46, "given": 2},
        {"answer": "other 1", "rating": 2.0, "given": 1},
        {"answer": "other 2", "rating": 1.0, "given": 1},
    ]


def test_ratings_between_two_words_are_told_by_the_nearest_one() -> None:
    shown = explained(Assessment((result("x", (3.4, 2.6, 1.2)),), 3, ()), ["plot"])
    assert "(3 same idea: 2 of 3; 1 different: 1 of 3)" in shown


def test_shares_off_the_labels_are_kept_with_four_digits() -> None:
    found = result("x", (1,))
    found = replace(found, off_labels=0.123456)
    assert evidence(Assessment((found,), 1, ()), ["plot"])["off_labels"] == 0.1235


def test_of_documents_with_the_same_text_twenty_are_named() -> None:
    ids = tuple(f"d-{number:02}" for number in range(LISTED + 1))
    found = Assessment((result("x", (1, 2)),), 2, ids)
    (note,) = (note for note in notes_on(found) if "same text" in note)
    assert "d-00, d-01" in note
    assert "d-19)" in note
    assert evidence(found, ["plot"])["left_out"] == list(ids[:20])


def test_of_two_ratings_that_are_the_same_their_one_value_is_told() -> None:
    assert "All 2 ratings are 1.5." in notes_on(Assessment((result("x", (1.5, 1.5)),), 2, ()))


def test_evidence_is_kept_whole_up_to_8_000_bytes_and_narrower_beyond() -> None:
    found = Assessment((result("answer " * 40, (1, 2)),), 2, ())
    whole = evidence(found, ["plot"], note="")
    room = MOST_BYTES - size(whole)
    assert evidence(found, ["plot"], note="x" * room)["questions"] == whole["questions"]
    assert evidence(found, ["plot"], note="é" * (room // 2))["questions"] == whole["questions"]
    for note in ("x" * (room + 1), "é" * (room // 2 + 1)):
        kept = evidence(found, ["plot"], note=note)
        assert kept["questions"] != whole["questions"]
        assert kept["questions"][0]["answer"] == ("answer " * 40)[:79] + "…"


def assessed(words: Sequence[int], ratings: tuple[float, ...]) -> Assessment:
    """A question to a document, whose population has documents of so many words."""
    found = replace(result("x", ratings), places=tuple(range(len(words))))
    return Assessment((found,), len(words), (), lengths=tuple(words))


def test_lengths_are_told_by_their_median_with_novelty_against_those_near_it() -> None:
    # within 1.5 times of 20 are 20 and 30: of the ratings 1 and 4 the mean similarity is 1/2
    assert length_facts(assessed([10, 30, 20], (4, 1, 4)), ["plot", "style"]) == {
        "population": 20,
        "matched": {"plot": 0.5, "style": None},
    }
    assert length_facts(Assessment((), 0, ()), ["plot"]) == {}
    json.dumps(length_facts(assessed([10], (1,)), ["style"]), allow_nan=False)


def test_a_feature_without_a_standing_is_not_known_among_those_that_have_one() -> None:
    found = Assessment((result("x", (1,)), result("x", (1,), feature="style")), 1, ())
    shown = explained(found, ["plot", "style"], standings={"plot": Standing(87.5, 0.61254, 0.5, 0.7)})
    plot, style = (line for line in shown.splitlines() if line.startswith(("| plot", "| style")))
    assert "88 (0.613)" in plot
    assert "not known" in style
    assert not math.isnan(found.novelty(["style"])["style"])


def test_a_long_id_is_cut_to_eighty_characters() -> None:
    found = Assessment((result("x", (1, 2)),), 2, ("d" * 100,))
    assert evidence(found, ["plot"])["left_out"] == ["d" * 79 + "…"]


def test_of_what_was_lost_no_share_is_told_and_what_is_noted_stands_below_a_free_line() -> None:
    found = Assessment((result("x", (3, 1, None)),), 3, ())
    lines = explained(found, ["plot"], ["A note."]).splitlines()
    assert lines[4:] == [
        "- plot, most novel (0.667): What happens? \u201cx\u201d (3 same idea: 1 of 2; 1 different: 1 of 2)",
        "    - nearest in the population: other 0 (1 of 2); other 1 (1 of 2)",
        "",
        "A note.",
    ]


def test_what_a_reader_must_know_stands_in_one_order_the_caution_last() -> None:
    found = Assessment((result("x", (1, 1)),), 0, ("d-1",), made_of=("d-2",))
    assert notes_on(found, "Beware.") == [
        "Compared with 0 documents of the population.",
        "Questions used that rest on fewer than 3 ratings: 1 of 1; one rating more could change them much.",
        "All 2 ratings are 1.",
        "The same text stands in the population (d-1); it was left out of its own comparison.",
        "The text of which it was made stands in the population (d-2); it was left out.",
        "**Beware.**",
    ]


def test_of_documents_of_which_a_text_was_made_twenty_are_kept() -> None:
    ids = tuple(f"d-{number:02}" for number in range(LISTED + 1))
    assert evidence(Assessment((), 2, (), made_of=ids), [])["made_of"] == list(ids[:20])


def test_a_table_that_does_not_fit_at_any_width_is_counted() -> None:
    found = Assessment((result("x", (1,)),) * 200, 1, ())
    assert evidence(found, ["plot"])["questions"] == "200 questions: too many to keep here"


def test_what_does_not_fit_keeps_its_nearest_answer_alone_before_its_texts_are_cut_further() -> None:
    others = tuple(Answer(f"{number} snow " * 40) for number in range(3))
    found = Assessment((replace(result("rain", (4, 3, 2)), others=others),) * 20, 3, ())
    (near,) = {len(row["nearest"]) for row in evidence(found, ["plot"])["questions"]}
    assert near == 1
    assert len(evidence(found, ["plot"])["questions"][0]["nearest"][0]["answer"]) == 160


def test_the_table_of_questions_is_not_copied_with_the_score() -> None:
    rows = evidence(Assessment((result("x", (1,)),), 1, ()), ["plot"])["questions"]
    assert copy.deepcopy(rows) is rows


def test_lengths_are_told_by_the_middle_one_whatever_the_longest() -> None:
    assert length_facts(assessed([10, 300, 20], (1, 1, 1)), ["plot"])["population"] == 20


def test_a_formula_is_shown_as_the_text_that_it_is() -> None:
    assert cell("$x$ a~b") == "\\$x\\$ a\\~b"
