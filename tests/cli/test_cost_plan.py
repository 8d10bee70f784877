import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, EvalStats, write_eval_log
from inspect_ai.model import ModelUsage
from tests.scripted import small_population

from genie_inspect.cli.verbs.cost import cost
from genie_inspect.cli.verbs.cost.planning import shown_time

STUDY = "documents=4500,prompts=50,population=50,questions=17"


def called(*arguments: str) -> Result:
    return CliRunner().invoke(cost, list(arguments))


def found(*arguments: str) -> Any:
    done = called(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def engines(*arguments: str) -> Any:
    return found("--study", STUDY, *arguments)["judges"]["list"]["engines"]


def test_a_batch_endpoint_one_gpu_eight_and_a_fleet_stand_side_by_side() -> None:
    plans = engines()
    assert list(plans) == ["batch", "h100", "8xh100", "64xh100"]
    assert plans["batch"]["wall_hours"] == 48
    assert plans["h100"]["wall_hours"] > plans["8xh100"]["wall_hours"] > plans["64xh100"]["wall_hours"]
    assert [plan["gpus"] for plan in plans.values()] == [0, 1, 8, 64]
    assert plans["h100"]["gpu_hours"] == plans["h100"]["wall_hours"]


def test_the_plan_rests_on_the_tokens_of_the_estimate() -> None:
    judged = found("--study", STUDY, "--engine", "h100", "--prefill", "1000", "--decode", "100")["judges"]["list"]
    seconds = judged["total"]["tokens_in"] / 1000 + judged["total"]["tokens_out"] / 100
    own = judged["total"]["calls"] * 0.0008 + judged["judged"] * 0.00008
    assert judged["engines"]["h100"]["wall_hours"] == pytest.approx((seconds + own) / 3600, rel=1e-4)


def test_every_constant_says_where_it_comes_from() -> None:
    given = engines("--engine", "h100", "--prefill", "9000", "--cached", "0.5")["h100"]["constants"]
    assert given["prefill"] == {"value": 9000, "source": "given"}
    assert given["cached"]["source"] == "given"
    assert given["decode"]["source"].startswith("published: TensorRT-LLM 1.0")
    assert engines("--engine", "h100")["h100"]["constants"]["cached"]["source"].startswith("assumption")
    shown = called("--study", STUDY).stdout
    assert "h100, 8xh100, 64xh100: decode 19,700, published" in shown
    assert "batch: window 24, published" in shown


def test_prices_are_of_tokens_elsewhere_and_of_hours_of_ones_own() -> None:
    tokens = ("--price-input", "1", "--price-output", "4")
    judged = found("--study", STUDY, *tokens, "--price-gpu-hour", "2.5")["judges"]["list"]
    assert judged["engines"]["batch"]["money"] == pytest.approx(judged["money"] / 2, abs=0.01)
    assert judged["engines"]["8xh100"]["money"] == pytest.approx(
        2.5 * judged["engines"]["8xh100"]["gpu_hours"], abs=0.01
    )
    assert "money" not in engines(*tokens)["h100"]


def test_by_other_judges_and_against_a_population_of_ones_own(tmp_path: Path) -> None:
    folder = small_population(tmp_path / "small").folder
    judges = found("--study", "documents=9", "--population", str(folder), "--judge", "list", "--judge", "pairwise")[
        "judges"
    ]
    assert list(judges) == ["list", "pairwise"]
    hours = [judge["engines"]["h100"]["wall_hours"] for judge in judges.values()]
    assert hours[0] <= hours[1]


def log_of(path: Path, seconds: int, role: str) -> str:
    """A log whose grader took so many seconds for 669,000 tokens in, of which 69,000 from a cache, and 19,700 out."""
    began, ended = (f"2026-01-01T00:{second // 60:02}:{second % 60:02}+00:00" for second in (0, seconds))
    usage = ModelUsage(input_tokens=600_000, input_tokens_cache_read=69_000, output_tokens=19_700)
    other = {"writer": ModelUsage(input_tokens=1, output_tokens=1)} if role == "grader" else {}
    stats = EvalStats(started_at=began, completed_at=ended, role_usage={role: usage} | other, model_usage={"m": usage})
    spec = EvalSpec(created=began, task="t", dataset=EvalDataset(), model="m", config=EvalConfig())
    write_eval_log(EvalLog(status="success", eval=spec, stats=stats), str(path))
    return str(path)


@pytest.mark.parametrize("role", ["grader", "somebody"])
def test_a_log_scales_the_engines_to_what_was_measured(role: str, tmp_path: Path) -> None:
    # one H100 would take 10 + 1 seconds: this engine has a quarter of its speed, and eight of them eight times that
    log = log_of(tmp_path / "run.eval", 44, role)
    for name in ("h100", "8xh100"):
        constants = engines("--engine", name, "--throughput-from", log)[name]["constants"]
        assert constants["prefill"] == {"value": pytest.approx(66_900 / 4), "source": f"measured: {log}"}
        assert constants["decode"]["value"] == pytest.approx(19_700 / 4)
    both = engines("--engine", "h100", "--throughput-from", log, "--decode", "5")["h100"]["constants"]
    assert both["decode"] == {"value": 5, "source": "given"}


def test_a_log_of_no_time_measures_nothing(tmp_path: Path) -> None:
    log = log_of(tmp_path / "run.eval", 0, "grader")
    assert "has no tokens or no time" in called("--study", STUDY, "--throughput-from", log).stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--engine", "h100"], "belong to a plan: --study"),
        (["--prefill", "9000"], "belong to a plan: --study"),
        (["--study", STUDY, "--epochs", "5"], "takes no --epochs"),
        (["--study", STUDY, "--task", "ttcw"], "--study belongs to a population"),
        (["--study", "stories=3"], "--study is 'stories=3', expected documents=4500"),
        (["--study", STUDY, "--engine", "abacus"], "--engine is 'abacus', expected batch, h100"),
        (["--study", STUDY, "--throughput-from", "nowhere.eval"], "nowhere.eval"),
    ],
)
def test_what_cannot_be_planned_is_one_clear_line(arguments: list[str], named: str) -> None:
    done = called(*arguments)
    assert done.exit_code
    assert named in done.stderr


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.4, "0 s"), (99, "99 s"), (120, "2 min"), (5_900, "98 min"), (7_200, "2.0 h")]
)
def test_a_time_is_shown_in_a_unit_that_is_read_easily(seconds: float, shown: str) -> None:
    assert shown_time(seconds) == shown
