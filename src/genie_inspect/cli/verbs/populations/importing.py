"""`genie population import`: a population from somebody's table."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.cli.running import JSON, TEMPLATES, cost, errors_in_one_line, progress_bar, run_asking, show
from genie_inspect.cli.verbs.populations.options import CLEAN, FOLDER, OUTPUT, described

if TYPE_CHECKING:
    from genie_inspect.building.importing import Import

COUNTED = ("rows", "documents", "questions", "dropped", "columns", "note")  # what a dry run of cleaning knows


@click.command(name="import")
@click.argument("source")
@OUTPUT
@described
@click.option("--features", metavar="FILE|POPULATION", help="As for build; the preset's, or starter's, unless given.")
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="document, prompt, text, model, question, answer, feature.",
)
@click.option("--preset", help="A bundled mapping: genie-study.")
@click.option("--questions", type=FOLDER, help="A file or population whose questions are taken beside the table's.")
@click.option("--reader", help="Who gave the answers, as it shall stand on record; the preset's word unless given.")
@click.option("--split", default="train", show_default=True, help="Of a hub dataset.")
@CLEAN
@click.option("--grader", metavar="PROVIDER/MODEL", help="For --clean-by-model: who is asked.")
@TEMPLATES
@click.option("--dry-run", is_flag=True, help="Ask nobody, write nothing: count.")
@JSON
def import_(
    source: str,
    clean_by_model: bool,
    grader: str | None,
    templates: Path | None,
    dry_run: bool,
    as_json: bool,
    **facts: Any,
) -> None:
    """Make a population of SOURCE: a JSONL, CSV or Parquet file, or the id of a hub dataset.

    Rows may hold documents, questions, answers, or all of them; --map says which column is what. Asks no model, unless
    --clean-by-model has documents cut where they fall apart; killed at that, the same command goes on: what was asked
    is on record in OUTPUT.work.

    \b
    Example: genie population import AlliteraryAlligator/sample-population --preset genie-study \\
                 -o study --name study --licence unknown
    """
    from genie_inspect.building.importing import Import, import_population

    if clean_by_model != (grader is not None):
        raise click.UsageError("--clean-by-model and --grader go together: one says what, the other who is asked")
    with errors_in_one_line():
        order = Import(source=source, **facts)
        if grader is not None:
            result = _cleaned(order, grader, templates, dry_run=dry_run)
        else:
            with progress_bar() as progress:
                result = asdict(import_population(replace(order, dry_run=dry_run), progress))
    # what was not asked for is no count
    show({name: value for name, value in result.items() if value is not None}, as_json)


def _cleaned(order: "Import", grader: str, templates: Path | None, *, dry_run: bool) -> dict[str, Any]:
    """The counts of an import whose documents a model looked at, and what that took."""
    from genie_inspect.building.cleaning import Cleaner
    from genie_inspect.building.importing import Imported, import_cleaned

    # a dry run gives another target, in a folder that goes away
    async def work(model: Any, target: Path, _: Path, progress: Any) -> Imported:
        return await import_cleaned(replace(order, output=target), Cleaner(model, templates), progress)

    imported, tally = run_asking(work, grader, order.output, dry_run=dry_run)
    result = asdict(imported) if not dry_run else {name: getattr(imported, name) for name in COUNTED}
    return {**result, **cost(tally, dry_run=dry_run)}
