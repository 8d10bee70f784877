"""A run says what it left out, and every test that depends on CI is among what it names."""

import re
from pathlib import Path
from typing import Any, Literal

import pytest
from _pytest.reports import TestReport
from tests.left_out import lines, rest_with_ci

TESTS = Path(__file__).parent


def report(outcome: Any, longrepr: Any = None, **keywords: Literal[1]) -> TestReport:
    return TestReport("test_it", ("test.py", 1, "test_it"), keywords, outcome, longrepr, "call")


def test_skipped_tests_are_counted_by_reason_the_most_frequent_first() -> None:
    skips = [report("skipped", ("test.py", 1, f"Skipped: needs {what}")) for what in ("torch", "a server", "torch")]
    assert lines(skips, []) == ["skipped 2: needs torch", "skipped 1: needs a server"]


def test_tests_that_ran_less_often_are_counted_and_the_line_says_how_to_run_them_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed = [report("passed", repeated=1), report("passed", hypothesis=1), report("passed"), report("passed")]
    monkeypatch.delenv("CI", raising=False)
    repeated, properties = lines([], passed)
    assert repeated.startswith("smaller 1: races, kills, damage and simulations")
    assert properties.startswith("smaller 1: properties on ")
    assert "CI=1" in repeated
    assert "CI=1" in properties
    monkeypatch.setenv("CI", "1")
    assert lines([], passed) == []


def test_of_parameters_the_first_or_one_in_so_many_runs_and_the_rest_with_ci_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def left_out(**every: int) -> dict[str, list[str]]:
        marked = rest_with_ci(["a", "b", ("c", "d"), "e", "f"], "others", **every)
        return {"".join(map(str, row.values)): [m.kwargs["reason"] for m in row.marks if m.args[0]] for row in marked}

    monkeypatch.delenv("CI", raising=False)
    rest = ["others: with CI=1"]
    assert left_out() == {"a": [], "b": rest, "cd": rest, "e": rest, "f": rest}
    assert left_out(every=2) == {"a": [], "b": rest, "cd": [], "e": rest, "f": []}
    monkeypatch.setenv("CI", "1")
    assert not any(left_out().values())


def test_no_test_asks_for_ci_in_a_way_of_its_own_that_the_end_of_a_run_would_not_tell() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    assert not [text for text in texts if re.search(r"environ\S*\WCI\W", text)]


def test_every_file_with_fewer_tries_has_a_test_that_is_marked_as_repeated() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py") if path != Path(__file__)}
    using = {name for name, text in texts.items() if "tries(" in text}
    assert len(using) > 5
    assert {name for name, text in texts.items() if "pytest.mark.repeated" in text} == using
