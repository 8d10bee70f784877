"""`genie prompts write`: prompts from pairs of concepts that a model names."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from genie_inspect.building.prompts.pairs import APART, PAIRS_APART
from genie_inspect.building.prompts.writing import WORDING, Order, write_pairs
from genie_inspect.cli.running import (
    AT_LEAST_1,
    DRY_RUN,
    GRADER,
    JSON,
    TEMPLATES,
    cost,
    errors_in_one_line,
    run_asking,
    show,
)

DISTANCE = click.FloatRange(0, 2)


@click.command()
@click.option(
    "--domain", required=True, help='What the concepts are of: "everyday life", "life at sea", "cell biology".'
)
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path), help="The new file, whose name ends in .jsonl."
)
@GRADER
@click.option("--count", default=25, show_default=True, type=AT_LEAST_1, help="How many pairs.")
@click.option("--seed", default=0, show_default=True, help="What is asked for, and which of the sound pairs are taken.")
@click.option(
    "--apart", default=APART, show_default=True, type=DISTANCE, help="Least cosine distance of a pair's concepts."
)
@click.option(
    "--pairs-apart", default=PAIRS_APART, show_default=True, type=DISTANCE, help="Least cosine distance of two pairs."
)
@click.option("--wording", default=WORDING, show_default=True, help="Of the prompts, with {first} and {second}.")
@click.option(
    "--embedder",
    default="static",
    show_default=True,
    help="For the distances: static, openai/<model> or sentence-transformers/<id>.",
)
@TEMPLATES
@DRY_RUN
@JSON
def write(output: Path, grader: str, dry_run: bool, as_json: bool, **facts: Any) -> None:
    """Ask for pairs of concepts of a domain until there are enough that have nothing to do with each other.

    A pair is dropped when its concepts are near each other, when one of them stands in another pair, or when it is near
    another pair; what was dropped is counted by reason. Each line of the file is a prompt with its concepts and their
    distance. The distances that are asked for suit the static embedder and everyday concepts: in a narrow domain
    everything is nearer, so lower them, and read the pairs before you use them. A run that was killed goes on where it
    ended. With --dry-run the model's pairs count as sound: the fewest calls that it can take.

    \b
    Example: genie prompts write --domain "life at sea" -o sea.jsonl --grader openai/gpt-4o --apart 0.7
             inspect eval genie_inspect/population_prompts -T prompts=sea.jsonl --model ... --log-dir logs
             genie questions write sea.jsonl -o questions --grader openai/gpt-4o
    """
    from genie_inspect.engines.sources.prompts import check_prompts_file
    from genie_inspect.files.writing import check_absent

    with errors_in_one_line():
        check_prompts_file(output)
        check_absent(output)
        order = Order(**facts)
        if dry_run:
            order = replace(order, apart=0.0, pairs_apart=0.0)

        async def work(model: Any, target: Path, folder: Path, progress: Any) -> dict[str, Any]:
            return await write_pairs(order, target, model, folder, progress)

        written, tally = run_asking(work, grader, output, dry_run=dry_run)
    # a rehearsal's pairs are made up
    told = {"prompts": written["prompts"]} if dry_run else {"file": str(output), **written}
    show({**told, **cost(tally, dry_run=dry_run)}, as_json)
