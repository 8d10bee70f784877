"""How far scores depend on the words of an instruction: graders whose faults are known."""

import math
import re
from collections.abc import Callable, Mapping

import pytest
from tests.scripted import Script

from genie_inspect.agreement.calibration import ALL
from genie_inspect.agreement.raters import Rater, Ratings, judge_ratings
from genie_inspect.agreement.rewordings import (
    Stability,
    rated_novelties,
    rating_alphas,
    stability,
    stability_verdict,
    targets_of,
)
from genie_inspect.graders.instrument import Instrument
from genie_inspect.populations.population import Population, open_population
from genie_inspect.populations.reference_scores import reference_scores_of
from genie_inspect.populations.schema import Question
from genie_inspect.prompting.templates import OPEN, ORIGINAL, REWORDINGS, unfenced
from genie_inspect.providers.replay import starter_record


@pytest.fixture(scope="module")
def starter() -> Population:
    return open_population("starter")


WORDINGS = (ORIGINAL, *REWORDINGS)
QUESTIONS = [
    Question(id="q1", prompt="p", feature="plot", text="What happens?"),
    Question(id="q2", prompt="p", feature="style", text="What is the tone?"),
]


def rows_of(
    novelties: Mapping[str, Mapping[tuple[str, str], float]], models: Mapping[str, str] | None = None
) -> list[Stability]:
    return stability("judge", novelties, QUESTIONS, models or {}, ["plot", "setting", "style"])


def test_shares_moves_and_means_are_those_of_documents_scores() -> None:
    rows = rows_of(
        {
            "a": {("d1", "q1"): 0.2, ("d2", "q1"): 0.4, ("d1", "q2"): 0.5, ("d2", "q2"): 0.5},
            "b": {("d1", "q1"): 0.4, ("d2", "q1"): 0.6, ("d1", "q2"): 0.5, ("d2", "q2"): 0.5, ("d3", "q1"): 0.9},
        }
    )
    plot, style, whole = rows
    assert [row.feature for row in rows] == ["plot", "style", ALL], "no row for a feature that nobody measured"
    # d3 has no score in wording a
    assert plot.documents == 2
    assert plot.means == pytest.approx({"a": 0.3, "b": 0.5})
    # rows .3 and .5, columns .3 and .5: each a variance of .02, and no residual
    assert (plot.document, plot.wording, plot.interaction) == pytest.approx((0.5, 0.5, 0), abs=1e-9)
    assert plot.document_moves == plot.mean_moves == pytest.approx(math.sqrt(0.02))
    assert math.isnan(style.document)
    assert whole.means == pytest.approx({"a": 0.4, "b": 0.5})
    assert [row.rater for row in rows] == ["judge"] * 3


def test_models_whose_order_is_another_in_other_words_are_named() -> None:
    one = {("d1", "q1"): 0.2, ("d2", "q1"): 0.4, ("d3", "q1"): 0.9}
    other = {("d1", "q1"): 0.5, ("d2", "q1"): 0.4, ("d3", "q1"): 0.9}
    plot, _ = rows_of({"a": one, "b": other}, {"d1": "m/1", "d2": "m/2", "d3": "m/3"})
    assert plot.flips == ("m/1, m/2",)
    assert "Which of two models is the more novel depends on the wording: m/1, m/2." in stability_verdict([plot, plot])


@pytest.mark.parametrize(
    ("document_moves", "alpha", "said"),
    [
        (0.06, 0.9, "moves a document's score by list(x) by 0.06 (plot), and a mean over many documents by 0.06 ("),
        (0.06, 0.5, "Do not quote its scores where alpha among the wordings is below 0.667: plot 0.50."),
        (0.0, 1.0, "list(x) gives the same scores in 2 wordings of the instruction."),
        (0.0, math.nan, "It says the same of everything"),
        (math.nan, math.nan, "cannot be told from 1 documents"),
    ],
)
def test_the_verdict_is_in_sentences(document_moves: float, alpha: float, said: str) -> None:
    row = Stability("list(x)", "plot", 1, alpha, {"a": 0.1, "b": 0.2}, 0.5, 0.5, 0, document_moves, document_moves, ())
    assert said in " ".join(stability_verdict([row, row]))


