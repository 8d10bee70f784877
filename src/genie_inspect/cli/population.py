"""`genie population`: build, import, check, merge, sample, yardstick, size, show."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from genie_inspect.cli import VerbGroup
from genie_inspect.cli.options import (
    AT_LEAST_1,
    DRY_RUN,
    FEATURES,
    FILE,
    GRADER,
    JSON,
    LOGS,
    PER_FEATURE,
    TEMPLATES,
    answering,
    output_option,
    seed_option,
    show,
    together,
)
from genie_inspect.cli.population_size import size, yardstick
from genie_inspect.cli.running import asked, made, progress_bar
from genie_inspect.cli.terminal import console, echo

OUTPUT = output_option("The new folder; nothing may stand there.")
WRITE_NOTHING = click.option("--dry-run", is_flag=True, help="Write nothing: count. No model is asked either way.")
CLEAN = click.option(
    "--clean-by-model",
    is_flag=True,
    help="Ask the grader where each document falls apart, a call each, and cut it there.",
)
DESCRIBED = together(
    click.option("--name", required=True, help="How the population is called in scores."),
    click.option("--version", default="1", show_default=True),
    click.option("--licence", required=True, help="Of the documents, as an SPDX name: MIT, CC-BY-4.0, ..."),
    click.option("--description", default="", help="One line for the card."),
)
"""What becomes fields of a population's manifest."""
NONE = "none"
SHARE = click.FloatRange(0, 1, min_open=True)
REHEARSED = ("generations", "documents", "dropped", "questions")  # what a dry run knows, the last one from a guess
SEED = seed_option("Which ones are sampled.")


@click.group(cls=VerbGroup)
def population() -> None:
    """Build, import, check, merge, sample, measure and show populations.

    \b
    Example: genie population show starter
             genie population build logs/ -o castles --name castles --licence MIT --grader openai/gpt-4o --dry-run
    """


population.add_command(size)
population.add_command(yardstick)


@population.command()
@LOGS
@OUTPUT
@DESCRIBED
@GRADER
@FEATURES
@click.option("--questions", type=FILE, help="A file or population whose questions are asked; else they are written.")
@PER_FEATURE
@click.option("--per-prompt", default=50, show_default=True, type=AT_LEAST_1, help="Most documents a prompt.")
@SEED
@click.option(
    "--near-duplicates", default=0.8, show_default=True, type=SHARE, help="Share of runs of five words that makes one."
)
@click.option("--coherence", default="grader", show_default=True, help="Who rates it: grader, reward/<ArmoRM>, none.")
@click.option(
    "--min-coherence", type=float, help="Least that joins; unless given 3 of the grader's 1 to 5, 2 of a reward."
)
@click.option(
    "--yardstick",
    type=click.Choice([NONE, "list", "pairwise"]),
    default=NONE,
    show_default=True,
    help="The judge with which the documents are compared with each other: about as many calls as scoring all of them.",
)
@CLEAN
@TEMPLATES
@DRY_RUN
@answering()
def build(
    logs: tuple[str, ...], grader: str, output: Path, features: str, per_feature: int, dry_run: bool, **facts: Any
) -> dict[str, Any]:
    """Make a population of the generations in LOGS (Inspect logs of any models, or folders of them).

    A killed run is started again by the same command: what was asked is on record in OUTPUT.work.

    \b
    Example: genie population build logs/ -o castles --name castles --licence MIT --grader openai/gpt-4o --dry-run
    """
    from genie_inspect.building.populating import BuildPlan
    from genie_inspect.building.populating import build as build_population
    from genie_inspect.building.question_writing import MOST
    from genie_inspect.logs.files import log_files
    from genie_inspect.populations.population import read_features

    facts |= {"least": per_feature, "most": max(per_feature, MOST)}
    # a wrong name costs nothing yet
    plan = BuildPlan(logs=log_files(logs), output=output, features=read_features(features), **facts)
    # a dry run gives another target, in a folder that goes away
    work = lambda target, *rest: build_population(replace(plan, output=target), *rest)  # noqa: E731
    return asked(work, grader, output, dry_run=dry_run, rehearsed=REHEARSED)


