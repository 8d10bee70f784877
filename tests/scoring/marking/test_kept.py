"""Marks and expressions as they are read back from scores, whoever wrote these."""

import math

from inspect_ai.scorer import Score, Value

from genie_inspect.scoring.marking.kept import KeptExpression, KeptMark, KeptReading, expressions, readings

MARK = {"aspect": "novel", "text": "salt light", "start": 0, "end": 10, "reason": "Light has a taste."}
KEPT = KeptMark("novel", "salt light", 0, 10, "Light has a taste.")
EXPRESSION = {"text": "salt light", "start": 0, "end": 10, "log_perplexity": 3.5, "novel_share": 0.25}


def score(value: Value, **metadata: object) -> Score:
    return Score(value=value, metadata=metadata)


def test_marks_come_with_the_aspects_that_have_a_value_also_where_several_measures_share_a_score() -> None:
    value: Value = {"novel_per_100_words": 0.0, "awkward_per_100_words": math.nan, "words": 3.0}
    own = score(value, marks=[MARK])
    shared = score(value, close_reading={"marks": [{key: MARK[key] for key in MARK if key != "reason"}]}, other=1)
    empty = score({"novel_per_100_words": math.nan}, marks=[])
    assert list(readings({"a": own, "b": shared, "c": empty, "d": score(0.5), "e": score(1, marks="none")})) == [
        ("a", KeptReading((KEPT,), frozenset({"novel"}))),
        ("b", KeptReading((KeptMark("novel", "salt light", 0, 10),), frozenset({"novel"}))),
        ("c", KeptReading((), frozenset())),
    ]


def test_what_stands_there_in_another_form_is_nothing() -> None:
    odd = score(1, marks=[MARK | {"start": "first"}], more={"marks": [MARK]})
    assert list(readings({"a": odd})) == []
    assert list(readings({"a": Score(value=1)})) == []


def test_expressions_are_those_of_the_first_score_that_has_any() -> None:
    found = [KeptExpression("salt light", 0, 10, 3.5, 0.25)]
    scores = {"a": score(1), "b": score(1, expressions=[]), "c": score(1, expressions=[EXPRESSION])}
    assert expressions(scores) == found
    assert expressions({**scores, "d": score(1, expressions=[EXPRESSION] * 2)}) == found
    assert expressions({"a": score(1, expressions=[{"text": "salt"}])}) == []
