"""Logs as tables: a summary's means and warnings, parts of one run together, and rows for data analysis."""

import csv
import json
import math
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import eval as evaluate
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, ModelUsage
from inspect_ai.scorer import Score
from tests.reports.made_logs import GENIE, asked, made_log, scored
from tests.scripted import DOCUMENTS, saying, small_population

import genie_inspect
from genie_inspect.cli import main
from genie_inspect.errors import MissingExtraError
from genie_inspect.logs.files import LogError
from genie_inspect.logs.reading import read_logs
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.page import run_facts
from genie_inspect.reports.report import build_report
from genie_inspect.reports.summary import (
    COLUMNS,
    NUMBERS,
    WIDE_COLUMNS,
    columns_of,
    read_runs,
    rows,
    summaries,
    summarise,
    wide_rows,
)

COSINE = "measure:cosine|embedder:static|population:small-1@0|version:0"


def test_columns_stand_as_the_logs_do_and_keys_as_the_scores_have_them_also_those_of_one_log_alone(
    tmp_path: Path,
) -> None:
    known = {"plot": {"percentile": 25.0, "mean": 0.5, "low": 0.25, "high": 0.75}}
    first = made_log(tmp_path, [{"genie": scored({"style": 0.5, "plot": 0.5}, standing=known)}], model="m/b")
    long = scored({"plot": 0.5, "agent": 0.5}, length={"population": 2})
    second = made_log(tmp_path, [{"genie": long}], model="m/a", texts=["word " * 9])
    # where one log has the population's reference scores the other needs no command
    (alone,), (found,) = summaries([second]), summaries([first, second])
    assert alone.reference_scores_command.startswith("genie population reference-scores FOLDER")
    assert found.reference_scores_command == ""
    assert found.keys == ("style", "plot", "agent")
    unlike = "m/a writes 9 words where the population has 2: beyond 1.5x lengths do not compare"
    assert [(column.label, column.log, column.unlike_length) for column in found.columns] == [
        ("m/b", first, ""),
        ("m/a", second, unlike),
    ]


def test_each_signature_has_a_table_with_labels_that_tell_its_own_logs_apart(tmp_path: Path) -> None:
    for judge, models in (("list", ("m/a", "m/b")), ("pairwise", ("m/a",))):
        for model in models:
            score = scored({"plot": 0.5}, f"measure:genie|judge:{judge}|version:0")
            made_log(tmp_path / judge, [{"genie": score}], model=model, task_args_passed={"judge": judge})
    folders = [tmp_path / "list", tmp_path / "pairwise"]
    tables = summaries(folders)
    assert [[column.label for column in table.columns] for table in tables] == [["m/a", "m/b"], ["m/a"]]
    (table,) = summaries(folders, signature="judge:pairwise")
    assert table.signature == "measure:genie|judge:pairwise|version:0"


def test_a_scorer_that_a_log_lacks_and_logs_that_share_none_are_refused_by_name(tmp_path: Path) -> None:
    genie = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])
    cosine = made_log(tmp_path, [{"cosine": scored(0.5, "measure:cosine|version:0")}])
    theirs = made_log(tmp_path, [{"accuracy": scored(1.0, signature="")}])
    with pytest.raises(LogError, match=rf"has no scores by 'genie', score it with: inspect score {cosine} --scorer"):
        summaries([genie, cosine], "genie")
    with pytest.raises(LogError, match=rf"expected one that did \({genie}: genie, {cosine}: cosine, {theirs}: none\)$"):
        summaries([genie, cosine, theirs])


def test_means_over_other_questions_and_other_prompts_are_warned_of(tmp_path: Path) -> None:
    def sample(*plot: float | None) -> dict[str, Score]:
        used = [value for value in plot if value is not None]
        table = [asked(value, id=f"q{place}") for place, value in enumerate(plot)]
        return {"genie": scored({"plot": sum(used) / len(used)}, questions=table)}

    whole = made_log(tmp_path, [sample(0.2, 0.4, 0.6), sample(0.2, 0.4, 0.6)], model="m/whole", prompts="ab")
    # one of six questions is lost: 17%
    lost = made_log(tmp_path, [sample(None, 0.4, 0.6), sample(0.2, 0.4, 0.6)], model="m/lost", prompts="ab")
    (both,) = summaries([whole, lost])
    (line,) = both.warnings
    assert line.startswith("the questions used differ: plot 17% (m/whole and m/lost)")
    other = made_log(tmp_path, [sample(0.2, 0.4, 0.6)] * 2, model="m/other", prompts="bc")
    (apart,) = summaries([whole, other])
    assert apart.warnings == ("m/whole and m/other share 1 of 3 prompts: their means are of other prompts",)
    (alone,) = summaries([whole])
    assert alone.warnings == ()


VALUES = {1: 0.2, 2: 0.4, 3: 0.6, 4: 0.9}


