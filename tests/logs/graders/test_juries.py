import math
from pathlib import Path
from typing import Any

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.graders.juries import agreement, part_of, parts_of
from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.results import Results, results_of

NAN = math.nan


def part(*questions: float | None, value: float | None = 0.5, **rests_on: Any) -> dict[str, Any]:
    """What a score says of one grader, of the feature plot."""
    return {"novelty": {"plot": value}, "questions": {"plot": list(questions)}, **rests_on}


def alpha(*documents: dict[str, dict[str, Any]]) -> float:
    parts = [parts_of({"graders": graders}) for graders in documents]
    return agreement(parts, ["plot"])["plot"]


def results(folder: Path, *documents: dict[str, dict[str, Any]]) -> Results:
    samples = [{"genie": scored({"plot": 0.5}, graders=graders)} for graders in documents]
    return results_of(read_scored_log(made_log(folder, samples)), "genie")


def test_alpha_is_over_the_questions_of_all_documents() -> None:
    # one and two: 0, 0 | 1, 1 | 0, 1; observed 2 of 6 ordered pairs differ, by chance 2 * 3 * 3 / (6 * 5) = 3/5
    one = {"one": part(0.0, 1.0), "two": part(0.0, 1.0)}
    two = {"one": part(0.0), "two": part(1.0)}
    assert alpha(one, two) == pytest.approx(1 - (1 / 3) / (3 / 5))


def test_alpha_holds_near_novelties_for_less_apart_than_far_ones() -> None:
    near = alpha({"one": part(0.0, 0.5, 1.0), "two": part(0.1, 0.6, 0.9)})
    far = alpha({"one": part(0.0, 0.5, 1.0), "two": part(0.4, 0.1, 0.6)})
    assert near > 0.9 > far


@pytest.mark.parametrize(
    "documents",
    [
        [],
        [{}],
        [{"one": part(0.0, 1.0)}],
        [{"one": part(0.2), "two": part(0.9)}],
        [{"one": part(0.2, 0.3), "two": part(0.9, None)}],
        [{"one": part(0.5, 0.5), "two": part(0.5, 0.5)}],
    ],
)
def test_alpha_is_undefined_with_less_than_two_questions_in_common_or_one_novelty(
    documents: list[dict[str, dict[str, Any]]],
) -> None:
    assert math.isnan(alpha(*documents))


def test_a_grader_that_is_missing_in_a_document_takes_no_part_there() -> None:
    whole = {"one": part(0.0, 1.0), "two": part(0.0, 1.0)}
    assert alpha(whole, {"one": part(0.7, 0.2)}) == alpha(whole) == 1
    assert alpha(whole, {"one": part(0.7, 0.2), "two": part(None, None, value=None)}) == 1


@pytest.mark.parametrize("facts", [{}, {"graders": 3}, {"graders": []}, {"graders": None}])
def test_what_stands_there_in_another_form_is_no_jury(facts: dict[str, Any]) -> None:
    assert parts_of(facts) == {}


def test_a_part_in_another_form_counts_as_missing() -> None:
    read = part_of({"novelty": {"plot": "high"}, "questions": {"plot": "0.5", "style": [0.5, "x", True]}})
    assert math.isnan(read.values["plot"])
    assert list(read.questions) == ["style"]
    assert read.questions["style"][0] == 0.5
    assert math.isnan(read.questions["style"][1])


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


def test_a_jury_of_one_mind_is_nothing_to_beware_of_and_one_grader_no_jury(tmp_path: Path) -> None:
    agreed = {"a": part(0.0, 1.0), "b": part(0.0, 1.0)}
    assert results(tmp_path / "jury", agreed).warnings == []
    alone = results(tmp_path / "alone", {})
    assert (alone.graders, alone.agreement, alone.warnings) == ({}, {}, [])
