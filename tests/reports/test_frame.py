"""Logs as tables for data analysis: what stands in them, and that they say what a summary says."""

import csv
import json
import math
import sys
from collections import defaultdict
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import eval as evaluate
from tests.reports.made_logs import GENIE, made_log, scored
from tests.scripted import DOCUMENTS, saying, small_population

import genie_inspect
from genie_inspect.cli import main
from genie_inspect.errors import MissingExtraError
from genie_inspect.logs.files import LogError
from genie_inspect.reports.summary import COLUMNS, NUMBERS, WIDE_COLUMNS, columns_of, rows, summaries, wide_rows

COSINE = "measure:cosine|embedder:static|population:small-1@0|version:0"


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


def test_a_document_has_a_row_for_each_scorer_and_key(tmp_path: Path) -> None:
    file = a_log(tmp_path)
    table = list(rows([file]))
    assert len(table) == 9
    assert all(tuple(row) == COLUMNS for row in table)
    first, silent = table[0], table[-1]
    expected: dict[str, object] = {
        "run": "mock/writer",
        "model": "mock/writer",
        "task": "made",
        "sample": "x",
        "epoch": 1,
    }
    expected |= {"prompt": "a", "scorer": "genie", "key": "plot", "score": 0.2, "coverage": 0.75, "words": 2}
    expected |= {"reason": None, "signature": GENIE, "log": file}
    assert {name: first[name] for name in expected} == expected
    assert (silent["scorer"], silent["score"], silent["reason"], silent["signature"]) == (
        "cosine",
        None,
        "refusal",
        COSINE,
    )
    unmeasured = next(row for row in table if row["sample"] == "y" and row["key"] == "style")
    assert (unmeasured["score"], unmeasured["coverage"], unmeasured["reason"]) == (None, 0.0, None)


def test_what_comes_nearest_and_where_it_stands_have_columns_where_the_log_says_so(tmp_path: Path) -> None:
    stands = {"plot": {"percentile": 62.5, "mean": 0.3, "low": 0.2, "high": 0.4}}
    told = scored({"plot": 0.2, "style": 0.5}, nearest_novelty={"plot": 0.1, "style": None}, standing=stands)
    log = made_log(tmp_path, [{"genie": told, "cosine": scored(0.1, COSINE, nearest="d-12")}])
    table = list(rows([log]))
    columns = ("key", "nearest_novelty", "nearest_document", "percentile", "population_mean")
    assert [tuple(row[name] for name in columns) for row in table] == [
        ("plot", 0.1, None, 62.5, 0.3),
        ("style", None, None, None, None),
        ("cosine", None, "d-12", None, None),
    ]


