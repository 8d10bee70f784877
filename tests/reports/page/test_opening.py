from pathlib import Path

from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelConfig
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.page.opening import opening
from genie_inspect.reports.page.report import build_report

SCORE = {"genie": scored({"plot": 0.5})}
THREE = [("a", 1), ("b", 1), ("c", 1)]


def test_it_names_models_documents_population_and_date(tmp_path: Path) -> None:
    twice = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    files = [made_log(tmp_path, [SCORE] * 4, places=twice, model=model) for model in ("mock/b", "mock/a")]
    assert opening(build_report(files)) == {
        "models": "mock/a, mock/b",
        "documents": "2 prompts x 2 epochs: 4 a run",
        "population": "small-1@0",
        "date": "2026-01-02",
    }


def test_runs_of_unlike_size_have_a_range_and_the_population_in_the_logs_own_words(tmp_path: Path) -> None:
    one = made_log(tmp_path, [SCORE], metadata={"population": "small-1@0, 12 documents"})
    three = made_log(tmp_path, [SCORE] * 3, places=THREE, model="mock/b")
    facts = opening(build_report([one, three]))
    assert facts["documents"] == "1 to 3 prompts x 1 epoch: 1 to 3 a run"
    assert facts["population"] == "small-1@0, 12 documents"


def test_scores_against_another_population_than_that_of_the_run_name_theirs(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE], metadata={"population": "starter-2@0, 101 documents"})
    assert opening(build_report([file]))["population"] == "small-1@0"


def test_scores_without_a_population_leave_it_to_the_logs_words(tmp_path: Path) -> None:
    score = scored({"ttcw_total": 3.0}, "measure:ttcw|version:0")
    file = made_log(tmp_path, [{"ttcw": score}], metadata={"population": "small-1@0, 12 documents"})
    assert opening(build_report([file]))["population"] == "small-1@0, 12 documents"


def test_the_populations_own_documents_are_not_counted(tmp_path: Path) -> None:
    told = made_log(tmp_path, [SCORE] * 3, places=THREE)
    own = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, left_out=["d"])}], model="mock/own")
    facts = opening(build_report([told, own]))
    assert (facts["models"], facts["documents"]) == ("mock/writer", "3 prompts x 1 epoch: 3 a run")


def test_runs_of_several_days_have_the_first_and_the_last(tmp_path: Path) -> None:
    files = [made_log(tmp_path, [SCORE], model=f"mock/{number}") for number in range(3)]
    for file, day in zip(files, ("2026-03-04", "2026-01-02", "2026-02-03"), strict=True):
        log = read_eval_log(file)
        log.eval.created = f"{day}T00:00:00+00:00"
        write_eval_log(log)
    assert opening(build_report(files))["date"] == "2026-01-02 to 2026-03-04"


def test_the_graders_are_named_each_once_and_a_run_without_epochs_has_one(tmp_path: Path) -> None:
    for model, grader in (("m/a", "mock/judge"), ("m/b", "mock/judge"), ("m/c", "mock/other")):
        made_log(tmp_path, [SCORE], model=model, model_roles={"grader": ModelConfig(model=grader)})
    made_log(tmp_path, [SCORE], model="m/d")
    found = build_report([tmp_path])
    for run in found.runs:
        run.header.eval.config.epochs = None
    facts = opening(found)
    assert list(facts) == ["models", "documents", "population", "grader", "date"]
    assert (facts["grader"], facts["documents"]) == ("mock/judge, mock/other", "1 prompt x 1 epoch: 1 a run")


def test_what_only_the_populations_own_log_says_of_it_is_not_told_beside_others_and_is_where_it_is_alone(
    tmp_path: Path,
) -> None:
    left_out = [{"genie": scored({"plot": 0.5}, left_out=["d"])}] * 3
    own = made_log(
        tmp_path, left_out, places=THREE, model="mock/own", metadata={"population": "small-1@0, its own words"}
    )
    other = made_log(tmp_path, [SCORE])
    assert opening(build_report([own, other]))["population"] == "small-1@0"
    alone = opening(build_report([own]))
    assert (alone["models"], alone["documents"], alone["population"]) == (
        *("mock/own", "3 prompts x 1 epoch: 3 a run"),
        "small-1@0, its own words",
    )


def test_every_grader_of_a_jury_is_named(tmp_path: Path) -> None:
    file = made_log(tmp_path, [SCORE])
    log = read_eval_log(file)
    log.eval.model_roles = {"grader": [ModelConfig(model="mock/one"), ModelConfig(model="mock/two")]}
    write_eval_log(log, file)
    assert opening(build_report([file]))["grader"] == "mock/one, mock/two"
