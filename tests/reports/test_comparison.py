"""What a comparison holds, and what is refused."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score
from tests.reports.made_logs import log_of, made_log, plots, scored

from genie_inspect.errors import UnknownChoiceError
from genie_inspect.logs.files import LogError
from genie_inspect.reports.comparison import compare
from genie_inspect.reports.pairing import Options
from genie_inspect.reports.verdict import as_csv, as_values, warnings
from genie_inspect.statistics.differences import paired_permutation
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.equivalence import tost

BEFORE = (0.50, 0.52, 0.48, 0.55, 0.51, 0.49, 0.53, 0.50)
AFTER = (0.61, 0.60, 0.60, 0.66, 0.60, 0.61, 0.62, 0.61)


def test_each_key_is_compared_over_the_pairs_of_prompts(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(*BEFORE))
    log_of(tmp_path, "outlined", plots(*AFTER))
    found = compare([tmp_path], "plain")
    (row,) = found.rows
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
    for method in ("t", "bootstrap"):
        (row,) = compare([tmp_path], "plain", Options(margin=0.1, equivalence=method)).rows
        assert row.finding.difference.p_unlike == pytest.approx(tost(BEFORE, AFTER, 0.1, method).p_value)


def test_the_same_pairs_of_documents_twice_are_no_more_evidence_than_once(tmp_path: Path) -> None:
    """Documents of a prompt hang together: each prompt is one pair, as many documents as it may have."""
    findings = []
    for copies in (1, 5):
        folder, names = tmp_path / str(copies), [f"text {number}" for number in range(copies)]
        before = {f"thing{place}": [{"plot": value}] * copies for place, value in enumerate(BEFORE)}
        after = {f"thing{place}": [{"plot": value}] * copies for place, value in enumerate(AFTER)}
        log_of(folder, "plain", before, texts=names)
        log_of(folder, "negative", after, texts=[f"not {name}" for name in names], earlier=names)
        (row,) = compare([folder], "plain").rows
        assert (row.paired_by, row.instances) == ("instance", 8 * copies)
        findings.append(row.finding)
    once, often = (finding.difference for finding in findings)
    assert often.pairs == 8
    assert often.p_value == once.p_value
    assert (often.low, often.high, often.effect) == pytest.approx((once.low, once.high, once.effect))


def test_equal_runs_are_equivalent_and_a_table_has_the_same_columns_with_rows_and_without(tmp_path: Path) -> None:
    for task in ("plain", "negative"):
        log_of(tmp_path, task, plots(*BEFORE))
    comparison = compare([tmp_path], "plain")
    finding = comparison.rows[0].finding
    assert (finding.difference.delta, finding.p_value, finding.differs, finding.is_equivalent) == (0, 1, False, True)
    header, row = as_csv(comparison).splitlines()
    assert header.split(",") == list(as_values(comparison)["differences"][0])
    assert row.startswith("negative,plain,genie,plot,")
    assert as_csv(replace(comparison, rows=())).splitlines() == [header]


def test_what_a_selection_leaves_out_is_no_evidence_either(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"coverage": {"plot": "3/4"}, "pairs": {"plot": "20/48"}, "faults": {"unreadable": 2}}
    values = {name: [{"plot": 0.9}, {"plot": 0.5}] for name in ("owl", "fox")}
    log_of(tmp_path, "plain", values, coherence=(5, 5), **facts)
    log_of(tmp_path, "salad", values, coherence=(1, 4), **facts)
    found = compare([tmp_path], "plain", Options(min_coherence=3))
    (row,) = found.rows
    assert (row.coverage, row.ratings) == (((12, 16), (6, 8)), ((80, 192), (40, 96)))
    assert [run.measures["genie"].faults for run in found.runs] == [{"unreadable": 8}, {"unreadable": 4}]


def test_scorers_stand_in_the_order_of_the_first_log_and_what_only_one_has_is_left_out(tmp_path: Path) -> None:
    one, two, three = (scored({f"k{name}": 0.5}, f"measure:{name}|version:0") for name in "abc")
    files = [
        made_log(tmp_path, [scores] * 2, model=f"m/{number}")
        for number, scores in enumerate(({"a": one, "b": two, "c": three}, {"b": two, "a": one}))
    ]
    assert list(compare(files, "m/0").signatures) == ["a", "b"]
    assert list(compare(files[::-1], "m/0").signatures) == ["b", "a"]


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


def rated_by(folder: Path, task: str, ratings: tuple[float, ...], signature: str) -> None:
    """A log with two documents of each of two prompts, their coherence rated under a signature."""
    log = log_of(folder, task, {name: [{"plot": 0.9}, {"plot": 0.5}] for name in ("owl", "fox")}, coherence=ratings)
    for sample in log.samples or []:
        ((sample.scores or {})["coherence"].metadata or {})["signature"] = signature
    write_eval_log(log)


def test_coherence_by_two_judges_is_no_cutoff_and_is_not_shown_side_by_side(tmp_path: Path) -> None:
    rated_by(tmp_path, "plain", (5, 2), "measure:coherence|by:grader(a)|version:0")
    rated_by(tmp_path, "reward", (4.1, 0.3), "measure:coherence|by:reward(b)|version:0")
    with pytest.raises(LogError) as caught:
        compare([tmp_path], "plain", Options(min_coherence=3))
    assert "scores by 'coherence' do not compare, their signatures differ: by is " in str(caught.value)
    found = compare([tmp_path], "plain")
    assert all(math.isnan(run.coherence) for run in found.runs)
    (line,) = (line for line in warnings(found) if "coherence" in line)
    assert line.startswith("coherence is not shown: scores by 'coherence' do not compare, their signatures differ: by ")
    assert {"grader(a)", "reward(b)"} <= set(line.split())


def test_refusals_and_samples_that_gave_fewer_responses_than_asked_for_are_counted(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.1, 0.2, 0.3, 0.4))
    log = log_of(tmp_path, "verbalized", plots(0.1, math.nan, 0.3, 0.4))
    samples = log.samples or []
    # as providers and scorers call it
    (samples[1].scores or {})["genie"].reason = "refusal"
    samples[2].output = ModelOutput.from_content("mockllm/model", "", "content_filter")
    for sample, parsed in zip(samples, (5, 3, 4, None), strict=True):
        sample.metadata |= {"responses_asked": 5, "responses_parsed": parsed} if parsed else {}
    write_eval_log(log)
    found = compare([tmp_path], "plain")
    assert [run.refusals for run in found.runs] == [0, 2]
    assert [run.fewer_responses for run in found.runs] == [(0, 0), (2, 3)]
    assert "2 of 3 samples gave fewer responses than asked for (verbalized)" in warnings(found)


def test_what_scores_rest_on_stands_beside_each_difference_and_is_warned_of(tmp_path: Path) -> None:
    rests: dict[str, Any] = {"coverage": {"plot": "4/4"}, "pairs": {"plot": "40/48"}}
    log_of(tmp_path, "plain", plots(0.1, 0.2), **rests)
    poor: dict[str, Any] = {"coverage": {"plot": "3/4"}, "pairs": {"plot": "20/48"}, "faults": {"unreadable": 2}}
    poor |= {"ratings": {"count": 20, "lowest": 4, "highest": 4}, "documents": 1, "few_answers": "1/3"}
    log_of(tmp_path, "poor", plots(0.1, 0.2), **poor)
    found = compare([tmp_path], "plain")
    (row,) = found.rows
    assert (row.coverage, row.ratings) == (((8, 8), (6, 8)), ((80, 96), (40, 96)))
    assert found.runs[1].measures["genie"].faults == {"unreadable": 4}
    lines = [line for line in warnings(found) if line.startswith("poor: ")]
    assert [line.removeprefix("poor: ")[:25] for line in lines] == [
        "the grader gave every pai",
        "there is a prompt for whi",
        "2 of 6 questions rest on ",
        "fewer than half of the ex",
        "not every question or tes",
    ]
    assert not any(line.startswith("plain: ") for line in warnings(found))


def test_how_many_are_scored_is_told_by_the_first_scorer(tmp_path: Path) -> None:
    for task, texts in (("plain", ("a b",)), ("raised", ("a b c d",))):
        log = log_of(tmp_path, task, plots(0.1, 0.2, 0.3), texts=texts)
        for sample, value in zip(log.samples or [], (0.5, math.nan, math.nan), strict=True):
            metadata = {"signature": "measure:cosine|version:0"}
            reason = "engine_failed" if math.isnan(value) else None
            (sample.scores or {})["cosine"] = Score(value={"cosine": value}, metadata=metadata, reason=reason)
            if not math.isnan(value):
                sample.output = ModelOutput.from_content("mockllm/model", "word " * 30)
        write_eval_log(log)
    genie_first, cosine_first = (
        compare([tmp_path], "plain", Options(scorers=scorers)).runs[0]
        for scorers in (("genie", "cosine"), ("cosine", "genie"))
    )
    assert (genie_first.scored, genie_first.unscored) == (3, {})
    assert (cosine_first.scored, cosine_first.unscored) == (1, {"engine_failed": 2})
    # of the three documents 30, 3 and 3 words: their mean, and that of the one alone
    assert (genie_first.words, cosine_first.words) == (12, 30)


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


def test_keys_are_tested_and_shown_in_the_order_of_the_scores_and_of_one_signature_where_that_is_asked(
    tmp_path: Path,
) -> None:
    old, new = (f"measure:genie|judge:{judge}|version:0" for judge in ("old", "new"))
    files = [
        made_log(tmp_path, [{"genie": scored({"style": 0.5, "plot": 0.5}, signature)}], model=f"m/{number}")
        for number, signature in enumerate((old, old, new, new))
    ]
    found = compare(files, "m/2", Options(signature="judge:new"))
    assert [(row.run, row.key) for row in found.rows] == [("m/3", "style"), ("m/3", "plot")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(correction="sidak"), "correction is 'sidak', expected one of holm, bonferroni, none"),
        (Options(equivalence="z"), "equivalence is 'z', expected one of t, bootstrap"),
        (Options(margin=0.0), "margin is 0.0, expected a number above 0$"),
        (Options(margin=math.nan), "margin is nan"),
        (Options(margin=math.inf), "margin is inf"),
    ],
)
def test_an_option_out_of_range_is_refused(tmp_path: Path, options: Options, message: str) -> None:
    with pytest.raises(UnknownChoiceError, match=message):
        compare([tmp_path], "plain", options)
