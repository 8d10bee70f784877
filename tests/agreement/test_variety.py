"""How alike a run's own documents are, by a judge."""

import math
from pathlib import Path
from typing import Any

import pytest
from tests.cli.called import as_json, genie
from tests.reports.made_logs import GENIE, made_log, scored
from tests.reports.test_repeats import ENDS, answered, written
from tests.scripted import OWL, small_population

from genie_inspect.agreement.raters import Ratings
from genie_inspect.agreement.variety import answer_targets, variety, why_none
from genie_inspect.graders.embedding_judge import EmbeddingJudge
from genie_inspect.populations.schema import AnswerRow, document_id, question_id
from genie_inspect.reports.repeats import repeats


def test_similarity_is_the_mean_over_pairs_of_documents(tmp_path: Path) -> None:
    (own,) = repeats([written(tmp_path, ("a", "x"), ("a", "y"), ("b", "z"), ("c", ""))])
    targets = answer_targets(own)
    said = {"ab": 4.0, "ac": 1.0, "bc": math.nan, "xy": 2.5, "xz": 1.0, "yz": 1.0}
    pairs = ["".join(sorted((target.answer, other))) for target in targets for other in target.others]
    assert sorted(pairs) == sorted(said)
    found = variety(own, targets, Ratings("judge", "by(hand)", tuple(said[each] for each in pairs)))
    assert (found.judge, found.pairs, found.unusable) == ("by(hand)", 6, 1)
    # happens: a and a 1, twice a and b 1, twice a and c 0, b and c unknown: 3 of 5; ends: 1/2, 0, 0: 1/6
    assert found.features["plot"][0].mean == pytest.approx((3 / 5 + 1 / 6) / 2)
    assert math.isnan(found.features["plot"][1].mean)
    silent = variety(own, targets, Ratings("judge", "", (math.nan,) * 6))
    # two documents that say the same need no rating
    assert (silent.unusable, silent.features["plot"][0].mean) == (6, 1)
    assert why_none(own, "plot") == "no usable rating"


def test_the_populations_similarity_is_that_of_its_own_documents(tmp_path: Path) -> None:
    texts = ("One owl.", "Two owls.", "Three owls.")
    answers = [
        AnswerRow(document=document_id(OWL, text), question=question_id(OWL, ENDS), reader="a", text=answer)
        for text, answer in zip(texts, "ppq", strict=True)
    ]
    population = small_population(tmp_path / "population", {OWL: texts}, answers=answers)
    (own,) = repeats(
        [made_log(tmp_path, [answered((ENDS, "x")), answered((ENDS, "y"))], prompts=[OWL] * 2)], population
    )
    targets = answer_targets(own)
    # p and q, x and y; two of the population's three pairs are p and q
    assert [(target.answer, target.others) for target in targets] == [("x", ("y",)), ("p", ("q",))]
    here, there = variety(own, targets, Ratings("judge", "", (1.0, 2.5))).features["plot"]
    assert (here.mean, there.mean) == pytest.approx((0, (1 + 2 * 0.5) / 3))


def test_each_pair_is_rated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[tuple[str, int]] = []
    rate = EmbeddingJudge.rate

    async def counted(self: EmbeddingJudge, question: Any, answer: Any, others: Any) -> Any:
        pairs.append((answer.text, len(others)))
        return await rate(self, question, answer, others)

    monkeypatch.setattr(EmbeddingJudge, "rate", counted)
    genie("summary", written(tmp_path, ("a", "x"), ("b", "x"), ("c", "x")), "--variety")
    # a with b and c, b with c; not again with the sides swapped
    assert sorted(pairs) == [("a", 2), ("b", 1)]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--judge", "list"), "judge=list asks a model. Name it with --grader PROVIDER/MODEL"),
        (("--judge", "offline"), "judge is 'offline', expected one of list, sheet, pairwise, logit, embedding"),
        (("--grader", "bundled/grader"), "--grader needs --judge list"),
    ],
)
def test_a_judge_that_cannot_rate_is_refused_with_what_would_work(
    tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    file = written(tmp_path, ("a", "x"), ("b", "x"))
    result = genie("repeats", file, "--population", "none", *options)
    assert result.exit_code > 0
    assert why in result.stderr


def test_the_summary_shows_it_below_each_mean_and_says_that_these_are_two_numbers(tmp_path: Path) -> None:
    file = written(tmp_path, ("a blue owl", "it ends well"), ("a blue owl", "all is lost"), ("rain", "all is lost"))
    (value,) = as_json("repeats", file, "--population", "none", "--judge", "embedding")
    expected = value["similarity"]["features"]["plot"]["own"]["mean"]
    (table,) = as_json("summary", file, "--variety")
    within = table["columns"][0]["similarity_within"]
    assert within["judge"] == value["similarity"]["judge"]
    assert (within["pairs"], within["unusable"]) == (2, 0)
    assert within["features"]["plot"]["mean"] == pytest.approx(expected)
    assert within["features"]["plot"]["reason"] is None
    said = " ".join(genie("summary", file, "--variety").stdout.split())
    assert f"similarity {expected:.2f}" in said
    assert "Novelty against others and variety within are two numbers" in said
    assert "similarity" not in genie("summary", file).stdout.lower()
    assert "similarity_within" not in as_json("summary", file)[0]["columns"][0]


@pytest.mark.parametrize(
    ("answers", "prompts", "why"),
    [
        (("a", "b"), (OWL, "Another."), "one document per prompt, expected two or more, as --epochs 2 writes"),
        (("a", ""), (OWL, OWL), "no two documents for a prompt answer the same question"),
        (("", ""), (OWL, OWL), "its scores keep no answers"),
    ],
)
def test_where_there_is_no_pair_the_summary_says_why_and_gives_no_number(
    tmp_path: Path, answers: tuple[str, ...], prompts: tuple[str, ...], why: str
) -> None:
    file = made_log(tmp_path, [answered((ENDS, answer)) for answer in answers], prompts=prompts)
    (table,) = as_json("summary", file, "--variety")
    plot = table["columns"][0]["similarity_within"]["features"]["plot"]
    assert (plot["mean"], plot["low"], plot["values"], plot["reason"]) == (None, None, 0, why)
    said = " ".join(genie("summary", file, "--variety").stdout.split())
    assert "similarity not measured" in said
    assert f"No similarity in mock/writer (plot): {why}." in said


def test_each_scorer_has_the_similarity_of_the_answers_that_it_keeps(tmp_path: Path) -> None:
    again = [answered((ENDS, text), signature=GENIE.replace("test", "other")) for text in ("x", "all is lost")]
    samples = [answered((ENDS, "x")) | {"genie1": own["genie"]} for own in again]
    file = made_log(tmp_path, samples, prompts=[OWL] * 2, texts=["one", "two"])
    by_scorer = {
        table["scorer"]: table["columns"][0]["similarity_within"]["features"]["plot"]["mean"]
        for table in as_json("summary", file, "--variety")
    }
    assert by_scorer["genie"] == 1
    assert by_scorer["genie1"] < 1


def test_variety_without_a_score_by_genie_is_refused(tmp_path: Path) -> None:
    file = made_log(tmp_path, [{"cosine": scored({"cosine_mean": 0.4}, GENIE.replace("genie", "cosine"))}])
    result = genie("summary", file, "--variety")
    assert result.exit_code == 1
    assert "--variety compares the answers that scores by genie keep" in result.stderr
