import copy
import html
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from genie_inspect.graders.protocols import UNREADABLE, UNSPECIFIED, Answer
from genie_inspect.populations.schema import Question
from genie_inspect.scorers.assessment import TOO_FEW, Assessment, QuestionResult
from genie_inspect.scorers.explanation import (
    LISTED,
    MOST_BYTES,
    WORD_JOINER,
    cell,
    cut,
    evidence,
    explained,
    length_facts,
    notes_on,
)
from genie_inspect.statistics.descriptive import Standing

NUMBERS = itertools.count()
RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def result(
    answer: str | None,
    ratings: tuple[float | None, ...],
    feature: str = "plot",
    faults: tuple[str, ...] = (),
    **words: str,
) -> QuestionResult:
    """A question's result with an other answer a rating, named other 0, other 1, ..."""
    question = Question(
        id=words.get("id", f"q-{next(NUMBERS)}"), prompt="p", feature=feature, text=words.get("text", "What happens?")
    )
    others = tuple(Answer(f"other {number}") for number in range(len(ratings)))
    return QuestionResult(question, Answer(answer) if answer else None, others, ratings, faults)


def assessed(results: tuple[QuestionResult, ...], features: tuple[str, ...] = ("plot",), **facts: Any) -> Assessment:
    return Assessment(results, features, **facts)


def seen(rendered: str) -> str:
    """What a person sees of a piece of HTML, whose tags stay visible as such."""
    return html.unescape(rendered).replace(WORD_JOINER, "")


def items(markdown: str) -> list[str]:
    """What a person sees in each item of the list, as text; markup inside an item stays visible as tags."""
    lines = re.findall(r"<li>(.*)", RENDERER.render(markdown))
    return [seen(line.removesuffix("</li>")) for line in lines]


def cells(markdown: str) -> list[list[str]]:
    """What a person sees in each row of the one table, as text; markup inside a cell stays visible as tags."""
    rows = re.findall(r"<tr>(.*?)</tr>", RENDERER.render(markdown), re.DOTALL)
    return [[seen(found) for found in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in rows]


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60))
def test_any_text_stays_within_its_cell_and_shows_as_it_is(text: str) -> None:
    shown = cells(f"| a | b |\n|:--|--:|\n| x{cell(text)}x | end |")
    assert shown == [["a", "b"], [f"x{' '.join(text.split())}x".replace(WORD_JOINER, ""), "end"]]


def test_a_row_a_feature_with_novelty_questions_used_and_ratings_then_what_set_the_document_apart() -> None:
    results = (
        # similarities 1, 1/3: novelty 1 - 2/3 = 0.33
        result("it rains", (4, 2)),
        # similarities 0, 1/3: novelty 1 - 1/6 = 0.83, the most distinctive; its nearest is the one rated 2
        result("a whale sings", (1, 2), text="How does it end?"),
        result(None, (), faults=(UNSPECIFIED,)),
        result(None, (), feature="style", faults=(UNSPECIFIED,)),
    )
    shown = explained(assessed(results, documents=2, features=("plot", "style", "social_atmosphere")))
    # plot: the mean of 1/3 and 5/6 is 0.58; the highest similarities are 1 and 1/3, so that nearest is (0 + 2/3) / 2
    assert cells(shown) == [
        ["feature", "novelty", "nearest", "questions", "ratings"],  # questions are missing
        ["plot", "0.583", "0.333", "2 of 3", "4 of 4"],
        ["style", "not measured", "not measured", "0 of 1", "0 of 0"],
        ["social atmosphere", "not measured", "not measured", "0 of 0", "0 of 0"],
    ]
    assert items(shown) == [
        "plot, most novel (0.833): How does it end?",
        "its answer: “a whale sings”",
        "nearest in the population: other 1 (1 of 2); other 0 (1 of 2)",
        "its 2 ratings: 1 slight overlap (2), 1 different (1)",
        "plot, least novel (0.333): What happens?",
        "its answer: “it rains”",
        "nearest in the population: other 0 (1 of 2); other 1 (1 of 2)",
        "its 2 ratings: 1 interchangeable (4), 1 slight overlap (2)",
    ]


def test_where_nothing_is_missing_a_line_counts_questions_and_ratings_and_columns_say_what_they_are() -> None:
    found = assessed((result("x", (1, 3)), result("x", (1, 2), feature="style")), ("plot", "style"), documents=2)
    shown = explained(found, ["A note."], standings={"plot": Standing(87.5, 0.61254, 0.5, 0.7)})
    head, plot, style = cells(shown)
    assert head == ["feature", "novelty", "percentile", "population's own", "nearest"]
    assert (plot[2:4], style[2:4]) == (["88", "0.613"], ["not known"] * 2)
    assert "All 2 questions and all 4 ratings are used." in shown
    assert "Nearest: novelty against the nearest answer alone." in shown
    assert shown.endswith("\n\nA note.")


def size(metadata: dict[str, object]) -> int:
    return len(json.dumps(metadata, ensure_ascii=False).encode())


