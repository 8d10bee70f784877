import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import Score
from tests.reports.made_logs import GENIE, asked, made_log, scored

from genie_inspect.cli import main
from genie_inspect.cli.show import shown
from genie_inspect.files.printable import printable
from genie_inspect.graders.rubrics import load_rubric
from genie_inspect.logs.files import LogError


def genie_show(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["show", *map(str, arguments)])


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


@pytest.mark.parametrize(("sample", "epoch", "said"), [("7", 1, "expected one of 1;"), ("1", 2, "epoch 1 to 1")])
def test_an_unknown_sample_is_one_line_that_says_which_there_are(
    tmp_path: Path, sample: str, epoch: int, said: str
) -> None:
    result = genie_show(log(tmp_path), sample, "--epoch", epoch)
    assert result.exit_code == 1
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_what_is_no_log_and_a_sample_without_our_scores_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "story.eval").write_text("no log", encoding="utf-8")
    foreign = made_log(tmp_path / "a", [{"accuracy": scored(1.0, signature="")}])
    for result, expected in (
        (genie_show(tmp_path / "nowhere.eval", 1), "does not exist"),
        (genie_show(tmp_path / "story.eval", 1), "cannot be read as a log"),
        (genie_show(foreign, 1), "no scores of ours"),
    ):
        assert result.exit_code == 1
        assert expected in result.output
        assert len(result.output.strip().splitlines()) == 1


def test_lines_and_tabs_stay() -> None:
    assert printable("a\n\tb") == "a\n\tb"


def test_an_unknown_epoch_is_one_line_that_says_how_many_there_are(tmp_path: Path) -> None:
    score = {"genie": scored({"plot": 0.5})}
    file = made_log(tmp_path, [score] * 3, places=[("a", 1), ("a", 2), ("a", 3)])
    assert "'a' of epoch 4, expected epoch 1 to 3" in genie_show(file, "a", "--epoch", 4).output


@pytest.mark.parametrize(("count", "listed"), [(5, "1, 2, 3, 4, 5;"), (6, "1, 2, 3, 4, 5, ...;")])
def test_an_unknown_sample_is_answered_with_the_first_five_there_are(count: int, listed: str, tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}] * count)
    assert f"expected one of {listed}" in genie_show(file, "none").output


def test_of_a_folder_the_document_of_each_log_is_shown_and_a_part_of_its_id_is_enough(tmp_path: Path) -> None:
    score = {"genie": scored({"plot": 0.5})}
    for model in ("m/one", "m/two"):
        made_log(tmp_path, [score] * 3, model=model, places=[("owl-a1", 1), ("fox-b2", 1), ("fox-b", 1)])
    shown = genie_show(tmp_path, "owl").output
    assert all(f"{model}, owl-a1, epoch 1" in shown for model in ("m/one", "m/two"))
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


SCORE = {"genie": scored({"plot": 0.5, "style": 0.75, "agent": math.nan}, questions=[asked(0.9, answer="a whale")])}


def test_keys_stand_from_the_most_novel_down_and_what_was_not_measured_last(tmp_path: Path) -> None:
    (found,) = shown(made_log(tmp_path, [SCORE]), "1", 1)
    assert (found.label, found.sample, found.epoch, found.prompt, found.text) == (
        *("mock/writer", "1", 1),
        *("Prompt 1", "It rains."),
    )
    (score,) = found.scores
    assert [key for key, _, _ in score.rows] == ["style", "plot", "agent"]
    assert [question.answer if question else None for _, _, question in score.rows] == [None, "a whale", None]
    # the questions say what set it apart
    assert score.explanation == ""


def test_a_score_without_questions_is_explained_by_its_own_words(tmp_path: Path) -> None:
    score = scored({"cosine_mean": 0.5}, "measure:cosine|version:0")
    score.explanation = "Mean distance 0.5."
    (found,) = shown(made_log(tmp_path, [{"cosine": score, "theirs": Score(value=1.0)}]), "1", 1)
    assert [(one.scorer, one.explanation) for one in found.scores] == [("cosine", "Mean distance 0.5.")]


def test_a_sample_that_failed_before_it_was_scored_is_named(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE, SCORE])
    log = read_eval_log(file)
    (log.samples or [])[1].scores = None
    write_eval_log(log)
    with pytest.raises(LogError, match="has no scores of ours for sample '2'"):
        shown(file, "2", 1)


def test_a_part_of_an_id_is_enough_where_one_sample_has_it(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE] * 3, places=[("owl", 1), ("fowl", 1), ("hen", 1)])
    assert [one.sample for part in ("hen", "he", "owl") for one in shown(file, part, 1)] == ["hen", "hen", "owl"]
    refused = {"ow": "2 samples 'ow', expected one of owl, fowl;", "cow": "no sample 'cow', expected one of owl, "}
    for part, said in refused.items():
        with pytest.raises(LogError, match=said):
            shown(file, part, 1)
    with pytest.raises(LogError, match="no sample ''"):
        shown(file, "", 1)


@pytest.mark.parametrize(("samples", "listed"), [(5, "1, 2, 3, 4, 5;"), (6, "1, 2, 3, 4, 5, ...;")])
def test_of_the_ids_that_there_are_five_are_named(samples: int, listed: str, tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE] * samples)
    with pytest.raises(LogError) as caught:
        shown(file, "x", 1)
    assert f"expected one of {listed}" in str(caught.value)


def test_an_epoch_that_there_is_not_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE] * 2, places=[("owl", 1), ("owl", 2)])
    (second,) = shown(file, "owl", 2)
    assert second.epoch == 2
    with pytest.raises(LogError, match="has no sample 'owl' of epoch 3, expected epoch 1 to 2"):
        shown(file, "owl", 3)


def test_of_several_logs_each_has_its_document(tmp_path: Path) -> None:
    for model in ("m/a", "m/b"):
        made_log(tmp_path, [SCORE], model=model)
    assert [one.label for one in shown(str(tmp_path), "1", 1)] == ["m/a", "m/b"]


def test_a_log_that_was_cut_short_is_shown_too_in_its_first_epoch(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE] * 2, places=[("owl", 1), ("owl", 2)], status="error")
    (found,) = shown(file, "owl")
    assert found.epoch == 1


def test_a_sample_is_refused_in_one_line_that_says_what_would_do(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE])
    with pytest.raises(LogError) as caught:
        shown(file, "cow")
    assert str(caught.value) == f"{file} has no sample 'cow', expected one of 1; a part that tells is enough"
    with pytest.raises(LogError) as caught:
        shown(file, "1", 2)
    assert str(caught.value) == f"{file} has no sample '1' of epoch 2, expected epoch 1 to 1"
    # a log need say neither how many epochs nor which samples there are
    log = read_eval_log(file)
    log.eval.config.epochs = None
    write_eval_log(log)
    with pytest.raises(LogError, match="of epoch 2, expected epoch 1 to 1"):
        shown(file, "1", 2)
    log.eval.dataset.sample_ids = None
    write_eval_log(log)
    with pytest.raises(LogError, match="has no sample '1', expected one of ;"):
        shown(file, "1")


def test_a_score_whose_questions_tell_of_none_of_its_keys_is_explained_by_its_own_words(tmp_path: Path) -> None:
    score = scored({"plot": 0.5}, questions=[asked(0.9, feature="style")])
    score.explanation = "In words."
    ((found,),) = [one.scores for one in shown(made_log(tmp_path, [{"genie": score}]), "1")]
    assert found.explanation == "In words."
    assert (found.signature, found.reason) == (GENIE, "")
