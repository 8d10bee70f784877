"""What a cache takes for a rating, a verdict or an answer, and what for damage."""

import sqlite3
from pathlib import Path

import pytest

from genie_inspect.graders.cache import Cache, Judged, Verdict, _answer, _rating, _verdict


@pytest.mark.parametrize(
    ("rating", "off", "kept"),
    [
        (0.0, None, Judged(0.0)),
        (1.0, 0.0, Judged(1.0, 0.0)),
        (4.0, 1.0, Judged(4.0, 1.0)),
        (0.5, None, "a rating is '0.5', expected 0 or 1 to 4"),
        (4.5, None, "a rating is '4.5', expected 0 or 1 to 4"),
        (-1.0, None, "a rating is '-1.0', expected 0 or 1 to 4"),
        (3, None, "a rating is '3', expected 0 or 1 to 4"),
        (1.0, 1.5, "a probability off the labels is '1.5', expected 0 to 1"),
        (1.0, -0.5, "a probability off the labels is '-0.5', expected 0 to 1"),
        (1.0, "x", "a probability off the labels is 'x', expected 0 to 1"),
    ],
)
def test_a_rating_is_0_or_1_to_4_and_a_probability_0_to_1(rating: object, off: object, kept: Judged | str) -> None:
    if isinstance(kept, Judged):
        assert _rating("snow", rating, off) == ("snow", kept)
    else:
        with pytest.raises(sqlite3.DatabaseError, match=f"{kept}$"):
            _rating("snow", rating, off)


@pytest.mark.parametrize(
    ("points", "reply", "good"),
    [(3, "[[A]]", True), (-3, "", True), (4, "", False), (-4, "", False), ("1", "", False), (1, b"", False)],
)
def test_a_verdict_is_points_from_minus_3_to_3_with_a_reply(points: object, reply: object, good: bool) -> None:
    if good:
        assert _verdict(points, reply) == Verdict(int(str(points)), str(reply))
    else:
        with pytest.raises(
            sqlite3.DatabaseError, match=f"a verdict is '{points}', expected -3 to 3 points and a reply"
        ):
            _verdict(points, reply)


def test_an_answer_is_text_or_nothing_and_what_is_none_is_shown_short() -> None:
    assert [_answer("Who?", None), _answer("Who?", "an owl")] == [("Who?", None), ("Who?", "an owl")]
    with pytest.raises(sqlite3.DatabaseError, match="an answer is a int, expected text or nothing"):
        _answer("Who?", 3)
    with pytest.raises(sqlite3.DatabaseError) as damage:
        _rating("snow", "x" * 1000, None)
    assert len(str(damage.value)) < 300


def test_only_the_answers_that_were_asked_for_come_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep_answers("reader", "document", {"Who?": "an owl", "Where?": None})
    assert cache.answers("reader", "document", ["Where?"]) == {"Where?": None}
