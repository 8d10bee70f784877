"""What stands beside the differences of a run."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from tests.reports.logs import log_of, plots

from genie_inspect.logs.files import LogError
from genie_inspect.logs.scored_log import NO_SCORE
from genie_inspect.reports.comparison.compared import Options
from genie_inspect.reports.comparison.comparison import compare
from genie_inspect.reports.comparison.selection import Selection
from genie_inspect.reports.comparison.verdict import warnings


def test_words_coherence_and_reasons_stand_beside_the_scores(tmp_path: Path) -> None:
    nan = math.nan
    facts: dict[str, Any] = {"length": {"population": 500, "matched": {}}, "coverage": {"plot": "3/4"}}
    log_of(tmp_path, "plain", {"owl": [{"plot": 0.2}, {"plot": nan}]}, coherence=(5, 1), **facts)
    log_of(tmp_path, "outlined", {"owl": [{"plot": 0.3}, {"plot": 0.3}]}, coherence=(4, 4), **facts)
    found = compare([tmp_path], "plain")
    plain, outlined = found.runs
    assert (plain.documents, plain.scored, plain.unscored) == (2, 1, {"no_response": 1})
    # words of the text and the sample's id; coherence of all that was rated: (5 + 1) / 2
    assert (plain.words, plain.population_words, plain.coherence) == (6, 500, 3)
    assert outlined.coherence == 4
    assert found.rows[0].coverage == ((6, 8), (6, 8))
    assert [row.scorer for row in found.rows] == ["genie"]


def rated_by(folder: Path, task: str, ratings: tuple[float, ...], signature: str) -> None:
    """A log with two documents of each of two prompts, their coherence rated under a signature."""
    log = log_of(folder, task, {name: [{"plot": 0.9}, {"plot": 0.5}] for name in ("owl", "fox")}, coherence=ratings)
    for sample in log.samples or []:
        ((sample.scores or {})["coherence"].metadata or {})["signature"] = signature
    write_eval_log(log)


def test_coherence_by_two_judges_is_no_cutoff_and_is_not_shown_side_by_side(tmp_path: Path) -> None:
    rated_by(tmp_path, "plain", (5, 2), "measure:coherence|by:grader(a)|version:0")
    rated_by(tmp_path, "reward", (4.1, 0.3), "measure:coherence|by:reward(b)|version:0")
    with pytest.raises(LogError) as caught:
        compare([tmp_path], "plain", Options(selection=Selection(min_coherence=3)))
    assert "scores by 'coherence' do not compare, their signatures differ: by is " in str(caught.value)
    found = compare([tmp_path], "plain")
    assert all(math.isnan(run.coherence) for run in found.runs)
    (line,) = (line for line in warnings(found) if "coherence" in line)
    assert line.startswith("coherence is not shown: scores by 'coherence' do not compare, their signatures differ: by ")
    assert {"grader(a)", "reward(b)"} <= set(line.split())


def test_a_run_whose_coherence_nobody_rated_hides_not_that_of_the_others(tmp_path: Path) -> None:
    rated_by(tmp_path, "plain", (5, 2), "measure:coherence|by:grader(a)|version:0")
    log_of(tmp_path, "unrated", {name: [{"plot": 0.5}] for name in ("owl", "fox")})
    plain, unrated = compare([tmp_path], "plain").runs
    assert plain.coherence == 3.5
    assert math.isnan(unrated.coherence)


def test_refusals_are_what_providers_and_scorers_call_so(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1, 0.2, 0.3, 0.4))
    log = log_of(tmp_path, "refusing", plots(0.1, math.nan, 0.3, 0.4))
    samples = log.samples or []
    (samples[1].scores or {})["genie"].reason = "refusal"
    samples[2].output = ModelOutput.from_content("mockllm/model", "", "content_filter")
    write_eval_log(log)
    assert [run.refusals for run in compare([tmp_path], "plain").runs] == [0, 2]


def test_samples_that_gave_fewer_responses_than_asked_for_are_counted(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1, 0.2, 0.3, 0.4))
    log = log_of(tmp_path, "verbalized", plots(0.1, 0.2, 0.3, 0.4))
    for sample, parsed in zip(log.samples or [], (5, 3, 4, None), strict=True):
        sample.metadata |= {"responses_asked": 5, "responses_parsed": parsed} if parsed else {}
    write_eval_log(log)
    found = compare([tmp_path], "plain")
    assert [run.fewer_responses for run in found.runs] == [(0, 0), (2, 3)]
    assert "2 of 3 samples gave fewer responses than asked for (verbalized)" in warnings(found)


def test_a_sample_that_failed_before_it_was_scored_is_lost_with_its_reason(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1, 0.2))
    log = log_of(tmp_path, "failing", plots(0.1, 0.2))
    (log.samples or [])[0].scores = None
    write_eval_log(log)
    plain, failing = compare([tmp_path], "plain").runs
    assert (failing.documents, failing.scored, failing.unscored) == (2, 1, {NO_SCORE: 1})
    assert (plain.documents, plain.scored, plain.unscored) == (2, 2, {})


def test_what_scores_rest_on_stands_beside_each_difference_and_is_warned_of(tmp_path: Path) -> None:
    rests: dict[str, Any] = {"coverage": {"plot": "4/4"}, "pairs": {"plot": "40/48"}}
    log_of(tmp_path, "plain", plots(0.1, 0.2), **rests)
    poor: dict[str, Any] = {
        "coverage": {"plot": "3/4"},
        "pairs": {"plot": "20/48"},
        "faults": {"unreadable": 2},
        "ratings": {"count": 20, "lowest": 4, "highest": 4},
        "documents": 1,
        "few_answers": "1/3",
    }
    log_of(tmp_path, "poor", plots(0.1, 0.2), **poor)
    found = compare([tmp_path], "plain")
    (row,) = found.rows
    assert (row.coverage, row.ratings) == (((8, 8), (6, 8)), ((80, 96), (40, 96)))
    assert found.runs[1].measures["genie"].faults == {"unreadable": 4}
    lines = [line for line in warnings(found) if line.startswith("poor: ")]
    assert [line.removeprefix("poor: ")[:25] for line in lines] == [
        "the grader gave every pai",
        "there is a prompt for whi",
        "2 of 6 questions rest on ",
        "fewer than half of the ra",
        "not every question or tes",
    ]
    assert not any(line.startswith("plain: ") for line in warnings(found))


def test_words_are_those_of_the_documents_that_have_a_score(tmp_path: Path) -> None:
    values = {"owl": [{"plot": 0.2}, {"plot": math.nan}], "fox": [{"plot": 0.3}, {"plot": math.nan}]}
    log_of(tmp_path, "plain", values)
    log = log_of(tmp_path, "rambling", values, texts=("one two three", "word " * 40))
    for sample in log.samples or []:
        length: dict[str, Any] = {"population": 10 if sample.epoch == 1 else 500, "matched": {}}
        ((sample.scores or {})["genie"].metadata or {})["length"] = length
    write_eval_log(log)
    found = {run.label: run for run in compare([tmp_path], "plain").runs}
    # three words and the sample's id
    assert (found["rambling"].words, found["rambling"].population_words) == (4, 10)


def test_how_many_are_scored_is_told_by_the_first_scorer(tmp_path: Path) -> None:
    for task, texts in (("plain", ("a b",)), ("raised", ("a b c d",))):
        log = log_of(tmp_path, task, plots(0.1, 0.2, 0.3), texts=texts)
        for sample, value in zip(log.samples or [], (0.5, math.nan, math.nan), strict=True):
            metadata = {"signature": "measure:cosine|version:0"}
            reason = "engine_failed" if math.isnan(value) else None
            (sample.scores or {})["cosine"] = Score(value={"cosine": value}, metadata=metadata, reason=reason)
            if not math.isnan(value):
                sample.output = ModelOutput.from_content("mockllm/model", "word " * 30)
        write_eval_log(log)
    genie_first, cosine_first = (
        compare([tmp_path], "plain", Options(scorers=scorers)).runs[0]
        for scorers in (("genie", "cosine"), ("cosine", "genie"))
    )
    assert (genie_first.scored, genie_first.unscored) == (3, {})
    assert (cosine_first.scored, cosine_first.unscored) == (1, {"engine_failed": 2})
    # of the three documents 30, 3 and 3 words: their mean, and that of the one alone
    assert (genie_first.words, cosine_first.words) == (12, 30)
