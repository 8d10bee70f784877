"""`genie ray`: requests asked as one job of Ray Data LLM, of a server or by engines on GPUs."""

import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from genie_inspect.cli.options import with_options
from genie_inspect.cli.running import AT_LEAST_1, JSON, errors_in_one_line, progress_bar, show
from genie_inspect.cli.verbs.stored.cache import opened_cache
from genie_inspect.cli.verbs.stored.requests import seen
from genie_inspect.cli.verbs.stored.studied import STUDY, studied
from genie_inspect.reports.plain_values import plain
from genie_inspect.scale.parts import FORMS, JSONL
from genie_inspect.scale.ray.asking import Job, ask
from genie_inspect.scale.ray.engine import Engine
from genie_inspect.scale.ray.rounds import rounds
from genie_inspect.scale.ray.server import Server

Command = TypeVar("Command", bound=Callable[..., Any])
OPTIONS = (
    click.option("-o", "--output", required=True, help="A folder for the replies, or s3://... and its like."),
    click.option("--url", help="Ask a server that takes chat completions: http://.../v1."),
    click.option("--model", help="Load this model into vLLM on the cluster's GPUs, instead of --url."),
    click.option("--key", metavar="VARIABLE", help="The environment variable that holds the server's key."),
    click.option(
        "--connections", default=64, show_default=True, type=AT_LEAST_1, help="Requests in flight, each worker."
    ),
    click.option("--workers", default=1, show_default=True, type=AT_LEAST_1, help="Askers, or engines, side by side."),
    click.option("--qps", type=AT_LEAST_1, help="Most requests a second, each worker."),
    click.option(
        "--retries", default=5, show_default=True, type=click.IntRange(min=0), help="Of a request that fails."
    ),
    click.option(
        "--timeout", default=600.0, show_default=True, help="Seconds without a word before a server has failed."
    ),
    click.option(
        "--engine-args", default="{}", metavar="JSON", help="Of vLLM: tensor_parallel_size, max_model_len ..."
    ),
    click.option("--form", default=JSONL, show_default=True, type=click.Choice(FORMS), help="Of the files of replies."),
    JSON,
)


def JOB(command: Command) -> Command:  # noqa: N802  # as the options of `cli.running`
    """The options of a job."""
    return with_options(OPTIONS)(command)


@click.group()
def ray() -> None:
    """Ask what judging needs as one job on a Ray cluster: that of RAY_ADDRESS, or one on this machine (extra `ray`).

    \b
    Example: genie ray rounds logs/ --grader vllm/tiny --url http://127.0.0.1:8000/v1 -o replies
    """


@ray.command("ask")
@click.argument("requests", nargs=-1, required=True)
@JOB
def ask_(requests: tuple[str, ...], output: str, form: str, as_json: bool, **job: Any) -> None:
    """Ask REQUESTS: files of `genie requests`, folders of them, or Parquet with the columns custom_id and body.

    What has a reply in the output folder is not asked again, so that a job that was killed is begun again.

    \b
    Example: genie ray ask read*.jsonl --url http://127.0.0.1:8000/v1 -o read-replies
             genie cache import read-replies --requests read.jsonl
    """
    with errors_in_one_line(), progress_bar() as progress:
        outcome = ask(requests, output, _job(**job), progress, form)
    show(plain(outcome), as_json)


@ray.command("rounds")
@click.argument("paths", nargs=-1, required=True, metavar="LOGS|POPULATION")
@STUDY
@JOB
def rounds_(paths: tuple[str, ...], output: str, form: str, as_json: bool, **options: Any) -> None:
    """Read and judge: write what the cache lacks, ask it, import the replies; first the reading, then the judging.

    Replies stand in OUTPUT/read and OUTPUT/judge. Afterwards `inspect score` finds everything on record.

    \b
    Example: genie ray rounds logs/ --grader vllm/tiny --url http://127.0.0.1:8000/v1 -o replies
    """
    job = {name: options.pop(name) for name in JOB_NAMES}
    with errors_in_one_line(), opened_cache() as cache, progress_bar() as progress:
        result = rounds(studied(paths, **options), output, _job(**job), cache, progress, form)
    facts = {name: plain(getattr(result, name)) for name in ("read", "judge")}
    left = {"left_to_read": result.left_to_read, "left_to_judge": result.left_to_judge, **seen(result.found)}
    if as_json:
        show({**facts, **left}, as_json)
        return
    for step, said in facts.items():
        show({f"{step}, {part}": counts for part, counts in said.items()}, as_json)
    show(left, as_json)


JOB_NAMES = ("url", "model", "key", "connections", "workers", "qps", "retries", "timeout", "engine_args")


def _job(
    url: str | None,
    model: str | None,
    key: str | None,
    connections: int,
    workers: int,
    qps: int | None,
    retries: int,
    timeout: float,
    engine_args: str,
) -> Job:
    if bool(url) == bool(model):
        raise click.UsageError("give --url to ask a server, or --model to load one into vLLM")
    if url:
        if key and key not in os.environ:
            raise click.BadParameter(f"{key} is not set in the environment", param_hint="--key")
        secret = os.environ[key] if key else ""
        return Server(url, secret, connections, workers, qps, retries, timeout=timeout)
    try:
        arguments = json.loads(engine_args)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise click.BadParameter(f"{engine_args!r} is no JSON object", param_hint="--engine-args")
    return Engine(str(model), workers, connections, arguments)
