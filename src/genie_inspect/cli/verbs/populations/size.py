"""`genie population size`: how many documents a population needs, from measured similarities."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.cli.graders import named_models
from genie_inspect.cli.running import ANSWER_LENGTH, JSON, TEMPLATES, errors_in_one_line, progress_bar, show
from genie_inspect.cli.tables import SIGNATURE
from genie_inspect.cli.terminal import console
from genie_inspect.cli.verbs.populations.yardstick import check_graders
from genie_inspect.populations.survey import CONFIDENCE, MARGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from genie_inspect.building.sizing import FeatureSize
    from genie_inspect.judges.instrument import Instrument
    from genie_inspect.statistics.descriptive.spread import Spread

KEY = (
    "sd: of the similarities of one answer to the population's, within questions; degrees: of freedom, how much it"
    " rests on; needed: answers a question for ±{margin:g} at {confidence:.0%}. Where not every document answers, a"
    " population needs more documents than answers."
)
OPEN = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command()
@click.argument("sources", nargs=-1, required=True)
@click.option("--margin", default=MARGIN, show_default=True, type=OPEN, help="Half width of a mean similarity.")
@click.option("--confidence", default=CONFIDENCE, show_default=True, type=OPEN, help="Of the two-sided interval.")
@click.option("--judge", default="list", show_default=True, help="For a population: as for yardstick.")
@click.option(
    "--grader",
    "graders",
    multiple=True,
    metavar="PROVIDER/MODEL",
    help="For a population: who reads and judges. Repeatable: a jury.",
)
@click.option("--embedder", default="static", show_default=True, help="For --judge vectors and embedded.")
@ANSWER_LENGTH
@TEMPLATES
@SIGNATURE
@JSON
def size(
    sources: tuple[str, ...],
    margin: float,
    confidence: float,
    judge: str,
    graders: tuple[str, ...],
    embedder: str,
    answer_length: str,
    templates: Path | None,
    signature: str,
    as_json: bool,
) -> None:
    """Say by feature how many documents a population needs, from how far similarities lie apart in SOURCES.

    SOURCES are logs that `genie` scored, or folders of them: nothing is asked. A population's name or folder instead
    has each of its documents compared with the others, with --judge and --grader; what a grader has said is kept.

    \b
    Example: genie population size logs/demo
             genie population size starter --judge embedded
    """
    from genie_inspect.building.sizing import logged_spreads, sizes
    from genie_inspect.judges.instrument import Instrument
    from genie_inspect.populations.catalogue import BUNDLED
    from genie_inspect.populations.population import MANIFEST

    first = sources[0]
    with errors_in_one_line():
        if first in BUNDLED or (Path(first) / MANIFEST).is_file():
            if len(sources) > 1:
                raise click.UsageError("name one population, or logs")
            instrument = Instrument(judge, embedder, str(templates) if templates else None, answer_length=answer_length)
            spreads, signed = _own(first, instrument, graders)
        else:
            spreads, signed = logged_spreads(sources, signature)
    rows = sizes(spreads, margin, confidence)
    if as_json:
        facts = {"signature": signed, "margin": margin, "confidence": confidence}
        show({**facts, "features": {row.feature: _plain(row) for row in rows}}, as_json)
        return
    screen = console()
    screen.print(_table(rows))
    screen.print(KEY.format(margin=margin, confidence=confidence), highlight=False, markup=False)
    screen.print(signed, highlight=False, markup=False, soft_wrap=True)


def _own(folder: str, instrument: "Instrument", graders: "Sequence[str]") -> tuple[dict[str, "Spread"], str]:
    """The spread among a population's own documents, and the signature under which they were compared."""
    import anyio

    from genie_inspect.building.leaving_out import left_out
    from genie_inspect.populations.catalogue import open_population
    from genie_inspect.scoring.jury import assessor_of

    check_graders(instrument, graders)
    population = open_population(folder)
    assessor = assessor_of(population, instrument, named_models(graders))
    with progress_bar() as progress:
        result = anyio.run(left_out, assessor, progress)
    return dict(result.spread), assessor.signature


def _plain(row: "FeatureSize") -> dict[str, object]:
    from genie_inspect.reports.plain_values import plain

    return {name: plain(value) for name, value in asdict(row).items() if name != "feature"}


def _table(rows: "Sequence[FeatureSize]") -> "Table":
    from rich.table import Table

    table = Table("feature")
    for name in ("variance", "sd", "degrees", "needed"):
        table.add_column(name, justify="right")
    for row in rows:
        known = row.needed is not None
        figures = (f"{row.variance:.4f}", f"{row.sd:.4f}") if known else ("-", "-")
        table.add_row(row.feature.replace("_", " "), *figures, str(row.degrees), str(row.needed) if known else "-")
    return table
