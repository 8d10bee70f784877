from pathlib import Path

from inspect_ai.log import EvalPlan, EvalPlanStep, EvalRevision
from inspect_ai.model import GenerateConfig, ModelConfig
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.page.methods import command_for_yardstick, compared, definitions, run_facts
from genie_inspect.reports.page.page import page
from genie_inspect.reports.page.report import build_report
from genie_inspect.signature import package_version


def test_a_signature_is_shown_fact_by_fact(tmp_path: Path) -> None:
    found = build_report([made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])])
    assert compared(found) == [
        ("genie", {"measure": "genie", "judge": "test", "population": "small-1@0", "version": "0"})
    ]


def test_a_run_is_told_by_what_its_log_says_and_nothing_else(tmp_path: Path) -> None:
    grader = {"grader": ModelConfig(model="mock/grader")}
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5})}],
        model_roles=grader,
        task_args_passed={"judge": "list", "epochs": 3},
        packages={"inspect_ai": "0.3.285"},
        metadata={"population": "small-1@0"},
    )
    told = run_facts(build_report([file]).runs[0])
    assert told["roles"] == "grader=mock/grader"
    assert told["options"] == "judge=list, epochs=3"
    assert told["packages"] == "inspect_ai=0.3.285"
    assert told["population"] == "small-1@0"
    assert told["seed"] == "none was set"
    assert told["prompts"] == told["epochs"] == "1"
    assert (told["log"], told["task"], told["model"]) == (Path(file).name, "made", "mock/writer")
    assert "commit" not in told


def test_an_option_that_is_off_or_0_is_told_as_one_that_is_on(tmp_path: Path) -> None:
    given = {"cache": False, "min_coverage": 0.0, "judge": "list"}
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5})}],
        task_args_passed=given,
        model_generate_config=GenerateConfig(temperature=0.0),
    )
    told = run_facts(build_report([file]).runs[0])
    assert told["options"] == "cache=False, min_coverage=0.0, judge=list"
    assert told["generation"] == "temperature=0.0"


def test_a_seed_stands_by_itself_and_not_among_the_settings_of_generation(tmp_path: Path) -> None:
    settings = GenerateConfig(temperature=0.5, seed=7)
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], model_generate_config=settings)
    facts = run_facts(build_report([file]).runs[0])
    assert (facts["generation"], facts["seed"]) == ("temperature=0.5", "7")


def test_features_are_defined_as_the_population_defines_them(tmp_path: Path) -> None:
    told = {"population": "small-1@0", "features": {"finding": "What was <found>."}}
    file = made_log(tmp_path, [{"genie": scored({"finding": 0.5})}], metadata=told)
    report = build_report([file])
    assert definitions(report) == {"finding": "What was <found>."}
    assert "<bdi>What was &lt;found&gt;.</bdi>" in page(report)
    assert definitions(build_report([made_log(tmp_path / "other", [{"genie": scored({"plot": 0.5})}])])) == {}


def test_what_another_task_keeps_under_features_defines_nothing(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], metadata={"features": ["plot", "style"]})
    assert definitions(build_report([file])) == {}


def test_the_command_for_the_yardstick_repeats_what_the_scores_depend_on(tmp_path: Path) -> None:
    given = {
        "panel": ["cosine", "partition"],
        "judge": "logit",
        "population": "folder",
        "templates": None,
        "cache": False,
    }
    grader = {"grader": ModelConfig(model="mock/grader")}
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5})}],
        task_args=given,
        task_args_passed={"judge": "x"},
        model_roles=grader,
    )
    assert command_for_yardstick(build_report([file])) == (
        "inspect eval genie_inspect/leave_one_out --model mockllm/model -T population=folder -T judge=logit "
        "-T panel=cosine,partition --model-role grader=mock/grader"
    )


