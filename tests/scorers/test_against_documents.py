"""What the panel's scorers share: documents by id, and what is prepared once for each prompt."""

import math
from pathlib import Path

import anyio
import pytest
from inspect_ai.scorer import Score
from tests.scripted import OWL, answers_alone, small_population, written

from genie_inspect.errors import PopulationError
from genie_inspect.samples import InterventionFacts
from genie_inspect.scorers.assessment import KEPT, Compared
from genie_inspect.scorers.outcome import NO_DOCUMENTS, Measurement, Reference, Warm, reference, scored

pytestmark = pytest.mark.anyio


async def test_what_was_prepared_for_the_last_64_keys_stays_and_what_came_before_is_prepared_anew() -> None:
    prepared: list[int] = []
    warm: Warm[int] = Warm()

    async def get(key: int) -> int:
        async def prepare() -> int:
            prepared.append(key)
            return key * 10

        return await warm.get(key, prepare)

    assert [await get(key) for key in range(KEPT)] == [key * 10 for key in range(KEPT)]
    await get(0)
    assert prepared == list(range(KEPT))
    await get(KEPT)
    await get(1)
    await get(0)
    # the one more took the place of the first
    assert prepared[KEPT:] == [KEPT, 0]


async def test_what_many_ask_for_at_a_time_is_prepared_once() -> None:
    prepared: list[str] = []
    warm: Warm[str] = Warm()

    async def prepare() -> str:
        await anyio.sleep(0)
        prepared.append("once")
        return "ready"

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(warm.get, "prompt", prepare)
    assert prepared == ["once"]


def test_documents_are_compared_in_the_order_of_their_ids(tmp_path: Path) -> None:
    population = small_population(tmp_path / "population", {OWL: [f"Owl {number}." for number in range(9)]})
    ids = [document.id for document in reference(str(population.folder), "cosine").others(OWL).than("x").documents]
    assert ids == sorted(ids)
    assert ids != [document.id for document in population.documents(OWL)]


def test_a_population_of_answers_alone_has_nothing_to_compare_documents_with(tmp_path: Path) -> None:
    alone = answers_alone(tmp_path / "alone", {"reader": ["rain"]})
    with pytest.raises(PopulationError, match="measure cosine"):
        reference(str(alone.folder), "cosine")


def population_of(tmp_path: Path, *texts: str) -> Reference:
    return reference(str(small_population(tmp_path / "population", {OWL: texts}).folder), "x")


async def measured(
    population: Reference,
    text: str = "A new owl waits.",
    prompt: str = OWL,
    origin: str = "",
    reason: str | None = None,
) -> Score:
    async def measure(document: str, asked: str, others: Compared) -> Measurement:
        told = f"{document}, {asked}: {len(others.documents)}."
        return Measurement({"x": math.nan if reason else 0.5}, told, {"own": 1}, reason)

    facts = InterventionFacts("edit", "d-1", original_text=origin).as_metadata() if origin else {}
    return await scored(written(text, prompt, **facts), population, ["x"], {"signature": "s"}, measure)


async def test_a_document_is_measured_with_all_that_a_reader_must_know_beside_the_number(tmp_path: Path) -> None:
    population = population_of(tmp_path, "Grey owl over barns.", "White owl in snow.", "Old owl.")
    ids = {document.text: document.id for document in population.others(OWL).documents}
    score = await measured(population, "Grey owl over barns.", origin="Old owl.")
    same, origin = ids["Grey owl over barns."], ids["Old owl."]
    assert score.value == {"x": 0.5}
    assert (score.answer, score.reason) == ("Grey owl over barns.", None)
    assert score.explanation == (
        f"Grey owl over barns., {OWL}: 1.\n\n"
        "Compared with 1 documents of the population.\n\n"
        f"The same text stands in the population ({same}); it was left out of its own comparison.\n\n"
        f"The text of which it was made stands in the population ({origin}); it was left out."
    )
    assert score.metadata == {
        "signature": "s",
        "prompt": OWL,
        "documents": 1,
        "left_out": [same],
        "made_of": [origin],
        "length": {"population": 4},
        "own": 1,
    }


async def test_a_document_has_no_value_where_there_is_nothing_to_compare_or_the_measure_says_why(
    tmp_path: Path,
) -> None:
    population = population_of(tmp_path, "Grey owl over barns.")
    prompt = "Unknown. " * 40
    alone = await measured(population, prompt=prompt)
    assert (alone.reason, alone.explanation) == (NO_DOCUMENTS, f"Not scored: {NO_DOCUMENTS}.")
    assert alone.metadata == {"signature": "s", "prompt": prompt[:159] + "…"}
    assert alone.answer == "A new owl waits."
    assert isinstance(alone.value, dict)
    assert math.isnan(float(str(alone.value["x"])))
    assert (await measured(population, reason="no word of it is known")).reason == "no word of it is known"


async def test_a_population_goes_by_its_own_name_and_sorts_each_prompt_once(tmp_path: Path) -> None:
    population = population_of(tmp_path, "Grey owl over barns.")
    assert population.name == population.population.name
    assert population.others(OWL) is population.others(OWL)
