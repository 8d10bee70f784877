"""What stands in the signature of scores that no grader makes, and that the options behind it are those given."""

from collections.abc import Callable
from typing import Any

import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from tests.scripted import OWL, output, small_population

from genie_inspect.engines.embedders.choices import embedder
from genie_inspect.measures.compression import compression_ratio
from genie_inspect.populations.population import Population
from genie_inspect.scorers.compression import compression
from genie_inspect.scorers.cosine import cosine
from genie_inspect.scorers.creativity_index import creativity_index
from genie_inspect.scorers.document import document
from genie_inspect.scorers.expression_novelty import expression_novelty
from genie_inspect.scorers.partition import partition
from genie_inspect.signature import facts_of

STORY = "A brown owl counted the trains."
STATIC = embedder().identity


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    return small_population(tmp_path_factory.mktemp("population"))


async def scored(scorer: Scorer) -> Score:
    state = TaskState(ModelName("mockllm/model"), 1, 1, OWL, [], output=output(STORY), metadata={"prompt": OWL})
    score = await scorer(state, Target(""))
    assert score
    return score


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("made", "options", "facts"),
    [
        (cosine, {}, {"embedder": STATIC}),
        (compression, {"codec": "xz"}, {"codec": "xz"}),
        (creativity_index, {}, {"corpus": "population", "matcher": "exact"}),
        (creativity_index, {"matcher": "near"}, {"corpus": "population", "matcher": f"near({STATIC})"}),
        (expression_novelty, {"case": "kept"}, {"corpus": "population", "floor": "1.2e-10", "case": "kept"}),
        (
            partition,
            {"equivalence": "embedded", "threshold": 0.5},
            {"equivalence": f"embedded({STATIC},threshold=0.5)"},
        ),
    ],
    ids=str,
)
async def test_a_signature_has_the_options_that_numbers_depend_on(
    made: Callable[..., Scorer], options: dict[str, Any], facts: dict[str, str], population: Population
) -> None:
    score = await scored(made(str(population.folder), **options))
    assert facts_of((score.metadata or {})["signature"]) == {
        "measure": made.__name__,
        **facts,
        "population": population.name,
        "version": "1-A",
    }


@pytest.mark.anyio
async def test_the_codec_that_is_given_compresses(population: Population) -> None:
    told = [one.text for one in sorted(population.documents(OWL), key=lambda document: document.id)]
    score = await scored(compression(str(population.folder), "xz"))
    added = compression_ratio(told, "xz") - compression_ratio([*told, STORY], "xz")
    assert score.value == {"compression_novelty": pytest.approx(added, abs=5e-4)}


@pytest.mark.anyio
async def test_columns_of_a_document_say_that_they_are_no_measure() -> None:
    score = await scored(document())
    assert score.explanation == "Columns of the list of samples; no measure."
    assert facts_of((score.metadata or {})["signature"]) == {"measure": "document", "version": "1-A"}
