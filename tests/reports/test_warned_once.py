"""What stands below the means is not said again in the comparison, and a measure's meaning is told once."""

from pathlib import Path

from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.page import beware, meanings
from genie_inspect.reports.report import Report, build_report
from genie_inspect.reports.verdict import warnings


def report(folder: Path, baseline: str = "") -> Report:
    """A plain run and one of another length, whose questions could not all be used."""
    for model, words in (("plain", 4), ("long", 40)):
        samples = [{"genie": scored({"plot": value}, coverage={"plot": "1/2"})} for value in (0.4, 0.5, 0.6)]
        made_log(folder, samples, model=f"m/{model}", texts=["word " * words] * 3)
    return build_report([folder], baseline=baseline)


def test_the_comparison_warns_of_what_the_measures_do_not(tmp_path: Path) -> None:
    found = report(tmp_path, "m/plain")
    assert found.comparison
    said = warnings(found.comparison)
    assert len([line for line in said if line.endswith("not every question or test could be used: plot 3 of 6")]) == 2
    assert beware(found) == [line for line in said if "could be used" not in line]
    assert any("40 words" in line for line in beware(found))


def test_without_a_comparison_there_is_nothing_to_beware_of_in_it(tmp_path: Path) -> None:
    assert beware(report(tmp_path)) == []


def test_a_measure_is_explained_by_the_run_that_it_scored(tmp_path: Path) -> None:
    scores = [{"b": scored({"k": 0.5}, "measure:b|version:0")}, {"genie": scored({"plot": 0.5})}]
    found = build_report([made_log(tmp_path, [own], model=f"m/{number}") for number, own in enumerate(scores)])
    scored_by = {name: next(run for run in found.runs if name in run.ours) for name in ("b", "genie")}
    for name, run in scored_by.items():
        assert meanings(found, name) == run.meanings(name)
    assert meanings(found, "genie")
    assert meanings(found, "nobody") == []
