"""`genie plots`: one-sentence plots of a user's own stories."""

from pathlib import Path
from typing import Any

import click

from genie_inspect.cli.running import DRY_RUN, GRADER, JSON, TEMPLATES, cost, errors_in_one_line, run_asking, show

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("stories", type=FILE)
@click.option("--output", "-o", required=True, type=FILE, help="The new file, for -T stories= of the task ttcw.")
@GRADER
@TEMPLATES
@DRY_RUN
@JSON
def plots(stories: Path, output: Path, grader: str, templates: Path | None, dry_run: bool, as_json: bool) -> None:
    """Draw the plot of each of STORIES in one sentence, so that models can write from it beside the story.

    STORIES is a JSON Lines file with title and story, or a folder of text files. A story that has a plot keeps it. A
    run that was killed goes on where it ended; a reply that was cut off is asked for again. Read the plots before you
    use them: they are a model's.

    \b
    Example: genie plots my-stories/ -o references.jsonl --grader openai/gpt-4o
             inspect eval genie_inspect/ttcw -T stories=references.jsonl --model ... --model-role grader=...
    """
    from genie_inspect.building.plots import draw_plots, own_stories
    from genie_inspect.files.writing import check_absent

    with errors_in_one_line():
        own = own_stories(stories)
        check_absent(output)

        async def work(model: Any, target: Path, folder: Path, progress: Any) -> dict[str, Any]:
            return await draw_plots(own, templates, target, model, folder, progress)

        drawn, tally = run_asking(work, grader, output, dry_run=dry_run, keep_cut=False)
    # a rehearsal's plots are made up
    told = {"stories": drawn["stories"]} if dry_run else {"file": str(output), **drawn}
    show({**told, **cost(tally, dry_run=dry_run)}, as_json)
