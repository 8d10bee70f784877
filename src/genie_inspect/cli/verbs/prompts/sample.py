"""`genie prompts sample`: prompts that people wrote, from a dataset of the hub or a file."""

from pathlib import Path

import click

from genie_inspect.cli.running import AT_LEAST_1, JSON, errors_in_one_line, show


@click.command()
@click.argument("source")
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path), help="The new file, whose name ends in .jsonl."
)
@click.option("--count", default=25, show_default=True, type=AT_LEAST_1, help="How many prompts.")
@click.option("--seed", default=0, show_default=True, help="Which ones.")
@click.option("--column", default="prompt", show_default=True, help="Where a row has its prompt.")
@click.option("--split", default="train", show_default=True, help="Which part of a hub dataset.")
@click.option("--story-where", is_flag=True, help='Begin each with "Write a story where:", as the study does.')
@JSON
def sample(
    source: str, output: Path, count: int, seed: int, column: str, split: str, story_where: bool, as_json: bool
) -> None:
    """Draw distinct prompts from SOURCE, without their tags ([WP], [EU]) and what tokenizers left in them.

    SOURCE is a hub dataset (extra `hub`) or a JSON Lines, CSV or Parquet file. A dataset's owner can change it: name a
    commit behind it, OWNER/NAME@COMMIT, so that others draw what you drew; without one it is loaded as it is today,
    with a warning, where this package knows no commit of it.

    \b
    Example: genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
             genie prompts sample euclaise/writingprompts --story-where --count 25 --seed 0 -o people.jsonl
    """
    from genie_inspect.engines.models.revisions import with_commit
    from genie_inspect.engines.sources.prompts import check_prompts_file, write_prompts, writing_prompt_sample
    from genie_inspect.files.writing import check_absent

    with errors_in_one_line():
        check_prompts_file(output)
        check_absent(output)
        drawn = writing_prompt_sample(source, count, seed, column=column, split=split, story_where=story_where)
        write_prompts(output, ({"prompt": prompt} for prompt in drawn))
    show({"file": str(output), "source": with_commit(source), "prompts": len(drawn)}, as_json)
