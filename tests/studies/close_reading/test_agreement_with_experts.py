"""`genie close-reading agreement`, as a user calls it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from genie_inspect.cli import main

TIDE = "The tide folded its letters, and went home."


def called(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["close-reading", "agreement", *map(str, arguments)])


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    path = tmp_path / "passages.jsonl"
    experts = {"ann": {"novel": ["folded its letters"]}, "bob": {"novel": []}}
    readers = {"one": {"novel": ["folded its letters"]}, "other": {"novel": [TIDE]}}
    rows = [{"text": f"{TIDE} {n}", "batch": str(n), "experts": experts, "readers": readers} for n in range(3)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_readers_stand_side_by_side_by_both_rules(passages: Path) -> None:
    found = called(passages, "--resamples", 20)
    assert found.exit_code == 0, found.output
    for text in ("novel: marks against", "one", "other", "an expert, by the others", "strict: F1", "over 3 batches"):
        assert text in found.output


def test_json_has_the_same_numbers(passages: Path) -> None:
    found = json.loads(called(passages, "--resamples", 20, "--json").stdout)["novel"]
    assert {name: held["rules"]["published"]["f1"]["value"] for name, held in found["readers"].items()} == {
        "one": 1.0,
        "other": 1.0,
        "an expert, by the others": 0.0,
    }
    assert found["readers"]["other"]["rules"]["strict"]["f1"]["value"] < 0.6
    assert found["kappa"]["mean"] == 0.0


def test_a_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    found = called(tmp_path / "nowhere.jsonl")
    assert found.exit_code == 1
    assert len(found.stderr.splitlines()) == 1