def test_a_column_of_numbers_is_one_also_where_no_log_has_any(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    types = genie_inspect.frame(a_log(tmp_path)).dtypes
    assert {str(types[name]) for name in NUMBERS} == {"float64"}
    assert NUMBERS == ("score", "nearest_novelty", "percentile", "population_mean", "coverage")
    silent = made_log(tmp_path / "silent", [{"genie": scored({"plot": math.nan}, reason="refusal")}])
    assert wide_rows([silent])[0]["score_genie_plot"] is None
    assert str(genie_inspect.frame(silent, wide=True).dtypes["score_genie_plot"]) == "float64"
    assert columns_of([]) == list(COLUMNS)


def test_means_over_prompts_are_those_of_the_summary_tidy_and_wide(tmp_path: Path) -> None:
    file = a_log(tmp_path)
    by_prompt: dict[tuple[Any, Any], dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows([file]):
        if isinstance(row["score"], float):
            by_prompt[row["scorer"], row["key"]][row["prompt"]].append(row["score"])
    (wide,) = wide_rows([file])
    compared = 0
    for table in summaries([file]):
        for key, cell in table.columns[0].results.cells.items():
            mean = fmean(fmean(scores) for scores in by_prompt[table.scorer, key].values())
            assert mean == pytest.approx(cell.mean) == wide[f"score_{table.scorer}_{key}"]
            compared += 1
    # plot: (0.3 + 0.9) / 2
    assert compared == 3
    assert wide["score_genie_plot"] == pytest.approx(0.6)


def test_a_wide_row_is_a_log_and_has_the_columns_of_all(tmp_path: Path) -> None:
    one, other = a_log(tmp_path / "a", "mock/one"), made_log(tmp_path / "b", [{"genie": scored({"plot": 0.2})}])
    first, second = wide_rows([one, other])
    assert (
        list(first) == list(second) == [*WIDE_COLUMNS, "score_genie_plot", "score_genie_style", "score_cosine_cosine"]
    )
    assert (second["score_genie_plot"], second["score_genie_style"]) == (0.2, None)
    assert (first["run"], first["task_name"], first["documents"]) == ("mock/one", "made", 3)


def test_scores_that_do_not_compare_stand_side_by_side_but_have_no_means(tmp_path: Path) -> None:
    files = [
        a_log(tmp_path / "a"),
        made_log(tmp_path / "b", [{"genie": scored({"plot": 0.2}, GENIE.replace("0|", "1|"))}]),
    ]
    assert len({row["signature"] for row in rows(files) if row["scorer"] == "genie"}) == 2
    with pytest.raises(LogError, match="do not compare"):
        wide_rows(files)


def test_the_command_prints_csv_and_json_lines_and_writes_both_files(tmp_path: Path) -> None:
    file = a_log(tmp_path / "logs")
    printed = called(file)
    assert printed.exit_code == 0, printed.output
    shown = list(csv.DictReader(StringIO(printed.output)))
    assert list(shown[0]) == list(COLUMNS)
    assert [(row["key"], row["score"]) for row in shown[:2]] == [("plot", "0.2"), ("style", "0.5")]
    lines = [json.loads(line) for line in called(file, "--json").output.splitlines()]
    assert lines == list(rows([file]))
    assert called(file, "-o", tmp_path / "scores.csv").output == ""
    assert list(csv.DictReader(StringIO((tmp_path / "scores.csv").read_text(encoding="utf-8")))) == shown
    parquet = pytest.importorskip("pyarrow.parquet")
    assert called(file, "-o", tmp_path / "scores.parquet").exit_code == 0
    assert parquet.read_table(tmp_path / "scores.parquet").to_pylist() == list(rows([file]))
    (wide,) = (json.loads(line) for line in called(file, "--wide", "--json").output.splitlines())
    assert [wide] == wide_rows([file])


def test_another_output_is_refused_before_logs_are_read(tmp_path: Path) -> None:
    for arguments in (("-o", "scores.xlsx"), ("-o", "scores.csv", "--json")):
        done = called(tmp_path, *arguments)
        assert done.exit_code == 1
        assert "expected a file that ends in .csv or .parquet, without --json" in done.output
    assert "does not exist" in called(tmp_path / "nowhere").output


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
    assert (joined["sample"] == joined["id"]).all()
    assert (joined["prompt"] == joined["metadata_prompt"]).all()
    for score, raw, key in zip(joined["score"], joined["score_cosine"], joined["key"], strict=True):
        assert score == pytest.approx(json.loads(raw)[key])
    wide = genie_inspect.frame(log.location, wide=True).merge(evals_df(log.location), on=["eval_id", "task_id", "log"])
    assert wide["score_cosine_cosine_mean"].item() == pytest.approx(wide["score_cosine_mean_mean"].item())


def test_one_log_and_several_are_a_frame(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="needs the extra `frames`")
    one, other = a_log(tmp_path, "mock/one"), a_log(tmp_path, "mock/other")
    assert len(genie_inspect.frame(one)) == len(genie_inspect.frame(Path(one))) == 9
    for logs in ([one, other], iter([one, other]), tmp_path):
        assert list(genie_inspect.frame(logs, wide=True)["model"]) == ["mock/one", "mock/other"]


def test_where_no_document_has_a_score_there_is_a_row_with_the_reason(tmp_path: Path) -> None:
    (row,) = rows([made_log(tmp_path, [{"genie": scored(math.nan, reason="refusal")}])])
    assert (row["sample"], row["key"], row["score"], row["reason"]) == ("1", "", None, "refusal")
    # of a log that is older than Inspect's names of samples
    assert row["sample_id"] is None


def test_each_row_has_the_signature_of_its_own_score_and_one_without_a_score_the_logs_first(tmp_path: Path) -> None:
    other = GENIE.replace("0|", "1|")
    samples = [{"genie": scored({"plot": 0.5})}, {"genie": scored({"plot": 0.5}, other)}, {}]
    assert [row["signature"] for row in rows([made_log(tmp_path, samples)])] == [GENIE, other, GENIE]