def test_a_question_with_too_few_of_its_ratings_is_not_used_and_both_coverages_and_the_notes_say_so() -> None:
    # one of twelve ratings, and six of twelve, which are just enough: 1 - (0 + ... + 2/3) / 6
    poor = result("a whale sings", (1, *(None,) * 11), text="How does it end?")
    half = result("it rains", (1, 1, 1, 1, 1, 3, *(None,) * 6))
    found = assessed((poor, half), documents=12)
    assert found.novelty == {"plot": pytest.approx(1 - (2 / 3) / 6)}
    shown = explained(found, notes_on(found))
    assert cells(shown)[1:] == [["plot", "0.889", "0.333", "1 of 2", "7 of 24"]]
    assert "a whale sings" not in shown
    assert "Questions not used, because too few of the expected ratings could be used: 1." in shown
    assert "Missing" not in shown
    metadata = evidence(found)
    assert (metadata["coverage"], metadata["pairs"]) == ({"plot": "1/2"}, {"plot": "7/24"})
    assert metadata["faults"] == {TOO_FEW: 1}
    assert [(row["novelty"], row["ratings"]) for row in metadata["questions"]] == [(None, 1), (0.8889, 6)]


@pytest.mark.parametrize(
    ("ratings", "documents", "few", "note"),
    [
        ([(1,)], 1, "1/1", "Fewer than 3 documents are too few"),
        ([(1, 1)], 2, "1/1", "Fewer than 3 documents are too few"),
        ([(1, 2, 3)], 3, "0/1", ""),
        # the last is not used, so that it does not count
        ([(1, 4), (2,), (1, 2, 3), (None, 1, None)], 3, "2/3", "rest on fewer than 3 ratings: 2 of 3;"),
        ([(4, 4, 4), (4, 4, 4, None)], 4, "0/2", "All 6 ratings are 4."),
        ([(4, 4, 1)], 3, "0/1", ""),
    ],
)
def test_a_small_population_few_ratings_and_a_judge_that_never_varies_are_named(
    ratings: list[tuple[float | None, ...]], documents: int, few: str, note: str
) -> None:
    found = assessed(tuple(result("x", one) for one in ratings), documents=documents)
    first, *notes = notes_on(found)
    assert first == f"Compared with {documents} document{'s' if documents > 1 else ''} of the population."
    assert note in "\n".join(notes)
    told = ["Fewer than 3 documents" in "\n".join(notes), any("ratings are" in line for line in notes)]
    assert told == [documents < 3, "ratings are" in note or documents == 2]
    assert (evidence(found)["few_answers"], evidence(found)["documents"]) == (few, documents)


def test_long_questions_answers_and_neighbours_are_cut_to_what_a_reader_takes_in() -> None:
    question = Question(id="q", prompt="p", feature="plot", text="What happens? " * 3)
    found = QuestionResult(question, Answer("rain " * 60), (Answer("snow " * 60),), (1,), ())
    shown = items(explained(assessed((found,), documents=1)))
    # 160 and 80 characters, the ellipsis among them
    assert shown == [
        f"plot, most novel (1.000): {' '.join(['What happens?'] * 3)}",
        f"its answer: “{('rain ' * 60)[:159]}…”",
        f"nearest in the population: {('snow ' * 60)[:79]}… (1 of 1)",
        "its 1 rating: 1 different (1)",
    ]


@pytest.mark.parametrize(("text", "shown"), [("owls", "owls"), ("owlet", "owl…"), ("", "")])
def test_a_text_is_cut_to_its_width_the_ellipsis_among_it(text: str, shown: str) -> None:
    assert cut(text, 4) == shown


def test_of_the_nearest_answers_three_are_kept_with_rating_and_how_many_gave_them() -> None:
    # logit ratings lie in between; two of five documents say one thing
    found = result("x", (3.456, 2.0, 1.0, 1.0, 1.5))
    found = replace(found, others=(*found.others[:4], found.others[0]))
    (row,) = evidence(assessed((found,), documents=5))["questions"]
    assert row["nearest"] == [
        {"answer": "other 0", "rating": 3.46, "given": 2},
        {"answer": "other 1", "rating": 2.0, "given": 1},
        {"answer": "other 2", "rating": 1.0, "given": 1},
    ]


