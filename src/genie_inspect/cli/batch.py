"""`genie batch` and `genie cache`: requests in files or on Ray, and replies that are kept on disk."""

import json
import os
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.batch.importing import Importer
from genie_inspect.batch.ray import Job, ask, rounds
from genie_inspect.batch.ray_server import Engine, Server
from genie_inspect.batch.shards import JUDGE, REQUESTS, STEPS, Plan, places, plan_file
from genie_inspect.batch.walk import FORMS, JSONL, Found, Study, existing, merged
from genie_inspect.cli import VerbGroup
from genie_inspect.cli import options as cli
from genie_inspect.cli.running import planned_role, progress_bar
from genie_inspect.cli.terminal import Unbroken, confirm, echo, replacing
from genie_inspect.engines.embedders import VECTORS, KeptVectors
from genie_inspect.errors import NetworkFolderWarning
from genie_inspect.files.tables import Table, plain
from genie_inspect.files.values import json_text
from genie_inspect.files.writing import check_absent, write_lines
from genie_inspect.graders.cache import TABLES, Cache, cache_folder
from genie_inspect.graders.instrument import MODES, Instrument

STUDY = cli.together(
    cli.option("--grader", required=True, metavar="MODEL", help="Grader, as for `--model-role grader=`."),
    cli.option("--judge", default="list", help=f"Judge mode: {', '.join(MODES)}."),
    cli.ANSWER_LENGTH,
    cli.RATINGS,
    cli.option("--population", default="starter", help="Population to compare logs with."),
    cli.WORDINGS,
)


def studied(paths: Sequence[str], grader: str, population: str, judge: str, answer_length: str, **more: Any) -> Study:
    plan = Plan(step="", judge=judge, answer_length=answer_length, grader=grader, signature="")
    model = planned_role(grader)
    return Study(paths, population, Instrument(judge, answer_length=answer_length, **more), model, plan)


NOT_READ = "unread documents have no rating requests yet: do the step read first (genie batch requests ... --step read)"


@click.group(cls=VerbGroup)
def batch() -> None:
    """Score with batch files or a Ray cluster.

    Write requests to files (first to read, then to judge), run them at a batch endpoint or with `vllm run-batch`, and
    take the replies with `genie cache import`; or let a Ray cluster do all of it. Then `inspect score` makes no calls.

    \b
    Example: genie batch rounds logs/ --grader vllm/tiny --url http://127.0.0.1:8000/v1 -o replies
    """


@batch.command()
@click.argument("paths", nargs=-1, required=True, metavar="LOGS|POPULATION")
@cli.option("--step", type=click.Choice(STEPS), required=True, help="Step to write; read comes first.")
@cli.output_option(help="First file of requests; others are numbered.")
@STUDY
@cli.option("--shard", default=REQUESTS, type=cli.AT_LEAST_1, help="Maximum requests per file.")
@cli.flag("--force", help="Replace existing files.")
@cli.answering()
def requests(paths: tuple[str, ...], step: str, output: Path, shard: int, force: bool, **study: Any) -> dict[str, Any]:
    """Write requests that are not answered yet to batch files.

    They are what `genie` would ask about logs, or about a population's own documents, for OpenAI's batch endpoint and
    `vllm run-batch`. After each step take the replies with `genie cache import`.

    \b
    Example: genie batch requests logs/ --step read --grader openai/gpt-4o-mini -o read.jsonl
             genie cache import read-replies.jsonl --requests read.jsonl
    """
    planned = studied(paths, **study)
    with replacing(output, plan_file(output)), progress_bar() as progress:
        found, files = anyio.run(partial(planned.write, most=shard, new=not force), step, output, progress)
    return {
        "step": step,
        "requests": found.requests,
        "files": [str(file) for file in files] if files else "none: nothing is left to ask",
        **seen(found),
    }


@batch.command()
@click.argument("paths", nargs=-1, required=True, metavar="LOGS|POPULATION")
@STUDY
@cli.answering()
def status(paths: tuple[str, ...], **study: Any) -> cli.Answer:
    """Count the requests that are not answered yet.

    \b
    Example: genie batch status logs/ --grader openai/gpt-4o-mini
    """
    planned = studied(paths, **study)
    with progress_bar() as progress:
        read, judged = (anyio.run(planned.left, step, progress) for step in STEPS)
    left = {"left_to_read": read.requests, "left_to_judge": judged.requests, **seen(judged)}
    return cli.Answer(left, counted_lines(left))


def seen(found: Found) -> dict[str, Any]:
    facts: dict[str, Any] = {"documents": found.documents, "skipped": dict(found.skipped) or ""}
    return {**facts, "unread": found.unread, "note": NOT_READ} if found.unread else facts


COUNTED = {
    "left_to_read": "requests to answer the questions about a document",
    "left_to_judge": "requests to rate how alike answers are",
    "documents": "in the logs or the population",
    "unread": "documents, of the population too, whose questions are not all answered",
}


def counted_lines(facts: Mapping[str, Any]) -> Iterator[Unbroken]:
    """The facts, each count with what it counts."""
    return cli.fact_lines({name: f"{n} {COUNTED[name]}" if name in COUNTED else n for name, n in facts.items()})