@population.command()
@click.argument("folder", type=FILE)
@click.option(
    "--spread",
    type=click.FloatRange(min=0),
    help="Standard deviation of similarities, for the power; the study's unless given.",
)
@JSON
def check(folder: Path, spread: float | None, as_json: bool) -> None:
    """Look for everything that is wrong with a population, and say what it can tell. Exit code 1 on a fault.

    \b
    Example: genie population check starter
    """
    from genie_inspect.building.inspection import inspected

    with progress_bar() as progress:
        is_sound, result, text = inspected(folder, spread, progress)
    if as_json:
        show(result, as_json)
    else:
        echo(text)
    # for scripts: a fault is a failure, however it was printed
    raise SystemExit(0 if is_sound else 1)


@population.command()
@click.argument("folders", nargs=-1, required=True, type=FILE)
@OUTPUT
@DESCRIBED
@WRITE_NOTHING
@answering()
def merge(folders: tuple[Path, ...], output: Path, dry_run: bool, **facts: Any) -> dict[str, Any]:
    """Put populations of the same features into one.

    \b
    Example: genie population merge castles robots -o both --name both --licence MIT
    """
    from genie_inspect.building.collecting import merged

    return made(lambda place, progress: merged(folders, place, progress, **facts), output, dry_run=dry_run)


@population.command()
@click.argument("folder", type=FILE)
@OUTPUT
@click.option("--per-prompt", type=AT_LEAST_1, help="Most documents a prompt, every model as equally as can be.")
@click.option("--prompts", type=AT_LEAST_1, help="Most prompts.")
@SEED
@click.option("--name", help="The new name; the old one with -sample unless given.")
@WRITE_NOTHING
@answering()
def sample(folder: Path, output: Path, dry_run: bool, **size: Any) -> dict[str, Any]:
    """Draw a smaller population from one, seeded.

    \b
    Example: genie population sample starter -o small --per-prompt 6
    """
    from genie_inspect.building.collecting import sampled

    return made(lambda place, progress: sampled(folder, place, progress, **size), output, dry_run=dry_run)


@population.command(name="show")
@click.argument("folder", type=FILE)
@click.option(
    "--prompt", help="Show this prompt's questions and the beginnings of its documents; a part of it is enough."
)
@answering()
def show_(folder: Path, prompt: str | None) -> dict[str, Any]:
    """Say what a population holds, or what it holds for one prompt.

    \b
    Example: genie population show starter --prompt penguin
    """
    from genie_inspect.building.inspection import overview, prompt_view

    return overview(folder) if prompt is None else prompt_view(folder, prompt)


COUNTED = ("rows", "documents", "questions", "dropped", "columns", "note")  # what a dry run of cleaning knows


@population.command(name="import")
@click.argument("source")
@OUTPUT
@DESCRIBED
@click.option("--features", metavar="FILE|POPULATION", help="As for build; the preset's, or starter's, unless given.")
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="document, prompt, text, model, question, answer, feature.",
)
@click.option("--preset", help="A bundled mapping: genie-study.")
@click.option("--questions", type=FILE, help="A file or population whose questions are taken beside the table's.")
@click.option("--reader", help="Who gave the answers, as it shall stand on record; the preset's word unless given.")
@click.option("--split", default="train", show_default=True, help="Of a hub dataset.")
@CLEAN
@click.option("--grader", metavar="PROVIDER/MODEL", help="For --clean-by-model: who is asked.")
@TEMPLATES
@click.option("--dry-run", is_flag=True, help="Ask nobody, write nothing: count.")
@answering()
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
    from genie_inspect.building.collecting import Cleaner
    from genie_inspect.building.importing import Import, import_cleaned, import_population

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


@click.command()
@click.argument("texts", type=FILE)
@click.argument("folder", type=FILE)
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
