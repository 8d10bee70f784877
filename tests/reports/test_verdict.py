"""What a comparison comes to: its sentence, advice, warnings, and the power of its tests."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from genie_inspect.reports.comparison import Comparison, Facts, Row
from genie_inspect.reports.pairing import PROMPT, Options, Pairs
from genie_inspect.reports.verdict import advice, findings, powers, prompts_needed, verdict, warnings
from genie_inspect.signature import Signature
from genie_inspect.statistics.differences import Difference, Finding, pairs_that_find
from genie_inspect.statistics.effect import paired_power

NAN = math.nan


def row(
    run: str = "b",
    key: str = "plot",
    *,
    scorer: str = "genie",
    delta: float = 0.1,
    pairs: int = 8,
    p: float = 0.01,
    differs: bool = False,
    equivalent: bool = False,
    tested: bool = True,
    least_p: float = 0.001,
    power: float = 0.9,
    needed: float = 10,
    spread: float = 0.1,
    is_unit: bool = True,
) -> Row:
    share = ((1, 2), (3, 4))
    difference = Difference(pairs, 0.5, 0.5 + delta, delta, NAN, NAN, 1.0, spread, p, least_p, 0.5, 0.05)
    finding = Finding(difference, p, 0.5, power, needed, differs=differs, is_equivalent=equivalent)
    return Row(run, "a", scorer, key, tested, "prompt", pairs, None, share, share, finding, is_unit, (1, 2))


def facts(label: str, words: float = 10, population: float = NAN, **other: Any) -> Facts:
    given: dict[str, Any] = {"model": "mock/writer", "strategy": "generate", "documents": 10, "scored": 10}
    given |= {"refusals": 0, "left_out": 0, "unscored": {}, "cut": 0, "measures": {}}
    given |= {"coherence": NAN, "fewer_responses": (0, 0)} | other
    return Facts(label=label, file=f"{label}.eval", words=words, population_words=population, **given)


def comparison(
    *rows: Row,
    runs: Sequence[Facts] = (),
    options: Options | None = None,
    strays: Mapping[str, int] | None = None,
    unlike_coherence: str = "",
) -> Comparison:
    labels = dict.fromkeys(["a", *(one.run for one in rows)])
    none: dict[str, Any] = dict.fromkeys(("keys", "before", "after", "instances", "questions", "names"), ())
    none |= {"by": PROMPT, "documents": Counter(), "is_repeated": False, "evidence": {}, "prompts": 0}
    return Comparison(
        options=options or Options(),
        named="a",
        baselines=("a",),
        signatures=dict.fromkeys((one.scorer for one in rows), Signature("measure:genie")),
        runs=tuple(runs or map(facts, labels)),
        rows=rows,
        pairs={run: Pairs(**none, strays=count) for run, count in (strays or {}).items()},
        base_of={},
        unmatched=(),
        unlike_coherence=unlike_coherence,
    )


def test_power_is_of_the_pairs_that_survived_at_the_level_of_all_tests_and_one_pair_has_none() -> None:
    rows = replace(row("b"), prompts=10), row("c", pairs=1), row("d", tested=False, p=NAN)
    own, lone = powers(comparison(*rows), 0.5)
    assert tuple(own[name] for name in ("run", "key", "prompts", "pairs")) == ("b", "plot", 10, 8)
    # the level falls with the tests that are corrected for
    assert (own["power"], own["corrected"]) == (paired_power(0.5, 1, 8), paired_power(0.5, 1, 8, 0.025))
    assert math.isnan(lone["power"])
    own, _ = powers(comparison(*rows, options=Options(correction="none")), 0.5)
    assert own["corrected"] == paired_power(0.5, 1, 8)


HOLDS = row("b", "plot_twist", delta=0.12345, differs=True)


@pytest.mark.parametrize(
    ("rows", "correction", "said"),
    [
        (
            (row(p=NAN, pairs=0),),
            "holm",
            "None of 1 differences from a could be tested: that takes two prompts or more with scores on both sides.",
        ),
        (
            (row(equivalent=True),),
            "none",
            "Of 1 difference from a, none is significant uncorrected at 5% and 1 is equivalent within the margin.",
        ),
        (
            # what holds and lies within the margin counts as holding
            (row(differs=True, equivalent=True), row(key="style", equivalent=True), row(key="agent")),
            "holm",
            "Of 3 differences from a, 1 is significant (plot +0.100) after Holm's correction at 5%, 1 is "
            "equivalent within the margin and 1 is undecided.",
        ),
        (
            (
                HOLDS,
                row("c", differs=True, delta=-0.2),
                row("c", "style", equivalent=True),
                row("c", "x", equivalent=True),
            ),
            "bonferroni",
            "Of 4 differences from a, 2 are significant (b plot twist +0.123, c plot -0.200) after Bonferroni's "
            "correction at 5% and 2 are equivalent within the margin.",
        ),
        (
            # six that hold are named
            tuple(row(f"m{number}", differs=True) for number in range(7)),
            "holm",
            "Of 7 differences from a, 7 are significant (m0 plot +0.100, m1 plot +0.100, m2 plot +0.100, "
            "m3 plot +0.100, m4 plot +0.100, m5 plot +0.100 and 1 more) after Holm's correction at 5%.",
        ),
        (
            # of the two measures one alone could be tested
            (HOLDS, row(scorer="echo", key="echo", p=NAN)),
            "holm",
            "Of 1 difference from a, 1 is significant (plot twist +0.123) after Holm's correction at 5% and 1 "
            "could not be tested.",
        ),
        (
            (HOLDS, row(scorer="echo", key="echo"), *[row(key=key, tested=False, p=NAN) for key in ("x", "y")]),
            "holm",
            "Of 2 differences from a, 1 is significant (plot twist +0.123) after Holm's correction within each "
            "measure at 5% and 1 is undecided; 2 more are shown beside them and not tested.",
        ),
    ],
)
def test_the_sentence_counts_each_difference_once(rows: tuple[Row, ...], correction: str, said: str) -> None:
    assert verdict(comparison(*rows, options=Options(correction=correction))) == said


def test_only_what_holds_may_be_length_alone() -> None:
    longer = [facts("a"), facts("b"), facts("c", words=90)]
    assert "length" not in verdict(comparison(HOLDS, row("c"), runs=longer))
    # one as long as its baseline may win by a length that is not the population's
    for runs, who in ((longer, "c"), ([facts(label, words=90, population=10) for label in "abc"], "b and c")):
        said = verdict(comparison(HOLDS, row("c", differs=True), runs=runs))
        assert said.endswith(f"; what {who} gained or lost may be length alone, see --length-matched.")
    # runs at opposite ends of the band of 10 / 1.5 to 10 * 1.5 words are not told to match them
    runs = [facts("a", 7, 10), facts("b", 15, 10)]
    found = comparison(HOLDS, runs=runs, options=Options(length_matched=True))
    assert verdict(found).endswith("what b gained or lost may be length alone.")
    assert [line.partition("; ")[2] for line in warnings(found)] == [
        "each is within the band of the population's, at opposite ends"
    ]


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
        "be significant, however large; take more prompts, or fewer tests: "
        "name those that matter (--keys), or correct each run by itself (--family run)",
        "b has 4 documents written after one that its baseline's log lacks, so prompts are paired; for pairs of "
        "documents run both with --cache true --max-tasks 1 (vLLM: and -M lazy_init=false)",
    ]


def test_a_run_of_unlike_length_or_that_used_less_of_its_questions_beyond_a_tenth_is_warned_of() -> None:
    # of unlike length to its baseline before the population, and the baseline to that
    runs = [facts(name, words=words, population=30) for name, words in (("a", 10), ("b", 31), ("c", 9))]
    used = [replace(row(run), coverage=((10, 10), (left, 10)), questions=(0, 0)) for run, left in (("b", 8), ("c", 9))]
    rows = (*used, replace(used[0], run="c", questions=(8, 8)))
    assert [line.split(":")[0] for line in warnings(comparison(*rows, runs=runs))] == [
        "a writes 10 words where the population has 30",
        "c writes 9 words where the population has 30",
        "b writes 31 words where a writes 10",
        "b plot",
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


def test_prompts_are_those_of_the_strictest_level_among_a_measures_tests_on_a_scale_from_0_to_1() -> None:
    for other, correction, tests in (
        *((row("c"), "holm", 2), (row("c"), "bonferroni", 2), (row("c"), "none", 1)),
        *((row("c", scorer="echo"), "holm", 1), (row("c", p=NAN), "holm", 1)),
    ):
        needed = prompts_needed(comparison(row(spread=0.2), other, options=Options(correction=correction)))
        assert needed["b", "genie", "plot"] == pairs_that_find(0.05, 0.2, 0.05 / tests)
    none = (row(tested=False), row(is_unit=False), row(spread=0.0), row(spread=NAN))
    assert prompts_needed(comparison(*none)) == {}


def test_findings_are_a_plain_sentence_per_run_and_measure_without_what_was_not_tested() -> None:
    found = comparison(
        row(differs=True),
        row(key="style", differs=True, delta=-0.2),
        row(key="social_atmosphere", differs=True, delta=0.3),
        row(key="agent", equivalent=True),
        row(key="setting", spread=0.2),
        row(key="ending", spread=0.15),
        row(key="perspective", p=NAN),
        row("c", differs=True),
        row("c", "style", differs=True, p=0.002),
        row("c", "mean", scorer="cosine_near", differs=True),
        row("c", "other", scorer="cosine_near", tested=False, p=NAN),
    )
    prompts = pairs_that_find(0.05, 0.2, 0.05 / 8)
    sure = "p at most 0.01 after correction for 8 tests)"
    each, one = f" (significant, each with {sure}", f" (significant, {sure}"
    assert findings(found) == [
        f"b is more novel than a in plot and social atmosphere by 0.10 (plot) to 0.30 (social atmosphere){each}; "
        f"less novel than a in style by 0.20{one}; equivalent to a in agent; undecided with 8 prompts in setting and "
        f"ending ({prompts} would find a difference of 0.05).",
        f"c is more novel than a in all 2 features by 0.10 (plot) to 0.10 (style){each}.",
        "c, cosine near: higher than a in mean by 0.10 (significant, p at most 0.01 of one test).",
    ]


def test_the_smallest_p_that_there_can_be_is_said_where_a_test_has_it() -> None:
    # .0078 by itself is .0312 over four tests
    ps = {"a": 0.0312, "b": 0.04, "c": 0.5, "d": 0.9}
    for differing, told in (
        ("a", "(significant, p = 0.031 after correction for 4 tests, the smallest possible with 8 prompts)"),
        ("ab", "(significant, each with p at most 0.04 after correction for 4 tests)"),
    ):
        rows = [row(key=key, p=p, least_p=0.0078, differs=key in differing) for key, p in ps.items()]
        assert told in findings(comparison(*rows))[0]
    (alone,) = findings(comparison(row(p=0.0078, least_p=0.0078, differs=True), options=Options(correction="none")))
    assert "p = 0.0078 uncorrected, the smallest possible with 8 prompts" in alone


def test_runs_of_which_nothing_is_known_share_a_line_behind_the_others() -> None:
    rows = [row(run, key, spread=0.2) for run in "bcd" for key in ("plot", "style")]
    rows[3] = row("c", "style", differs=True)
    prompts = pairs_that_find(0.05, 0.2, 0.05 / 6)
    known, both = findings(comparison(*rows))
    assert known.startswith("c is undecided with 8 prompts in plot (")
    assert both == f"Undecided with 8 prompts ({prompts} would find any difference of 0.05): b, d."
