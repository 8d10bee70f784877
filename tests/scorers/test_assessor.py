import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.scorers.test_explanation import result as assessment_result
from tests.scripted import DOCUMENTS, OWL, answers_alone, small_population

from genie_inspect.errors import RefusalError
from genie_inspect.graders.protocols import (
    UNREADABLE,
    Answer,
    AskedQuestion,
    Rated,
    Reading,
)
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import AnswerRow, Document
from genie_inspect.scorers.assessment import (
    NOT_ANSWERED,
    TOO_FEW,
    Compared,
    Others,
    neighbours,
)
from genie_inspect.scorers.assessor import Assessor


class Reader:
    """Answers with the document's first word, but for what it is told to be silent on, unable to read or to refuse."""

    def __init__(
        self, silent: Sequence[str] = (), unreadable: Sequence[str] = (), refusing: Sequence[str] = ()
    ) -> None:
        self.signature = "first-word"
        self.silent, self.unreadable, self.refusing = silent, unreadable, refusing
        self.read_documents: list[str] = []

    async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
        self.read_documents.append(document)
        if document in self.unreadable:
            return Reading((None,) * len(questions), dict.fromkeys(range(len(questions)), UNREADABLE))
        if document in self.refusing:
            return Reading((None,) * len(questions), is_attempt=False)
        word = None if document in self.silent else Answer(document.split()[0])
        return Reading((word,) * len(questions))


class Judge:
    """4 where the first letters agree, else 1."""

    signature = "first-letter"

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        return Rated(tuple(4.0 if other.text[0] == answer.text[0] else 1.0 for other in others))


class Never(Judge):
    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        raise AssertionError("asked")


async def test_answers_on_record_by_this_reader_are_not_read_again_and_others_answers_do_not_count(
    tmp_path: Path, population: Population
) -> None:
    first, second, third = population.documents(OWL)
    asked = population.questions(OWL)
    record = [AnswerRow(document=second.id, question=q.id, reader="another", text="Zebra") for q in asked]
    record += [AnswerRow(document=first.id, question=q.id, reader="first-word", text="Zebra") for q in asked]
    record.append(AnswerRow(document=third.id, question=asked[0].id, reader="first-word", text=None))
    recorded = small_population(tmp_path / "recorded", answers=record)
    reader = Reader()
    found = await Assessor(recorded, reader, Judge()).assess("Great owl.", OWL)
    assert sorted(reader.read_documents) == sorted(["Great owl.", second.text, third.text])
    assert found.results[0].others == (Answer("Zebra"), Answer("White"))
    assert found.results[1].others == (Answer("Zebra"), Answer("White"), Answer("Old"))
    # of the third document one answer is on record, and the two others cannot be read
    lost = await Assessor(recorded, Reader(unreadable=[third.text]), Judge()).assess("Great owl.", OWL)
    assert [result.unread for result in lost.results] == [(), (2,), (2,)]


async def test_a_document_of_the_population_answers_as_it_does_when_others_are_compared_with_it(
    population: Population,
) -> None:
    reader = Reader(refusing=[DOCUMENTS[OWL][1]])
    assessor = Assessor(population, reader, Judge())
    found = await assessor.assess(DOCUMENTS[OWL][0], OWL)
    assert found.results[0].answer == Answer("Grey")
    await assessor.assess(DOCUMENTS[OWL][2] + " ", OWL)
    assert sorted(reader.read_documents) == sorted(DOCUMENTS[OWL]), "each is read once, on either side"
    with pytest.raises(RefusalError):
        await assessor.assess(DOCUMENTS[OWL][1], OWL)


async def test_a_document_without_any_answer_costs_its_reading_and_no_more(population: Population) -> None:
    reader = Reader(silent=["Great owl."])
    await Assessor(population, reader, Judge()).assess("Great owl.", OWL)
    assert reader.read_documents == ["Great owl."], "nothing can be compared, so no other document is read"


