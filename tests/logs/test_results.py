import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelConfig
from inspect_ai.scorer import Score
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.reading import NO_SCORE, read_scored_log
from genie_inspect.logs.results import Results, reference_scores_command, results_of, standing_of
from genie_inspect.statistics.descriptive import Standing
from genie_inspect.tasks.novelty import score_view

NAN = math.nan


def results(folder: Path, samples: list[dict[str, Score]], scorer: str = "genie", **log: Any) -> Results:
    return results_of(read_scored_log(made_log(folder, samples, **log)), scorer)


def test_a_cell_is_the_mean_over_prompts_and_ends_where_the_values_do(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": value})} for value in (1.0, 0.9, 0.8, 0.95)]
    cell = results(tmp_path, samples, prompts=["a", "a", "a", "b"]).cells["plot"]
    # prompt means 0.9 and 0.95; error 0.025, t with one degree of freedom 12.706: 0.925 +- 0.318 would end beyond 1
    assert 0 < cell.low < 0.925 - 0.318 < 0.925 == pytest.approx(cell.mean)
    assert 0.99 < cell.high <= 1
    # where no view gives a range the measure does; and no view says how many tests a rubric has, but every score does
    index, total = "creativity_index_mean", "ttcw_total"
    cases: list[tuple[str, str, tuple[float, ...], int, dict[str, Any]]] = [
        (index, "measure:creativity_index|version:0", (0.9, 1.0, 1.0), 1, {}),
        (total, "measure:ttcw|rubric:ttcw@0|version:0", (10.0, 14.0), 14, {"coverage": {total: "14/14"}}),
    ]
    for key, signature, values, end, facts in cases:
        given = [{"x": scored({key: value}, signature, **facts)} for value in values]
        cell = results(tmp_path, given, "x", viewer=score_view("made", {}, {})).cells[key]
        assert end - 0.1 < cell.high <= end


def test_every_document_is_scored_or_has_its_reason(tmp_path: Path) -> None:
    silent = {"genie": scored({"plot": NAN, "style": NAN}, reason="no_response")}
    half = {"genie": scored({"plot": NAN, "style": 0.5})}
    found = results(tmp_path, [silent, half, {}, silent])
    assert found.unscored == {"no_response": 2, NO_SCORE: 1}
    assert (found.documents, found.scored) == (4, 1)
    assert (found.cells["style"].values, found.cells["plot"].values) == (1, 0)


def test_shares_are_added_up_over_documents_and_every_key_has_one(tmp_path: Path) -> None:
    samples = [
        {"genie": scored({"plot": 0.5, "style": 0.5}, coverage={"plot": "1/2"}, pairs={"plot": "5/24"})},
        {"genie": scored({"plot": 0.5, "style": 0.5}, coverage={"plot": "2/2"}, pairs={"plot": "9/24"})},
    ]
    found = results(tmp_path, samples)
    assert found.coverage == {"plot": (3, 4), "style": (0, 0)}
    assert found.pairs == {"plot": (14, 48), "style": (0, 0)}
    assert [line.split(":")[0] for line in found.warnings] == [
        "fewer than half of the expected ratings could be used",
        "some means rest on fewer answers than were asked for (one per question and document)",
    ]


QUARTER, HALF = ({"percentile": p, "mean": 0.5, "low": 0.25, "high": 0.75} for p in (25.0, 50.0))


def test_values_stand_among_the_populations_own_where_that_is_known_of_each(tmp_path: Path) -> None:
    samples = [
        {"genie": scored({"plot": 0.4, "style": 0.1}, standing={"plot": QUARTER})},
        {"genie": scored({"plot": 0.6, "style": 0.2}, standing={"plot": HALF, "style": HALF})},
        # without a value there is nothing that could stand anywhere
        {"genie": scored({"plot": NAN, "style": 0.3})},
    ]
    found = results(tmp_path, samples)
    assert found.standing == {"plot": Standing(37.5, 0.5, 0.25, 0.75)}
    assert found.nearest == {}
    samples = [{"genie": scored({"plot": 0.5}, standing={"plot": standing})} for standing in (QUARTER, QUARTER, HALF)]
    file = made_log(tmp_path, samples, prompts=["a", "a", "b"])
    assert standing_of([read_scored_log(file)], "genie", "plot") == Standing(37.5, 0.5, 0.25, 0.75)


def test_how_near_the_nearest_comes_is_a_mean_over_prompts_that_ends_where_values_do(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": 0.5}, nearest_novelty={"plot": near})} for near in (0.0, 0.1, None)]
    near = results(tmp_path, samples).nearest["plot"]
    assert (near.mean, near.low, near.values) == pytest.approx((0.05, 0.0, 2))
    assert near.low >= 0


DIGITS = "0123456789ab"


def warned(folder: Path, model: str, signature: str, **metadata: Any) -> list[str]:
    """What is said of a log of this model under this signature."""
    return list(results(folder, [{"genie": scored({"plot": 0.5}, signature, **metadata)}], model=model).warnings)


def by(*graders: str) -> str:
    judges, readers = (
        "+".join(f"{kind}({name}@{DIGITS},template=00)" for name in graders) for kind in ("list", "grader")
    )
    return f"measure:genie|judge:{judges}|reader:{readers}|population:small-1@0|version:1"


@pytest.mark.parametrize(
    ("model", "grader"),
    [
        ("openai/gpt-4o", "openai/gpt-4o"),
        ("openrouter/openai/gpt-4o", "openai/GPT-4o"),
        ("anthropic/claude-3-5-sonnet-latest", "anthropic/claude-3-5-sonnet-20241022"),
        ("vllm/org/tiny", "openai-api/local/tiny"),
    ],
)
def test_a_grader_of_the_models_own_name_is_marked(model: str, grader: str, tmp_path: Path) -> None:
    (line,) = warned(tmp_path, model, by("mock/other", grader), left_out=[])
    writer = "" if model == grader else f" ({model})"
    assert line.startswith(f"{grader} judges what a model of its name wrote{writer}: judges")
    assert "self-preference" in line


@pytest.mark.parametrize(
    ("signature", "facts"),
    [
        (by("openai/gpt-4o-mini", "mock/gpt-4"), {}),
        ("measure:genie|judge:test|population:gpt-4o@0123456789ab|version:1", {}),
        ("none", {}),
        # the population's own documents are nobody's own
        (by("openai/gpt-4o"), {"left_out": ["d-1"]}),
    ],
)
def test_others_are_not(signature: str, facts: dict[str, Any], tmp_path: Path) -> None:
    assert warned(tmp_path, "openai/gpt-4o", signature, **facts) == []


LENGTH = {"population": 200, "matched": {}}
GRADER = {"grader": ModelConfig(model="mock/grader")}
IN_TASK = {"name": "genie", "options": {"population": "starter", "judge": "list", "templates": None}}
READER = "reader:grader(mock/second@0123456789ab,template=00)"


def added(**options: str) -> list[dict[str, Any]]:
    """The scorers of a log that was scored afterwards, with options of its own."""
    return [IN_TASK, {"name": "genie_inspect/genie", "options": options}]


@pytest.mark.parametrize(
    ("judge", "spec", "options"),
    [
        (
            "list(mock/grader@1,chunk=50)",
            {"task_args": {"population": "castles", "embedder": "static", "templates": "mine"}, "model_roles": GRADER},
            "castles --judge list --grader mock/grader --templates mine",
        ),
        # a judge by embedding is named with its embedder and its fit
        (
            "embedding(openai/small,fit=ab12)",
            {
                "task_args": {"population": "castles", "judge": "embedding/fit.json", "embedder": "openai/small"},
                "model_roles": GRADER,
            },
            "castles --judge embedding/fit.json --grader mock/grader --embedder openai/small",
        ),
        # what a log that was scored afterwards does not say is left to the reader
        ("pairwise(m)", {}, "FOLDER --judge pairwise --grader PROVIDER/MODEL"),
        # its roles and task options are those of the run that wrote: who judged, and against what, its scores say
        (
            f"embedding(static@0123456789ab,fit=00)|{READER}",
            {
                "scorers": added(population="few", judge="embedding/fit.json"),
                "task_args": {"population": "starter", "judge": "list"},
                "model_roles": GRADER,
            },
            "few --judge embedding/fit.json --grader mock/second",
        ),
        # nor is told what two scorings by one judge disagree in
        (
            "list(mock/grader@0123456789ab)",
            {"scorers": added(population="few")},
            "FOLDER --judge list --grader mock/grader",
        ),
    ],
)
def test_the_command_for_a_reference_scores_repeats_what_the_scores_depend_on(
    judge: str, spec: dict[str, Any], options: str, tmp_path: Path
) -> None:
    score = scored({"plot": 0.5}, f"measure:genie|judge:{judge}|version:1", length=LENGTH)
    log = read_scored_log(made_log(tmp_path, [{"genie": score}], **spec))
    assert reference_scores_command(log, "genie") == f"genie population reference-scores {options}"


@pytest.mark.parametrize("facts", [{"signature": "measure:cosine|version:0", "length": LENGTH}, {}])
def test_another_measure_or_a_population_without_documents_needs_none(facts: dict[str, object], tmp_path: Path) -> None:
    log = read_scored_log(made_log(tmp_path, [{"genie": scored({"plot": 0.5}, **facts)}]))  # type: ignore[arg-type]
    assert reference_scores_command(log, "genie") == ""


def test_the_error_of_sampled_ratings_is_that_of_the_mean_over_prompts(tmp_path: Path) -> None:
    errors = (0.03, 0.04, 0.12, None)
    samples = [{"genie": scored({"plot": 0.5}, sampling={"standard_error": {"plot": error}})} for error in errors]
    found = results(tmp_path, samples, prompts=["a", "a", "b", "b"])
    # prompt a: sqrt(.03^2 + .04^2) / 2, b: .12; their mean over two prompts
    assert found.sampling["plot"] == pytest.approx(math.sqrt(0.025**2 + 0.12**2) / 2)
    assert results(tmp_path, [{"genie": scored({"plot": 0.5})}]).sampling == {}
