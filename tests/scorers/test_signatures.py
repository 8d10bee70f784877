"""What stands in the signature of scores that no grader makes, and that the options behind it are those given."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelName
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from tests.scripted import OWL, output, small_population

from genie_inspect.engines.embedders import embedder
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.measures.compression import CompressedMembers
from genie_inspect.populations.population import Population
from genie_inspect.scorers.compression import compression
from genie_inspect.scorers.cosine import cosine
from genie_inspect.scorers.creativity_index import creativity_index
from genie_inspect.scorers.document import document
from genie_inspect.scorers.expression_novelty import expression_novelty
from genie_inspect.scorers.litbench import litbench
from genie_inspect.scorers.partition import partition
from genie_inspect.signature import facts_of

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
    assert facts_of((score.metadata or {})["signature"]) == {
        "measure": made.__name__,
        "version": {"litbench": "1-A"}.get(made.__name__, "2-A"),
        **facts,
        "population": population.name,
    }


def test_a_population_of_answers_alone_is_refused_in_the_name_of_the_measure(tmp_path: Path) -> None:
    answers = small_population(tmp_path, documents={})
    for made in (cosine, compression, creativity_index, expression_novelty, litbench, partition):
        with pytest.raises(
            PrerequisiteError, match=f"^measure {made.__name__} compares with documents, and population"
        ):
            made(str(answers.folder))


@pytest.mark.anyio
async def test_the_codec_that_is_given_compresses(population: Population) -> None:
    told = [one.text for one in sorted(population.documents(OWL), key=lambda document: document.id)]
    score = await scored(compression(str(population.folder), "xz"))
    compressed = CompressedMembers(told, "xz")
    assert isinstance(score.value, dict)
    assert score.value["compression_novelty"] == pytest.approx(compressed.added(STORY) - compressed.members, abs=5e-4)


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
    assert facts_of((score.metadata or {})["signature"]) == {"measure": "document", "version": "2-A"}
