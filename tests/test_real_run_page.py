"""The page of a real run says of its sheet of answers what stands in it."""

import csv
import json
from collections import Counter
from pathlib import Path

from click.testing import CliRunner

from genie_inspect.cli import main

DOCS = Path(__file__).parents[1] / "docs"
SHEET = DOCS / "real_run_answers.csv"


def page() -> str:
    return " ".join((DOCS / "real_run.md").read_text(encoding="utf-8").split())


def test_the_ratings_by_hand_are_those_of_the_sheet() -> None:
    with SHEET.open(encoding="utf-8", newline="") as file:
        counts = Counter(row["rating"] for row in csv.DictReader(file))
    assert counts.total() == 50
    assert (
        f"{counts['4']} interchangeable, {counts['3']} the same idea, {counts['2']} a slight overlap, "
        f"{counts['1']} different, and {counts['0']} that are no answer"
    ) in page()


def test_vectors_agree_with_the_sheet_as_the_page_says() -> None:
    options = ["calibrate", "--ratings", str(SHEET), "--judge", "vectors", "--json"]
    report = json.loads(CliRunner().invoke(main, options).stdout)
    (whole,) = (row for row in report["agreements"] if row["feature"] == "all features")
    alpha = f"{whole['alpha']:.2f}".removeprefix("0")
    command = "genie calibrate --ratings real_run_answers.csv --judge vectors"
    assert f"an alpha of {alpha} (`{command}`, {whole['pairs']} pairs" in page()
