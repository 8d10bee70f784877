from collections.abc import Sequence

import anyio
import pytest

from genie_inspect.agreement.readers.readings import REFUSAL, AnswerPair, read_again, sampled_documents
from genie_inspect.agreement.targets import CalibrationError
from genie_inspect.errors import GraderFailedError, UnknownChoiceError
from genie_inspect.judges.protocols import GRADER_FAILED, Answer, AskedQuestion, Reading
from genie_inspect.populations.catalogue import open_population
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Document


class Reader:
    """Answers every question with the first words of the document; the second document it refuses, the third fails."""

    signature = "reader()"

    def __init__(self, *failing: str, refused: str = "") -> None:
        self.failing = failing
        self.refused = refused

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        if document in self.failing:
            raise GraderFailedError("no server")
        if document == self.refused:
            return Reading((None,) * len(questions), is_attempt=False)
        return Reading((None, *[Answer(document[:20])] * (len(questions) - 1)), {0: "unreadable reply"})


@pytest.fixture(scope="module")
def starter() -> Population:
    return open_population("starter")


def read(
    population: Population, reader: Reader, documents: Sequence[Document], record: str | None = None
) -> list[AnswerPair]:
    return anyio.run(read_again, population, reader, documents, record)


def test_each_answer_stands_beside_the_recorded_one_and_those_of_the_other_documents(starter: Population) -> None:
    documents = sampled_documents(starter, 2)
    pairs = read(starter, Reader(), documents)
    questions = starter.questions(documents[0].prompt)
    assert [pair.question for pair in pairs[: len(questions)]] == questions
    assert pairs[0].answer is None
    assert pairs[0].fault == "unreadable reply"
    assert pairs[1].answer == documents[0].text[:20]
    recorded = starter.answers(starter.readers[0], documents[0].prompt)
    for pair in pairs[: len(questions)]:
        assert pair.recorded == recorded[pair.document, pair.question.id]
        others = [
            text
            for (document, question), text in recorded.items()
            if question == pair.question.id and document != pair.document and text is not None
        ]
        assert list(pair.others) == others
    assert pairs[1].target is not None
    assert pairs[1].recorded in pairs[1].target.others


def test_a_refusal_and_a_failure_are_faults_of_every_question_and_lose_nothing_else(starter: Population) -> None:
    documents = sampled_documents(starter, 3)
    one, two, three = (document.text for document in documents)
    pairs = read(starter, Reader(two, refused=three), documents)
    faults = [{pair.fault for pair in pairs if pair.document == document.id} for document in documents]
    assert faults == [{"", "unreadable reply"}, {GRADER_FAILED}, {REFUSAL}]
    with pytest.raises(CalibrationError, match=r"reader\(\) read nothing: no server"):
        read(starter, Reader(one, two, three), documents)


def test_a_record_that_is_not_there_is_named(starter: Population) -> None:
    with pytest.raises(UnknownChoiceError, match="nobody"):
        read(starter, Reader(), sampled_documents(starter, 2), record="nobody")


def test_documents_are_drawn_each_prompt_in_turn(starter: Population) -> None:
    documents = sampled_documents(starter, 11, seed=3)
    assert [document.prompt for document in documents[:8]] == starter.prompts
    assert len({document.id for document in documents}) == 11
    assert documents == sampled_documents(starter, 11, seed=3)
    assert documents != sampled_documents(starter, 11, seed=4)
    assert len(sampled_documents(starter, None)) == 192
