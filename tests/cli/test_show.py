from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from inspect_ai.log import read_eval_log, write_eval_log
from tests.cli.called import genie
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.graders.rubrics import load_rubric

genie_show = partial(genie, "show")


def log(folder: Path, text: str = "It rains.") -> str:
    low, high = asked(0.1, answer="as usual"), asked(0.9, answer="a whale [b]sings[/b]")
    shares: dict[str, Any] = {"coverage": {"plot": "2/3"}, "pairs": {"plot": "20/36"}}
    score = scored({"plot": 0.5, "style": float("nan"), "agent": 0.8}, questions=[low, high], **shares)
    return made_log(folder, [{"genie": score}], texts=[text], prompts=["Write about rain."])


def test_a_document_is_shown_with_scores_what_set_it_apart_and_its_text(tmp_path: Path) -> None:
    result = genie_show(log(tmp_path), 1)
    assert result.exit_code == 0, result.output
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.output.splitlines() if "│" in line]
    # the most novel feature first, what was not measured last
    assert rows[:3] == [
        ["agent", "0.80", "0 of 0", "0 of 0"],
        ["plot", "0.50", "2 of 3", "20 of 36"],
        ["style", "not measured", "0 of 0", "0 of 0"],
    ]
    assert rows[3:] == [["plot", "How does it end?", "a whale [b]sings[/b]", "in snow (3 of 12)"]]
    for told in ("mock/writer, 1, epoch 1", "Write about rain.", "It rains.", "measure:genie"):
        assert told in result.output


def test_a_document_cannot_steer_the_terminal(tmp_path: Path) -> None:
    result = genie_show(log(tmp_path, text="a\x1b[31mred\x07\u202eback\r\nend"), 1)
    assert "a�[31mred��back\nend" in result.output


def test_other_scorers_explain_themselves_in_their_own_words(tmp_path: Path) -> None:
    score = scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")
    score.explanation = "| test | pass |\n|:--|:--|\n| the ending | yes |"
    result = genie_show(made_log(tmp_path, [{"ttcw": score}]), 1)
    assert "the ending" in result.output
    assert "|:--" not in result.output


def test_an_unscored_document_says_why(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": float("nan")}, reason="refusal")}])
    assert "Not scored: refusal" in genie_show(file, 1).output


SCORE = {"genie": scored({"plot": 0.5})}


def refused(result: Result) -> str:
    assert result.exit_code == 1
    (line,) = result.output.strip().splitlines()
    return line


def test_a_score_whose_questions_tell_of_none_of_its_keys_is_explained_by_its_own_words(tmp_path: Path) -> None:
    score = scored({"plot": 0.5}, questions=[asked(0.9, feature="style")])
    score.explanation = "In words."
    output = genie_show(made_log(tmp_path, [{"genie": score}]), 1).output
    assert "In words." in output
    assert "What set it apart" not in output


@pytest.mark.parametrize(
    ("sample", "epoch", "said"),
    [
        ("cow", 1, "no sample 'cow', expected one of owl, fowl, hen; a part that tells is enough"),
        ("", 1, "no sample ''"),
        ("ow", 1, "2 samples 'ow', expected one of owl, fowl;"),
        ("owl", 3, "has no sample 'owl' of epoch 3, expected epoch 1 to 2"),
    ],
)
def test_what_is_no_sample_is_one_line_that_says_which_there_are(
    tmp_path: Path, sample: str, epoch: int, said: str
) -> None:
    file = made_log(tmp_path, [SCORE] * 4, places=[("owl", 1), ("owl", 2), ("fowl", 1), ("hen", 1)])
    assert said in refused(genie_show(file, sample, "--epoch", epoch))
    assert "owl, epoch 2" in genie_show(file, "owl", "--epoch", 2).output


@pytest.mark.parametrize(("count", "listed"), [(5, "1, 2, 3, 4, 5;"), (6, "1, 2, 3, 4, 5, ...;")])
def test_an_unknown_sample_is_answered_with_the_first_five_there_are(count: int, listed: str, tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE] * count)
    assert f"expected one of {listed}" in genie_show(file, "none").output


def test_a_log_need_say_neither_how_many_epochs_nor_which_samples_there_are(tmp_path: Path) -> None:
    log = read_eval_log(made_log(tmp_path, [SCORE]))
    log.eval.config.epochs = None
    write_eval_log(log)
    assert "of epoch 2, expected epoch 1 to 1" in refused(genie_show(log.location, "1", "--epoch", 2))
    log.eval.dataset.sample_ids = None
    write_eval_log(log)
    assert "has no sample '1', expected one of ;" in refused(genie_show(log.location, "1"))


def test_what_is_no_log_and_a_sample_without_our_scores_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "story.eval").write_text("no log", encoding="utf-8")
    foreign = made_log(tmp_path / "a", [{"accuracy": scored(1.0, signature="")}])
    failed = read_eval_log(made_log(tmp_path / "b", [SCORE, SCORE]))
    (failed.samples or [])[1].scores = None
    write_eval_log(failed)
    assert "does not exist" in refused(genie_show(tmp_path / "nowhere.eval", 1))
    assert "cannot be read as a log" in refused(genie_show(tmp_path / "story.eval", 1))
    assert "no scores of ours" in refused(genie_show(foreign, 1))
    assert "has no scores of ours for sample '2'" in refused(genie_show(failed.location, 2))


def test_a_log_that_was_cut_short_is_shown_too_in_its_first_epoch(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE] * 2, places=[("owl", 1), ("owl", 2)], status="error")
    assert "owl, epoch 1" in genie_show(file, "owl").output


def test_of_a_folder_the_document_of_each_log_is_shown_and_a_part_of_its_id_is_enough(tmp_path: Path) -> None:
    score = {"genie": scored({"plot": 0.5})}
    for model in ("m/one", "m/two"):
        made_log(tmp_path, [score] * 3, model=model, places=[("owl-a1", 1), ("fox-b2", 1), ("fox-b", 1)])
    shown_documents = genie_show(tmp_path, "owl").output
    assert all(f"{model}, owl-a1, epoch 1" in shown_documents for model in ("m/one", "m/two"))
    # a whole id is that sample's, also where another begins with it
    assert "fox-b, epoch 1" in genie_show(tmp_path, "fox-b").output
    several = genie_show(tmp_path, "fox")
    assert several.exit_code == 1
    assert "2 samples 'fox', expected one of fox-b2, fox-b" in several.output


def test_rows_of_ttcw_name_their_test(tmp_path: Path) -> None:
    rubric = load_rubric("ttcw")
    signature = f"measure:ttcw|rubric:ttcw@{rubric.digest}|version:0"
    keys = {"ttcw_total": 1.0, f"ttcw_{rubric.tests[0].id}": 1.0}
    file = made_log(tmp_path, [{"ttcw": scored(keys, signature)}])
    assert f"{rubric.tests[0].id} {rubric.tests[0].name}" in genie_show(file, 1).output
    another = made_log(tmp_path, [{"ttcw": scored(keys, "measure:ttcw|rubric:ttcw@another|version:0")}])
    assert f"ttcw {rubric.tests[0].id}" in genie_show(another, 1).output
