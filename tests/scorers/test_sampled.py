"""Answers that are rated against a sample of the population's answers: `ratings=`."""

import math
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from tests.scorers.test_assessor import Judge, Reader
from tests.scripted import Script, evaluated, grading, metadata, saying, scores, sheet_of, small_population
from tests.tasks.runs import run

from genie_inspect.engines.embedders import StaticEmbedder
from genie_inspect.errors import GraderFailedError, UnknownChoiceError
from genie_inspect.graders.instrument import Instrument
from genie_inspect.graders.protocols import UNREADABLE, Answer, AskedQuestion, Rated
from genie_inspect.graders.sheet_judge import SheetJudge
from genie_inspect.measures.genie import Tally, similarity
from genie_inspect.populations.population import Population
from genie_inspect.populations.reference_scores import Measured, ReferenceScores
from genie_inspect.prompting.templates import unfenced
from genie_inspect.scorers.assessment import Assessment, QuestionResult, standings
from genie_inspect.scorers.assessor import Assessor, Jury, Sampler
from genie_inspect.scorers.explanation import notes_on, sampling_facts
from genie_inspect.scorers.genie import genie
from genie_inspect.signature import Signature
from genie_inspect.tasks.population_prompts import population_prompts
from genie_inspect.tasks.synthetic_prompts import synthetic_prompts

PROMPT = "Write about a bird."
WORDS = "owl eagle swan crow finch robin hawk falcon wren goose duck heron stork raven".split()  # noqa: SIM905
OTHERS = tuple(f"{word.capitalize()} number {n}." for n, word in enumerate(WORDS))
TEXT = "Osprey at dawn."


class Rates(Judge):
    """Rates by a word's place among all; loses what it is told, and keeps what it was asked."""

    def __init__(self, lost: Sequence[str] = (), fails: bool = False) -> None:
        self.lost, self.fails, self.asked = lost, fails, list[list[str]]()

    async def rate(self, question: AskedQuestion, answer: Answer, others: Sequence[Answer]) -> Rated:
        if self.fails:
            raise GraderFailedError("it is gone")
        words = [other.text for other in others]
        self.asked.append(words)
        ratings = tuple(None if word.lower() in self.lost else rating(word) for word in words)
        return Rated(ratings, {place: UNREADABLE for place, value in enumerate(ratings) if value is None})


def rating(word: str) -> float:
    return 1 + 3 * WORDS.index(word.lower()) / len(WORDS)


@pytest.fixture
def population(tmp_path: Path) -> Population:
    return small_population(
        tmp_path / "population", {PROMPT: OTHERS}, {PROMPT: (("plot", "Which?"), ("style", "How?"))}
    )


async def assessed(
    population: Population, judge: Judge | SheetJudge, ratings: int | None, text: str = TEXT, seed: int = 0
) -> Assessment:
    sampler = Sampler(ratings, StaticEmbedder(), seed) if ratings else None
    return await Assessor(population, Reader(), judge, sampler=sampler).assess(text, PROMPT)


async def test_six_answers_are_rated_the_nearest_among_them_and_stand_for_all(population: Population) -> None:
    judge = Rates()
    found = await assessed(population, judge, 6)
    assert [len(words) for words in judge.asked] == [6, 6]
    result = found.results[0]
    assert sum(result.weights) == len(OTHERS) == found.documents
    predicted = dict(zip(WORDS, StaticEmbedder().embed(WORDS) @ StaticEmbedder().embed(["osprey"])[0], strict=True))
    assert result.others[0].text.lower() == max(predicted, key=lambda word: predicted[word])
    weighted = sum(w * similarity(r) for w, r in zip(result.weights, result.ratings, strict=True))
    assert result.novelty == pytest.approx(1 - weighted / len(OTHERS))
    # the second time the same, in another draw others
    again, other = Rates(), Rates()
    assert (await assessed(population, again, 6)).novelty == found.novelty
    assert sorted(again.asked) == sorted(judge.asked)
    await assessed(population, other, 6, seed=1)
    assert sorted(other.asked) != sorted(judge.asked)


async def test_with_a_stratum_for_each_answer_the_result_is_the_full_score(population: Population) -> None:
    whole = await assessed(population, Rates(), None)
    for ratings in (len(OTHERS), len(OTHERS) + 5):
        found = await assessed(population, Rates(), ratings)
        assert (found.novelty, found.results, found.is_sampled) == (whole.novelty, whole.results, False)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the arithmetic is the same on the other
async def test_over_many_draws_the_mean_is_that_of_all_ratings(population: Population) -> None:
    (whole, *_) = (await assessed(population, Rates(), None)).novelty.values()
    draws = [await assessed(population, Rates(), 5, seed=seed) for seed in range(400)]
    errors = [draw.standard_errors["plot"] for draw in draws]
    assert fmean(draw.novelty["plot"] for draw in draws) == pytest.approx(whole, abs=0.012)
    # of two questions; of the starter's fourteen it is 0.94 and more (benchmarks/sampled_ratings.py)
    assert fmean(abs(d.novelty["plot"] - whole) < 1.96 * e for d, e in zip(draws, errors, strict=True)) > 0.7


