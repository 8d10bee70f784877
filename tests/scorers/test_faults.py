"""Every fault of a grader's server, with a real one: runs end, and what was lost is counted, by reason."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspect_ai.scorer import Score
from tests.scripted import FOX, OWL, evaluated, grading, metadata, saying, scores, small_population, values
from tests.served import BABBLE, BROKEN, BUSY, CUT, HANGING, OK, SHORT, Served, serving, without_pauses

from genie_inspect.graders.protocols import GRADER_FAILED, OFF_LABELS, UNREADABLE
from genie_inspect.populations.population import Population
from genie_inspect.scorers.assessment import TOO_FEW
from genie_inspect.scorers.genie import genie

STORIES = {
    OWL: tuple(f"Owl {i} sees {i} barns." for i in range(4)),
    FOX: tuple(f"Fox {i} eats {i} hens." for i in range(4)),
}
# ratings due to the questions of the small population: plot has two of the owl and one of the fox, style one of the owl
POSSIBLE = {1: {"plot": 8, "style": 4}, 2: {"plot": 4, "style": 0}}

# Inspect closes a model's connections when the process ends
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

GRADER = grading(answer=lambda document, question: f"{document} {question}", rating=lambda answer, other: 2)


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    return small_population(tmp_path_factory.mktemp("faults") / "population", documents=STORIES)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server that reads and rates as it should until it is told otherwise."""
    without_pauses(monkeypatch)

    def reply(request: str) -> str:
        return str(GRADER.reply(request))

    with serving(Served(reply, logprobs=lambda request: {"2": math.log(0.9), "The": math.log(0.1)})) as server:
        yield server


def run(
    served: Served, population: Population, folder: Path, judge: str, provider: str = "openai", **config: int
) -> list[Score]:
    """The scores of two documents, one for each prompt, after a run that ended well."""
    scorer, grader = genie(str(population.folder), judge=judge), served.model(provider, **config)
    return scores(evaluated(scorer, saying("A new story."), grader, folder, (OWL, FOX)))


def settled(score: Score, number: int) -> tuple[int, int]:
    """Ratings that count and ratings that were lost; both, and every coverage, are what the rows say."""
    facts, value = metadata(score), values(score)
    if score.reason == "grader_failed" and "pairs" not in facts:
        assert all(math.isnan(found) for found in value.values())
        return 0, sum(POSSIBLE[number].values())
    counted = {name: tuple(map(int, share.split("/"))) for name, share in facts["pairs"].items()}
    assert {name: possible for name, (_, possible) in counted.items()} == POSSIBLE[number]
    for name, (used, _) in counted.items():
        rows = [row for row in facts["questions"] if row["feature"] == name]
        assert used == sum(row["ratings"] for row in rows)
        # four ratings were due to each question; with two of them it is used
        counts = [row["ratings"] >= 2 for row in rows]
        assert [row["novelty"] is not None for row in rows] == counts
        assert facts["coverage"][name] == f"{sum(counts)}/{len(rows)}"
        assert math.isnan(value[name]) == (not any(counts))
    lost = sum(possible - used for used, possible in counted.values())
    faults = dict(facts["faults"])
    poor = sum(row["ratings"] == 1 for row in facts["questions"])
    assert faults.pop(TOO_FEW, 0) == poor, "and every question that they leave with too few"
    assert lost == sum(faults.values()), "every lost rating is counted, by reason"
    return sum(used for used, _ in counted.values()), lost


def judging(request: str) -> bool:
    """Whether a request asks for ratings, not for answers."""
    return '"questions"' not in request


@pytest.mark.parametrize(("judge", "fault"), [("list", BUSY), ("pairwise", BROKEN), ("logit", CUT), ("list", HANGING)])
def test_a_burst_of_failures_is_outlasted_and_nothing_is_lost(
    served: Served, population: Population, tmp_path: Path, judge: str, fault: str
) -> None:
    seen: set[str] = set()

    def at_first(number: int, request: str) -> str:
        """Every request fails when it is made for the first time; of those that hang one alone."""
        known = request in seen if fault != HANGING else number != 12
        seen.add(request)
        return OK if known else fault

    served.fault = at_first
    config = {"attempt_timeout": 1} if fault == HANGING else {}
    found = run(served, population, tmp_path, judge, "openai", **config)
    assert [settled(score, number) for number, score in enumerate(found, 1)] == [(12, 0), (4, 0)]
    assert fault in served.faults


@pytest.mark.parametrize(
    ("judge", "fault", "reason"),
    [
        ("list", CUT, GRADER_FAILED),
        ("pairwise", CUT, GRADER_FAILED),
        ("logit", CUT, GRADER_FAILED),
        ("list", BABBLE, UNREADABLE),
        ("pairwise", BABBLE, UNREADABLE),
        ("logit", BABBLE, OFF_LABELS),
    ],
)
def test_what_fails_for_good_or_babbles_costs_its_question_alone_and_a_second_run_asks_for_nothing_else(
    served: Served, population: Population, tmp_path: Path, judge: str, fault: str, reason: str
) -> None:
    served.fault = lambda number, request: fault if judging(request) and "What is the tone?" in request else OK
    owl, fox = run(served, population, tmp_path, judge)
    assert settled(owl, 1) == (8, 4)
    assert settled(fox, 2) == (4, 0)
    assert metadata(owl)["faults"] == {reason: 4}
    assert metadata(owl)["coverage"] == {"plot": "2/2", "style": "0/1"}

    served.fault = lambda number, request: OK
    served.requests.clear()
    owl, fox = run(served, population, tmp_path, judge)
    # what a judge says of probabilities is no failure, and kept
    assert settled(owl, 1) == ((8, 4) if reason == OFF_LABELS else (12, 0))
    assert all("What is the tone?" in request for request in served.requests)
    served.requests.clear()
    assert [score.value for score in run(served, population, tmp_path, judge)] == [owl.value, fox.value]
    assert served.requests == []


@pytest.mark.parametrize("judge", ["list", "pairwise"])
def test_replies_cut_short_lose_what_is_missing_from_them_and_no_more(
    served: Served, population: Population, tmp_path: Path, judge: str
) -> None:
    served.fault = lambda number, request: SHORT if judging(request) else OK
    for number, score in enumerate(run(served, population, tmp_path, judge), 1):
        used, lost = settled(score, number)
        if judge == "list":
            # of four ratings half of the reply holds at least one; what is missing is asked for twice more
            assert (used > 0, lost) == (True, sum(POSSIBLE[number].values()) - used)
        else:
            assert (used, score.reason) == (0, "invalid_response_format"), "the rating stands at the end"


def test_a_mixture_of_all_faults_ends_and_every_rating_is_accounted_for(
    served: Served, population: Population, tmp_path: Path
) -> None:
    faults = [OK, BUSY, OK, CUT, BABBLE, OK, SHORT, BROKEN, OK]
    served.fault = lambda number, request: faults[number % len(faults)] if judging(request) else OK
    for judge in ("list", "pairwise", "logit"):
        for number, score in enumerate(run(served, population, tmp_path / judge, judge), 1):
            settled(score, number)
    assert set(served.faults) == set(faults)
