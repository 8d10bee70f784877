"""`genie population size` and `genie population yardstick`, called as a user calls them."""

import json
import math
from functools import partial
from pathlib import Path

import pytest
from tests.cli.called import as_json, genie
from tests.recorded import recorded_starter
from tests.reports.made_logs import made_log, scored
from tests.scripted import OWL, small_population

from genie_inspect.measures.genie import Tally
from genie_inspect.populations.population import open_population
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
YARDSTICK_VERB = ("population", "yardstick")
called, found = partial(genie, "population", "size"), partial(as_json, "population", "size")
called_yardstick, found_yardstick = partial(genie, *YARDSTICK_VERB), partial(as_json, *YARDSTICK_VERB)

# arXiv 2606.12790, table 6: variance, standard deviation and population as printed, behind an unrounded deviation that
# gives all three
TABLE_6 = {
    "agent": (0.2745, 0.08, 0.27, 41),
    "perspective": (0.302, 0.09, 0.30, 50),
    "plot": (0.2700, 0.07, 0.27, 40),
    "setting": (0.2710, 0.07, 0.27, 40),
    "social_atmosphere": (0.2600, 0.07, 0.26, 37),
    "style": (0.2870, 0.08, 0.29, 45),
}


def spread(**sds: float) -> dict[str, dict[str, float]]:
    return {feature: {"sd": sd, "degrees": 100} for feature, sd in sds.items()}


def test_a_log_with_the_studys_spreads_gives_its_table(tmp_path: Path) -> None:
    sds = {feature: row[0] for feature, row in TABLE_6.items()}
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, spread=spread(**sds))}])
    for feature, figures in found(log)["features"].items():
        _, variance, sd, needed = TABLE_6[feature]
        assert (round(figures["variance"], 2), round(figures["sd"], 2), figures["needed"]) == (variance, sd, needed)
    # the printed standard deviations would give other sizes: the study has 41 and 50
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, spread=spread(agent=0.27, perspective=0.30))}])
    assert [figures["needed"] for figures in found(log)["features"].values()] == [40, 49]
    before = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])
    assert "no score by genie says how far similarities lie apart; score again" in called(before).output


def test_documents_and_logs_are_pooled_and_margin_and_confidence_count(tmp_path: Path) -> None:
    few, many = ({"plot": {"sd": sd, "degrees": n}} for sd, n in ((0.2, 1), (math.sqrt(0.08), 3)))
    scores = [[{"genie": scored({"plot": 0.5}, spread=facts)}] for facts in (few, many)]
    logs = [made_log(tmp_path / str(number), samples) for number, samples in enumerate(scores)]
    figures = found(*logs, "--margin", "0.2", "--confidence", "0.95")["features"]["plot"]
    assert (figures["variance"], figures["degrees"]) == (pytest.approx(0.07), 4)
    assert figures["needed"] == math.ceil((1.959964 / 0.2) ** 2 * 0.07) == 7


