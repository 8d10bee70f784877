"""Strategies pooled over models and prompts, from runs of real solvers on scripted models."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.solver import Solver, generate
from tests.reports.logs import given, plots, rated
from tests.scripted import saying

from genie_inspect.cli import main
from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison.compared import Options
from genie_inspect.reports.comparison.comparison import compare
from genie_inspect.reports.comparison.pooled import PooledRow, pooled
from genie_inspect.solvers.outline import outline
from genie_inspect.statistics.paired.differences import differences

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


def test_the_pairs_of_all_models_are_one_row_of_the_strategy(logs: Path) -> None:
    row = only(list(pooled(compare([logs], "plain"))))
    expected = differences([[x] for x in (*PLAIN["a"], *PLAIN["b"])], [[x] for x in (*OUTLINED["a"], *OUTLINED["b"])])[
        0
    ]
    assert (row.strategy, row.key, row.models, row.runs) == ("outline", "plot", 2, 2)
    assert row.finding.difference == expected
    # (.1 + .05 + .2 + .05 + 0 + .2) / 6
    assert row.finding.difference.delta == pytest.approx(0.1)


def test_words_and_coherence_are_those_of_the_strategys_documents_and_of_its_baselines(logs: Path) -> None:
    row = only(list(pooled(compare([logs], "plain"))))
    assert (row.run.words, row.baseline.words) == (500, 400)  # 400 and 600; 300 and 500
    assert (row.run.coherence, row.baseline.coherence) == (4, 3)  # 3 and 5
    assert row.run.population_words == 400


def test_runs_count_by_their_documents(logs: Path) -> None:
    run(logs, "planned", outline(), (0.7,), model="a", words=100, coherence=1.0)
    row = only(list(pooled(compare([logs], "plain"))))
    assert (row.models, row.runs, row.finding.difference.pairs) == (2, 3, 7)
    # three of 400 words, three of 600, one of 100
    assert row.run.words == pytest.approx((3 * 400 + 3 * 600 + 100) / 7)
    # the baseline of both runs of the model counts once
    assert row.baseline.words == 400


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
    assert "pooled over models, paired by prompt and model" in result.output
    (line,) = (line.split() for line in result.output.splitlines() if line.startswith(" outline "))
    assert line == ["outline", "2", "6", "+0.100", "500", "400", "400", "4.00", "3.00"]
    (row,) = json.loads(runner.invoke(main, [*call, "--pooled", "--json"]).output)["pooled"]
    assert (row["strategy"], row["run"]["words"], row["finding"]["difference"]["pairs"]) == ("outline", 500, 6)
