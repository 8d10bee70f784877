import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports.made_logs import scored

from genie_inspect.logs.evidence import NOTHING, Evidence, RatingRange, count, evidence_of, number, together
from genie_inspect.logs.scores import LEFT_OUT, Scores, scores_of

NAN = math.nan
KNOWN = (
    "coverage",
    "pairs",
    "faults",
    "ratings",
    "documents",
    "few_answers",
    "repeated",
    "position_bias",
    "length",
    "signature",
)


def test_a_scores_evidence_is_read_key_by_key() -> None:
    found = evidence_of(
        {
            "coverage": {"plot": "2/3"},
            "pairs": {"plot": "20/36"},
            "faults": {"unreadable": 2},
            "ratings": {"count": 20, "lowest": 1.0, "highest": 4.0},
            "documents": 12,
            "few_answers": "1/2",
            "repeated": "3/14",
            "position_bias": -0.5,
        }
    )
    assert found == Evidence(
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


def test_one_odd_share_does_not_hide_the_others() -> None:
    assert evidence_of({"coverage": {"plot": "2/3", "style": "none"}}).coverage == {"plot": (2, 3)}


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


def test_what_is_no_finite_number_is_none() -> None:
    assert [number(given) for given in (0, 2.5, True)] == [0, 2.5, 1]
    assert all(math.isnan(number(given)) for given in (None, "1", NAN, math.inf, -math.inf, 10**400, [1]))


def test_an_infinite_score_is_no_score() -> None:
    assert scores_of("a", scored({"a": math.inf, "b": -math.inf})).is_unscored


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
    # a document that was compared with none was not compared
    assert together([Evidence(documents=0), Evidence(documents=1)]).documents == 1


def test_faults_come_with_the_most_frequent_first() -> None:
    assert list(together([Evidence(faults={"rare": 1}), Evidence(faults={"common": 5})]).faults) == ["common", "rare"]


def test_a_document_that_is_left_out_has_neither_values_nor_evidence() -> None:
    given = Scores({"plot": 0.5, "style": NAN}, evidence=Evidence(pairs={"plot": (1, 2)}), population_words=200)
    found = given.left_out()
    assert found.is_unscored
    assert (list(found.values), found.reason, found.evidence) == (["plot", "style"], LEFT_OUT, NOTHING)
    assert found.population_words == 200
    assert Scores({"plot": NAN}, "refusal").left_out().reason == "refusal"


@pytest.mark.parametrize(("given", "counted"), [(0, 0), (3, 3), (-1, None), (True, None), (2.0, None), ("3", None)])
def test_a_count_is_a_whole_number_from_nought(given: object, counted: int | None) -> None:
    assert count(given) == counted


def test_spreads_are_pooled_over_documents_and_what_is_none_is_left_out() -> None:
    facts: list[dict[str, Any]] = [
        {"spread": {"plot": {"sd": 0.2, "degrees": 1}, "style": {"sd": 0.3, "degrees": 0}}},
        {"spread": {"plot": {"sd": 0.4, "degrees": 3}, "style": {"sd": -0.1, "degrees": 2}, "agent": "0.3"}},
        {"spread": ["plot"]},
    ]
    # (1 * 0.04 + 3 * 0.16) / 4 = 0.13
    spread = together([evidence_of(one) for one in facts]).spread
    assert list(spread) == ["plot"]
    assert (spread["plot"].variance, spread["plot"].degrees) == pytest.approx((0.13, 4))
