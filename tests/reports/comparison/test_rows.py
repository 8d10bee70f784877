"""A comparison as scripts and spreadsheets get it."""

import math
from dataclasses import replace
from pathlib import Path

from tests.reports.made_comparisons import comparison, row
from tests.reports.made_logs import made_log, scored

from genie_inspect.reports.comparison.compared import Comparison, Options
from genie_inspect.reports.comparison.comparison import compare
from genie_inspect.reports.comparison.rows import COLUMNS, as_csv, as_values
from genie_inspect.reports.comparison.selection import Selection

BASE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)


def compared(folder: Path, baseline: str = "mock/plain", options: Options | None = None) -> Comparison:
    """A plain run, and one whose plots lie higher and rest on other shares of questions and ratings."""
    for model, step, used, usable in (("plain", 0.0, "3/4", "5/12"), ("raised", 0.1, "2/4", "7/12")):
        samples = [
            {"genie": scored({"plot": value + step * (1 + value)}, coverage={"plot": used}, pairs={"plot": usable})}
            for value in BASE
        ]
        made_log(folder, samples, model=f"mock/{model}")
    return compare([folder], baseline, options)


def test_the_values_have_names_that_scripts_know(tmp_path: Path) -> None:
    values = as_values(compared(tmp_path))
    assert list(values) == [
        *("verdict", "advice", "warnings", "baselines", "signatures", "correction", "keys", "family"),
        *("test", "equivalence", "length_matched", "min_coherence", "runs", "differences"),
    ]
    assert values["baselines"] == ["mock/plain"]
    assert (values["correction"], values["test"], values["equivalence"]) == ("holm", "sign-flip permutation test", "t")
    assert (values["length_matched"], values["min_coherence"]) == (False, None)
    chosen = Options(correction="none", equivalence="bootstrap", selection=Selection(length_matched=False))
    other = as_values(compared(tmp_path / "other", options=chosen))
    assert (other["correction"], other["equivalence"]) == ("none", "bootstrap")


def test_a_difference_stands_there_with_both_its_tests_and_what_it_rests_on(tmp_path: Path) -> None:
    comparison = compared(tmp_path)
    (row,) = as_values(comparison)["differences"]
    finding, difference = comparison.rows[0].finding, comparison.rows[0].finding.difference
    assert (row["run"], row["baseline"], row["scorer"], row["key"]) == ("mock/raised", "mock/plain", "genie", "plot")
    assert (row["tested"], row["paired_by"], row["instances"]) == (True, "prompt", None)
    assert (row["p_value"], row["p_unlike"]) == (difference.p_value, difference.p_unlike)
    assert (row["p_value_corrected"], row["p_unlike_corrected"]) == (finding.p_value, finding.p_unlike)
    assert (row["power_at_margin"], row["pairs_needed"]) == (finding.power, finding.needed)
    assert (row["differs"], row["is_equivalent"]) == (True, False)
    # eight documents, of each 3 of 4 questions and 5 of 12 ratings before; 2 and 7 after
    questions = [row[f"questions_{what}"] for what in ("used_before", "asked_before", "used_after", "asked_after")]
    ratings = [row[f"ratings_{what}"] for what in ("usable_before", "due_before", "usable_after", "due_after")]
    assert (questions, ratings) == ([24, 32, 16, 32], [40, 96, 56, 96])


def test_a_baseline_that_was_named_otherwise_than_it_is_labelled_is_called_by_both(tmp_path: Path) -> None:
    assert compared(tmp_path).called("mock/plain") == "mock/plain"
    by_file = compare([tmp_path], "log-0.eval")
    assert by_file.called(*by_file.baselines) == "log-0.eval (mock/plain)"
    assert by_file.called("a", "b") == "log-0.eval (a and b)"
    assert by_file.called("log-0.eval a", "b") == "log-0.eval a and b"


def test_columns_and_values_of_a_row_are_named_in_one_order_and_p_values_before_and_after_correction() -> None:
    found = comparison(row("b", p=0.01), row("c", p=0.02))
    finding = replace(found.rows[0].finding, p_value=0.02, p_unlike=0.9, power=math.inf)
    found = replace(found, rows=(replace(found.rows[0], finding=finding, instances=None, paired_by="prompt"),))
    told = {
        **{"run": "b", "baseline": "a", "scorer": "genie", "key": "plot", "tested": True, "paired_by": "prompt"},
        **{
            "prompts": 8,
            "instances": None,
            "pairs": 8,
            "before": 0.5,
            "after": 0.6,
            "delta": 0.1,
            "low": None,
            "high": None,
        },
        **{"effect": 1.0, "spread": 0.1, "p_value": 0.01, "least_p": 0.001, "p_unlike": 0.5, "margin": 0.05},
        # what is not finite is no JSON
        **{"p_value_corrected": 0.02, "p_unlike_corrected": 0.9, "power_at_margin": None, "pairs_needed": 10},
        **{"differs": False, "is_equivalent": False},
        **{
            "questions_used_before": 1,
            "questions_asked_before": 2,
            "questions_used_after": 3,
            "questions_asked_after": 4,
        },
        **{"ratings_usable_before": 1, "ratings_due_before": 2, "ratings_usable_after": 3, "ratings_due_after": 4},
        **{"questions_common": 1, "questions_asked": 2},
    }
    (values,) = as_values(found)["differences"]
    assert list(values.items()) == list(told.items())
    assert tuple(told) == COLUMNS
    header, line = as_csv(found).splitlines()
    assert header == ",".join(told)
    assert line.startswith("b,a,genie,plot,True,prompt,8,,8,0.5,0.6,0.1,,,")
