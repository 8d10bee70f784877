from pathlib import Path

import pytest
from inspect_ai.model import ModelConfig
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.yardstick import yardstick_command

LENGTH = {"population": 200, "matched": {}}
GRADER = {"grader": ModelConfig(model="mock/grader")}


def command(folder: Path, signature: str, **spec: object) -> str:
    score = scored({"plot": 0.5}, signature, length=LENGTH)
    return yardstick_command(read_scored_log(made_log(folder, [{"genie": score}], **spec)), "genie")  # type: ignore[arg-type]


def test_the_command_repeats_what_the_scores_depend_on(tmp_path: Path) -> None:
    given = {"population": "castles", "embedder": "static", "templates": "mine"}
    list_judge = "measure:genie|judge:list(mock/grader@1,chunk=50)|version:0"
    assert command(tmp_path, list_judge, task_args=given, model_roles=GRADER) == (
        "genie population yardstick castles --judge list --grader mock/grader --templates mine"
    )
    embedded = "measure:genie|judge:embedded(static@1,anchors=starter)|version:0"
    assert command(tmp_path, embedded, task_args={"population": "castles", "embedder": "static"}) == (
        "genie population yardstick castles --judge embedded --embedder static"
    )


def test_a_judge_by_vectors_is_named_with_its_embedder_and_its_fit(tmp_path: Path) -> None:
    given = {"population": "castles", "judge": "vectors/fit.json", "embedder": "openai/small"}
    judge = "measure:genie|judge:vectors(openai/small,fit=ab12)|version:1"
    assert command(tmp_path, judge, task_args=given, model_roles=GRADER) == (
        "genie population yardstick castles --judge vectors/fit.json --grader mock/grader --embedder openai/small"
    )


def test_what_a_log_that_was_scored_afterwards_does_not_say_is_left_to_the_reader(tmp_path: Path) -> None:
    assert command(tmp_path, "measure:genie|judge:pairwise(m)|version:0") == (
        "genie population yardstick FOLDER --judge pairwise --grader PROVIDER/MODEL"
    )


IN_TASK = {"name": "genie", "options": {"population": "starter", "judge": "list", "templates": None}}
READER = "reader:grader(mock/second@0123456789ab,template=00)"


def test_a_log_that_was_scored_afterwards_names_who_judged_and_against_what(tmp_path: Path) -> None:
    """As a log of 40 stories said: its roles and options are those of the run that wrote."""
    added = {"name": "genie_inspect/genie", "options": {"population": "few", "judge": "logit"}}
    written = {"task_args": {"population": "starter", "judge": "list"}, "model_roles": GRADER}
    judge = f"measure:genie|judge:logit(mock/second@0123456789ab,off<=0.5)|{READER}|version:1"
    assert command(tmp_path, judge, scorers=[IN_TASK, added], **written) == (
        "genie population yardstick few --judge logit --grader mock/second"
    )


def test_an_embedder_in_the_judges_place_is_no_grader(tmp_path: Path) -> None:
    judge = f"measure:genie|judge:vectors(static@0123456789ab,fit=00)|{READER}|version:1"
    added = {"name": "genie", "options": {"population": "few", "judge": "vectors/fit.json"}}
    assert command(tmp_path, judge, scorers=[IN_TASK, added], model_roles=GRADER) == (
        "genie population yardstick few --judge vectors/fit.json --grader mock/second"
    )


def test_what_two_scorings_by_one_judge_disagree_in_is_left_to_the_reader(tmp_path: Path) -> None:
    added = {"name": "genie", "options": {"population": "few"}}
    judge = "measure:genie|judge:list(mock/grader@0123456789ab)|version:1"
    assert command(tmp_path, judge, scorers=[IN_TASK, added]) == (
        "genie population yardstick FOLDER --judge list --grader mock/grader"
    )


@pytest.mark.parametrize("facts", [{"signature": "measure:cosine|version:0", "length": LENGTH}, {}])
def test_another_measure_or_a_population_without_documents_needs_none(facts: dict[str, object], tmp_path: Path) -> None:
    log = read_scored_log(made_log(tmp_path, [{"genie": scored({"plot": 0.5}, **facts)}]))  # type: ignore[arg-type]
    assert yardstick_command(log, "genie") == ""
