"""The study behind Genie: the scores of its edits as it released them, by the command and the script of the page."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import released_data
from click.testing import CliRunner
from tests.documented import ROOT

from genie_inspect.cli import main

PAGE = (ROOT / "docs" / "metric_study.md").read_text(encoding="utf-8")
FEATURES = ("agent", "perspective", "plot", "setting", "social_atmosphere", "style")


@pytest.fixture
def folder(shared_data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(shared_data("genie_edited_scores.jsonl.gz"), tmp_path)
    monkeypatch.chdir(tmp_path)
    released_data.edited_scores("genie_edited_scores.jsonl.gz")  # what the page tells a user to run
    return tmp_path


def own_effects(file: Path) -> dict[str, float]:
    result = CliRunner().invoke(main, ["validate", str(file), "--json"])
    assert result.exit_code == 0, result.output
    return {row["key"]: row["effect"] for row in json.loads(result.stdout)["effects"] if row["is_own"]}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        # by hand from the release: of each original the mean of a feature's edits less that of all others
        ("released.csv", (0.53, 1.02, 0.78, 0.98, 0.47, 0.28)),
        ("released_by_prompt.csv", (0.63, 1.11, 0.93, 0.88, 0.46, 0.51)),
    ],
)
def test_effects_of_the_released_scores_come_out_to_two_digits_and_stand_on_the_page(
    folder: Path, file: str, expected: tuple[float, ...]
) -> None:
    effects = own_effects(folder / file)
    assert tuple(round(effects[feature], 2) for feature in FEATURES) == expected
    assert " | ".join(f"{effect:.2f}".lstrip("0") for effect in expected) in PAGE


def test_the_table_says_what_stands_for_the_originals_and_what_is_a_pair(folder: Path) -> None:
    output = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["validate", str(folder / "released.csv")]).output
    assert "prompts: 30 (each original its own), no originals: edits of other features replace them" in output
    assert "other edits" in output
    assert "words" not in output.split("A prompt is one pair")[0]
    named = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["validate", str(folder / "released_by_prompt.csv")]).output
    assert "prompts: 18, no originals: edits of other features replace them" in named
