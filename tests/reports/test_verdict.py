import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai.log import write_eval_log
from inspect_ai.scorer import Score
from tests.reports.logs import log_of, plots
from tests.reports.made_comparisons import comparison, row
from tests.reports.made_logs import made_log, scored

from genie_inspect.cli import main
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.pairing import Comparison, Options, Selection
from genie_inspect.reports.verdict import COLUMNS, advice, as_csv, as_values, powers, prompts_needed, verdict, warnings
from genie_inspect.statistics.power import paired_power, pairs_needed

BEFORE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)
AFTER = (0.61, 0.60, 0.60, 0.66, 0.60, 0.61, 0.62, 0.61)


def test_the_sentence_names_what_holds_and_counts_the_rest(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    log_of(tmp_path, "raised", plots(*AFTER))
    log_of(tmp_path, "same", plots(*BEFORE))
    log_of(tmp_path, "mixed", plots(0.3, 0.7, 0.2, 0.9, 0.3, 0.8, 0.4, 0.6))
    assert verdict(compare([tmp_path], "plain")) == (
        "Of 3 differences from plain, 1 holds (raised plot +0.104) after Holm's correction at 5%, 1 more is equivalent "
        "within the margin and 1 undecided."
    )


def test_nothing_that_holds_is_said_plainly(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    log_of(tmp_path, "same", plots(*BEFORE))
    sentence = verdict(compare([tmp_path], "plain", Options(correction="none")))
    assert sentence.startswith("Of 1 differences from plain, none holds uncorrected at 5%, 1 more is equivalent")


def test_where_power_is_under_half_it_is_said_how_many_prompts_it_would_take(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    log_of(tmp_path, "mixed", plots(0.3, 0.7, 0.2, 0.9, 0.3, 0.8, 0.4, 0.6))
    found = compare([tmp_path], "plain")
    (row,) = found.rows
    difference = row.finding.difference
    assert paired_power(difference.margin, difference.spread, int(row.finding.needed)) >= 0.8
    assert paired_power(difference.margin, difference.spread, int(row.finding.needed) - 1) < 0.8
    assert f"in 80% of runs takes {row.finding.needed:,.0f} (mixed plot) prompts" in advice(found)
    # the same pairs find a difference of 0.5 nearly always
    assert advice(compare([tmp_path], "plain", Options(margin=0.5))) == ""


def test_nothing_measured_is_no_finding(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1, 0.2))
    log_of(tmp_path, "silent", plots(math.nan, math.nan), texts=("",))
    found = compare([tmp_path], "plain")
    assert verdict(found) == (
        "None of 1 differences from plain could be tested: that takes two prompts or more with scores on both sides."
    )
    assert warnings(found) == ["silent lost 2 of 2 documents: what is left may be a selection"]


@pytest.mark.parametrize(("lost", "warned"), [(1, []), (2, ["many lost 2 of 10 documents"])])
def test_a_run_is_warned_of_when_more_than_a_tenth_of_it_is_lost(lost: int, warned: list[str], tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE, 0.5, 0.5))
    log_of(tmp_path, "many", plots(*AFTER, 0.6, 0.6) | plots(*[math.nan] * lost))
    assert [line.split(":")[0] for line in warnings(compare([tmp_path], "plain"))] == warned


def test_a_run_that_wins_by_another_length_is_warned_of_in_the_sentence(tmp_path: Path) -> None:
    long, brief = " ".join(["word"] * 30), " ".join(["word"] * 10)
    log_of(tmp_path, "plain", plots(*BEFORE), texts=(long,))
    log_of(tmp_path, "brief", plots(*AFTER), texts=(brief,))
    found = compare([tmp_path], "plain")
    assert "what brief gained or lost may be length alone, see --length-matched" in verdict(found)
    assert warnings(found) == [
        "brief writes 11 words where plain writes 31: beyond 1.5x lengths do not compare; --length-matched keeps "
        "documents and population of like length"
    ]


def test_lengths_within_one_and_a_half_times_are_no_matter(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE), texts=(" ".join(["word"] * 14),))
    log_of(tmp_path, "raised", plots(*AFTER), texts=(" ".join(["word"] * 9),))
    assert warnings(compare([tmp_path], "plain")) == []


