from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, ModelUsage
from inspect_ai.scorer import Score
from tests.reports import made_logs
from tests.reports.made_logs import asked, made_log
from tests.reports.made_logs import scored as pooling_scored
from tests.scripted import OWL, evaluated, grading, saying, small_population

from genie_inspect.logs.files import LogError
from genie_inspect.logs.reading import read_logs
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.page import run_facts
from genie_inspect.reports.report import build_report
from genie_inspect.reports.summary import read_runs, summaries, summarise
from genie_inspect.scorers.genie import genie

STORY = "A blue owl flew."


def scored(
    tmp_path: Path, *replies: str, rating: int = 1, judge: str = "list", prompts: tuple[str, ...] = (OWL,)
) -> EvalLog:
    """A log of stories that were scored against the small population with one rating throughout."""
    folder = tmp_path / "population"
    if not folder.exists():
        small_population(folder)
    script = grading(rating=lambda answer, other: rating)
    return evaluated(
        genie(str(folder), judge=judge, cache=False),
        saying(*replies),
        script if judge != "offline" else None,
        tmp_path,
        prompts,
        max_samples=1,
    )


def test_features_go_down_and_logs_across_with_means_coverage_and_counts(tmp_path: Path) -> None:
    alike, unlike = scored(tmp_path, STORY, rating=4), scored(tmp_path, STORY, rating=2)
    found = summarise([alike.location, unlike.location])
    assert found.scorer == "genie"
    assert found.keys == ("plot", "style")
    # rating 4: novelty 0; rating 2: 1 - 1/3
    results = [column.results for column in found.columns]
    assert [own.cells["plot"].mean for own in results] == [0.0, pytest.approx(0.667)]
    assert [own.coverage for own in results] == [{"plot": (2, 2), "style": (1, 1)}] * 2
    assert [own.pairs for own in results] == [{"plot": (6, 6), "style": (3, 3)}] * 2
    assert [(own.documents, own.unscored) for own in results] == [(1, {})] * 2
    assert found.signature.startswith("measure:genie|judge:list(mockllm/model")
    first, second = (column.label for column in found.columns)
    assert [column.log for column in found.columns] == [alike.location, unlike.location]
    assert first.startswith("mockllm/model ")
    assert first != second


def test_where_one_log_has_the_populations_reference_scores_the_others_need_no_command(tmp_path: Path) -> None:
    known = {"plot": {"percentile": 25.0, "mean": 0.5, "low": 0.25, "high": 0.75}}
    length = {"population": 20}
    silent = made_logs.scored({"plot": 0.5}, length=length)
    telling = made_logs.scored({"plot": 0.5}, standing=known, length=length)
    without = made_logs.made_log(tmp_path, [{"genie": silent}], model="m/without")
    having = made_logs.made_log(tmp_path, [{"genie": telling}], model="m/having")
    (alone,), (both,) = summaries([without]), summaries([without, having])
    assert alone.reference_scores_command.startswith("genie population reference-scores FOLDER")
    (renamed,) = summaries([made_logs.made_log(tmp_path, [{"mine": silent}])])
    assert renamed.reference_scores_command == alone.reference_scores_command
    assert both.reference_scores_command == ""


def test_columns_stand_as_the_logs_do_and_keys_as_the_scores_have_them_also_those_of_one_log_alone(
    tmp_path: Path,
) -> None:
    first = made_logs.made_log(tmp_path, [{"genie": made_logs.scored({"style": 0.5, "plot": 0.5})}], model="m/b")
    second = made_logs.made_log(tmp_path, [{"genie": made_logs.scored({"plot": 0.5, "agent": 0.5})}], model="m/a")
    (found,) = summaries([first, second])
    assert found.keys == ("style", "plot", "agent")
    assert [(column.label, column.log, column.unlike_length) for column in found.columns] == [
        ("m/b", first, ""),
        ("m/a", second, ""),
    ]


