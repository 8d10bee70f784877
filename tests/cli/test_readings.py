import csv
from functools import partial
from pathlib import Path

from tests.cli.called import as_json, genie

from genie_inspect.agreement.raters import RatingsFile
from genie_inspect.populations.population import open_population

called, figures = partial(genie, "readings"), partial(as_json, "readings", "--reader", "bundled/grader")


def test_the_record_held_against_itself_is_as_near_as_can_be() -> None:
    report = figures("--documents", "8")
    assert [row["feature"] for row in report["fitness"]] == [
        "agent", "perspective", "plot", "setting", "social_atmosphere", "style", "all features"
    ]  # fmt: skip
    for row in report["fitness"]:
        assert row["same"] == 1
        assert row["left_out"] == row["added"] == 0
        # the judge calls a few answers interchangeable that are worded differently
        assert row["highest"] - 0.01 < row["own_nearer"]["value"] <= row["highest"]
    assert report["documents"] == 8
    assert report["fitness"][-1]["asked"] == 8 * 14
    assert "100% of the way" in report["verdict"][0]


def test_a_judge_that_asks_a_grader_rates_the_same_pairs() -> None:
    listed = figures("--documents", "2", "--judge", "list", "--grader", "bundled/grader")
    assert listed["judge"].startswith("list(")
    assert listed["fitness"][-1]["same"] == 1


def test_the_sheet_for_people_is_a_ratings_file_when_it_is_filled_in(tmp_path: Path) -> None:
    sheet = tmp_path / "ann.csv"
    result = called("--reader", "bundled/grader", "--documents", "4", "--export", str(sheet))
    assert result.exit_code == 0, result.output
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert all(row["answer"] == row["other"] for row in rows)  # the record, read by itself
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "rating": "3"} for row in rows)
    assert sum(len(target.others) for target in RatingsFile(sheet, open_population("starter")).targets) > 0
