"""Files of replies, plans and caches that somebody made to break an import: what can be used, or one line, soon."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.batch.test_importing import judging, names, reply
from tests.processes import Commands

from genie_inspect.prompting.fence import fenced

MEMORY = 4_000_000_000  # bytes of addresses; the libraries alone take a third of it
Attack = Callable[[Path, str], object]
"""Makes a folder of replies to the request of that name."""


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    with Commands(tmp_path_factory.mktemp("hostile"), memory=MEMORY) as running:
        yield running


def lines(*rows: object) -> Attack:
    def make(folder: Path, name: str) -> None:
        texts = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        (folder / "r.jsonl").write_text("".join(text.replace("NAME", name) + "\n" for text in texts))

    return make


def parquet(**columns: Any) -> Attack:
    def make(folder: Path, name: str) -> None:
        arrow = pytest.importorskip("pyarrow", reason="needs the extra `ray`")
        from pyarrow.parquet import write_table

        write_table(arrow.table({"custom_id": [name], **columns}), folder / "r.parquet", compression="zstd")

    return make


RATING = {"table": "ratings", "judge": "j", "question": "q", "answer": "a", "other": "o", "off_labels": None}
SOUND = reply("NAME", "1:1 2:2 3:3")
REPLIES: dict[str, tuple[Attack, str]] = {
    "ten million characters": (lines(reply("NAME", "1:1 " * 2_500_000)), "a reply longer than 1,000,000 characters"),
    "reasons without end": (
        lines(*({"custom_id": "x", "error": {"message": f"reason {n}"}} for n in range(2_000))),
        "1950 for other reasons",
    ),
    "an integer beyond any float": (lines(RATING | {"rating": 10**400}), "1 no row of a cache"),
    "a status of 400 digits": (
        lines({"custom_id": "x", "response": {"status_code": 10**400}}),
        "1 error: status '...0",
    ),
    "deep": (lines('{"custom_id": "NAME", "response": ' + "[" * 100_000), "1 no whole JSON"),
    "one line without an end": (
        lambda folder, _: os.truncate(_made(folder / "r.jsonl"), 10**12),
        "more than 268,435,456",
    ),
    "a link to a device": (lambda folder, _: (folder / "r.jsonl").symlink_to("/dev/zero"), "holds no replies"),
    "a pipe": (lambda folder, _: os.mkfifo(folder / "r.jsonl"), "holds no replies"),
    "a link to itself": (lambda folder, _: (folder / "r.jsonl").symlink_to("r.jsonl"), "holds no replies"),
    "a packed bomb": (parquet(response=["x" * 60_000_000]), "1,000 times what they are packed into"),
    "bytes and times": (parquet(response=[b"\xff"]), "1 no reply"),
}
REQUESTS: dict[str, tuple[dict[str, object], str]] = {
    "a number for a question": ({"question": 5, "answer": "a", "others": {"1": "b"}}, "question is '5', expected text"),
    "a list for others": ({"question": "q", "answer": "a", "others": ["b"]}, "others is \"['b']\", expected an object"),
}
VIEW = "create view ratings as with recursive c(x) as (select 1 union all select x + 1 from c) select 'j' judge, 'q' "
CACHES = {
    "a view of endless rows": (
        f"{VIEW} question, 'a' answer, x other, 2.0 rating, 0.5 off_labels from c",
        "it has a view",
    ),
    "other columns": ("create table ratings (judge, question)", "no such column"),
    "no UTF-8": (
        "create table ratings (judge, question, answer, other, rating, off_labels); "
        "insert into ratings values ('j', 'q', 'a', cast(x'ff' as text), 2.0, null)",
        "Could not decode to UTF-8",
    ),
}


def _made(path: Path) -> Path:
    path.touch()
    return path


def held(commands: Commands, *arguments: object) -> str:
    """What a command says, in one line where it fails."""
    ended = commands.run("cache", *arguments)
    assert "Traceback" not in ended.stderr, ended.stderr[-2000:]
    assert len(ended.errors) == ended.code, ended.stderr
    return " ".join((ended.stdout + ended.stderr).split())


@pytest.mark.parametrize("attack", REPLIES)
def test_replies_that_are_made_to_break_an_import_are_counted_or_one_line(
    attack: str, commands: Commands, tmp_path: Path
) -> None:
    first, folder = judging(tmp_path, ("rain",)), tmp_path / "replies"
    folder.mkdir()
    REPLIES[attack][0](folder, names(first)[0])
    assert REPLIES[attack][1] in held(commands, "import", folder, "--requests", first)


@pytest.mark.parametrize("attack", REQUESTS)
def test_a_request_whose_data_has_another_form_is_named(attack: str, commands: Commands, tmp_path: Path) -> None:
    first = judging(tmp_path, ("rain",))
    row = json.loads(first.read_text())
    row["body"]["messages"][-1]["content"] = fenced(REQUESTS[attack][0])
    first.write_text(json.dumps(row) + "\n")
    lines(SOUND)(tmp_path, row["custom_id"])
    assert REQUESTS[attack][1] in held(commands, "import", tmp_path / "r.jsonl", "--requests", first)


@pytest.mark.parametrize("attack", CACHES)
def test_a_cache_of_another_s_making_is_one_line(attack: str, commands: Commands, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "cache.sqlite") as connection:
        connection.executescript(CACHES[attack][0])
    connection.close()
    assert CACHES[attack][1] in held(commands, "merge", tmp_path)
