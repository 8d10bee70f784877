"""Parts of one run are one run in every report, and parts that overlap are refused."""

from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, ModelUsage
from tests.reports.made_logs import asked, made_log, scored

from genie_inspect.logs.files import LogError
from genie_inspect.logs.reading import read_logs
from genie_inspect.reports.comparison.comparison import compare
from genie_inspect.reports.page.methods import run_facts
from genie_inspect.reports.page.report import build_report
from genie_inspect.reports.pooling import read_runs
from genie_inspect.reports.summary import summarise

VALUES = {1: 0.2, 2: 0.4, 3: 0.6, 4: 0.9}


def part(folder: Path, name: str, *samples: int, **spec: Any) -> str:
    """A log of some samples of a run, whose numbers say what they scored."""
    scores = [
        {"genie": scored({"plot": VALUES[n]}, questions=[asked(VALUES[n])], coverage={"plot": "1/1"})} for n in samples
    ]
    (folder / name).mkdir()
    return made_log(
        folder / name,
        scores,
        places=[(str(n), 1) for n in samples],
        texts=[f"Story {n} was told." for n in samples],
        prompts=[f"Tell of {n}." for n in samples],
        **spec,
    )


def test_two_halves_have_the_table_of_the_whole(tmp_path: Path) -> None:
    halves = [part(tmp_path, "a", 1, 2), part(tmp_path, "b", 3, 4)]
    whole = summarise([part(tmp_path, "whole", 1, 2, 3, 4)])
    (column,) = summarise(halves).columns
    assert column.results.cells == whole.columns[0].results.cells
    assert column.results.documents == 4
    assert column.log == f"{halves[0]} + {halves[1]}"


def test_parts_of_several_models_are_pooled_by_model(tmp_path: Path) -> None:
    files = [part(tmp_path, f"{model}{n}", n, n + 1, model=model) for n in (1, 3) for model in ("one", "two")]
    assert [(log.model, len(log.documents)) for log in read_runs(files)] == [("one", 4), ("two", 4)]
    assert len(read_logs(files)) == 4, "who reads logs one by one still does"
    assert [facts.documents for facts in compare(files, "one").runs] == [4, 4]


def test_parts_that_share_samples_are_refused_with_their_ids(tmp_path: Path) -> None:
    files = [part(tmp_path, "a", 1, 2, 3), part(tmp_path, "b", 2, 3, 4)]
    with pytest.raises(
        LogError, match=r"a.*\.eval and .*b.*\.eval have one model.* share 2 samples \('2', '3'\), expected"
    ):
        summarise(files)


def test_a_run_that_was_repeated_stays_beside_the_first(tmp_path: Path) -> None:
    files = [part(tmp_path, "a", 1, 2), part(tmp_path, "b", 1, 2)]
    assert [column.results.documents for column in summarise(files).columns] == [2, 2]


@pytest.mark.parametrize(
    "other",
    [
        {"model_generate_config": GenerateConfig(temperature=1.0)},
        {"task_args": {"judge": "pairwise"}},
        {"model_args": {"revision": "2"}},
    ],
    ids=["setting", "option", "model argument"],
)
def test_logs_that_differ_in_set_up_stay_apart(other: dict[str, Any], tmp_path: Path) -> None:
    files = [part(tmp_path, "a", 1, 2), part(tmp_path, "b", 3, 4, **other)]
    assert len(read_runs(files)) == 2


def test_logs_of_another_task_stay_apart(tmp_path: Path) -> None:
    files = [part(tmp_path, "a", 1, 2), part(tmp_path, "b", 3, 4)]
    log = read_eval_log(files[1])
    log.eval.task = "another"
    write_eval_log(log, files[1])
    assert len(read_runs(files)) == 2


def test_logs_of_another_signature_stay_apart(tmp_path: Path) -> None:
    files = [part(tmp_path, "a", 1, 2)]
    (tmp_path / "b").mkdir()
    score = scored({"plot": 0.5}, "measure:genie|judge:other|population:small-1@0|version:0")
    files.append(made_log(tmp_path / "b", [{"genie": score}], places=[("3", 1)]))
    assert len(read_runs(files)) == 2


def test_a_report_finds_each_document_in_its_own_part_and_counts_the_tokens_of_all(tmp_path: Path) -> None:
    files = [part(tmp_path, "a", 1, 2), part(tmp_path, "b", 3, 4)]
    for file, tokens in zip(files, (5, 7), strict=True):
        log = read_eval_log(file)
        log.stats.model_usage = {"mock/writer": ModelUsage(total_tokens=tokens)}
        write_eval_log(log, file)
    report = build_report(files)
    (run,) = report.runs
    assert run.header.stats.model_usage["mock/writer"].total_tokens == 12
    shown = {stand_out.text for stand_out in report.stand_outs}
    assert {"Story 1 was told.", "Story 4 was told."} <= shown
    assert all(Path(file).name in run_facts(run)["log"] for file in files)
