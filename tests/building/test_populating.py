import itertools
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.building.scripts import FOX, OWL, built, otherwise, out_of_order, story_logs, willing, write_log
from tests.left_out import rest_with_ci
from tests.processes import Commands
from tests.scripted import Data, Script, numbered

from genie_inspect.building.inspection import faults
from genie_inspect.building.populating import Built
from genie_inspect.errors import GraderFailedError, PopulationError, UnknownChoiceError
from genie_inspect.measures.genie import Tally
from genie_inspect.populations.population import Population
from genie_inspect.populations.reference_scores import reference_scores_of
from genie_inspect.populations.schema import Question, question_id, write_rows

LOGS: dict[str, list[str]] = {}
LONG = "the owl flew over the old barn and the long white field until the sun rose over the hill"
NINE = [f"Owl number {number} sat on roof {number}." for number in range(9)]


@pytest.fixture(scope="module", autouse=True)
def logs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Logs by what they are for; written here, because Inspect writes none inside an event loop of trio."""
    folder = tmp_path_factory.mktemp("logs")
    LOGS["stories"] = story_logs(folder)
    LOGS["alike"] = [write_log(folder / "c.eval", "c", {OWL: [LONG, f"{LONG} again", "A wholly other story."]})]
    LOGS["nine"] = [
        write_log(folder / "d.eval", "c", {OWL: NINE}),
        write_log(folder / "e.eval", "d", {OWL: ["A lonely owl of another kind altogether."]}),
    ]


async def stories_built(folder: Path, script: Script, **options: Any) -> tuple[Built, Population]:
    return await built(folder, script, LOGS["stories"], **options)


async def test_questions_from_a_file_are_asked_as_they_are(tmp_path: Path) -> None:
    asked = Question(id=question_id(OWL, "Where?"), prompt=OWL, feature="place", text="Where?")
    write_rows(tmp_path / "questions.jsonl", [asked])
    script = willing()
    done, population = await stories_built(tmp_path, script, questions=tmp_path / "questions.jsonl", coherence="none")
    assert population.questions(OWL) == [asked]
    assert done.dropped == {"another prompt": 1}, "the fox has no questions"
    assert len(script.requests) == 3, "one reading a document and nothing else"


async def test_others_take_the_places_of_incoherent_documents_and_a_prompt_without_any_loses_its_questions(
    tmp_path: Path,
) -> None:
    script = willing(rating=lambda document: 2 if "moon" in document or "fox" in document else 3)
    done, population = await stories_built(tmp_path, script, per_prompt=2)
    assert sorted(document.text.split()[0] for document in population.documents(OWL)) == ["An", "Snow"]
    assert population.prompts == [OWL]
    assert (done.prompts_without_documents, done.questions, done.dropped) == (1, 5, {"incoherent": 2})
    assert not faults(population.folder)


async def test_least_coherence_is_on_the_grader_s_scale(tmp_path: Path) -> None:
    script = willing(rating=lambda document: 2)
    with pytest.raises(UnknownChoiceError, match=r"min_coherence is 7\.0, expected 1 to 5"):
        await stories_built(tmp_path, script, min_coherence=7.0)
    assert script.requests == []
    done, _ = await stories_built(tmp_path, script, min_coherence=2.0)
    assert (done.documents, done.dropped) == (4, {})


async def test_coherence_that_nobody_can_read_keeps_the_document_and_is_counted(tmp_path: Path) -> None:
    script = willing(rating=lambda document: 9)
    done, _ = await stories_built(tmp_path, script)
    # every document was asked about again, twice and in vain
    assert (done.documents, done.coherence_unrated, done.asked_again) == (4, 4, 8)


async def test_what_the_reader_takes_for_no_attempt_does_not_join_and_others_take_its_place(tmp_path: Path) -> None:
    script = reading_some(lambda document: "moon" not in document)
    done, population = await stories_built(tmp_path, script, per_prompt=2)
    assert sorted(document.text.split()[0] for document in population.documents(OWL)) == ["An", "Snow"]
    assert (done.dropped, done.documents, done.asked_again) == ({"refusal": 1}, 3, 0)
    # 5 questions of each of the 3 documents that joined, and none of the one that did not
    assert (done.answers, done.unspecified, done.unreadable_answers) == (15, 0, 0)
    assert not faults(population.folder)
    assert "| Dropped | 1 refusal |" in (population.folder / "README.md").read_text()
    with pytest.raises(PopulationError, match="no document is left of 4 generations: 4 refusal"):
        await stories_built(tmp_path / "none", reading_some(lambda document: False))
    assert not (tmp_path / "none" / "owls").exists()


def reading_some(is_attempt: Callable[[str], bool]) -> Script:
    """A grader that does all that building asks of one, and takes some documents for no attempt."""

    def refusal(data: Data) -> str | None:
        reading = "document" in data and "questions" in data
        return '{"attempt": "no"}' if reading and not is_attempt(data["document"]) else None

    return otherwise(willing(), refusal)


async def test_a_sample_takes_models_as_equally_as_can_be_and_the_same_ones_each_time(tmp_path: Path) -> None:
    taken = []
    options: dict[str, Any] = {"per_prompt": 4, "near_duplicates": 1.0}
    for run in ("first", "second"):
        done, population = await built(tmp_path / run, willing(), LOGS["nine"], **options)
        taken.append([(document.model, document.text) for document in population.documents(OWL)])
        assert done.dropped == {"not sampled": 6}
    assert sorted(model for model, _ in taken[0]) == ["c", "c", "c", "d"]
    assert taken[0] == taken[1]
    # one that does not join gives its place to one other, and no more
    script = willing(rating=lambda document: 1 if document == taken[0][0][1] else 5)
    done, _ = await built(tmp_path / "third", script, LOGS["nine"], **options)
    assert (done.documents, done.dropped) == (4, {"not sampled": 5, "incoherent": 1})


async def test_answers_that_cannot_be_read_are_not_on_record_and_counted(tmp_path: Path) -> None:
    script = willing(answer=lambda document, question: "" if "red" in document else "[not said]")
    done, population = await stories_built(tmp_path, script)
    assert (done.unreadable_answers, done.answers, done.unspecified) == (5, 15, 15)
    assert population.answers(population.readers[0], FOX) == {}


async def test_without_any_question_left_the_reasons_are_said(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match=r"no question is left to ask: .* filtered: subjective"):
        await stories_built(tmp_path, willing(verdict=lambda question: "subjective"))
    assert (tmp_path / "work" / "2-filtered.jsonl").is_file()


def judging() -> Script:
    """A willing grader, which also rates: 4 for equal answers, else 2."""

    def ratings(data: Data) -> str | None:
        if "others" not in data:
            return None
        return numbered({n: 4 if other == data["answer"] else 2 for n, other in data["others"].items()})

    return otherwise(willing(), ratings)


async def test_a_build_can_measure_how_novel_the_documents_are_among_each_other(tmp_path: Path) -> None:
    script = judging()
    done, population = await stories_built(tmp_path, script, reference_scores="list")
    (measured,) = reference_scores_of(population.folder).measured
    assert population.name in measured.signature
    owls, (fox,) = population.documents(OWL), population.documents(FOX)
    # second words: owl, owl, fell: among two others 1 - (1 + 1/3) / 2, and 1 - 1/3 for the one that fell
    plots = [question.id for question in population.questions(OWL) if question.feature == "plot"]
    for plot in plots:
        novelties = sorted(measured.ratings[owl.id][plot][0].novelty() for owl in owls)
        assert novelties == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    nothing = {(Tally(0, 0, 0),)}
    assert set(measured.ratings[fox.id].values()) == nothing, "a single document has nothing to be compared with"
    assert not faults(population.folder)
    assert "| Reference scores | by judge=list |" in (population.folder / "README.md").read_text()
    # two different answers to each of the owls' five questions
    assert len([data for data in script.data if "others" in data]) == 5 * 2
    assert done.population == (await stories_built(tmp_path / "bare", judging()))[0].population, (
        "it changes no identity"
    )


async def test_a_build_that_was_killed_while_it_measured_goes_on_from_there(tmp_path: Path) -> None:
    sound = itertools.repeat(None, 3)
    broken = otherwise(judging(), lambda data: next(sound, out_of_order()) if "others" in data else None)
    with pytest.raises(GraderFailedError):
        await stories_built(tmp_path, broken, reference_scores="list")
    assert not (tmp_path / "owls").exists()
    again = judging()
    _, population = await stories_built(tmp_path, again, reference_scores="list")
    assert all("others" in data for data in again.data), "documents and questions are on record"
    assert len(again.data) <= 5 * 2 - 3
    fresh = judging()
    _, other = await stories_built(tmp_path / "fresh", fresh, reference_scores="list")
    assert reference_scores_of(population.folder) == reference_scores_of(other.folder)


async def test_near_duplicates_are_dropped(tmp_path: Path) -> None:
    done, population = await built(tmp_path, willing(), LOGS["alike"])
    assert (done.dropped, done.documents) == ({"near-duplicate": 1}, 2)
    assert LONG in {document.text for document in population.documents(OWL)}


RUN = """
import os, signal, sys
from functools import partial
import anyio
from tests.building.scripts import FEATURES, willing

