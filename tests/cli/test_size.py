"""`genie population size`, called as a user calls it."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.recorded import recorded_starter
from tests.reports.made_logs import made_log, scored

from genie_inspect.cli import main
from genie_inspect.populations.yardstick import YARDSTICK

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


def called(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, ["population", "size", *map(str, arguments)])


def found(*arguments: object) -> Any:
    result = called(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def spread(**sds: float) -> dict[str, dict[str, float]]:
    return {feature: {"sd": sd, "degrees": 100} for feature, sd in sds.items()}


def test_a_log_with_the_studys_spreads_gives_its_table(tmp_path: Path) -> None:
    sds = {feature: row[0] for feature, row in TABLE_6.items()}
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, spread=spread(**sds))}])
    for feature, figures in found(log)["features"].items():
        _, variance, sd, needed = TABLE_6[feature]
        assert (round(figures["variance"], 2), round(figures["sd"], 2), figures["needed"]) == (variance, sd, needed)


def test_the_printed_standard_deviation_would_give_another_size(tmp_path: Path) -> None:
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, spread=spread(agent=0.27, perspective=0.30))}])
    needed = {feature: figures["needed"] for feature, figures in found(log)["features"].items()}
    assert needed == {"agent": 40, "perspective": 49}  # the study has 41 and 50


def test_documents_and_logs_are_pooled_and_margin_and_confidence_count(tmp_path: Path) -> None:
    few, many = ({"plot": {"sd": sd, "degrees": n}} for sd, n in ((0.2, 1), (math.sqrt(0.08), 3)))
    scores = [[{"genie": scored({"plot": 0.5}, spread=facts)}] for facts in (few, many)]
    logs = [made_log(tmp_path / str(number), samples) for number, samples in enumerate(scores)]
    figures = found(*logs, "--margin", "0.2", "--confidence", "0.95")["features"]["plot"]
    assert (figures["variance"], figures["degrees"]) == (pytest.approx(0.07), 4)
    assert figures["needed"] == math.ceil((1.959964 / 0.2) ** 2 * 0.07) == 7


def test_a_populations_own_documents_are_compared_and_its_yardstick_stays_unwritten(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population") as population:
        figures = found("starter", "--grader", "bundled/grader")["features"]
    # two plot questions of three owls, each compared with two others that are alike; a fox has one other
    assert figures["plot"] == {"variance": 0, "sd": 0, "degrees": 6, "needed": 1}
    # two owls say their tone: one similarity each lies nowhere apart
    assert figures["style"] == {"variance": None, "sd": None, "degrees": 0, "needed": None}
    assert not (population.folder / YARDSTICK).exists()


def test_a_feature_that_has_no_two_similarities_has_no_size(tmp_path: Path) -> None:
    with recorded_starter(tmp_path / "population"):
        (line,) = (
            line for line in called("starter", "--grader", "bundled/grader").output.splitlines() if "style" in line
        )
    assert line.replace("│", " ").split() == ["style", "-", "-", "0", "-"]


def test_the_table_says_what_it_is_of(tmp_path: Path) -> None:
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5}, spread=spread(plot=0.27))}])
    output = called(log).output
    assert "0.0729" in output
    assert "needed: answers a question for ±0.1 at 98%" in " ".join(output.split())
    assert "measure:genie|judge:test" in output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "nowhere does not exist"),
        (("starter",), "--judge list asks a model, name it"),
        (("starter", "logs", "--judge", "embedded"), "name one population, or logs"),
        (("starter", "--judge", "embedded", "--margin", "0"), "0.0 is not in the range"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    result = called(*arguments)
    assert result.exit_code != 0
    assert said in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_a_log_of_before_spreads_were_kept_says_how_to_get_one(tmp_path: Path) -> None:
    log = made_log(tmp_path, [{"genie": scored({"plot": 0.5})}])
    assert "no score by genie says how far similarities lie apart; score again" in called(log).output