def test_each_signature_has_a_table_with_labels_that_tell_its_own_logs_apart(tmp_path: Path) -> None:
    for judge, models in (("list", ("m/a", "m/b")), ("pairwise", ("m/a",))):
        for model in models:
            score = made_logs.scored({"plot": 0.5}, f"measure:genie|judge:{judge}|version:0")
            made_logs.made_log(tmp_path / judge, [{"genie": score}], model=model, task_args_passed={"judge": judge})
    folders = [tmp_path / "list", tmp_path / "pairwise"]
    tables = summaries(folders)
    assert [[column.label for column in table.columns] for table in tables] == [["m/a", "m/b"], ["m/a"]]
    (table,) = summaries(folders, signature="judge:pairwise")
    assert table.signature == "measure:genie|judge:pairwise|version:0"


def test_documents_of_another_length_than_the_populations_are_warned_of_in_their_column(tmp_path: Path) -> None:
    score = made_logs.scored({"plot": 0.5}, length={"population": 2})
    file = made_logs.made_log(tmp_path, [{"genie": score}], texts=["word " * 9])
    (column,) = summarise([file]).columns
    assert column.unlike_length == (
        "mock/writer writes 9 words where the population has 2: beyond 1.5x lengths do not compare"
    )


def test_a_scorer_that_a_log_lacks_and_logs_that_share_none_are_refused_by_name(tmp_path: Path) -> None:
    genie = made_logs.made_log(tmp_path, [{"genie": made_logs.scored({"plot": 0.5})}])
    cosine = made_logs.made_log(tmp_path, [{"cosine": made_logs.scored(0.5, "measure:cosine|version:0")}])
    theirs = made_logs.made_log(tmp_path, [{"accuracy": made_logs.scored(1.0, signature="")}])
    with pytest.raises(LogError) as caught:
        summaries([genie, cosine], "genie")
    assert str(caught.value) == f"{cosine} has no scores by 'genie', score it with: inspect score {cosine} --scorer ..."
    with pytest.raises(LogError) as caught:
        summaries([genie, cosine, theirs])
    assert str(caught.value) == (
        "no measure of this package scored every log, expected one that did "
        f"({genie}: genie, {cosine}: cosine, {theirs}: none)"
    )


def test_means_over_other_questions_and_other_prompts_are_warned_of(tmp_path: Path) -> None:
    def sample(*plot: float | None) -> dict[str, Score]:
        used = [value for value in plot if value is not None]
        table = [made_logs.asked(value, id=f"q{place}") for place, value in enumerate(plot)]
        return {"genie": made_logs.scored({"plot": sum(used) / len(used)}, questions=table)}

    whole = made_logs.made_log(tmp_path, [sample(0.2, 0.4, 0.6), sample(0.2, 0.4, 0.6)], model="m/whole", prompts="ab")
    # one of six questions is lost: 17%
    lost = made_logs.made_log(tmp_path, [sample(None, 0.4, 0.6), sample(0.2, 0.4, 0.6)], model="m/lost", prompts="ab")
    (both,) = summaries([whole, lost])
    (line,) = both.warnings
    assert line.startswith("the questions used differ: plot 17% (m/whole and m/lost)")
    other = made_logs.made_log(tmp_path, [sample(0.2, 0.4, 0.6)] * 2, model="m/other", prompts="bc")
    (apart,) = summaries([whole, other])
    assert apart.warnings == ("m/whole and m/other share 1 of 3 prompts: their means are of other prompts",)
    (alone,) = summaries([whole])
    assert alone.warnings == ()


VALUES = {1: 0.2, 2: 0.4, 3: 0.6, 4: 0.9}


def part(folder: Path, name: str, *samples: int, **spec: Any) -> str:
    """A log of some samples of a run, whose numbers say what they scored."""
    scores = [
        {"genie": pooling_scored({"plot": VALUES[n]}, questions=[asked(VALUES[n])], coverage={"plot": "1/1"})}
        for n in samples
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
    score = pooling_scored({"plot": 0.5}, "measure:genie|judge:other|population:small-1@0|version:0")
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