JOB = cli.together(
    cli.option("-o", "--output", required=True, help="Folder for replies, local or s3://, gs://, az://."),
    cli.option("--url", help="Server of chat completions: http://.../v1."),
    cli.option("--model", help="Instead of --url: model to load into vLLM on GPUs."),
    cli.option("--key", metavar="NAME", help="Variable with the server's key. Default: no key."),
    cli.option("--connections", default=64, type=cli.AT_LEAST_1, help="Requests in flight per worker."),
    cli.option("--workers", default=1, type=cli.AT_LEAST_1, help="Clients or engines in parallel."),
    cli.option("--qps", "per_second", type=cli.AT_LEAST_1, help="Requests per second and worker. Default: any."),
    cli.option("--retries", default=5, type=click.IntRange(min=0), help="Retries per failed request."),
    cli.option("--timeout", default=600.0, help="Seconds to wait for a reply."),
    cli.option("--engine-args", default="{}", metavar="JSON", help="Options of vLLM, such as max_model_len."),
    cli.option(
        "--form",
        default=JSONL,
        type=click.Choice(FORMS),
        metavar="FORM",
        help="Format of the replies: jsonl or parquet.",
    ),
    cli.answering(),
)


@batch.command("ask")
@click.argument("requests", nargs=-1, required=True)
@JOB
def ask_(requests: tuple[str, ...], output: str, form: str, **job: Any) -> dict[str, Any]:
    """Ask files of requests as one job on a Ray cluster.

    REQUESTS are files of `genie batch requests`, folders of them, or Parquet files with custom_id and body. The cluster
    is that of RAY_ADDRESS, or one on this machine. A killed job continues. Needs the extra: pip install
    'genie-inspect[ray]'.

    \b
    Example: genie batch ask read*.jsonl --url http://127.0.0.1:8000/v1 -o read-replies
    """
    with progress_bar() as progress:
        outcome: dict[str, Any] = plain(ask(requests, output, _job(**job), progress, form))
    return outcome


@batch.command("rounds")
@click.argument("paths", nargs=-1, required=True, metavar="LOGS|POPULATION")
@STUDY
@JOB
def rounds_(paths: tuple[str, ...], output: str, form: str, **options: Any) -> cli.Answer:
    """Read and judge on a Ray cluster, in one call.

    The cluster is that of RAY_ADDRESS, or one on this machine. Needs the extra: pip install 'genie-inspect[ray]'.

    \b
    Example: genie batch rounds logs/ --grader vllm/tiny --url http://127.0.0.1:8000/v1 -o replies
    """
    names = ("grader", "judge", "answer_length", "ratings", "population", "templates")
    study = {name: options.pop(name) for name in names}
    with opened_cache() as cache, progress_bar() as progress:
        done, found = rounds(studied(paths, **study), output, _job(**options), cache, progress, form)
    facts: dict[str, Any] = plain(done)
    left = {f"left_to_{step}": found[step].requests for step in STEPS} | seen(found[JUDGE])
    lines = {f"{step}, {part}": counts for step, said in facts.items() for part, counts in said.items()}
    return cli.Answer({**facts, **left}, [*cli.fact_lines(lines), *counted_lines(left)])


def _job(url: str | None, model: str | None, key: str | None, engine_args: str, **own: Any) -> Job:
    """The job of its options."""
    if bool(url) == bool(model):
        raise click.UsageError("give --url to ask a server, or --model to load one into vLLM")
    if url:
        if key and key not in os.environ:
            raise click.BadParameter(f"{key} is not set in the environment", param_hint="--key")
        return Server(url, os.environ[key] if key else "", **own)
    try:
        arguments = json.loads(engine_args)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise click.BadParameter(f"{engine_args!r} is not a JSON object", param_hint="--engine-args")
    return Engine(str(model), own["workers"], own["connections"], arguments)


answered = cli.answering()


@click.group(cls=VerbGroup)
def cache() -> None:
    """Show, export, import or clear what models have replied.

    It is kept in $GENIE_CACHE_DIR.

    \b
    Example: genie cache info
    """


@cache.command()
@answered
def info() -> cli.Answer:
    """Count the answers, ratings, verdicts and vectors by model."""
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
@cli.flag("--yes", help="Do not ask for confirmation.")
@answered
def clear(yes: bool) -> cli.Answer:
    """Delete everything.

    What is needed again costs again.
    """
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
@cli.flag("--force", help="Replace FILE if it exists.")
def export(file: Path, force: bool) -> None:
    """Write answers, ratings and verdicts to a file, or print them.

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
@cli.option("--requests", multiple=True, type=cli.FILE, help="First file of `genie batch requests`; repeatable.")
@answered
def import_(files: tuple[str, ...], requests: tuple[Path, ...]) -> dict[str, Any]:
    """Add replies to batch requests, or an export of another cache.

    FILES are replies of OpenAI's batch endpoint, `vllm run-batch` or `genie batch`, or an export: JSON Lines or Parquet
    files or folders, local or at s3://, gs://, az:// or http(s)://. Lines that cannot be used are counted by reason.
    The cache's contents do not change, so that a killed import can be repeated.

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
    """Add the contents of other caches to yours.

    Use it for runs that each had a $GENIE_CACHE_DIR, such as parts of a job array. Vectors are left out.

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
