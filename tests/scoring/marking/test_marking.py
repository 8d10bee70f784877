"""The score of a document by a close reader: its keys, what it rests on, what it costs."""

import json
import math
from pathlib import Path

import pytest
from tests.scripted import OWL, Script, small_population, written

from genie_inspect.asking.cost import tokens
from genie_inspect.close_reader.reader import Approach, CloseReader
from genie_inspect.prompting.fence import unfenced
from genie_inspect.scoring.marking.marking import KEYS, cost, marked

STORY = "The tide folded its letters and went home, for nobody had come to the pier."


def reader(reply: str | None = None, *, sensical: bool = False) -> CloseReader:
    quoted = {"novel": ["folded its letters"], "awkward": []}
    found = Script(
        lambda request: (
            reply
            if reply is not None
            else json.dumps(
                [{"expression": one, "reason": "So."} for one in quoted.get(unfenced(request)["aspect"], [])]
            )
        )
    )
    return CloseReader(found.model(), Approach.load(sensical=sensical), repeats=0)


async def test_a_document_has_its_marks_a_hundred_words_and_all_that_they_rest_on() -> None:
    own = reader()
    score = await marked(own, written(STORY, "Tide! " * 100))
    assert score.value == {"novel_per_100_words": 6.667, "awkward_per_100_words": 0.0}
    assert (score.answer, score.reason) == (STORY, None)
    facts = score.metadata or {}
    assert facts["signature"] == (
        f"measure:close_reading|reader:{own.signature}|examples:{own.approach.examples.identity}|version:2-A"
    )
    assert facts["prompt"] == ("Tide! " * 100)[:159] + "…"
    assert facts["marked"] == {"novel": 1, "awkward": 0}
    assert "⟦folded its letters⟧ (1 novel)" in (score.explanation or "")


@pytest.mark.parametrize(("sensical", "keys"), [(False, KEYS), (True, (*KEYS, "senseless_per_100_words"))])
async def test_where_no_aspect_is_known_the_reason_is_inspect_s_and_where_one_is_there_is_none(
    sensical: bool, keys: tuple[str, ...]
) -> None:
    lost = await marked(reader("Hm.", sensical=sensical), written(STORY))
    assert lost.reason == "invalid_response_format"
    silent = await marked(reader(sensical=sensical), written(""))
    for score in (lost, silent):
        assert isinstance(score.value, dict)
        assert sorted(score.value) == sorted(keys)
        assert all(math.isnan(float(str(value))) for value in score.value.values())
    half = Script(lambda request: "[]" if unfenced(request)["aspect"] == "novel" else "Hm.")
    some = await marked(CloseReader(half.model(), Approach.load(), repeats=0), written(STORY))
    assert some.reason is None


def test_what_is_asked_of_new_documents_grows_with_their_number_and_the_population_s_mean_length(
    tmp_path: Path,
) -> None:
    texts = ("Grey owl over barns.", "White owl in snow, all night long, and then on.")
    population = small_population(tmp_path / "population", {OWL: texts})
    approach = Approach.load()
    mean = sum(map(tokens, texts)) / 2
    assert cost(approach, population, {OWL: 3}) == approach.cost(mean) * 3
    assert cost(approach, population, {"Unknown.": 3}).calls == 0
