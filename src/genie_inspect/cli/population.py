"""`genie population`: build, import, check, merge, sample, yardstick, size, show."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.building.collecting import Cleaner, merged, sampled
from genie_inspect.building.costs import Known, TaskCost, yardstick_cost
from genie_inspect.building.importing import Import, import_cleaned, import_population
from genie_inspect.building.inspection import inspected, overview, prompt_view
from genie_inspect.building.interviewing import answers_needed, left_out, logged_spreads
from genie_inspect.building.populating import BuildPlan
from genie_inspect.building.populating import build as build_population
from genie_inspect.building.question_writing import MOST
from genie_inspect.cli import VerbGroup
from genie_inspect.cli import options as cli
from genie_inspect.cli.running import asked, made, named_models, progress_bar
from genie_inspect.cli.tables import figure
from genie_inspect.cli.terminal import Unbroken, console, echo, replacing
from genie_inspect.files.tables import Table, plain
from genie_inspect.files.writing import check_writable, unwritable
from genie_inspect.graders.cost import Cost
from genie_inspect.graders.instrument import Instrument
from genie_inspect.logs.files import log_files
from genie_inspect.populations.population import BUNDLED, MANIFEST, open_population, read_features
from genie_inspect.populations.survey import CONFIDENCE, MARGIN
from genie_inspect.populations.yardstick import (
    YARDSTICK,
    read_yardstick,
    with_measured,
    write_yardstick,
    yardstick_file,
    yardstick_of,
)
from genie_inspect.scorers.assessor import assessor_of

OUTPUT = cli.output_option(help="The new folder; nothing may stand there.")
WRITE_NOTHING = cli.flag("--dry-run", help="Write nothing: count. No model is asked either way.")
CLEAN = cli.flag(
    "--clean-by-model",
    help="Ask the grader where each document falls apart, a call each, and cut it there.",
)
DESCRIBED = cli.together(
    cli.option("--name", required=True, help="How the population is called in scores."),
    cli.option("--version", default="1"),
    cli.option("--licence", required=True, help="Of the documents, as an SPDX name: MIT, CC-BY-4.0, ..."),
    click.option("--description", default="", help="One line for the card."),
)
"""What becomes fields of a population's manifest."""
INSTRUMENT = cli.together(
    cli.embedder_option(help="For --judge vectors and embedded."), cli.ANSWER_LENGTH, cli.TEMPLATES
)
graders_option = partial(cli.option, "--grader", "graders", multiple=True, metavar="PROVIDER/MODEL")
REHEARSED = ("generations", "documents", "dropped", "questions")  # what a dry run knows, the last one from a guess
SEED = cli.seed_option(help="Which ones are sampled.")


@click.group(cls=VerbGroup)
def population() -> None:
    """Build, import, check, merge, sample, measure and show populations.

    \b
    Example: genie population show starter
             genie population build logs/ -o castles --name castles --licence MIT --grader openai/gpt-4o --dry-run
    """


@population.command()
@cli.LOGS
@OUTPUT
@DESCRIBED
@cli.GRADER
@cli.FEATURES
@cli.option("--questions", type=cli.FILE, help="A file or population whose questions are asked; else they are written.")
@cli.PER_FEATURE
@cli.option("--per-prompt", default=50, type=cli.AT_LEAST_1, help="Most documents a prompt.")
@SEED
@cli.option(
    "--near-duplicates",
    default=0.8,
    type=click.FloatRange(0, 1, min_open=True),
    help="Share of runs of five words that makes one.",
)
@cli.option("--coherence", default="grader", help="Who rates it: grader, reward/<ArmoRM>, none.")
@cli.option(
    "--min-coherence", type=float, help="Least that joins; unless given 3 of the grader's 1 to 5, 2 of a reward."
)
@cli.option(
    "--yardstick",
    type=click.Choice(["none", "list", "pairwise"]),
    default="none",
    help="The judge with which the documents are compared with each other: about as many calls as scoring all of them.",
)
@CLEAN
@cli.asking
def build(
    logs: tuple[str, ...], grader: str, output: Path, features: str, per_feature: int, dry_run: bool, **facts: Any
) -> dict[str, Any]:
    """Make a population of the generations in LOGS (Inspect logs of any models, or folders of them).

    A killed run is started again by the same command: what was asked is on record in OUTPUT.work.

    \b
    Example: genie population build logs/ -o castles --name castles --licence MIT --grader openai/gpt-4o --dry-run
    """
    facts |= {"least": per_feature, "most": max(per_feature, MOST)}
    # a wrong name costs nothing yet
    plan = BuildPlan(logs=log_files(logs), output=output, features=read_features(features), **facts)
    # a dry run gives another target, in a folder that goes away
    work = lambda target, *rest: build_population(replace(plan, output=target), *rest)  # noqa: E731
    return asked(work, grader, output, dry_run=dry_run, rehearsed=REHEARSED)


