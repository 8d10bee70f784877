import contextlib
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.prompting.replies import (
    LONGEST_ANSWER,
    json_objects,
    numbered_answers,
    numbered_choices,
    numbered_questions,
    numbered_ratings,
    pair_rating,
    quality_level,
    rating_between,
    rating_in,
    sheet_ratings,
)

ANSWERS = {
    "a JSON object": ('{"1": "a pilot", "2": "at night"}', {1: "a pilot", 2: "at night"}),
    "over several lines": ('{\n  "1": "a pilot",\n  "2": "at night"\n}', {1: "a pilot", 2: "at night"}),
    "inside prose": ('Sure! {"1": "a pilot"} I hope this helps {you}.', {1: "a pilot"}),
    "inside a Markdown fence": ('```json\n{"1": "a pilot"}\n```', {1: "a pilot"}),
    "under a heading of its own": ('{"answers": {"1": "a pilot", "2": "at night"}}', {1: "a pilot", 2: "at night"}),
    "in a list": ('[{"1": "a pilot"}]', {1: "a pilot"}),
    "in another order": ('{"3": "hope", "1": "a pilot"}', {1: "a pilot", 3: "hope"}),
    "too many": ('{"1": "a pilot", "4": "no such question", "0": "nor this"}', {1: "a pilot"}),
    "a draft before the reply": ('{"1": "a draft"}\nRevised:\n{"1": "a pilot"}', {1: "a pilot"}),
    "an answer with braces and quotes": (r'{"1": "says \"{go}\""}', {1: 'says "{go}"'}),
    "an answer that looks like a member": (
        r'{"1": "\"2\": \"a trap\",", "2": "night"}',
        {1: '"2": "a trap",', 2: "night"},
    ),
    "a line break inside an answer": ('{"1": "a pilot\nand poet"}', {1: "a pilot\nand poet"}),
    "an escape that JSON lacks": (r'{"1": "the pilot\'s son", "2": "night"}', {1: "the pilot's son", 2: "night"}),
    "a comma too many": ('{"1": "a pilot", "2": "at night",}', {1: "a pilot", 2: "at night"}),
    "cut off inside an answer": ('{"1": "a pilot", "2": "at ni', {1: "a pilot"}),
    "cut off after a quote": ('{"1": "a pilot", "2": "at night"', {1: "a pilot"}),
    "cut off after a comma": ('{"1": "a pilot", "2": "at night",', {1: "a pilot", 2: "at night"}),
    "cut off in spaces": ('{"1": "a pilot",' + " " * 10_000, {1: "a pilot"}),
    "a number for an answer": ('{"1": 7, "2": 1.50}', {1: "7", 2: "1.50"}),
    "one answer given twice": ('{"1": "a pilot", "1": "a pilot"}', {1: "a pilot"}),
    "two answers to one question": ('{"1": "a pilot", "1": "a cook", "2": "night"}', {2: "night"}),
    "a null is no answer": ('{"1": null, "2": "night"}', {2: "night"}),
    "empty answers": ('{"1": "", "2": " "}', {}),
    "answers without a word": ('{"1": "-", "2": "...", "3": "night"}', {3: "night"}),
    "answers that are no text": ('{"1": ["a pilot"], "2": {"answer": "night"}, "3": true}', {}),
    "keys that are no numbers": ('{"one": "a pilot", "-1": "x", "1.0": "y"}', {}),
    "numbers with a point": ("1. a pilot\n2. at night", {1: "a pilot", 2: "at night"}),
    "numbers with a bracket": ("1) a pilot\n(2) at night\n[3] hope", {1: "a pilot", 2: "at night", 3: "hope"}),
    "numbers with a colon": ("1: a pilot\n2 : at night", {1: "a pilot", 2: "at night"}),
    "numbers with a dash": ("1 - a pilot\n2 – at night", {1: "a pilot", 2: "at night"}),
    "numbers with a word": ("Answer 1: a pilot\nQ2: at night\nNo. 3: hope", {1: "a pilot", 2: "at night", 3: "hope"}),
    "bold numbers": ("**1.** a pilot\n**2:** at night", {1: "a pilot", 2: "at night"}),
    "bullets": ("- 1: a pilot\n* 2: at night\n> 3: hope", {1: "a pilot", 2: "at night", 3: "hope"}),
    "a table": ("| 1 | a pilot |\n|---|---|\n| 2 | at night |", {1: "a pilot", 2: "at night"}),
    "lines in another order": ("2. at night\n1. a pilot", {1: "a pilot", 2: "at night"}),
    "lines with prose around": ("Here you are:\n\n1. a pilot\n\nThat is all.", {1: "a pilot"}),
    "lines with two answers to one": ("1. a pilot\n1. a cook\n2. night", {2: "night"}),
    "quoted lines": ('1: "a pilot",\n2: "at night"', {1: "a pilot", 2: "at night"}),
    "questions repeated": ("1. Who is the hero?\nAnswer: a pilot", {}),
    "thoughts before": ('<think>1. a cook? {"1": "a cook"}</think>{"1": "a pilot"}', {1: "a pilot"}),
    "thoughts whose start is elsewhere": ('{"1": "a cook"} or so </think>\n{"1": "a pilot"}', {1: "a pilot"}),
    "thoughts cut off": ('<think>Perhaps {"1": "a cook"}', {}),
    "thoughts by another name": ("<Thinking>\n1. a cook\n</Thinking>\n1. a pilot", {1: "a pilot"}),
    "a year at the start of a line": ("1942 - the war", {}),
    "a refusal": ("I'm sorry, but I can't help with that.", {}),
    "prose": ("The hero is a pilot who flies at night.", {}),
    "a list without numbers": ('["a pilot", "at night"]', {}),
    "nothing": ("", {}),
    "space": (" \n\t ", {}),
}


