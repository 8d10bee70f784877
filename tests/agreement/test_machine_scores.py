"""Machine scores as logs hold them."""

import math
from pathlib import Path
from typing import Any

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.votes import VotesError


def judged_log(folder: Path, *totals: float | None, **facts: Any) -> Path:
    """A log of stories by a judge with as many tests passed; None for a sample that failed.

    Args:
        folder: Where to.
        totals: Of each story.
        facts: Of the signature, the judge among them.
    """
    judge = facts.setdefault("judge", "critic(mock/a)")
    signature = "|".join(["measure:ttcw", *(f"{name}:{value}" for name, value in facts.items()), "version:0"])
    tests = [{"id": "01", "pass": True}, {"id": "02", "pass": None}]
    samples = [
        {} if total is None else {"ttcw": scored({"ttcw_total": total}, signature, judge=judge, tests=tests)}
        for total in totals
    ]
    return Path(made_log(folder, samples))


def test_a_story_has_its_total_and_its_tests_under_the_name_of_its_judge(tmp_path: Path) -> None:
    scores = read_scores([judged_log(tmp_path, 9, 4)])
    assert list(scores) == ["critic(mock/a)"]
    story = scores["critic(mock/a)"]["2_mock/writer"]
    assert (story.score, story.tests["01"]) == (4, 1)
    assert math.isnan(story.tests["02"])


def test_the_total_is_found_whatever_the_rubric_is_called(tmp_path: Path) -> None:
    keys = {"my_totals_plot": 1, "my_totals_total": 9}
    signature = "measure:ttcw|rubric:my_totals|version:0"
    log = Path(made_log(tmp_path, [{"ttcw": scored(keys, signature, judge="critic(mock/a)")}]))
    assert [story.score for story in read_scores([log])["critic(mock/a)"].values()] == [9]


def test_logs_of_two_judges_are_a_column_each(tmp_path: Path) -> None:
    scores = read_scores([judged_log(tmp_path, 9, 4), judged_log(tmp_path, 7, 6, judge="critic(mock/b)")])
    assert {judge: [story.score for story in own.values()] for judge, own in scores.items()} == {
        "critic(mock/a)": [9, 4],
        "critic(mock/b)": [7, 6],
    }


def test_one_judge_under_two_signatures_is_told_apart_by_what_differs_in_them(tmp_path: Path) -> None:
    logs = [judged_log(tmp_path, 9, cutoff=cutoff, levels=5) for cutoff in (-2, -1)]
    logs.append(judged_log(tmp_path, 3, judge="critic(mock/b)", cutoff=-1, levels=7))
    assert list(read_scores(logs)) == ["critic(mock/a) cutoff=-2", "critic(mock/a) cutoff=-1", "critic(mock/b)"]


def test_a_fact_that_one_signature_lacks_is_a_dash(tmp_path: Path) -> None:
    logs = [judged_log(tmp_path, 9), judged_log(tmp_path, 9, cutoff=-1)]
    assert list(read_scores(logs)) == ["critic(mock/a) cutoff=-", "critic(mock/a) cutoff=-1"]


def test_two_scores_of_one_story_under_one_signature_are_refused(tmp_path: Path) -> None:
    logs = [judged_log(tmp_path, 9, 4), judged_log(tmp_path, 7)]
    with pytest.raises(VotesError, match=r"log-1\.eval: story '1_mock/writer' has two scores by 'critic\(mock/a\)'"):
        read_scores(logs)


def test_logs_of_one_signature_and_other_stories_are_one_column(tmp_path: Path) -> None:
    other = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 5.0}, judge="critic(mock/a)")}], model="mock/other")
    mine = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 7.0}, judge="critic(mock/a)")}])
    scores = read_scores([Path(mine), Path(other)])
    assert {story: own.score for story, own in scores["critic(mock/a)"].items()} == {
        "1_mock/writer": 7,
        "1_mock/other": 5,
    }


def test_a_sample_that_failed_was_not_judged_by_whoever_judged_the_others(tmp_path: Path) -> None:
    scores = read_scores([judged_log(tmp_path, None, 4)])["critic(mock/a)"]
    assert math.isnan(scores["1_mock/writer"].score)
    assert scores["1_mock/writer"].tests == {}
    assert scores["2_mock/writer"].score == 4


def test_epochs_are_stories_of_their_own(tmp_path: Path) -> None:
    places = [("plot", 1), ("plot", 2)]
    samples = [{"ttcw": scored({"ttcw_total": total}, judge="j")} for total in (3.0, 8.0)]
    scores = read_scores([Path(made_log(tmp_path, samples, places=places))])["j"]
    assert {story: own.score for story, own in scores.items()} == {"plot_mock/writer#1": 3, "plot_mock/writer#2": 8}


@pytest.mark.parametrize(
    "tests", [None, "14 tests: too many to keep here", [1], [{"name": "x"}], [{"id": "01", "pass": "?"}]]
)
def test_a_list_of_tests_in_another_form_is_no_verdict(tmp_path: Path, tests: object) -> None:
    file = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 3.0}, judge="j", tests=tests)}])
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
    scores = read_scores([Path(made_log(tmp_path, [{"ttcw": both, "ttcw1": alone}]))])
    totals = {judge: [story.score for story in stories.values()] for judge, stories in scores.items()}
    assert totals == {
        "critic(mock/a) analyse=true reference=true": [9],
        "critic(mock/a) analyse=false reference=false": [4],
    }
