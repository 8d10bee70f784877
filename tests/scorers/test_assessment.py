import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.scripted import DOCUMENTS, OWL, small_population

from genie_inspect.errors import GraderFailedError
from genie_inspect.judges.protocols import GRADER_FAILED, UNREADABLE, UNSPECIFIED, Answer, AskedQuestion, Rated, Reading
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Answer as RecordedAnswer
from genie_inspect.populations.writing import write_population
from genie_inspect.scorers.assessment import NOT_ANSWERED, Assessor


class Reader:
    """Answers with the document's first word, but for what it is told not to find or not to be able to read."""

    def __init__(self, silent: Sequence[str] = (), unreadable: Sequence[str] = ()) -> None:
        self.signature = "first-word"
        self.silent, self.unreadable = silent, unreadable
        self.read_documents: list[str] = []

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        self.read_documents.append(document)
        if document in self.unreadable:
            return Reading((None,) * len(questions), dict.fromkeys(range(len(questions)), UNREADABLE))
        word = None if document in self.silent else Answer(document.split()[0])
        return Reading((word,) * len(questions))


class Judge:
    """4 where the first letters agree, else 1."""

    signature = "first-letter"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        return Rated(tuple(4.0 if other.text[0] == answer.text[0] else 1.0 for other in others))


@pytest.fixture
def population(tmp_path: Path) -> Population:
    return small_population(tmp_path / "population")


async def test_novelty_is_worked_out_from_the_ratings_against_every_other_document(population: Population) -> None:
    # Great: 4 with Grey, 1 with White and Old; similarities 1, 0, 0; novelty 1 - 1/3
    found = await Assessor(population, Reader(), Judge()).assess("Great owl.", OWL)
    assert found.documents == 3
    assert found.left_out == ()
    assert found.novelty(["plot", "style"]) == {"plot": pytest.approx(2 / 3), "style": pytest.approx(2 / 3)}
    assert found.faults() == {}


async def test_the_same_text_in_the_population_is_left_out_whatever_its_spacing(population: Population) -> None:
    text = DOCUMENTS[OWL][0].replace(" ", "\n  ") + "\n"
    found = await Assessor(population, Reader(), Judge()).assess(text, OWL)
    assert found.documents == 2
    assert found.left_out == (population.documents(OWL)[0].id,)
    assert found.novelty(["plot"]) == {"plot": 1.0}, "Grey is unlike White and Old"


async def test_answers_on_record_by_this_reader_are_not_read_again_and_others_answers_do_not_count(
    tmp_path: Path, population: Population
) -> None:
    first, second, third = population.documents(OWL)
    asked = population.questions(OWL)
    record = [RecordedAnswer(document=first.id, question=q.id, reader="first-word", text="Zebra") for q in asked]
    record += [RecordedAnswer(document=second.id, question=q.id, reader="another", text="Zebra") for q in asked]
    record.append(RecordedAnswer(document=third.id, question=asked[0].id, reader="first-word", text=None))
    recorded = write_population(
        tmp_path / "recorded",
        name="small",
        version="1",
        licence="MIT",
        features=population.features,
        documents=population.documents(OWL),
        questions=asked,
        answers=record,
    )
    reader = Reader()
    found = await Assessor(recorded, reader, Judge()).assess("Great owl.", OWL)
    assert sorted(reader.read_documents) == sorted(["Great owl.", second.text, third.text])
    assert found.results[0].others == (Answer("Zebra"), Answer("White"))
    assert found.results[1].others == (Answer("Zebra"), Answer("White"), Answer("Old"))


async def test_a_document_that_does_not_say_has_no_novelty_and_says_why(population: Population) -> None:
    found = await Assessor(population, Reader(silent=["Great owl."]), Judge()).assess("Great owl.", OWL)
    assert all(math.isnan(value) for value in found.novelty(["plot", "style"]).values())
    assert found.faults() == {UNSPECIFIED: 3}


async def test_what_could_not_be_read_in_the_population_is_among_the_faults(population: Population) -> None:
    reader = Reader(unreadable=DOCUMENTS[OWL][1:])
    found = await Assessor(population, reader, Judge()).assess("Great owl.", OWL)
    # 2 of 3 documents unreadable, 3 questions each
    assert found.faults() == {UNREADABLE: 6}
    assert found.novelty(["plot"]) == {"plot": 0.0}, "only Grey is left, which is like Great"


async def test_a_population_without_an_answer_leaves_nothing_to_compare_and_says_so(population: Population) -> None:
    found = await Assessor(population, Reader(silent=DOCUMENTS[OWL]), Judge()).assess("Great owl.", OWL)
    assert math.isnan(found.novelty(["plot"])["plot"])
    assert found.faults() == {NOT_ANSWERED: 3}


async def test_a_feature_without_questions_is_not_a_number(population: Population) -> None:
    found = await Assessor(population, Reader(), Judge()).assess("Great owl.", OWL)
    assert math.isnan(found.novelty(["setting"])["setting"])
    assert found.by_feature(["setting"]) == {"setting": []}


class Failing(Judge):
    """A judge whose grader gives up on some questions."""

    def __init__(self, *questions: str) -> None:
        self.questions = questions

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        if question.text in self.questions:
            raise GraderFailedError(f"no connection for {question.text}")
        rated = await super().rate(question, answer, others)
        return replace(rated, off_labels=0.25)


async def test_a_judge_that_fails_on_a_question_costs_that_question_alone_and_each_lost_rating_is_counted(
    population: Population,
) -> None:
    found = await Assessor(population, Reader(), Failing("What happens?")).assess("Great owl.", OWL)
    assert found.faults() == {GRADER_FAILED: 3}
    assert [result.usable for result in found.results] == [0, 3, 3]
    # the other plot question alone: 1 - 1/3
    assert found.novelty(["plot"]) == {"plot": pytest.approx(2 / 3)}


async def test_a_judge_that_fails_on_every_question_is_an_error_that_says_why(population: Population) -> None:
    asked = [question.text for question in population.questions(OWL)]
    with pytest.raises(GraderFailedError, match="no connection for"):
        await Assessor(population, Reader(), Failing(*asked)).assess("Great owl.", OWL)


async def test_the_probability_off_the_labels_is_the_mean_over_the_questions_that_have_one(
    population: Population,
) -> None:
    found = await Assessor(population, Reader(), Failing("What happens?")).assess("Great owl.", OWL)
    assert [result.off_labels for result in found.results] == [None, 0.25, 0.25]
    assert found.off_labels() == 0.25
    assert (await Assessor(population, Reader(), Judge()).assess("Great owl.", OWL)).off_labels() is None
