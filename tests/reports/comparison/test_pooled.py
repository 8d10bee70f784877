"""Strategies pooled over models and prompts, from runs of real solvers on scripted models."""

import json
import math
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.solver import Solver, generate
from scipy.stats import t
from tests.reports.logs import given, plots, rated
from tests.scripted import saying

from genie_inspect.cli import main
from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison.compared import Options
from genie_inspect.reports.comparison.comparison import compare
from genie_inspect.reports.comparison.pooled import PooledRow, pooled
from genie_inspect.solvers.outline import outline
from genie_inspect.statistics.paired.differences import crossed_p_value, differences

PLAIN = {"a": (0.5, 0.6, 0.7), "b": (0.4, 0.5, 0.6)}
OUTLINED = {"a": (0.6, 0.65, 0.9), "b": (0.45, 0.5, 0.8)}


def run(
    folder: Path, task: str, solver: Solver, values: Sequence[float], *, model: str, words: int, coherence: float
) -> None:
    by_sample = plots(*values)
    made = Task(
        name=task,
        dataset=MemoryDataset([Sample(input=f"Write about {name}.", id=name) for name in by_sample]),
        solver=solver,
        scorer=[given(by_sample, {"length": {"population": 400}}), rated([coherence])],
    )
    writer = get_model(f"mockllm/{model}", custom_outputs=saying(" ".join(["rain"] * words)), memoize=False)
    (log,) = evaluate(made, model=writer, log_dir=str(folder), display="none", log_realtime=False)
    assert log.status == "success", log.error


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for model, words in (("a", 300), ("b", 500)):
        run(tmp_path, "plain", generate(), PLAIN[model], model=model, words=words, coherence=3.0)
        run(tmp_path, "planned", outline(), OUTLINED[model], model=model, words=words + 100, coherence=words / 100)
    return tmp_path


def only(rows: list[PooledRow]) -> PooledRow:
    (row,) = rows
    return row


def test_differences_of_one_prompt_are_averaged_over_models_because_prompts_are_the_units(logs: Path) -> None:
    row = only(list(pooled(compare([logs], "plain"))))
    # prompt by prompt, (.5 + .4) / 2 and so on
    expected = differences([[0.45], [0.55], [0.65]], [[0.525], [0.575], [0.85]])[0]
    assert (row.strategy, row.key, row.models, row.runs) == ("outline", "plot", 2, 2)
    assert astuple(row.finding.difference) == pytest.approx(astuple(expected))
    # (.1 + .05 + .2 + .05 + 0 + .2) / 6, of both models up
    assert row.finding.difference.delta == pytest.approx(0.1)
    assert row.same_sign == 2
    assert math.isnan(row.p_models), "two models are too few to stand for others"


