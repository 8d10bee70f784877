"""What a comparison holds: pairs of prompts, tests and their families, means over models; and what is refused."""

import json
import math
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from scipy.stats import t
from tests.reports.made_logs import log_of, made_log, plots, scored

from genie_inspect.cli import main
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison import Comparison, PooledRow, compare, pooled
from genie_inspect.reports.pairing import Options
from genie_inspect.reports.verdict import as_csv, as_values, findings, verdict, warnings
from genie_inspect.statistics.differences import crossed_p_value, differences, paired_permutation
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.equivalence import tost

BEFORE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)
AFTER = (0.61, 0.60, 0.60, 0.66, 0.60, 0.61, 0.62, 0.61)


def test_each_key_is_compared_over_the_pairs_of_prompts(tmp_path: Path) -> None:
    logs = [log_of(tmp_path, task, plots(*own)).location for task, own in (("plain", BEFORE), ("outlined", AFTER))]
    (row,) = compare(logs, "plain").rows
    told = (row.run, row.baseline, row.scorer, row.key, row.paired_by)
    assert told == ("outlined", "plain", "genie", "plot", "prompt")
    difference = row.finding.difference
    expected = paired_permutation(BEFORE, AFTER)
    assert difference.pairs == 8
    assert (difference.before, difference.after) == pytest.approx((sum(BEFORE) / 8, sum(AFTER) / 8))
    assert (difference.delta, difference.low, difference.high) == pytest.approx(
        (expected.delta, expected.low, expected.high)
    )
    assert difference.p_value == expected.p_value
    assert difference.effect == pytest.approx(cohens_d(BEFORE, AFTER))
    assert row.finding.differs
    # an interval ends where the baseline leaves no more
    log_of(tmp_path / "high", "plain", plots(0.62, 0.5, 0.74, 0.6, 0.64, 0.62))
    log_of(tmp_path / "high", "outlined", plots(0.65, 0.97, 0.99, 0.62, 0.99, 0.98))
    difference = compare([tmp_path / "high"], "plain").rows[0].finding.difference
    assert difference.before == pytest.approx(0.62)
    assert difference.low < difference.delta < difference.high == pytest.approx(0.38)
    for method in ("t", "bootstrap"):
        (row,) = compare(logs, "plain", Options(margin=0.1, equivalence=method)).rows
        assert row.finding.difference.p_unlike == pytest.approx(tost(BEFORE, AFTER, 0.1, method).p_value)


def test_words_coherence_and_reasons_stand_beside_the_scores(tmp_path: Path) -> None:
    nan = math.nan
    facts: dict[str, Any] = {"length": {"population": 500, "matched": {}}, "coverage": {"plot": "3/4"}}
    log_of(tmp_path, "plain", {"owl": [{"plot": 0.2}, {"plot": nan}]}, coherence=(5, 1), **facts)
    log_of(tmp_path, "outlined", {"owl": [{"plot": 0.3}, {"plot": 0.3}]}, coherence=(4, 4), **facts)
    found = compare([tmp_path], "plain")
    plain, outlined = found.runs
    assert (plain.documents, plain.scored, plain.unscored) == (2, 1, {"no_response": 1})
    # words of the text and the sample's id; coherence of all that was rated: (5 + 1) / 2
    assert (plain.words, plain.population_words, plain.coherence) == (6, 500, 3)
    assert outlined.coherence == 4
    assert found.rows[0].coverage == ((6, 8), (6, 8))
    assert [row.scorer for row in found.rows] == ["genie"]
    # what nobody rated hides not the coherence of the others
    log_of(tmp_path, "unrated", {"owl": [{"plot": 0.5}]})
    unrated = [run for run in compare([tmp_path], "plain").runs if math.isnan(run.coherence)]
    assert [run.label for run in unrated] == ["unrated"]


def test_coherence_by_two_judges_is_no_cutoff_and_is_not_shown_side_by_side(tmp_path: Path) -> None:
    for task, rating, judge in (("plain", 5, "grader(a)"), ("reward", 4.1, "reward(b)")):
        rated = scored({"coherence_rating": rating}, f"measure:coherence|by:{judge}|version:0")
        made_log(tmp_path, [{"genie": scored({"plot": 0.9}), "coherence": rated}] * 2, task=task)
    with pytest.raises(LogError, match="scores by 'coherence' do not compare, their signatures differ: by is "):
        compare([tmp_path], "plain", Options(min_coherence=3))
    found = compare([tmp_path], "plain")
    assert all(math.isnan(run.coherence) for run in found.runs)
    (line,) = (line for line in warnings(found) if "coherence" in line)
    assert line.startswith("coherence is not shown: scores by 'coherence' do not compare, their signatures differ: by ")


