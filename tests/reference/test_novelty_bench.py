"""The released NoveltyBench run of Gemini 1.5 Pro (curated, first 50 prompts; Zhang et al. 2025, MIT)."""

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from genie_inspect.measures.partition import distinct_count, partition, short_texts_same, utility

Rows = list[dict[str, Any]]


def rows(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def run(shared_data: Callable[[str], Path]) -> Rows:
    return rows(shared_data("noveltybench_gemini15pro_curated_first50.jsonl"))


def test_all_50_rows_give_their_distinct_and_utility(run: Rows) -> None:
    assert len(run) == 50
    for row in run:
        assert distinct_count(row["partition"]) == row["expected_distinct"]
        # a first member's quality is its class's; the published run writes 0 for the others
        assert utility(row["generation_scores"], row["partition"]) == pytest.approx(row["expected_utility"], abs=1e-9)
        qualities = [row["partition_scores"][label] for label in row["partition"]]
        assert utility(qualities, row["partition"]) == pytest.approx(row["expected_utility"], abs=1e-9)
    # its summary.json prints 0.83 for distinct, which counts classes from 0
    assert sum(row["raw_distinct_field"] + 1 for row in run) == sum(row["expected_distinct"] for row in run)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_prefixes_are_measured_as_runs_of_their_own(k: int, run: Rows) -> None:
    for row in run:
        classes, scores = row["partition"][:k], row["generation_scores"][:k]
        weights = [0.8**place for place in range(k)]
        expected = sum(weight * score for weight, score in zip(weights, scores, strict=True)) / sum(weights)
        assert utility(scores, classes) == pytest.approx(expected, abs=1e-9)
        assert distinct_count(classes) == max(classes) + 1


def test_the_greedy_partition_is_the_published_one_and_short_texts_that_are_the_same_are_in_one_class(
    shared_data: Callable[[str], Path],
) -> None:
    # the other way round it does not hold: the released run has "Surgeon" and "Doctor" in one class, which share no
    # word, as if it had asked the classifier where the rule says no
    pairs = 0
    for row in rows(shared_data("noveltybench_texts_first50.jsonl")):
        assert partition(row["partition"], lambda first, item: first == item) == row["partition"]
        for first, item in combinations(range(10), 2):
            if short_texts_same(row["generations"][first], row["generations"][item]):
                assert row["partition"][first] == row["partition"][item]
                pairs += 1
    assert pairs > 100
