"""`genie population`: build, import, check, merge, sample, reference-scores, size, show."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.building.collecting import Cleaner, merged, sampled
from genie_inspect.building.costs import TaskCost, reference_scores_cost
from genie_inspect.building.importing import Import, import_cleaned, import_population
from genie_inspect.building.inspection import inspected, overview, prompt_view
from genie_inspect.building.interviewing import left_out, logged_spreads
from genie_inspect.building.populating import build as build_population
from genie_inspect.building.questions import MOST
from genie_inspect.cli import VerbGroup
from genie_inspect.cli import options as cli
from genie_inspect.cli.running import asked, made, named_models, progress_bar
from genie_inspect.cli.tables import figure
from genie_inspect.cli.terminal import Unbroken, replacing
from genie_inspect.files.tables import Table, plain
from genie_inspect.files.writing import check_writable, unwritable
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.instrument import Instrument
from genie_inspect.logs.files import log_files
from genie_inspect.populations.population import BUNDLED, MANIFEST, open_population, read_features
from genie_inspect.populations.prompts import JSON_LINES, TABLES
from genie_inspect.populations.reference_scores import (
    REFERENCE_SCORES,
    read_reference_scores,
    reference_scores_file,
    reference_scores_of,
    with_measured,
    write_reference_scores,
)
from genie_inspect.populations.survey import CONFIDENCE, MARGIN
from genie_inspect.scorers.assessor import assessor_of
from genie_inspect.statistics.effect import margin as half_width
from genie_inspect.statistics.effect import minimum_population

LICENCE = "unknown"  # the hub's word where none is stated
OUTPUT = cli.output_option(help="Folder to make.")
WRITE_NOTHING = cli.flag("--dry-run", help="Count, and write nothing.")
CLEAN = cli.flag("--clean-by-model", help="Cut documents where the grader finds that they break.")


def described(licence: str = LICENCE) -> cli.Decorator:
    """The options that become fields of a population's manifest."""
    return cli.together(
        cli.option("--name", required=True, help="Name of the population in scores."),
        cli.option("--version", default="1", help="Version of the population."),
        cli.option("--licence", help=f"Licence, such as CC-BY-4.0. Default: {licence}."),
        cli.option("--description", default="", show_default=False, help="One line for its card. Default: none."),
    )


INSTRUMENT = cli.together(
    cli.embedder_option(help="Embedder of embedding and offline."), cli.ANSWER_LENGTH, cli.WORDINGS
)
graders_option = partial(cli.option, "--grader", "graders", multiple=True, metavar="MODEL")
REHEARSED = ("generations", "documents", "dropped", "questions")  # what a dry run knows, the last one from a guess
SEED = cli.seed_option(help="Random seed for drawing documents.")


@click.group(cls=VerbGroup)
def population() -> None:
    """Build, import, check and measure populations.

    \b
    Example: genie population show starter
    """


@population.command()
@cli.LOGS
@OUTPUT
@described()
@cli.GRADER
@cli.FEATURES
@cli.option("--questions", type=cli.FILE, help="File with questions, or population. Default: write.")
@cli.PER_FEATURE
@cli.option("--per-prompt", default=50, type=cli.AT_LEAST_1, help="Maximum documents per prompt.")
@SEED
@cli.option(
    "--near-duplicates",
    default=0.8,
    type=click.FloatRange(0, 1, min_open=True),
    help="Drop documents that share this part of their five-word runs.",
)
@cli.option("--coherence", default="grader", help="Who rates coherence: grader, none or reward/<ArmoRM>.")
@cli.option("--min-coherence", type=float, help="Lowest to keep. Default: 3 of 5, or 2 of a reward.")
@cli.option(
    "--reference-scores",
    "reference_scores",
    type=click.Choice(["none", "list", "pairwise"]),
    default="none",
    metavar="MODE",
    help="Also make these, by list or pairwise.",
)
@CLEAN
@cli.asking
def build(
    logs: tuple[str, ...], grader: str, output: Path, features: str, per_feature: int, dry_run: bool, **facts: Any
) -> dict[str, Any]:
    """Make a population of the documents in logs.

    LOGS are Inspect logs of any models, or folders. Replies are kept in OUTPUT.work: a killed run continues.

    \b
    Example: genie population build logs/ -o castles --name castles --grader openai/gpt-4o --dry-run
    """
    facts["licence"] = facts["licence"] or LICENCE
    facts |= {"least": per_feature, "most": max(per_feature, MOST)}
    work = partial(build_population, logs=log_files(logs), features=read_features(features), **facts)
    return asked(work, grader, output, dry_run=dry_run, rehearsed=REHEARSED)


@population.command()
@click.argument("folder", type=cli.FILE)
@cli.option("--spread", type=click.FloatRange(min=0), help="Spread of similarities (sd). Default: the paper's.")
@cli.answering()
def check(folder: Path, spread: float | None) -> cli.Answer:
    """Find the faults of a population, and say how precise it is.

    The exit code is 1 if there is a fault.

    \b
    Example: genie population check starter
    """
    with progress_bar() as progress:
        is_sound, result, text = inspected(folder, spread, progress)
    # for scripts: a fault is a failure, however it was printed
    return cli.Answer(result, [Unbroken(text)], code=0 if is_sound else 1)


