"""Fuzzed logs and files through the commands that read them: `python -m tests.fuzzed 5000` counts what ends otherwise.

Each try is one file with something unexpected in it, given to one command. It ends well, or in one line.
"""

import json
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from tests.hostile_logs import edged, fuzzed, sound_log

from genie_inspect.cli import main
from genie_inspect.populations.population import open_population

LOGS = {
    "summary": "summary {log} --json",
    "summary, a table": "summary {log}",
    "compare": "compare {log} {other} --baseline {other} --json",
    "compare with it": "compare {other} {log} --baseline {log}",
    "report": "report {log} {other} -o {folder}/page.html",
    "report, JSON": "report {log} --json",
    "show": "show {log} 1",
    "agreement of a log": "agreement {log} --votes {votes} --scorer genie --resamples 5 --json",
}
FILES = {
    "votes": "agreement {scores} --votes {file} --resamples 5 --json",
    "scores": "agreement {file} --votes {votes} --resamples 5 --json",
    "ratings": "calibrate --population abstracts --ratings {file} --json",
    "preferences": "close-reading preference {file} --measure novel,odd --group rater --json",
    "rows of a cache": "cache import {file} --json",
}
VERBS = LOGS | FILES


def fuzz(count: int, folder: Path, seed: int = 0) -> Iterator[tuple[str, str]]:
    """What each try was, and how it ended: empty where it ended well or in one line, else the error and its place."""
    dice = random.Random(seed)
    rows = sound_files()
    places = {name: str(folder / f"{name.replace(' ', '-')}.jsonl") for name in rows}
    for name, made in rows.items():
        Path(places[name]).write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    sound = Path(sound_log(folder / "sound"))
    other = Path(sound_log(folder / "other", "mock/other"))
    names = list(VERBS)
    for number in range(count):
        verb = names[number % len(names)]
        file = folder / f"{'log.eval' if verb in LOGS else 'fuzzed.jsonl'}"
        if verb in LOGS:
            fuzzed(sound, file, dice)
        else:
            file.write_bytes(fuzzed_rows(rows[verb], dice))
        given = {**places, "log": file, "file": file, "other": other, "folder": folder}
        yield f"{verb}, try {number}", ended(VERBS[verb].format_map(given).split())


def ended(arguments: list[str]) -> str:
    """How a command ended other than well or in one line; empty where it did not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(main, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        trace = result.exc_info[2] if result.exc_info else None
        while trace and trace.tb_next:
            trace = trace.tb_next
        where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
        return f"{type(result.exception).__name__} at {where}: {str(result.exception)[:100]}"
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error")]
    if result.exit_code == 2:
        return f"usage: {errors}"
    return "" if len(errors) == bool(result.exit_code) else f"{len(errors)} lines, exit code {result.exit_code}"


def fuzzed_rows(rows: list[Any], dice: random.Random) -> bytes:
    """The rows with edges in up to three of them, one perhaps cut, doubled or left out."""
    lines = [json.dumps(row).encode() for row in rows]
    for _ in range(dice.randint(1, 3)):
        place = dice.randrange(len(lines))
        lines[place] = edged(json.dumps(rows[place]).encode(), dice)
    if dice.random() < 0.1:
        place = dice.randrange(len(lines))
        lines[place : place + 1] = dice.choice(
            ([], lines[place : place + 1] * 2, [lines[place][: len(lines[place]) // 2]])
        )
    return b"\n".join(lines) + b"\n"


def sound_files() -> dict[str, list[Any]]:
    """The rows of a sound file for each command that takes one."""
    dice = random.Random(1)
    question = open_population("abstracts").questions(open_population("abstracts").prompts[0])[0].text
    stories = [(f"{number}_mock/writer", rater) for number in range(1, 5) for rater in ("ann", "bob", "cyd")]
    return {
        "votes": [
            {"story": story, "rater": rater, "votes": {"01": dice.randint(0, 1), "02": dice.randint(0, 1)}}
            for story, rater in stories
        ],
        "scores": [
            {"story": f"{number}_mock/writer", "judge": "j", "score": number, "words": 90, "tests": {"01": 1, "02": 0}}
            for number in range(1, 5)
        ],
        "ratings": [
            {"question": question, "answer": "rain", "other": f"snow {n}", "rating": 1 + n % 4, "rater": rater}
            for n in range(4)
            for rater in ("ann", "bob")
        ],
        "preferences": [
            {"preferred": dice.choice("ab"), "rater": f"r{n % 3}"}
            | {f"{measure}_{side}": dice.random() for measure in ("novel", "odd") for side in "ab"}
            for n in range(24)
        ],
        "rows of a cache": [
            {"table": "ratings", "judge": "j", "question": "q", "answer": "a", "other": f"o{n}", "rating": 2.0}
            | {"off_labels": 0.1}
            for n in range(4)
        ],
    }


if __name__ == "__main__":
    tried: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        os.environ["GENIE_CACHE_DIR"] = f"{place}/cache"
        for what, fault in fuzz(int(sys.argv[1]), Path(place), int((*sys.argv, "0")[2])):
            verb = what.partition(", try")[0]
            tried[verb] += 1
            if fault:
                faults[f"{verb}: {fault}"] += 1
    for fault, count in faults.most_common(40):
        print(count, fault)
    print(f"{sum(tried.values())} tries, {sum(faults.values())} ended otherwise than well or in one line")
