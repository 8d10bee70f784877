"""`genie cache`: what readers, judges, critics and embedders gave, kept on disk: look at it, take it out, forget it."""

import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.batch.importing import Importer
from genie_inspect.batch.shards import places
from genie_inspect.batch.walk import existing, merged
from genie_inspect.cli import VerbGroup
from genie_inspect.cli import options as cli
from genie_inspect.cli.running import progress_bar
from genie_inspect.cli.terminal import Unbroken, confirm, echo, replacing
from genie_inspect.engines.embedders import VECTORS, KeptVectors
from genie_inspect.errors import NetworkFolderWarning
from genie_inspect.files.printable import json_text
from genie_inspect.files.tables import Table, plain
from genie_inspect.files.writing import check_absent, write_lines
from genie_inspect.graders.cache import TABLES, Cache, cache_folder

answered = cli.answering(json="Print JSON for a script.")


@click.group(cls=VerbGroup)
def cache() -> None:
    """Look at, take out or forget the answers, ratings, verdicts and vectors that models gave ($GENIE_CACHE_DIR).

    \b
    Example: genie cache info
    """


@cache.command()
@answered
def info() -> cli.Answer:
    """How many answers, ratings, verdicts and vectors there are, by reader, judge, critic and embedder."""
    with opened_cache() as opened, closing(KeptVectors(cache_folder())) as vectors:
        counts = opened.counts() | {"vectors": vectors.count(VECTORS)}
        sizes = {
            # with sqlite's journal files beside it
            path: sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
            for path in (opened.path, vectors.path)
        }
    # an empty table is shown too
    rows = [(kept, model, str(count)) for kept, by in counts.items() for model, count in by.items() or [("nobody", 0)]]
    return cli.Answer(
        {"path": str(opened.path), "bytes": sum(sizes.values()), **counts},
        [
            Table("cache", ("kept", "by", "rows"), rows, words=2, look="centred"),
            *(Unbroken(f"{path}: {size / 1e6:.1f} MB") for path, size in sizes.items()),
        ],
    )


@cache.command()
@cli.flag("--yes", help="Do not ask.")
@answered
def clear(yes: bool) -> cli.Answer:
    """Forget everything: what is needed again will be asked, and paid for, again."""
    with opened_cache() as opened, closing(KeptVectors(cache_folder())) as vectors:
        counts = opened.counts() | {"vectors": vectors.count(VECTORS)}
        forgotten = {table: sum(rows.values()) for table, rows in counts.items()}
        *others, last = (f"{count} {table}" for table, count in forgotten.items())
        contents = f"{', '.join(others)} and {last}"
        if not yes:
            confirm(f"Forget {contents} in {opened.path.parent}?")
        opened.clear()
        vectors.clear()
    return cli.Answer({"path": str(opened.path), "forgotten": forgotten}, [Unbroken(f"Forgot {contents}.")])


@cache.command()
@click.argument("file", default="-", type=click.Path(allow_dash=True, path_type=Path))
@cli.flag("--force", help="Replace FILE when it is there.")
def export(file: Path, force: bool) -> None:
    """Write every answer, rating and verdict as JSON Lines to FILE, or to standard output; vectors are left out.

    \b
    Example: genie cache export ratings-so-far.jsonl
    """
    with opened_cache() as opened:
        # the convention for standard output; nothing is replaced there
        if str(file) == "-":
            for line in _lines(opened):
                echo(line, nl=False)
            return
        if not force:
            check_absent(file, "give --force to replace it")
        with replacing(file):
            write_lines(file, _lines(opened), new=not force)


@cache.command("import")
@click.argument("files", nargs=-1, required=True)
@cli.option(
    "--requests",
    multiple=True,
    type=cli.FILE,
    help="The first file that `genie requests` wrote, with its plan beside it; repeatable.",
)
@answered
def import_(files: tuple[str, ...], requests: tuple[Path, ...]) -> dict[str, Any]:
    """Take replies to `genie requests`, or what `genie cache export` wrote, from FILES; to do it again changes nothing.

    Replies as OpenAI's batch endpoint, `vllm run-batch` and `genie ray` write them: files of JSON Lines or Parquet, or
    folders of them, on this machine or at s3://, gs://, az:// or http(s)://. Lines that cannot be used are counted by
    reason, and what is on record stays as it is.

    \b
    Example: genie cache import replies.jsonl --requests read.jsonl
    """
    with opened_cache() as opened, progress_bar() as progress:
        importer = Importer(opened, {name: place for path in requests for name, place in places(path).items()})
        parts = [part for file in files for part in existing(file, "replies")]
        for number, part in enumerate(parts, start=1):
            anyio.run(importer.take, part)
            progress("import", number, len(parts))
    return {"path": str(opened.path), **plain(importer.result)}


@cache.command()
@click.argument("folders", nargs=-1, required=True, type=cli.FOLDER)
@answered
def merge(folders: tuple[Path, ...]) -> dict[str, Any]:
    """Add what the caches in FOLDERS hold to the user's; vectors are left out, and what is on record stays as it is.

    For runs that each had a cache of their own ($GENIE_CACHE_DIR): parts of a job array, or machines without a disk in
    common.

    \b
    Example: genie cache merge caches/*
    """
    with opened_cache() as opened, progress_bar() as progress:
        result = merged(opened, folders, progress)
    return {"path": str(opened.path), **result}


@contextmanager
def opened_cache() -> Iterator[Cache]:
    """The cache; one that cannot be used is an error in one line, where a run only warns and goes on without."""
    try:
        with warnings.catch_warnings():
            # the cache warns of a file that it cannot use and goes on without
            warnings.simplefilter("error", UserWarning)
            # such a cache can be used
            warnings.simplefilter("default", NetworkFolderWarning)
            yield Cache()
    except (UserWarning, sqlite3.Error) as error:
        raise click.ClickException(f"the cache in {cache_folder()}: {error}") from error


def _lines(opened: Cache) -> Iterator[str]:
    for name, table in TABLES.items():
        for row in opened.rows(table):
            yield json_text({"table": name, **row}) + "\n"
