"""What a finished comparison could have found."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.reports.logs import log_of, plots

from genie_inspect.cli import main
from genie_inspect.reports.comparison.compared import Options
from genie_inspect.reports.comparison.comparison import compare
from genie_inspect.reports.comparison.power import powers
from genie_inspect.statistics.power import paired_power, pairs_needed

NAN = math.nan


def test_the_studys_44_pairs_have_a_power_of_90_percent_for_a_medium_effect() -> None:
    assert pairs_needed(0.5, 1, power=0.9) == 44


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Ten prompts, of which eight have a score on both sides."""
    log_of(tmp_path, "plain", plots(*(0.5 + 0.01 * n for n in range(8)), NAN, 0.5))
    log_of(tmp_path, "raised", plots(*(0.6 + 0.02 * n for n in range(9)), NAN))
    return tmp_path


def test_the_pairs_that_survived_stand_beside_the_prompts_that_there_were(logs: Path) -> None:
    (row,) = powers(compare([logs], "plain"), 0.5)
    assert (row.run, row.key, row.prompts, row.pairs) == ("raised", "plot", 10, 8)
    assert row.power == row.corrected == paired_power(0.5, 1, 8)


def test_the_level_falls_with_the_tests_that_are_corrected_for(logs: Path) -> None:
    log_of(logs, "third", plots(*(0.55 + 0.03 * n for n in range(8))))
    comparison = compare([logs], "plain")
    assert {row.corrected for row in powers(comparison)} == {paired_power(0.5, 1, 8, 0.025)}
    alone = replace(comparison, options=Options(correction="none"))
    assert {row.corrected for row in powers(alone)} == {paired_power(0.5, 1, 8)}


def test_the_effect_is_the_one_that_is_asked_for_and_not_the_one_that_was_seen(logs: Path) -> None:
    (row,) = powers(compare([logs], "plain"), 1.2)
    assert row.power == paired_power(1.2, 1, 8)


def test_one_pair_has_no_power(tmp_path: Path) -> None:
    log_of(tmp_path, "plain", plots(0.5, NAN))
    log_of(tmp_path, "raised", plots(0.6, 0.6))
    (row,) = powers(compare([tmp_path], "plain"))
    assert (row.pairs, math.isnan(row.power)) == (1, True)


def test_the_command_shows_it_where_it_is_asked_for(logs: Path) -> None:
    runner = CliRunner(env={"COLUMNS": "120"})
    call = ["compare", str(logs), "--baseline", "plain"]
    assert "power to find" not in runner.invoke(main, call).output
    lines = runner.invoke(main, [*call, "--power-at", "0.5"]).output.splitlines()
    (line,) = (line.split() for line in lines if line.startswith(" raised plot"))
    assert line[2:] == ["10", "8", f"{paired_power(0.5, 1, 8):.0%}", f"{paired_power(0.5, 1, 8):.0%}"]
    values = json.loads(runner.invoke(main, [*call, "--power-at", "0.5", "--json"]).stdout)
    assert (values["effect"], values["power"][0]["pairs"], values["differences"][0]["prompts"]) == (0.5, 8, 10)