def test_a_copy_of_a_run_is_refused_by_name(logs: Path) -> None:
    (planned, _) = sorted(logs.glob("*planned*"))
    copy = logs / "copied.eval"
    copy.write_bytes(planned.read_bytes())
    found = compare([logs], "plain")
    with pytest.raises(LogError, match=r"hold the same documents.*expected one of the two") as refusal:
        list(pooled(found))
    assert planned.name in str(refusal.value)
    assert copy.name in str(refusal.value)
    result = CliRunner().invoke(main, ["compare", str(logs), "--baseline", "plain", "--pooled"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")


def test_a_run_of_some_of_anothers_documents_is_a_copy_too(logs: Path) -> None:
    # the model writes the same words again: other samples, the same documents
    run(logs, "planned", outline(), OUTLINED["a"][:2], model="a", words=400, coherence=3.0)
    with pytest.raises(LogError, match="would count twice"):
        list(pooled(compare([logs], "plain")))


@pytest.mark.parametrize("over_models", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("within_models", [0.0, 0.3, 0.5])
def test_no_difference_is_found_too_often_however_prompts_and_models_hang_together(
    over_models: float, within_models: float
) -> None:
    dice = np.random.default_rng(0)
    cell = max(0.0, 1 - over_models - within_models)
    shared = math.sqrt(over_models) * dice.normal(size=(1000, 8, 1))
    deltas = shared + math.sqrt(cell) * dice.normal(size=(1000, 8, 6))
    whole = deltas + math.sqrt(within_models) * dice.normal(size=(1000, 1, 6))
    by_prompt = deltas.mean(axis=2).T
    tests = differences(np.zeros_like(by_prompt), by_prompt, margin=1.0, resamples=200)
    # two standard errors of 1,000 tests above 5%
    assert np.mean([test.p_value < 0.05 for test in tests]) <= 0.064
    assert np.mean([crossed_p_value(one) < 0.05 for one in whole]) <= 0.05


def test_words_and_coherence_are_those_of_the_strategys_documents_and_of_its_baselines(logs: Path) -> None:
    row = only(list(pooled(compare([logs], "plain"))))
    assert (row.run.words, row.baseline.words) == (500, 400)  # 400 and 600; 300 and 500
    assert (row.run.coherence, row.baseline.coherence) == (4, 3)  # 3 and 5
    assert row.run.population_words == 400


def test_a_model_counts_once_however_many_runs_it_has(logs: Path) -> None:
    run(logs, "planned", outline(), (0.7,), model="a", words=100, coherence=1.0)
    row = only(list(pooled(compare([logs], "plain"))))
    assert (row.models, row.runs, row.finding.difference.pairs) == (2, 3, 3)
    # of the first prompt model a has .1 and .2, model b .05: .1; the others .025 and .2
    assert row.finding.difference.delta == pytest.approx((0.1 + 0.025 + 0.2) / 3)
    # three documents of 400 words, three of 600, one of 100
    assert row.run.words == pytest.approx((3 * 400 + 3 * 600 + 100) / 7)
    # the baseline of both runs of the model counts once
    assert row.baseline.words == 400


def test_from_three_models_it_is_said_whether_others_would_follow(logs: Path) -> None:
    run(logs, "plain", generate(), (0.4, 0.5, 0.6), model="c", words=310, coherence=3.0)
    run(logs, "planned", outline(), (0.5, 0.65, 0.7), model="c", words=320, coherence=3.0)
    row = only(list(pooled(compare([logs], "plain"))))
    # deltas by model .1 .05 .2, .05 0 .2, .1 .15 .1: prompts .0833 .0667 .1667, models .1167 .0833 .1167
    means = np.array([0.25, 0.2, 0.5]) / 3, np.array([0.35, 0.25, 0.35]) / 3
    error = math.sqrt(sum(own.var(ddof=1) / 3 for own in means))
    assert row.p_models == pytest.approx(2 * t.sf(means[0].mean() / error, 2))


def test_each_strategy_is_a_row_and_all_are_one_family_of_tests(logs: Path) -> None:
    run(logs, "told", generate(), (0.5, 0.6, 0.7), model="a", words=300, coherence=3.0)
    rows = list(pooled(compare([logs], "plain", Options(correction="bonferroni"))))
    assert [row.strategy for row in rows] == ["outline", "generate"]
    first = rows[0].finding
    assert first.p_value == pytest.approx(min(1, 2 * first.difference.p_value))


def test_two_models_that_decode_as_one_are_held_against_the_second(logs: Path) -> None:
    from dataclasses import replace

    from genie_inspect.logs.reading import read_logs
    from genie_inspect.reports.comparison.baselines import baselines

    runs = read_logs([logs])
    place = next(number for number, one in enumerate(runs) if (one.task, one.model) == ("planned", "mockllm/b"))

    def called(model: str) -> dict[int, int]:
        header = runs[place].header
        renamed = header.model_copy(update={"eval": header.eval.model_copy(update={"model": model})})
        return baselines([*runs[:place], replace(runs[place], header=renamed), *runs[place + 1 :]], "plain")

    base = called("conformative/base+b")[place]
    assert (runs[base].task, runs[base].model) == ("plain", "mockllm/b")
    with pytest.raises(LogError, match="is not clear"):
        called("conformative/base+other")


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