async def test_equal_answers_are_interchangeable_without_a_call(population: Population) -> None:
    judge = Rates()
    found = await assessed(population, judge, 6, "Owl of another kind.")
    assert not any("Owl" in words for words in judge.asked)
    result = found.results[0]
    assert (result.others[0].text, result.ratings[0], result.weights[0]) == ("Owl", 4, 1)
    assert (result.nearest, sum(result.weights)) == (0, len(OTHERS))


def test_documents_that_come_together_have_the_answers_of_a_question_embedded_once() -> None:
    embedded: list[int] = []

    class Counting(StaticEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            embedded.append(len(texts))
            time.sleep(0.02)
            return super().embed(texts)

    sampler = Sampler(6, Counting())
    asked = [[(question, f"{word} at dawn.", OTHERS) for question in ("Which?", "How?")] for word in WORDS[:8]]
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(sampler.draws, asked))) == 8
    assert embedded.count(len(OTHERS)) == 1


async def test_a_lost_rating_is_replaced_once_and_then_represented_by_the_stratum_beside_it(
    population: Population,
) -> None:
    drawn = [other.text for other in (await assessed(population, Rates(), 5)).results[0].others]
    losing = Rates([drawn[2].lower()])
    result = (await assessed(population, losing, 5)).results[0]
    second = result.others[2].text
    assert [second] in losing.asked
    assert (result.faults, result.usable, second != drawn[2]) == ((), 5, True)
    both = Rates([drawn[2].lower(), second.lower()])
    result = (await assessed(population, both, 5)).results[0]
    assert (result.usable, len(result.due), result.faults) == (4, 5, (UNREADABLE,))
    assert (result.weights[2], sum(result.weights)) == (0, len(OTHERS))
    assert not math.isnan(result.novelty)


async def test_a_rating_that_a_sheet_lost_is_replaced_by_asking_about_its_second_alone(population: Population) -> None:
    lost: list[str] = []

    def reply(request: str) -> str:
        data = unfenced(request)
        if "sheet" in data:
            # the first of the first question gets no rating, even when it is asked about alone
            lost.append(data["sheet"]["1"][2][0])
            return sheet_of(data, lambda answer, other: 2).replace("1| 2", "1| x")
        others = data["others"].items()
        return " ".join(f"{n}:{3 if len(others) == 1 else 2}" for n, other in others if other not in lost) or "Hm."

    script = Script(reply)
    judge = SheetJudge(script.model())
    result, beside = (await assessed(population, judge, 6)).results
    assert [len(others) for _, _, others in script.data[0]["sheet"].values()] == [6, 6]
    assert [sorted(data["others"].values()) for data in script.data[1:2]] == [sorted(script.data[0]["sheet"]["1"][2])]
    assert len(script.requests) == 3
    assert (result.faults, sorted(filter(None, result.ratings)), lost[0] in {o.text for o in result.others}) == (
        (),
        [2, 2, 2, 2, 2, 3],
        False,
    )
    assert beside.ratings == (2,) * 6


@pytest.mark.parametrize("ratings", [None, 6])
def test_a_sheet_gives_the_scores_of_a_list_to_the_bit_in_a_call_per_document(
    ratings: int | None, tmp_path: Path
) -> None:
    scored = {}
    for judge in ("list", "sheet", "sheet/20"):
        task = synthetic_prompts(judge=judge, ratings=ratings, panel="none")
        log = run(task, tmp_path, "bundled/inventive", "bundled/grader", limit=2, epochs=1)
        # reference scores are of one judge: without them there is room for more of the nearest answers
        facts = [
            {k: v for k, v in metadata(one).items() if k not in ("judge", "signature", "standing")}
            for one in scores(log)
        ]
        for each in facts:
            each["questions"] = [asked | {"nearest": asked["nearest"][:1]} for asked in each["questions"]]
        scored[judge] = str([score.value for score in scores(log)]), str(facts)
    assert scored["list"] == scored["sheet"] == scored["sheet/20"]


async def test_too_few_of_the_drawn_are_no_score_and_a_grader_that_fails_is_a_failure(population: Population) -> None:
    found = await assessed(population, Rates(WORDS), 6)
    assert [math.isnan(value) for value in (*found.novelty.values(), *found.standard_errors.values())] == [True] * 4
    assert found.faults == {UNREADABLE: 12}
    with pytest.raises(GraderFailedError):
        await assessed(population, Rates(fails=True), 6)


