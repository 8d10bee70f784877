import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import Model
from tests.building.scripts import read_by
from tests.recorded import answered as leaving_out_answered
from tests.recorded import rated, read_population
from tests.scripted import DOCUMENTS, FOX, OWL, QUESTIONS, Asked, Script, grading, small_population

from genie_inspect.building.costs import PlannedGrader, TaskCost, reference_scores_cost, task_cost
from genie_inspect.building.interviewing import left_out
from genie_inspect.engines.embedders import static_token_count
from genie_inspect.graders.cache import ANSWERS, RATINGS, Cache, Judged
from genie_inspect.graders.cost import Cost, tokens
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.merging import rate_all
from genie_inspect.graders.pairwise_judge import TOKENS_A_REASON
from genie_inspect.graders.protocols import Answer, Compared
from genie_inspect.graders.reader import GraderReader
from genie_inspect.populations.population import Population
from genie_inspect.scorers.assessor import Assessor
from genie_inspect.signature import digest


def planned(population: Population, judge: str, model: Model | None = None, each: int = 1, **options: Any) -> TaskCost:
    return task_cost(population, dict.fromkeys(population.prompts, each), Instrument(judge, **options), model)


def test_new_documents_answer_as_the_population_does(tmp_path: Path) -> None:
    grader = PlannedGrader(small_population(tmp_path), Instrument("pairwise"))
    # one document, drawn from four: "rain" twice, "snow" once, and one that does not say; each against both answers
    found = grader.rating_cost("Where?", [("rain", 1), ("rain", 1), ("snow", 1), None], 1)
    assert (found.judged, found.pairs) == (0.5 * 2 + 0.25 * 2, 0.75 * 3)
    # more documents than the population has bring three answers that it lacks
    assert grader.rating_cost("Where?", [("rain", 1), ("snow", 1)], 5).judged == (1 + 1 + 3) * 2


def test_ratings_on_record_are_not_paid_again(tmp_path: Path) -> None:
    model, instrument = grading().model(), Instrument("pairwise")
    _, judge = instrument.reader_and_judge(model)
    Cache().keep(RATINGS, (judge.signature, "Who?", "rain"), {"rain": Judged(4), "snow": Judged(1)})
    grader = PlannedGrader(small_population(tmp_path), instrument, model)
    found = grader.rating_cost("Who?", [("rain", 1), ("snow", 1), ("hail", 1)], 3)
    # rain against hail, snow and hail against all three
    assert found.judged == found.rating.calls == 1 + 3 + 3


@pytest.mark.parametrize("order", [("most", "least"), ("least", "most")])
def test_for_a_grader_who_has_read_nothing_stands_the_reader_who_has_read_most(
    order: tuple[str, str], tmp_path: Path
) -> None:
    first = small_population(tmp_path / "first").documents(OWL)[0].id
    answers = {"most": lambda document: "rain", "least": lambda document: "snow" if document.id == first else None}
    population = read_by(tmp_path / "read", {name: answers[name] for name in order})
    # all documents say the same to each of four questions, so that one pair a question has to be judged
    assert planned(population, "pairwise").judged == pytest.approx(4)
    least = read_by(tmp_path / "least", {"least": answers["least"]})
    assert planned(least, "pairwise").judged > 4


def test_an_unread_population_is_read_and_all_its_answers_count_as_different(tmp_path: Path) -> None:
    population = small_population(tmp_path)
    cost = planned(population, "pairwise", each=2)
    # 2 documents for each of 2 prompts, the 5 of the population; 2 x 3 documents x 3 questions and 2 x 2 x 1
    assert (cost.documents, cost.reading.calls, cost.population.calls) == (4, 4, 5)
    assert [cost.rating.calls, cost.pairs, cost.judged] == pytest.approx([22, 22, 22])