@pytest.mark.parametrize(("reply", "answers"), ANSWERS.values(), ids=ANSWERS.keys())
def test_answers_are_read_by_number(reply: str, answers: dict[int, str]) -> None:
    assert numbered_answers(reply, 3) == answers


def test_an_answer_of_endless_babble_is_absent() -> None:
    reply = json.dumps({"1": "x" * LONGEST_ANSWER, "2": "x" * (LONGEST_ANSWER + 1)})
    assert list(numbered_answers(reply, 2)) == [1]


RATINGS = {
    "a JSON object of texts": ('{"1": "4", "2": "0"}', {1: 4, 2: 0}),
    "a JSON object of numbers": ('{"1": 4, "2": 0}', {1: 4, 2: 0}),
    "out of range": ('{"1": "5", "2": "-1", "3": 10}', {}),
    "not numbers at all": ('{"1": NaN, "2": Infinity, "3": 1e400}', {}),
    "the same twice": ('{"1": "4", "1": 4}', {1: 4}),
    "lines": ("1. 4\n2. 1\n3. 0", {1: 4, 2: 1, 3: 0}),
    "one line": ("1:4 2:1 3:0", {1: 4, 2: 1, 3: 0}),
    "one line with commas": ("1: 4, 2: 1; 3: 0", {1: 4, 2: 1, 3: 0}),
    "one line, cut off": ("1:4 2:1 3:", {1: 4, 2: 1}),
    "one line after a word": ("Ratings:\n1:4 2:1 3:0", {1: 4, 2: 1, 3: 0}),
    "one line that contradicts itself": ("1:4 1:2 2:1", {2: 1}),
    "one line, undecided": ("1:3-4 2:1", {}),
    "one line out of range": ("1:5 2:3 3:10", {2: 3}),
    "the scale repeated": ("4 - interchangeable\n3 - the same idea\n2 - slight overlap\n1 - different", {}),
    "a span of items": ("1-3: 2", {}),
    "a decimal alone": ("1.0", {}),
    "a negative number": ("1:-1\n2: -3", {}),
    "an ordinal": ("1: 1st is nearer", {}),
    "five thousand digits": ('{"1": ' + "1" * 5_000 + ', "2": 3}', {2: 3}),
    "five thousand digits in a line": ("1: " + "1" * 5_000 + "\n2: 3", {2: 3}),
    "a list by position": ("[4, 1, 0]", {}),
    "nothing": ("", {}),
}


