import math
from pathlib import Path

import anyio
import pytest
from inspect_ai.model import Model, get_model
from tests.building.scripts import otherwise, out_of_order
from tests.recorded import recorded_starter
from tests.scripted import DOCUMENTS, FOX, OWL, Script, answers_alone, grading, numbered, saying, small_population
from tests.tasks.runs import run

from genie_inspect.building.features import INSTRUCTION
from genie_inspect.building.interviewing import INSTRUCTIONS, ITEMS_A_REQUEST, Interviewer, left_out
from genie_inspect.errors import GraderFailedError, PopulationError, TemplateError
from genie_inspect.graders.instrument import Instrument
from genie_inspect.logs.evidence import together
from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.results import results_of
from genie_inspect.measures.genie import Tally, feature_novelty
from genie_inspect.populations.population import Population, open_population
from genie_inspect.populations.reference_scores import reference_scores_of
from genie_inspect.prompting.templates import unfenced
from genie_inspect.scorers.assessor import Assessor
from genie_inspect.signature import comparable


@pytest.mark.parametrize("name", [instruction.name for instruction in INSTRUCTIONS])
def test_a_template_with_other_blanks_is_refused_before_anybody_is_asked(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.md").write_text("Write $this.", encoding="utf-8")
    with pytest.raises(TemplateError, match=f"{name}.md has the blanks"):
        Interviewer(saying("").model(), tmp_path)


@pytest.mark.anyio
async def test_more_items_than_one_request_sorts_all_get_their_own_choice() -> None:
    items = [f"item {number}" for number in range(2 * ITEMS_A_REQUEST + 1)]

    def reply(request: str) -> str:
        asked = unfenced(request)["features"]
        return numbered({number: "even" if int(item.split()[1]) % 2 == 0 else "odd" for number, item in asked.items()})

    script = Script(reply)
    interviewer = Interviewer(script.model())
    chosen = await interviewer.sort_items(INSTRUCTION, items, {"taxonomy": {}}, ["even", "odd"], "features")
    assert chosen == ["odd" if number % 2 else "even" for number in range(len(items))]
    assert len(script.requests) == 3


WHITE = DOCUMENTS[OWL][1]


def assessor(population: Population, grader: Script | Model | None, judge: str = "list") -> Assessor:
    model = grader.model() if isinstance(grader, Script) else grader
    return Assessor(population, *Instrument(judge).reader_and_judge(model, population.features))


def various(population: Population) -> Script:
    """A grader that rates anything from 0 to 4, is silent on a question of one document, and refuses another."""
    refused = DOCUMENTS[OWL][0]
    script = grading(
        answer=lambda document, question: "[not said]" if document == WHITE and "tone" in question else document,
        rating=lambda answer, other: (len(answer) + len(other)) % 5,
    )
    return otherwise(script, lambda data: '{"attempt": "no"}' if data.get("document") == refused else None)


@pytest.mark.parametrize("judge", ["list", "sheet", "pairwise", "offline"])
def test_the_numbers_are_those_of_the_task(judge: str, tmp_path: Path) -> None:
    population = small_population(tmp_path / "population")
    model = various(population).model() if judge != "offline" else None
    task_args = {"population": str(population.folder), "judge": judge}
    log = run("leave_one_out", tmp_path, grader=model, task_args=task_args)
    scored = read_scored_log(log.location)
    fresh = various(population).model() if model else None

    async def computed() -> None:
        found = await left_out(assessor(population, fresh, judge))
        for document in scored.documents:
            feature_of = {question.id: question.feature for question in population.questions(document.prompt)}
            tallies = found.measured.ratings[str(document.sample)].items()
            novelty = feature_novelty({question: tally.novelty() for question, (tally,) in tallies}, feature_of)
            # the digits of a score
            assert document.scores["genie"].values == {
                name: pytest.approx(novelty.get(name, math.nan), abs=6e-4, nan_ok=True) for name in ("plot", "style")
            }
        assert (comparable(found.measured.signature),) == scored.signatures["genie"]
        results = results_of(scored, "genie")
        logged = together([document.scores["genie"].evidence for document in scored.documents]).spread
        known = {key: one for key, one in found.spread.items() if one.degrees}
        assert {key: one.degrees for key, one in logged.items()} == {key: one.degrees for key, one in known.items()}
        assert [one.sd for one in logged.values()] == pytest.approx([one.sd for one in known.values()], abs=1e-6)
        assert {key: interval.mean for key, interval in found.means.items()} == {
            key: pytest.approx(results.mean(key), nan_ok=True) for key in ("plot", "style")
        }

    anyio.run(computed)


async def test_the_bundled_grader_measures_a_recorded_population(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        found = await left_out(assessor(population, get_model("bundled/grader", memoize=False)))
    by_text = {
        d.text: [*found.measured.ratings[d.id].values()] for p in population.prompts for d in population.documents(p)
    }
    # two others each: unlike in what happens, alike in how it ends, and the white owl's tone is not said
    assert by_text["Grey owl over barns."] == [(Tally(2, 2, 2),), (Tally(8, 2, 2),), (Tally(1, 1, 1),)]
    assert by_text["Red fox at dawn."] == [(Tally(1, 1, 1),)]
    assert by_text[WHITE] == [(Tally(2, 2, 2),), (Tally(8, 2, 2),), (Tally(0, 0, 0),)]


async def test_a_grader_that_fails_once_ends_it_and_what_it_has_said_is_not_asked_again(tmp_path: Path) -> None:
    population, sound = small_population(tmp_path / "population"), grading()
    failing = otherwise(grading(), lambda data: out_of_order() if data.get("question") == "What is the tone?" else None)
    with pytest.raises(GraderFailedError, match=r"the grader failed on 2 ratings of document d-.*: run it again"):
        await left_out(assessor(population, failing))
    found = await left_out(assessor(population, sound))
    assert len(found.measured.ratings) == 5
    fresh = grading()
    await left_out(assessor(population, fresh))
    assert not fresh.requests
    assert "What is the tone?" in {data.get("question") for data in sound.data}


async def test_without_documents_there_is_nothing_to_leave_out(tmp_path: Path) -> None:
    population = answers_alone(tmp_path / "population", {"somebody": ["an owl", "a fox"]})
    with pytest.raises(PopulationError, match="a reference score compares with documents"):
        await left_out(assessor(population, grading()))
    bare = small_population(tmp_path / "bare", questions={OWL: (), FOX: ()})
    with pytest.raises(PopulationError, match="a reference score asks questions"):
        await left_out(assessor(bare, grading()))


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the arithmetic of a second; other tests hold both
async def test_the_starter_carries_what_the_bundled_grader_measures_today() -> None:
    starter = open_population("starter")
    bundled = assessor(starter, get_model("bundled/grader", memoize=False))
    measured = reference_scores_of(starter.folder).under(bundled.signature)
    assert measured is not None, "made with other templates or texts: genie population reference-scores makes it anew"
    assert len(measured.ratings) == starter.manifest.counts.documents
    # one prompt: all of them take half a minute
    for document in starter.documents(starter.prompts[0]):
        assert measured.ratings[document.id] == (await bundled.assess(document.text, document.prompt)).tallies