def test_what_the_cache_holds_of_a_reader_is_not_read_again(tmp_path: Path) -> None:
    population, model = small_population(tmp_path), grading().model()
    reader, _ = Instrument("list").reader_and_judge(model)
    kept, partly = DOCUMENTS[OWL][:2]
    texts = [text for _, text in QUESTIONS[OWL]]
    Cache().keep(ANSWERS, (reader.signature, digest(kept)), dict.fromkeys(texts, "rain"))
    Cache().keep(ANSWERS, (reader.signature, digest(partly)), {texts[0]: "rain"})
    before, after = (planned(population, "list", model, cache=cache).population for cache in (False, True))
    assert before.calls - after.calls == 1  # one is known whole, the other in part
    assert after.tokens_in < before.tokens_in * 4 / 5


def test_answers_that_differ_in_case_and_end_punctuation_are_judged_as_one(tmp_path: Path) -> None:
    first = small_population(tmp_path / "first").documents(OWL)[0].id
    population = read_by(tmp_path / "read", {"reader": lambda document: "Rain." if document.id == first else "rain"})
    # one pair for each of four questions
    assert planned(population, "pairwise").judged == pytest.approx(4)


MANY = {OWL: (*DOCUMENTS[OWL], "Grey owl at noon.", "Brown owl in a barn."), FOX: DOCUMENTS[FOX]}
"""Two of the owls are grey, and all but one are owls in their second word."""


async def asked(instrument: Instrument, folder: Path) -> tuple[Script, TaskCost, Cost]:
    """A grader who has compared all documents, what that was expected to cost, and what it then still costs."""
    grader = grading(
        answer=lambda document, question: leaving_out_answered(document, question) or "[not said]", rating=rated
    )
    model = grader.model()
    population = read_population(folder, GraderReader(model).signature, MANY)
    expected = reference_scores_cost(population, instrument, model)
    await left_out(Assessor(population, *instrument.reader_and_judge(model)))
    return grader, expected, reference_scores_cost(population, instrument, model).total


@pytest.mark.parametrize(
    ("judge", "keeps"),
    [("list", True), ("list", False), ("pairwise", True), ("pairwise", False), ("sheet", False)],
)
async def test_what_a_dry_run_counts_is_what_is_asked(judge: str, keeps: bool, tmp_path: Path) -> None:
    grader, found, left = await asked(Instrument(judge, cache=keeps), tmp_path)
    assert (found.documents, found.population) == (7, Cost())
    # no document is read: the answers are on record
    assert not [data for data in grader.data if "questions" in data]
    assert found.total.calls == len(grader.requests)
    assert found.total.tokens_in == pytest.approx(sum(map(static_token_count, grader.requests)), rel=0.01)
    # of the owls' answers to three questions 5, 5 and 4 are given, of the foxes' 2: each against the others
    assert found.pairs == 5 * 4 + 5 * 4 + 4 * 3 + 2 * 1
    if keeps:
        # first words grey (twice), white, old, brown: 4 x 4, less three that are compared with others alone;
        # second words owl, five times: one; tones grey (twice), old, brown: 3 x 3 less two; red, lame: one each
        assert (found.judged, left) == ((16 - 3) + 1 + (9 - 2) + 2, Cost())


async def test_of_sheets_that_are_kept_it_is_the_most_that_is_asked(tmp_path: Path) -> None:
    grader, found, left = await asked(Instrument("sheet"), tmp_path)
    # one grey owl waits for the other, which answers alike; the other documents are side by side
    assert found.total.calls == 7 == len(grader.requests) + 1
    assert found.total.tokens_in >= sum(map(static_token_count, grader.requests))
    assert left == Cost()


