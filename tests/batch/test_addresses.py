"""Hostile addresses of files: what is none of ours is refused in one line, and before anything is reached."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from genie_inspect.batch import walk
from genie_inspect.batch.shards import ScaleError
from genie_inspect.batch.walk import Line, parts, write_part
from genie_inspect.cli import main

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
ODD = {  # of the kinds that are taken: whatever their libraries say of them is one line, too
    "no host": "http://",
    "half an address": "http://[",
    "a port beyond all": "http://127.0.0.1:99999/x.jsonl",
    "nobody there": "http://127.0.0.1:9/x.jsonl",
    "nobody there, securely": "https://127.0.0.1:9/x.jsonl",
    "a glob of nobody": "http://127.0.0.1:9/*.jsonl",
    "a password": "http://me:secret@127.0.0.1:9/x.jsonl?key=secret",
    "a line break": "http://127.0.0.1:9/a\nError: b",
    "spaces": "http://127.0.0.1:9/ x ",
    "steering": "http://127.0.0.1:9/\x1b[2J\x07",
    "half a character": "http://127.0.0.1:9/\udcff",
    "no bucket": "s3://",
    "a bucket that cannot be": "s3://\x00/*",
    "slashes": "s3:///////",
    "no library": "gs://bucket/x",
    "no library either": "abfs://container@host/x",
    "a file with a host": "file://host/x.jsonl",
    "a file of nothing": "file://",
    "a null byte": "a\x00b.jsonl",
    "a null byte in a folder": "file:///tmp/\x00/*",
    "a name beyond all": "x" * 5_000,
    "a path beyond all": "x/" * 5_000,
    "brackets": "[" * 200 + "*",
    "an open bracket": "[*",
    "braces": "{1..1000000000}",
    "a home of nobody": "~nobody-at-all/x",
    "a file in a device": "/dev/null/x.jsonl",
    "half a pair": "\ud800.jsonl",
}
MADE: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(),
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
        with pytest.raises(ScaleError, match=r"is no address of files, expected a path or s3://, gs://"):
            use()


def imported(address: str) -> str:
    """What `genie cache import` says of an address, where it says one line and no more."""
    result = CliRunner().invoke(main, ["cache", "import", address, "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), (address, result.exc_info)
    said = [line for line in result.stderr.splitlines() if line.strip() and not line.startswith("import ")]
    assert len(said) == result.exit_code <= 1, said
    assert "secret" not in result.output
    return said[0] if said else ""


@pytest.mark.parametrize("address", [*REFUSED, *ODD.values()])
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
