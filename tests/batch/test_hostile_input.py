"""Replies, plans, caches and addresses that somebody made to break an import: what can be used, or one line, soon."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.batch.test_importing import judging, names, reply
from tests.processes import Commands

from genie_inspect.batch import walk
from genie_inspect.batch.shards import ScaleError
from genie_inspect.batch.walk import Line, parts, write_part
from genie_inspect.cli import main

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
REPLIES: dict[str, tuple[Attack, str]] = {
    "more than a million characters": (
        lines(reply("NAME", "1:1 " * 250_001)),
        "a reply longer than 1,000,000 characters",
    ),
    "reasons without end": (
        lines(*({"custom_id": "x", "error": f"{n}"} for n in range(2_000))),
        "1950 for other reaso",
    ),
    "an integer beyond any float": (lines(RATING | {"rating": 10**400}), "1 no row of a cache"),
    "a status": (lines({"custom_id": "x", "response": {"status_code": 10**400}}), "1 error: status '...0"),
    "deep": (lines('{"custom_id": "NAME", "response": ' + "[" * 100_000), "1 no whole JSON"),
    "one line without an end": (lambda folder, _: _truncated(folder / "r.jsonl"), "more than 268,435,456"),
    "a link to a device": (lambda folder, _: (folder / "r.jsonl").symlink_to("/dev/zero"), "has no replies"),
    "a pipe": (lambda folder, _: os.mkfifo(folder / "r.jsonl"), "has no replies"),
    "a link to itself": (lambda folder, _: (folder / "r.jsonl").symlink_to("r.jsonl"), "has no replies"),
    "a packed bomb": (parquet(response=["x" * 20_000_000]), "1,000 times what they are packed into"),
    "bytes and times": (parquet(response=[b"\xff"]), "1 no reply"),
}
VIEW = "create view ratings as with recursive c(x) as (select 1 union all select x + 1 from c) select 'j' judge, 'q' "
CACHES = {
    "a view": (f"{VIEW} question, 'a' answer, x other, 2.0 rating, 0.5 off_labels from c", "it has a view"),
    "other columns": ("create table ratings (judge, question)", "no such column"),
    "no UTF-8": (
        "create table ratings (judge, question, answer, other, rating, off_labels); "
        "insert into ratings values ('j', 'q', 'a', cast(x'ff' as text), 2.0, null)",
        "Could not decode to UTF-8",
    ),
}


def _truncated(path: Path) -> None:
    path.touch()
    os.truncate(path, 10**12)


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


@pytest.mark.parametrize("attack", CACHES)
def test_a_cache_of_another_s_making_is_one_line(attack: str, commands: Commands, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "cache.sqlite") as connection:
        connection.executescript(CACHES[attack][0])
    connection.close()
    assert CACHES[attack][1] in held(commands, "merge", tmp_path)


OTHERS = (  # what else fsspec knows, or once knew
    *("abfss", "adl", "arrow_hdfs", "arl", "asynclocal", "asyncwrapper", "blockcache", "box", "cached", "dask"),
    *("dbfs", "dir", "dropbox", "dvc", "filecache", "ftp", "gdrive", "generic", "gist", "git", "github", "gitlab"),
    *("hdfs", "hf", "jlab", "jupyter", "lakefs", "libarchive", "memory", "oci", "ocilake", "oss", "osf", "pyscript"),
    *("reference", "root", "s3a", "sftp", "simplecache", "smb", "ssh", "tar", "tos", "tosfs", "wandb", "webdav"),
    *("webhdfs", "xrootd", "zip", "nobody", "S3", "HTTP", " git", "git ", "../git", "py", "javascript", ""),
)
CHAINS = (
    *("zip::file.zip", "simplecache::s3://bucket/x", "filecache::http://h/x", "tar://x.jsonl::http://h/x.tar"),
    *("zip://*.jsonl::file:///tmp/x.zip", "blockcache::hf://a/b", "libarchive://x::sftp://h/y", "::", "::x", "x::"),
    *("s3://b/x::y", "file:///tmp/x::git://y", "http://[::1]/x.jsonl", "dir::git:///", "a::b::c::d::e"),
)
BLANK = ("", " ", "\t\n", "\u3000")
DATA = ("data:,x", "data:text/plain;base64,eA==", "data:;base64,!!!")
REFUSED = (*(f"{scheme}://host/x.jsonl" for scheme in OTHERS), *CHAINS, *DATA, *BLANK)
ODD = (  # of the kinds that are taken: whatever their libraries say of them is one line, too
    *("http://", "http://[", "http://127.0.0.1:99999/x.jsonl", "s3://", "s3://\x00/*", "s3:///////", "file://"),
    *(f"http://127.0.0.1:9/{path}" for path in ("x.jsonl", "*.jsonl", "a\nError: b", " x ", "\x1b[2J\x07", "\udcff")),
    *("https://127.0.0.1:9/x.jsonl", "http://me:secret@127.0.0.1:9/x.jsonl?key=secret", "file://host/x.jsonl"),
    *("gs://bucket/x", "abfs://container@host/x"),  # whose libraries are not there
    *("a\x00b.jsonl", "file:///tmp/\x00/*", "x" * 5_000, "x/" * 5_000, "[" * 200 + "*", "[*", "{1..1000000000}"),
    *("~nobody-at-all/x", "/dev/null/x.jsonl", "\ud800.jsonl"),
)
MADE: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "nothing": lambda path: path.touch(),
    "no Parquet": lambda path: path.write_bytes(b"PAR1" * 30),
    "a page": lambda path: path.write_text("<html>Sign in</html>"),
    "noise": lambda path: path.write_bytes(os.urandom(5_000)),
    "many brackets": lambda path: path.write_text("[" * 100_000),
}


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_of_another_kind_is_refused_and_nothing_is_reached(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reached(*arguments: object, **options: object) -> None:
        raise AssertionError("reached")

    monkeypatch.setattr(walk, "url_to_fs", reached)
    for use in (lambda: parts(address), lambda: write_part(address, "a", "jsonl", [Line("a", "{}", "null")])):
        with pytest.raises(ScaleError, match=r"is not an address of files, expected a path or s3://, gs://"):
            use()


def imported(address: str) -> str:
    """What `genie cache import` says of an address, where it says one line and no more."""
    result = CliRunner().invoke(main, ["cache", "import", address, "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), (address, result.exc_info)
    said = [line for line in result.stderr.splitlines() if line.strip() and not line.startswith("import ")]
    assert len(said) == result.exit_code <= 1, said
    assert "secret" not in result.output
    return said[0] if said else ""


@pytest.mark.parametrize("address", [*CHAINS, *DATA, *BLANK, *ODD])
def test_an_address_that_holds_nothing_is_one_line(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # else it is asked for a login
    monkeypatch.chdir(tmp_path)
    assert imported(address).startswith("Error: ")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("name", MADE)
def test_a_file_that_holds_no_replies_is_one_line_or_a_count(
    name: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "cache"))
    made = tmp_path / f"replies.{ending}"
    MADE[name](made)
    said = imported(str(made))
    assert str(made) in said or (not said and ending == "jsonl")
