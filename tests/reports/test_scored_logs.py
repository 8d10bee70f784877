import math
from pathlib import Path

import pytest
from inspect_ai.log import EvalResults, read_eval_log, write_eval_log
from tests.reports.made_logs import GENIE, made_log, scored

from genie_inspect.reports.scored_logs import POPULATION, Scores, read_logs, read_scored_log
from genie_inspect.reports.summary import ReportError

NAN = math.nan


def test_a_document_has_its_prompt_its_words_and_what_each_scorer_of_ours_said(tmp_path: Path) -> None:
    genie = scored({"plot": 0.5, "style": NAN}, coverage={"plot": "2/3", "style": "none"})
    other = scored(0.25, "measure:cosine|version:0")
    file = made_log(tmp_path, [{"genie": genie, "cosine": other}], texts=["One two  three."], prompts=["Write!"])
    (document,) = read_scored_log(file).documents
    assert (document.sample, document.epoch, document.prompt, document.words) == (1, 1, "Write!", 3)
    assert document.scores["genie"].values["plot"] == 0.5
    assert math.isnan(document.scores["genie"].values["style"])
    assert document.scores["genie"].coverage == {"plot": (2, 3)}
    assert document.scores["cosine"] == Scores({"cosine": 0.25}, "", {})


def test_scores_without_a_signature_of_ours_are_not_read(tmp_path: Path) -> None:
    foreign = scored(1.0, signature="something else")
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5}), "accuracy": foreign}])
    assert read_scored_log(file).signatures == {"genie": GENIE}


def test_a_score_that_is_nothing_but_unscored_has_no_key_and_its_reason(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored(NAN, reason="refusal")}])
    (document,) = read_scored_log(file).documents
    assert document.scores["genie"] == Scores({}, "refusal", {})


def test_a_log_whose_documents_all_stand_in_the_population_is_the_populations_and_comes_last(tmp_path: Path) -> None:
    its_own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d-1"])}] * 2)
    copied = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=left_out)} for left_out in ([], ["d-1"])])
    assert [(log.label, log.is_population) for log in read_logs([its_own, copied])] == [
        ("mock/writer", False),
        (POPULATION, True),
    ]


def test_logs_of_one_model_have_names_of_their_own(tmp_path: Path) -> None:
    files = [made_log(tmp_path, [{"genie": scored({"plot": 0.5})}]) for _ in range(2)]
    assert [log.label for log in read_logs(files)] == [
        "mock/writer (2026-01-02 03:04 #1)",
        "mock/writer (2026-01-02 03:04 #2)",
    ]


def test_logs_of_one_model_are_told_apart_by_their_tasks(tmp_path: Path) -> None:
    files = []
    for task in ("grid_baseline", "grid_outline"):
        files.append(made_log(tmp_path, [{"genie": scored({"plot": 0.5})}]))
        log = read_eval_log(files[-1])
        log.eval.task = f"genie_inspect/{task}"
        write_eval_log(log)
    assert [log.label for log in read_logs(files)] == ["mock/writer grid_baseline", "mock/writer grid_outline"]


def test_a_log_in_json_is_read_as_one_in_an_archive(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": value})} for value in (0.1, NAN, 0.3)])
    write_eval_log(read_eval_log(file), tmp_path / "log.json")
    first, second = read_logs([file])[0], read_logs([tmp_path / "log.json"])[0]
    assert [str(document) for document in second.documents] == [str(document) for document in first.documents]
    assert len(first.documents) == 3


def test_samples_that_the_log_does_not_have_are_passed_over(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": value})} for value in (0.1, 0.2, 0.3)])
    log = read_eval_log(file)
    log.eval.dataset.sample_ids = [3, 1, 7]
    log.samples = (log.samples or [])[:1] + (log.samples or [])[2:]
    log.results = EvalResults(total_samples=3, completed_samples=2)
    write_eval_log(log)
    assert [document.sample for document in read_logs([file])[0].documents] == [3, 1]


def test_a_log_that_counts_all_its_samples_is_read_as_one_that_does_not(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": value})} for value in (0.1, 0.2, 0.3)])
    before = read_logs([file])[0].documents
    log = read_eval_log(file)
    log.results = EvalResults(total_samples=3, completed_samples=3)
    write_eval_log(log)
    assert read_logs([file])[0].documents == before
    assert len(before) == 3


def test_signatures_that_differ_are_refused_with_what_differs_and_where(tmp_path: Path) -> None:
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": 0.5}, GENIE.replace("test", judge))}]) for judge in ("a", "b")
    ]
    with pytest.raises(ReportError) as caught:
        read_logs(files)
    assert str(caught.value) == (
        "scores by 'genie' do not compare, their signatures differ: judge is a and b (log-0.eval and log-1.eval)"
    )


def test_two_signatures_within_a_log_are_refused(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, f"{GENIE}{number}")} for number in range(2)])
    with pytest.raises(ReportError, match=r"version is 00 and 01 \(log-0\.eval\)"):
        read_scored_log(file)


def test_a_log_without_scores_of_ours_says_how_to_score_it(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"accuracy": scored(1.0, signature="")}])
    with pytest.raises(ReportError, match="has no scores of ours, score it with: inspect score"):
        read_scored_log(file)


def test_a_crashed_log_is_refused_with_its_status(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], status="error")
    with pytest.raises(ReportError, match="is not finished: its status is 'error'"):
        read_scored_log(file)