def test_a_populations_own_documents_are_compared_and_its_yardstick_stays_unwritten(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        figures = found("starter", *GRADER)["features"]
        shown = called("starter", *GRADER).output.replace("│", " ").splitlines()
    # two plot questions of three owls, each compared with two others that are alike; a fox has one other
    assert figures["plot"] == {"variance": 0, "sd": 0, "degrees": 6, "needed": 1}
    # two owls say their tone: one similarity each lies nowhere apart
    assert figures["style"] == {"variance": None, "sd": None, "degrees": 0, "needed": None}
    assert ["style", "-", "-", "0", "-"] in map(str.split, shown)
    assert not (population.folder / YARDSTICK).exists()


def test_a_population_gets_its_yardstick_and_the_command_says_what_came_out(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        said = found_yardstick("starter", *GRADER)
    assert said["file"] == str(population.folder / YARDSTICK)
    assert said["documents"] == 5
    # plot: the owls 0.5 each, the foxes 1; style: the two owls that say their tone, 1
    assert said["mean_novelty"] == {"plot": 0.75, "style": 1.0}
    assert said["missing"] == {"unspecified": 1}
    (measured,) = yardstick_of(population.folder).measured
    assert measured.signature == said["signature"]
    unlike, alike = (
        {question.id: tallies}
        for question, tallies in zip(population.questions(OWL), ((Tally(2, 2, 2),), (Tally(8, 2, 2),)), strict=False)
    )
    for document in population.documents(OWL):
        assert measured.ratings[document.id].items() >= (unlike | alike).items()


def test_a_second_instrument_stands_beside_the_first_and_an_output_of_its_own_leaves_the_folder_alone(
    tmp_path: Path,
) -> None:
    population = small_population(tmp_path / "population")
    first = found_yardstick(population.folder, "--judge", "embedded")
    before = sorted(file.name for file in population.folder.iterdir())
    with recorded_starter(tmp_path / "recorded") as recorded:
        found_yardstick("starter", "--judge", "embedded")
        found_yardstick("starter", *GRADER, "-o", tmp_path / "elsewhere.json")
    assert len(yardstick_of(recorded.folder).measured) == 1
    elsewhere = json.loads((tmp_path / "elsewhere.json").read_text(encoding="utf-8"))
    judges = [one["signature"].split("|")[1].split("(")[0] for one in elsewhere["measured"]]
    assert judges == ["judge:embedded", "judge:list"]
    assert found_yardstick(population.folder, "--judge", "embedded") == first
    assert sorted(file.name for file in population.folder.iterdir()) == before
    path = population.folder / YARDSTICK
    path.write_text(path.read_text(encoding="utf-8").replace("[1.0,1,1]", "[2.0,1,1]"), encoding="utf-8")
    refused = called_yardstick(population.folder, "--judge", "embedded")
    assert "was changed after it was made; remove it" in refused.output, "before anything is asked"


def test_a_dry_run_takes_no_key_counts_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert found_yardstick("starter", "--grader", "openai/gpt-4o", "--dry-run")["calls_needed"] > 0
    with recorded_starter(tmp_path / "population") as population:
        said = found_yardstick("starter", *GRADER, "--dry-run")
        assert found_yardstick("starter", "--judge", "embedded", "--dry-run")["calls_needed"] == 0
    # read already; of three owls to three questions 3, 3 and 2 answers, of two foxes 2: a call each
    assert (said["documents"], said["calls_needed"]) == (5, 10)
    assert said["input_tokens"] > said["output_tokens"] > 0
    assert not (population.folder / YARDSTICK).exists()


def test_what_ships_is_never_written_and_its_yardstick_is_found_in_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENIE_DATA_DIR", str(tmp_path / "data"))
    shipped = open_population("abstracts").folder
    # made with an earlier starter: it belongs to another population, and hides nothing of what ships
    starter = open_population("starter").folder
    (first, *more) = yardstick_of(starter).measured
    earlier = Measured(signature=first.signature.replace("@", "@0"), ratings={})
    yardstick_file(starter).parent.mkdir(parents=True)
    write_yardstick(yardstick_file(starter), with_measured(Yardstick(), earlier))
    for measured in (earlier, first, *more):
        assert yardstick_of(starter).under(measured.signature) == measured
    before = {file: file.stat().st_mtime_ns for file in shipped.rglob("*")}
    said = found_yardstick("abstracts", "--judge", "embedded")
    assert {file: file.stat().st_mtime_ns for file in shipped.rglob("*")} == before
    assert Path(said["file"]).is_relative_to(tmp_path / "data")
    # by its name and by its path, as a scorer of that instrument looks for it
    for folder in (shipped, shipped / ".." / shipped.name):
        own = yardstick_of(folder).under(said["signature"])
        assert own is not None
        assert len(own.ratings) == said["documents"]
