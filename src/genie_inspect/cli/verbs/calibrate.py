"""`genie calibrate`: how far judges, and people, rate alike."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.agreement.by_people.export import write_blind_table
from genie_inspect.agreement.by_people.together import held_against_people
from genie_inspect.agreement.calibration import compare
from genie_inspect.agreement.calibration_chart import calibration_chart
from genie_inspect.agreement.calibration_verdict import quotable, verdict
from genie_inspect.agreement.raters import Ratings
from genie_inspect.agreement.ratings_file import RatingsFile
from genie_inspect.agreement.targets import CalibrationError, Target, drawn, recorded_targets
from genie_inspect.cli.calibration_raters import (
    USUAL_JUDGES,
    check_raters,
    grader_judges,
    machine_ratings,
    people_ratings,
    vector_judges,
)
from genie_inspect.cli.calibration_tables import KEY, agreement_tables, conduct_tables, people_tables
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.running import show
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.cli.vector_fits import KEY as FIT_KEY
from genie_inspect.cli.vector_fits import fit_facts, fit_table, written_fit
from genie_inspect.engines.embedders.choices import embedder as chosen_embedder
from genie_inspect.judges.choices import MODES
from genie_inspect.populations.catalogue import open_population
from genie_inspect.populations.population import Population
from genie_inspect.reports.charts import check_picture, write_chart

if TYPE_CHECKING:
    from rich.table import Table

PAIRS = 300
FILE = click.Path(path_type=Path)


@click.command()
@click.option("--population", default="starter", show_default=True, help="`starter` or a folder.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    help=f"{', '.join(MODES)}, list/10 (answers a call); repeatable.  "
    f"[default: {', '.join(USUAL_JUDGES)}, where a grader is named]",
)
@click.option("--grader", "graders", multiple=True, help="<provider/model> that judges; repeatable.")
@click.option("--ratings", "files", multiple=True, type=FILE, help="Ratings by people: CSV or JSON Lines; repeatable.")
@click.option("--pairs", type=click.IntRange(1), help=f"How many.  [default: all of the first file, else {PAIRS}]")
@click.option("--seed", default=0, show_default=True, help="Which pairs are drawn.")
@click.option("--reader", help="Whose recorded answers are drawn from, by signature.  [default: who answered most]")
@click.option("--embedder", default="static", show_default=True, help="Whose vectors judge, with --judge vectors.")
@click.option(
    "--fit-vectors",
    "fit",
    type=FILE,
    help="Instead of comparing, fit the judge `vectors` to the mean of these ratings, with --embedder, and write it: "
    "judge=vectors/FILE rates by it.",
)
@click.option(
    "--export",
    type=FILE,
    help="Instead of comparing, write the pairs to this CSV for people: shuffled, without ratings, with a page that "
    "tells them what to do. Filled in, it is a file for --ratings.",
)
@click.option("--templates", type=click.Path(), help="A folder of your own instruction templates.")
@click.option(
    "--cache",
    is_flag=True,
    help="Take ratings from the cache, as after a run that was killed; else all are asked for anew (and kept).",
)
@click.option("--picture", type=FILE, help="Write a chart to this .svg or .png.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of tables.")
def calibrate(
    population: str,
    judges: tuple[str, ...],
    graders: tuple[str, ...],
    files: tuple[Path, ...],
    pairs: int | None,
    seed: int,
    reader: str | None,
    embedder: str,
    fit: Path | None,
    export: Path | None,
    templates: str | None,
    cache: bool,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Rate the same pairs of answers by two or more judges, graders or people, and say how far they agree.

    Pairs are those of the first ratings file, else drawn from the population's recorded answers, each feature and
    prompt in turn. A ratings file has question (id or text), answer, other, rating (1 to 4; 0: no answer) and
    optionally rater; a bare name is looked for in the population's folder too.

    The raters of all files are also compared together, and every judge with their consensus, the median.

    \b
    Example: genie calibrate --ratings second_ratings.jsonl --grader bundled/grader
             genie calibrate --pairs 300 --export ann.csv
             genie calibrate --ratings ratings.jsonl --embedder openai/<model> --fit-vectors fit.json
    """
    with shown_errors():
        if picture:
            check_picture(picture)
        opened = open_population(population)
        recorded = [RatingsFile(_ratings_path(file, opened), opened) for file in files]
        vectors = chosen_embedder(embedder)
        features = [feature.name for feature in opened.features]
        machines = grader_judges(judges, graders, templates, anew=not cache) + vector_judges(judges, vectors, features)
        if not export:
            check_raters(judges, len(machines) + sum(len(file.raters) for file in recorded), fit)
        targets = _targets(opened, recorded, reader, pairs, seed)
        if export:
            show({"table": str(export), "pairs": write_blind_table(export, targets, seed)}, as_json)
            return
        people, judged = people_ratings(recorded, targets), machine_ratings(machines, targets, fresh=not cache)
        raters = people + judged
        facts = _facts(opened, targets, raters, seed)
        if fit:
            fitted = written_fit(opened, targets, raters, vectors, fit)
            _show(facts | fit_facts(fitted), [fit_table(fitted), FIT_KEY.format(file=fit)], as_json=as_json)
            return
        calibration = compare(targets, raters, features)
        together = held_against_people(targets, people, judged, features) if people else []
        if picture:
            with replacing(picture):
                write_chart(lambda: calibration_chart(calibration), picture)
    tables = *agreement_tables(calibration.agreements), *conduct_tables(calibration.conducts)
    sentences = verdict(calibration.agreements) + quotable(calibration.agreements, people, judged)
    # one rater of files is in the tables of two raters
    of_people = people_tables(together, len(people)) if len(people) > 1 else []
    found = asdict(calibration) | {"people": [asdict(row) for row in together]}
    _show(facts | {"verdict": sentences} | found, [*tables, KEY, *of_people, *sentences], as_json=as_json)


def _facts(
    population: Population, targets: Sequence[Target], raters: Sequence[Ratings], seed: int
) -> dict[str, object]:
    """Population, pairs, seed and raters of the figures, for scripts."""
    signatures = {rater.name: rater.signature for rater in raters}
    pairs = sum(len(target.others) for target in targets)
    return {"population": population.name, "pairs": pairs, "seed": seed, "raters": signatures}


def _show(facts: Mapping[str, object], parts: Iterable["Table | str"], *, as_json: bool) -> None:
    """The facts for a script, or the tables and lines for a person."""
    if as_json:
        echo_json(facts)
        return
    screen = console()
    for part in parts:
        screen.print(part, highlight=False, markup=False)


def _ratings_path(file: Path, population: Population) -> Path:
    """The file itself, or the one of that name in the population's folder."""
    beside = population.folder / file
    # a file in the current folder comes first
    return beside if not file.is_file() and beside.is_file() else file


def _targets(
    population: Population, files: Sequence[RatingsFile], reader: str | None, pairs: int | None, seed: int
) -> list[Target]:
    """The answers to be rated, each with others to rate it against.

    Raises:
        CalibrationError: If there is nothing.
    """
    # people rated these pairs, so machines rate the same ones
    source = files[0].targets if files else recorded_targets(population, reader)
    total = sum(len(target.others) for target in source)
    targets = drawn(source, pairs or (total if files else PAIRS), seed)
    if not targets:
        where = files[0].path if files else f"population {population.name}"
        raise CalibrationError(f"{where} holds no pair of different answers to compare")
    return targets
