"""The command `genie` as a user calls it, and something sound of everything that it reads."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from click.testing import CliRunner, Result
from tests.hostile_logs import sound_log
from tests.hostile_populations import sound_population

from genie_inspect.cli import main


def genie(*arguments: object, columns: int = 200, answer: str = "") -> Result:
    """Call it in a window of so many columns, with an answer to what it asks."""
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, [*map(str, arguments)], input=answer)


def as_json(*arguments: object) -> Any:
    result = genie(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refuse(constant: str) -> NoReturn:
    """For a reader of JSON, which takes NaN and Infinity without it."""
    raise AssertionError(f"{constant} is not JSON")


def refusal(*arguments: object) -> str:
    """The one line in which it says why it does not do it."""
    result = genie(*arguments)
    assert result.exit_code == 1, result.output
    (line,) = result.output.strip().splitlines()
    assert line.startswith("Error: ")
    return line


def lines_of(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sound_inputs(folder: Path) -> Path:
    """Logs of two models with votes on their stories and scores by a judge, a population with ratings, and texts."""
    stories = [(number, f"{number}_{sound}") for sound in ("mock/writer", "mock/other") for number in range(1, 5)]
    for model in ("mock/writer", "mock/other"):
        sound_log(folder / "logs", model)
    votes = [{"story": s, "rater": rater, "votes": {"01": n > 2}} for n, s in stories for rater in ("ann", "bob")]
    lines_of(folder / "votes.jsonl", votes)
    lines_of(folder / "scores.jsonl", ({"story": s, "judge": "j", "tests": {"01": n > 1}} for n, s in stories))
    sound_population(folder / "population")
    rated = [f"What happens?,an owl,a fox,{rating},{rater}\n" for rater, rating in (("ann", 2), ("bob", 3))]
    (folder / "ratings.csv").write_text("".join(["question,answer,other,rating,rater\n", *rated]))
    lines_of(folder / "rows.jsonl", [{"text": "An owl.", "prompt": "Write."}])
    (folder / "texts").mkdir()
    (folder / "texts" / "one.txt").write_text(" ".join(f"Owl {number} sat on a barn." for number in range(200)))
    return folder
