"""Votes and verdicts in the layouts in which studies release them."""

import json
import math
from pathlib import Path

import pytest

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.mixed_models.rows import TableError
from genie_inspect.agreement.votes import VotesError, read_votes

ANNOTATION = {"story_idx": 0, "story_id": "0_GPT4", "expert_idx": 9, "ttcw_idx": 1, "binary_verdict": "Yes"}


def file(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_released_annotations_are_a_vote_an_item_with_remarks_that_do_not_count(tmp_path: Path) -> None:
    items = [ANNOTATION | {"ttcw_idx": index, "binary_verdict": verdict} for index, verdict in ((1, "Yes"), (14, "No"))]
    (story,) = read_votes(file(tmp_path, "votes.json", [{**item, "explanation": "It ends well."} for item in items]))
    assert (story.story, story.votes) == ("0_GPT4", {"9": {"01": 1.0, "14": 0.0}})


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        ([{"story_id": "0_GPT4"}], "item 1 has no field 'expert_idx'"),
        ([ANNOTATION | {"binary_verdict": "perhaps"}], "item 1, column 'binary_verdict' is 'perhaps'"),
        ([3], "is no list of objects"),
        ([], "holds no vote"),
        ([ANNOTATION, ANNOTATION], "item 2: '9' votes twice on story '0_GPT4', test '01'"),
    ],
)
def test_a_faulty_list_of_annotations_is_refused_in_one_line(tmp_path: Path, items: list[object], fault: str) -> None:
    with pytest.raises((VotesError, TableError)) as caught:
        read_votes(file(tmp_path, "votes.json", items))
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


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


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("story,rater,humour\na,ann,8\nb,ann,funny\n", "row 3, column 'humour' is 'funny', expected a number"),
        ("story,rater,humour\na,,8\n", "row 2 has no rater"),
        ("story,rater,remarks\na,ann,good\n", "holds no vote"),
    ],
)
def test_a_faulty_table_of_ratings_is_refused_in_one_line(tmp_path: Path, table: str, fault: str) -> None:
    with pytest.raises((VotesError, TableError)) as caught:
        read_votes(file(tmp_path, "ratings.csv", table), numbers=True)
    assert fault in str(caught.value)


def test_a_story_has_the_plot_and_the_writer_of_its_id_where_the_file_names_none(tmp_path: Path) -> None:
    (story,) = read_votes(file(tmp_path, "votes.json", [ANNOTATION]))
    assert (story.prompt, story.writer) == ("0", "GPT4")


def test_released_answers_are_verdicts_by_a_judge_named_after_the_file(tmp_path: Path) -> None:
    said = {"01": "Yes, it does.", "02": "**No**, it breaks off.", "03": "I cannot tell."}
    rows = [{"id": f"story_0_GPT3.5_test{int(test)}", "response": text} for test, text in said.items()]
    path = file(tmp_path, "annotations_mine.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    scores = read_scores([path])
    # neither yes nor no counts as a pass
    assert scores["mine"]["0_GPT3.5"].tests == {"01": 1.0, "02": 0.0, "03": 1.0}
    assert scores["mine"]["0_GPT3.5"].score == 2


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([{"id": "one", "response": "Yes"}], "line 1 is no answer"),
        ([{"id": "story_0_A_test1", "response": 1}], "line 1 is no answer"),
        (
            [{"id": "story_0_A_test1", "response": "Yes"}, {"id": "story_0_A_test1", "response": "No"}],
            "line 2: test 01 of story '0_A' has two answers",
        ),
    ],
)
def test_faulty_answers_are_refused_in_one_line(tmp_path: Path, rows: list[object], fault: str) -> None:
    path = file(tmp_path, "annotations_mine.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises((VotesError, TableError)) as caught:
        read_scores([path])
    assert fault in str(caught.value)
