"""Several processes and one output: one of them makes it, the others say so, and nothing of two is mixed."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.building.scripts import FOX, OWL, write_log
from tests.processes import HEAD_START, Commands, Ended, race, tries

from genie_inspect.building.inspection import faults
from genie_inspect.populations.population import DOCUMENTS

TRIES = tries(4, 15)
pytestmark = pytest.mark.repeated
WORDS = [f"word{number}" for number in range(400)]


@pytest.fixture(scope="module")
def racers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Commands]]:
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "other")]
    with Commands(folders[0]) as one, Commands(folders[1]) as other:
        yield [one, other]


def outcome(ended: list[Ended], output: Path) -> str:
    whole = output.is_dir() and not faults(output)
    winners = [one for one in ended if one.code == 0]
    losers = [one for one in ended if one.code == 1 and len(one.errors) == 1 and "Traceback" not in one.stderr]
    left = {path.name for path in output.parent.iterdir()} - {output.name, f"{output.name}.work"}
    if whole and not left and (len(winners), len(losers)) == (1, len(ended) - 1):
        told = {
            one.errors[0] for one in losers if f"output {output} is a folder that is not empty" not in one.errors[0]
        }
        return ", ".join(told) or "one"
    return f"{len(winners)} say OK, {'whole' if whole else 'broken or missing'}, left {left}"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two logs with other documents for the same prompts, and questions about them beside them."""
    folder = tmp_path_factory.mktemp("logs")
    for start in (0, 1):
        told = {p: [" ".join(WORDS[start + 2 * n :: 7 + n]) for n in range(20)] for p in (OWL, FOX)}
        write_log(folder / f"{start}.eval", f"m/{start}", told)
    row = '{{"id": "q{0}", "prompt": "{1}", "feature": "plot", "text": "What {0}?"}}\n'
    (folder / "questions.jsonl").write_text("".join(row.format(*pair) for pair in enumerate((OWL, FOX))))
    return [folder / "0.eval", folder / "1.eval"]


BUILD = ("--name", "n", "--licence", "MIT", "--coherence", "none", "--grader", "atonce/grader")


@pytest.mark.parametrize("verb", ["sample", "build"])
def test_of_two_that_make_one_folder_one_makes_it_and_the_other_says_so(
    verb: str, racers: list[Commands], logs: list[Path], tmp_path: Path
) -> None:
    outcomes: Counter[str] = Counter()
    for number in range(TRIES):
        output = tmp_path / str(number) / "made"
        samples = [("population", "sample", "starter", "-o", output, "--per-prompt", size) for size in (3, 4)]
        more = ("-o", output, *BUILD, "--questions", logs[0].parent / "questions.jsonl")
        builds = [("population", "build", log, *more) for log in logs]
        outcomes[outcome(race(racers, samples if verb == "sample" else builds), output)] += 1
    assert outcomes == {"one": TRIES}
    kept = {path.name.partition("-")[0] for path in tmp_path.glob("*/made.work/*")}
    assert kept == ({"replies.sqlite"} if verb == "build" else set()), "what was asked, and nothing half made"


WRITER = """
import sys, time
from pathlib import Path
from tests.scripted import FOX, OWL, small_population
from genie_inspect.errors import GenieError
folder, name, end = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])

def texts():
    # both write while the other one does, and are done at the same moment
    for owl in range(5):
        while time.time() < end + owl / 1000:
            pass
        yield f"{name} tells of owl {owl}."

try:
    small_population(folder, {OWL: texts(), FOX: texts()})
    print("OK")
except GenieError as error:  # the other one put its own there while this one was written or opened
    print(error)
"""


def test_of_two_writers_that_replace_one_population_one_whole_population_stays(
    racers: list[Commands], tmp_path: Path
) -> None:
    script, folder = tmp_path / "writer.py", tmp_path / "here" / "population"
    script.write_text(WRITER)
    folder.parent.mkdir()
    for number in range(tries(4, 60)):
        end = time.time() + 2 * HEAD_START
        names = [f"{name} {number}" for name in ("one", "other")]
        for racer, name in zip(racers, names, strict=True):
            racer.start(folder, name, end, program=script)
        ended = [racer.end() for racer in racers]
        assert [one.code for one in ended] == [0, 0], ended
        told = [one.stdout for one in ended]
        assert "OK\n" in told, f"in round {number}: {told}"
        assert not faults(folder), f"in round {number}"
        # nothing of two mixed: every document of one writer and one round
        rows = map(json.loads, (folder / DOCUMENTS).read_text(encoding="utf-8").splitlines())
        whose = {row["text"].partition(" tells")[0] for row in rows}
        assert whose in [{name} for name in names]
        assert [path.name for path in folder.parent.iterdir()] == ["population"]
