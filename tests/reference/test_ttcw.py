"""Machine judges and experts on the Torrance Test of Creative Writing: released votes, published figures.

Source: Salesforce/creativity_eval (Chakrabarty et al. 2024, BSD-3-Clause) for votes and verdicts; the averages over
stories as published with the reference-based evaluation.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.documented import ROOT
from tests.published import ttcw_released

from genie_inspect.cli import main
from genie_inspect.signature import digest

PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
PASSED = {"GPT3.5": 8.7, "GPT4": 27.8, "Claude": 30.0, "NewYorker": 84.7}  # percent of experts' votes


@pytest.fixture(params=["in the study's order", "in another"])
def folder(shared_data: Callable[[str], Path], tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    votes = json.loads(shared_data("ttcw_expert_votes.json").read_text(encoding="utf-8"))["stories"]
    if request.param == "in another":
        # the release has the stories of a prompt in no order of its own
        votes = dict(sorted(votes.items(), key=lambda row: digest(row[0])))
    judges = json.loads(shared_data("ttcw_judge_verdicts.json").read_text(encoding="utf-8"))["judges"]
    ttcw_released(tmp_path, votes, judges)
    return tmp_path


def read(*arguments: object) -> Any:
    result = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_released_answers_and_annotations_give_the_published_averages_which_are_those_of_the_page(
    folder: Path, shared_data: Callable[[str], Path]
) -> None:
    published = json.loads(shared_data("ttcw_published.json").read_text(encoding="utf-8"))
    found = read(
        *("agreement", *sorted(folder.glob("annotations_*.jsonl")), "--votes", folder / "ttcw_annotations.json"),
        *("--leave-out", "*_NewYorker", "--published-averages", "--resamples", 20),
    )
    shown = []
    for judge in ("claudev13", "claudev2", "gpt4"):
        rankings = found["judges"][judge]["rankings"]
        means = {name: round(ranking["mean"]["value"], 2) for name, ranking in rankings.items()}
        assert means == {name: published[judge][name] for name in means}
        shown.append(" ".join(f"{mean:.2f}".replace("0.", ".") for mean in means.values()))
    assert f"**{'; '.join(shown)}**" in PAGE
    assert (found["prompts"], found["stories"]) == (12, 36)
    assert {writer: round(100 * rates["average"], 1) for writer, rates in found["pass_rates"].items()} == PASSED


def test_the_means_of_the_histogram_are_those_of_the_page(folder: Path) -> None:
    rows = read("ttcw", "totals", "--votes", folder / "ttcw_annotations.json")
    means = ", ".join(f"{row['writer']} {row['mean']:.2f}" for row in rows)
    assert all(mean in PAGE for mean in means.split(", "))
    assert {len(row["totals"]) for row in rows} == {12}


@pytest.fixture
def agreement(shared_data: Callable[[str], Path]) -> dict[str, Any]:
    found: dict[str, Any] = read(
        *("agreement", shared_data("ttcw_judge_verdicts.json"), "--votes", shared_data("ttcw_expert_votes.json")),
        *("--leave-out", "*_NewYorker", "--published-averages", "--resamples", 20),
    )
    return found


def test_verdicts_as_letters_give_the_published_averages_too(
    agreement: dict[str, Any], shared_data: Callable[[str], Path]
) -> None:
    published = json.loads(shared_data("ttcw_published.json").read_text(encoding="utf-8"))
    for judge in ("claudev13", "claudev2", "gpt4"):
        rankings = agreement["judges"][judge]["rankings"]
        for measure in ("spearman", "kendall", "pairwise_accuracy"):
            assert round(rankings[measure]["mean"]["value"], 2) == published[judge][measure]
    assert (agreement["prompts"], agreement["stories"]) == (12, 36)
    # gpt4 gives all three stories of two plots the same total
    undefined = {judge: found["rankings"]["spearman"]["undefined"] for judge, found in agreement["judges"].items()}
    assert undefined == {"claudev13": 0, "claudev2": 0, "gpt4": 2}


def test_the_pass_rates_of_experts_are_the_published_ones_and_they_agree_beyond_chance(
    agreement: dict[str, Any],
) -> None:
    averages = {writer: round(100 * rates["average"], 1) for writer, rates in agreement["pass_rates"].items()}
    assert averages == PASSED
    assert all(len(rates) == 14 + 1 for rates in agreement["pass_rates"].values())
    people = {name: interval["value"] for name, interval in agreement["people"].items()}
    assert 0 < people["fleiss_kappa"] < 1
    assert people["krippendorff_alpha"] == pytest.approx(people["fleiss_kappa"], abs=0.001)
