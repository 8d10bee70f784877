"""`genie population yardstick`, called as a user calls it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.recorded import recorded_starter
from tests.scripted import OWL, small_population

from genie_inspect.cli import main
from genie_inspect.populations.population import Population, open_population
from genie_inspect.populations.yardstick import (
    YARDSTICK,
    Measured,
    Yardstick,
    with_measured,
    write_yardstick,
    yardstick_file,
    yardstick_of,
)

GRADER = ("--grader", "bundled/grader")


def called(folder: object, *options: object) -> Result:
    return CliRunner().invoke(main, ["population", "yardstick", *map(str, (folder, *options))])


def found(folder: object, *options: object) -> Any:
    result = called(folder, *options, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_population_gets_its_yardstick_and_the_command_says_what_came_out(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        said = found("starter", *GRADER)
    assert said["file"] == str(population.folder / YARDSTICK)
    assert said["documents"] == 5
    # plot: the owls 0.5 each, the foxes 1; style: the two owls that say their tone, 1
    assert said["mean_novelty"] == {"plot": 0.75, "style": 1.0}
    assert said["missing"] == {"unspecified": 1}
    (measured,) = yardstick_of(population.folder).measured
    assert measured.signature == said["signature"]
    owls = {document.id for document in population.documents(OWL)}
    assert {document for document, novelty in measured.novelty.items() if novelty["plot"] == 0.5} == owls


def test_a_second_instrument_stands_beside_the_first_and_an_output_of_its_own_leaves_the_folder_alone(
    tmp_path: Path,
) -> None:
    population = small_population(tmp_path / "population")
    first = found(population.folder, "--judge", "embedded")
    before = sorted(file.name for file in population.folder.iterdir())
    with recorded_starter(tmp_path / "recorded") as recorded:
        found("starter", "--judge", "embedded")
        found("starter", *GRADER, "-o", tmp_path / "elsewhere.json")
    assert len(yardstick_of(recorded.folder).measured) == 1
    elsewhere = json.loads((tmp_path / "elsewhere.json").read_text(encoding="utf-8"))
    assert [one["signature"].split("|")[1].split("(")[0] for one in elsewhere["measured"]] == [
        "judge:embedded",
        "judge:list",
    ]
    assert found(population.folder, "--judge", "embedded") == first
    assert sorted(file.name for file in population.folder.iterdir()) == before


def test_a_dry_run_takes_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert found("starter", "--grader", "openai/gpt-4o", "--dry-run")["calls_needed"] > 0


def test_a_dry_run_counts_and_writes_nothing(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        said = found("starter", *GRADER, "--dry-run")
        assert found("starter", "--judge", "embedded", "--dry-run")["calls_needed"] == 0
    # read already; of three owls to three questions 3, 3 and 2 answers, of two foxes 2: a call each
    assert (said["documents"], said["calls_needed"]) == (5, 10)
    assert said["input_tokens"] > said["output_tokens"] > 0
    assert not (population.folder / YARDSTICK).exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--judge list asks a model, name it: --grader PROVIDER/MODEL"),
        (("--judge", "embedded", *GRADER), "--judge embedded asks no model: leave --grader out"),
        (("--judge", "lists", *GRADER), "'lists', expected one of list, pairwise, logit, vectors, embedded"),
        (GRADER, "bundled/grader has no record of"),
        (("--judge", "embedded", "-o", "nowhere/y.json"), "nowhere/y.json cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_leaves_no_file(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    population = small_population(tmp_path / "population")
    result = called(population.folder, *options)
    assert result.exit_code != 0
    assert said in result.output
    assert "Traceback" not in result.output
    assert not (population.folder / YARDSTICK).exists()


def test_a_changed_yardstick_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    population: Population = small_population(tmp_path / "population")
    found(population.folder, "--judge", "embedded")
    path = population.folder / YARDSTICK
    path.write_text(path.read_text(encoding="utf-8").replace('"plot": 1.0', '"plot": 0.0'), encoding="utf-8")
    assert "was changed after it was made; remove it" in called(population.folder, "--judge", "embedded").output


def test_what_ships_is_never_written_and_its_yardstick_is_found_in_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENIE_DATA_DIR", str(tmp_path / "data"))
    shipped = open_population("abstracts").folder
    before = {file: file.stat().st_mtime_ns for file in shipped.rglob("*")}
    said = found("abstracts", "--judge", "embedded")
    assert {file: file.stat().st_mtime_ns for file in shipped.rglob("*")} == before
    assert Path(said["file"]).is_relative_to(tmp_path / "data")
    # by its name and by its path, as a scorer of that instrument looks for it
    for folder in (shipped, shipped / ".." / shipped.name):
        measured = yardstick_of(folder).under(said["signature"])
        assert measured is not None
        assert len(measured.novelty) == said["documents"]


def test_a_users_yardstick_stands_beside_the_one_that_ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENIE_DATA_DIR", str(tmp_path / "data"))
    starter = open_population("starter").folder
    shipped = yardstick_of(starter)
    assert shipped.measured
    # made with an earlier starter: it belongs to another population, and hides nothing
    earlier = Measured(signature=shipped.measured[0].signature.replace("@", "@0"), novelty={"d1": {"plot": 0.5}})
    own = yardstick_file(starter)
    own.parent.mkdir(parents=True)
    write_yardstick(own, with_measured(Yardstick(), earlier))
    for measured in (earlier, *shipped.measured):
        assert yardstick_of(starter).under(measured.signature) == measured
