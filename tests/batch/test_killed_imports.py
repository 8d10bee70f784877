"""An import that is killed at any point has lost nothing and doubled nothing."""

import sqlite3
from pathlib import Path

import pytest
from tests.batch.test_importing import judging, names, reply
from tests.cli.called import as_json, lines_of
from tests.processes import Commands, tries

from genie_inspect.graders.cache import FILE

ANSWERS = tuple(f"rain {number}" for number in range(240))
KILLS = tries(4, 10)
pytestmark = pytest.mark.repeated
# imports once, then forks: a killed child is a killed process, without a second of start-up each
RUN = """
import os, random, shutil, signal, sqlite3, sys, time
from pathlib import Path
import anyio
from genie_inspect.graders.cache import Cache
from genie_inspect.batch import importing
from genie_inspect.batch.shards import places

importing.TOGETHER = 20

def count():
    try:
        with sqlite3.connect(f"file:{folder}/cache.sqlite?mode=ro", uri=True) as connection:
            return connection.execute("select count(*) from ratings").fetchone()[0]
    except sqlite3.Error:
        return 0

first, replies, folder = map(Path, sys.argv[1:4])
for number in range(int(sys.argv[4])):
    pid = os.fork()
    if not pid:
        anyio.run(importing.Importer(Cache(folder), places(first)).take, replies)
        os._exit(0)
    # the first ones are killed in the middle of their work, wherever that is on this machine
    begun = time.monotonic()
    while not list(folder.glob("cache.sqlite-wal")) and time.monotonic() < begun + 10:
        time.sleep(0.001)
    while number == int(sys.argv[4]) - 1 and not count():  # on a slow machine none has come to a rating
        time.sleep(0.001)
    time.sleep(random.uniform(0, 0.08))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    shutil.copytree(folder, folder.with_name(f"after-{number}"))
"""


def on_record(folder: Path) -> dict[tuple[str, str], float]:
    connection = sqlite3.connect(folder / FILE)
    assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    # a process may be killed before it has made the tables
    made = connection.execute("select 1 from sqlite_master where name = 'ratings'").fetchone()
    rows = connection.execute("select answer, other, rating from ratings").fetchall() if made else []
    connection.close()
    return {(answer, other): rating for answer, other, rating in rows}


def test_an_import_killed_at_any_point_keeps_what_it_had_and_the_next_brings_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GENIE_CACHE_DIR", str(folder))
    first = judging(tmp_path, ANSWERS, shard=100)
    file = lines_of(tmp_path / "replies.jsonl", [reply(name, "1:1 2:2 3:3") for name in names(first)])
    script = tmp_path / "run.py"
    script.write_text(RUN)
    with Commands(tmp_path) as commands:
        ended = commands.run(first, file, folder, KILLS, program=script)
    assert ended.code == 0, ended.stderr
    before: dict[tuple[str, str], float] = {}
    for number in range(KILLS):
        now = on_record(tmp_path / f"after-{number}")
        assert before.items() <= now.items(), "what was on disk stays, and stays as it was"
        before = now
    assert before, "all were killed before they had anything"
    result = as_json("cache", "import", file, "--requests", first)
    assert (result["on_record"] * 3, result["used"] * 3) == (len(before), 3 * len(ANSWERS) - len(before))
    record = on_record(folder)
    assert len(record) == 3 * len(ANSWERS), "nothing lost, nothing doubled"
    assert before.items() <= record.items()
    assert result["conflicts"] == 0
