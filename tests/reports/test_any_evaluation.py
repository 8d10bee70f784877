"""Comparison of evaluations that have nothing to do with novelty: pairs, clusters, epochs and missing samples."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, match, model_graded_qa
from tests.reports.made_logs import made_log, made_run

from genie_inspect.cli import main
from genie_inspect.logs.files import LogError
from genie_inspect.logs.reading import ScoredDocument, read_scored_log
from genie_inspect.logs.scores import Scores, scores_of
from genie_inspect.reports.comparison import Comparison, compare, comparison_of
from genie_inspect.reports.pairing import Options
from genie_inspect.reports.verdict import as_values, warnings
from genie_inspect.signature import Signature
from genie_inspect.statistics.differences import MCNEMAR, paired_permutation, paired_shares_interval

NAN = math.nan


def answer(sample: str | int, value: float, question: str = "", epoch: int = 1, **metadata: str) -> ScoredDocument:
    scores = {"match": Scores({"match": value})}
    return ScoredDocument(sample, epoch, question or f"Question {sample}", "words", 1, scores, metadata=metadata)


def compared(before: Sequence[ScoredDocument], after: Sequence[ScoredDocument], **options: Any) -> Comparison:
    runs = [made_run(*before, label="small"), made_run(*after, label="large")]
    for run in runs:
        # as a scorer of Inspect's own: without a signature
        run.signatures["match"] = (Scores({}).signature,)  # type: ignore[index] # a dict
    return comparison_of(runs, "small", Options(**options))


def reply(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


RIGHT = {"small": "1110000000", "large": "1011111110"}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A question-answering task with two scorers, by two models."""
    folder = tmp_path_factory.mktemp("logs")
    for name, right in RIGHT.items():
        answers = iter(right)

        def said(*given: Any, answers: Any = answers) -> ModelOutput:
            return reply("4" if next(answers) == "1" else "5")

        def grade(messages: Sequence[Any], *given: Any) -> ModelOutput:
            submission = messages[-1].text.split("[Submission]")[1].split("***")[0]
            return reply("GRADE: C" if "4" in submission else "GRADE: I")

        samples = [Sample(id=f"s{n}", input=f"{n} + {4 - n}", target="4", metadata={"book": n // 4}) for n in range(10)]
        evaluate(
            Task(MemoryDataset(samples), scorer=[match(), model_graded_qa()], name="sums"),
            model=get_model(f"mockllm/{name}", custom_outputs=said),
            model_roles={"grader": get_model("mockllm/grader", custom_outputs=grade)},
            max_samples=1,
            display="none",
            log_dir=str(folder),
        )
    return folder


def test_a_matched_and_a_graded_task_are_compared_by_mcnemars_test(logs: Path) -> None:
    found = compare([logs], "mockllm/small")
    assert [(row.scorer, row.paired_by, row.test) for row in found.rows] == [
        ("match", "sample", MCNEMAR),
        ("model_graded_qa", "sample", MCNEMAR),
    ]
    for row in found.rows:
        # 2 stay right, 1 is lost, 6 are won and 1 stays wrong: (1 + 7) * 2 of 2^7
        difference = row.finding.difference
        assert (difference.before, difference.after, difference.pairs) == (0.3, 0.8, 10)
        assert difference.p_value == pytest.approx(16 / 128)
        assert (difference.low, difference.high) == paired_shares_interval(2, 1, 6, 1)
    assert as_values(found)["test"] == MCNEMAR
    assert warnings(found) == []
    result = CliRunner().invoke(main, ["compare", str(logs), "--baseline", "mockllm/small"])
    output = " ".join(result.output.split())
    told = ("paired by sample", "p raw: exact McNemar test", "pairs: samples.", "Newcombe's for paired shares")
    assert [text for text in told if text not in output] == []
    assert "prompt" not in output


def test_clusters_of_a_log_are_what_its_metadata_says_and_an_unknown_key_lists_those_there_are(logs: Path) -> None:
    row, _ = compare([logs], "mockllm/small", Options(cluster="metadata.book")).rows
    difference = row.finding.difference
    assert (row.paired_by, row.units, row.prompts, row.instances, difference.pairs) == (
        *("metadata.book", "clusters", 3),
        *(10, 3),
    )
    # by hand: of 4, 4 and 2 samples 3, 0, 0 are right, and 3, 4, 1
    assert (difference.before, difference.after) == pytest.approx(((3 / 4) / 3, (3 / 4 + 1 + 1 / 2) / 3))
    for wrong in ("metadata.page", "book"):
        with pytest.raises(LogError, match=rf"cluster is '{wrong}'.*expected one of: metadata\.book, prompt"):
            compare([logs], "mockllm/small", Options(cluster=wrong))
    output = CliRunner().invoke(
        main, ["compare", str(logs), "--baseline", "mockllm/small", "--cluster", "metadata.book"]
    )
    assert "pairs: clusters (pairs of samples in them)" in " ".join(output.output.split())


def test_letters_are_scores_as_inspect_counts_them_but_not_of_a_scorer_of_ours() -> None:
    letters: Mapping[str, str] = {"right": "C", "half": "P", "wrong": "I", "none": "N", "other": "X"}
    found = scores_of("graded", Score(value=dict(letters)))
    assert [found.values[name] for name in ("right", "half", "wrong", "none")] == [1, 0.5, 0, 0]
    assert math.isnan(found.values["other"])
    assert scores_of("match", Score(value="C")).values == {"match": 1}
    assert scores_of("match", Score(value="X")).values == {}
    assert scores_of("genie", Score(value="C", metadata={"signature": "measure:genie|version:0"})).values == {}


def test_epochs_are_means_per_sample_whose_p_is_that_of_all_ways_to_sign_them() -> None:
    values = {"a": ((1, 0), (1, 1)), "b": ((0, 0), (1, NAN)), "c": ((0, 1), (1, 0)), "d": ((0, 0), (1, 0))}
    before, after = (
        [answer(name, own[side][epoch], epoch=epoch + 1) for name, own in values.items() for epoch in (0, 1)]
        for side in (0, 1)
    )
    (row,) = compared(before, after).rows
    difference = row.finding.difference
    # deltas .5, 1, 0, .5: 2 is reached by the 2 ways that leave the three others' signs alike, times 2 for the 0
    assert (difference.delta, difference.p_value, row.test) == (0.5, 4 / 16, "sign-flip permutation test")


def test_missing_samples_are_counted_and_said() -> None:
    before = [answer(number, number % 2) for number in range(8)]
    after = [answer(number, NAN if number == 5 else 1) for number in range(2, 9)]
    found = compared(before, after)
    (row,) = found.rows
    assert (row.finding.difference.pairs, row.prompts) == (5, 9)
    said = "large match: 5 of 9 samples are compared: 2 are only in small, 1 only in large, and 1 have no score in one"
    assert any(line.startswith(said) for line in warnings(found))


def test_samples_that_share_their_input_are_paired_by_id_and_pointed_out() -> None:
    before = [answer(number, 0, "What is this?") for number in range(4)] + [answer("x", 1)]
    after = [answer(number, number % 2, "What is this?") for number in range(4)] + [answer("x", 1)]
    found = compared(before, after)
    assert (found.rows[0].paired_by, found.rows[0].finding.difference.pairs) == ("sample", 5)
    assert any("4 samples share their input" in line and "--cluster prompt" in line for line in warnings(found))
    found = compared(before, after, cluster="prompt")
    assert found.rows[0].finding.difference.pairs == 2
    assert found.rows[0].finding.difference.after == (0.5 + 1) / 2
    assert not any("share their input" in line for line in warnings(found))


def test_samples_whose_dataset_states_a_prompt_and_those_of_a_measure_of_ours_are_paired_by_prompt(
    tmp_path: Path,
) -> None:
    before = [answer(number, 0, "One", prompt="One") for number in range(4)] + [answer("x", 1, prompt="x")]
    assert compared(before, before).rows[0].paired_by == "prompt"
    signed = {"match": Scores({"match": 1.0}, signature=Signature("measure:match"))}
    before = [replace(answer(number, 1), scores=signed) for number in range(4)]
    assert compared(before, before).rows[0].paired_by == "prompt"
    ours = {"genie": Score(value={"plot": 1.0}, metadata={"signature": "measure:genie|version:0"})}
    for task in ("plain", "other"):
        file = made_log(tmp_path, [ours] * 3, task=task, metadatas=[{"book": "b", "long": "x" * 200, "list": [1]}] * 3)
    row = compare([tmp_path], "plain").rows[0]
    assert (row.paired_by, row.test) == ("prompt", "sign-flip permutation test")
    kept = read_scored_log(file).documents[0].metadata
    assert (kept["book"], "list" in kept, len(kept["long"]) < 100) == ("b", False, True)


def test_a_sample_that_lies_in_two_clusters_or_in_none_is_an_error() -> None:
    before = [answer(number, 0, book="a") for number in range(3)]
    with pytest.raises(LogError, match=r"metadata\.book of 'Question 0' is both a and b"):
        compared(before, [answer(number, 1, book="b") for number in range(3)], cluster="metadata.book")
    with pytest.raises(LogError, match=r"sample 3 of small\.eval lacks it, expected one of: metadata\.book, prompt"):
        compared([*before, answer(3, 0)], before, cluster="metadata.book")


def test_each_cluster_counts_once_and_only_by_the_samples_that_both_runs_scored() -> None:
    books = ["a"] * 4 + ["b"] * 2 + ["c", "d", "e", "f"]
    before = [answer(number, 0, book=book) for number, book in enumerate(books)]
    after = [answer(n, [1, 1, 0, NAN, 1, 0, 1, 1, 0, 1][n], book=book) for n, book in enumerate(books)]
    found = compared(before, after, cluster="metadata.book")
    difference = found.rows[0].finding.difference
    deltas = [2 / 3, 1 / 2, 1, 1, 0, 1]
    assert difference.delta == pytest.approx(np.mean(deltas))
    expected = paired_permutation([0] * 6, deltas)
    assert (difference.p_value, difference.low, difference.high) == pytest.approx(
        (expected.p_value, expected.low, expected.high)
    )
    assert found.rows[0].instances == 9
