"""Released data of two studies as the tables that `genie` reads, written into the current folder.

python tools/released_data.py genie_edited_scores.jsonl.gz    # docs/metric_study.md: genie validate
python tools/released_data.py prehlt_and_hlt.csv              # docs/more_studies.md: genie close-reading fit
"""

import csv
import gzip
import json
import math
import sys
from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]


def edited_scores(file: str) -> None:
    """Write the scores of edits, with originals as pairs and with prompts as pairs."""
    with gzip.open(file) as packed:
        rows = [json.loads(line) for line in packed]
    columns = ("scorer", "id", "original", "edited", "key", "value")
    table = []
    for row in rows:
        original, edited = row["DocID_1"].split("_edited_")  # 871167_edited_Style_2
        cells = ("genie", row["DocID_1"], original, edited.rpartition("_")[0], row["Feature"], row["GENIE"])
        table.append({**dict(zip(columns, cells, strict=True)), "prompt": row["Prompt"]})
    write("released.csv", columns, table)
    write("released_by_prompt.csv", (*columns, "prompt"), table)


def close_reading_ratings(file: str) -> None:
    """Write the ratings that each released model was fitted to."""
    with open(file, encoding="utf-8") as opened:
        ratings: list[Row] = list(csv.DictReader(opened))
    for row in ratings:
        row["creative"], row["works"] = at_1(row, "novel", "meaningful", "pragmatic"), at_1(row, "pragmatic")
        row["log_ppl"] = math.log(float(row["ppl"]))
        row["log_ai"] = math.log(float(row["ai_likelihood"])) if row["ai_likelihood"] else ""
    rated = [row for row in ratings if float(row["ppl"]) < 8e9]  # one expression is an outlier: more than 4 sd
    main = [row for row in rated if int(row["batch"]) <= 10]
    sensical = [row for row in ratings if int(row["batch"]) <= 10 and at_1(row, "meaningful")]
    frontier = {row["seed_passage_id"] for row in ratings if int(row["batch"]) == 11}
    among = [row for row in ratings if row["gen_source"] in ("human", "claude", "gpt5") and row["pragmatic"]]
    tables = {
        "every_writer": rated,
        "main": main,
        "human": human(main),
        "sensical": sensical,
        "human_sensical": human(sensical),
        "frontier": [row for row in among if row["seed_passage_id"] in frontier],
    }
    columns = ("gen_source", "annotator_id", "seed_passage_id", "WQRM_score", "creative", "works", "log_ppl", "log_ai")
    for name, rows in tables.items():
        write(f"{name}.csv", columns, rows)


def at_1(row: Row, *aspects: str) -> int:
    return int(all(row[aspect] and float(row[aspect]) == 1 for aspect in aspects))


def human(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row["gen_source"] == "human"]


def write(name: str, columns: Iterable[str], rows: Iterable[Row]) -> None:
    with open(name, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(columns), extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    (edited_scores if sys.argv[1].endswith(".gz") else close_reading_ratings)(sys.argv[1])