def test_refusals_and_samples_that_gave_fewer_responses_than_asked_for_are_counted(tmp_path: Path) -> None:
    made_log(tmp_path, [{"genie": scored({"plot": 0.5})}] * 4, task="plain")
    refused = {"genie": scored({"plot": math.nan}, reason="refusal")}
    told = [{"responses_asked": 5, "responses_parsed": parsed} for parsed in (5, 3, 4)]
    samples = [{"genie": scored({"plot": 0.6})}, refused, *[{"genie": scored({"plot": 0.6})}] * 2]
    log = read_eval_log(made_log(tmp_path, samples, task="verbalized", metadatas=[*told, {}]))
    # as providers and scorers call it
    (log.samples or [])[2].output = ModelOutput.from_content("mockllm/model", "", "content_filter")
    write_eval_log(log)
    found = compare([tmp_path], "plain")
    assert [run.refusals for run in found.runs] == [0, 2]
    assert [run.fewer_responses for run in found.runs] == [(0, 0), (2, 3)]
    assert "2 of 3 samples gave fewer responses than asked for (verbalized)" in warnings(found)


def test_how_many_are_scored_is_told_by_the_first_scorer_and_one_without_any_matched_score_is_named(
    tmp_path: Path,
) -> None:
    matched, bare = scored({"plot": 0.5}, length={"population": 3, "matched": {"plot": 0.4}}), scored({"plot": 0.5})
    known, lost = (scored({"cosine": value}, "measure:cosine|version:0") for value in (0.5, math.nan))
    for task in ("plain", "raised"):
        made_log(tmp_path, [{"genie": matched, "cosine": known}, {"genie": bare, "cosine": lost}], task=task)
    for scorers, count in ((("genie", "cosine"), 2), (("cosine", "genie"), 1)):
        found = compare([tmp_path], "plain", Options(scorers=scorers, length_matched=True))
        assert [run.scored for run in found.runs] == [count] * 2
        assert found.unmatched == ("cosine",)


def test_one_log_a_scorer_that_a_log_lacks_and_logs_without_a_common_one_are_refused(tmp_path: Path) -> None:
    scores: list[dict[str, Score]] = [
        {name: scored({name: 0.5}, f"measure:{name}|version:0") for name in names} for names in ("ab", "c", "")
    ]
    files = [made_log(tmp_path, [own]) for own in scores]
    with pytest.raises(LogError, match=r"^these logs have no scorer in common: a, b; c; none$"):
        compare(files, files[0])
    with pytest.raises(LogError, match=r"one log, .*eval, expected a baseline and another to compare with it$"):
        compare(files[:1], files[0])
    with pytest.raises(LogError, match="has no scores by 'a', expected one of c"):
        compare(files, files[0], Options(scorers=("a",)))
    with pytest.raises(LogError, match="has no scores by 'a', expected one of none"):
        compare(files[::2], files[0], Options(scorers=("a",)))


PANEL = tuple(f"creativity_index_{part}" for part in ("mean", "sum", *range(5, 13)))


NEAR = tuple(value + (0.02 if place % 3 else -0.01) for place, value in enumerate(BEFORE))


@pytest.mark.parametrize(("correction", "factor"), [("holm", 2), ("bonferroni", 2), ("none", 1)])
def test_a_measures_tests_over_all_runs_and_keys_are_one_family_and_those_of_another_are_not_in_it(
    tmp_path: Path, correction: str, factor: int
) -> None:
    for task, values in (("plain", BEFORE), ("one", NEAR), ("two", NEAR)):
        scores = [
            {
                "genie": scored({"plot": value}),
                "creativity_index": scored(dict.fromkeys(PANEL, value), "measure:creativity_index|version:0"),
            }
            for value in values
        ]
        made_log(tmp_path, scores, task=task)
    # two tests of plot and two of creativity_index_mean, all of the same numbers: each measure has a family of two
    rows = compare([tmp_path], "plain", Options(correction=correction)).rows
    findings = [row.finding for row in rows if row.tested]
    raw = findings[0].difference.p_value
    assert 0 < raw < 0.25
    assert [finding.p_value for finding in findings] == pytest.approx([factor * raw] * 4)


def two_runs(folder: Path) -> Path:
    for name, step in (("plain", 0.0), ("one", 0.1), ("two", 0.002)):
        # every other prompt less, so that the atmosphere has no difference that holds
        samples = [
            {"genie": scored({"plot": value + step * (1 + value), "social_atmosphere": 0.5 + step * (-1) ** place})}
            for place, value in enumerate(BEFORE)
        ]
        made_log(folder, samples, model=f"mock/{name}")
    return folder


