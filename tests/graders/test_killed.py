"""Ratings outlive the process that made them, and many processes share them."""

import sqlite3
from pathlib import Path

import pytest
from tests.processes import Commands, tries

from genie_inspect.graders.cache import FILE, Cache

QUESTIONS, OTHERS = 6, 15
TOGETHER = tries(5, 10)  # processes
KILLS = tries(5, 10)
PAIRS = QUESTIONS * OTHERS
pytestmark = pytest.mark.repeated
# imports once, then forks: a killed child is a killed process, without a second of start-up each
RUN = """
import os, random, shutil, signal, sys, time, warnings
from contextlib import suppress
from pathlib import Path
import anyio
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi
from genie_inspect.graders.cache import Cache, Memo
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.list_judge import ListJudge
from genie_inspect.graders.protocols import Answer
from genie_inspect.prompting.templates import fenced, unfenced
from tests.scripted import Asked

warnings.simplefilter("error", UserWarning)  # what the cache warns of
folder, children, killed = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "killed"
others = [Answer(f"other {number}") for number in range(OTHERS)]

def note(file, line):
    with open(folder / file, "a") as notes:  # one write of one line: it is whole or not there
        notes.write(line + chr(10))

@modelapi(name="slow")
class Slow(ModelAPI):
    def __init__(self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **model_args):
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(self, input, tools, tool_choice, config):
        data = unfenced(input[-1].text)
        asked = data["others"].values()
        for other in asked:
            note(asking[0], data["question"] + "|" + other)
        await anyio.sleep(random.uniform(0.01, 0.08))
        rating = {other: 1 + (len(data["question"]) + int(other.split()[1])) % 4 for other in asked}
        said = chr(10).join(f"{number}: {rating[other]}" for number, other in data["others"].items())
        return ModelOutput.from_content("slow", said)

asking = ["warmed-up"]

async def rate(name):
    asking[0] = name
    memo, model = Memo(Cache(folder)), get_model("slow/grader")
    judge = ListJudge(model, memo=memo, chunk=4)

    async def one(number):
        question = f"What is {'x' * number}?"
        rated = await judge.rate(Asked(question), Answer("mine"), others)
        for other, rating in zip(others, rated.ratings, strict=True):
            note("used", f"{question}|{other.text}|{rating:g}")

    await gathered(*(one(number) for number in range(QUESTIONS)))

def forked(name):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            random.seed(os.getpid())
            anyio.run(rate, name)
            code = 0
        finally:
            os._exit(code)
    return pid

anyio.run(get_model("slow/grader").generate, fenced({"question": "", "others": {"1": "other 0"}}))  # imports the rest
if killed:
    for number in range(children):
        pid = forked(f"asked-{number}")
        # on a slow machine, where none has come to a rating, the last one may use one first
        is_late = number == children - 1 and not (folder / "used").exists()
        begun = folder / ("used" if is_late else f"asked-{number}")
        while not begun.exists() and not os.waitpid(pid, os.WNOHANG)[0]:
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.045))
        with suppress(ProcessLookupError, ChildProcessError):  # it has nothing left to do
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for name in ("cache.sqlite", "cache.sqlite-wal", "used"):  # what stands on the disk now
            if (folder / name).exists():
                shutil.copy(folder / name, folder / f"{number}-{name}")
    sys.exit(any([os.waitpid(forked(name), 0)[1] for name in ("asked-for-the-rest", "asked-again")]))
else:
    pids = [forked(f"asked-{number}") for number in range(children)]
    sys.exit(any([os.waitpid(pid, 0)[1] for pid in pids]))
"""


def run(folder: Path, children: int, ending: str) -> None:
    """Processes that rate all pairs: one after the other, each killed at some point, then two more; or all at once."""
    code = RUN.replace("range(OTHERS)", f"range({OTHERS})").replace("range(QUESTIONS)", f"range({QUESTIONS})")
    script = folder / "run.py"
    script.write_text(code)
    with Commands(folder) as commands:
        ended = commands.run(folder, children, ending, program=script)
    assert ended.code == 0, ended.stderr


def on_record(file: Path) -> dict[str, float]:
    connection = sqlite3.connect(file)
    assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    rows = connection.execute("select question, other, rating from ratings").fetchall()
    connection.close()
    return {f"{question}|{other}": rating for question, other, rating in rows}


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def used(path: Path) -> dict[str, float]:
    return {key: float(rating) for key, rating in (line.rsplit("|", 1) for line in lines(path))}


def test_a_process_killed_at_any_point_loses_no_rating_and_its_successor_asks_for_none_of_them(
    tmp_path: Path,
) -> None:
    # made, and closed: while somebody has the file open, what a killed process was just writing is not yet in it,
    # though it is in a copy
    Cache(tmp_path).close()
    run(tmp_path, KILLS, "killed")
    before: dict[str, float] = {}
    for number in range(KILLS):
        now = on_record(tmp_path / f"{number}-{FILE}")
        assert before.items() <= now.items(), "what was on disk stays, and stays as it was"
        assert not set(lines(tmp_path / f"asked-{number}")) & before.keys(), "no finished call is repeated"
        assert used(tmp_path / f"{number}-used").items() <= now.items(), "a rating is on disk before it is used"
        before = now
    assert before, "all were killed before they had a rating"
    working = sum(bool(lines(tmp_path / f"asked-{number}")) for number in range(KILLS))
    assert working >= KILLS / 2, "most were killed while they had something to do"

    record = on_record(tmp_path / FILE)
    assert len(record) == PAIRS
    assert before.items() <= record.items()
    assert set(lines(tmp_path / "asked-for-the-rest")) == record.keys() - before.keys()
    assert lines(tmp_path / "asked-again") == [], "a run over the same answers asks nothing"


def test_processes_that_share_a_cache_lose_and_corrupt_nothing(tmp_path: Path) -> None:
    run(tmp_path, TOGETHER, "at once")  # a warning in any of them would be an error
    record = on_record(tmp_path / FILE)
    assert len(record) == PAIRS
    assert len(lines(tmp_path / "used")) == TOGETHER * PAIRS
    assert used(tmp_path / "used") == record
