"""Cutoffs, ways of asking, totals and words by writer, from verdicts that are there."""

import json
import math
from pathlib import Path
from zlib import crc32

import pytest
from tests.looks import rows, told_by
from tests.reports.made_logs import made_log, scored
from tests.scripted import Script
from tests.tasks.test_ttcw_stories import STORIES, run

from genie_inspect.agreement.figures import Ranking
from genie_inspect.agreement.machine_scores import JudgedStory, read_scores
from genie_inspect.agreement.votes import VotedStory, VotesError
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.populations.stories import ReferenceStory
from genie_inspect.prompting.replies import labels
from genie_inspect.statistics.bootstrap import BootstrapInterval
from genie_inspect.studies.ttcw.verdicts import (
    CutoffCurve,
    CutoffPoint,
    asked_ways,
    at_cutoff,
    cutoff_chart,
    cutoff_curves,
    story_words,
    writer_totals,
)

LABELS = labels(5)
SIGNATURE = "measure:ttcw|judge:critic(m/x@12ab,template=34cd)|levels:5|analyse:true|reference:true|cutoff:-2"


def story(name: str, *points: float, signature: str = SIGNATURE) -> JudgedStory:
    by_test = {f"{place:02d}": value for place, value in enumerate(points, start=1)}
    return JudgedStory(name, math.nan, {}, by_test, signature=signature)


def votes(name: str, *results: float) -> VotedStory:
    return VotedStory(name, {"ann": {f"{place:02d}": value for place, value in enumerate(results, start=1)}})


def test_a_test_passes_from_the_cutoff_on_and_what_was_not_judged_counts_nowhere() -> None:
    counted = at_cutoff(story("1_a", -3, -2, 4, math.nan), -2)
    assert counted.score == 2
    assert [counted.tests[test] for test in ("01", "02", "03")] == [0, 1, 1]
    assert math.isnan(counted.tests["04"])


def test_a_scale_is_swept_from_its_lowest_cutoff_to_0_and_ranked_as_people_rank_at_each() -> None:
    # points of 1_a, 1_b: with -3 both pass all, with -2 1_b passes 1 and 1_a 2, with 0 1_b passes 1 and 1_a 0
    judged = {"m": {one.story: one for one in (story("1_a", -2, -1), story("1_b", -3, 4))}}
    (curve,) = cutoff_curves(judged, [votes("1_a", 1, 1), votes("1_b", 0, 0)], resamples=10)
    assert [(point.cutoff, point.total) for point in curve.points] == [(-3, 2), (-2, 1.5), (-1, 1), (0, 0.5)]
    rho = [point.rankings["spearman"].mean.value for point in curve.points]
    assert math.isnan(rho[0])
    assert math.isnan(rho[2])
    assert (rho[1], rho[3]) == pytest.approx((1, -1))
    assert curve.cutoff == -2


def test_the_picture_has_an_interval_at_each_cutoff_from_its_lower_end_to_its_upper() -> None:
    pytest.importorskip("altair", reason="needs the extra `charts`")
    spearman = Ranking(BootstrapInterval(0.5, 0.25, 0.75, 0), 0, {"1": 0.5})
    points = [CutoffPoint(-1, 2.0, {"spearman": spearman}), CutoffPoint(0, 1.5, {"spearman": spearman})]
    spec = cutoff_chart([CutoffCurve("m", -1, 3, points)], "spearman", "rho").to_dict()
    (panel,) = spec["vconcat"]
    assert [told_by(panel, layer) for layer in (0, 1)] == [
        {"x": "cutoff", "y": "low", "y2": "high"},
        {"x": "cutoff", "y": "value"},
    ]
    for layer in (0, 1):
        assert rows(spec | panel, layer) == [
            {"cutoff": cutoff, "value": 0.5, "low": 0.25, "high": 0.75} for cutoff in (-1, 0)
        ]
    assert {one["encoding"]["y"]["title"] for one in panel["layer"]} == {"rho"}


@pytest.mark.parametrize(("levels", "expected"), [(3, [-1, 0]), (7, [-5, -4, -3, -2, -1, 0])])
def test_each_scale_has_its_own_cutoffs(levels: int, expected: list[int]) -> None:
    one = story("1_a", 0, signature=SIGNATURE.replace("levels:5", f"levels:{levels}"))
    (curve,) = cutoff_curves({"m": {"1_a": one}})
    assert [point.cutoff for point in curve.points] == expected