def test_evidence_is_kept_whole_up_to_8_000_bytes_and_narrower_beyond() -> None:
    found = assessed((result("answer " * 40, (1, 2)),), documents=2)
    whole = evidence(found, note="")
    room = MOST_BYTES - size(whole)
    assert evidence(found, note="x" * room)["questions"] == whole["questions"]
    assert evidence(found, note="é" * (room // 2))["questions"] == whole["questions"]
    for note in ("x" * (room + 1), "é" * (room // 2 + 1)):
        kept = evidence(found, note=note)
        assert kept["questions"] != whole["questions"]
        assert kept["questions"][0]["answer"] == ("answer " * 40)[:79] + "…"


def lengths_of(words: Sequence[int], ratings: tuple[float, ...], *features: str) -> dict[str, Any]:
    """The facts of a document with one question, whose population has documents of so many words."""
    found = replace(result("x", ratings), places=tuple(range(len(words))))
    return length_facts(assessed((found,), features, documents=len(words), lengths=tuple(words)))


def test_lengths_are_told_by_their_median_with_novelty_against_those_near_it() -> None:
    # within 1.5 times of 20 are 20 and 30: of the ratings 1 and 4 the mean similarity is 1/2
    assert lengths_of([10, 30, 20], (4, 1, 4), "plot", "style") == {
        "population": 20,
        "matched": {"plot": 0.5, "style": None},
    }
    assert length_facts(assessed((), documents=0)) == {}
    json.dumps(lengths_of([10], (1,), "style"), allow_nan=False)


def test_what_a_reader_must_know_stands_in_one_order_the_caution_last() -> None:
    found = assessed((result("x", (1, 1)),), documents=0, left_out=("d-1",), made_of=("d-2",))
    assert notes_on(found, "Warning.") == [
        "Compared with 0 documents of the population.",
        "Questions used that rest on fewer than 3 ratings: 1 of 1; one rating more could change them much.",
        "All 2 ratings are 1.",
        "The same text is in the population (d-1); it was left out of its own comparison.",
        "The text of which it was made is in the population (d-2); it was left out.",
        "**Warning.**",
    ]


def test_what_does_not_fit_keeps_its_nearest_answer_alone_before_its_texts_are_cut_further() -> None:
    others = tuple(Answer(f"{number} snow " * 40) for number in range(3))
    found = assessed((replace(result("rain", (4, 3, 2)), others=others),) * 20, documents=3)
    (near,) = {len(row["nearest"]) for row in evidence(found)["questions"]}
    assert near == 1
    assert len(evidence(found)["questions"][0]["nearest"][0]["answer"]) == 160


def test_evidence_is_all_that_the_numbers_rest_on() -> None:
    results = (
        # one is interchangeable: nearest 0; one of three ratings due was lost
        result("the airport", (1, None, 4), faults=(UNREADABLE,), id="q-1", text="What brings the owl to the airport?"),
        result("x", (1, 2), id="q-2"),  # the nearest has similarity 1/3: 2/3
        result("x", (4, None, None, None), id="q-3"),  # one of four ratings: not used
        result(None, (), faults=(UNSPECIFIED,), id="q-4"),
        # a document that could not be read was due a rating; 0 and 7 are none
        replace(result("x", (3.123456, 0, 7, 3.123456), feature="style", id="q-5"), unread=(1,)),
    )
    metadata = evidence(assessed(results, documents=4, features=("plot", "style", "setting")))
    rows = metadata.pop("questions")
    assert metadata == {
        "documents": 4,
        "left_out": [],
        "coverage": {"plot": "2/4", "style": "0/1", "setting": "0/0"},
        "pairs": {"plot": "5/9", "style": "2/5", "setting": "0/0"},
        "few_answers": "2/2",
        "repeated": "1/4",
        "nearest_novelty": {"plot": 0.3333, "style": None, "setting": None},
        "ratings": {"count": 7, "lowest": 1, "highest": 4},
        # similarities 0 and 1, 0 and 1/3: squares about their means 1/2 and 1/18, over 4 values less 2 questions
        "spread": {"plot": {"sd": round((10 / 18 / 2) ** 0.5, 6), "degrees": 2}},
        "faults": {UNREADABLE: 1, UNSPECIFIED: 1, TOO_FEW: 2},
    }
    assert [(row["novelty"], row["nearest_novelty"], row["ratings"]) for row in rows] == [
        (0.5, 0.0, 2), (0.8333, 0.6667, 2), (None, None, 1), (None, None, 0), (None, None, 2)
    ]  # fmt: skip
    json.dumps(metadata | {"questions": rows}, allow_nan=False)
    # of judges that read probabilities none off the labels counts in the mean too
    masses = tuple(replace(result("x", (1,)), off_labels=mass) for mass in (0.0, 0.5, None))
    assert evidence(assessed(masses, documents=1))["off_labels"] == 0.25
    lone = evidence(assessed((result("x", (2.123456, None)),), documents=1))
    assert lone["ratings"] == {"count": 1, "lowest": 2.1235, "highest": 2.1235}
    silent = evidence(assessed((result("x", (None,)),), documents=1))
    assert "ratings" not in silent
    assert copy.deepcopy(rows) is rows, "Inspect copies a score for every key"
    many = evidence(assessed((result("x", (1,)),) * 200, documents=1))
    assert many["questions"] == "200 questions: too many to keep here"


def test_of_documents_that_were_left_out_twenty_are_named_each_by_eighty_characters() -> None:
    ids = ("d" * 100, *(f"d-{number:02}" for number in range(LISTED)))
    kept = ["d" * 79 + "…", *ids[1:20]]
    found = assessed((result("x", (1, 2)),), documents=2, left_out=ids, made_of=ids)
    notes = [note for note in notes_on(found) if "left out" in note]
    assert [("d-00, d-01" in note, "d-18)" in note) for note in notes] == [(True, True)] * 2
    metadata = evidence(found)
    assert (metadata["left_out"], metadata["made_of"]) == (kept, kept)
