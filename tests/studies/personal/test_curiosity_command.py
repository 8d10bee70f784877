"""`genie rater curiosity`, as a user calls it."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.studies.personal.made import votes

from genie_inspect.cli import main
from genie_inspect.studies.personal.curiosity_vectors import (
    EXPLANATIONS,
    READING,
    Explanation,
    VectorCuriosity,
)


def called(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "250"})
    return runner.invoke(main, ["rater", "curiosity", *map(str, arguments), "--folds", "3", "--resamples", "5"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(json.dumps(vote.model_dump()) + "\n" for vote in votes(12)), encoding="utf-8")
    return path


def test_held_out_shows_all_columns_and_says_that_it_reads_the_answer(file: Path) -> None:
    shown = called(file, "--explanation", "held-out")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith(READING["held-out"] + "\n")
    for text in ("by rows", "whole plots", "without the explanation", "Pearson", "F1", "log loss", "AUC", "kappa"):
        assert text in shown.stdout
    assert shown.stdout.count("reads the answer,") == 2


def test_a_folder_is_written_with_what_was_asked_for(file: Path, tmp_path: Path) -> None:
    shown = called(file, "-o", tmp_path / "mine", "--set", "ridge=2")
    assert shown.exit_code == 0, shown.output
    manifest = json.loads((tmp_path / "mine/curiosity.json").read_text())
    assert manifest["comparison"]["settings"]["ridge"] == 2
    assert manifest["comparison"]["reading"] == READING["none"]


@pytest.mark.parametrize("reading", EXPLANATIONS)
def test_the_model_that_is_written_reads_what_its_folder_says(file: Path, tmp_path: Path, reading: Explanation) -> None:
    assert called(file, "-o", tmp_path / "mine", "--explanation", reading).exit_code == 0
    with np.load(tmp_path / "mine/weights/coefficients.npz") as arrays:
        written = arrays["verdict_weights"]
    assert written == pytest.approx(VectorCuriosity(reading).fit(votes(12)).classifier[:-1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "epochs=3"], "setting is 'epochs', expected one of rater_weight, ridge, penalty, as name=value"),
        (["--explanation", "own"], "'own' is not one of 'none', 'held-out'"),
        (["-o", "."], "."),
    ],
)
def test_a_wrong_option_is_one_line(file: Path, options: list[str], said: str) -> None:
    shown = called(file, *options)
    assert shown.exit_code
    assert said in shown.stderr


def test_held_out_without_explanations_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    rows = [vote.model_dump() | {"explanation": None} for vote in votes(12)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    shown = called(path, "--explanation", "held-out")
    assert shown.exit_code == 1
    assert shown.stderr.strip().splitlines()[-1].startswith("Error: none of 24 votes has an explanation")


@pytest.mark.parametrize(
    ("package", "said"),
    [
        (None, "the curiosity model on a base model needs the extra personal: pip install"),
        (object(), "Error: base models/qwen does not exist, expected a folder with a causal model"),
    ],
)
def test_a_base_needs_the_extra_and_a_folder(
    package: object, said: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genie_inspect.studies.personal.curiosity_models.find_spec", lambda name: package)
    shown = called(file, "--base", "models/qwen")
    assert shown.exit_code == 1
    assert said in shown.stderr