async def test_a_document_with_one_answer_is_compared_by_it_and_one_that_cannot_be_read_is_a_fault(
    population: Population,
) -> None:
    class Partial(Reader):
        async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
            reading = await super().read(document, questions)
            return Reading((*reading.answers[:1], *(None,) * (len(questions) - 1)), reading.faults)

    found = await Assessor(population, Partial(silent=[DOCUMENTS[OWL][0]]), Judge()).assess("Great owl.", OWL)
    assert [(result.usable, result.places) for result in found.results] == [(2, (1, 2)), (0, ()), (0, ())]
    assert found.lengths == (4, 4, 5)
    unread = await Assessor(population, Partial(unreadable=["Great owl."]), Judge()).assess("Great owl.", OWL)
    assert unread.faults == {UNREADABLE: 3}
    assert unread.lengths == ()


async def test_samples_share_what_was_read_and_ask_again_for_what_could_not_be(population: Population) -> None:
    class Slow(Reader):
        async def read(self, document: str, questions: Sequence[AskedQuestion]) -> Reading:
            await anyio.sleep(0)
            return await super().read(document, questions)

    reader = Slow(unreadable=DOCUMENTS[OWL][:1])
    assessor = Assessor(population, reader, Judge())
    async with anyio.create_task_group() as group:
        for text in ("Great owl.", "Good owl."):
            group.start_soon(assessor.assess, text, OWL)
    assert [reader.read_documents.count(text) for text in DOCUMENTS[OWL]] == [2, 1, 1]


async def test_a_document_that_is_no_try_at_its_task_is_a_refusal_and_nothing_more_is_asked(
    population: Population,
) -> None:
    reader = Reader(refusing=["I cannot write that."])
    with pytest.raises(RefusalError, match="refusal"):
        await Assessor(population, reader, Never()).assess("I cannot write that.", OWL)
    assert reader.read_documents == ["I cannot write that."]


async def test_what_could_not_be_read_in_the_population_was_due_and_is_among_the_faults(
    population: Population,
) -> None:
    reader = Reader(unreadable=DOCUMENTS[OWL][1:])
    found = await Assessor(population, reader, Judge()).assess("Great owl.", OWL)
    # 2 of 3 documents unreadable, 3 questions each: one rating of three that were due leaves no question to use
    assert found.faults == {UNREADABLE: 6, TOO_FEW: 3}
    assert [result.due for result in found.results] == [(4.0, None, None)] * 3
    assert math.isnan(found.novelty["plot"])

    content = await Assessor(population, reader, Judge(), min_coverage=0.3).assess("Great owl.", OWL)
    assert content.faults == {UNREADABLE: 6}
    assert content.novelty["plot"] == 0.0, "only Grey is left, which is like Great"


async def test_no_rating_is_due_to_a_document_that_does_not_say(population: Population) -> None:
    found = await Assessor(population, Reader(silent=DOCUMENTS[OWL][1:]), Judge()).assess("Great owl.", OWL)
    assert [result.due for result in found.results] == [(4.0,)] * 3
    assert found.novelty["plot"] == 0.0
    assert found.few_answers == 3


async def test_among_documents_of_like_length_a_question_is_used_by_the_ratings_due_to_them(
    tmp_path: Path,
) -> None:
    long = "White owl in snow, all night long, and then on and on."
    documents = {OWL: ("Grey owl over barns.", "Gold owl over barns.", long, long.replace("White", "Wan"))}
    known = small_population(tmp_path / "lengths", documents=documents)
    reader = Reader(unreadable=documents[OWL][2:])
    found = await Assessor(known, reader, Judge()).assess("Great owl.", OWL)
    assert found.novelty["plot"] == 0.0, "two of four ratings, which is just enough"
    # among the short ones two of two could be had, among the long ones none of two
    assert found.within(4).novelty["plot"] == 0.0
    assert [result.due for result in found.within(4).results] == [(4.0, 4.0)] * 3
    assert [result.due for result in found.within(12).results] == [(None, None)] * 3
    assert math.isnan(found.within(12).novelty["plot"])
    assert (found.documents, found.within(4).documents, found.within(100).documents) == (4, 2, 0)