async def test_what_a_person_reads_says_that_it_is_a_sample_and_how_large_the_error_is(population: Population) -> None:
    found = await assessed(population, Rates(), 6)
    (note,) = (line for line in notes_on(found) if "sample" in line)
    assert re.search(r"standard error of 0\.\d{3} to 0\.\d{3} by feature; nearest is the nearest of those rated", note)
    assert sampling_facts(found)["sampling"]["standard_error"].keys() == {"plot", "style"}
    assert sampling_facts(await assessed(population, Rates(), None)) == {}


async def test_a_jury_has_the_error_of_the_mean_of_its_graders(population: Population) -> None:
    graders = {name: Assessor(population, Reader(), Rates(), sampler=Sampler(6, StaticEmbedder())) for name in "ab"}
    found = await Jury(graders).assess(TEXT, PROMPT)
    (alone, *_) = (part.standard_errors for part in found.parts.values())
    assert found.standard_errors["plot"] == pytest.approx(alone["plot"] / math.sqrt(2))


def test_the_signature_names_number_and_embedder_and_reference_scores_by_all_ratings_serve_it(
    population: Population, tmp_path: Path
) -> None:
    signatures = []
    for ratings in (6, None):
        scorer = genie(str(population.folder), ratings=ratings)
        log = evaluated(scorer, saying(TEXT), grading(), tmp_path / str(ratings), [PROMPT])
        signatures += [str(metadata(score)["signature"]) for score in scores(log)]
    sampled, whole = signatures
    assert Signature(sampled).facts["ratings"] == f"6({StaticEmbedder().identity})"
    assert "ratings" not in Signature(whole).facts
    measured = Measured(signature=whole, ratings={})
    assert ReferenceScores(measured=(measured,)).under(sampled) == measured


def sampled_result(
    population: Population, unread: int = 0, ratings: Sequence[float | None] = (4, 2, 1)
) -> QuestionResult:
    question, answers = population.questions(PROMPT)[0], (Answer("x"),) * 3
    return QuestionResult(
        question,
        answers[0],
        answers,
        tuple(ratings),
        (),
        places=(0, 3, 7),
        unread=tuple(range(unread)),
        weights=(1, 5, 4),
    )


def test_a_document_that_could_not_be_read_counts_as_often_as_it_would_have_been_drawn(population: Population) -> None:
    assert [len(sampled_result(population, unread).due) for unread in (0, 1, 5, 10)] == [3, 3, 5, 6]


def test_reference_scores_take_a_sampled_document_as_often_as_its_ratings_stand_for_answers(
    population: Population,
) -> None:
    whole = sampled_result(population)
    assert whole.tally == Tally(4 + 5 * 2 + 4 * 1, 10, 10)
    assert whole.tally.novelty() == pytest.approx(whole.novelty)
    lost = sampled_result(population, ratings=(4, None, None))
    assert (lost.is_used, lost.tally.usable, math.isnan(lost.tally.novelty())) == (False, 0, True)
    # what was not drawn is not held against it: the others stand among themselves
    (question,) = {whole.question.id}
    others = {f"d{n}": {question: (Tally(20, 10, 10),)} for n in range(10)}
    assessment = Assessment((whole,), ("plot",), 10)
    assert standings(assessment, list(others), others)["plot"].percentile == 100
    (spread,) = assessment.spread.values()
    assert spread.degrees == 2


@pytest.mark.parametrize(
    ("judge", "ratings", "said"),
    [
        ("list", 2, "a whole number of at least 3"),
        ("list", 6.0, "a whole number of at least 3"),
        ("list", True, "a whole number of at least 3"),
        ("embedding", 6, "none with judge=embedding: it is for list, sheet, pairwise, logit"),
        ("offline", 6, "none with judge=offline"),
    ],
)
def test_a_number_that_cannot_be_is_refused(judge: str, ratings: Any, said: str) -> None:
    with pytest.raises(UnknownChoiceError, match=re.escape(said)):
        Instrument(judge, ratings=ratings)


@pytest.mark.parametrize(("count", "options", "proposed"), [(51, {}, 1), (50, {}, 0), (51, {"ratings": 6}, 0)])
def test_a_large_population_is_told_what_fewer_ratings_would_cost(
    count: int, options: dict[str, Any], proposed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = [f"{WORDS[n % len(WORDS)].capitalize()}{n} flies." for n in range(count)]
    folder = small_population(tmp_path / "large", {PROMPT: texts}, {PROMPT: (("plot", "Which?"),)}).folder
    run(population_prompts(str(folder), **options), tmp_path, saying(TEXT), grading(), epochs=1)
    lines = [line for line in capfd.readouterr().err.splitlines() if "ratings=6" in line]
    assert len(lines) == proposed
    for line in lines:
        few, fewer, whole, more = (
            int(n.replace(",", "")) for n in re.findall(r"[\d,]{2,}(?= |$)", line.split("about")[1])[:4]
        )
        assert (few < whole, fewer < more) == (True, True)
