"""`genie population yardstick`: how novel a population's own documents are."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.cli.graders import named_models
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.running import ANSWER_LENGTH, DRY_RUN, JSON, TEMPLATES, errors_in_one_line, progress_bar, show

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from genie_inspect.building.leaving_out import LeftOut
    from genie_inspect.judges.instrument import Instrument
    from genie_inspect.populations.population import Population
    from genie_inspect.scoring.assessor import Assessor
    from genie_inspect.scoring.jury import Jury


@click.command()
@click.argument("folder")
@click.option(
    "--judge", default="list", show_default=True, help="list, pairwise, logit, vectors or embedded (no model)."
)
@click.option(
    "--grader",
    "graders",
    multiple=True,
    metavar="PROVIDER/MODEL",
    help="Who reads and judges; any model that Inspect has. Repeatable: a jury.",
)
@click.option("--embedder", default="static", show_default=True, help="For --judge vectors and embedded.")
@ANSWER_LENGTH
@TEMPLATES
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Another file than the yardstick.json where scorers look for it: in FOLDER, or for a population that ships "
    "with the package in your data folder ($GENIE_DATA_DIR).",
)
@DRY_RUN
@JSON
def yardstick(
    folder: str,
    judge: str,
    graders: tuple[str, ...],
    embedder: str,
    answer_length: str,
    templates: Path | None,
    output: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Compare each document of the population in FOLDER with the others, and keep how novel it is among them.

    Scores against the population, made with the same judge, grader and templates, then say where they fall among
    its own documents. What the grader has said is kept: a killed run goes on where it was. What ships with the package
    is not written: the yardstick of `starter` or `abstracts` goes to your data folder, where scorers find it too.

    \b
    Example: genie population yardstick castles --grader openai/gpt-4o --dry-run
    """
    from genie_inspect.judges.instrument import Instrument
    from genie_inspect.populations.catalogue import open_population
    from genie_inspect.reports.plain_values import plain
    from genie_inspect.scoring.jury import assessor_of

    with errors_in_one_line():
        instrument = Instrument(judge, embedder, str(templates) if templates else None, answer_length=answer_length)
        check_graders(instrument, graders)
        population = open_population(folder)
        models = named_models(graders, asked=not dry_run)
        if dry_run:
            show(_cost(population, instrument, models), as_json)
            return
        assessor = assessor_of(population, instrument, models)
        place, result = _made(population, assessor, output)
    show(
        {
            "file": str(place),
            "documents": len(result.measured.novelty),
            "signature": result.measured.signature,
            "mean_novelty": plain({feature: round(interval.mean, 4) for feature, interval in result.means.items()}),
            "missing": dict(result.missing),
        },
        as_json,
    )


def check_graders(instrument: "Instrument", graders: Sequence[str]) -> None:
    """Refuse a grader that would not be asked, and a judge that lacks one.

    Raises:
        UsageError: If it is so.
    """
    if bool(graders) == instrument.is_smoke_test:
        needs = "asks no model: leave --grader out" if graders else "asks a model, name it: --grader PROVIDER/MODEL"
        raise click.UsageError(f"--judge {instrument.judge} {needs}")


def _made(population: "Population", assessor: "Assessor | Jury", output: Path | None) -> tuple[Path, "LeftOut"]:
    """The file that was written, and what stands in it."""
    import anyio

    from genie_inspect.building.leaving_out import left_out
    from genie_inspect.files.writing import check_writable, unwritable
    from genie_inspect.populations.yardstick import (
        YARDSTICK,
        read_yardstick,
        with_measured,
        write_yardstick,
        yardstick_file,
        yardstick_of,
    )

    path = output or yardstick_file(population.folder)
    # before anything is asked: a run that cannot write its output costs nothing
    if output is None:
        with unwritable(path):
            path.parent.mkdir(parents=True, exist_ok=True)  # of the user's data folder
    check_writable(path)
    yardstick_of(population.folder)
    with progress_bar() as progress:
        result = anyio.run(left_out, assessor, progress)
    with replacing(output):
        # read again: another instrument's may have been written meanwhile
        beside = read_yardstick(population.folder / YARDSTICK if output else path)
        write_yardstick(path, with_measured(beside, result.measured))
    return path, result


def _cost(population: "Population", instrument: "Instrument", models: "tuple[Model, ...]") -> dict[str, object]:
    from genie_inspect.costs.estimate import Known, TaskCost
    from genie_inspect.costs.leaving_out import yardstick_cost

    facts: dict[str, object] = {"population": population.name, "documents": population.manifest.counts.documents}
    if not models:
        return {**facts, "calls_needed": 0, "input_tokens": 0, "output_tokens": 0}
    parts = [yardstick_cost(population, instrument, Known.by(instrument, model)) for model in models]
    total = TaskCost.by_all(parts).total
    return {
        **facts,
        "calls_needed": round(total.calls),
        "input_tokens": round(total.tokens_in),
        "output_tokens": round(total.tokens_out),
    }
