import json
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.agreement.curiosity.votes_file import read_explained_votes
from genie_inspect.agreement.votes import VotesError
from genie_inspect.engines.curiosity.votes import ExplainedVote

ROW = {
    "story": "3_GPT4",
    "text": "The lamp went out.",
    "test": "09",
    "question": "Is it original?",
    "rater": "ann",
    "verdict": True,
    "explanation": "A fresh idea.",
}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "votes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_line_is_a_vote_whose_plot_is_in_its_story_id(tmp_path: Path) -> None:
    assert read_explained_votes(written(tmp_path, ROW)) == [
        ExplainedVote("3_GPT4", "3", "The lamp went out.", "09", "Is it original?", "ann", True, "A fresh idea.")
    ]


def test_a_plot_may_be_named_and_an_explanation_be_missing(tmp_path: Path) -> None:
    row = {name: value for name, value in ROW.items() if name != "explanation"} | {"plot": "castle"}
    (vote,) = read_explained_votes(written(tmp_path, row))
    assert (vote.plot, vote.explanation) == ("castle", None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": "  "}, "line 2, field text: String should have at least 1 character"),
        ({"explanation": ""}, "line 2, field explanation"),
        ({"verdict": "perhaps"}, "line 2, field verdict: .*perhaps.*expected a line a verdict"),
        ({"mood": 1}, "line 2, field mood: Extra inputs"),
    ],
)
def test_a_line_that_is_no_vote_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    with pytest.raises(VotesError, match=said):
        read_explained_votes(written(tmp_path, ROW, {**ROW, "story": "4_GPT4", **change}))


def test_two_verdicts_of_one_rater_on_one_test_are_refused(tmp_path: Path) -> None:
    others = {**ROW, "test": "10"}, {**ROW, "rater": "bob"}, {**ROW, "verdict": False}
    with pytest.raises(VotesError, match="'ann' gives 2 verdicts on test '09' of story '3_GPT4', expected one"):
        read_explained_votes(written(tmp_path, ROW, *others))


@pytest.mark.parametrize("change", [{"text": "Another story."}, {"plot": "castle"}])
def test_a_story_has_one_text_and_one_plot(tmp_path: Path, change: dict[str, str]) -> None:
    with pytest.raises(VotesError, match="story '3_GPT4' has two texts or plots"):
        read_explained_votes(written(tmp_path, ROW, {**ROW, "rater": "bob", **change}))


def test_an_empty_file_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(VotesError, match="holds no vote, expected a line a verdict"):
        read_explained_votes(written(tmp_path))
