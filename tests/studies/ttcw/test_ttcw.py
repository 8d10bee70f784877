"""`genie ttcw`, as a user calls it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.scripted import Script
from tests.tasks.test_ttcw_stories import STORIES, run, said

from genie_inspect.cli import main

VOTES = {"0_plain": (0, 0), "0_bold": (1, 1), "1_plain": (0, 0)}


def called(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "220"}).invoke(main, ["ttcw", *map(str, arguments)])


def as_json(*arguments: object) -> Any:
    result = called(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log of stories in the study's two ways, and votes on them."""
    folder = tmp_path_factory.mktemp("ttcw")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("GENIE_CACHE_DIR", str(folder / "cache"))
        run(Script(said))
    rows = [
        {"story": story, "rater": "ann", "votes": {f"{place:02d}": vote for place, vote in enumerate(own, start=1)}}
        for story, own in VOTES.items()
    ]
    (folder / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_cutoffs_show_a_table_a_judge_and_mark_the_logs_own(folder: Path) -> None:
    result = called("cutoffs", folder / "logs", "--votes", folder / "votes.jsonl", "--resamples", 20)
    assert result.exit_code == 0, result.output
    for text in ("critic(mockllm/model", "*-2", "14.00", "4.67", "Spearman's rho", "3 stories"):
        assert text in result.output
    (curve,) = as_json("cutoffs", folder / "logs", "--cutoff", -1)
    assert [(point["cutoff"], round(point["total"], 2), point["rankings"]) for point in curve["points"]] == [
        (-1, 4.67, {})
    ]


def test_ways_are_rows_of_one_table(folder: Path) -> None:
    result = called("ways", folder / "logs", "--votes", folder / "votes.jsonl", "--resamples", 20)
    assert result.exit_code == 0, result.output
    for text in ("reference, analyse then rate", "alone, yes or no", "plain", "bold", "3 of 3", "pairwise accuracy"):
        assert text in result.output
    both, baseline = as_json("ways", folder / "logs")
    assert (both["total"], both["by_writer"]) == (14, {"plain": 14, "bold": 14})
    assert baseline["by_writer"] == {"plain": 0, "bold": 14}


def test_totals_are_a_histogram_by_judge_and_writer(folder: Path) -> None:
    result = called("totals", folder / "logs", "--votes", folder / "votes.jsonl")
    assert result.exit_code == 0, result.output
    assert "people" in result.output
    rows = as_json("totals", "--votes", folder / "votes.jsonl")
    assert {row["writer"]: row["totals"] for row in rows} == {"plain": [0, 0], "bold": [2]}


def test_words_are_a_row_a_plot_and_a_column_a_writer() -> None:
    result = called("words", STORIES)
    assert result.exit_code == 0, result.output
    assert all(text in result.output for text in ("plain", "bold", "fine", "15", "mean"))
    assert {row["writer"]: row["words"] for row in as_json("words", STORIES)}["bold"] == 11


@pytest.mark.parametrize("verb", ["cutoffs", "totals"])
@pytest.mark.parametrize(("ending", "begins"), [(".svg", b"<svg"), (".png", b"\x89PNG")])
def test_a_picture_is_written_by_its_ending(
    folder: Path, tmp_path: Path, verb: str, ending: str, begins: bytes
) -> None:
    pytest.importorskip("altair")
    picture = tmp_path / f"picture{ending}"
    votes = ("--votes", folder / "votes.jsonl")
    result = called(verb, folder / "logs", *votes, "--picture", picture)
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(begins)
    if ending == ".svg":
        text = picture.read_text(encoding="utf-8")
        assert ("a test passes from this score on" if verb == "cutoffs" else "bold, by people") in text


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("cutoffs", "nowhere"), "nowhere does not exist"),
        (("cutoffs", "{logs}", "--cutoff", "9"), "cutoff is 9, expected -3 to 4"),
        (("cutoffs", "{logs}", "--picture", "a.gif"), "picture is 'a.gif'"),
        (("ways", "{logs}", "--votes", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
        (("words", "nowhere.jsonl"), "nowhere.jsonl cannot be read"),
        (("totals",), "nothing to count"),
    ],
)
def test_what_cannot_be_used_is_one_line(folder: Path, arguments: tuple[str, ...], fault: str) -> None:
    result = called(*(part.format(logs=folder / "logs") for part in arguments))
    assert result.exit_code == 1
    assert fault in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("verb", ["cutoffs", "ways", "totals", "words"])
def test_every_verb_has_an_example_and_is_listed(verb: str) -> None:
    assert verb in called("--help").output
    assert f"genie ttcw {verb}" in called(verb, "--help").output