def test_novelties_are_those_of_the_populations_reference_scores(starter: Population) -> None:
    record, documents = starter_record(), starter.documents(starter.prompts[0])
    targets = targets_of(starter, starter.readers[0], documents)
    values = tuple(float(record.rating(t.question.text, t.answer, other)) for t in targets for other in t.others)
    novelties = rated_novelties(starter, starter.readers[0], documents, targets, Ratings("", "", values))
    measured = reference_scores_of(starter.folder).measured[0].ratings
    for (document, question), novelty in novelties.items():
        (tally,) = measured[document][question]
        assert novelty == pytest.approx(1 - (tally[0] / tally[1] - 1) / 3)
    assert len(novelties) > 20 * len(starter.questions(starter.prompts[0]))
    # with all ratings lost only a question is left that most documents answer alike: what is equal needs no rating
    lost = Ratings("", "", (math.nan,) * len(values))
    assert len(rated_novelties(starter, starter.readers[0], documents, targets, lost)) < len(novelties) / 4


def follower(instruction: str, ratings: dict[str, int]) -> dict[str, int]:
    """As the instruction's example says it of the first two."""
    shown = re.search(r'such as "([^"]+)"', instruction)
    example = dict(pair.split(":") for pair in shown[1].split()) if shown else {}
    return ratings | {number: int(rating) for number, rating in example.items() if number in ratings}


def constant(instruction: str, ratings: dict[str, int]) -> dict[str, int]:
    """One higher where the instruction is the long one."""
    is_long = "harbour village" in instruction
    return {number: min(4, rating + is_long) for number, rating in ratings.items()}


def blind(instruction: str, ratings: dict[str, int]) -> dict[str, int]:
    """The same of everything where the instruction is the terse one."""
    return dict.fromkeys(ratings, 2) if instruction.startswith("Rate how alike") else ratings


@pytest.mark.anyio
@pytest.mark.parametrize("fault", [follower, constant, blind])
async def test_a_graders_known_fault_shows_in_its_wording(
    fault: Callable[[str, dict[str, int]], dict[str, int]], starter: Population
) -> None:
    record, documents = starter_record(), [starter.documents(prompt)[0] for prompt in starter.prompts[:2]]

    def reply(request: str) -> str:
        data = unfenced(request)
        pairs = {n: record.rating(data["question"], data["answer"], other) for n, other in data["others"].items()}
        return " ".join(f"{n}:{rating}" for n, rating in fault(request.split(OPEN)[0], pairs).items())

    model, reader = Script(reply).model(), starter.readers[0]
    targets = targets_of(starter, reader, documents)
    several = Instrument("list", templates=",".join(WORDINGS), cache=False).wordings
    raters = [Rater(str(each.templates), each.reader_and_judge(model)[1], 50, swaps=False) for each in several]
    rated = {rater.name: await judge_ratings(rater, targets) for rater in raters}
    novelties = {name: rated_novelties(starter, reader, documents, targets, own) for name, own in rated.items()}
    questions = [question for prompt in starter.prompts for question in starter.questions(prompt)]
    alphas = rating_alphas(targets, list(rated.values()))
    rows = stability("judge", novelties, questions, {}, [feature.name for feature in starter.features], alphas)
    whole = rows[-1]
    moved = {name for name in WORDINGS if whole.means[name] != whole.means[ORIGINAL]}
    expected = {"follower": {"editor", "full", "reordered"}, "constant": {"full"}, "blind": {"terse"}}
    assert moved == expected[fault.__name__]
    assert whole.document_moves > 0.005
    assert whole.alpha < 1
    if fault is constant:
        assert whole.means["full"] < whole.means[ORIGINAL] - 0.1
        assert whole.wording > 5 * whole.interaction
