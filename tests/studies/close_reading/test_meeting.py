"""Where close reading meets n-gram novelty, on ratings that can be counted by hand."""

import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.scorer import Score
from tests.cli.called import genie
from tests.reports.made_logs import made_log, scored

from genie_inspect.studies.close_reading.meeting import MeetingError, Rating, logged_ratings, meeting

NOVELTIES = range(1, 9)  # of which 7 and 8 are the most novel quarter


def rating(log: float, *, novel: bool = False, awkward: bool = False, source: str = "a", cluster: int = 0) -> Rating:
    return Rating(source, cluster, log, log, novel=novel, awkward=awkward)


def test_the_quarter_is_counted_by_rating_and_by_expression() -> None:
    # two readers: of the expressions 7 and 8 one reader finds 8 novel, both find 7 awkward
    first = [rating(log, novel=log == 8, awkward=log == 7) for log in NOVELTIES]
    second = [rating(log, awkward=log == 7) for log in NOVELTIES]
    found = meeting([*first, *second], resamples=10)
    assert found.threshold == 6.25
    for shares, count, novel, neither in ((found.by_rating, 4, 0.25, 0.25), (found.by_expression, 2, 0.5, 0)):
        assert shares.count == count
        values = {name: share.value for name, share in shares.shares.items()}
        assert values == {"novel": novel, "awkward": 0.5, "neither": neither}
    # of 1 to 5 it begins at 4, which is not in it
    assert meeting([rating(log) for log in range(1, 6)], resamples=10).by_rating.count == 1
    # the novel ratings: 1 to 3 are below the mean, 1 and 2 in the lowest quarter
    found = meeting([rating(log, novel=log in (1, 2, 3, 8)) for log in NOVELTIES], resamples=10)
    assert (found.novel_below_mean, found.novel_in_lowest_quarter) == (0.75, 0.5)


def test_the_interval_of_a_share_is_over_what_each_resample_has_of_the_quarter() -> None:
    # of 1 to 12 the quarter is 10 to 12: two of one prompt, one of another, all novel whichever prompts are drawn
    found = meeting([rating(log, novel=log >= 10, cluster=log % 2) for log in range(1, 13)], resamples=50)
    for shares in (found.by_rating, found.by_expression):
        assert shares.count == 3
        share = shares.shares["novel"]
        assert (share.value, share.low, share.high) == (1, 1, 1)


def test_odds_are_over_those_of_the_baseline() -> None:
    # a: 1 of 4 novel, odds 1/3; b: 2 of 4, odds 1
    ours = [rating(log, novel=log == 1, cluster=log) for log in range(1, 5)]
    theirs = [rating(log, novel=log < 3, source="b", cluster=log) for log in range(1, 5)]
    found = meeting([*ours, *theirs], resamples=50)
    assert found.baseline == "a"
    assert found.sources["b"].odds["novel"].value == pytest.approx(3)
    assert math.isnan(found.sources["a"].odds["novel"].value)
    assert math.isnan(found.sources["b"].odds["awkward"].value), "nobody finds any awkward"
    assert meeting([*ours, *theirs], "b", 50).sources["a"].odds["novel"].value == pytest.approx(1 / 3)


def test_what_cannot_be_held_together_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(MeetingError, match="no rating, expected texts with both close_reading and expression_novelty"):
        meeting([])
    with pytest.raises(MeetingError, match="baseline is 'c', expected one of a"):
        meeting([rating(1)], "c")
    with pytest.raises(MeetingError, match="expected scores of close_reading and expression_novelty"):
        logged_ratings([made_log(tmp_path, [{"a": close_reading()}])])


EXPRESSIONS = [
    {"text": "the tide folded", "start": 0, "end": 15, "log_perplexity": 9.0, "novel_share": 1.0},
    {"text": "and went home", "start": 17, "end": 30, "log_perplexity": 2.0, "novel_share": 0.0},
]
TEXT = "The tide folded, and went home."


def close_reading(*marks: tuple[str, int, int], awkward: float = 0.0) -> Score:
    kept = [{"aspect": aspect, "text": TEXT[a:b], "start": a, "end": b, "reason": "So."} for aspect, a, b in marks]
    value = {"novel_per_100_words": 1.0, "awkward_per_100_words": awkward}
    return scored(value, "measure:close_reading|version:1-A", marks=kept)


def novelty(rows: Any = EXPRESSIONS) -> Score:
    return scored({"log_perplexity_mean": 5.5}, "measure:expression_novelty|version:1-A", expressions=rows)


def test_an_expression_has_the_verdicts_of_the_marks_of_each_reader_that_lie_on_it(tmp_path: Path) -> None:
    # the second reader's mark ends where an expression begins
    marks = {"first": [("novel", 9, 15), ("awkward", 12, 20)], "second": [("novel", 15, 17)]}
    readers = {name: close_reading(*own) for name, own in marks.items()}
    ratings, _ = logged_ratings([made_log(tmp_path, [{**readers, "b": novelty()}], texts=[TEXT])])
    assert [(one.novel, one.awkward) for one in ratings] == [(True, True), (False, True), *[(False, False)] * 2]
    assert len({one.expression for one in ratings}) == 2


def test_a_text_without_one_of_the_scores_or_an_aspect_is_left_out_and_counted(tmp_path: Path) -> None:
    samples = [
        {"a": close_reading(), "b": novelty()},
        {"a": close_reading()},
        {"b": novelty()},
        {"a": close_reading(awkward=math.nan), "b": novelty()},
        {"a": close_reading(), "b": novelty([{"text": "of another version"}])},
    ]
    ratings, left_out = logged_ratings([made_log(tmp_path, samples, texts=[TEXT] * 5)])
    assert (len(ratings), left_out) == (2, 4)


def test_a_picture_is_made_of_both_counts_and_where_each_expression_has_one_rating_it_is_told(tmp_path: Path) -> None:
    log = made_log(tmp_path, [{"a": close_reading(("novel", 4, 15)), "b": novelty()}] * 2, texts=[TEXT, f"{TEXT} 2"])
    picture = tmp_path / "quarter.svg"
    found = genie("close-reading", "novelty", log, "--resamples", 20, "--picture", picture)
    assert found.exit_code == 0, found.output
    assert "Every expression has one rating" in found.output
    assert "by expression" in picture.read_text(encoding="utf-8")
