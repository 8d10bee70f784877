"""`genie prompts`: files of prompts, from pairs of concepts or from prompts that people wrote."""

import click

from genie_inspect.cli.group import VerbGroup

VERBS = {
    "write": (
        "genie_inspect.cli.verbs.prompts.write:write",
        "Have a model name pairs of concepts that seldom meet, in any domain.",
    ),
    "sample": (
        "genie_inspect.cli.verbs.prompts.sample:sample",
        "Draw prompts that people wrote from a dataset or a file.",
    ),
}


@click.group(cls=VerbGroup, verbs=VERBS)
def prompts() -> None:
    """Make a file of prompts, for the task population_prompts and for `genie questions write`.

    \b
    Example: genie prompts write --domain "life at sea" -o sea.jsonl --grader openai/gpt-4o --dry-run
             genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
             inspect eval genie_inspect/population_prompts -T prompts=sea.jsonl --model ... --log-dir logs
    """
