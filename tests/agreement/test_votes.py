"""Votes and machine scores, as files hold them."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.votes import TableRow, VotedStory, VotesError, read_votes
from genie_inspect.files.json_lines import SHOWN

NAN = math.nan
ANNOTATION = {"story_idx": 0, "story_id": "0_GPT4", "expert_idx": 9, "ttcw_idx": 1, "binary_verdict": "Yes"}
ANN = {"story": "1_mine", "rater": "ann", "votes": {"01": 1, "02": 0}}


def lines(folder: Path, *rows: object, name: str = "file.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def file(folder: Path, name: str, content: object) -> Path:
    """A file of a text, of JSON Lines or of JSON, by what it is called."""
    if name.endswith(".jsonl") and isinstance(content, list):
        return lines(folder, *content, name=name)
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_line_is_one_persons_votes_on_one_story_of_which_more_than_half_are_a_majority(tmp_path: Path) -> None:
    bob = ANN | {"rater": "bob", "votes": {"01": True, "02": None}}
    [story] = read_votes(lines(tmp_path, ANN, bob))
    assert story.by_test() == {"01": [1.0, 1.0], "02": [0.0]}
    assert story.majority() == {"01": 1.0, "02": 0.0}
    split = VotedStory("1_mine", {"ann": {"01": 1.0, "02": NAN}, "bob": {"01": 0.0}})
    assert split.majority() == {"01": 0, "02": pytest.approx(NAN, nan_ok=True)}


def test_released_votes_have_a_letter_an_expert_and_annotations_an_item_for_each_test(tmp_path: Path) -> None:
    path = file(tmp_path, "file.json", {"stories": {"0_GPT4": {"experts": [9, 1, 7], "tests": ["YNN", "YYN"]}}})
    [story] = read_votes(path)
    assert story.votes["9"] == {"01": 1.0, "02": 1.0}
    assert story.majority() == {"01": 0.0, "02": 1.0}
    # remarks do not count
    items = [ANNOTATION | {"ttcw_idx": index, "binary_verdict": verdict} for index, verdict in ((1, "Yes"), (14, "No"))]
    (story,) = read_votes(file(tmp_path, "votes.json", [{**item, "explanation": "It ends well."} for item in items]))
    assert (story.story, story.votes) == ("0_GPT4", {"9": {"01": 1.0, "14": 0.0}})


def answer(test: str, response: object) -> dict[str, object]:
    return {"id": test, "response": response}


LINES, JSON, CSV, ANSWERS = "votes.jsonl", "votes.json", "ratings.csv", "annotations_mine.jsonl"


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (LINES, [], "has no vote"),
        (LINES, [ANN, ANN], "line 2: 'ann' votes twice on story '1_mine'"),
        (LINES, [{"story": "1_mine", "votes": {"01": 1}}], "line 1, field rater: Field required"),
        (LINES, [ANN | {"votes": {"01": 7}}], "7 by 'ann' on story '1_mine' is a number, expected verdicts"),
        (LINES, [ANN | {"votes": {"01": "perhaps"}}], "line 1, field votes.01"),
        (LINES, [ANN | {"votes": {}}], "line 1, field votes: "),
        (LINES, [ANN | {"mood": "good"}], "line 1, field mood: "),
        (JSON, {"judges": {}}, "has no object 'stories'"),
        (JSON, {"stories": {"0_GPT4": {"tests": ["YNN"]}}}, "'0_GPT4' has no list of experts or no list of tests"),
        (JSON, {"stories": {"0_GPT4": {"experts": [1, 2], "tests": ["YNN"]}}}, "votes 'YNN' for 2 experts"),
        (JSON, {"stories": {"0_GPT4": {"experts": [1, 2, 3], "tests": ["YNX"]}}}, "'X' is not a verdict"),
        (JSON, {"stories": {"0_GPT4": {"experts": [1], "tests": [7]}}}, "votes 7 for 1 experts"),
        (JSON, [{"story_id": "0_GPT4"}], "item 1 has no field 'expert_idx'"),
        (JSON, [ANNOTATION | {"binary_verdict": "perhaps"}], "item 1, column 'binary_verdict' is 'perhaps'"),
        (JSON, [3], "is not a list of objects"),
        (JSON, [], "has no vote"),
        (JSON, "{", "is not JSON"),
        (LINES, None, "cannot be read"),
        (JSON, [ANNOTATION, ANNOTATION], "item 2: '9' votes twice on story '0_GPT4', test '01'"),
        (CSV, "story,rater,humour\na,ann,8\nb,ann,funny\n", "row 3, column 'humour' is 'funny', expected a number"),
        (CSV, "story,rater,humour\na,,8\n", "row 2 has no rater"),
        (CSV, "story,rater,remarks\na,ann,good\n", "has no vote"),
    ],
)
def test_faulty_votes_are_refused_in_one_line(tmp_path: Path, name: str, content: object, fault: str) -> None:
    path = file(tmp_path, name, content)
    if content is None:
        path.unlink()
    with pytest.raises(VotesError) as caught:
        read_votes(path, numbers=name == CSV)
    assert fault in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "rows", "fault"),
    [
        (LINES, [{"story": "1_a"}], "line 1: neither score nor tests"),
        (LINES, [{"story": "1_a", "score": 1}, {"story": "1_a", "score": 2}], "'1_a' has two scores by 'judge'"),
        (LINES, [{"story": "1_a", "score": "good"}], "line 1, field score: "),
        (ANSWERS, [answer("one", "Yes")], "line 1 is not an answer"),
        (ANSWERS, [answer("story_0_A_test1", 1)], "line 1 is not an answer"),
        (
            ANSWERS,
            [answer("story_0_A_test1", said) for said in ("Yes", "No")],
            "line 2: test 01 of story '0_A' has two answers",
        ),
    ],
)
def test_faulty_scores_are_refused_in_one_line(tmp_path: Path, name: str, rows: list[object], fault: str) -> None:
    with pytest.raises(VotesError) as caught:
        read_scores([file(tmp_path, name, rows)])
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_score_of_its_own_a_storys_is_the_number_of_tests_it_passes(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"story": "1_a", "tests": {"01": 1, "02": 0, "03": None}}]
    rows += [{"story": f"1_{score}", "score": score, "judge": "other", "tests": {"01": 1}} for score in (0, 5.5)]
    found = read_scores([lines(tmp_path, *rows)])
    assert found["judge"]["1_a"].score == 1
    assert found["judge"]["1_a"].tests == {"01": 1, "02": 0, "03": pytest.approx(NAN, nan_ok=True)}
    assert [(story.score, story.tests) for story in found["other"].values()] == [(0, {"01": 1}), (5.5, {"01": 1})]
    # of released verdicts neither counts as a pass, and missing as nothing
    found = read_scores([file(tmp_path, "file.json", {"judges": {"gpt4": {"0_GPT4": "YNB-"}}})])
    story = found["gpt4"]["0_GPT4"]
    assert story.score == 2
    assert list(story.tests.values()) == [1, 0, 1, pytest.approx(NAN, nan_ok=True)]


def test_a_row_a_vote_is_the_same_as_a_line_a_person(tmp_path: Path) -> None:
    rows = [{"story": "1_mine", "rater": "ann", "test": test, "verdict": vote} for test, vote in (("01", 1), ("02", 0))]
    assert read_votes(lines(tmp_path, *rows)) == read_votes(lines(tmp_path, ANN, name="other.jsonl"))
    # numbers are votes where they are wanted alone, and a column of them is a scale however many are 1 and 0
    path = lines(tmp_path, *({"story": "1_mine", "rater": f"r{x}", "number": x} for x in (0, 1, 3.5)))
    (story,) = read_votes(path, numbers=True)
    assert story.by_test() == {"": [0, 1, 3.5]}
    with pytest.raises(VotesError, match="is a number, expected verdicts, yes or no"):
        read_votes(path)


def test_more_than_one_slip_in_ten_is_a_scale_that_may_have_1_and_0_and_one_in_ten_is_not(tmp_path: Path) -> None:
    def told(*votes: float | None) -> str:
        ballot = {f"{number:02d}": vote for number, vote in enumerate(votes)}
        try:
            (story,) = read_votes(lines(tmp_path, ANN | {"votes": ballot}), numbers=True)
        except VotesError as error:
            return str(error)
        assert story.votes["ann"] == ballot
        return ""

    assert told(7) == told(0, 7) == told(1, 1, 7, 0, 7) == told(*[0] * 8, 2, 2) == told(5, 5, *[0, 1] * 8, 0) == ""
    for vote, others in ((7, [1, 0]), (11, [1, 0, 0, 1, None]), (0.1, [1.0, 0.0]), (-1, [True, False])):
        cast = sum(other is not None for other in others)
        slip = f"line 1: {vote} by 'ann' on story '1_mine', test '{len(others):02d}' is neither 1 nor 0, "
        assert slip + f"as {cast} of {cast + 1} votes are" in told(*others, vote)
    assert "as 18 of 20 votes" in told(5, 5, *[0, 1] * 9)
    # in a table it is named by its row
    table = file(tmp_path, "votes.csv", "story,rater,01,02\n1_mine,ann,yes,no\n1_mine,bob,yes,10\n")
    with pytest.raises(VotesError, match=r"row 3: 10 by 'bob' on story '1_mine', test '02' is neither 1 nor 0"):
        read_votes(table, numbers=True)


def test_a_row_without_a_verdict_is_no_vote_and_plot_and_source_are_told_by_the_file(tmp_path: Path) -> None:
    row: dict[str, object] = {"story": "1_mine", "rater": "ann", "test": "01", "verdict": None}
    (story,) = read_votes(lines(tmp_path, row, row | {"test": "02", "verdict": True}))
    assert story.by_test() == {"01": [], "02": [1.0]}
    (story,) = read_votes(lines(tmp_path, ANN | {"plot": "heist", "source": "human"}))
    assert (story.plot, story.source) == ("heist", "human")


def test_a_table_of_ratings_has_a_column_a_test_and_remarks_are_no_test(tmp_path: Path) -> None:
    table = (
        "story,plot,source,rater,readability,humour,remarks\n"
        "gpt4-1,1,gpt4,ann,8,0,witty\ngpt4-1,1,gpt4,bob,10,,\nhuman-1,1,human,ann,5,1,\n"
    )
    first, second = read_votes(file(tmp_path, "ratings.csv", table), numbers=True)
    assert (first.story, first.prompt, first.writer) == ("gpt4-1", "1", "gpt4")
    assert first.votes["ann"] == {"readability": 8.0, "humour": 0.0}
    assert math.isnan(first.votes["bob"]["humour"])
    assert first.means() == {"readability": 9.0, "humour": 0.0}
    assert second.votes == {"ann": {"readability": 5.0, "humour": 1.0}}
    # where the file names none a story has the plot and the writer of its id
    (story,) = read_votes(file(tmp_path, "votes.json", [ANNOTATION | {"story_id": "3_GPT4#2"}]))
    assert (story.prompt, story.writer) == ("3", "GPT4")


def test_released_answers_are_verdicts_by_a_judge_named_after_the_file(tmp_path: Path) -> None:
    said = {"01": "Yes, it does.", "02": "**No**, it breaks off.", "03": "I cannot tell."}
    rows = [{"id": f"story_0_GPT3.5_test{int(test)}", "response": text} for test, text in said.items()]
    scores = read_scores([file(tmp_path, "annotations_mine.jsonl", rows)])
    # neither yes nor no counts as a pass
    assert scores["mine"]["0_GPT3.5"].tests == {"01": 1.0, "02": 0.0, "03": 1.0}
    assert scores["mine"]["0_GPT3.5"].score == 2


def row(cell: object) -> TableRow:
    return TableRow("t.csv, row 2", {"x": cell})


@pytest.mark.parametrize("value", ["owl", None, math.inf, "nan", 10**400, "1e13", "w" * 500])
def test_what_is_no_number_or_verdict_is_named_with_its_place_a_long_one_by_its_beginning(value: object) -> None:
    for read, expected in (("number", "a number of at most 1e+12"), ("verdict", "1 or 0, true or false")):
        with pytest.raises(VotesError) as caught:
            getattr(row(value), read)("x")
        assert str(caught.value) == f"t.csv, row 2, column 'x' is {repr(value)[:SHOWN]}, expected {expected}"


def test_a_number_and_a_verdict_are_read_in_any_of_their_forms() -> None:
    assert row(" 1.5 ").number("x") == 1.5
    assert all(row(said).verdict("x") for said in ("1", " YES ", True, 1.0))
    assert not any(row(said).verdict("x") for said in ("No", 0, "0.0", False))


TTCW = "measure:ttcw|version:0"


def judged_log(folder: Path, *totals: float | None, **facts: Any) -> Path:
    """A log of stories by a judge with so many tests passed, None for a sample that failed; facts of the signature."""
    judge = facts.setdefault("judge", "critic(mock/a)")
    signature = "|".join(["measure:ttcw", *(f"{name}:{value}" for name, value in facts.items()), "version:0"])
    tests = [{"id": "01", "pass": True}, {"id": "02", "pass": None}]
    samples = [
        {} if total is None else {"ttcw": scored({"ttcw_total": total}, signature, judge=judge, tests=tests)}
        for total in totals
    ]
    return Path(made_log(folder, samples))


def totals_of(*logs: Path) -> dict[str, list[float]]:
    return {judge: [story.score for story in stories.values()] for judge, stories in read_scores(logs).items()}


def test_a_story_has_its_total_and_its_tests_under_the_name_of_its_judge(tmp_path: Path) -> None:
    # a sample that failed was not judged by whoever judged the others
    one, two, three = read_scores([judged_log(tmp_path, 9, 4, None)])["critic(mock/a)"].values()
    assert [story.story for story in (one, two, three)] == [f"{number}_mock/writer" for number in (1, 2, 3)]
    assert [one.score, two.score, three.score] == [9, 4, pytest.approx(NAN, nan_ok=True)]
    assert two.tests == {"01": 1, "02": pytest.approx(NAN, nan_ok=True)}
    assert three.tests == {}
    # the total is found whatever the rubric is called
    keys, signature = {"my_totals_plot": 1, "my_totals_total": 9}, "measure:ttcw|rubric:my_totals|version:0"
    assert totals_of(Path(made_log(tmp_path, [{"ttcw": scored(keys, signature, judge="j")}]))) == {"j": [9]}


def test_judges_are_a_column_each_told_apart_by_what_differs_in_their_signatures(tmp_path: Path) -> None:
    logs = [judged_log(tmp_path, 9, 4), judged_log(tmp_path, 7, 6, judge="critic(mock/b)")]
    assert totals_of(*logs) == {"critic(mock/a)": [9, 4], "critic(mock/b)": [7, 6]}
    several = [judged_log(tmp_path, 9, cutoff=cutoff, levels=5) for cutoff in (-2, -1)]
    several.append(judged_log(tmp_path, 3, judge="critic(mock/b)", cutoff=-1, levels=7))
    assert list(totals_of(*several)) == ["critic(mock/a) cutoff=-2", "critic(mock/a) cutoff=-1", "critic(mock/b)"]
    # a fact that one signature lacks is a dash
    lacking = judged_log(tmp_path, 9), judged_log(tmp_path, 9, cutoff=-1)
    assert list(totals_of(*lacking)) == ["critic(mock/a) cutoff=-", "critic(mock/a) cutoff=-1"]
    # under one signature two scores of one story are refused
    logs = [judged_log(tmp_path, 9, 4), judged_log(tmp_path, 7)]
    with pytest.raises(VotesError, match=r"log-\d\.eval: story '1_mock/writer' has two scores by 'critic\(mock/a\)'"):
        read_scores(logs)


def test_other_stories_are_of_one_column_and_epochs_are_stories_of_their_own(tmp_path: Path) -> None:
    def logged(*totals: float, **options: Any) -> Path:
        samples = [{"ttcw": scored({"ttcw_total": total}, TTCW, judge="j")} for total in totals]
        return Path(made_log(tmp_path, samples, **options))

    logs = [logged(7.0), logged(5.0, model="mock/other"), logged(3.0, 8.0, places=[("plot", 1), ("plot", 2)])]
    assert {story: own.score for story, own in read_scores(logs)["j"].items()} == {
        **{"1_mock/writer": 7, "1_mock/other": 5},
        **{"plot_mock/writer#1": 3, "plot_mock/writer#2": 8},
    }


@pytest.mark.parametrize(
    "tests", [None, "14 tests: too many to keep here", [1], [{"name": "x"}], [{"id": "01", "pass": "?"}]]
)
def test_a_list_of_tests_in_another_form_is_no_verdict(tmp_path: Path, tests: object) -> None:
    file = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 3.0}, TTCW, judge="j", tests=tests)}])
    (story,) = read_scores([Path(file)])["j"].values()
    assert story.score == 3
    assert all(map(math.isnan, story.tests.values()))


def test_one_run_of_several_ways_is_a_judge_a_way_told_apart_by_how_it_was_asked(tmp_path: Path) -> None:
    def score(total: float, template: str, **facts: str) -> Any:
        judge = f"critic(mock/a,template={template})"
        told = "|".join(f"{name}:{value}" for name, value in facts.items())
        return scored({"ttcw_total": total}, f"measure:ttcw|judge:{judge}|{told}|version:0", judge=judge, tests=[])

    both = score(9, "aaaa1111", analyse="true", reference="true")
    alone = score(4, "bbbb2222", analyse="false", reference="false")
    assert totals_of(Path(made_log(tmp_path, [{"ttcw": both, "ttcw1": alone}]))) == {
        "critic(mock/a) analyse=true reference=true": [9],
        "critic(mock/a) analyse=false reference=false": [4],
    }
