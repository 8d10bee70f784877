"""Which keys are tested, and over what their p-values are corrected."""

import json
import math
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from inspect_ai.log import write_eval_log
from inspect_ai.scorer import Score
from scipy.stats import t
from tests.reports.made_logs import log_of, made_log, plots, scored

from genie_inspect.cli import main
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison import Comparison, PooledRow, compare, pooled
from genie_inspect.reports.pairing import Options
from genie_inspect.reports.verdict import findings, verdict, warnings
from genie_inspect.statistics.differences import crossed_p_value, differences
from genie_inspect.tasks.novelty import score_view

BEFORE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)
AFTER = (0.61, 0.60, 0.60, 0.66, 0.60, 0.61, 0.62, 0.61)


def test_an_interval_ends_where_the_baseline_leaves_no_more_and_is_never_wider_than_the_scale(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.62, 0.5, 0.74, 0.6, 0.64, 0.62))
    log_of(tmp_path, "outlined", plots(0.65, 0.97, 0.99, 0.62, 0.99, 0.98))
    (row,) = compare([tmp_path], "plain").rows
    difference = row.finding.difference
    assert difference.before == pytest.approx(0.62)
    assert difference.low < difference.delta < difference.high == pytest.approx(0.38)
    view = score_view("made", {"order": ["bias"]}, {"bias": (-1.0, 1.0)})
    runs = {"plain": (-1.0, -0.9, -1.0, -0.8, -1.0, -0.9), "later": (1.0, 0.9, 0.6, 1.0, 0.9, 1.0)}
    for model, values in runs.items():
        samples = [{"order": scored({"bias": value}, "measure:order|version:0")} for value in values]
        made_log(tmp_path / "wide", samples, model=f"mock/{model}", viewer=view)
    (row,) = compare([tmp_path / "wide"], "mock/plain").rows
    assert row.finding.difference.delta == pytest.approx(11 / 6)
    assert 11 / 6 < row.finding.difference.high <= 2, "the scale is 2 wide"


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


NEAR = tuple(value + (0.02 if place % 3 else -0.01) for place, value in enumerate(BEFORE))


@pytest.mark.parametrize(("correction", "factor"), [("holm", 2), ("bonferroni", 2), ("none", 1)])
def test_a_measures_tests_over_all_runs_and_keys_are_one_family_and_those_of_another_are_not_in_it(
    tmp_path: Path, correction: str, factor: int
) -> None:
    for task, values in (("plain", BEFORE), ("one", NEAR), ("two", NEAR)):
        with_panel(tmp_path / "runs", task, values, values)
    for task, values in (("plain", BEFORE), ("raised", NEAR)):
        log_of(tmp_path / "keys", task, {str(place): [{"plot": v, "style": v}] for place, v in enumerate(values)})
    # two tests of plot and two of creativity_index_mean, all of the same numbers: each measure has a family of two
    for folder, tests in (("runs", 4), ("keys", 2)):
        rows = compare([tmp_path / folder], "plain", Options(correction=correction)).rows
        findings = [row.finding for row in rows if row.tested]
        raw = findings[0].difference.p_value
        assert 0 < raw < 0.25
        assert [finding.p_value for finding in findings] == pytest.approx([factor * raw] * tests)


@pytest.mark.parametrize("lacks", ["plain", "negative"])
def test_a_key_that_one_of_the_two_runs_lacks_is_shown_without_a_difference(lacks: str, tmp_path: Path) -> None:
    for task in ("plain", "negative"):
        values = {"plot": 0.5} if task == lacks else {"plot": 0.5, "style": 0.25}
        log_of(tmp_path, task, {name: [values] for name in ("owl", "fox")})
    rows = {row.key: row.finding.difference for row in compare([tmp_path], "plain").rows}
    assert rows.keys() == {"plot", "style"}
    assert math.isnan(rows["style"].delta)
    assert rows["style"].pairs == 0


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
    assert "2 differences from mock/plain named beforehand, 2 are significant" in verdict(found)
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


