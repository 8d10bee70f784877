from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai.log import list_eval_logs, read_eval_log
from tests.processes import Commands, tries

from genie_inspect.cli import main

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "tasks" / "prompting_methods.py"
TASKS = ("grid_baseline", "grid_verbalized_sampling", "grid_outline", "grid_negative_sampling")
pytestmark = pytest.mark.skipif(not RECIPE.is_file(), reason="recipes stand in a clone, not in a wheel")


@pytest.mark.repeated
def test_one_command_runs_the_grid_on_the_bundled_storytellers_and_one_compares_it(tmp_path: Path) -> None:
    models = ["--model", "bundled/ordinary", "--model-role", "grader=bundled/grader"]
    arguments = [*models, "--epochs", tries(1, 2), "--limit", tries(3, 8), "--log-dir", tmp_path / "logs"]
    arguments += ["--display", "none"]
    with Commands(tmp_path) as commands:
        ended = commands.run("eval-set", RECIPE.relative_to(ROOT), *arguments, program="inspect", folder=ROOT)
    assert ended.code == 0, ended.stdout + ended.stderr
    logs = [read_eval_log(info.name) for info in list_eval_logs(str(tmp_path / "logs"))]
    assert sorted(log.eval.task for log in logs) == sorted(TASKS)
    assert all(sample.scores for log in logs for sample in log.samples or [])
    result = CliRunner(env={"COLUMNS": "200"}).invoke(
        main, ["compare", str(tmp_path / "logs"), "--baseline", "grid_baseline"]
    )
    assert result.exit_code == 0, result.output
    assert "negative_sampling against grid_baseline (generate), paired by instance" in result.output
    assert "Of 18 differences from grid_baseline (generate)" in " ".join(result.output.split())
