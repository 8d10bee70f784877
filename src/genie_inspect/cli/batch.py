"""`genie requests`: what judging would ask, as files for engines that take files."""

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.batch.ray import Job, ask, rounds
from genie_inspect.batch.ray_server import Engine, Server
from genie_inspect.batch.shards import JUDGE, REQUESTS, STEPS, Plan, plan_file
from genie_inspect.batch.walk import FORMS, JSONL, Found, Study
from genie_inspect.cli import VerbGroup
from genie_inspect.cli import options as cli
from genie_inspect.cli.cache import opened_cache
from genie_inspect.cli.running import planned_role, progress_bar
from genie_inspect.cli.terminal import replacing
from genie_inspect.files.tables import plain
from genie_inspect.graders.instrument import MODES, Instrument

STUDY = cli.together(
    cli.option(
        "--grader", required=True, metavar="ROLE", help="Who will be asked: as `--model-role grader=` takes it."
    ),
    cli.option("--judge", default="list", help=", ".join(MODES)),
    cli.ANSWER_LENGTH,
    cli.option("--population", default="starter", help="What logs are measured against."),
    cli.UNCHECKED_TEMPLATES,
)


def studied(
    paths: Sequence[str], grader: str, judge: str, answer_length: str, population: str, templates: str | None
) -> Study:
    plan = Plan(step="", judge=judge, answer_length=answer_length, grader=grader, signature="")
    model = planned_role(grader)
    instrument = Instrument(judge, templates=templates, answer_length=answer_length)
    return Study(paths, population, instrument, model, plan)


NOT_READ = "texts are not wholly read yet, and nothing can be judged of them before: genie requests ... --step read"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="LOGS|POPULATION")
@cli.option("--step", type=click.Choice(STEPS), help="Reading comes before judging.")
@cli.option("-o", "--output", type=cli.FILE, help="The first file of requests; more are numbered.")
@cli.flag("--status", help="Write nothing: say what is left to ask.")
@STUDY
@cli.option("--shard", default=REQUESTS, type=cli.AT_LEAST_1, help="Most requests in a file.")
@cli.flag("--force", help="Replace files that are there.")
@cli.answering()
def requests(
    paths: tuple[str, ...], step: str | None, output: Path | None, status: bool, shard: int, force: bool, **study: Any
) -> dict[str, Any]:
    """Write what the scorer `genie` would ask of logs, or of a population's own documents, and the cache lacks.

    Lines as OpenAI's batch endpoint and `vllm run-batch` take them. Two rounds: reading, then judging; after each
    `genie cache import` takes the replies. Then `inspect score` finds everything on record.

    \b
    Example: genie requests logs/ --step read --grader openai/gpt-4o-mini -o read.jsonl
             genie cache import read-replies.jsonl --requests read.jsonl
             genie requests logs/ --status --grader openai/gpt-4o-mini
    """
    if status == bool(step or output):
        raise click.UsageError("give --step and --output to write requests, or --status alone")
    if not status and not (step and output):
        raise click.UsageError("--step and --output are given together")
    planned = studied(paths, **study)
    if not (step and output):
        with progress_bar() as progress:
            read, judged = (anyio.run(planned.left, step, progress) for step in STEPS)
        return {"left_to_read": read.requests, "left_to_judge": judged.requests, **seen(judged)}
    with replacing(output, plan_file(output)), progress_bar() as progress:
        found, files = anyio.run(partial(planned.write, most=shard, new=not force), step, output, progress)
    return {
        "step": step,
        "requests": found.requests,
        "files": [str(file) for file in files] if files else "none: nothing is left to ask",
        **seen(found),
    }


def seen(found: Found) -> dict[str, Any]:
    facts: dict[str, Any] = {"documents": found.documents, "skipped": dict(found.skipped) or ""}
    return {**facts, "unread": found.unread, "note": NOT_READ} if found.unread else facts