def test_the_keys_that_were_named_are_the_family_and_the_rest_is_shown_untested(tmp_path: Path) -> None:
    found = compare([two_runs(tmp_path)], "mock/plain", Options(keys=("plot",)))
    assert [(row.key, row.tested) for row in found.rows] == [("plot", True), ("social_atmosphere", False)] * 2
    # every prompt higher: 2 of 256 ways, times two tests, where four would give .031
    assert [row.finding.p_value for row in found.rows if row.tested] == [pytest.approx(2 * 2 / 256)] * 2
    assert "2 differences from mock/plain named beforehand, 2 are significant" in verdict(found)
    assert "2 more are shown beside them and not tested" in verdict(found)
    # a key may be named as tables show it
    rows = compare([tmp_path], "mock/plain", Options(keys=("social atmosphere",))).rows
    assert [row.tested for row in rows] == [False, True] * 2
    with pytest.raises(LogError, match=r"keys names 'tension', expected some of: plot, social_atmosphere"):
        compare([tmp_path], "mock/plain", Options(keys=("tension",)))


def test_runs_that_are_separate_questions_are_a_family_each(tmp_path: Path) -> None:
    found = compare([two_runs(tmp_path)], "mock/plain", Options(keys=("plot",), family="run"))
    assert [row.finding.p_value for row in found.rows if row.tested] == [pytest.approx(2 / 256)] * 2
    assert "after Holm's correction within each run at 5%" in verdict(found)
    assert {row.family for row in found.rows} == {"mock/one", "mock/two"}
    with pytest.raises(UnknownChoiceError, match="family is 'model', expected one of all, run"):
        compare([tmp_path], "mock/plain", Options(family="model"))


def test_a_constant_key_is_equivalent_and_a_run_that_wrote_what_its_baseline_wrote_is_no_example_of_that(
    tmp_path: Path,
) -> None:
    for name in ("plain", "told"):
        constant = [{"genie": scored({"plot": 1.0})} for _ in BEFORE]
        made_log(tmp_path / "constant", constant, model=f"mock/{name}", texts=[name] * 8)
        made_log(tmp_path / "copy", [{"genie": scored({"plot": value})} for value in BEFORE], model=f"mock/{name}")
    found = compare([tmp_path / "constant"], "mock/plain")
    finding = found.rows[0].finding
    assert (finding.difference.delta, finding.p_value, finding.differs, finding.is_equivalent) == (0, 1, False, True)
    # a table has the same columns with rows and without
    header, row = as_csv(found).splitlines()
    assert header.split(",") == list(as_values(found)["differences"][0])
    assert row.startswith("mock/told,mock/plain,genie,plot,")
    assert as_csv(replace(found, rows=())).splitlines() == [header]
    assert "and 1 is equivalent within the margin (1 constant and the same in both)" in verdict(found)
    found = compare([tmp_path / "copy"], "mock/plain")
    assert "equivalent" not in verdict(found)
    assert verdict(found).endswith("at 5% and 1 is between identical documents.")
    assert "mock/told wrote the same documents as the baseline: this compares nothing." in findings(found)
    assert not any(line.startswith("mock/told is") for line in findings(found))
    (line,) = [line for line in warnings(found) if "word for word" in line]
    assert line.startswith("mock/told wrote the same documents as its baseline")


PLAIN = {"a": (0.5, 0.6, 0.7), "b": (0.4, 0.5, 0.6)}
OUTLINED = {"a": (0.6, 0.65, 0.9), "b": (0.45, 0.5, 0.8)}


def run(folder: Path, task: str, values: Sequence[float], *, model: str, words: int, coherence: float) -> None:
    solver = "genie_inspect/outline" if task == "planned" else "generate"
    # the sample's id is a word, too
    given: dict[str, Any] = {"texts": [" ".join(["rain"] * (words - 1))], "coherence": [coherence]}
    given["spec"] = {"task_args": {"words": words, "prompts": len(values)}}
    log_of(folder, task, plots(*values), model=model, solver=solver, length={"population": 400}, **given)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for model, words in (("a", 300), ("b", 500)):
        run(tmp_path, "plain", PLAIN[model], model=model, words=words, coherence=3.0)
        run(tmp_path, "planned", OUTLINED[model], model=model, words=words + 100, coherence=words / 100)
    return tmp_path


def only(comparison: Comparison) -> PooledRow:
    (row,) = pooled(comparison)
    return row


def test_differences_of_one_prompt_are_averaged_over_models_because_prompts_are_the_units(logs: Path) -> None:
    row = only(compare([logs], "plain"))
    # prompt by prompt, (.5 + .4) / 2 and so on
    expected = differences([[0.45], [0.55], [0.65]], [[0.525], [0.575], [0.85]])[0]
    assert (row.strategy, row.key, row.models, row.runs) == ("outline", "plot", 2, 2)
    assert astuple(row.finding.difference) == pytest.approx(astuple(expected))
    # (.1 + .05 + .2 + .05 + 0 + .2) / 6, of both models up
    assert row.finding.difference.delta == pytest.approx(0.1)
    assert row.same_sign == 2
    assert only(compare([logs], "planned")).same_sign == 2, "down is a sign too"
    assert math.isnan(row.p_models), "two models are too few to stand for others"
    # of the strategy's documents and of its baseline's: 400 and 600 words, 300 and 500; coherence 3 and 5
    assert (row.run["words"], row.baseline["words"], row.run["population_words"]) == (500, 400, 400)
    assert (row.run["coherence"], row.baseline["coherence"]) == (4, 3)