def test_the_command_for_the_yardstick_of_a_log_scored_afterwards_is_by_its_scores(tmp_path: Path) -> None:
    judged = "measure:genie|judge:logit(mock/second@0123456789ab,template=00)|population:few-1@0|version:1"
    other = "measure:ttcw|judge:critic(mock/third@0123456789ab)|version:0"
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5}, judged), "ttcw": scored({"ttcw_total": 3.0}, other)}],
        task_args={"population": "starter", "judge": "list", "panel": ["cosine"]},
        model_roles={"grader": ModelConfig(model="mock/grader")},
        scorers=[
            {"name": "genie", "options": {"population": "starter", "judge": "list"}},
            {"name": "genie_inspect/genie", "options": {"population": "few", "judge": "logit"}},
        ],
    )
    assert command_for_yardstick(build_report([file])) == (
        "inspect eval genie_inspect/leave_one_out --model mockllm/model -T population=few -T judge=logit "
        "-T panel=cosine --model-role grader=mock/second"
    )


def test_what_needs_no_population_has_no_yardstick(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")}])
    assert command_for_yardstick(build_report([file])) == ""


def test_the_command_for_the_yardstick_is_that_of_the_run_with_features_and_needs_no_grader(tmp_path: Path) -> None:
    other = made_log(tmp_path, [{"ttcw": scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")}], model="a/first")
    file = made_log(
        tmp_path, [{"genie": scored({"plot": 0.5})}], task_args={"judge": "embedded", "embedder": "static", "panel": []}
    )
    assert command_for_yardstick(build_report([other, file])) == (
        "inspect eval genie_inspect/leave_one_out --model mockllm/model -T judge=embedded -T embedder=static -T panel="
    )


def test_scores_that_know_the_yardstick_need_no_command(tmp_path: Path) -> None:
    own = {"plot": {"percentile": 75.0, "mean": 0.4, "low": 0.3, "high": 0.6}}
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, yardstick=own)}])
    assert command_for_yardstick(build_report([file])) == ""


def test_everything_that_a_log_records_of_its_run_is_told_in_one_order(tmp_path: Path) -> None:
    graders = {"grader": ModelConfig(model="mock/grader"), "panel": [ModelConfig(model="a"), ModelConfig(model="b")]}
    file = made_log(
        tmp_path,
        [{"genie": scored({"plot": 0.5})}] * 3,
        prompts=["a", "a", "b"],
        texts=["One.", "Two.", "Three."],
        model_roles=graders,
        task_args_passed={"judge": "list"},
        packages={"inspect_ai": "0.3", "genie_inspect": "0.1"},
        metadata={"population": "small-1@0"},
        revision=EvalRevision(type="git", origin="https://example.org", commit="abc123"),
        model_generate_config=GenerateConfig(temperature=0.7),
    )
    (run,) = build_report([file]).runs
    run.header.plan = EvalPlan(
        steps=[EvalPlanStep(solver="genie_inspect/outline", params={}), EvalPlanStep(solver="generate", params={})],
        config=GenerateConfig(temperature=0.1, max_tokens=9),
    )
    run.header.stats.started_at = "2026-01-02T03:04:05+00:00"
    run.header.stats.completed_at = "2026-01-02T04:05:06+00:00"
    run.header.eval.config.epochs = None
    told = {
        "log": Path(file).name,
        "task": "made",
        "options": "judge=list",
        "model": "mock/writer",
        "solver": "outline → generate",
        "roles": "grader=mock/grader, panel=a+b",
        # what the model was made with goes before what the task asks for
        "generation": "max_tokens=9, temperature=0.7",
        "seed": "none was set",
        "prompts": "2",
        "epochs": "1",
        "population": "small-1@0",
        "begun": "2026-01-02 03:04",
        "ended": "2026-01-02 04:05",
        "packages": "inspect_ai=0.3, genie_inspect=0.1",
        "commit": "abc123",
    }
    assert list(run_facts(run).items()) == list(told.items())


def test_signature_run_and_version_stand_on_the_page(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], task_args_passed={"judge": "list"})
    html = page(build_report([file]))
    assert "<dt>population</dt><dd><bdi>small-1@0</bdi></dd>" in html
    assert "<dt>options</dt><dd><bdi>judge=list</bdi></dd>" in html
    assert f"Written by genie-inspect {package_version()}." in html