@pytest.mark.parametrize(("reply", "ratings"), RATINGS.values(), ids=RATINGS.keys())
def test_ratings_are_read_by_number(reply: str, ratings: dict[int, int]) -> None:
    assert numbered_ratings(reply, 3) == ratings


# of two questions with three others and two
SHEET = {
    "the form that was asked for": ("1| 4 1 0\n2| 2 3", [[4, 1, 0], [2, 3]]),
    "in another order, with prose around": (
        "Here you are:\n\n2| 2 3\n1| 4 1 0\n\nI hope this helps: 4!",
        [[4, 1, 0], [2, 3]],
    ),
    "decorated": ("**Question 1:** 4, 1; 0\n> - 2. `2 3`", [[4, 1, 0], [2, 3]]),
    "a table": ("| 1 | 4 | 1 | 0 |\n| 2 | 2 | 3 |", [[4, 1, 0], [2, 3]]),
    "JSON on lines": ('{\n"1": [4, 1, 0],\n"2": "2 3"\n}', [[4, 1, 0], [2, 3]]),
    "after a thought": ("<think>1| 1 1 1\nNo.</think>1| 4 1 0", [[4, 1, 0], []]),
    "a thought that never ends": ("<think>1| 1 1 1", [[], []]),
    "a line that is missing": ("2| 2 3", [[], [2, 3]]),
    "a rating too few": ("1| 4 1\n2| 2 3", [[], [2, 3]]),
    "a rating too many": ("1| 4 1 0 0\n2| 2 3", [[], [2, 3]]),
    "a line twice": ("1| 4 1 0\n1| 4, 1, 0", [[4, 1, 0], []]),
    "a line in two parts": ("1| 4 1\n1| 0", [[], []]),
    "a line that contradicts another": ("1| 4 1 0\n1| 3 1 0\n2| 2 3", [[], [2, 3]]),
    "a line that contradicts another of another length": ("1| 4 1 0\n1| 4 1\n2| 2 3", [[], [2, 3]]),
    "ratings out of range": ("1| 5 1 0\n2| 9 9", [[], []]),
    "a rating below the scale": ("1| 4 1 -1\n2| 2 3", [[], [2, 3]]),
    "ratings without spaces": ("1| 410\n2| 23", [[], []]),
    "undecided": ("1| 3-4 1 0", [[], []]),
    "decimals": ("1| 4.0 1.0 0.0\n2.3 3", [[], []]),
    "digits of another script": ("1| \u0664 \u0661 \u0660", [[], []]),
    "a question that is not on the sheet": ("0| 4 1\n1| 2 3 1", [[], []]),
    "a question too many": ("1| 4 1 0\n2| 2 3\n3| 1", [[], []]),
    "ratings without their question": ("4 1 0", [[], []]),
    "ratings by number": ("1| 1:4 2:1 3:0\n2| 1:2 2:3", [[], []]),
    "lines broken up": ("1|\n4\n1\n0\n2| 2 3", [[], [2, 3]]),
    "cut off": ("1| 4 1 0\n2| 2", [[4, 1, 0], []]),
    "reasons between": ("1| 4 (alike) 1 0", [[], []]),
    "a reason behind": ("1| 4 1 0 since they differ\n2| 2 3", [[], [2, 3]]),
    "five thousand digits": ("1| " + "4" * 5_000 + "\n2| 2 3", [[], [2, 3]]),
    "five thousand ratings": ("1|" + " 4" * 5_000 + "\n2| 2 3", [[], [2, 3]]),
    "a number of five thousand digits": ("1" * 5_000 + "| 4\n2| 2 3", [[], [2, 3]]),
    "the example of the request with its words": ('such as "1| 3 0 1"', [[], []]),
    "nothing": ("", [[], []]),
}


