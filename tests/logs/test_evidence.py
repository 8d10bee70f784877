"""What a score says: its values, what they rest on, its marks; and what to beware of in them."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.scorer import Score, Value
from tests.reports.made_logs import made_log, scored

from genie_inspect.files.values import count, number
from genie_inspect.graders.close_reader import Mark
from genie_inspect.logs.evidence import (
    ENOUGH_RATINGS,
    NOTHING,
    Evidence,
    RatingRange,
    agreement,
    evidence_of,
    together,
    warnings,
)
from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.results import Results, results_of
from genie_inspect.logs.scores import (
    LEFT_OUT,
    NO_NUMBER,
    UNSAID,
    KeptExpression,
    Scores,
    expressions,
    readings,
    scores_of,
)
from genie_inspect.statistics.descriptive import Spread

NAN = math.nan
KNOWN = (
    *("coverage", "pairs", "faults", "ratings", "documents", "few_answers"),
    *("repeated", "position_bias", "length", "signature"),
)


def test_a_scores_evidence_is_read_key_by_key() -> None:
    facts: dict[str, Any] = {"coverage": {"plot": "2/3", "style": "none"}, "pairs": {"plot": "20/36"}}
    facts |= {"faults": {"unreadable": 2}, "ratings": {"count": 20, "lowest": 1.0, "highest": 4.0}, "documents": 12}
    facts |= {"few_answers": "1/2", "repeated": "3/14", "position_bias": -0.5}
    assert evidence_of(facts) == Evidence(
        coverage={"plot": (2, 3)},
        pairs={"plot": (20, 36)},
        faults={"unreadable": 2},
        ratings=RatingRange(20, 1.0, 4.0),
        documents=12,
        few_answers=(1, 2),
        repeated=(3, 14),
        position_bias=-0.5,
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        dict.fromkeys(KNOWN),
        dict.fromkeys(KNOWN, "x"),
        {name: [1] for name in KNOWN},
        {"coverage": {"plot": "x", "style": 3, "agent": "1/2/3", "setting": "-1/2", "form": None}},
        {"pairs": {"plot": "9" * 5000 + "/1"}, "faults": {"unreadable": "many", "unspecified": True, "other": 0}},
        {"ratings": {"count": 3, "lowest": "a", "highest": 4}, "documents": -1, "few_answers": "3"},
        {"ratings": {"count": 0, "lowest": 1, "highest": 4}, "documents": True, "position_bias": math.inf},
        {"ratings": {"count": 3, "lowest": 4, "highest": 1}},
    ],
)
def test_what_has_another_form_than_ours_is_taken_as_not_said(metadata: dict[str, Any]) -> None:
    assert evidence_of(metadata) == NOTHING


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("3/4"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(KNOWN), JSON), JSON)
def test_no_metadata_keeps_a_score_from_being_read(metadata: dict[str, Any], nested: Any) -> None:
    metadata.setdefault("length", {"population": nested, "matched": nested})
    score = scored({"plot": 0.5})
    score.metadata = metadata
    assert scores_of("genie", score).values == {"plot": 0.5}


def test_a_number_is_finite_and_a_count_whole_and_from_nought() -> None:
    assert [number(given) for given in (0, 2.5, True)] == [0, 2.5, 1]
    assert all(math.isnan(number(given)) for given in (None, "1", NAN, math.inf, -math.inf, 10**400, 1e13, -1e308, [1]))
    assert [count(given) for given in (0, 3, -1, True, 2.0, "3")] == [0, 3, None, None, None, None]
    found = [scores_of("a", scored(values)) for values in ({"a": math.inf, "b": -math.inf}, {"a": NAN})]
    assert [(score.is_unscored, score.reason) for score in found] == [(True, NO_NUMBER), (True, UNSAID)]


def test_together_counts_are_added_up_and_the_extremes_kept() -> None:
    found = together(
        [
            Evidence({"a": (1, 2)}, {"a": (3, 9)}, {"x": 1}, RatingRange(3, 2.0, 3.0), 12, (1, 4), 0.5),
            Evidence({"a": (2, 2), "b": (0, 1)}, {}, {"y": 2, "x": 1}, RatingRange(4, 1.0, 2.5), 11, (2, 3), -1.0),
            NOTHING,
        ]
    )
    assert found == Evidence(
        {"a": (3, 4), "b": (0, 1)}, {"a": (3, 9)}, {"x": 2, "y": 2}, RatingRange(7, 1.0, 3.0), 11, (3, 7), -0.25
    )
    assert together([]) == NOTHING
    assert list(together([Evidence(faults={"rare": 1}), Evidence(faults={"common": 5})]).faults) == ["common", "rare"]
    # a document that was compared with none was not compared
    assert together([Evidence(documents=0), Evidence(documents=1)]).documents == 1


def test_a_document_that_is_left_out_has_neither_values_nor_evidence() -> None:
    given = Scores({"plot": 0.5, "style": NAN}, evidence=Evidence(pairs={"plot": (1, 2)}), population_words=200)
    found = given.left_out()
    assert found.is_unscored
    assert (list(found.values), found.reason, found.evidence) == (["plot", "style"], LEFT_OUT, NOTHING)
    assert found.population_words == 200
    assert Scores({"plot": NAN}, "refusal").left_out().reason == "refusal"


def test_spreads_are_pooled_over_documents_and_what_is_none_is_left_out() -> None:
    facts: list[dict[str, Any]] = [
        {"spread": {"plot": {"sd": 0.2, "degrees": 1}, "style": {"sd": 0.3, "degrees": 0}}},
        {"spread": {"plot": {"sd": 0.4, "degrees": 3}, "style": {"sd": -0.1, "degrees": 2}, "agent": "0.3"}},
        {"spread": ["plot"]},
    ]
    # (1 * 0.04 + 3 * 0.16) / 4 = 0.13
    spread = together([evidence_of(one) for one in facts]).spread
    assert list(spread) == ["plot"]
    assert (spread["plot"].sd ** 2, spread["plot"].degrees) == pytest.approx((0.13, 4))


def part(*questions: float | None, value: float | None = 0.5, **rests_on: Any) -> dict[str, Any]:
    """What a score says of one grader, of the feature plot."""
    return {"novelty": {"plot": value}, "questions": {"plot": list(questions)}, **rests_on}


def alpha(*documents: dict[str, dict[str, Any]]) -> float:
    parts = [scores_of("genie", scored({}, graders=graders)).graders for graders in documents]
    return agreement(parts, ["plot"])["plot"]


def results(folder: Path, *documents: dict[str, dict[str, Any]]) -> Results:
    samples = [{"genie": scored({"plot": 0.5}, graders=graders)} for graders in documents]
    return results_of(read_scored_log(made_log(folder, samples)), "genie")


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        # one and two: 0, 0 | 1, 1 | 0, 1; observed 2 of 6 ordered pairs differ, by chance 2 * 3 * 3 / (6 * 5) = 3/5
        ([{"one": part(0.0, 1.0), "two": part(0.0, 1.0)}, {"one": part(0.0), "two": part(1.0)}], 1 - (1 / 3) / (3 / 5)),
        # undefined with less than two questions in common, or one novelty
        ([], NAN),
        ([{}], NAN),
        ([{"one": part(0.0, 1.0)}], NAN),
        ([{"one": part(0.2), "two": part(0.9)}], NAN),
        ([{"one": part(0.2, 0.3), "two": part(0.9, None)}], NAN),
        ([{"one": part(0.5, 0.5), "two": part(0.5, 0.5)}], NAN),
        # a grader that is missing in a document takes no part there
        ([{"one": part(0.0, 1.0), "two": part(0.0, 1.0)}, {"one": part(0.7, 0.2)}], 1),
        ([{"one": part(0, 1), "two": part(0, 1)}, {"one": part(0.7, 0.2), "two": part(None, None, value=None)}], 1),
    ],
)
def test_alpha_is_over_the_questions_of_all_documents(
    documents: list[dict[str, dict[str, Any]]], expected: float
) -> None:
    assert alpha(*documents) == pytest.approx(expected, nan_ok=True)


def test_alpha_holds_near_novelties_for_less_apart_than_far_ones() -> None:
    near = alpha({"one": part(0.0, 0.5, 1.0), "two": part(0.1, 0.6, 0.9)})
    assert near > 0.9 > alpha({"one": part(0.0, 0.5, 1.0), "two": part(0.4, 0.1, 0.6)})


def test_what_stands_there_in_another_form_is_no_jury_or_no_part() -> None:
    assert [scores_of("genie", scored({}, graders=odd)).graders for odd in (3, list[str](), None)] == [{}] * 3
    read = evidence_of({"novelty": {"plot": "high"}, "questions": {"plot": "0.5", "style": [0.5, "x", True]}})
    assert math.isnan(read.values["plot"])
    assert list(read.questions) == ["style"]
    assert read.questions["style"] == pytest.approx((0.5, NAN, 1), nan_ok=True)


def test_each_graders_mean_coverage_and_faults_are_in_the_results(tmp_path: Path) -> None:
    found = results(
        tmp_path,
        {"a": part(0.2, value=0.2, coverage={"plot": "1/2"}), "b": part(0.8, value=0.8, faults={"lost": 2})},
        {"a": part(0.4, value=0.4, coverage={"plot": "2/2"}), "b": part(None, value=None, faults={"lost": 1})},
    )
    assert found.graders["a"].cells["plot"].mean == pytest.approx(0.3)
    assert found.graders["b"].cells["plot"].mean == pytest.approx(0.8)
    assert found.graders["a"].coverage == {"plot": (3, 4)}
    assert found.graders["b"].faults == {"lost": 3}
    assert (found.graders["a"].documents, found.graders["b"].documents) == (2, 1)


def test_a_grader_that_lacks_documents_or_never_varies_and_agreement_by_chance_are_warned_of(tmp_path: Path) -> None:
    same = {"count": 9, "lowest": 4, "highest": 4}
    found = results(
        tmp_path,
        {"a": part(0.0, 1.0), "b": part(1.0, 0.0, ratings=same)},
        {"a": part(0.0, 1.0, value=None), "b": part(0.5, 0.5, ratings=same)},
    )
    assert [line.partition(":")[0] for line in found.warnings] == [
        "grader a did not measure every document that another grader did (plot 1 of 2)",
        "grader b gave every pair the same rating (4), which says nothing",
        "the graders agree no better than by chance (alpha)",
    ]
    assert found.warnings[2].endswith(f"plot {found.agreement['plot']:.2f}")
    # a jury of one mind is nothing to beware of, and one grader no jury
    agreed = {"a": part(0.0, 1.0), "b": part(0.0, 1.0)}
    assert results(tmp_path / "jury", agreed).warnings == []
    alone = results(tmp_path / "alone", {})
    assert (alone.graders, alone.agreement, alone.warnings) == ({}, {}, [])


NEAR = {"plot": Spread(0.02, 80), "style": Spread(0.01, 40)}
SAME = "the grader gave every pair the same rating ({:g}): these numbers say nothing about the documents\n"
HARDLY = "the grader's ratings of the answers to one question hardly differ (a standard deviation of 0.02 in "
REPEATS = (
    "90 of the reader's 560 answers say nothing but words of the question: it hardly reads, see genie check-reader\n"
)


@pytest.mark.parametrize(
    ("evidence", "begins"),
    [
        (NOTHING, ""),
        (Evidence(ratings=RatingRange(12, 4.0, 4.0)), SAME.format(4)),
        (Evidence(ratings=RatingRange(ENOUGH_RATINGS, 1.5, 1.5)), SAME.format(1.5)),
        # few may be alike by chance, and many may vary little
        (Evidence(ratings=RatingRange(ENOUGH_RATINGS - 1, 4.0, 4.0)), ""),
        (Evidence(ratings=RatingRange(1_000, 3.9, 4.0)), ""),
        (Evidence(documents=1), "there is a prompt for which the population has one document: "),
        (Evidence(documents=2), ""),
        (Evidence(few_answers=(3, 12)), "3 of 12 questions rest on fewer than three ratings: "),
        (Evidence(few_answers=(0, 12)), ""),
        (Evidence(spread=NEAR, ratings=RatingRange(140, 2.5, 3.1)), HARDLY),
        # the extremes alone would hide it: one rating in a hundred may be far off
        (Evidence(spread=NEAR, ratings=RatingRange(140, 1, 4)), HARDLY),
        (Evidence(spread={"plot": Spread(0.02, 80), "style": Spread(0.3, 40)}), ""),
        (Evidence(spread={"plot": Spread(0.02, 99)}), ""),
        # of ratings that are all the same one line is enough
        (Evidence(spread={"plot": Spread(0.0, 200)}, ratings=RatingRange(240, 3, 3)), SAME.format(3)),
        (Evidence(repeated=(90, 560)), REPEATS),
        (Evidence(repeated=(2, 20)), "2 of the reader's 20 answers"),
        # one in twenty may be an answer, and of few answers nothing is told
        (Evidence(repeated=(1, 20)), ""),
        (Evidence(repeated=(19, 19)), ""),
        # half is enough
        (
            Evidence(pairs={"social_atmosphere": (5, 12), "plot": (6, 12), "style": (0, 12), "form": (0, 0)}),
            "fewer than half of the expected ratings could be used: style 0 of 12, social atmosphere 5 of 12\n",
        ),
        (
            Evidence(coverage={"plot": (3, 4), "style": (0, 4), "agent": (4, 4), "form": (0, 0)}),
            "some means rest on fewer answers than were asked for (one per question and document): style 0 "
            "of 4, plot 3 of 4\n",
        ),
        (
            Evidence(coverage={f"test {number}": (number, 20) for number in range(9)}),
            "some means rest on fewer answers than were asked for (one per question and document): test 0 0 of "
            "20, test 1 1 of 20, test 2 2 of 20, "
            "test 3 3 of 20, test 4 4 of 20, test 5 5 of 20 and 3 more\n",
        ),
    ],
)
def test_what_to_beware_of_is_a_line_each(evidence: Evidence, begins: str) -> None:
    lines = warnings(evidence)
    assert len(lines) == bool(begins)
    assert "".join(f"{line}\n" for line in lines).startswith(begins)


MARK = {"aspect": "novel", "text": "salt light", "start": 0, "end": 10, "reason": "Light has a taste."}
KEPT = Mark("novel", "salt light", 0, 10, "Light has a taste.")
EXPRESSION = {"text": "salt light", "start": 0, "end": 10, "log_perplexity": 3.5, "novel_share": 0.25}


def score(value: Value, **metadata: object) -> Score:
    return Score(value=value, metadata=metadata)


def test_marks_come_with_the_aspects_that_have_a_value_also_where_several_measures_share_a_score() -> None:
    value: Value = {"novel_per_100_words": 0.0, "awkward_per_100_words": math.nan, "words": 3.0}
    own = score(value, marks=[MARK])
    shared = score(value, close_reading={"marks": [{key: MARK[key] for key in MARK if key != "reason"}]}, other=1)
    empty = score({"novel_per_100_words": math.nan}, marks=[])
    assert list(readings({"a": own, "b": shared, "c": empty, "d": score(0.5), "e": score(1, marks="none")})) == [
        ("a", [KEPT], frozenset({"novel"}), {}),
        ("b", [Mark("novel", "salt light", 0, 10)], frozenset({"novel"}), {}),
        ("c", [], frozenset(), {}),
    ]


def test_expressions_are_those_of_the_first_score_that_has_any_and_what_has_another_form_is_nothing() -> None:
    found = [KeptExpression("salt light", 0, 10, 3.5, 0.25)]
    scores = {"a": score(1), "b": score(1, expressions=[]), "c": score(1, expressions=[EXPRESSION])}
    assert expressions(scores) == found
    assert expressions({**scores, "d": score(1, expressions=[EXPRESSION] * 2)}) == found
    assert expressions({"a": score(1, expressions=[{"text": "salt"}])}) == []
    odd = score(1, marks=[MARK | {"start": "first"}], more={"marks": [MARK]})
    assert list(readings({"a": odd})) == list(readings({"a": Score(value=1)})) == []
