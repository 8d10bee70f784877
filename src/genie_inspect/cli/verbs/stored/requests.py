"""`genie requests`: what judging would ask, as files for engines that take files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click
from inspect_ai.model import Model

from genie_inspect.cli.graders import planned_role
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.running import ANSWER_LENGTH, AT_LEAST_1, JSON, errors_in_one_line, progress_bar, show
from genie_inspect.judges.choices import MODES, mode_of
from genie_inspect.judges.instrument import Instrument
from genie_inspect.scale.shards import REQUESTS, Plan, ScaleError, plan_file, shards, write_plan
from genie_inspect.scale.walk import JUDGE, READ, STEPS, Found, Sources, walk

NOT_READ = "texts are not wholly read yet, and nothing can be judged of them before: genie requests ... --step read"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="LOGS|POPULATION")
@click.option("--step", type=click.Choice(STEPS), help="Reading comes before judging.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The first file of requests; more are numbered.")
@click.option("--status", is_flag=True, help="Write nothing: say what is left to ask.")
@click.option("--grader", required=True, metavar="ROLE", help="Who will be asked: as `--model-role grader=` takes it.")
@click.option("--judge", default="list", show_default=True, help=", ".join(MODES))
@ANSWER_LENGTH
@click.option("--population", default="starter", show_default=True, help="What logs are measured against.")
@click.option("--templates", type=click.Path(), help="A folder of your own instruction templates.")
@click.option("--shard", default=REQUESTS, show_default=True, type=AT_LEAST_1, help="Most requests in a file.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@JSON
def requests(
    paths: tuple[str, ...],
    step: str | None,
    output: Path | None,
    status: bool,
    grader: str,
    judge: str,
    answer_length: str,
    population: str,
    templates: str | None,
    shard: int,
    force: bool,
    as_json: bool,
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
        mode = mode_of(judge)
        if mode.asks_pairs and mode.said is None:
            raise ScaleError(f"judge is {judge!r}, whose replies cannot be taken from files, expected another")
        model = planned_role(grader)
        instrument = Instrument(judge, templates=templates, answer_length=answer_length)
        walking = partial(_walked, Sources.of(paths, population), instrument, model)
        if step and output:
            with replacing(output, plan_file(output)):
                plan = Plan(step=step, judge=judge, answer_length=answer_length, grader=grader, signature="")
                show(_written(walking, plan, output, shard, force=force), as_json)
        else:
            show(_left(walking), as_json)


def _walked(
    sources: Sources, instrument: Instrument, model: Model, step: str, write: Callable[[str, str], None]
) -> tuple[Found, str]:
    with progress_bar() as progress:
        return anyio.run(walk, sources, instrument, model, step, write, progress)


def _written(
    walking: Callable[[str, Callable[[str, str], None]], tuple[Found, str]],
    plan: Plan,
    output: Path,
    shard: int,
    *,
    force: bool,
) -> dict[str, Any]:
    """Write the requests of a step; none where nothing is left to ask."""
    with shards(output, shard, new=not force) as files:
        found, signature = walking(plan.step, files.write)
    names = [file.name for file in files.files]
    if names:
        facts = {"signature": signature, "requests": files.count, "files": tuple(names)}
        write_plan(output, plan.model_copy(update=facts))
    return {
        "step": plan.step,
        "requests": found.requests,
        "files": [str(file) for file in files.files] if names else "none: nothing is left to ask",
        **_seen(found),
    }


def _left(walking: Callable[[str, Callable[[str, str], None]], tuple[Found, str]]) -> dict[str, Any]:
    """What both steps would still ask."""
    read, _ = walking(READ, lambda name, body: None)
    judged, _ = walking(JUDGE, lambda name, body: None)
    return {"left_to_read": read.requests, "left_to_judge": judged.requests, **_seen(judged)}


def _seen(found: Found) -> dict[str, Any]:
    facts: dict[str, Any] = {"documents": found.documents, "skipped": dict(found.skipped) or ""}
    return {**facts, "unread": found.unread, "note": NOT_READ} if found.unread else facts