async def test_a_population_without_an_answer_leaves_nothing_to_compare_and_says_so(population: Population) -> None:
    # nor is the judge asked
    found = await Assessor(population, Reader(silent=DOCUMENTS[OWL]), Never()).assess("Great owl.", OWL)
    assert math.isnan(found.novelty["plot"])
    assert found.faults == {NOT_ANSWERED: 3}


async def test_of_answers_without_documents_those_of_the_population_s_first_reader_count(tmp_path: Path) -> None:
    answers = {"first": ["Great", "Grey"], "second": ["White", "White", "White"]}
    population = answers_alone(tmp_path / "alone", answers)
    (question,) = population.questions(OWL)
    reader, *_ = population.readers
    assessment = await Assessor(population, Reader(), Judge(), 0).assess("Great owl.", OWL)
    # d-0 and d-1 by the first, d-2 by the second who alone read it: similarities 1, 1, 0
    assert (reader, assessment.documents) == ("first", 3)
    assert assessment.novelty[question.feature] == pytest.approx(1 / 3)


def test_among_fewer_and_fewer_documents_each_rating_stays_with_its_document() -> None:
    whole = replace(assessment_result("x", (1.0, 2.0, 4.0)), places=(0, 2, 3), unread=(1, 4))
    some = whole.among({2, 3, 4})
    assert (some.ratings, some.places, some.unread, some.others) == ((2.0, 4.0), (2, 3), (4,), whole.others[1:])
    assert (some.among({3}).ratings, some.among({3}).places) == ((4.0,), (3,))


@pytest.mark.parametrize(
    ("given", "nearest"),
    [
        # the answer rated most alike is first, of equals the one that more documents gave, then the first; three
        ({"rain": (1,), "snow": (2,), "hail": (2, 2), "fog": (3,)}, [("fog", 3, 1), ("hail", 2, 2), ("snow", 2, 1)]),
        ({"snow": (2,), "hail": (2,), "rain": (2,), "fog": (2,)}, [("snow", 2, 1), ("hail", 2, 1), ("rain", 2, 1)]),
        # answers that differ in case and end punctuation are one, in the first spelling
        ({"Rain": (2,), "rain.": (2,)}, [("Rain", 2, 2)]),
        # one that several documents gave is as near as its highest rating
        ({"rain": (1, 3), "snow": (2,)}, [("rain", 3, 2), ("snow", 2, 1)]),
        ({"rain": (3, 1), "snow": (2,)}, [("rain", 3, 2), ("snow", 2, 1)]),
        ({"rain": (None,), "snow": (0,)}, []),
    ],
)
def test_the_nearest_answers_are_those_rated_most_alike(
    given: dict[str, tuple[float | None, ...]], nearest: list[tuple[str, float, int]]
) -> None:
    pairs = [(Answer(text), rating) for text, ratings in given.items() for rating in ratings]
    others, ratings = zip(*pairs, strict=True)
    assert neighbours(replace(assessment_result("x", ratings), others=others)) == nearest


def document(name: str, text: str) -> Document:
    return Document(id=name, prompt=OWL, text=text)


GREY, WHITE, AGAIN = document("d-3", "Grey owl."), document("d-1", "White owl."), document("d-2", "Grey\n owl. ")


def test_a_text_is_compared_with_all_documents_but_itself_whatever_its_spacing_and_that_of_which_it_was_made() -> None:
    others = Others([GREY, WHITE, AGAIN])
    assert others.than("Old owl.") == Compared((GREY, WHITE, AGAIN))
    assert others.than("  Grey owl.") == Compared((WHITE,), ("d-3", "d-2"))
    assert others.than("Old owl.", WHITE.text) == Compared((GREY, AGAIN), (), (WHITE.id,))
    both = others.than(WHITE.text, "Grey  owl.")
    assert both == Compared((), (WHITE.id,), (GREY.id, AGAIN.id))
    assert both.left_out == (WHITE.id, GREY.id, AGAIN.id)
    assert Compared((GREY, WHITE, document("d-4", "An owl " * 10))).words == 2
    assert math.isnan(both.words)
