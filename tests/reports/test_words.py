"""What a comparison says in words, of differences that are given: whole sentences, and the order of the warnings."""

import math

import pytest
from tests.reports.made_comparisons import comparison, facts, row

from genie_inspect.reports.pairing import Options, Row
from genie_inspect.reports.verdict import advice, prompts_needed, verdict, warnings
from genie_inspect.statistics.differences import pairs_that_find

NAN = math.nan
HOLDS = row("b", "plot_twist", delta=0.12345, differs=True)


@pytest.mark.parametrize(
    ("rows", "correction", "said"),
    [
        (
            # what holds and lies within the margin counts as holding
            (row(differs=True, equivalent=True), row(key="style", equivalent=True), row(key="agent")),
            "holm",
            "Of 3 differences from a, 1 holds (b plot +0.100) after Holm's correction at 5%, 1 more is equivalent "
            "within the margin and 1 undecided.",
        ),
        (
            (
                HOLDS,
                row("c", differs=True, delta=-0.2),
                row("c", "style", equivalent=True),
                row("c", "x", equivalent=True),
            ),
            "bonferroni",
            "Of 4 differences from a, 2 hold (b plot twist +0.123, c plot -0.200) after Bonferroni's correction at 5%, "
            "2 more are equivalent within the margin and 0 undecided.",
        ),
        (
            # of the two measures one alone could be tested
            (HOLDS, row(scorer="echo", key="echo", p=NAN)),
            "holm",
            "Of 1 differences from a, 1 holds (b plot twist +0.123) after Holm's correction at 5%, 0 more are "
            "equivalent within the margin, 0 undecided and 1 could not be tested.",
        ),
        (
            (HOLDS, row(scorer="echo", key="echo"), *[row(key=key, tested=False, p=NAN) for key in ("x", "y")]),
            "holm",
            "Of 2 differences from a, 1 holds (b plot twist +0.123) after Holm's correction within each measure at 5%, "
            "0 more are equivalent within the margin and 1 undecided; 2 more are shown beside them and not tested.",
        ),
    ],
)
def test_the_sentence_counts_each_difference_once(rows: tuple[Row, ...], correction: str, said: str) -> None:
    assert verdict(comparison(*rows, options=Options(correction=correction))) == said


def test_only_what_holds_may_be_length_alone() -> None:
    runs = [facts("a"), facts("b"), facts("c", words=90)]
    assert "length" not in verdict(comparison(HOLDS, row("c"), runs=runs))
    said = verdict(comparison(HOLDS, row("c", differs=True), runs=runs))
    assert said.endswith("; what c gained or lost may be length alone, see --length-matched.")


def test_the_advice_goes_from_the_fewest_prompts_to_the_most_of_tests_with_power_under_half() -> None:
    strong, no_test = row("d", power=0.5, needed=7), row("d", "x", tested=False, power=NAN, needed=NAN)
    weak = row("b", "plot_twist", power=0.49, needed=1200), row("c", "style", power=0.3, needed=40)
    assert advice(comparison(strong, no_test)) == advice(comparison(row(power=0.1, needed=NAN))) == ""
    assert advice(comparison(*weak, strong, no_test)) == (
        "2 of 3 tests miss a difference as large as their margin more often than not: to find it in 80% of "
        "runs takes 40 (c style) to 1,200 (b plot twist) prompts of this spread, or fewer with a "
        "wider --margin, if it is one that does not matter."
    )
    assert "takes 40 (c style) prompts of" in advice(comparison(weak[1], strong))


def test_warnings_stand_in_one_order_lengths_runs_pairs() -> None:
    runs = [facts("a"), facts("b", 90, 100, scored=8, fewer_responses=(2, 3)), facts("c", fewer_responses=(0, 3))]
    rows = (row("b", pairs=1, p=NAN), row("c", least_p=0.7, pairs=3), row("c", "style", least_p=0.7, pairs=2))
    found = comparison(*rows, runs=runs, strays={"b": 4}, unlike_coherence="for a reason")
    assert warnings(found) == [
        "b writes 90 words where a writes 10: beyond 1.5x lengths do not compare; --length-matched keeps documents and "
        "population of like length",
        "b lost 2 of 10 documents: what is left may be a selection",
        "2 of 3 samples gave fewer responses than asked for (b)",
        "coherence is not shown: for a reason",
        "b has one prompt in common with its baseline: without a second there is neither interval nor p-value",
        "genie: with 3 prompts no p-value lies below 0.7, over 2 tests 1 after Holm's correction: no difference could "
        "hold, however large; take more prompts, or fewer tests: "
        "name those that matter (--keys), or let each run be a question of its own (--family run)",
        "b has 4 documents written after one that its baseline's log lacks, so prompts are paired; for pairs of "
        "documents run both with --cache true --max-tasks 1 (vLLM: and -M lazy_init=false)",
    ]


def test_a_run_is_of_unlike_length_to_its_baseline_before_the_population_and_the_baseline_to_that() -> None:
    runs = [
        facts("a", words=10, population=30),
        facts("b", words=31, population=30),
        facts("c", words=9, population=30),
    ]
    assert [line.split(":")[0] for line in warnings(comparison(row("b"), row("c"), runs=runs))] == [
        "a writes 10 words where the population has 30",
        "c writes 9 words where the population has 30",
        "b writes 31 words where a writes 10",
    ]


@pytest.mark.parametrize(
    ("rows", "warned"),
    [
        # 2 tests at 0.025 are at the level, which is not below it
        ((row(least_p=0.025), row("c", least_p=0.025)), True),
        ((row(least_p=0.024), row("c", least_p=0.024)), False),
        # one with enough pairs could hold
        ((row(least_p=0.01), row("c", least_p=0.5)), False),
        # measures are families of their own, and what could not be tested is in none
        ((row(least_p=0.03), row(scorer="echo", least_p=0.03), row(key="x", p=NAN, least_p=0.03)), False),
        ((row(pairs=2), row(key="style", pairs=1)), False),
        ((row(pairs=1), row(key="style", pairs=1)), True),
        ((row(pairs=0, p=NAN),), False),
    ],
)
def test_too_few_pairs_are_told_by_those_that_there_are(rows: tuple[Row, ...], warned: bool) -> None:
    assert bool(warnings(comparison(*rows))) == warned


@pytest.mark.parametrize(
    ("other", "correction", "tests"),
    [
        (row("c"), "holm", 2),
        (row("c"), "bonferroni", 2),
        (row("c"), "none", 1),
        (row("c", scorer="echo"), "holm", 1),
        (row("c", p=NAN), "holm", 1),
    ],
)
def test_prompts_are_those_of_the_strictest_level_among_a_measures_tests(
    other: Row, correction: str, tests: int
) -> None:
    first, *_ = prompts_needed(comparison(row(spread=0.2), other, options=Options(correction=correction)))
    assert first == (row(spread=0.2), pairs_that_find(0.05, 0.2, 0.05 / tests))


@pytest.mark.parametrize("other", [row(tested=False), row(is_unit=False), row(spread=0.0), row(spread=NAN)])
def test_prompts_are_told_of_tests_on_a_scale_from_0_to_1_with_a_spread(other: Row) -> None:
    assert list(prompts_needed(comparison(other))) == []
