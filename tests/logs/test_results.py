import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelConfig
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.results import results_of, standing_of, yardstick_command
from genie_inspect.logs.scored_log import NO_SCORE
from genie_inspect.statistics.descriptive import Standing
from genie_inspect.tasks.novelty import score_view

NAN = math.nan


def test_a_cell_is_the_mean_over_prompts_and_ends_where_the_values_do(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": value})} for value in (1.0, 0.9, 0.8, 0.95)]
    cell = results_of(read_scored_log(made_log(tmp_path, samples, prompts=["a", "a", "a", "b"])), "genie").cells["plot"]
    # prompt means 0.9 and 0.95; error 0.025, t with one degree of freedom 12.706: 0.925 +- 0.318 would end beyond 1
    assert 0 < cell.low < 0.925 - 0.318 < 0.925 == pytest.approx(cell.mean)
    assert 0.99 < cell.high <= 1


def test_where_no_view_gives_a_range_the_measure_does(tmp_path: Path) -> None:
    signature, empty = "measure:creativity_index|version:0", score_view("made", {}, {})
    samples = [{"c": scored({"creativity_index_mean": value}, signature)} for value in (0.9, 1.0, 1.0)]
    log = read_scored_log(made_log(tmp_path, samples, viewer=empty))
    assert results_of(log, "c").cells["creativity_index_mean"].high <= 1


def test_a_count_of_tests_ends_at_how_many_there_are(tmp_path: Path) -> None:
    # scored under another task: no view says how many tests the rubric has, but every score does
    signature, empty = "measure:ttcw|rubric:ttcw@0|version:0", score_view("made", {}, {})
    samples = [{"t": scored({"ttcw_total": v}, signature, coverage={"ttcw_total": "14/14"})} for v in (10.0, 14.0)]
    cell = results_of(read_scored_log(made_log(tmp_path, samples, viewer=empty)), "t").cells["ttcw_total"]
    assert (cell.low, cell.high) == pytest.approx((0, 14), abs=0.1)
    assert cell.high <= 14


def test_every_document_is_scored_or_has_its_reason(tmp_path: Path) -> None:
    silent = {"genie": scored({"plot": NAN, "style": NAN}, reason="no_response")}
    half = {"genie": scored({"plot": NAN, "style": 0.5})}
    found = results_of(read_scored_log(made_log(tmp_path, [silent, half, {}, silent])), "genie")
    assert found.unscored == {"no_response": 2, NO_SCORE: 1}
    assert (found.documents, found.scored) == (4, 1)
    assert (found.cells["style"].values, found.cells["plot"].values) == (1, 0)


def test_shares_are_added_up_over_documents_and_every_key_has_one(tmp_path: Path) -> None:
    samples = [
        {"genie": scored({"plot": 0.5, "style": 0.5}, coverage={"plot": "1/2"}, pairs={"plot": "5/24"})},
        {"genie": scored({"plot": 0.5, "style": 0.5}, coverage={"plot": "2/2"}, pairs={"plot": "9/24"})},
    ]
    found = results_of(read_scored_log(made_log(tmp_path, samples)), "genie")
    assert found.coverage == {"plot": (3, 4), "style": (0, 0)}
    assert found.pairs == {"plot": (14, 48), "style": (0, 0)}
    assert [line.split(":")[0] for line in found.warnings] == [
        "fewer than half of the ratings that were due could be used",
        "not every question or test could be used",
    ]


def test_refusals_are_counted_whoever_says_so(tmp_path: Path) -> None:
    refused = {"genie": scored({"plot": NAN}, reason="refusal"), "cosine": scored(0.5, "measure:cosine|version:0")}
    log = read_scored_log(made_log(tmp_path, [refused, {"genie": scored({"plot": 0.5})}]))
    assert results_of(log, "genie").refusals == results_of(log, "cosine").refusals == 1


def test_a_grader_that_never_varies_is_found_over_all_documents_not_one(tmp_path: Path) -> None:
    def log(*highest: float) -> str:
        facts = [{"count": 6, "lowest": 4.0, "highest": high} for high in highest]
        return made_log(tmp_path, [{"genie": scored({"plot": 0.0}, ratings=own)} for own in facts])

    assert "every pair the same rating (4)" in results_of(read_scored_log(log(4.0, 4.0)), "genie").warnings[0]
    assert not results_of(read_scored_log(log(4.0, 5.0)), "genie").warnings
    assert not results_of(read_scored_log(log(4.0)), "genie").warnings


QUARTER, HALF = ({"percentile": p, "mean": 0.5, "low": 0.25, "high": 0.75} for p in (25.0, 50.0))


def test_values_stand_among_the_populations_own_where_that_is_known_of_each(tmp_path: Path) -> None:
    samples = [
        {"genie": scored({"plot": 0.4, "style": 0.1}, standing={"plot": QUARTER})},
        {"genie": scored({"plot": 0.6, "style": 0.2}, standing={"plot": HALF, "style": HALF})},
        # without a value there is nothing that could stand anywhere
        {"genie": scored({"plot": NAN, "style": 0.3})},
    ]
    found = results_of(read_scored_log(made_log(tmp_path, samples)), "genie")
    assert found.standing == {"plot": Standing(37.5, 0.5, 0.25, 0.75)}
    assert found.nearest == {}


def test_how_near_the_nearest_comes_is_a_mean_over_prompts_that_ends_where_values_do(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": 0.5}, nearest_novelty={"plot": near})} for near in (0.0, 0.1, None)]
    near = results_of(read_scored_log(made_log(tmp_path, samples)), "genie").nearest["plot"]
    assert (near.mean, near.low, near.values) == pytest.approx((0.05, 0.0, 2))
    assert near.low >= 0


DIGITS = "0123456789ab"


def warned(folder: Path, model: str, signature: str, **metadata: Any) -> list[str]:
    """What is said of a log of this model under this signature."""
    file = made_log(folder, [{"genie": scored({"plot": 0.5}, signature, **metadata)}], model=model)
    return list(results_of(read_scored_log(file), "genie").warnings)


def by(*graders: str) -> str:
    """The signature of these graders."""
    judges, readers = (
        "+".join(f"{kind}({name}@{DIGITS},template=00)" for name in graders) for kind in ("list", "grader")
    )
    return f"measure:genie|judge:{judges}|reader:{readers}|population:small-1@0|version:1"


@pytest.mark.parametrize(
    ("model", "grader"),
    [
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("openai/gpt-4o-2024-08-06", "openai/gpt-4o"),
        ("openrouter/openai/gpt-4o", "openai/GPT-4o"),
        ("anthropic/claude-3-5-sonnet-latest", "anthropic/claude-3-5-sonnet-20241022"),
        ("vllm/org/tiny", "openai-api/local/tiny"),
    ],
)
def test_a_grader_of_the_models_own_name_is_marked(model: str, grader: str, tmp_path: Path) -> None:
    (line,) = warned(tmp_path, model, by("mock/other", grader))
    writer = "" if model == grader else f" ({model})"
    assert line.startswith(f"{grader} judges what a model of its name wrote{writer}: judges")
    assert "self-preference" in line


@pytest.mark.parametrize(
    ("model", "signature"),
    [
        ("openai/gpt-4o", by("openai/gpt-4o-mini", "mock/gpt-4")),
        ("openai/gpt-4o", "measure:genie|judge:test|population:gpt-4o@0123456789ab|version:1"),
        ("openai/gpt-4o", "none"),
    ],
)
def test_others_are_not(model: str, signature: str, tmp_path: Path) -> None:
    assert warned(tmp_path, model, signature) == []


def test_the_populations_own_documents_are_nobodys_own(tmp_path: Path) -> None:
    assert warned(tmp_path, "mock/grader", by("mock/grader"), left_out=["d-1"]) == []
    assert warned(tmp_path / "told", "mock/grader", by("mock/grader"), left_out=[]) != []


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


def test_a_standing_is_a_mean_over_prompts(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": 0.5}, standing={"plot": standing})} for standing in (QUARTER, QUARTER, HALF)]
    file = made_log(tmp_path, samples, prompts=["a", "a", "b"])
    found = standing_of([read_scored_log(file)], "genie", "plot")
    assert found == Standing(37.5, 0.5, 0.25, 0.75)