@pytest.mark.parametrize(("size", "sheets"), [(120, 1), (40, 2), (20, 3), (11, 5), (3, 20)])
async def test_sheets_are_counted_as_they_are_split(size: int, sheets: int, tmp_path: Path) -> None:
    script, others = grading(), [f"thing number {number}" for number in range(10)]
    questions = [Asked(f"What is {number}?") for number in range(5)]
    instrument = Instrument(f"sheet/{size}", cache=False)
    _, judge = instrument.reader_and_judge(script.model())
    await rate_all(judge, [Compared(q, Answer(ANSWER), list(map(Answer, others))) for q in questions])
    grader = PlannedGrader(small_population(tmp_path), instrument, script.model())
    costs = [
        TaskCost(judged=10, rating=grader.rating(tokens(q.text), tokens(ANSWER), list(map(tokens, others))))
        for q in questions
    ]
    found = grader.on_sheets(costs, 1).rating
    assert found.calls == len(script.requests) == sheets
    assert found.tokens_in == pytest.approx(sum(map(static_token_count, script.requests)), rel=0.002)
    replied = sum(static_token_count(str(script.reply(request))) for request in script.requests)
    assert found.tokens_out == pytest.approx(replied, rel=0.05)


def test_a_document_whose_answers_have_all_been_rated_needs_no_sheet(tmp_path: Path) -> None:
    grader = PlannedGrader(small_population(tmp_path), Instrument("sheet"))
    part = grader.rating(5, 5, [2] * 10)
    # each of two questions is new to half of the four documents: three of these need a sheet
    halves = [TaskCost(judged=20, rating=part * 2)] * 2
    assert grader.on_sheets(halves, 4).rating.calls == 4 * (1 - 0.5 * 0.5)
    assert grader.on_sheets([TaskCost()] * 2, 4).rating == Cost()
    assert grader.on_sheets(halves, 0).rating == part * 4


QUESTION = Asked('What does "the owl" want?')
ANSWER = 'to say "no", and\nfly'
OTHERS = ["a mouse", "sleep — at last", 'the "moon"', *(f"thing number {number}" for number in range(30))]


def asked_of(script: Script) -> tuple[int, int]:
    """Calls that were made, and the tokens of their requests."""
    return len(script.requests), sum(map(static_token_count, script.requests))


@pytest.mark.parametrize("mode", ["list", "list/10", "pairwise", "logit"])
async def test_calls_and_tokens_are_those_of_the_requests_that_a_judge_sends(mode: str, tmp_path: Path) -> None:
    script = grading()
    _, judge = Instrument(mode, cache=False).reader_and_judge(script.model())
    await judge.rate(QUESTION, Answer(ANSWER), [Answer(other) for other in OTHERS])
    grader = PlannedGrader(small_population(tmp_path), Instrument(mode))
    cost = grader.rating(tokens(QUESTION.text), tokens(ANSWER), [tokens(other) for other in OTHERS])
    assert (cost.calls, cost.tokens_in) == asked_of(script)


async def test_tokens_of_a_reading_are_those_of_the_request_that_a_reader_sends(tmp_path: Path) -> None:
    script = grading(lambda document, question: "rain")
    document, questions = 'It rained.\n\n"Go!" said <b>she</b>.' * 200, [QUESTION, Asked("Who?")]
    await GraderReader(script.model()).read(document, questions)
    grader = PlannedGrader(small_population(tmp_path), Instrument("list"))
    cost = grader.reading(tokens(document), [question.text for question in questions], [3, 4])
    assert (cost.calls, cost.tokens_in) == asked_of(script)


def test_a_reply_has_the_tokens_of_the_form_that_is_asked_for(tmp_path: Path) -> None:
    population = small_population(tmp_path)

    def reply_tokens(judge: str, model: Model | None = None) -> float:
        return PlannedGrader(population, Instrument(judge), model).rating(5, 5, [2] * 10).tokens_out

    as_json = json.dumps({str(number): "2" for number in range(1, 11)})
    assert reply_tokens("list") == static_token_count(as_json)
    line = " ".join(f"{number}:2" for number in range(1, 11))
    assert reply_tokens("list", grading().model()) == static_token_count(line)
    assert reply_tokens("logit") == 10, "one token each"
    assert reply_tokens("pairwise") == 10 * TOKENS_A_REASON, "a sentence each"
