"""Two processes and one output: one of them makes it, the other one says so, and nothing of the two is mixed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.building.scripts import FOX, OWL, write_log
from tests.racing import TRIES, Ended, Racers

from genie_inspect.populations.check import faults

WORDS = [f"word{number}" for number in range(400)]


@pytest.fixture(scope="module")
def racers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Racers]:
    with Racers(tmp_path_factory.mktemp("racers")) as started:
        yield started


def outcome(ended: list[Ended], output: Path) -> str:
    """What became of a race, in a few words."""
    whole = output.is_dir() and not faults(output)
    winners = [one for one in ended if one.code == 0]
    losers = [one for one in ended if one.code == 1 and len(one.errors) == 1]
    if len(winners) == 1 and len(losers) == 1 and whole:
        return "one"
    ends = [(one.code, one.stderr[-150:]) for one in ended]
    return f"{len(winners)} say OK, {'whole' if whole else 'broken or missing'}: {ends}"


def test_of_two_samples_into_one_folder_one_is_written_and_the_other_says_so(racers: Racers, tmp_path: Path) -> None:
    outcomes: Counter[str] = Counter()
    for number in range(TRIES):
        output = tmp_path / str(number) / "sample"
        commands = [("population", "sample", "starter", "-o", output, "--per-prompt", size) for size in (3, 4)]
        outcomes[outcome(racers.run(*commands), output)] += 1
    assert outcomes == {"one": TRIES}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two logs with other documents for the same prompts."""
    folder = tmp_path_factory.mktemp("logs")
    for start in (0, 1):
        told = {p: [" ".join(WORDS[start + 2 * n :: 7 + n]) for n in range(20)] for p in (OWL, FOX)}
        write_log(folder / f"{start}.eval", f"m/{start}", told)
    questions = "".join(
        f'{{"id": "q{n}", "prompt": "{prompt}", "feature": "plot", "text": "What {n}?"}}\n'
        for n, prompt in enumerate((OWL, FOX))
    )
    (folder / "questions.jsonl").write_text(questions)
    return [folder / "0.eval", folder / "1.eval"]


BUILD = ("--name", "n", "--licence", "MIT", "--coherence", "none", "--grader", "atonce/grader")


def test_of_two_builders_of_one_folder_one_makes_it_and_the_other_says_so(
    racers: Racers, logs: list[Path], tmp_path: Path
) -> None:
    outcomes: Counter[str] = Counter()
    for number in range(TRIES):
        output = tmp_path / str(number) / "built"
        more = ("-o", output, *BUILD, "--questions", logs[0].parent / "questions.jsonl")
        ended = racers.run(*(("population", "build", log, *more) for log in logs))
        outcomes[outcome(ended, output)] += 1
    assert outcomes == {"one": TRIES}
