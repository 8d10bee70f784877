"""Which of several runs is surely above which, feature by feature."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.page import page
from genie_inspect.reports.ranking import Ranking, leaders
from genie_inspect.reports.report import Report, build_report, numbers

STEPS = (0.00, 0.03, -0.02, 0.01, 0.02, -0.01, 0.04, -0.03)  # of eight prompts
OTHERS = (0.02, -0.03, 0.01, 0.04, -0.01, 0.03, -0.02, 0.00)


def report(folder: Path, **levels: tuple[float, Sequence[float]]) -> Report:
    """Runs with one level of plot each, and the steps of their prompts around it."""
    for model, (level, steps) in levels.items():
        samples = [{"genie": scored({"plot": level + step, "style": 0.5})} for step in steps]
        made_log(folder, samples, model=f"m/{model}")
    return build_report([folder])


def above(ranking: Ranking) -> dict[str, tuple[str, ...]]:
    return {row.run: row.above for row in ranking.rows}


def test_runs_are_sorted_by_mean_each_with_those_it_is_surely_above(tmp_path: Path) -> None:
    found = report(tmp_path, a=(0.3, STEPS), b=(0.8, OTHERS), c=(0.31, OTHERS))
    plot, style = found.rankings
    assert (plot.scorer, plot.key, style.key) == ("genie", "plot", "style")
    # a and c differ by less than their prompts do
    assert list(above(plot).items()) == [("m/b", ("m/c", "m/a")), ("m/c", ()), ("m/a", ())]
    assert plot.rows[0].mean == pytest.approx(0.8 + sum(OTHERS) / 8)
    assert plot.rows[0].prompts == 8
    assert set(above(style).values()) == {()}
    assert leaders(found.rankings) == [
        "m/b is surely more novel than every other run in plot.",
        "No run is surely more novel than every other in style.",
    ]
    numbers_of_plot = numbers(found)["rankings"][0]
    assert [row["run"] for row in numbers_of_plot["runs"]] == ["m/b", "m/c", "m/a"]
    first, *others = numbers_of_plot["pairs"]
    assert (first["run"], first["other"], first["prompts"], len(others)) == ("m/a", "m/b", 8, 2)
    assert first["delta"] == pytest.approx(-0.5 + (sum(STEPS) - sum(OTHERS)) / 8)
    assert first["low"] < first["delta"] < first["high"] < 0
    assert first["p_value"] < numbers_of_plot["level"] == 0.05
    html = page(found)
    section = html.split('<section id="ranking"')[1].split("</section>")[0]
    assert section.count("every other run</td>") == 1
    assert '<p class="answer"><bdi>m/b is surely more novel' in html


def test_a_claim_takes_six_prompts_in_common_and_three_runs(tmp_path: Path) -> None:
    five = report(tmp_path / "five", a=(0.1, STEPS[:5]), b=(0.5, OTHERS[:5]), c=(0.9, STEPS[:5]))
    assert set(above(five.rankings[0]).values()) == {()}
    assert numbers(five)["rankings"][0]["pairs"][0]["low"] is None
    two = report(tmp_path / "two", a=(0.1, STEPS), b=(0.5, OTHERS))
    assert two.rankings == ()
    assert 'id="ranking"' not in page(two)
    # the population's own documents are no run
    own = made_log(tmp_path / "two", [{"genie": scored({"plot": 0.5}, left_out=["d"])}])
    assert build_report([tmp_path / "two", own]).rankings == ()
