"""What a comparison comes to: its sentence, advice, warnings, and the power of its tests."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import write_eval_log
from inspect_ai.scorer import Score
from tests.reports.made_logs import log_of, made_log, plots, scored

from genie_inspect.reports.comparison import Comparison, Facts, Row, compare
from genie_inspect.reports.pairing import PROMPT, Options, Pairs
from genie_inspect.reports.verdict import advice, findings, powers, prompts_needed, verdict, warnings
from genie_inspect.signature import Signature
from genie_inspect.statistics.differences import Difference, Finding, pairs_that_find
from genie_inspect.statistics.power import paired_power

BEFORE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)
AFTER = (0.61, 0.60, 0.60, 0.66, 0.60, 0.61, 0.62, 0.61)
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
    """A difference from the baseline `a`."""
    share = ((1, 2), (3, 4))
    difference = Difference(pairs, 0.5, 0.5 + delta, delta, NAN, NAN, 1.0, spread, p, least_p, 0.5, 0.05)
    finding = Finding(difference, p, 0.5, power, needed, differs=differs, is_equivalent=equivalent)
    return Row(run, "a", scorer, key, tested, "prompt", pairs, None, share, share, finding, is_unit, (1, 2))


def facts(label: str, words: float = 10, population: float = NAN, **other: Any) -> Facts:
    """A run with ten documents."""
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
    """A comparison with `a`; runs of like length unless given."""
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


def test_nothing_that_holds_is_said_plainly(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    log_of(tmp_path, "same", plots(*BEFORE))
    sentence = verdict(compare([tmp_path], "plain", Options(correction="none")))
    assert sentence.startswith(
        "Of 1 differences from plain, none is significant uncorrected at 5%, 1 more is equivalent"
    )


def test_nothing_measured_is_no_finding(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1, 0.2))
    log_of(tmp_path, "silent", plots(math.nan, math.nan), texts=("",))
    found = compare([tmp_path], "plain")
    assert verdict(found) == (
        "None of 1 differences from plain could be tested: that takes two prompts or more with scores on both sides."
    )
    assert warnings(found) == ["silent lost 2 of 2 documents: what is left may be a selection"]


def test_the_warning_of_too_few_prompts_says_what_the_correction_makes_of_them(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    for number in range(8):
        log_of(tmp_path, f"raised{number}", plots(*AFTER))
    assert warnings(compare([tmp_path], "plain")) == [
        "genie: with 8 prompts no p-value lies below 0.0078, over 8 tests 0.062 after Holm's correction: no difference "
        "could be significant, however large; take more prompts, or fewer tests: name "
        "those that matter (--keys), or correct each run by itself (--family run)"
    ]
    assert warnings(compare([tmp_path], "plain", Options(correction="none"))) == []


def test_a_scorer_whose_population_cannot_be_matched_is_named(tmp_path: Path) -> None:
    texts = (" ".join(["word"] * 9),)
    for task in ("plain", "same"):
        log = log_of(tmp_path, task, plots(*BEFORE), texts=texts, length={"population": 10, "matched": {"plot": 0.5}})
        for sample in log.samples or []:
            scores = sample.scores or {}
            metadata = {"signature": "measure:cosine|version:0"}
            scores["cosine"] = Score(value={"cosine": 0.5}, metadata=metadata)
        write_eval_log(log)
    by_length = Options(length_matched=True)
    unmatched = "cosine has no figures against population documents of like length: only what it scores is matched"
    # and both wrote the same texts
    assert [line for line in warnings(compare([tmp_path], "plain", by_length)) if "wrote" not in line] == [unmatched]
    assert [line for line in warnings(compare([tmp_path], "plain")) if "wrote" not in line] == []


def test_runs_at_opposite_ends_of_the_band_are_warned_of_without_the_advice_to_match_them(tmp_path: Path) -> None:
    # a band of 10 / 1.5 to 10 * 1.5 words: 7 and 15 lie within it, more than 1.5x apart
    facts: dict[str, Any] = {"length": {"population": 10, "matched": {}}}
    log_of(tmp_path, "plain", plots(*BEFORE), texts=(" ".join(["word"] * 6),), **facts)
    log_of(tmp_path, "long", plots(*AFTER), texts=(" ".join(["word"] * 14),), **facts)
    found = compare([tmp_path], "plain", Options(length_matched=True))
    assert warnings(found)[0] == (
        "long writes 15 words where plain writes 7: beyond 1.5x lengths do not compare; each is within the band of the "
        "population's, at opposite ends"
    )
    assert verdict(found).endswith("what long gained or lost may be length alone.")


@pytest.mark.parametrize(("scorers", "where"), [(("genie",), "plain"), (("genie", "other"), "plain, genie")])
def test_a_warning_about_one_of_several_scorers_names_it(scorers: tuple[str, ...], where: str, tmp_path: Path) -> None:
    half = {
        "genie": scored({"plot": 0.5}, coverage={"plot": "1/2"}),
        "other": scored({"points": 0.5}, "measure:other|version:0"),
    }
    for model in ("plain", "longer"):
        made_log(tmp_path, [{name: half[name] for name in scorers}] * 3, model=f"mock/{model}")
    lines = [line for line in warnings(compare([tmp_path], "mock/plain")) if "could be used" in line]
    assert lines[0] == f"mock/{where}: not every question or test could be used: plot 3 of 6"


@pytest.mark.parametrize(("before", "after"), [("10/10", "8/10"), ("8/10", "10/10"), ("10/10", "9/10")])
def test_runs_that_used_unlike_shares_of_their_questions_are_warned_of_beyond_a_tenth(
    before: str, after: str, tmp_path: Path
) -> None:
    for model, share in (("plain", before), ("other", after)):
        made_log(tmp_path, [{"genie": scored({"plot": 0.5}, coverage={"plot": share})}] * 3, model=f"mock/{model}")
    lines = [line for line in warnings(compare([tmp_path], "mock/plain")) if "were used" in line]
    said = {"10/10": "100%", "8/10": "80%"}
    assert lines == [
        f"mock/other plot: {said[after]} of its questions were used, of its baseline's {said[before]}, and nothing "
        "says which: the difference may be one of questions"
        for _ in {before, after} & {"8/10"}
    ]


def test_every_run_that_may_win_by_its_length_is_named_in_the_sentence(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE), texts=(" ".join(["word"] * 30),))
    for task in ("brief", "curt", "short"):
        log_of(tmp_path, task, plots(*AFTER), texts=(" ".join(["word"] * 10),))
    options = Options(correction="none")
    assert "what brief, curt and short gained" in verdict(compare([tmp_path], "plain", options))


def written(folder: Path, *runs: Sequence[float], words: int = 5, **facts: Any) -> list[str]:
    """Logs of these plots, by the models m/0 and so on."""
    return [
        made_log(
            folder,
            [{"genie": scored({"plot": value}, **facts)} for value in values],
            model=f"m/{number}",
            texts=["word " * words] * len(values),
        )
        for number, values in enumerate(runs)
    ]


def test_a_run_as_long_as_its_baseline_may_win_by_a_length_that_is_not_the_populations(tmp_path: Path) -> None:
    files = written(tmp_path, BEFORE, AFTER, words=30, length={"population": 10, "matched": {}})
    # the baseline, which is of that length too, gains and loses nothing
    assert "what m/1 gained or lost may be length alone" in verdict(compare(files, "m/0"))


@pytest.mark.parametrize(("runs", "listed"), [(6, "m/6 plot +0.300)"), (7, "m/6 plot +0.300 and 1 more)")])
def test_six_differences_that_hold_are_named_and_the_others_counted(runs: int, listed: str, tmp_path: Path) -> None:
    files = written(tmp_path, BEFORE, *[[value + 0.3 for value in BEFORE]] * runs)
    sentence = verdict(compare(files, "m/0", Options(correction="none")))
    assert f"{runs} are significant (m/1 plot +0.300" in sentence
    assert listed in sentence


def test_a_baseline_that_was_named_otherwise_than_it_is_labelled_is_called_by_both(tmp_path: Path) -> None:
    files = written(tmp_path, BEFORE, AFTER)
    assert compare(files, "m/0").called("m/0") == "m/0"
    by_file = compare(files, "log-0.eval")
    assert by_file.called(*by_file.baselines) == "log-0.eval (m/0)"
    assert by_file.called("a", "b") == "log-0.eval (a and b)"
    assert by_file.called("log-0.eval a", "b") == "log-0.eval a and b"


def test_power_is_of_the_pairs_that_survived_at_the_level_of_all_tests_and_one_pair_has_none(tmp_path: Path) -> None:
    # ten prompts, of which eight have a score on both sides
    log_of(tmp_path, "plain", plots(*(0.5 + 0.01 * n for n in range(8)), NAN, 0.5))
    log_of(tmp_path, "raised", plots(*(0.6 + 0.02 * n for n in range(9)), NAN))
    (own,) = powers(compare([tmp_path], "plain"), 0.5)
    assert tuple(own[name] for name in ("run", "key", "prompts", "pairs")) == ("raised", "plot", 10, 8)
    assert own["power"] == own["corrected"] == paired_power(0.5, 1, 8)
    # the level falls with the tests that are corrected for
    log_of(tmp_path, "third", plots(*(0.55 + 0.03 * n for n in range(8))))
    several = compare([tmp_path], "plain")
    assert {one["corrected"] for one in powers(several, 0.5)} == {paired_power(0.5, 1, 8, 0.025)}
    alone = replace(several, options=Options(correction="none"))
    assert {one["corrected"] for one in powers(alone, 0.5)} == {paired_power(0.5, 1, 8)}
    (lone,) = powers(comparison(row(pairs=1)), 0.5)
    assert (lone["pairs"], math.isnan(lone["power"])) == (1, True)


HOLDS = row("b", "plot_twist", delta=0.12345, differs=True)


@pytest.mark.parametrize(
    ("rows", "correction", "said"),
    [
        (
            # what holds and lies within the margin counts as holding
            (row(differs=True, equivalent=True), row(key="style", equivalent=True), row(key="agent")),
            "holm",
            "Of 3 differences from a, 1 is significant (b plot +0.100) after Holm's correction at 5%, 1 more is "
            "equivalent within the margin and 1 undecided.",
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
            "correction at 5%, 2 more are equivalent within the margin and 0 undecided.",
        ),
        (
            # of the two measures one alone could be tested
            (HOLDS, row(scorer="echo", key="echo", p=NAN)),
            "holm",
            "Of 1 differences from a, 1 is significant (b plot twist +0.123) after Holm's correction at 5%, 0 more are "
            "equivalent within the margin, 0 undecided and 1 could not be tested.",
        ),
        (
            (HOLDS, row(scorer="echo", key="echo"), *[row(key=key, tested=False, p=NAN) for key in ("x", "y")]),
            "holm",
            "Of 2 differences from a, 1 is significant (b plot twist +0.123) after Holm's correction within each "
            "measure at 5%, 0 more are equivalent within the margin and 1 undecided; 2 more are shown beside "
            "them and not tested.",
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
        "be significant, however large; take more prompts, or fewer tests: "
        "name those that matter (--keys), or correct each run by itself (--family run)",
        "b has 4 documents written after one that its baseline's log lacks, so prompts are paired; for pairs of "
        "documents run both with --cache true --max-tasks 1 (vLLM: and -M lazy_init=false)",
    ]


def test_a_run_is_of_unlike_length_to_its_baseline_before_the_population_and_the_baseline_to_that() -> None:
    runs = [facts(name, words=words, population=30) for name, words in (("a", 10), ("b", 31), ("c", 9))]
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
    needed = prompts_needed(comparison(row(spread=0.2), other, options=Options(correction=correction)))
    assert needed["b", "genie", "plot"] == pairs_that_find(0.05, 0.2, 0.05 / tests)


@pytest.mark.parametrize("other", [row(tested=False), row(is_unit=False), row(spread=0.0), row(spread=NAN)])
def test_prompts_are_told_of_tests_on_a_scale_from_0_to_1_with_a_spread(other: Row) -> None:
    assert list(prompts_needed(comparison(other))) == []


def test_findings_are_a_plain_sentence_per_run_and_measure_without_what_was_not_tested() -> None:
    found = comparison(
        row(differs=True),
        row(key="style", differs=True, delta=-0.2),
        row(key="social_atmosphere", differs=True),
        row(key="agent", equivalent=True),
        row(key="setting"),
        row(key="perspective", p=NAN),
        row("c", differs=True),
        row("c", "style", differs=True),
        row("c", "mean", scorer="cosine_near", differs=True),
        row("c", "other", scorer="cosine_near", tested=False),
    )
    assert findings(found) == [
        "b is more novel than a in plot and social atmosphere; less novel than a in style; equivalent to a in agent; "
        "undecided with 8 prompts in setting.",
        "c is more novel than a in all 2 features.",
        "c, cosine near: higher than a in mean.",
    ]
