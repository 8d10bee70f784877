"""`genie population size`: how many documents a population needs, from measured similarities."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.cli.options import (
    ANSWER_LENGTH,
    DRY_RUN,
    SIGNATURE,
    TEMPLATES,
    Answer,
    answering,
    embedder_option,
)
from genie_inspect.cli.running import named_models, progress_bar
from genie_inspect.cli.tables import figure, text_table
from genie_inspect.cli.terminal import Unbroken, replacing
from genie_inspect.populations.survey import CONFIDENCE, MARGIN

if TYPE_CHECKING:
    from genie_inspect.building.interviewing import LeftOut
    from genie_inspect.graders.instrument import Instrument
    from genie_inspect.scorers.assessor import Assessor, Jury

EMBEDDER = embedder_option("For --judge vectors and embedded.")
graders_option = partial(click.option, "--grader", "graders", multiple=True, metavar="PROVIDER/MODEL")


@click.command()
@click.argument("folder")
@click.option(
    "--judge", default="list", show_default=True, help="list, pairwise, logit, vectors or embedded (no model)."
)
@graders_option(help="Who reads and judges; any model that Inspect has. Repeatable: a jury.")
@EMBEDDER
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
@answering()
def yardstick(
    folder: str, graders: tuple[str, ...], output: Path | None, dry_run: bool, **options: Any
) -> dict[str, Any]:
    """Compare each document of the population in FOLDER with the others, and keep how novel it is among them.

    Scores against the population, made with the same judge, grader and templates, then say where they fall among
    its own documents. What the grader has said is kept: a killed run goes on where it was. What ships with the package
    is not written: the yardstick of `starter` or `abstracts` goes to your data folder, where scorers find it too.

    \b
    Example: genie population yardstick castles --grader openai/gpt-4o --dry-run
    """
    from genie_inspect.building.costs import Known, TaskCost, yardstick_cost
    from genie_inspect.files.tables import plain
    from genie_inspect.files.writing import check_writable, unwritable
    from genie_inspect.graders.cost import Cost
    from genie_inspect.populations.population import open_population
    from genie_inspect.populations.yardstick import (
        YARDSTICK,
        read_yardstick,
        with_measured,
        write_yardstick,
        yardstick_file,
        yardstick_of,
    )
    from genie_inspect.scorers.assessor import assessor_of

    instrument = asked_instrument(graders, **options)
    population = open_population(folder)
    if dry_run:
        models = named_models(graders, asked=False)
        parts = [yardstick_cost(population, instrument, Known.by(instrument, model)) for model in models]
        total = TaskCost.by_all(parts).total if parts else Cost()
        return {
            "population": population.name,
            "documents": population.manifest.counts.documents,
            "calls_needed": round(total.calls),
            "input_tokens": round(total.tokens_in),
            "output_tokens": round(total.tokens_out),
        }
    assessor = assessor_of(population, instrument, named_models(graders))
    path = output or yardstick_file(population.folder)
    # before anything is asked: a run that cannot write its output costs nothing
    if output is None:
        with unwritable(path):
            path.parent.mkdir(parents=True, exist_ok=True)  # of the user's data folder
    check_writable(path)
    yardstick_of(population.folder)
    result = _compared(assessor)
    with replacing(output):
        # read again: another instrument's may have been written meanwhile
        beside = read_yardstick(population.folder / YARDSTICK if output else path)
        write_yardstick(path, with_measured(beside, result.measured))
    return {
        "file": str(path),
        "documents": len(result.measured.ratings),
        "signature": result.measured.signature,
        "mean_novelty": plain({feature: round(interval.mean, 4) for feature, interval in result.means.items()}),
        "missing": dict(result.missing),
    }


def asked_instrument(graders: Sequence[str], templates: Path | None, **options: Any) -> "Instrument":
    """The instrument of these options; a grader that would not be asked is refused, and a judge that lacks one."""
    from genie_inspect.graders.instrument import Instrument

    instrument = Instrument(templates=str(templates) if templates else None, **options)
    if bool(graders) == instrument.is_smoke_test:
        needs = "asks no model: leave --grader out" if graders else "asks a model, name it: --grader PROVIDER/MODEL"
        raise click.UsageError(f"--judge {instrument.judge} {needs}")
    return instrument


def _compared(assessor: "Assessor | Jury") -> "LeftOut":
    """Each document of the population, compared with the others."""
    import anyio

    from genie_inspect.building.interviewing import left_out

    with progress_bar() as progress:
        return anyio.run(left_out, assessor, progress)


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
@graders_option(help="For a population: who reads and judges. Repeatable: a jury.")
@EMBEDDER
@ANSWER_LENGTH
@TEMPLATES
@SIGNATURE
@answering()
def size(
    sources: tuple[str, ...],
    margin: float,
    confidence: float,
    graders: tuple[str, ...],
    signature: str,
    **options: Any,
) -> Answer:
    """Say by feature how many documents a population needs, from how far similarities lie apart in SOURCES.

    SOURCES are logs that `genie` scored, or folders of them: nothing is asked. A population's name or folder instead
    has each of its documents compared with the others, with --judge and --grader; what a grader has said is kept.

    \b
    Example: genie population size logs/demo
             genie population size starter --judge embedded
    """
    from genie_inspect.building.interviewing import answers_needed, logged_spreads
    from genie_inspect.files.tables import plain
    from genie_inspect.populations.population import BUNDLED, MANIFEST, open_population
    from genie_inspect.scorers.assessor import assessor_of

    first = sources[0]
    if first in BUNDLED or (Path(first) / MANIFEST).is_file():
        if len(sources) > 1:
            raise click.UsageError("name one population, or logs")
        instrument = asked_instrument(graders, **options)
        assessor = assessor_of(open_population(first), instrument, named_models(graders))
        spreads, signed = dict(_compared(assessor).spread), assessor.signature
    else:
        spreads, signed = logged_spreads(sources, signature)
    needed = {name: answers_needed(spread, margin, confidence) for name, spread in spreads.items()}
    features = {
        name: plain({"variance": own.variance, **asdict(own), "needed": needed[name]}) for name, own in spreads.items()
    }
    rows = [
        # without a degree of freedom both are NaN
        [
            name.replace("_", " "),
            figure(own.variance, ".4f"),
            figure(own.sd, ".4f"),
            f"{own.degrees}",
            f"{needed[name] or '-'}",
        ]
        for name, own in spreads.items()
    ]
    return Answer(
        lambda: {"signature": signed, "margin": margin, "confidence": confidence, "features": features},
        lambda _: [
            text_table("", ("feature", "variance", "sd", "degrees", "needed"), rows),
            KEY.format(margin=margin, confidence=confidence),
            Unbroken(signed),
        ],
    )
