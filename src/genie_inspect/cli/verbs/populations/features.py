"""`genie features`: discover, map."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.cli.record_tables import record_table
from genie_inspect.cli.running import DRY_RUN, GRADER, JSON, TEMPLATES, cost, errors_in_one_line, run_asking, show
from genie_inspect.cli.terminal import console

if TYPE_CHECKING:
    from genie_inspect.building.features.mapping import FeatureMap

FILE = click.Path(path_type=Path)


@click.group()
def features() -> None:
    """Find the features along which texts of a kind can differ, and map them to a taxonomy.

    \b
    Example: genie features discover --task "write a research abstract" -o abstracts --grader openai/gpt-4o --dry-run
             genie features map abstracts --taxonomy starter --grader openai/gpt-4o
    """


@features.command()
@click.option("--task", required=True, help='What is written: "write a short story", "write a research abstract".')
@click.option(
    "--output",
    "-o",
    required=True,
    type=FILE,
    help="The new folder: features.json and what was said.",
)
@GRADER
@click.option("--samples", default=10, show_default=True, type=click.IntRange(min=1), help="How often is asked.")
@click.option(
    "--method", default="k-means", show_default=True, type=click.Choice(["k-means", "agglomerative", "hdbscan"])
)
@click.option(
    "--embedder", default="static", show_default=True, help="static, openai/<model> or sentence-transformers/<id>."
)
@TEMPLATES
@DRY_RUN
@JSON
def discover(output: Path, grader: str, dry_run: bool, as_json: bool, **facts: Any) -> None:
    """Ask for the features of a task several times, put like names together, and write a features file.

    \b
    Example: genie features discover --task "write a research abstract" -o abstracts --grader openai/gpt-4o
    """
    from genie_inspect.building.features.discovering import Search, discover_features

    with errors_in_one_line():
        search = Search(**facts)

        async def work(model: Any, target: Path, folder: Path, progress: Any) -> dict[str, Any]:
            return await discover_features(search, target, model, folder, progress)

        counts, tally = run_asking(work, grader, output, dry_run=dry_run)
    show({**({} if dry_run else {"folder": str(output)}), **counts, **cost(tally, dry_run=dry_run)}, as_json)


@features.command(name="map")
@click.argument("folder", type=FILE)
@click.option(
    "--taxonomy",
    required=True,
    metavar="FILE|POPULATION",
    help='A JSON file {"features": [...]}, a feature a line in .jsonl, a population\'s folder or a bundled population.',
)
@click.option("--output", "-o", type=FILE, help="The new file; mapping.json in FOLDER unless given.")
@GRADER
@TEMPLATES
@DRY_RUN
@JSON
def map_(
    folder: Path,
    taxonomy: str,
    output: Path | None,
    grader: str,
    templates: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Map the features that discover wrote to FOLDER to those of a taxonomy, each to one or to none.

    Says which of the discovered have no counterpart, and which of the taxonomy were not discovered. A killed run is
    started again by the same command. Read the mapping before you use it: it is a model's.

    \b
    Example: genie features map abstracts --taxonomy taxonomy.json --grader openai/gpt-4o
    """
    from genie_inspect.building.features.mapping import MAPPING, discovered_features, map_features, read_taxonomy
    from genie_inspect.files.shipped import own_folder
    from genie_inspect.files.writing import check_absent

    with errors_in_one_line():
        discovered, named = discovered_features(folder), read_taxonomy(taxonomy)
        if output is None and own_folder(folder):
            raise click.UsageError(f"{folder} ships with the package, which is not written: name a file with --output")
        file = output or folder / MAPPING
        check_absent(file)

        async def work(model: Any, target: Path, record: Path, progress: Any) -> "FeatureMap":
            return await map_features(discovered, named, templates, target, model, record, progress)

        mapped, tally = run_asking(work, grader, file, dry_run=dry_run)
    spent = cost(tally, dry_run=dry_run)
    if dry_run:
        show({"discovered": len(discovered), "taxonomy": len(named), **spent}, as_json)
        return
    result = {"file": str(file), **mapped.as_dict()}
    if not as_json:
        # as rows, not on one line
        rows = [{"discovered": feature.name, taxonomy: mapped.shown(feature.name)} for feature in discovered]
        console().print(record_table("mapping", rows))
        counterparts = f"{len(result.pop('mapping'))} of {len(discovered)}"
        left = {name: ", ".join(value) if isinstance(value, list) else value for name, value in result.items()}
        result = {"with_counterpart": counterparts, **left}
    show({**result, **spent}, as_json)
