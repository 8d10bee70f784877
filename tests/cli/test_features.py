"""`genie features map`, as a user calls it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai.model import Model, get_model
from tests.scripted import Script, numbered, saying

import genie_inspect.cli.running as running
from genie_inspect.cli import main
from genie_inspect.files.folders import DATA
from genie_inspect.populations.population import write_features
from genie_inspect.populations.schema import Feature

FOUND = (Feature(name="mood", definition="How it feels."), Feature(name="font", definition="How it is set."))
REPLY = numbered({1: "social_atmosphere", 2: "none"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "found").mkdir()
    write_features(tmp_path / "found" / "features.json", FOUND)
    return tmp_path


def called(monkeypatch: pytest.MonkeyPatch, script: Script, *arguments: str) -> Result:
    def model(name: str) -> Model:
        return script.model() if name == "mock/g" else get_model(name)

    monkeypatch.setattr(running, "get_model", model)
    return CliRunner().invoke(
        main, ["features", "map", "found", "--taxonomy", "starter", "--grader", "mock/g", *arguments]
    )


def test_the_mapping_is_a_table_with_what_is_left_on_either_side(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = called(monkeypatch, saying(REPLY))
    assert result.exit_code == 0, result.output
    assert "with counterpart: 1 of 2\n" in result.stdout
    assert any(line.split("│")[1:3] == [" mood       ", " social_atmosphere "] for line in result.stdout.splitlines())
    assert "no counterpart: font\n" in result.stdout
    assert "nothing maps to: agent, perspective, plot, setting, style\n" in result.stdout
    assert "unreadable" not in result.stdout
    assert (folder / "found" / "mapping.json").is_file()


def test_json_has_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = called(monkeypatch, saying(REPLY), "--json", "-o", "other.json")
    said: dict[str, Any] = json.loads(result.stdout)
    assert said["mapping"] == {"mood": "social_atmosphere"}
    assert (said["no_counterpart"], said["unreadable"], said["calls"]) == (["font"], [], 1)
    assert said["file"] == "other.json"
    assert json.loads((folder / "other.json").read_text())["mapping"] == said["mapping"]
    assert not (folder / "found" / "mapping.json").exists()


def test_a_dry_run_counts_its_calls_without_a_key_and_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    arguments = [
        "features",
        "map",
        "found",
        "--taxonomy",
        "starter",
        "--grader",
        "openai/gpt-4o",
        "--dry-run",
        "--json",
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert (said["discovered"], said["taxonomy"], said["calls_needed"]) == (2, 6, 1)
    assert said["input_tokens"] > 200
    assert [path.name for path in (folder / "found").iterdir()] == ["features.json"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["nowhere", "--taxonomy", "starter"], "nowhere holds no features.json"),
        (["found", "--taxonomy", "nowhere"], "features are 'nowhere', expected"),
        (["found", "--taxonomy", "starter", "-o", "taken.json"], "taken.json"),
    ],
)
def test_wrong_input_is_one_clear_line(
    arguments: list[str], fault: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "taken.json").write_text("mine")
    result = CliRunner().invoke(main, ["features", "map", *arguments, "--grader", "mockllm/model"])
    assert result.exit_code == 1
    assert fault in result.output
    assert len(result.output.splitlines()) == 1


def test_an_unreadable_reply_is_one_clear_line_that_says_what_was_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = called(monkeypatch, saying(""))
    assert result.exit_code == 1
    assert "no reply of mockllm/model names a feature of the taxonomy" in result.stderr
    assert "asked until then: calls 3" in result.stderr
    assert not (folder / "found" / "mapping.json").exists()


def test_the_mapping_of_features_that_ship_goes_to_a_file_that_is_named() -> None:
    shipped = str(DATA / "examples" / "abstracts")
    arguments = ["features", "map", shipped, "--taxonomy", "starter", "--grader", "mockllm/model", "--dry-run"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "ships with the package, which is not written: name a file with --output" in " ".join(result.output.split())
    assert not (DATA / "examples" / "abstracts" / "mapping.json").exists()