def test_a_cutoff_outside_of_the_scale_and_scores_without_points_are_refused() -> None:
    with pytest.raises(UnknownChoiceError, match="cutoff is 5, expected -3 to 4"):
        cutoff_curves({"m": {"1_a": story("1_a", 0)}}, cutoffs=[5])
    with pytest.raises(VotesError, match="no score has points"):
        cutoff_curves({"m": {"1_a": JudgedStory("1_a", 3, {"01": 1})}})
    with pytest.raises(VotesError, match="'1_b' has no points"):
        cutoff_curves({"m": {"1_a": story("1_a", 0), "1_b": JudgedStory("1_b", 3, {})}})


def test_a_sweep_over_a_log_asks_nothing_and_equals_a_run_at_each_cutoff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def verdict(request: str) -> str:
        # another in each order, so that scores of all sizes come about
        return LABELS[crc32(request.encode()) % 5]

    critic = Script(verdict)
    run(critic, ways="both")
    asked = len(critic.requests)
    (curve,) = cutoff_curves(read_scores([Path("logs")]))
    swept = {point.cutoff: point.total for point in curve.points}
    assert len(critic.requests) == asked
    assert len(set(swept.values())) > 2
    for cutoff, total in swept.items():
        log = run(critic, ways="both", cutoff=cutoff)
        assert log.results
        assert log.results.scores[0].metrics["mean"].value == pytest.approx(total)


def test_a_way_has_its_mean_by_writer_and_counts_what_was_not_judged() -> None:
    judged = {
        name: JudgedStory(name, score, {}, signature=SIGNATURE)
        for name, score in {"1_a": 4.0, "2_a": 6.0, "1_b": math.nan}.items()
    }
    (row,) = asked_ways({"m": judged})
    assert (row.judge, row.way, row.cutoff) == ("m/x", "reference, analyse then rate", "-2")
    assert (row.stories, row.not_judged, row.total) == (3, 1, 5)
    assert row.by_writer["a"] == 5
    assert math.isnan(row.by_writer["b"])


def test_totals_by_writer_are_those_of_most_people_and_of_each_judge() -> None:
    people = [votes("1_a", 1, 1), votes("2_a", 1, 0), votes("1_b", 0, 0)]
    machine = {"m": {"1_a": JudgedStory("1_a", 2, {}), "1_b": JudgedStory("1_b", math.nan, {})}}
    rows = writer_totals(machine, people)
    assert [(row.judge, row.writer, row.totals) for row in rows] == [
        ("people", "a", [2, 1]),
        ("people", "b", [0]),
        ("m", "a", [2]),
        ("m", "b", []),
    ]
    assert (rows[0].mean, rows[0].stories) == (1.5, {1: 1, 2: 1})
    assert math.isnan(rows[3].mean)


def test_numbers_and_nothing_are_no_totals() -> None:
    with pytest.raises(VotesError, match="votes are numbers"):
        writer_totals({}, [votes("1_a", 7)])
    with pytest.raises(VotesError, match="nothing to count"):
        writer_totals({})


def test_words_are_those_of_stories_and_of_what_they_are_held_against_each_once() -> None:
    rows = [(row.plot, row.writer, row.words, row.is_reference) for row in story_words([STORIES])]
    assert rows == [
        *(("0", "plain", 7, False), ("0", "bold", 11, False), ("1", "plain", 6, False)),
        *(("0", "fine", 15, True), ("1", "reference", 12, True)),
    ]


def test_words_of_a_log_are_those_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(Script(lambda request: "[[YES]]"), ways="baseline")
    assert set(story_words([Path("logs")])) == set(story_words([STORIES]))


def test_references_are_found_by_title_for_words_too(tmp_path: Path) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text(json.dumps({"story": "0_a", "title": "Bees", "text": "Two words."}), encoding="utf-8")
    rows = story_words([path], [ReferenceStory("Bees", "", "Three fine words.")])
    assert [(row.writer, row.words) for row in rows] == [("a", 2), ("reference", 3)]


def test_a_log_without_points_of_tests_is_refused_and_names_the_story(tmp_path: Path) -> None:
    score = scored({"ttcw_total": 3.0}, SIGNATURE, judge="critic(m/x)", tests="90 tests: too many to keep here")
    with pytest.raises(VotesError, match="no score has points"):
        cutoff_curves(read_scores([Path(made_log(tmp_path, [{"ttcw": score}]))]))