@pytest.mark.parametrize(("reply", "ratings"), SHEET.values(), ids=SHEET.keys())
def test_ratings_of_a_sheet_are_read_by_question_whole_or_not_at_all(reply: str, ratings: list[list[int]]) -> None:
    assert sheet_ratings(reply, [3, 2]) == ratings


PAIR = {
    "the form that was asked for": ("Both want to go home.\nRating: 4", 4),
    "zero": ("One says nothing.\nRating: 0", 0),
    "bold": ("Alike.\n\n**Rating:** 3", 3),
    "bold inside": ("Alike.\n\nRating: **3**", 3),
    "on the next line": ("Rating:\n2", 2),
    "in JSON": ('{"reason": "alike", "rating": "3"}', 3),
    "with the scale": ("Rating (0-4): 3", 3),
    "with the scale in bold": ("**Rating (1 to 4):** 2", 2),
    "with a reason after": ("Rating: 1 - they contradict each other (a 4 would be wrong)", 1),
    "in a sentence": ("The rating is 2.", 2),
    "a bare number": ("3", 3),
    "a bare number at the end": ("They share a theme.\n\n**2**\n", 2),
    "a second thought": ("Rating: 2\nOn reflection...\nRating: 3", 3),
    "thoughts before": ("<think>Rating: 1</think>Alike.\nRating: 4", 4),
    "thoughts whose start is elsewhere": ("Rating: 1, no...</think>\nRating: 4", 4),
    "small letters": ("rating = 2", 2),
}


@pytest.mark.parametrize(("reply", "rating"), PAIR.values(), ids=PAIR.keys())
def test_a_pair_has_the_rating_after_the_last_such_word(reply: str, rating: int) -> None:
    assert pair_rating(reply) == rating


NO_PAIR = {
    "nothing": "",
    "space": " \n ",
    "prose": "They are alike, about 3 of 4 words.",
    "a word": "Rating: three",
    "above": "Rating: 5",
    "a bare half": "3.5",
    "the scale alone": "Rating (0-4):",
    "unreadable at last": "Rating: 3\nRating: 7",
    "a number inside the last line": "I give it a 3",
    "thoughts cut off": "<think>Rating: 3",
    "a refusal": "I'm sorry, I can't compare these.",
}


@pytest.mark.parametrize("reply", NO_PAIR.values(), ids=NO_PAIR.keys())
def test_a_pair_without_a_readable_rating_is_an_error(reply: str) -> None:
    with pytest.raises(UnreadableReplyError, match="no rating from 0 to 4"):
        pair_rating(reply)


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=50).filter(lambda text: any(map(str.isalnum, text)))
tagless = words.filter(lambda text: "<" not in text)


@given(st.dictionaries(st.integers(1, 30), tagless))
def test_any_answers_that_were_written_as_json_are_read_back(answers: dict[int, str]) -> None:
    reply = json.dumps({str(number): answer for number, answer in answers.items()})
    assert numbered_answers(reply, 30) == {number: answer.strip() for number, answer in answers.items()}


@given(st.dictionaries(st.integers(1, 30), st.integers(0, 4)), st.permutations(range(1, 31)))
def test_any_ratings_in_any_order_are_read_back_from_lines(ratings: dict[int, int], order: list[int]) -> None:
    lines = [f"{number}. {ratings[number]}" for number in order if number in ratings]
    assert numbered_ratings("\n".join(lines), 30) == ratings


@given(st.text(), st.integers(0, 6))
def test_what_is_read_stays_within_the_numbers_asked_for(reply: str, count: int) -> None:
    assert all(1 <= number <= count and 0 <= rating <= 4 for number, rating in numbered_ratings(reply, count).items())


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=30), max_size=20), st.randoms())
def test_any_sheet_in_any_order_is_read_back(sheet: list[list[int]], chance: random.Random) -> None:
    lines = [f"{number}| " + " ".join(map(str, ratings)) for number, ratings in enumerate(sheet, start=1)]
    chance.shuffle(lines)
    assert sheet_ratings("\n".join(lines), list(map(len, sheet))) == sheet


