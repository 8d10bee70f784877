"""What stands in the signature of scores that no grader makes, and that the options behind it are those given."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from tests.scripted import OWL, answers_alone, evaluated, grading, metadata, output, saying, scores, small_population

from genie_inspect.engines.embedders import embedder
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import AnswerRow
from genie_inspect.populations.writing import write_population
from genie_inspect.scorers.compression import compression
from genie_inspect.scorers.cosine import cosine
from genie_inspect.scorers.creativity_index import creativity_index
from genie_inspect.scorers.document import document
from genie_inspect.scorers.expression_novelty import expression_novelty
from genie_inspect.scorers.genie import genie
from genie_inspect.scorers.partition import partition
from genie_inspect.signature import Signature

STORY = "A brown owl counted the trains."
STATIC = embedder().identity


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    return small_population(tmp_path_factory.mktemp("population"))


async def scored(scorer: Scorer, story: str = STORY) -> Score:
    state = TaskState(ModelName("mockllm/model"), 1, 1, OWL, [], output=output(story), metadata={"prompt": OWL})
    score = await scorer(state, Target(""))
    assert score
    return score


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("made", "options", "facts"),
    [
        (cosine, {}, {"embedder": STATIC}),
        (compression, {"codec": "xz"}, {"codec": "xz", "version": "2-A"}),
        (compression, {}, {"codec": f"gzip(zlib {zlib.ZLIB_RUNTIME_VERSION})", "version": "2-A"}),
        (creativity_index, {}, {"corpus": "population", "matcher": "exact"}),
        (creativity_index, {"matcher": "near"}, {"corpus": "population", "matcher": f"near({STATIC})"}),
        (expression_novelty, {"case": "kept"}, {"corpus": "population", "floor": "1.2e-10", "case": "kept"}),
        (
            partition,
            {"equivalence": "embedded", "threshold": 0.5},
            {"equivalence": f"embedded({STATIC},threshold=0.5)"},
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_a_signature_has_the_options_that_numbers_depend_on(
    made: Callable[..., Scorer], options: dict[str, Any], facts: dict[str, str], population: Population
) -> None:
    score = await scored(made(str(population.folder), **options))
    assert Signature(metadata(score)["signature"]).facts == {
        "measure": made.__name__,
        "version": {"litbench": "1-A"}.get(made.__name__, "2-A"),
        **facts,
        "population": population.name,
    }


@pytest.mark.anyio
async def test_near_verbatim_runs_of_the_populations_documents_are_copied_too(tmp_path: Path) -> None:
    told = {OWL: ("and the boat came to the harbour in the morning",)}
    folder = str(small_population(tmp_path, told, {}).folder)
    text = "the boats came to the harbours in the morning"
    exact, near = [(await scored(creativity_index(folder, matcher=one), text)).value for one in ("exact", "near")]
    assert isinstance(exact, dict)
    assert isinstance(near, dict)
    assert exact["creativity_index_5"] == 1
    assert near["creativity_index_5"] == 0


@pytest.mark.anyio
async def test_columns_of_a_document_say_that_they_are_no_measure() -> None:
    score = await scored(document())
    assert score.explanation == "Columns of the list of samples; no measure."
    assert Signature(metadata(score)["signature"]).facts == {"measure": "document", "version": "2-A"}


def kept(scorer: Any, name: str, folder: Path, prompt: str) -> dict[str, Any]:
    """The metadata of a score."""
    (score,) = scores(evaluated(scorer, saying("Grey owl."), grading(), folder, (prompt,)), name)
    assert score.metadata
    return score.metadata


def with_answers(population: Population, folder: Path, reader: str) -> Population:
    """The same population with an answer of a reader on record to each question, by each document."""
    documents, questions = population.documents(OWL), population.questions(OWL)
    return write_population(
        folder,
        name="small",
        version="1",
        licence="MIT",
        features=population.features,
        documents=documents,
        questions=questions,
        answers=[
            AnswerRow(document=document.id, question=question.id, reader=reader, text="rain")
            for document in documents
            for question in questions
        ],
    )


def test_a_score_says_who_read_a_population_that_has_answers_alone_and_of_no_other(tmp_path: Path) -> None:
    documents = small_population(tmp_path / "population")
    assert "population_read_by" not in kept(genie(str(documents.folder)), "genie", tmp_path, OWL)
    recorded = with_answers(documents, tmp_path / "recorded", "reader(a)")
    assert "population_read_by" not in kept(genie(str(recorded.folder)), "genie", tmp_path, OWL)
    alone = answers_alone(tmp_path / "alone", {"reader(b)": ["rain", "snow", "hail"]})
    found = kept(genie(str(alone.folder)), "genie", tmp_path, OWL)
    assert found["population_read_by"] == "reader(b)"
