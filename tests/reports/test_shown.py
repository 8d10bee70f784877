"""One document of a log with its scores, as `genie show` shows it."""

import math
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import Score
from tests.reports.made_logs import GENIE, asked, made_log, scored

from genie_inspect.logs.files import LogError
from genie_inspect.reports.shown import shown

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