def part(folder: Path, name: str, *samples: int, signature: str = GENIE, **spec: Any) -> str:
    """A log of some samples of a run, whose numbers say what they scored."""
    questions = {n: [asked(VALUES[n])] for n in samples}
    return made_log(
        folder / name,
        [{"genie": scored({"plot": VALUES[n]}, signature, questions=questions[n])} for n in samples],
        places=[(str(n), 1) for n in samples],
        texts=[f"Story {n} was told." for n in samples],
        prompts=[f"Tell of {n}." for n in samples],
        **spec,
    )


def test_two_halves_have_the_table_of_the_whole_and_a_report_counts_the_tokens_of_both(tmp_path: Path) -> None:
    halves = [part(tmp_path, "a", 1, 2), part(tmp_path, "b", 3, 4)]
    whole = summarise([part(tmp_path, "whole", 1, 2, 3, 4)])
    (column,) = summarise(halves).columns
    assert column.results.cells == whole.columns[0].results.cells
    assert column.results.documents == 4
    assert column.log == f"{halves[0]} + {halves[1]}"
    for file, tokens in zip(halves, (5, 7), strict=True):
        log = read_eval_log(file)
        log.stats.model_usage = {"mock/writer": ModelUsage(total_tokens=tokens)}
        write_eval_log(log, file)
    (run,) = build_report(halves).runs
    assert run.header.stats.model_usage["mock/writer"].total_tokens == 12
    assert all(Path(file).name in run_facts(run)["log"] for file in halves)


def test_parts_of_several_models_are_pooled_by_model(tmp_path: Path) -> None:
    files = [part(tmp_path, f"{model}{n}", n, n + 1, model=model) for n in (1, 3) for model in ("one", "two")]
    assert [(log.model, len(log.documents)) for log in read_runs(files)] == [("one", 4), ("two", 4)]
    assert len(read_logs(files)) == 4, "who reads logs one by one still does"
    assert [facts.documents for facts in compare(files, "one").runs] == [4, 4]


def test_parts_that_share_samples_are_refused_and_a_run_that_was_repeated_stays_beside_the_first(
    tmp_path: Path,
) -> None:
    first, second, again = part(tmp_path, "a", 1, 2, 3), part(tmp_path, "b", 2, 3, 4), part(tmp_path, "c", 1, 2, 3)
    with pytest.raises(LogError, match=r"a.*\.eval and .*b.*\.eval have .* share 2 samples \('2', '3'\), expected"):
        summarise([first, second])
    assert [column.results.documents for column in summarise([first, again]).columns] == [3, 3]


@pytest.mark.parametrize(
    "other",
    [
        {"model_generate_config": GenerateConfig(temperature=1.0)},
        {"task_args": {"judge": "pairwise"}},
        {"model_args": {"revision": "2"}},
        {"task": "another"},
        {"signature": "measure:genie|judge:other|population:small-1@0|version:0"},
    ],
    ids=["setting", "option", "model argument", "task", "signature"],
)
def test_logs_that_differ_in_set_up_stay_apart(other: dict[str, Any], tmp_path: Path) -> None:
    files = [part(tmp_path, "a", 1, 2), part(tmp_path, "b", 3, 4, **other)]
    assert len(read_runs(files)) == 2


def a_log(folder: Path, model: str = "mock/writer", style: float = 0.5) -> str:
    """Prompt a twice and b once, scored by two scorers; of b style is not measured, and cosine not at all."""
    return made_log(
        folder,
        [
            {"genie": scored({"plot": 0.2, "style": style}, coverage={"plot": "3/4"}), "cosine": scored(0.1, COSINE)},
            {"genie": scored({"plot": 0.4, "style": style}), "cosine": scored(0.3, COSINE)},
            {
                "genie": scored({"plot": 0.9, "style": math.nan}, coverage={"style": "0/2"}),
                "cosine": scored(math.nan, COSINE, reason="refusal"),
            },
        ],
        model=model,
        prompts=["a", "a", "b"],
        places=[("x", 1), ("x", 2), ("y", 1)],
        texts=["One two.", "One.", "One two three."],
    )


def called(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["export", *map(str, arguments)])


def test_what_was_not_measured_what_comes_nearest_and_where_it_stands_have_columns(tmp_path: Path) -> None:
    stands = {"plot": {"percentile": 62.5, "mean": 0.3, "low": 0.2, "high": 0.4}}
    told = scored({"plot": 0.2, "style": 0.5}, nearest_novelty={"plot": 0.1, "style": None}, standing=stands)
    log = made_log(tmp_path / "told", [{"genie": told, "cosine": scored(0.1, COSINE, nearest="d-12")}])
    columns = ("key", "nearest_novelty", "nearest_document", "percentile", "population_mean")
    assert [tuple(row[name] for name in columns) for row in rows([log])] == [
        ("plot", 0.1, None, 62.5, 0.3),
        ("style", None, None, None, None),
        ("cosine", None, "d-12", None, None),
    ]
    measured = ("key", "score", "coverage", "reason")
    assert [tuple(row[name] for name in measured) for row in rows([a_log(tmp_path)])][-3:] == [
        ("plot", 0.9, None, None),
        ("style", None, 0.0, None),
        ("cosine", None, None, "refusal"),
    ]
    # of a document without a score the signature is the log's first; scores that do not compare have no means
    samples = [{"genie": scored({"plot": 0.5})}, {"genie": scored({"plot": 0.5}, GENIE.replace("0|", "1|"))}, {}]
    file = made_log(tmp_path / "two", samples)
    assert [row["signature"] for row in rows([file])] == [GENIE, GENIE.replace("0|", "1|"), GENIE]
    with pytest.raises(LogError, match="do not compare"):
        wide_rows([file])
    # where no document has a score there is a row with the reason
    (row,) = rows([made_log(tmp_path / "none", [{"genie": scored(math.nan, reason="refusal")}])])
    assert (row["sample"], row["key"], row["score"], row["reason"]) == ("1", "", None, "refusal")
    assert row["sample_id"] is None, "a log that is older than Inspect's names of samples"


