"""Texts scored from Python get what the scorer `genie` gives them in a run."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.model import model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver
from tests.scripted import FOX, OWL, Script, evaluated, grading, scores, small_population

from genie_inspect import inspect_private, score_texts, score_texts_async
from genie_inspect.graders.grader import PrerequisiteError, RefusedError
from genie_inspect.populations.population import open_population
from genie_inspect.populations.schema import Document, Feature, Question
from genie_inspect.populations.writing import write_population
from genie_inspect.scorers.genie import genie
from genie_inspect.solvers.generations import recorded

TEXTS, PROMPTS = ("Grey owl over barns.", "An owl reads.", "", "A fox sings."), (OWL, OWL, OWL, FOX)
UNLIKE = grading(rating=lambda one, other: 4 if one == other else 2)
HARSH = grading(rating=lambda one, other: 1)


@pytest.fixture
def population(tmp_path: Path) -> str:
    return str(small_population(tmp_path / "small").folder)


@pytest.fixture
def _without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)


@pytest.mark.parametrize("graders", [[UNLIKE], [UNLIKE, HARSH]])
@pytest.mark.usefixtures("_without_pandas")
def test_the_numbers_are_those_of_a_run(population: str, tmp_path: Path, graders: list[Script]) -> None:
    models = [script.model(seed=index) for index, script in enumerate(graders)]
    samples = [
        Sample(prompt, id=i, metadata={"document": text})
        for i, (text, prompt) in enumerate(zip(TEXTS, PROMPTS, strict=True))
    ]
    log = evaluated(genie(population), UNLIKE, models, tmp_path, samples, recorded())
    rows = score_texts(TEXTS, PROMPTS, population=population, grader=models)
    assert isinstance(rows, list)
    for index, (row, score) in enumerate(zip(rows, scores(log), strict=True)):
        assert score.metadata is not None
        assert (row["text"], row["prompt"]) == (index, PROMPTS[index])
        assert (row["plot"], row["style"]) == pytest.approx(tuple(score.as_dict().values()), nan_ok=True)
        assert row["reason"] == (score.reason or "")
        assert row["explanation"] == score.explanation
        assert row["signature"] == score.metadata["signature"]
    assert [row["reason"] for row in rows] == ["", "", "no_response", ""]
    assert all(math.isnan(rows[2][key]) for key in ("plot", "style", "plot_percentile"))


def test_the_percentile_is_that_of_the_populations_reference_scores() -> None:
    starter = open_population("starter")
    prompt = starter.prompts[0]
    document = starter.documents(prompt)[0]
    table: Any = score_texts([document.text], prompt, grader="bundled/grader", progress=False)
    assert list(table.columns[:4]) == ["text", "prompt", "agent", "agent_percentile"], "a frame, where pandas is there"
    assert table.loc[0, "agent_percentile"] == pytest.approx(71.43, abs=0.01)


async def test_it_works_where_a_loop_runs_and_leaves_no_role_behind(population: str) -> None:
    options: dict[str, Any] = {"population": population, "grader": UNLIKE.model(), "progress": False}
    awaited: Any = await score_texts_async("An owl reads.", OWL, **options)
    called: Any = score_texts("An owl reads.", OWL, **options)
    assert awaited.equals(called)
    assert model_roles() == {}


@solver
def scoring(population: str) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        rows: Any = await score_texts_async("An owl reads.", OWL, population=population, progress=False)
        state.metadata["plot"] = float(rows["plot"][0])
        return await generate(state)

    return solve


def test_inside_a_run_the_grader_is_the_runs(population: str, tmp_path: Path) -> None:
    log = evaluated(genie(population), Script(lambda _: "An owl reads."), HARSH, tmp_path, solver=scoring(population))
    assert [sample.metadata["plot"] for sample in log.samples or []] == [1.0]


@pytest.mark.parametrize(
    ("texts", "prompts", "options", "message"),
    [
        (["a", "b"], ["c"], {}, "prompts is '1 prompts', expected one, or one per text: 2"),
        (["a", 3], OWL, {}, r"texts\[1\] is 3, expected a text"),
        (["a"], OWL, {"grader": None}, "grader is 'None', expected a model such as 'openai/gpt-4o' for judge='list'"),
        (["a"], OWL, {"judge": "lst"}, "judge is 'lst', expected one of list, sheet, pairwise"),
    ],
)
def test_what_cannot_be_scored_is_refused(
    population: str, texts: Any, prompts: Any, options: dict[str, Any], message: str
) -> None:
    grader = grading(rating=lambda one, other: pytest.fail("nobody is asked"))
    with pytest.raises(RefusedError, match=message):
        score_texts(texts, prompts, **{"population": population, "grader": grader.model(), **options})


def test_a_feature_called_as_a_column_is_refused(tmp_path: Path) -> None:
    question = Question(id="q", prompt=OWL, feature="reason", text="Why?")
    facts: dict[str, Any] = {
        "name": "named",
        "version": "1",
        "licence": "MIT",
        "features": [Feature(name="reason")],
        "answers": [],
    }
    document = Document(id="d", prompt=OWL, text="Grey owl.")
    written = write_population(tmp_path / "named", documents=[document], questions=[question], **facts)
    with pytest.raises(RefusedError, match="feature is 'reason', expected a name that is not one of the table's"):
        score_texts("a", OWL, population=str(written.folder), grader=UNLIKE.model())


def test_an_inspect_without_the_wire_says_what_works(population: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_private, "_wire", lambda module, name: None)
    with pytest.raises(PrerequisiteError, match="use `inspect eval`"):
        score_texts("a", OWL, population=population, grader=UNLIKE.model())