def test_length_matching_needs_no_warning(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"length": {"population": 10, "matched": {"plot": 0.5}}}
    words = " ".join(["word"] * 9)
    log_of(tmp_path, "plain", plots(*BEFORE), texts=(words,), **facts)
    log_of(tmp_path, "brief", plots(*AFTER), texts=("two words",), **facts)
    assert any(line.startswith("brief writes") for line in warnings(compare([tmp_path], "plain")))
    matched = compare([tmp_path], "plain", Options(selection=Selection(length_matched=True)))
    assert not any("writes" in line for line in warnings(matched))


@pytest.mark.parametrize(
    ("prompts", "runs", "correction", "warned"),
    # 5 prompts: no p below 2 / 32; 8: 2 / 256, times 6 tests 0.047, times 7 0.055
    [
        (5, 1, "none", "0.062:"),
        (6, 1, "none", ""),
        (8, 6, "holm", ""),
        (8, 7, "none", ""),
        (8, 7, "holm", "0.0078, over"),
    ],
)
def test_too_few_prompts_for_anything_to_hold_are_warned_of(
    tmp_path: Path, prompts: int, runs: int, correction: str, warned: str
) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE[:prompts]))
    for number in range(runs):
        log_of(tmp_path, f"raised{number}", plots(*AFTER[:prompts]))
    found = compare([tmp_path], "plain", Options(correction=correction))
    lines = [line for line in warnings(found) if "no difference could hold" in line]
    assert [line.startswith(f"genie: with {prompts} prompts no p-value lies below {warned}") for line in lines] == (
        [True] if warned else []
    )
    assert any(row.finding.differs for row in found.rows) != bool(warned)