JOB = cli.together(
    cli.option("-o", "--output", required=True, help="A folder for the replies, or s3://, gs://, az://."),
    cli.option("--url", help="Ask a server that takes chat completions: http://.../v1."),
    cli.option("--model", help="Load this model into vLLM on the cluster's GPUs, instead of --url."),
    cli.option("--key", metavar="VARIABLE", help="The environment variable that holds the server's key."),
    cli.option("--connections", default=64, type=cli.AT_LEAST_1, help="Requests in flight, each worker."),
    cli.option("--workers", default=1, type=cli.AT_LEAST_1, help="Askers, or engines, side by side."),
    cli.option("--qps", type=cli.AT_LEAST_1, help="Most requests a second, each worker."),
    cli.option("--retries", default=5, type=click.IntRange(min=0), help="Of a request that fails."),
    cli.option("--timeout", default=600.0, help="Seconds without a word before a server has failed."),
    click.option(
        "--engine-args", default="{}", metavar="JSON", help="Of vLLM: tensor_parallel_size, max_model_len ..."
    ),
    cli.option("--form", default=JSONL, type=click.Choice(FORMS), help="Of the files of replies."),
    cli.answering(),
)


@click.group(cls=VerbGroup)
def ray() -> None:
    """Ask what judging needs as one job on a Ray cluster: that of RAY_ADDRESS, or one on this machine (extra `ray`).

    \b
    Example: genie ray rounds logs/ --grader vllm/tiny --url http://127.0.0.1:8000/v1 -o replies
    """


@ray.command("ask")
@click.argument("requests", nargs=-1, required=True)
@JOB
def ask_(requests: tuple[str, ...], output: str, form: str, **job: Any) -> dict[str, Any]:
    """Ask REQUESTS: files of `genie requests`, folders of them, or Parquet with the columns custom_id and body.

    What has a reply in the output folder is not asked again, so that a job that was killed is begun again.

    \b
    Example: genie ray ask read*.jsonl --url http://127.0.0.1:8000/v1 -o read-replies
             genie cache import read-replies --requests read.jsonl
    """
    with progress_bar() as progress:
        outcome: dict[str, Any] = plain(ask(requests, output, _job(**job), progress, form))
    return outcome


@ray.command("rounds")
@click.argument("paths", nargs=-1, required=True, metavar="LOGS|POPULATION")
@STUDY
@JOB
def rounds_(paths: tuple[str, ...], output: str, form: str, **options: Any) -> cli.Answer:
    """Read and judge: write what the cache lacks, ask it, import the replies; first the reading, then the judging.

    Replies stand in OUTPUT/read and OUTPUT/judge. Afterwards `inspect score` finds everything on record.

    \b
    Example: genie ray rounds logs/ --grader vllm/tiny --url http://127.0.0.1:8000/v1 -o replies
    """
    study = {name: options.pop(name) for name in ("grader", "judge", "answer_length", "population", "templates")}
    with opened_cache() as cache, progress_bar() as progress:
        done, found = rounds(studied(paths, **study), output, _job(**options), cache, progress, form)
    facts: dict[str, Any] = plain(done)
    left = {**{f"left_to_{step}": found[step].requests for step in STEPS}, **seen(found[JUDGE])}
    lines = {f"{step}, {part}": counts for step, said in facts.items() for part, counts in said.items()}
    return cli.Answer({**facts, **left}, cli.fact_lines({**lines, **left}))


def _job(
    *,
    url: str | None,
    model: str | None,
    key: str | None,
    connections: int,
    workers: int,
    qps: int | None,
    engine_args: str,
    **own: Any,
) -> Job:
    """The job of its options; `own` are further ones of a server."""
    if bool(url) == bool(model):
        raise click.UsageError("give --url to ask a server, or --model to load one into vLLM")
    if url:
        if key and key not in os.environ:
            raise click.BadParameter(f"{key} is not set in the environment", param_hint="--key")
        return Server(url, os.environ[key] if key else "", connections, workers, qps, **own)
    try:
        arguments = json.loads(engine_args)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise click.BadParameter(f"{engine_args!r} is no JSON object", param_hint="--engine-args")
    return Engine(str(model), workers, connections, arguments)