def test_a_constant_key_is_equivalent_and_a_run_that_wrote_what_its_baseline_wrote_is_no_example_of_that(
    tmp_path: Path,
) -> None:
    for name in ("plain", "told"):
        constant = [{"genie": scored({"plot": 1.0})} for _ in BEFORE]
        made_log(tmp_path / "constant", constant, model=f"mock/{name}", texts=[name] * 8)
        made_log(tmp_path / "copy", [{"genie": scored({"plot": value})} for value in BEFORE], model=f"mock/{name}")
    found = compare([tmp_path / "constant"], "mock/plain")
    assert found.rows[0].finding.is_equivalent
    assert "1 more is equivalent within the margin (1 constant and the same in both) and 0 undecided" in verdict(found)
    found = compare([tmp_path / "copy"], "mock/plain")
    assert "0 more are equivalent" in verdict(found)
    assert verdict(found).endswith("0 undecided and 1 between identical documents.")
    assert "mock/told wrote the same documents as the baseline: this compares nothing." in findings(found)
    assert not any(line.startswith("mock/told is") for line in findings(found))
    (line,) = [line for line in warnings(found) if "word for word" in line]
    assert line.startswith("mock/told wrote the same documents as its baseline")


def test_few_shared_prompts_are_warned_of(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": value})} for value in BEFORE]
    made_log(tmp_path, samples, model="mock/plain", prompts="abcdefgh")
    made_log(tmp_path, samples, model="mock/told", prompts="abcijklm", texts=["other words"] * 8)
    lines = warnings(compare([tmp_path], "mock/plain"))
    assert "mock/told and its baseline share 3 of 13 prompts: their differences are about these alone" in lines


PLAIN = {"a": (0.5, 0.6, 0.7), "b": (0.4, 0.5, 0.6)}
OUTLINED = {"a": (0.6, 0.65, 0.9), "b": (0.45, 0.5, 0.8)}


def run(folder: Path, task: str, values: Sequence[float], *, model: str, words: int, coherence: float) -> None:
    solver = "genie_inspect/outline" if task == "planned" else "generate"
    # the sample's id is a word, too
    given: dict[str, Any] = {"texts": [" ".join(["rain"] * (words - 1))], "coherence": [coherence]}
    given["spec"] = {"task_args": {"words": words, "prompts": len(values)}}
    log_of(folder, task, plots(*values), model=model, solver=solver, length={"population": 400}, **given)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for model, words in (("a", 300), ("b", 500)):
        run(tmp_path, "plain", PLAIN[model], model=model, words=words, coherence=3.0)
        run(tmp_path, "planned", OUTLINED[model], model=model, words=words + 100, coherence=words / 100)
    return tmp_path


def only(comparison: Comparison) -> PooledRow:
    (row,) = pooled(comparison)
    return row


def test_differences_of_one_prompt_are_averaged_over_models_because_prompts_are_the_units(logs: Path) -> None:
    row = only(compare([logs], "plain"))
    # prompt by prompt, (.5 + .4) / 2 and so on
    expected = differences([[0.45], [0.55], [0.65]], [[0.525], [0.575], [0.85]])[0]
    assert (row.strategy, row.key, row.models, row.runs) == ("outline", "plot", 2, 2)
    assert astuple(row.finding.difference) == pytest.approx(astuple(expected))
    # (.1 + .05 + .2 + .05 + 0 + .2) / 6, of both models up
    assert row.finding.difference.delta == pytest.approx(0.1)
    assert row.same_sign == 2
    assert only(compare([logs], "planned")).same_sign == 2, "down is a sign too"
    assert math.isnan(row.p_models), "two models are too few to stand for others"
    # of the strategy's documents and of its baseline's: 400 and 600 words, 300 and 500; coherence 3 and 5
    assert (row.run["words"], row.baseline["words"], row.run["population_words"]) == (500, 400, 400)
    assert (row.run["coherence"], row.baseline["coherence"]) == (4, 3)


def test_a_copy_of_a_run_is_refused_by_name(logs: Path) -> None:
    planned = logs / "log-1.eval"
    copy = logs / "copied.eval"
    copy.write_bytes(planned.read_bytes())
    found = compare([logs], "plain")
    with pytest.raises(LogError, match=r"have the same documents.*Give one of the two") as refusal:
        list(pooled(found))
    assert planned.name in str(refusal.value)
    assert copy.name in str(refusal.value)
    result = CliRunner().invoke(main, ["compare", str(logs), "--baseline", "plain", "--pooled"])
    assert (result.exit_code, result.output[:7]) == (1, "Error: ")
    # a run of some of another's documents is a copy too: other samples, the same words
    copy.unlink()
    run(logs, "planned", OUTLINED["a"][:2], model="a", words=400, coherence=3.0)
    with pytest.raises(LogError, match="would count twice"):
        list(pooled(compare([logs], "plain")))


@pytest.mark.parametrize(("over_models", "within_models"), [(0.0, 0.5), (0.5, 0.3)])
def test_no_difference_is_found_too_often_however_prompts_and_models_hang_together(
    over_models: float, within_models: float
) -> None:
    dice = np.random.default_rng(0)
    shared = math.sqrt(over_models) * dice.normal(size=(1000, 8, 1))
    deltas = shared + math.sqrt(1 - over_models - within_models) * dice.normal(size=(1000, 8, 6))
    whole = deltas + math.sqrt(within_models) * dice.normal(size=(1000, 1, 6))
    by_prompt = deltas.mean(axis=2).T
    tests = differences(np.zeros_like(by_prompt), by_prompt, margin=1.0, resamples=200)
    # two standard errors of 1,000 tests above 5%
    assert np.mean([test.p_value < 0.05 for test in tests]) <= 0.064
    assert np.mean([crossed_p_value(one) < 0.05 for one in whole]) <= 0.05


def test_a_model_counts_once_however_many_runs_it_has(logs: Path) -> None:
    run(logs, "planned", (0.7,), model="a", words=100, coherence=1.0)
    row = only(compare([logs], "plain"))
    assert (row.models, row.runs, row.finding.difference.pairs) == (2, 3, 3)
    # of the first prompt model a has .1 and .2, model b .05: .1; the others .025 and .2
    assert row.finding.difference.delta == pytest.approx((0.1 + 0.025 + 0.2) / 3)
    # three documents of 400 words, three of 600, one of 100
    assert row.run["words"] == pytest.approx((3 * 400 + 3 * 600 + 100) / 7)
    # the baseline of both runs of the model counts once
    assert row.baseline["words"] == 400


def test_from_three_models_it_is_said_whether_others_would_follow(logs: Path) -> None:
    run(logs, "plain", (0.4, 0.5, 0.6), model="c", words=310, coherence=3.0)
    run(logs, "planned", (0.5, 0.65, 0.7), model="c", words=320, coherence=3.0)
    row = only(compare([logs], "plain"))
    # deltas by model .1 .05 .2, .05 0 .2, .1 .15 .1: prompts .0833 .0667 .1667, models .1167 .0833 .1167
    means = np.array([0.25, 0.2, 0.5]) / 3, np.array([0.35, 0.25, 0.35]) / 3
    error = math.sqrt(sum(own.var(ddof=1) / 3 for own in means))
    assert row.p_models == pytest.approx(2 * t.sf(means[0].mean() / error, 2))


def test_each_strategy_is_a_row_and_all_are_one_family_of_tests(logs: Path) -> None:
    run(logs, "told", (0.5, 0.6, 0.7), model="a", words=300, coherence=3.0)
    rows = list(pooled(compare([logs], "plain", Options(correction="bonferroni"))))
    assert [row.strategy for row in rows] == ["outline", "generate"]
    first = rows[0].finding
    assert first.p_value == pytest.approx(min(1, 2 * first.difference.p_value))


def test_the_command_shows_a_row_a_strategy(logs: Path) -> None:
    runner = CliRunner(env={"COLUMNS": "120"})
    call = ["compare", str(logs), "--baseline", "plain"]
    assert "pooled over models" not in runner.invoke(main, call).output
    result = runner.invoke(main, [*call, "--pooled"])
    assert result.exit_code == 0, result.output
    assert "pooled over models: prompts are the units" in result.output
    (line,) = (line.split() for line in result.output.splitlines() if line.startswith(" outline "))
    assert line == ["outline", "2", "3", "+0.100", "2/2", "500", "400", "400", "4.00", "3.00"]
    (row,) = json.loads(runner.invoke(main, [*call, "--pooled", "--json"]).output)["pooled"]
    assert (row["strategy"], row["run"]["words"], row["finding"]["difference"]["pairs"]) == ("outline", 500, 3)
