"""Which keys are tested, and over what their p-values are corrected."""

import math
from pathlib import Path

import pytest
from inspect_ai.log import write_eval_log
from inspect_ai.scorer import Score
from tests.reports.logs import log_of, plots
from tests.reports.made_logs import made_log, scored

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison.compared import Options
from genie_inspect.reports.comparison.comparison import compare
from genie_inspect.reports.comparison.verdict import verdict, warnings
from genie_inspect.statistics.equivalence import tost
from genie_inspect.tasks.views import score_view

BEFORE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)
AFTER = (0.61, 0.60, 0.60, 0.66, 0.60, 0.61, 0.62, 0.61)


def test_a_difference_ends_where_the_baseline_leaves_no_more(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.62, 0.5, 0.74, 0.6, 0.64, 0.62))
    log_of(tmp_path, "outlined", plots(0.65, 0.97, 0.99, 0.62, 0.99, 0.98))
    (row,) = compare([tmp_path], "plain").rows
    difference = row.finding.difference
    assert difference.before == pytest.approx(0.62)
    assert difference.low < difference.delta < difference.high == pytest.approx(0.38)


def test_p_values_are_corrected_over_every_test_of_every_run(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    log_of(tmp_path, "one", plots(*(value + 0.001 * index for index, value in enumerate(BEFORE))))
    log_of(tmp_path, "two", plots(*(value - 0.002 * index for index, value in enumerate(BEFORE))))
    by = {name: compare([tmp_path], "plain", Options(correction=name)).rows for name in ("none", "holm", "bonferroni")}
    raw = [row.finding.p_value for row in by["none"]]
    assert [row.finding.p_value for row in by["bonferroni"]] == pytest.approx([min(1, 2 * p) for p in raw])
    assert sorted(row.finding.p_value for row in by["holm"])[0] == pytest.approx(min(1, 2 * min(raw)))


def test_equivalence_is_tested_by_the_method_of_the_options(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    log_of(tmp_path, "outlined", plots(*AFTER))
    for method in ("t", "bootstrap"):
        (row,) = compare([tmp_path], "plain", Options(margin=0.1, equivalence=method)).rows
        assert row.finding.difference.p_unlike == pytest.approx(tost(BEFORE, AFTER, 0.1, method).p_value)


PANEL = tuple(f"creativity_index_{part}" for part in ("mean", "sum", *range(5, 13)))


def with_panel(folder: Path, task: str, values: tuple[float, ...], panel: tuple[float, ...]) -> None:
    """A log that genie scored with `values`, and creativity_index with `panel` under all of its ten keys."""
    log = log_of(folder, task, plots(*values))
    for sample, value in zip(log.samples or [], panel, strict=True):
        scores = sample.scores or {}
        signature = "measure:creativity_index|version:0"
        scores["creativity_index"] = Score(value=dict.fromkeys(PANEL, value), metadata={"signature": signature})
    write_eval_log(log)


def test_of_each_measure_its_headline_is_tested_and_the_other_keys_are_shown_without_a_test(tmp_path: Path) -> None:
    with_panel(tmp_path, "plain", BEFORE, BEFORE)
    with_panel(tmp_path, "raised", AFTER, AFTER)
    rows = {row.key: row for row in compare([tmp_path], "plain").rows}
    assert [key for key, row in rows.items() if row.tested] == ["plot", "creativity_index_mean"]
    tested, shown = rows["creativity_index_mean"].finding, rows["creativity_index_7"].finding
    assert tested.differs
    assert not shown.differs
    assert not shown.is_equivalent
    assert all(map(math.isnan, (shown.p_value, shown.p_unlike, shown.power, shown.difference.p_value)))
    assert math.isnan(shown.difference.p_unlike)
    for name in ("pairs", "delta", "low", "high", "effect"):
        assert getattr(shown.difference, name) == getattr(tested.difference, name)


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_a_measures_tests_over_all_runs_are_one_family_and_those_of_another_are_not_in_it(
    tmp_path: Path, correction: str
) -> None:
    near = tuple(value + (0.02 if place % 3 else -0.01) for place, value in enumerate(BEFORE))
    for task, values in (("plain", BEFORE), ("one", near), ("two", near)):
        with_panel(tmp_path, task, values, values)
    rows = compare([tmp_path], "plain", Options(correction=correction)).rows
    findings = [row.finding for row in rows if row.tested]
    raw = findings[0].difference.p_value
    assert 0 < raw < 0.25
    # two tests of plot and two of creativity_index_mean, all of the same numbers: each measure has a family of two
    assert [finding.p_value for finding in findings] == pytest.approx([2 * raw] * 4)


def test_all_tested_keys_of_one_measure_are_one_family(tmp_path: Path) -> None:
    near = tuple(value + (0.02 if place % 3 else -0.01) for place, value in enumerate(BEFORE))
    for task, values in (("plain", BEFORE), ("raised", near)):
        log_of(tmp_path, task, {str(place): [{"plot": v, "style": v}] for place, v in enumerate(values)})
    findings = [row.finding for row in compare([tmp_path], "plain").rows if row.tested]
    raw = findings[0].difference.p_value
    assert 0 < raw < 0.5
    assert [finding.p_value for finding in findings] == pytest.approx([2 * raw] * 2)


@pytest.mark.parametrize("lacks", ["plain", "negative"])
def test_a_key_that_one_of_the_two_runs_lacks_is_shown_without_a_difference(lacks: str, tmp_path: Path) -> None:
    for task in ("plain", "negative"):
        values = {"plot": 0.5} if task == lacks else {"plot": 0.5, "style": 0.25}
        log_of(tmp_path, task, {name: [values] for name in ("owl", "fox")})
    rows = {row.key: row.finding.difference for row in compare([tmp_path], "plain").rows}
    assert rows.keys() == {"plot", "style"}
    assert math.isnan(rows["style"].delta)
    assert rows["style"].pairs == 0


def test_an_interval_may_be_as_wide_as_the_scale_and_no_wider(tmp_path: Path) -> None:
    view = score_view("made", {"order": ["bias"]}, {"bias": (-1.0, 1.0)})
    for model, values in {
        "plain": (-1.0, -0.9, -1.0, -0.8, -1.0, -0.9),
        "later": (1.0, 0.9, 0.6, 1.0, 0.9, 1.0),
    }.items():
        samples = [{"order": scored({"bias": value}, "measure:order|version:0")} for value in values]
        made_log(tmp_path, samples, model=f"mock/{model}", viewer=view)
    (row,) = compare([tmp_path], "mock/plain").rows
    difference = row.finding.difference
    assert difference.delta == pytest.approx(11 / 6)
    assert 11 / 6 < difference.high <= 2, "the scale is 2 wide"


def two_runs(folder: Path) -> Path:
    for name, step in (("plain", 0.0), ("one", 0.1), ("two", 0.002)):
        # every other prompt less, so that the style has no difference that holds
        values = [value + step * (1 + value) for value in BEFORE]
        samples = [
            {"genie": scored({"plot": value, "style": 0.5 + step * (-1) ** n})} for n, value in enumerate(values)
        ]
        made_log(folder, samples, model=f"mock/{name}")
    return folder


def test_the_keys_that_were_named_are_the_family_and_the_rest_is_shown_untested(tmp_path: Path) -> None:
    found = compare([two_runs(tmp_path)], "mock/plain", Options(keys=("plot",)))
    assert [(row.key, row.tested) for row in found.rows] == [("plot", True), ("style", False)] * 2
    # every prompt higher: 2 of 256 ways, times two tests, where four would give .031
    assert [row.finding.p_value for row in found.rows if row.tested] == [pytest.approx(2 * 2 / 256)] * 2
    assert "2 differences from mock/plain named beforehand, 2 hold" in verdict(found)
    assert "2 more are shown beside them and not tested" in verdict(found)


def test_a_key_may_be_named_as_tables_show_it_and_one_that_is_none_is_refused(tmp_path: Path) -> None:
    samples = [{"genie": scored({"social_atmosphere": value})} for value in BEFORE]
    for name in ("plain", "told"):
        made_log(tmp_path, samples, model=f"mock/{name}")
    (row,) = compare([tmp_path], "mock/plain", Options(keys=("social atmosphere",))).rows
    assert row.tested
    with pytest.raises(LogError, match=r"keys names 'tension', expected some of: social_atmosphere"):
        compare([tmp_path], "mock/plain", Options(keys=("tension",)))


def test_runs_that_are_separate_questions_are_a_family_each(tmp_path: Path) -> None:
    found = compare([two_runs(tmp_path)], "mock/plain", Options(keys=("plot",), family="run"))
    assert [row.finding.p_value for row in found.rows if row.tested] == [pytest.approx(2 / 256)] * 2
    assert "after Holm's correction within each run at 5%" in verdict(found)
    assert {row.family for row in found.rows} == {"mock/one", "mock/two"}
    with pytest.raises(UnknownChoiceError, match="family is 'model', expected one of all, run"):
        compare([tmp_path], "mock/plain", Options(family="model"))


def test_a_key_that_never_varies_is_constant_and_equivalent(tmp_path: Path) -> None:
    for name in ("plain", "told"):
        made_log(tmp_path, [{"genie": scored({"plot": 1.0})} for _ in BEFORE], model=f"mock/{name}", texts=[name] * 8)
    found = compare([tmp_path], "mock/plain")
    assert found.rows[0].finding.is_equivalent
    assert "1 more is equivalent within the margin (1 constant and the same in both) and 0 undecided" in verdict(found)


def test_a_run_that_wrote_what_its_baseline_wrote_is_no_example_of_equivalence(tmp_path: Path) -> None:
    for name in ("plain", "told"):
        made_log(tmp_path, [{"genie": scored({"plot": value})} for value in BEFORE], model=f"mock/{name}")
    found = compare([tmp_path], "mock/plain")
    assert "0 more are equivalent" in verdict(found)
    assert verdict(found).endswith("0 undecided and 1 of the very documents of the baseline.")
    (line,) = [line for line in warnings(found) if "word for word" in line]
    assert line.startswith("mock/told wrote the very documents of its baseline")


def test_few_shared_prompts_are_warned_of(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": value})} for value in BEFORE]
    made_log(tmp_path, samples, model="mock/plain", prompts="abcdefgh")
    made_log(tmp_path, samples, model="mock/told", prompts="abcijklm", texts=["other words"] * 8)
    lines = warnings(compare([tmp_path], "mock/plain"))
    assert "mock/told and its baseline share 3 of 13 prompts: their differences are about these alone" in lines
