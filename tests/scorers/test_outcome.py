"""How a measurement becomes a score: what is prepared once, what a reader must know, and why there is no value."""

import math
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai._eval.loader import scorer_from_spec  # how `inspect score` makes a scorer, in no public way
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from inspect_ai.scorer._scorer import ScorerSpec
from tests.every_scorer import MAKERS
from tests.processes import Commands
from tests.scripted import OWL, evaluated, saying, small_population, written

from genie_inspect.errors import (
    EngineFailedError,
    GenieError,
    GraderFailedError,
    PopulationError,
    RefusalError,
    UnreadableReplyError,
)
from genie_inspect.graders.grader import PrerequisiteError, RefusedError
from genie_inspect.samples import InterventionFacts
from genie_inspect.scorers.assessment import KEPT, Compared
from genie_inspect.scorers.outcome import (
    NO_DOCUMENTS,
    REASONS,
    Measurement,
    Reference,
    Warm,
    reference,
    rounded,
    scored,
    scored_or_reason,
)

# clients that Inspect and openai leave open
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::ResourceWarning")]


async def test_what_was_prepared_for_the_last_64_keys_stays_and_many_who_ask_at_a_time_have_it_prepared_once() -> None:
    prepared: list[int] = []
    warm: Warm[int] = Warm()

    async def get(key: int) -> None:
        async def prepare() -> int:
            await anyio.sleep(0)
            prepared.append(key)
            return key * 10

        assert await warm.get(key, prepare) == key * 10

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(get, 0)
    for key in (*range(KEPT), 0, KEPT, 1, 0):
        await get(key)
    # the one more took the place of the first
    assert prepared == [*range(KEPT), KEPT, 0]


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
        f"The same text is in the population ({same}); it was left out of its own comparison.\n\n"
        f"The text of which it was made is in the population ({origin}); it was left out."
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


@pytest.mark.parametrize(("explanation", "before"), [("Fine.", "Fine.\n\n"), ("", "")])
async def test_a_score_is_rounded_and_a_note_on_the_length_stands_below_what_it_says(
    explanation: str, before: str
) -> None:
    async def measure() -> Measurement:
        return Measurement({"plot": 2 / 3}, explanation, {"length": {"population": 3}})

    note = "Warning: this document has 5 words where the population has 3: beyond 1.5x lengths do not compare."
    score = await scored_or_reason(written("one two three four five"), ["plot"], {}, measure)
    assert (score.value, score.explanation) == ({"plot": 0.667}, before + note)
    assert (await scored_or_reason(written("one two three four"), ["plot"], {}, measure)).explanation == explanation
    lone = Score(value=0.51234)
    assert rounded(lone) == lone
    # three digits after the point, and below a tenth three in all
    kept = rounded(Score(value={"b": -0.000710562, "c": 14.0, "e": 1}, answer="x"))
    assert (kept.value, kept.answer) == ({"b": -0.000711, "c": 14.0, "e": 1}, "x")


async def test_why_a_sample_has_no_document_is_text_and_no_markup() -> None:
    async def never() -> Measurement:
        raise AssertionError("measured")

    state = written("")
    state.output = ModelOutput(error="a|b *c*")
    score = await scored_or_reason(state, ["plot"], {}, never)
    assert (score.reason, score.explanation) == ("a|b *c*", "Not scored: a\\|b \\*c\\*.")


STORY = "A blue owl flew."


@pytest.mark.parametrize("error", [kind("it | failed") for kind in REASONS])
async def test_each_failure_that_costs_one_score_has_its_reason(error: GenieError) -> None:
    async def fail() -> Measurement:
        raise error

    score = await scored_or_reason(written(STORY), ["a", "b"], {"signature": "s"}, fail)
    expected = {
        GraderFailedError: "grader_failed",
        EngineFailedError: "engine_failed",
        UnreadableReplyError: "invalid_response_format",
        RefusalError: "refusal",
    }
    assert score.reason == expected[type(error)]
    assert (score.answer, score.explanation, score.metadata) == (STORY, "Not scored: it \\| failed", {"signature": "s"})
    assert isinstance(score.value, dict)
    assert list(score.value) == ["a", "b"]


@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), PrerequisiteError("set-up"), PopulationError("changed")])
async def test_a_fault_of_ours_and_a_wrong_set_up_raise(error: Exception) -> None:
    async def fail() -> Measurement:
        raise error

    with pytest.raises(type(error)):
        await scored_or_reason(written(STORY), ["a"], {"signature": "s"}, fail)


SHARE, COUNT = "expected 0 to 1", "expected a whole number of at least 1"
# by scorer and option each value with what the line says after it; `test_every_scorer` has what many of them take
WRONG: list[tuple[str, str, list[Any], str]] = [
    ("genie", "judge", ["kind"], "expected one of list, sheet, pairwise, logit, embedding, offline"),
    ("genie", "min_coverage", [1.01, -0.01, math.nan, "half"], SHARE),
    ("compression", "codec", ["brotli"], "expected one of gzip, xz, zstd"),
    ("creativity_index", "matcher", ["fuzzy"], "expected one of exact, near"),
    ("expression_novelty", "floor", [0, 2, math.nan, True, "low"], "expected above 0, to 1"),
    ("expression_novelty", "case", ["lower"], "expected one of either, kept"),
    ("litbench", "opponents", [0, "all", True, 2.5], COUNT),
    ("close_reading", "sensical", ["no"], "expected true or false"),
    ("coherence", "by", ["judge"], "expected grader or reward/<hub id or folder>"),
    ("novelty_bench", "quality", ["best"], "expected grader, reward or reward/<hub id or folder>"),
    ("novelty_bench", "patience", [1.5, "long"], SHARE),
    ("ttcw", "rubric", ["nothing"], "expected one of ttcw"),
    ("ttcw", "cutoff", ["low", -1.5], "expected -3 to 4 with levels=5"),
    ("ttcw", "levels", [4], "expected one of 3, 5, 7"),
    ("ttcw", "prefix", ["My keys", "", "total" * 20], "expected"),
    ("ttcw", "analyse", ["no"], "expected"),
]


@pytest.mark.parametrize(
    ("scorer", "option", "value", "expected"),
    [(scorer, option, value, expected) for scorer, option, wrong, expected in WRONG for value in wrong],
)
def test_a_wrong_option_is_one_line_that_names_it_and_what_would_work(
    scorer: str, option: str, value: object, expected: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        MAKERS[scorer](**{option: value})
    assert str(refused.value).startswith(f"{option} is {value!r}, {expected}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": 4, "cutoff": -9}, "levels is 4, expected one of 3, 5, 7"),
        ({"reference": False, "levels": 7}, "levels is 7, expected nothing with reference=false"),
        ({"reference": False, "cutoff": -2}, "cutoff is -2, expected nothing with reference=false"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], message: str) -> None:
    # as `inspect score` makes it, which hides any other error behind "couldn't be loaded"
    with pytest.raises(RefusedError, match=message):
        scorer_from_spec(ScorerSpec("genie_inspect/ttcw"), None, **options)


def test_inspect_score_shows_a_wrong_option_as_that_line(tmp_path: Path) -> None:
    log = evaluated([], saying(STORY), None, tmp_path)
    arguments = ["--scorer", "genie_inspect/genie", "-S", "min_coverage=half", "--display", "plain"]
    with Commands(tmp_path) as commands:
        ended = commands.run("score", log.location, *arguments, program="inspect")
    said = " ".join((ended.stdout + ended.stderr).split())
    assert ended.code == 1
    assert "min_coverage is 'half', expected" in said
    assert "Traceback" not in said
    assert "couldn't be loaded" not in said
