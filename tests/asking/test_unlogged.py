import logging
from pathlib import Path

import pytest
from inspect_ai._util.constants import HTTP
from inspect_ai.log import EvalLog, transcript
from tests.scripted import FEATURES, Script, evaluated, grading, scores

from genie_inspect.asking.unlogged import unlogged
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document, Question
from genie_inspect.populations.writing import write_population
from genie_inspect.scorers.genie import genie

PROMPT = "Write about an owl."
QUESTIONS, STORIES = 17, 50


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    """17 questions about 50 documents: 850 pairs a document."""
    return write_population(
        tmp_path_factory.mktemp("population"),
        name="wide",
        version="1",
        licence="MIT",
        features=FEATURES,
        documents=[Document(id=f"d-{i}", prompt=PROMPT, text=f"Owl number {i} flies.") for i in range(STORIES)],
        questions=[
            Question(id=f"q-{i}", prompt=PROMPT, feature="plot" if i % 2 else "style", text=f"What is thing {i}?")
            for i in range(QUESTIONS)
        ],
        answers=[],
    )


def read_and_rated(population: Population, judge: str, folder: Path) -> tuple[EvalLog, Script]:
    grader = grading(answer=lambda document, question: f"an answer to {question} that tells of {document}")
    writer = Script(lambda request: "An owl sleeps.")
    return evaluated(genie(str(population.folder), judge=judge), writer, grader, folder), grader


def test_850_calls_stay_under_150_kilobytes_of_log_and_their_tokens_are_counted(
    population: Population, tmp_path: Path
) -> None:
    read_and_rated(population, "list", tmp_path / "first")  # puts what the documents say on record
    log, grader = read_and_rated(population, "pairwise", tmp_path / "second")
    assert len(grader.requests) == QUESTIONS * STORIES
    assert Path(log.location).stat().st_size < 150_000
    (sample,) = log.samples or []
    assert len(sample.model_dump_json()) < 150_000, "also before it is compressed"
    assert not any(event.event == "model" and event.role == "grader" for event in sample.events)
    # every scripted call says that it took one token in and one out
    assert log.stats.role_usage["grader"].total_tokens == 2 * QUESTIONS * STORIES
    (score,) = scores(log)
    assert score.metadata is not None
    assert score.metadata["pairs"] == {"plot": "400/400", "style": "450/450"}


async def test_calls_inside_leave_no_trace_and_those_beside_them_do(caplog: pytest.LogCaptureFixture) -> None:
    model = Script(lambda request: "yes").model()
    with caplog.at_level(1, "inspect_ai.model._model"):
        with unlogged():
            await model.generate("a small call")
            assert not caplog.records
            logging.getLogger("inspect_ai.model._model").log(HTTP, "a retry")
        assert caplog.messages == ["a retry"]
        caplog.clear()
        await model.generate("a call of its own")
        assert {record.levelname for record in caplog.records} == {"TRACE"}


async def test_the_transcript_comes_back_also_after_an_error() -> None:
    before = transcript()

    def failing() -> None:
        with unlogged():
            transcript().info("not kept")
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        failing()
    assert transcript() is before
    assert not any("not kept" in event.model_dump_json() for event in before.events)