@given(st.text("0123456789| :\n*-", max_size=200), st.lists(st.integers(1, 3), max_size=3))
def test_what_is_read_of_a_sheet_is_whole_and_on_the_scale(reply: str, counts: list[int]) -> None:
    for ratings, count in zip(sheet_ratings(reply, counts), counts, strict=True):
        assert len(ratings) in {0, count}
        assert all(0 <= rating <= 4 for rating in ratings)


def test_questions_are_read_from_objects_and_from_lines() -> None:
    assert numbered_questions('{"1": "Who rules?", "2": "no question", "9": "Where?"}', 2) == {1: "Who rules?"}
    assert numbered_questions("1. Who rules?\n2) Where is it?", 2) == {1: "Who rules?", 2: "Where is it?"}


def test_choices_are_read_in_any_case_and_spelling_and_nothing_else_is_one() -> None:
    reply = '{"1": "Two_things.", "2": "KEEP", "3": "keep it", "4": ["keep"]}'
    assert numbered_choices(reply, 4, ["two things", "keep"]) == {1: "two things", 2: "keep"}


def test_objects_beyond_ten_thousand_are_not_read() -> None:
    assert len(list(json_objects("{}" * 10_000))) == 10_000
    assert len(list(json_objects("{}" * 10_001))) == 10_000


NONE = ["3/10", "3/40", "2,5", "10,000", "3-9", "3 - 4", "3 to 4", "3 or 4", "3 (or 4)", "3 (0-4)", "4 knights", "3rd"]
NONE += ["2.5", "3.05", "-1", "+3", "3:1", "3 2", "3; 2", "three", "", "1" * 5_000, "3 because", "3_000", "3e1"]
THREE = ["3", " 3 ", "3.0", "3.", "**3**", "[3]", "(3)", "3/4", "3 / 4", "3 out of 4", "3/4.0", "3 - alike"]
THREE += ["3 | alike", "3 (alike)", "3: alike", "3, as both rise", "`3`", '"3"', "Rating: 3", "3 \u2013 alike"]
THREE += ["\u0663"]


@pytest.mark.parametrize("text", NONE)
def test_a_number_that_does_not_stand_alone_is_no_rating(text: str) -> None:
    assert rating_in(text, 0, 4) is None
    assert numbered_ratings(f'{{"1": "{text}"}}', 1) == {}
    assert numbered_ratings(f"1: {text}", 1) == {}
    with pytest.raises(UnreadableReplyError, match="no rating from 0 to 4"):
        pair_rating(f"They are alike.\nRating: {text}")
    if "/10" not in text:
        with pytest.raises(UnreadableReplyError, match="no rating from 1 to 10"):
            quality_level(f"They are alike.\nRating: {text}")


@pytest.mark.parametrize("text", THREE)
def test_a_number_alone_or_before_its_reason_is_a_rating(text: str) -> None:
    assert rating_in(text, 0, 4) == 3
    assert pair_rating(f"They are alike.\nRating: {text}") == 3


def test_what_a_rating_is_out_of_is_the_end_of_its_own_scale() -> None:
    assert [quality_level(f"Rating: {text}") for text in ("3/10", "10/10", "7 out of 10.")] == [3, 10, 7]
    assert rating_between("Rating: 3/5", 1, 5) == 3
    for text in ("3/5", "3/100", "3/1"):
        with pytest.raises(UnreadableReplyError):
            quality_level(f"Rating: {text}")


def test_the_ends_of_a_scale_are_on_it_and_nothing_beyond() -> None:
    assert [rating_in(str(number), 1, 5) for number in range(7)] == [None, 1, 2, 3, 4, 5, None]


@given(st.integers(-20, 20), st.sampled_from(["", ".", " ", "\n", "**", " - so", " (so)", "/10"]))
def test_a_number_is_read_as_itself_or_not_at_all(number: int, behind: str) -> None:
    with contextlib.suppress(UnreadableReplyError):
        assert quality_level(f"Rating: {number}{behind}") == number
        return
    assert not 1 <= number <= 10
