"""Figures of readers, each computed by hand."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.left_out import with_ci

from genie_inspect.agreement.raters import CalibrationError, Rater, Ratings, judge_ratings
from genie_inspect.agreement.readers import (
    LEAST_REACH,
    REFUSAL,
    AnswerPair,
    ReaderFitness,
    fitness_verdict,
    rated_targets,
    read_again,
    reader_fitness,
    sampled_documents,
)
from genie_inspect.engines.embedders import embedder
from genie_inspect.errors import GraderFailedError, UnknownChoiceError
from genie_inspect.files.writing import DATA
from genie_inspect.graders.embedding_judge import EmbeddingJudge, shipped_fit
from genie_inspect.graders.protocols import GRADER_FAILED, Answer, AskedQuestion, Reading
from genie_inspect.populations.population import Population, open_population
from genie_inspect.populations.schema import Document, Question

PLOT, STYLE = (
    Question(id=f"q-{feature}", prompt="A story.", feature=feature, text=f"What {feature}?")
    for feature in ("plot", "style")
)


def ratings(*values: float) -> Ratings:
    return Ratings("judge", "judge()", values)


def fitness(pairs: list[AnswerPair], *values: float) -> dict[str, ReaderFitness]:
    return {row.feature: row for row in reader_fitness("reader", pairs, ratings(*values), ["agent", "plot", "style"])}


def pair(
    document: str, recorded: str | None, answer: str | None, *others: str, question: Question = PLOT
) -> AnswerPair:
    return AnswerPair(document, question, recorded, answer, others)


def test_own_and_other_similarity_and_how_often_the_own_document_is_nearer() -> None:
    pairs = [pair("one", "a war", "a battle", "a voyage", "a wedding", "a feud")]
    # rated against "a war", then the others: 3, 1, 3, 4
    row = fitness(pairs, 3, 1, 3, 4)["plot"]
    assert row.same == pytest.approx(2 / 3)
    assert row.other == pytest.approx((0 + 2 / 3 + 1) / 3)
    assert row.own_nearer.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert row.highest == 1


def test_equal_answers_are_interchangeable_and_are_not_rated() -> None:
    pairs = [pair("one", "A war.", "a war", "a war", "a voyage")]
    assert [target.others for target in rated_targets(pairs)] == [("a voyage",)]
    row = fitness(pairs, 1)["plot"]
    assert row.same == 1
    # equal to one of two others: half a point for it, and more nobody could have
    assert row.own_nearer.value == row.highest == pytest.approx(0.75)
    # of equal answers of other documents one is rated, as the record spells it
    target = pair("d", "In rain.", "in fog", "in rain", "In snow", "in snow", "In fog").target
    assert target is not None
    assert target.others == ("In rain.", "In snow")


def test_what_is_left_out_added_or_unreadable_is_counted_and_not_compared() -> None:
    pairs = [
        pair("one", "a war", None, "a voyage"),
        pair("one", None, "a feud", "a voyage", question=STYLE),
        pair("two", "a voyage", "a voyage", "a war"),
        AnswerPair("three", PLOT, "a feud", None, ("a war",), fault="unreadable reply"),
    ]
    # an answer of the question's own words
    assert (
        fitness([pair("one", "a war", text, "a war") for text in ("the plot", "an old feud")], 2, 2)["plot"].repeated
        == 0.5
    )
    rows = fitness(pairs, 1)
    whole = rows["all features"]
    assert (whole.asked, whole.both) == (4, 1)
    assert whole.left_out == pytest.approx(2 / 3)
    assert whole.added == pytest.approx(1 / 2)
    assert whole.faults == {"unreadable reply": 1}
    assert list(rows) == ["plot", "style", "all features"]
    assert math.isnan(rows["style"].left_out)
    assert math.isnan(rows["style"].own_nearer.value)
    # pairs that a judge could not rate are left out
    pairs = [pair("one", "a war", "a battle", "a voyage", "a feud"), pair("two", "a feud", "a quarrel", "a war")]
    # of the first the voyage has no rating, of the second the own answer
    row = fitness(pairs, 3, math.nan, 1, math.nan, 4)["plot"]
    assert (row.both, row.other, row.own_nearer.value) == (2, 0, 1)


def test_the_interval_is_over_documents() -> None:
    """Fifty answers of one document are no fifty witnesses."""
    alone = [pair("one", "a war", "a battle", "a voyage")] * 50
    assert math.isnan(fitness(alone, *[3, 1] * 50)["plot"].own_nearer.low)
    two = [pair("one", "a war", "a battle", "a voyage"), pair("two", "a war", "a battle", "a voyage")]
    interval = fitness(two, 3, 1, 1, 3)["plot"].own_nearer
    assert (interval.low, interval.value, interval.high) == (0, 0.5, 1)


def test_the_verdict_says_how_far_a_reader_comes_on_the_way_from_chance_to_the_record() -> None:
    pairs = [pair(f"d{number}", "a war", "a battle", "a voyage", "a feud") for number in range(12)]

    def told(*values: float) -> tuple[ReaderFitness, str]:
        rows = reader_fitness("reader", pairs, ratings(*values), ["plot"])
        return rows[-1], " ".join(fitness_verdict(rows))

    reading, said = told(*[3, 2, 3] * 12)
    assert reading.reach == pytest.approx(0.5)
    assert said == (
        "The answers of reader are nearer to the record of their own document than to another's in 75%, where 50% is "
        "chance and 100% the most: 50% of the way."
    )
    # nearer in one of three documents only, and as near in the others
    weak, said = told(*[3, 2, 3] * 4, *[3, 3, 3] * 8)
    assert weak.reach == pytest.approx(1 / 6)
    assert weak.own_nearer.low > 0.5
    hardly = "It hardly reads: do not quote scores that rest on its readings."
    assert said.endswith(hardly)
    assert told(*[1, 2, 2] * 12)[1].endswith(hardly)


def test_the_verdict_names_features_by_chance_and_a_reader_that_leaves_out_most() -> None:
    read = [pair(f"d{number}", "a war", "a battle", "a voyage") for number in range(12)]
    guessed = [pair(f"d{number}", "dry", "plain", "lush", question=STYLE) for number in range(12)]
    rows = reader_fitness("reader", [*read, *guessed], ratings(*[4, 1] * 12, *[2, 2] * 12), ["plot", "style"])
    assert fitness_verdict(rows)[-1] == "As by chance: style."
    silent = [pair("one", "a war", None, "a voyage")] * 3
    sentences = fitness_verdict(reader_fitness("reader", silent, ratings(), ["plot"]))
    assert sentences[0].startswith("reader has no answer where the record has one in 100%")
    assert sentences[1] == "reader: whether it reads cannot be told from 0 answers."


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
    assert (pairs[0].answer, pairs[0].fault, pairs[1].answer) == (None, "unreadable reply", documents[0].text[:20])
    recorded = starter.answers(starter.readers[0], documents[0].prompt)
    for pair in pairs[: len(questions)]:
        assert pair.recorded == recorded[pair.document, pair.question.id]
        others = {place: text for place, text in recorded.items() if place[1] == pair.question.id and text is not None}
        others.pop((pair.document, pair.question.id), None)
        assert list(pair.others) == list(others.values())


def test_a_refusal_and_a_failure_are_faults_of_every_question_and_lose_nothing_else(starter: Population) -> None:
    documents = sampled_documents(starter, 3)
    one, two, three = (document.text for document in documents)
    pairs = read(starter, Reader(two, refused=three), documents)
    faults = [{pair.fault for pair in pairs if pair.document == document.id} for document in documents]
    assert faults == [{"", "unreadable reply"}, {GRADER_FAILED}, {REFUSAL}]
    with pytest.raises(CalibrationError, match=r"reader\(\) read nothing: no server"):
        read(starter, Reader(one, two, three), documents)
    with pytest.raises(UnknownChoiceError, match="nobody"):
        read(starter, Reader(), sampled_documents(starter, 2), record="nobody")


def test_documents_are_drawn_each_prompt_in_turn(starter: Population) -> None:
    documents = sampled_documents(starter, 11, seed=3)
    assert [document.prompt for document in documents[:8]] == starter.prompts
    assert len({document.id for document in documents}) == 11
    assert documents == sampled_documents(starter, 11, seed=3)
    assert documents != sampled_documents(starter, 11, seed=4)
    assert len(sampled_documents(starter, None)) == 176


PAGE = Path(__file__).parents[2] / "docs" / "judging.md"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@with_ci("a table of a page made anew from all ratings on record")
def test_the_page_says_how_far_it_comes_and_the_rule_lies_below_it() -> None:
    population, folder = open_population("starter"), DATA / "starter" / "edits"
    # the metric study's originals are stories of the population, read a second time by another reader
    prompt_of = {text["id"]: text["prompt"] for text in rows(folder / "edits.jsonl") if text["kind"] == "original"}
    again = {(row["document"], row["question"]): row["text"] for row in rows(folder / "readings.jsonl")}
    pairs = []
    for original, prompt in prompt_of.items():
        recorded = population.answers(population.readers[0], prompt)
        for question in population.questions(prompt):
            others = tuple(
                answer
                for (document, asked), answer in recorded.items()
                if asked == question.id and document != original and answer
            )
            key = original, question.id
            pairs.append(AnswerPair(original, question, recorded[key], again[key], others))
    features = [feature.name for feature in population.features]
    judge = EmbeddingJudge(embedder("static"), shipped_fit(), features)
    ratings = anyio.run(judge_ratings, Rater("embedding", judge), rated_targets(pairs))
    fitness = {row.feature: row for row in reader_fitness("recorded", pairs, ratings, features)}
    whole, style = fitness["all features"], fitness["style"]
    assert whole.asked == 16 * 14
    assert whole.reach > LEAST_REACH
    said = (
        f"has a reach of {whole.reach:.0%} over all features (({100 * whole.own_nearer.value:.0f} - 50) / "
        f"({100 * whole.highest:.0f} - 50)), but {style.reach:.0%} in style"
    )
    assert said in " ".join(PAGE.read_text(encoding="utf-8").split())