def test_the_warning_of_too_few_prompts_says_what_the_correction_makes_of_them(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    for number in range(8):
        log_of(tmp_path, f"raised{number}", plots(*AFTER))
    assert warnings(compare([tmp_path], "plain")) == [
        "genie: with 8 prompts no p-value lies below 0.0078, over 8 tests 0.062 after Holm's correction: no difference "
        "could hold, however large; take more prompts, or fewer tests: name "
        "those that matter (--keys), or let each run be a question of its own (--family run)"
    ]


def test_one_prompt_is_no_test_however_many_documents_it_has(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", {"owl": [{"plot": 0.1}, {"plot": 0.2}]}, texts=("one", "two"))
    later = {"owl": [{"plot": 0.8}, {"plot": 0.9}]}
    log_of(tmp_path, "negative", later, texts=("uno", "due"), earlier=("one", "two"))
    found = compare([tmp_path], "plain")
    difference = found.rows[0].finding.difference
    assert (difference.pairs, found.rows[0].instances) == (1, 2)
    assert difference.delta == pytest.approx(0.7)
    assert all(math.isnan(value) for value in (difference.low, difference.high, difference.p_value, difference.effect))
    assert verdict(found).startswith("None of 1 differences from plain could be tested: that takes two prompts")
    assert warnings(found) == [
        "negative has one prompt in common with its baseline: without a second there is neither interval nor p-value"
    ]


def test_a_baseline_of_another_length_than_the_population_is_warned_of_too(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"length": {"population": 31, "matched": {"plot": 0.5}}}
    log_of(tmp_path, "plain", plots(*BEFORE), texts=(" ".join(["word"] * 17),), **facts)
    log_of(tmp_path, "longer", plots(*BEFORE), texts=(" ".join(["word"] * 24),), **facts)
    assert [line.split(":")[0] for line in warnings(compare([tmp_path], "plain"))] == [
        "plain writes 18 words where the population has 31"
    ]


def test_documents_written_after_one_that_the_baseline_lacks_are_counted(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE), texts=("one",))
    log_of(tmp_path, "negative", plots(*AFTER), texts=("uno",), earlier=("another",))
    found = compare([tmp_path], "plain")
    assert found.rows[0].paired_by == "prompt"
    assert [line.split(";")[0] for line in warnings(found)] == [
        "negative has 8 documents written after one that its baseline's log lacks, so prompts are paired"
    ]


def test_a_scorer_whose_population_cannot_be_matched_is_named(tmp_path: Path) -> None:
    texts = (" ".join(["word"] * 9),)
    for task in ("plain", "same"):
        log = log_of(tmp_path, task, plots(*BEFORE), texts=texts, length={"population": 10, "matched": {"plot": 0.5}})
        for sample in log.samples or []:
            scores = sample.scores or {}
            metadata = {"signature": "measure:cosine|version:0"}
            scores["cosine"] = Score(value={"cosine": 0.5}, metadata=metadata)
        write_eval_log(log)
    by_length = Options(selection=Selection(length_matched=True))
    unmatched = "cosine has no figures against population documents of like length: only what it scores is matched"
    # and both wrote the same texts
    assert [line for line in warnings(compare([tmp_path], "plain", by_length)) if "wrote" not in line] == [unmatched]
    assert [line for line in warnings(compare([tmp_path], "plain")) if "wrote" not in line] == []


def test_runs_at_opposite_ends_of_the_band_are_warned_of_without_the_advice_to_match_them(tmp_path: Path) -> None:
    # a band of 10 / 1.5 to 10 * 1.5 words: 7 and 15 lie within it, more than 1.5x apart
    facts: dict[str, Any] = {"length": {"population": 10, "matched": {}}}
    log_of(tmp_path, "plain", plots(*BEFORE), texts=(" ".join(["word"] * 6),), **facts)
    log_of(tmp_path, "long", plots(*AFTER), texts=(" ".join(["word"] * 14),), **facts)
    found = compare([tmp_path], "plain", Options(selection=Selection(length_matched=True)))
    assert warnings(found)[0] == (
        "long writes 15 words where plain writes 7: beyond 1.5x lengths do not compare; each is within the band of the "
        "population's, at opposite ends"
    )
    assert verdict(found).endswith("what long gained or lost may be length alone.")


def test_what_is_shown_beside_the_tests_is_counted_by_itself_and_families_are_named(tmp_path: Path) -> None:
    for task, values in (("plain", BEFORE), ("raised", AFTER)):
        log = log_of(tmp_path, task, plots(*values))
        for sample, value in zip(log.samples or [], values, strict=True):
            keys = {"cosine_mean": value, "cosine_nearest": value}
            (sample.scores or {})["cosine"] = Score(
                value=dict(keys), metadata={"signature": "measure:cosine|version:0"}
            )
        write_eval_log(log)
    assert verdict(compare([tmp_path], "plain")) == (
        "Of 2 differences from plain, 2 hold (raised plot +0.104, raised cosine mean +0.104) after Holm's correction "
        "within each measure at 5%, 0 more are equivalent within the margin and 0 undecided; 1 more is shown beside "
        "them and not tested."
    )
    assert "uncorrected at 5%" in verdict(compare([tmp_path], "plain", Options(correction="none")))


def test_a_tested_difference_without_enough_pairs_is_said_to_be_without_a_test(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    log_of(tmp_path, "raised", plots(*AFTER))
    log_of(tmp_path, "lone", plots(0.5))
    assert verdict(compare([tmp_path], "plain")).endswith("0 undecided and 1 could not be tested.")


def test_runs_of_unlike_length_are_all_named(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    for name in ("long", "longer", "longest"):
        log_of(tmp_path, name, plots(*AFTER), texts=("word " * 60,))
    assert "what long, longer and longest gained or lost may be length alone" in verdict(compare([tmp_path], "plain"))


@pytest.mark.parametrize(("scorers", "where"), [(("genie",), "plain"), (("genie", "other"), "plain, genie")])
def test_a_warning_about_one_of_several_scorers_names_it(scorers: tuple[str, ...], where: str, tmp_path: Path) -> None:
    half = {
        "genie": scored({"plot": 0.5}, coverage={"plot": "1/2"}),
        "other": scored({"points": 0.5}, "measure:other|version:0"),
    }
    for model in ("plain", "longer"):
        made_log(tmp_path, [{name: half[name] for name in scorers}] * 3, model=f"mock/{model}")
    lines = [
        line.removeprefix("mock/") for line in warnings(compare([tmp_path], "mock/plain")) if "could be used" in line
    ]
    assert lines[0] == f"{where}: not every question or test could be used: plot 3 of 6"


@pytest.mark.parametrize(("before", "after"), [("10/10", "8/10"), ("8/10", "10/10")])
def test_runs_that_used_unlike_shares_of_their_questions_are_warned_of_whichever_used_fewer(
    before: str, after: str, tmp_path: Path
) -> None:
    for model, share in (("plain", before), ("other", after)):
        made_log(tmp_path, [{"genie": scored({"plot": 0.5}, coverage={"plot": share})}] * 3, model=f"mock/{model}")
    (line,) = (line for line in warnings(compare([tmp_path], "mock/plain")) if "were used" in line)
    said = {"10/10": "100%", "8/10": "80%"}
    assert line == (
        f"mock/other plot: {said[after]} of its questions were used, of its baseline's {said[before]}, and nothing "
        "says which: the difference may be one of questions"
    )


@pytest.mark.parametrize("after", ["9/10", "10/10"])
def test_shares_of_questions_within_a_tenth_are_no_matter(after: str, tmp_path: Path) -> None:
    for model, share in (("plain", "10/10"), ("other", after)):
        made_log(tmp_path, [{"genie": scored({"plot": 0.5}, coverage={"plot": share})}] * 3, model=f"mock/{model}")
    assert not any("were used" in line for line in warnings(compare([tmp_path], "mock/plain")))


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


def test_where_the_pairs_do_not_vary_nobody_knows_how_many_it_would_take(tmp_path: Path) -> None:
    found = compare(written(tmp_path, (0.1, 0.2), (0.2, 0.3)), "m/0")
    assert found.rows[0].finding.power == 0
    assert advice(found) == ""


def test_a_run_as_long_as_its_baseline_may_win_by_a_length_that_is_not_the_populations(tmp_path: Path) -> None:
    files = written(tmp_path, BEFORE, AFTER, words=30, length={"population": 10, "matched": {}})
    # the baseline, which is of that length too, gains and loses nothing
    assert "what m/1 gained or lost may be length alone" in verdict(compare(files, "m/0"))


@pytest.mark.parametrize(("runs", "listed"), [(6, "m/6 plot +0.300)"), (7, "m/6 plot +0.300 and 1 more)")])
def test_six_differences_that_hold_are_named_and_the_others_counted(runs: int, listed: str, tmp_path: Path) -> None:
    files = written(tmp_path, BEFORE, *[[value + 0.3 for value in BEFORE]] * runs)
    sentence = verdict(compare(files, "m/0", Options(correction="none")))
    assert f"{runs} hold (m/1 plot +0.300" in sentence
    assert listed in sentence


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


NAN = math.nan


def test_the_studys_44_pairs_have_a_power_of_90_percent_for_a_medium_effect() -> None:
    assert pairs_needed(0.5, 1, power=0.9) == 44


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Ten prompts, of which eight have a score on both sides."""
    log_of(tmp_path, "plain", plots(*(0.5 + 0.01 * n for n in range(8)), NAN, 0.5))
    log_of(tmp_path, "raised", plots(*(0.6 + 0.02 * n for n in range(9)), NAN))
    return tmp_path


def test_the_pairs_that_survived_stand_beside_the_prompts_that_there_were(logs: Path) -> None:
    (row,) = powers(compare([logs], "plain"), 0.5)
    assert (row.run, row.key, row.prompts, row.pairs) == ("raised", "plot", 10, 8)
    assert row.power == row.corrected == paired_power(0.5, 1, 8)


def test_the_level_falls_with_the_tests_that_are_corrected_for(logs: Path) -> None:
    log_of(logs, "third", plots(*(0.55 + 0.03 * n for n in range(8))))
    comparison = compare([logs], "plain")
    assert {row.corrected for row in powers(comparison)} == {paired_power(0.5, 1, 8, 0.025)}
    alone = replace(comparison, options=Options(correction="none"))
    assert {row.corrected for row in powers(alone)} == {paired_power(0.5, 1, 8)}


def test_the_effect_is_the_one_that_is_asked_for_and_not_the_one_that_was_seen(logs: Path) -> None:
    (row,) = powers(compare([logs], "plain"), 1.2)
    assert row.power == paired_power(1.2, 1, 8)


def test_one_pair_has_no_power(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.5, NAN))
    log_of(tmp_path, "raised", plots(0.6, 0.6))
    (row,) = powers(compare([tmp_path], "plain"))
    assert (row.pairs, math.isnan(row.power)) == (1, True)


def test_the_command_shows_it_where_it_is_asked_for(logs: Path) -> None:
    runner = CliRunner(env={"COLUMNS": "120"})
    call = ["compare", str(logs), "--baseline", "plain"]
    assert "power to find" not in runner.invoke(main, call).output
    lines = runner.invoke(main, [*call, "--power-at", "0.5"]).output.splitlines()
    (line,) = (line.split() for line in lines if line.startswith(" raised plot"))
    assert line[2:] == ["10", "8", f"{paired_power(0.5, 1, 8):.0%}", f"{paired_power(0.5, 1, 8):.0%}"]
    values = json.loads(runner.invoke(main, [*call, "--power-at", "0.5", "--json"]).stdout)
    assert (values["effect"], values["power"][0]["pairs"], values["differences"][0]["prompts"]) == (0.5, 8, 10)


NEEDED_BASE = (0.1, 0.3, 0.2, 0.4, 0.15, 0.25, 0.35, 0.45)
STEPS = (0.1, -0.1) * 4


def test_so_many_prompts_have_the_power_at_the_corrected_level_and_one_fewer_has_not(tmp_path: Path) -> None:
    moved = [value + step for value, step in zip(NEEDED_BASE, STEPS, strict=True)]
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": value, "style": value})} for value in values], model=model)
        for model, values in (("mock/a", NEEDED_BASE), ("mock/b", moved))
    ]
    needed = [prompts for _, prompts in prompts_needed(compare(files, "mock/a"))]
    # sd of (0.1, -0.1, ...) over 8: sqrt(8 * 0.01 / 7); two tests, so that Holm's first step is at 2.5%
    spread = (0.08 / 7) ** 0.5
    assert len(set(needed)) == 1
    assert paired_power(0.05, spread, needed[0], 0.025) >= 0.8 > paired_power(0.05, spread, needed[0] - 1, 0.025)


def test_hardly_any_spread_still_takes_as_many_prompts_as_a_p_value_below_the_level(tmp_path: Path) -> None:
    moved = [value + 0.1 + 0.001 * step for value, step in zip(NEEDED_BASE, STEPS, strict=True)]
    files = [
        made_log(tmp_path, [{"genie": scored({"plot": value})} for value in values], model=model)
        for model, values in (("mock/a", NEEDED_BASE), ("mock/b", moved))
    ]
    # 2 / 2^n is below 0.05 from n = 6
    assert [prompts for _, prompts in prompts_needed(compare(files, "mock/a"))] == [6]


@pytest.mark.parametrize("score", [{"cosine_mean": 0.3}, {"cosine_mean": 0.3, "cosine_nearest": 0.2}])
def test_of_a_scale_that_is_not_from_0_to_1_nothing_is_said(tmp_path: Path, score: dict[str, float]) -> None:
    files = [
        made_log(
            tmp_path,
            [{"cosine": scored(dict.fromkeys(score, v + add), "measure:cosine|version:0")} for v in NEEDED_BASE],
            model=f"mock/{add}",
        )
        for add in (0.0, 0.1)
    ]
    assert list(prompts_needed(compare(files, "mock/0.0"))) == []


def test_without_a_correction_a_test_is_at_the_level_itself_and_what_has_no_spread_is_left_out(tmp_path: Path) -> None:
    moved = [value + step for value, step in zip(NEEDED_BASE, STEPS, strict=True)]
    files = [
        made_log(
            tmp_path, [{"genie": scored({"plot": v, "style": s})} for v, s in zip(values, NEEDED_BASE, strict=True)]
        )
        for values in (NEEDED_BASE, moved)
    ]
    comparison = compare(files, files[0], Options(correction="none"))
    ((row, prompts),) = prompts_needed(comparison)
    assert row.key == "plot"
    spread = (0.08 / 7) ** 0.5
    assert paired_power(0.05, spread, prompts, 0.05) >= 0.8 > paired_power(0.05, spread, prompts - 1, 0.05)