def test_a_copy_of_a_run_is_refused_by_name(logs: Path) -> None:
    planned = logs / "log-1.eval"
    copy = logs / "copied.eval"
    copy.write_bytes(planned.read_bytes())
    result = CliRunner().invoke(main, ["compare", str(logs), "--baseline", "plain", "--pooled"])
    assert (result.exit_code, result.output[:7]) == (1, "Error: ")
    assert all(text in result.output for text in (planned.name, copy.name, "have the same documents"))
    # a run of some of another's documents is a copy too: other samples, the same words
    copy.unlink()
    run(logs, "planned", OUTLINED["a"][:2], model="a", words=400, coherence=3.0)
    with pytest.raises(LogError, match="would count twice"):
        list(pooled(compare([logs], "plain")))


def test_no_difference_is_found_too_often_where_prompts_and_models_hang_together() -> None:
    dice = np.random.default_rng(0)
    shared = math.sqrt(0.5) * dice.normal(size=(1000, 8, 1))
    deltas = shared + math.sqrt(0.2) * dice.normal(size=(1000, 8, 6))
    whole = deltas + math.sqrt(0.3) * dice.normal(size=(1000, 1, 6))
    by_prompt = deltas.mean(axis=2).T
    tests = differences(np.zeros_like(by_prompt), by_prompt, margin=1.0, resamples=200)
    # two standard errors of 1,000 tests above 5%
    assert np.mean([test.p_value < 0.05 for test in tests]) <= 0.064
    assert np.mean([crossed_p_value(one) < 0.05 for one in whole]) <= 0.05


def test_a_model_counts_once_however_many_runs_it_has(logs: Path) -> None:
    run(logs, "planned", (0.7,), model="a", words=100, coherence=1.0)
    row = only(compare([logs], "plain"))
    assert (row.models, row.runs, row.finding.difference.pairs) == (2, 3, 3)
    # of the first prompt model a has .1 and .2, model b .05: .1; the others .025 and .2
    assert row.finding.difference.delta == pytest.approx((0.1 + 0.025 + 0.2) / 3)
    # three documents of 400 words, three of 600, one of 100
    assert row.run["words"] == pytest.approx((3 * 400 + 3 * 600 + 100) / 7)
    # the baseline of both runs of the model counts once
    assert row.baseline["words"] == 400


def test_from_three_models_it_is_said_whether_others_would_follow(logs: Path) -> None:
    run(logs, "plain", (0.4, 0.5, 0.6), model="c", words=310, coherence=3.0)
    run(logs, "planned", (0.5, 0.65, 0.7), model="c", words=320, coherence=3.0)
    row = only(compare([logs], "plain"))
    # deltas by model .1 .05 .2, .05 0 .2, .1 .15 .1: prompts .0833 .0667 .1667, models .1167 .0833 .1167
    means = np.array([0.25, 0.2, 0.5]) / 3, np.array([0.35, 0.25, 0.35]) / 3
    error = math.sqrt(sum(own.var(ddof=1) / 3 for own in means))
    assert row.p_models == pytest.approx(2 * t.sf(means[0].mean() / error, 2))


def test_each_strategy_is_a_row_and_all_are_one_family_of_tests(logs: Path) -> None:
    run(logs, "told", (0.5, 0.6, 0.7), model="a", words=300, coherence=3.0)
    rows = list(pooled(compare([logs], "plain", Options(correction="bonferroni"))))
    assert [row.strategy for row in rows] == ["outline", "generate"]
    first = rows[0].finding
    assert first.p_value == pytest.approx(min(1, 2 * first.difference.p_value))


def test_the_command_shows_a_row_a_strategy(logs: Path) -> None:
    runner = CliRunner(env={"COLUMNS": "120"})
    call = ["compare", str(logs), "--baseline", "plain"]
    result = runner.invoke(main, [*call, "--pooled"])
    assert "pooled over models: prompts are the units" in result.output
    (line,) = (line.split() for line in result.output.splitlines() if line.startswith(" outline "))
    assert line == ["outline", "2", "3", "+0.100", "2/2", "500", "400", "400", "4.00", "3.00"]
    (row,) = json.loads(runner.invoke(main, [*call, "--pooled", "--json"]).output)["pooled"]
    assert (row["strategy"], row["run"]["words"], row["finding"]["difference"]["pairs"]) == ("outline", 500, 3)
