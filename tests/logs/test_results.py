import math
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.logs.reading import read_scored_log
from genie_inspect.logs.results import results_of
from genie_inspect.logs.scored_log import NO_SCORE
from genie_inspect.statistics.descriptive.standing import Standing
from genie_inspect.tasks.views import score_view

NAN = math.nan


def test_a_cell_is_the_mean_over_prompts_and_ends_where_the_values_do(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": value})} for value in (1.0, 0.9, 0.8, 0.95)]
    cell = results_of(read_scored_log(made_log(tmp_path, samples, prompts=["a", "a", "a", "b"])), "genie").cells["plot"]
    # prompt means 0.9 and 0.95; error 0.025, t with one degree of freedom 12.706: 0.925 +- 0.318 would end beyond 1
    assert 0 < cell.low < 0.925 - 0.318 < 0.925 == pytest.approx(cell.mean)
    assert 0.99 < cell.high <= 1


def test_where_no_view_gives_a_range_the_measure_does(tmp_path: Path) -> None:
    signature, empty = "measure:creativity_index|version:0", score_view("made", {}, {})
    samples = [{"c": scored({"creativity_index_mean": value}, signature)} for value in (0.9, 1.0, 1.0)]
    log = read_scored_log(made_log(tmp_path, samples, viewer=empty))
    assert results_of(log, "c").cells["creativity_index_mean"].high <= 1


def test_a_count_of_tests_ends_at_how_many_there_are(tmp_path: Path) -> None:
    # scored under another task: no view says how many tests the rubric has, but every score does
    signature, empty = "measure:ttcw|rubric:ttcw@0|version:0", score_view("made", {}, {})
    samples = [{"t": scored({"ttcw_total": v}, signature, coverage={"ttcw_total": "14/14"})} for v in (10.0, 14.0)]
    cell = results_of(read_scored_log(made_log(tmp_path, samples, viewer=empty)), "t").cells["ttcw_total"]
    assert (cell.low, cell.high) == pytest.approx((0, 14), abs=0.1)
    assert cell.high <= 14


def test_every_document_is_scored_or_has_its_reason(tmp_path: Path) -> None:
    silent = {"genie": scored({"plot": NAN, "style": NAN}, reason="no_response")}
    half = {"genie": scored({"plot": NAN, "style": 0.5})}
    found = results_of(read_scored_log(made_log(tmp_path, [silent, half, {}, silent])), "genie")
    assert found.unscored == {"no_response": 2, NO_SCORE: 1}
    assert (found.documents, found.scored) == (4, 1)
    assert (found.cells["style"].values, found.cells["plot"].values) == (1, 0)


def test_shares_are_added_up_over_documents_and_every_key_has_one(tmp_path: Path) -> None:
    samples = [
        {"genie": scored({"plot": 0.5, "style": 0.5}, coverage={"plot": "1/2"}, pairs={"plot": "5/24"})},
        {"genie": scored({"plot": 0.5, "style": 0.5}, coverage={"plot": "2/2"}, pairs={"plot": "9/24"})},
    ]
    found = results_of(read_scored_log(made_log(tmp_path, samples)), "genie")
    assert found.coverage == {"plot": (3, 4), "style": (0, 0)}
    assert found.pairs == {"plot": (14, 48), "style": (0, 0)}
    assert [line.split(":")[0] for line in found.warnings] == [
        "fewer than half of the ratings that were due could be used",
        "not every question or test could be used",
    ]


def test_refusals_are_counted_whoever_says_so(tmp_path: Path) -> None:
    refused = {"genie": scored({"plot": NAN}, reason="refusal"), "cosine": scored(0.5, "measure:cosine|version:0")}
    log = read_scored_log(made_log(tmp_path, [refused, {"genie": scored({"plot": 0.5})}]))
    assert results_of(log, "genie").refusals == results_of(log, "cosine").refusals == 1


def test_a_grader_that_never_varies_is_found_over_all_documents_not_one(tmp_path: Path) -> None:
    def log(*highest: float) -> str:
        facts = [{"count": 6, "lowest": 4.0, "highest": high} for high in highest]
        return made_log(tmp_path, [{"genie": scored({"plot": 0.0}, ratings=own)} for own in facts])

    assert "every pair the same rating (4)" in results_of(read_scored_log(log(4.0, 4.0)), "genie").warnings[0]
    assert not results_of(read_scored_log(log(4.0, 5.0)), "genie").warnings
    assert not results_of(read_scored_log(log(4.0)), "genie").warnings


QUARTER, HALF = ({"percentile": p, "mean": 0.5, "low": 0.25, "high": 0.75} for p in (25.0, 50.0))


def test_values_stand_among_the_populations_own_where_that_is_known_of_each(tmp_path: Path) -> None:
    samples = [
        {"genie": scored({"plot": 0.4, "style": 0.1}, yardstick={"plot": QUARTER})},
        {"genie": scored({"plot": 0.6, "style": 0.2}, yardstick={"plot": HALF, "style": HALF})},
        # without a value there is nothing that could stand anywhere
        {"genie": scored({"plot": NAN, "style": 0.3})},
    ]
    found = results_of(read_scored_log(made_log(tmp_path, samples)), "genie")
    assert found.standing == {"plot": Standing(37.5, 0.5, 0.25, 0.75)}
    assert found.nearest == {}


def test_how_near_the_nearest_comes_is_a_mean_over_prompts_that_ends_where_values_do(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": 0.5}, nearest_novelty={"plot": near})} for near in (0.0, 0.1, None)]
    near = results_of(read_scored_log(made_log(tmp_path, samples)), "genie").nearest["plot"]
    assert (near.mean, near.low, near.values) == pytest.approx((0.05, 0.0, 2))
    assert near.low >= 0