@population.command()
@click.argument("folders", nargs=-1, required=True, type=cli.FILE)
@OUTPUT
@described("those of all")
@WRITE_NOTHING
@cli.answering()
def merge(folders: tuple[Path, ...], output: Path, dry_run: bool, **facts: Any) -> dict[str, Any]:
    """Merge populations with the same features.

    \b
    Example: genie population merge castles robots -o both --name both
    """
    licences = (open_population(folder).manifest.licence for folder in folders)
    facts["licence"] = facts["licence"] or " AND ".join(dict.fromkeys(licences))
    return made(lambda place, progress: merged(folders, place, progress, **facts), output, dry_run=dry_run)


@population.command()
@click.argument("folder", type=cli.FILE)
@OUTPUT
@cli.option("--per-prompt", type=cli.AT_LEAST_1, help="Maximum documents per prompt. Default: all.")
@cli.option("--prompts", type=cli.AT_LEAST_1, help="Maximum prompts. Default: all.")
@SEED
@cli.option("--name", help="Name. Default: the population's, with -sample.")
@WRITE_NOTHING
@cli.answering()
def sample(folder: Path, output: Path, dry_run: bool, **size: Any) -> dict[str, Any]:
    """Draw a smaller population at random.

    \b
    Example: genie population sample starter -o small --per-prompt 6
    """
    return made(lambda place, progress: sampled(folder, place, progress, **size), output, dry_run=dry_run)


@population.command(name="show")
@click.argument("folder", type=cli.FILE)
@cli.option("--prompt", help="Prompt to show, or words of it. Default: an overview.")
@cli.answering()
def show_(folder: Path, prompt: str | None) -> dict[str, Any]:
    """Show the contents of a population, or of one of its prompts.

    \b
    Example: genie population show starter --prompt penguin
    """
    return overview(folder) if prompt is None else prompt_view(folder, prompt)


COUNTED = ("rows", "documents", "questions", "dropped", "columns", "note")  # what a dry run of cleaning knows


@population.command(name="import")
@click.argument("source")
@OUTPUT
@described()
@cli.option("--features", metavar="FILE", help="Features. Default: the preset's, or starter.")
@cli.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=NAME",
    help="Column of document, prompt, text, model, question, answer or feature; repeatable.",
)
@cli.option("--preset", help="Bundled mapping of columns: genie-study.")
@cli.option("--questions", type=cli.FILE, help="File or population with further questions.")
@cli.option("--reader", help="Who gave the answers. Default: the preset's.")
@cli.option("--split", default="train", help="Split of a hub dataset.")
@CLEAN
@cli.option("--grader", metavar="MODEL", help="Model to ask with --clean-by-model.")
@cli.TEMPLATES
@cli.DRY_RUN
@cli.answering()
def import_(
    clean_by_model: bool, grader: str | None, templates: Path | None, output: Path, dry_run: bool, **facts: Any
) -> dict[str, Any]:
    """Make a population of a table.

    SOURCE is a JSON Lines, CSV or Parquet file, or a hub dataset (name its --licence). Rows may have documents,
    questions and answers. No model is called
    without --clean-by-model, whose replies are kept in OUTPUT.work.

    \b
    Example: genie population import texts.jsonl -o mine --name mine
             genie population import AlliteraryAlligator/sample-population --preset genie-study \\
                 -o study --name study --licence unknown
    """
    if clean_by_model != (grader is not None):
        raise click.UsageError("--clean-by-model and --grader must be given together")
    if not facts["licence"] and Path(facts["source"]).suffix not in (*JSON_LINES, *TABLES):
        raise click.UsageError(f"{facts['source']} is a dataset of others: name its licence with --licence")
    facts["licence"] = facts["licence"] or LICENCE
    order = Import(output=output, **facts)
    if grader is None:
        with progress_bar() as progress:
            return import_population(replace(order, dry_run=dry_run), progress)
    # a dry run gives another target, in a folder that goes away
    work = lambda target, model, _, progress: import_cleaned(  # noqa: E731
        replace(order, output=target), Cleaner(model, templates), progress
    )
    return asked(work, grader, output, dry_run=dry_run, called="", rehearsed=COUNTED)