@population.command()
@click.argument("folder", type=cli.FILE)
@cli.option(
    "--spread",
    type=click.FloatRange(min=0),
    help="Standard deviation of similarities, for the power; the study's unless given.",
)
@cli.answering()
def check(folder: Path, spread: float | None) -> cli.Answer:
    """Look for everything that is wrong with a population, and say what it can tell. Exit code 1 on a fault.

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
@DESCRIBED
@WRITE_NOTHING
@cli.answering()
def merge(folders: tuple[Path, ...], output: Path, dry_run: bool, **facts: Any) -> dict[str, Any]:
    """Put populations of the same features into one.

    \b
    Example: genie population merge castles robots -o both --name both --licence MIT
    """
    return made(lambda place, progress: merged(folders, place, progress, **facts), output, dry_run=dry_run)


@population.command()
@click.argument("folder", type=cli.FILE)
@OUTPUT
@cli.option("--per-prompt", type=cli.AT_LEAST_1, help="Most documents a prompt, every model as equally as can be.")
@cli.option("--prompts", type=cli.AT_LEAST_1, help="Most prompts.")
@SEED
@cli.option("--name", help="The new name; the old one with -sample unless given.")
@WRITE_NOTHING
@cli.answering()
def sample(folder: Path, output: Path, dry_run: bool, **size: Any) -> dict[str, Any]:
    """Draw a smaller population from one, seeded.

    \b
    Example: genie population sample starter -o small --per-prompt 6
    """
    return made(lambda place, progress: sampled(folder, place, progress, **size), output, dry_run=dry_run)


@population.command(name="show")
@click.argument("folder", type=cli.FILE)
@cli.option(
    "--prompt", help="Show this prompt's questions and the beginnings of its documents; a part of it is enough."
)
@cli.answering()
def show_(folder: Path, prompt: str | None) -> dict[str, Any]:
    """Say what a population holds, or what it holds for one prompt.

    \b
    Example: genie population show starter --prompt penguin
    """
    return overview(folder) if prompt is None else prompt_view(folder, prompt)


COUNTED = ("rows", "documents", "questions", "dropped", "columns", "note")  # what a dry run of cleaning knows


@population.command(name="import")
@click.argument("source")
@OUTPUT
@DESCRIBED
@cli.option("--features", metavar="FILE|POPULATION", help="As for build; the preset's, or starter's, unless given.")
@cli.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="document, prompt, text, model, question, answer, feature.",
)
@cli.option("--preset", help="A bundled mapping: genie-study.")
@cli.option("--questions", type=cli.FILE, help="A file or population whose questions are taken beside the table's.")
@cli.option("--reader", help="Who gave the answers, as it shall stand on record; the preset's word unless given.")
@cli.option("--split", default="train", help="Of a hub dataset.")
@CLEAN
@cli.option("--grader", metavar="PROVIDER/MODEL", help="For --clean-by-model: who is asked.")
@cli.TEMPLATES
@cli.flag("--dry-run", help="Ask nobody, write nothing: count.")
@cli.answering()
def import_(
    clean_by_model: bool, grader: str | None, templates: Path | None, output: Path, dry_run: bool, **facts: Any
) -> dict[str, Any]:
    """Make a population of SOURCE: a JSONL, CSV or Parquet file, or the id of a hub dataset.

    Rows may hold documents, questions, answers, or all of them; --map says which column is what. Asks no model, unless
    --clean-by-model has documents cut where they fall apart; killed at that, the same command goes on: what was asked
    is on record in OUTPUT.work.

    \b
    Example: genie population import AlliteraryAlligator/sample-population --preset genie-study \\
                 -o study --name study --licence unknown
    """
    if clean_by_model != (grader is not None):
        raise click.UsageError("--clean-by-model and --grader go together: one says what, the other who is asked")
    order = Import(output=output, **facts)
    if grader is None:
        with progress_bar() as progress:
            return import_population(replace(order, dry_run=dry_run), progress)
    # a dry run gives another target, in a folder that goes away
    work = lambda target, model, _, progress: import_cleaned(  # noqa: E731
        replace(order, output=target), Cleaner(model, templates), progress
    )
    return asked(work, grader, output, dry_run=dry_run, called="", rehearsed=COUNTED)


@population.command()
@click.argument("folder")
@cli.option("--judge", default="list", help="list, pairwise, logit, vectors or embedded (no model).")
@graders_option(help="Who reads and judges; any model that Inspect has. Repeatable: a jury.")
@INSTRUMENT
@cli.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Another file than the yardstick.json where scorers look for it: in FOLDER, or for a population that ships "
    "with the package in your data folder ($GENIE_DATA_DIR).",
)
@cli.DRY_RUN
@cli.answering()
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
    instrument = asked_instrument(graders, **options)
    opened = open_population(folder)
    if dry_run:
        models = named_models(graders, asked=False)
        parts = [yardstick_cost(opened, instrument, Known.by(instrument, model)) for model in models]
        total = TaskCost.by_all(parts).total if parts else Cost()
        facts = {"population": opened.name, "documents": opened.manifest.counts.documents}
        counts = {"calls_needed": total.calls, "input_tokens": total.tokens_in, "output_tokens": total.tokens_out}
        return {**facts, **{name: round(count) for name, count in counts.items()}}
    assessor = assessor_of(opened, instrument, named_models(graders))
    path = output or yardstick_file(opened.folder)
    # before anything is asked: a run that cannot write its output costs nothing
    if output is None:
        with unwritable(path):
            path.parent.mkdir(parents=True, exist_ok=True)  # of the user's data folder
    check_writable(path)
    yardstick_of(opened.folder)
    with progress_bar() as progress:
        result = anyio.run(left_out, assessor, progress)
    with replacing(output):
        # read again: another instrument's may have been written meanwhile
        beside = read_yardstick(opened.folder / YARDSTICK if output else path)
        write_yardstick(path, with_measured(beside, result.measured))
    return {
        "file": str(path),
        "documents": len(result.measured.ratings),
        "signature": result.measured.signature,
        "mean_novelty": plain({feature: round(interval.mean, 4) for feature, interval in result.means.items()}),
        "missing": dict(result.missing),
    }


def asked_instrument(graders: Sequence[str], templates: Path | None, **options: Any) -> Instrument:
    """The instrument of these options; a grader that would not be asked is refused, and a judge that lacks one."""
    instrument = Instrument(templates=str(templates) if templates else None, **options)
    if bool(graders) == instrument.is_smoke_test:
        needs = "asks no model: leave --grader out" if graders else "asks a model, name it: --grader PROVIDER/MODEL"
        raise click.UsageError(f"--judge {instrument.judge} {needs}")
    return instrument


KEY = (
    "sd: of the similarities of one answer to the population's, within questions; degrees: of freedom, how much it"
    " rests on; needed: answers a question for ±{margin:g} at {confidence:.0%}. Where not every document answers, a"
    " population needs more documents than answers."
)
OPEN = click.FloatRange(0, 1, min_open=True, max_open=True)


@population.command()
@click.argument("sources", nargs=-1, required=True)
@cli.option("--margin", default=MARGIN, type=OPEN, help="Half width of a mean similarity.")
@cli.option("--confidence", default=CONFIDENCE, type=OPEN, help="Of the two-sided interval.")
@cli.option("--judge", default="list", help="For a population: as for yardstick.")
@graders_option(help="For a population: who reads and judges. Repeatable: a jury.")
@INSTRUMENT
@cli.SIGNATURE
@cli.answering()
def size(
    sources: tuple[str, ...], margin: float, confidence: float, graders: tuple[str, ...], signature: str, **options: Any
) -> cli.Answer:
    """Say by feature how many documents a population needs, from how far similarities lie apart in SOURCES.

    SOURCES are logs that `genie` scored, or folders of them: nothing is asked. A population's name or folder instead
    has each of its documents compared with the others, with --judge and --grader; what a grader has said is kept.

    \b
    Example: genie population size logs/demo
             genie population size starter --judge embedded
    """
    first = sources[0]
    if first in BUNDLED or (Path(first) / MANIFEST).is_file():
        if len(sources) > 1:
            raise click.UsageError("name one population, or logs")
        instrument = asked_instrument(graders, **options)
        assessor = assessor_of(open_population(first), instrument, named_models(graders))
        with progress_bar() as progress:
            spreads, signed = dict(anyio.run(left_out, assessor, progress).spread), assessor.signature
    else:
        spreads, signed = logged_spreads(sources, signature)
    rows, features = [], {}
    for name, own in spreads.items():
        needed = answers_needed(own, margin, confidence)
        features[name] = plain({"variance": own.variance, **asdict(own), "needed": needed})
        # without a degree of freedom both are NaN
        spread = figure(own.variance, ".4f"), figure(own.sd, ".4f")
        rows.append([name.replace("_", " "), *spread, f"{own.degrees}", f"{needed or '-'}"])
    return cli.Answer(
        {"signature": signed, "margin": margin, "confidence": confidence, "features": features},
        [
            Table("", ("feature", "variance", "sd", "degrees", "needed"), rows),
            KEY.format(margin=margin, confidence=confidence),
            Unbroken(signed),
        ],
    )


@click.command()
@click.argument("texts", type=cli.FILE)
@click.argument("folder", type=cli.FILE)
def index(texts: Path, folder: Path) -> None:
    """Build the index of a corpus too large for memory, for corpus=infini-gram:FOLDER.

    TEXTS is a folder of *.txt and *.md (a document each) and *.jsonl (a document a line, field "text"); FOLDER is where
    the index is written, whole or not at all. Needs the extra infini-gram.

    \b
    Example: genie index corpus/ corpus-index/
    """
    # imported here, so that a missing extra is one line as any other error
    from genie_inspect.engines.infini_gram import build_index

    with console(stderr=True).status("reading") as status:
        manifest = build_index(texts, folder, status.update)
    echo(f"{folder}: {manifest.documents:,} documents, {manifest.symbols:,} symbols")
    echo(f"use it with: -S corpus=infini-gram:{folder}")
