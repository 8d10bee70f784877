"""Votes and machine scores, as files hold them."""

import json
import math
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.mixed_models.rows import TableError
from genie_inspect.agreement.votes import VotedStory, VotesError, read_votes

ANN = {"story": "1_mine", "rater": "ann", "votes": {"01": 1, "02": 0}}


def lines(folder: Path, *rows: object, name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def whole(folder: Path, content: object) -> Path:
    path = folder / "file.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_line_is_one_persons_votes_on_one_story(tmp_path: Path) -> None:
    bob = ANN | {"rater": "bob", "votes": {"01": True, "02": None}}
    [story] = read_votes(lines(tmp_path, ANN, bob))
    assert story.by_test() == {"01": [1.0, 1.0], "02": [0.0]}
    assert story.majority() == {"01": 1.0, "02": 0.0}


def test_half_of_the_votes_is_no_majority_and_no_vote_is_no_verdict() -> None:
    story = VotedStory("1_mine", {"ann": {"01": 1.0, "02": math.nan}, "bob": {"01": 0.0}})
    assert story.majority()["01"] == 0
    assert math.isnan(story.majority()["02"])


def test_released_votes_have_a_letter_an_expert_for_each_test(tmp_path: Path) -> None:
    path = whole(tmp_path, {"stories": {"0_GPT4": {"experts": [9, 1, 7], "tests": ["YNN", "YYN"]}}})
    [story] = read_votes(path)
    assert story.votes["9"] == {"01": 1.0, "02": 1.0}
    assert story.majority() == {"01": 0.0, "02": 1.0}


VOTES: list[tuple[list[Any], str]] = [
    ([], "holds no vote"),
    ([ANN, ANN], "line 2: 'ann' votes twice on story '1_mine'"),
    ([{"story": "1_mine", "votes": {"01": 1}}], "line 1, field rater: Field required"),
    ([ANN | {"votes": {"01": 7}}], "7 by 'ann' on story '1_mine' is a number, expected verdicts"),
    ([ANN | {"votes": {"01": "perhaps"}}], "line 1, field votes.01"),
    ([ANN | {"votes": {}}], "line 1, field votes: "),
    ([ANN | {"mood": "good"}], "line 1, field mood: "),
]


@pytest.mark.parametrize(("rows", "fault"), VOTES)
def test_faulty_votes_are_refused_in_one_line(tmp_path: Path, rows: list[Any], fault: str) -> None:
    path = lines(tmp_path, *rows)
    with pytest.raises(VotesError) as caught:
        read_votes(path)
    assert fault in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


RELEASED: list[tuple[Any, str]] = [
    ({"judges": {}}, "has no object 'stories'"),
    ({"stories": {"0_GPT4": {"tests": ["YNN"]}}}, "'0_GPT4' lacks a list of experts or of tests"),
    ({"stories": {"0_GPT4": {"experts": [1, 2], "tests": ["YNN"]}}}, "votes 'YNN' for 2 experts"),
    ({"stories": {"0_GPT4": {"experts": [1, 2, 3], "tests": ["YNX"]}}}, "'X' is no verdict"),
    ({"stories": {"0_GPT4": {"experts": [1], "tests": [7]}}}, "votes 7 for 1 experts"),
]


@pytest.mark.parametrize(("content", "fault"), RELEASED)
def test_faulty_released_votes_are_refused_in_one_line(tmp_path: Path, content: Any, fault: str) -> None:
    with pytest.raises(VotesError) as caught:
        read_votes(whole(tmp_path, content))
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(VotesError, match="cannot be read"):
        read_votes(tmp_path / "missing.jsonl")
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(VotesError, match="is no JSON"):
        read_votes(broken)


def test_without_a_score_of_its_own_a_storys_is_the_number_of_tests_it_passes(tmp_path: Path) -> None:
    rows = [{"story": "1_a", "tests": {"01": 1, "02": 0, "03": None}}, {"story": "1_b", "score": 9.5, "judge": "other"}]
    found = read_scores([lines(tmp_path, *rows)])
    assert found["judge"]["1_a"].score == 1
    assert math.isnan(found["judge"]["1_a"].tests["03"])
    assert found["other"]["1_b"].score == 9.5


def test_released_verdicts_count_neither_as_a_pass_and_missing_as_nothing(tmp_path: Path) -> None:
    found = read_scores([whole(tmp_path, {"judges": {"gpt4": {"0_GPT4": "YNB-"}}})])
    story = found["gpt4"]["0_GPT4"]
    assert story.score == 2
    assert list(story.tests.values())[:3] == [1, 0, 1]
    assert math.isnan(story.tests["04"])


SCORES: list[tuple[list[Any], str]] = [
    ([{"story": "1_a"}], "line 1: neither score nor tests"),
    ([{"story": "1_a", "score": 1}, {"story": "1_a", "score": 2}], "story '1_a' has two scores by 'judge'"),
    ([{"story": "1_a", "score": "good"}], "line 1, field score: "),
]


@pytest.mark.parametrize(("rows", "fault"), SCORES)
def test_faulty_scores_are_refused_in_one_line(tmp_path: Path, rows: list[Any], fault: str) -> None:
    with pytest.raises(VotesError) as caught:
        read_scores([lines(tmp_path, *rows)])
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("score", [0, 5.5])
def test_a_score_of_its_own_goes_before_the_number_of_tests_that_are_passed(tmp_path: Path, score: float) -> None:
    found = read_scores([lines(tmp_path, {"story": "1_a", "score": score, "tests": {"01": 1, "02": 1}})])
    assert (found["judge"]["1_a"].score, found["judge"]["1_a"].tests) == (score, {"01": 1, "02": 1})


def test_a_row_a_vote_is_the_same_as_a_line_a_person(tmp_path: Path) -> None:
    rows = [{"story": "1_mine", "rater": "ann", "test": test, "verdict": vote} for test, vote in (("01", 1), ("02", 0))]
    assert read_votes(lines(tmp_path, *rows)) == read_votes(lines(tmp_path, ANN, name="other.jsonl"))


def test_numbers_are_votes_where_they_are_wanted_alone(tmp_path: Path) -> None:
    path = lines(tmp_path, {"story": "1_mine", "rater": "ann", "number": 3.5})
    (story,) = read_votes(path, numbers=True)
    assert story.votes == {"ann": {"": 3.5}}
    with pytest.raises(VotesError, match="is a number, expected verdicts, yes or no"):
        read_votes(path)


@pytest.mark.parametrize(
    ("vote", "others"), [(7, [1, 0]), (11, [1, 0, 0, 1, None]), (0.1, [1.0, 0.0]), (-1, [True, False])]
)
def test_a_slip_among_yes_and_no_makes_no_scale_of_them(vote: float, others: list[Any], tmp_path: Path) -> None:
    votes = {f"{number:02d}": value for number, value in enumerate([*others, vote])}
    path = lines(tmp_path, ANN, {"story": "2_mine", "rater": "bob", "votes": votes})
    test, cast = list(votes)[-1], sum(value is not None for value in others) + 2
    with pytest.raises(TableError) as caught:
        read_votes(path, numbers=True)
    assert str(caught.value).startswith(
        f"{path}, line 2: {vote} by 'bob' on story '2_mine', test {test!r} is neither 1 nor 0, "
        f"as {cast} of {cast + 1} votes are"
    )


def test_a_slip_in_a_table_is_named_by_its_row(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("story,rater,01,02\n1_mine,ann,yes,no\n1_mine,bob,yes,10\n", encoding="utf-8")
    with pytest.raises(TableError, match=r"row 3: 10 by 'bob' on story '1_mine', test '02' is neither 1 nor 0"):
        read_votes(path, numbers=True)


@pytest.mark.parametrize("votes", [[7], [0, 7], [1, 1, 7, 0, 7], [0] * 8 + [2, 2]])
def test_a_scale_may_have_1_and_0_on_it(votes: list[int], tmp_path: Path) -> None:
    ballot = {f"{number:02d}": vote for number, vote in enumerate(votes)}
    (story,) = read_votes(lines(tmp_path, {"story": "1_mine", "rater": "ann", "votes": ballot}), numbers=True)
    assert story.votes["ann"] == ballot


def test_more_than_one_slip_in_ten_is_a_scale_and_one_in_ten_is_not(tmp_path: Path) -> None:
    for cast, refused in ((20, True), (19, False)):
        ballot = {str(number): 5 if number < 2 else number % 2 for number in range(cast)}
        path = lines(tmp_path, {"story": "1_mine", "rater": "ann", "votes": ballot})
        with pytest.raises(TableError, match="as 18 of 20 votes") if refused else nullcontext():
            read_votes(path, numbers=True)


def test_a_column_of_numbers_is_a_scale_however_many_are_1_and_0(tmp_path: Path) -> None:
    rows = [{"story": "1_mine", "rater": f"r{place}", "number": number} for place, number in enumerate([0, 1, 0, 2])]
    (story,) = read_votes(lines(tmp_path, *rows), numbers=True)
    assert story.by_test() == {"": [0, 1, 0, 2]}


def test_a_row_without_a_verdict_is_no_vote(tmp_path: Path) -> None:
    row: dict[str, object] = {"story": "1_mine", "rater": "ann", "test": "01", "verdict": None}
    (story,) = read_votes(lines(tmp_path, row, row | {"test": "02", "verdict": True}))
    assert story.by_test() == {"01": [], "02": [1.0]}


def test_plot_and_source_are_told_by_the_file(tmp_path: Path) -> None:
    (story,) = read_votes(lines(tmp_path, ANN | {"plot": "heist", "source": "human"}))
    assert (story.plot, story.source) == ("heist", "human")
