"""`genie interventions write`: edits of one feature each, and paraphrases, by a model."""

from pathlib import Path
from typing import Any

import click

from genie_inspect.cli.running import (
    AT_LEAST_1,
    DRY_RUN,
    FEATURES,
    JSON,
    TEMPLATES,
    cost,
    errors_in_one_line,
    run_asking,
    show,
)


@click.command()
@click.argument("sources", nargs=-1, required=True)
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path), help="The new folder; nothing may stand there."
)
@click.option("--editor", required=True, metavar="PROVIDER/MODEL", help="Who proposes, edits, paraphrases and screens.")
@FEATURES
@click.option(
    "--population", help="Whose questions are asked about documents of logs; a population as source asks its own."
)
@click.option("--per-prompt", type=AT_LEAST_1, help="Most documents of a prompt; default: all.")
@click.option("--paraphrases", default=3, show_default=True, type=click.IntRange(min=0), help="Of each document.")
@click.option("--seed", default=0, show_default=True, help="Draws one of the proposed alternatives.")
@TEMPLATES
@DRY_RUN
@JSON
def write(
    sources: tuple[str, ...],
    output: Path,
    editor: str,
    features: str,
    population: str | None,
    per_prompt: int | None,
    paraphrases: int,
    seed: int,
    templates: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Edit each document of SOURCES along every feature, one at a time, and paraphrase it.

    SOURCES is a population (a bundled one or a folder) or Inspect logs. For each document and feature five other values
    are proposed from the document's own answers, without sight of the population; one is drawn, and the text is given
    that value in as few words as possible. What is no text of its kind, no edit or unfinished is left out and stands
    with the reason in rejected.jsonl. A killed run is started again by the same command: what was asked is on record in
    OUTPUT.work.

    \b
    Example: genie interventions write starter -o pairs --editor openai/gpt-4o --per-prompt 2 --dry-run
             genie interventions write logs/ -o pairs --editor openai/gpt-4o --population starter
    """
    from genie_inspect.asking.prerequisites import unmet
    from genie_inspect.building.interventions.run import Order, write_interventions
    from genie_inspect.judges.choices import RECORDED
    from genie_inspect.populations.catalogue import open_population
    from genie_inspect.populations.features import read_features

    with errors_in_one_line():
        # whatever a recording holds, it is no editor of other texts
        if editor.split("/", 1)[0] == RECORDED:
            raise unmet(f"--editor {editor} has its texts on record and can edit nothing: name a real model")
        order = Order(
            sources,
            read_features(features),
            open_population(population) if population else None,
            per_prompt,
            paraphrases,
            seed,
            templates,
        )

        async def work(model: Any, target: Path, folder: Path, progress: Any) -> dict[str, Any]:
            return await write_interventions(order, target, model, folder, progress)

        written, tally = run_asking(work, editor, output, dry_run=dry_run, option="--editor")
    show({**({} if dry_run else {"folder": str(output)}), **written, **cost(tally, dry_run=dry_run)}, as_json)
