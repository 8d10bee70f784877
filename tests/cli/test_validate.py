"""`genie validate`, as a user calls it; and the other commands on the log of a study."""

import json
from functools import partial
from pathlib import Path

import pytest
from tests.cli.called import genie
from tests.reports.made_logs import scored
from tests.reports.studies import COSINE, Made, by_feature, found, made, one_number, sharp, study_log, together

from genie_inspect.populations.interventions import EDIT
from genie_inspect.reports.study import study as studied

called = partial(genie, columns=240)

TABLE = [{"id": "q", "feature": "plot", "question": "What?", "answer": "x"}]


def cosine(text: Made) -> dict[str, object]:
    return {"cosine": scored({"cosine_mean": 0.1 * text.number + (0.1 * text.copy), "cosine_nearest": 0.1}, COSINE)}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    measures = together(by_feature(sharp, questions=TABLE), cosine, one_number(lambda text: 0.5, "flat"))  # type: ignore[arg-type]
    return study_log(tmp_path_factory.mktemp("validate"), made(8), measures)


def lines(output: str, start: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines() if line.split()[: len(start.split())] == start.split()]


def test_a_measure_by_which_texts_differ_little_shows_more_decimals(tmp_path: Path) -> None:
    def fine(text: Made) -> float:
        return 0.5 + 0.0001 * text.number * (text.facts.kind == EDIT)

    # differences 0, 0.0001, ... 0.0007: their spread is 0.000245, and two digits of it are shown
    output = called("validate", study_log(tmp_path, made(8, ["plot"], 0), one_number(fine, "fine"))).output
    line, _ = (cells for cells in lines(output, "plot") if "(8)" in cells)
    assert [line[1], line[2], line[3], line[6]] == ["0.50000", "0.50035", "+0.00035", "0.00024"]


def test_in_a_narrow_window_every_figure_stands_whole(log: str) -> None:
    wide, narrow = (called("validate", log, columns=columns).output for columns in (240, 60))
    effect = found(studied(log), "genie", "plot", "plot")
    for figure in (f"{effect.difference.before:.3f}", f"{effect.p_value:.3f}*", f"{effect.difference.effect:+.2f}"):
        assert figure in wide
        assert figure in narrow
    # = where a paraphrase is equivalent, > at the largest significant d of a row
    for marked in ("0.000= 0.000", "1.000  1.000", "(+0.17=)", ">+0.200 (+6.11*)", " +0.000 (+0.09) "):
        assert marked in wide
    assert all(len(line) <= 60 for line in narrow.splitlines() if "measure:" not in line)
    assert called("validate", log).stderr == "", "no notice of what other commands leave out"


@pytest.mark.filterwarnings("ignore:.* is a metric study")
def test_the_mean_of_the_originals_is_the_same_in_study_summary_and_report(log: str) -> None:
    study = json.loads(called("validate", log, "--json").stdout)
    summary = {table["scorer"]: table for table in json.loads(called("summary", log, "--json").stdout)}
    report = json.loads(called("report", log, "--json").stdout)
    measures = {measure["scorer"]: measure for measure in report["measures"]}
    for scorer, key in (("genie", "plot"), ("genie", "agent"), ("cosine", "cosine_mean")):
        (before,) = {row["before"] for row in study["effects"] if row["key"] == key}
        (column,) = summary[scorer]["columns"]
        assert column["cells"][key]["mean"] == pytest.approx(before, abs=1e-12)
        assert measures[scorer]["rows"][0][key]["interval"]["mean"] == pytest.approx(before, abs=1e-12)
        assert column["documents"] == 8
    assert report["studies"] == [study]


def test_the_example_of_the_help_is_a_file_of_scores_that_is_read(tmp_path: Path) -> None:
    example = called("validate", "--help").output.partition("original,edited,key,value")[2].partition("Options:")[0]
    file = tmp_path / "scores.csv"
    file.write_text("original,edited,key,value\n" + "\n".join(example.split()) + "\n", encoding="utf-8")
    result = called("validate", file)
    assert result.exit_code == 0, result.output
    assert "edits and paraphrases; prompts: 1 (each original its own), originals: 1" in result.output
    assert ["plot", "0.610", "0.740", "+0.130"] in [cells[:4] for cells in lines(result.output, "plot")]
    assert " words " not in result.output.partition("A prompt is one pair")[0]
