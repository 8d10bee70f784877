"""What a part of the page knows of its measure, and the runs of unlike length."""

import math
from pathlib import Path

import pytest
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.figures import short_names
from genie_inspect.reports.page import Part, unlike_lengths
from genie_inspect.reports.report import Range, build_report
from genie_inspect.tasks.novelty import score_view

NAN = math.nan
TTCW = "measure:ttcw|rubric:ttcw@0|version:0"
NO_VIEW = score_view("made", {}, {})


def part(*files: str) -> Part:
    """The first measure of a report on these logs."""
    return Part(build_report(files).measures[0], [], [], [])


def test_a_key_is_covered_where_one_run_says_so_and_a_run_without_the_measure_says_nothing(tmp_path: Path) -> None:
    silent = made_log(tmp_path, [{"genie": scored({"plot": 0.5, "style": 0.5})}], model="m/silent")
    told = made_log(tmp_path, [{"genie": scored({"plot": 0.5, "style": 0.5}, coverage={"plot": "1/2"})}], model="m/b")
    other = made_log(tmp_path, [{"cosine": scored({"cosine_mean": 0.5}, "measure:cosine|version:0")}], model="m/c")
    assert part(silent, told, other).covered == ["plot"]
    assert part(silent).covered == []


def test_a_measure_is_from_0_to_1_where_all_its_keys_are(tmp_path: Path) -> None:
    signature = "measure:cosine|version:0"
    for keys, is_unit in ((("a", "b"), True), (("a", "c"), False)):
        view = score_view("made", {"cosine": keys}, {"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 2.0)})
        file = made_log(tmp_path, [{"cosine": scored(dict.fromkeys(keys, 0.5), signature)}], viewer=view)
        assert part(file).measure.is_unit == is_unit


def test_values_that_could_not_be_measured_are_among_nothing(tmp_path: Path) -> None:
    samples = [{"genie": scored({"plot": plot, "style": 0.5})} for plot in (0.2, NAN, 0.4)]
    report = build_report([made_log(tmp_path, samples)])
    measure = report.measures[0]
    assert measure.values(report.runs[0], "plot") == [0.2, 0.4]
    assert measure.rows[0]["plot"].spread.median == pytest.approx(0.3)


def test_a_count_of_which_nobody_says_where_it_ends_goes_as_far_as_it_was_seen(tmp_path: Path) -> None:
    samples = [{"ttcw": scored({"ttcw_total": 3.0}, TTCW)}]
    (seen,) = part(made_log(tmp_path / "open", samples, viewer=NO_VIEW)).measure.ranges.values()
    assert seen == Range(3, 3, known=False)
    said = [{"ttcw": scored({"ttcw_total": 3.0}, TTCW, coverage={"ttcw_total": "14/14"})}]
    (known,) = part(made_log(tmp_path / "said", said, viewer=NO_VIEW)).measure.ranges.values()
    assert known == Range(0, 14, known=True)


@pytest.mark.parametrize(
    ("words", "named"),
    [((1, 2), ("m/0", "m/1")), ((2, 3), None), ((3, 2), None), ((40, 9, 20), ("m/1", "m/0")), ((0, 5), None)],
)
def test_the_shortest_and_the_longest_run_are_named_beyond_one_and_a_half_times(
    words: tuple[int, ...], named: tuple[str, str] | None, tmp_path: Path
) -> None:
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": 0.5})}], model=f"m/{number}", texts=["word " * count])
        for number, count in enumerate(words)
    ]
    found = unlike_lengths(build_report(files))
    assert (found and (found[0], found[2])) == named


def test_a_name_that_fills_the_room_is_whole_and_a_longer_one_keeps_its_end() -> None:
    assert short_names(["abcdefgh", "abcdefghi"], 8) == {"abcdefgh": "abcdefgh", "abcdefghi": "ab…efghi"}
    # the same two letters and the same five: both whole
    alike = ["abXefghi", "abYefghi", "abcdefghij"]
    assert short_names(alike[:2], 7) == {name: name for name in alike[:2]}


def test_where_one_key_falls_among_the_populations_own_is_shown_and_what_could_all_not_be_used_is_covered(
    tmp_path: Path,
) -> None:
    own = {"plot": {"percentile": 75.0, "mean": 0.4, "low": 0.3, "high": 0.6}}
    score = scored({"plot": 0.5, "style": NAN}, standing=own, coverage={"style": "0/2"})
    found = part(made_log(tmp_path, [{"genie": score}]))
    assert (found.has_standing, found.covered) == (True, ["style"])


@pytest.mark.parametrize(
    ("ends", "is_unit"),
    [((0, 1, True), True), ((0, 1, False), False), ((-1, 1, True), False), ((0, 2, True), False)],
)
def test_a_range_is_from_0_to_1_where_that_is_known(ends: tuple[float, float, bool], is_unit: bool) -> None:
    assert Range(ends[0], ends[1], known=ends[2]).is_unit == is_unit