@population.command("reference-scores")
@click.argument("folder")
@cli.option("--judge", default="list", help="Judge mode: list, sheet, pairwise, logit, embedding, offline (no calls).")
@graders_option(help="Grader; repeatable, several are a jury.")
@INSTRUMENT
@cli.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File to write. Default: in FOLDER, or of a bundled population in $GENIE_DATA_DIR.",
)
@cli.DRY_RUN
@cli.answering()
def reference_scores(
    folder: str, graders: tuple[str, ...], output: Path | None, dry_run: bool, **options: Any
) -> dict[str, Any]:
    """Score the population's own documents, for percentiles.

    Scores with the same judge mode, grader and templates then show their percentile among these. Replies are kept: a
    killed run continues.

    \b
    Example: genie population reference-scores castles --grader openai/gpt-4o --dry-run
    """
    instrument = asked_instrument(graders, **options)
    opened = open_population(folder)
    if dry_run:
        models = named_models(graders, asked=False)
        parts = [reference_scores_cost(opened, instrument, model) for model in models]
        total = TaskCost.by_all(parts).total if parts else Cost()
        facts = {"population": opened.name, "documents": opened.manifest.counts.documents}
        counts = {"calls_needed": total.calls, "input_tokens": total.tokens_in, "output_tokens": total.tokens_out}
        return {**facts, **{name: round(count) for name, count in counts.items()}}
    assessor = assessor_of(opened, instrument, named_models(graders))
    path = output or reference_scores_file(opened.folder)
    # before anything is asked: a run that cannot write its output costs nothing
    if output is None:
        with unwritable(path):
            path.parent.mkdir(parents=True, exist_ok=True)  # of the user's data folder
    check_writable(path)
    reference_scores_of(opened.folder)
    with progress_bar() as progress:
        result = anyio.run(left_out, assessor, progress)
    with replacing(output):
        # read again: another instrument's may have been written meanwhile
        beside = read_reference_scores(opened.folder / REFERENCE_SCORES if output else path)
        write_reference_scores(path, with_measured(beside, result.measured))
    return {
        "file": str(path),
        "documents": len(result.measured.ratings),
        "signature": result.measured.signature,
        "mean_novelty": plain({feature: round(interval.mean, 4) for feature, interval in result.means.items()}),
        "missing": dict(result.missing),
    }


def asked_instrument(graders: Sequence[str], **options: Any) -> Instrument:
    """A grader that would not be asked is refused, and a judge that lacks one."""
    instrument = Instrument(**options)
    if bool(graders) == instrument.is_smoke_test:
        needs = (
            "calls no model: leave out --grader" if graders else "asks a model. Name it with --grader PROVIDER/MODEL"
        )
        raise click.UsageError(f"--judge {instrument.judge} {needs}")
    return instrument


KEY = (
    "sd: of the similarities of one answer to the population's, within questions; degrees: of freedom, how much it"
    " rests on; needed: answers per question for ±{margin:g} at {confidence:.0%}. Where not every document answers, a"
    " population needs more documents than answers."
)
SAMPLED = (
    " ±: of an answer rated against only {ratings} drawn at random, however large the population; strata narrow it."
)
OPEN = click.FloatRange(0, 1, min_open=True, max_open=True)


@population.command()
@click.argument("sources", nargs=-1, required=True)
@cli.option("--margin", default=MARGIN, type=OPEN, help="Half width of a mean similarity's interval, 0 to 1.")
@cli.option("--confidence", default=CONFIDENCE, type=OPEN, help="Confidence of the interval.")
@cli.option("--judge", default="list", help="Judge mode, as for reference-scores.")
@graders_option(help="Grader for a population; repeatable, several are a jury.")
@cli.RATINGS
@INSTRUMENT
@cli.SIGNATURE
@cli.answering()
def size(
    sources: tuple[str, ...],
    margin: float,
    confidence: float,
    graders: tuple[str, ...],
    ratings: int | None,
    signature: str,
    **options: Any,
) -> cli.Answer:
    """Estimate how many documents a population needs, by feature.

    SOURCES are logs with scores of `genie`, or a population, whose documents --judge and --grader compare.

    \b
    Example: genie population size logs/demo
             genie population size starter --judge offline
    """
    first = sources[0]
    if first in BUNDLED or (Path(first) / MANIFEST).is_file():
        if len(sources) > 1:
            raise click.UsageError("give one population, or logs")
        instrument = asked_instrument(graders, **options)
        assessor = assessor_of(open_population(first), instrument, named_models(graders))
        with progress_bar() as progress:
            spreads, signed = dict(anyio.run(left_out, assessor, progress).spread), assessor.signature
    else:
        spreads, signed = logged_spreads(sources, signature)
    rows, features = [], {}
    for name, own in spreads.items():
        # from what is not rounded, pooled over answers and questions: the study's table 6 (arXiv 2606.12790)
        # does not say over what its variance is taken
        needed = minimum_population(own.sd, margin, confidence) if own.degrees else None
        half = half_width(own.sd, ratings, confidence) if ratings and own.degrees else math.nan
        drawn = {"sampled_margin": half} if ratings else {}
        features[name] = plain({"variance": own.sd**2, **asdict(own), "needed": needed, **drawn})
        # without a degree of freedom both are NaN
        spread = figure(own.sd**2, ".4f"), figure(own.sd, ".4f")
        counts = f"{own.degrees}", f"{needed or '-'}"
        rows.append([name.replace("_", " "), *spread, *counts, *map(figure, drawn.values())])
    return cli.Answer(
        {"signature": signed, "margin": margin, "confidence": confidence, "features": features},
        [
            Table("", ("feature", "variance", "sd", "degrees", "needed", *["±"] * bool(ratings)), rows),
            KEY.format(margin=margin, confidence=confidence) + (SAMPLED.format(ratings=ratings) if ratings else ""),
            Unbroken(signed),
        ],
    )