from genie_inspect.building.populating import build
from genie_inspect.building.interviewing import recorded, work_folder
from pathlib import Path

folder, asked, step, at = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
grader = willing()
reply = grader.reply

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

def mortal(request):
    if step == "call" and len(grader.requests) == at:
        kill()
    with open(asked, "a") as file:
        file.write(request.replace(chr(10), chr(0)) + chr(10))
    return reply(request)

def told(name, done, total):
    if name == step and done == at:
        kill()

logs = [str(folder / f"{name}.eval") for name in ("a", "b")]
output = folder / "owls"
work = work_folder(output)
grader.reply = mortal
model = recorded(grader.model(max_connections=1), work)
facts = {"logs": logs, "name": "owls", "licence": "MIT", "features": FEATURES, "least": 1}
anyio.run(partial(build, **facts), output, model, work, told)
"""


def run(folder: Path, asked: str, step: str = "never", at: int = 0) -> int:
    script = folder / "run.py"
    script.write_text(RUN)
    with Commands(folder) as commands:
        return commands.run(folder, folder / asked, step, at, program=script).code


def requests(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    story_logs(folder)
    assert run(folder, "asked.txt") == 0
    return folder


@pytest.mark.parametrize(
    ("step", "at"),
    rest_with_ci(
        [("call", 22), ("reading logs", 1), ("call", 9), ("writing questions", 2), ("counting", 1)],
        "builds killed at other steps",
    ),
)
def test_a_build_killed_at_any_step_asks_nothing_twice_and_ends_alike(
    step: str, at: int, whole: Path, tmp_path: Path
) -> None:
    story_logs(tmp_path)
    assert run(tmp_path, "first.txt", step, at) == -signal.SIGKILL
    assert not (tmp_path / "owls").exists(), "no folder before it is complete"

    assert run(tmp_path, "second.txt") == 0
    first, second = requests(tmp_path / "first.txt"), requests(tmp_path / "second.txt")
    # one connection: at most the reply that was on its way to the record when the process died is asked for again
    assert len(first) + len(second) <= len(requests(whole / "asked.txt")) + (step == "call")
    assert sorted({*first, *second}) == sorted(set(requests(whole / "asked.txt")))
    for name in ("documents.jsonl", "questions.jsonl", "answers.jsonl", "population.json", "README.md"):
        assert (tmp_path / "owls" / name).read_bytes() == (whole / "owls" / name).read_bytes()