def test_a_wide_row_is_a_log_and_a_column_of_numbers_is_one_also_where_no_log_has_any(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    types = genie_inspect.frame(a_log(tmp_path)).dtypes
    assert {str(types[name]) for name in NUMBERS} == {"float64"}
    silent = made_log(tmp_path / "silent", [{"genie": scored({"plot": math.nan}, reason="refusal")}])
    assert wide_rows([silent])[0]["score_genie_plot"] is None
    assert str(genie_inspect.frame(silent, wide=True).dtypes["score_genie_plot"]) == "float64"
    assert columns_of([]) == list(COLUMNS)
    # a wide row is a log, and has the columns of all
    one, other = a_log(tmp_path / "a", "mock/one"), made_log(tmp_path / "b", [{"genie": scored({"plot": 0.2})}])
    first, second = wide_rows([one, other])
    names = [*WIDE_COLUMNS, "score_genie_plot", "score_genie_style", "score_cosine_cosine"]
    assert list(first) == list(second) == names
    assert (second["score_genie_plot"], second["score_genie_style"]) == (0.2, None)
    assert (first["run"], first["task_name"], first["documents"]) == ("mock/one", "made", 3)
    # a mean over prompts: (0.3 + 0.9) / 2
    assert first["score_genie_plot"] == pytest.approx(0.6)


def test_the_command_writes_csv_and_parquet_with_the_same_rows(tmp_path: Path) -> None:
    file = a_log(tmp_path / "logs")
    printed = called(file)
    shown = list(csv.DictReader(StringIO(printed.output)))
    assert [(row["key"], row["score"]) for row in shown[:2]] == [("plot", "0.2"), ("style", "0.5")]
    assert called(file, "-o", tmp_path / "scores.csv").output == ""
    assert list(csv.DictReader(StringIO((tmp_path / "scores.csv").read_text(encoding="utf-8")))) == shown
    # another output is refused before logs are read
    for arguments in (("-o", "scores.xlsx"), ("-o", "scores.csv", "--json")):
        refused = called(tmp_path, *arguments).output
        assert "expected a file that ends in .csv or .parquet, without --json" in refused
    parquet = pytest.importorskip("pyarrow.parquet")
    assert called(file, "-o", tmp_path / "scores.parquet").exit_code == 0
    assert parquet.read_table(tmp_path / "scores.parquet").to_pylist() == list(rows([file]))


def test_without_its_libraries_csv_is_written_and_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in ("pandas", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, library, None)
    file = a_log(tmp_path)
    assert called(file, "-o", tmp_path / "s.csv").exit_code == 0
    done = called(file, "-o", tmp_path / "s.parquet")
    assert "Parquet needs the extra frames: pip install 'genie-inspect[frames]'" in done.output
    assert done.output.endswith(". CSV needs none: -o scores.csv\n")
    assert not (tmp_path / "s.parquet").exists()
    with pytest.raises(MissingExtraError, match=r"^frame\(\) needs the extra frames: pip install .* the same as CSV"):
        genie_inspect.frame(file)


def test_a_frame_joins_inspects_own_by_sample_id(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    from inspect_ai.analysis import evals_df, samples_df

    folder = small_population(tmp_path / "population", DOCUMENTS, {}).folder
    (log,) = evaluate(
        genie_inspect.population_prompts(population=str(folder), panel="cosine"),
        model=saying("A grey owl slept.").model(),
        epochs=2,
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    ours = genie_inspect.frame(tmp_path / "logs")
    theirs = samples_df(str(tmp_path / "logs"))
    joined = ours.merge(theirs, on=["sample_id", "eval_id", "epoch", "log"], suffixes=("", "_inspect"))
    assert len(joined) == len(ours) == 8
    assert (joined["prompt"] == joined["metadata_prompt"]).all()
    for score, raw, key in zip(joined["score"], joined["score_cosine"], joined["key"], strict=True):
        assert score == pytest.approx(json.loads(raw)[key])
    wide = genie_inspect.frame([log.location], wide=True)
    joined = wide.merge(evals_df(log.location), on=["eval_id", "task_id", "log"])
    assert joined["score_cosine_cosine_mean"].item() == pytest.approx(joined["score_cosine_mean_mean"].item())
