"""`genie requests`: what judging would ask, as files for engines that take files."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.running import AT_LEAST_1, JSON, errors_in_one_line, progress_bar, show
from genie_inspect.cli.verbs.stored.studied import STUDY, studied
from genie_inspect.scale.planning import Study
from genie_inspect.scale.shards import REQUESTS, plan_file
from genie_inspect.scale.walk import STEPS, Found

NOT_READ = "texts are not wholly read yet, and nothing can be judged of them before: genie requests ... --step read"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="LOGS|POPULATION")
@click.option("--step", type=click.Choice(STEPS), help="Reading comes before judging.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The first file of requests; more are numbered.")
@click.option("--status", is_flag=True, help="Write nothing: say what is left to ask.")
@STUDY
@click.option("--shard", default=REQUESTS, show_default=True, type=AT_LEAST_1, help="Most requests in a file.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@JSON
def requests(
    paths: tuple[str, ...],
    step: str | None,
    output: Path | None,
    status: bool,
    shard: int,
    force: bool,
    as_json: bool,
    **study: Any,
) -> None:
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
    with errors_in_one_line():
        planned = studied(paths, **study)
        if step and output:
            with replacing(output, plan_file(output)):
                show(_written(planned, step, output, shard, force=force), as_json)
        else:
            show(_left(planned), as_json)


def _written(study: Study, step: str, output: Path, shard: int, *, force: bool) -> dict[str, Any]:
    """Write the requests of a step; none where nothing is left to ask."""
    with progress_bar() as progress:
        found, files = anyio.run(partial(study.write, most=shard, new=not force), step, output, progress)
    return {
        "step": step,
        "requests": found.requests,
        "files": [str(file) for file in files] if files else "none: nothing is left to ask",
        **seen(found),
    }


def _left(study: Study) -> dict[str, Any]:
    """What both steps would still ask."""
    with progress_bar() as progress:
        read, judged = (anyio.run(study.left, step, progress) for step in STEPS)
    return {"left_to_read": read.requests, "left_to_judge": judged.requests, **seen(judged)}


def seen(found: Found) -> dict[str, Any]:
    """What a walk came by, as a verb shows it."""
    facts: dict[str, Any] = {"documents": found.documents, "skipped": dict(found.skipped) or ""}
    return {**facts, "unread": found.unread, "note": NOT_READ} if found.unread else facts
