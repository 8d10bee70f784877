"""`genie calibrate`: how far judges, and people, rate alike."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.agreement.calibration import (
    ALL,
    Conduct,
    PeopleAgreement,
    RaterAgreement,
    calibration_chart,
    compare,
    held_against_people,
    quotable,
    verdict,
)
from genie_inspect.agreement.raters import (
    CalibrationError,
    Rater,
    Ratings,
    RatingsFile,
    Target,
    drawn,
    judge_ratings,
    recorded_ratings,
    recorded_targets,
    write_blind_table,
)
from genie_inspect.agreement.vector_fitting import vector_fit
from genie_inspect.cli.options import (
    FILE,
    POPULATION,
    UNCHECKED_TEMPLATES,
    Answer,
    answering,
    embedder_option,
    flag,
    option,
    seed_option,
)
from genie_inspect.cli.running import named_model, one_line, progress_bar, told_by
from genie_inspect.cli.tables import Column, LineT, counted, figure, lines_table, ranged
from genie_inspect.cli.terminal import replacing
from genie_inspect.engines.embedders import CachedEmbedder, Embedder
from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.files.tables import Table
from genie_inspect.graders.cache import cache_folder
from genie_inspect.graders.grader import PrerequisiteError
from genie_inspect.graders.instrument import MODES, Instrument, mode_and_fit, mode_of
from genie_inspect.graders.vectors_judge import FeatureFit, shown
from genie_inspect.populations.population import open_population
from genie_inspect.populations.schema import write_rows
from genie_inspect.statistics.bootstrap import BootstrapInterval

USUAL_JUDGES = ("list", "pairwise")
PAIRS = 300


def check_raters(judges: tuple[str, ...], count: int, fit: Path | None) -> None:
    """Refuse what cannot be compared, or fitted to, before anybody is asked."""
    if fit and any(not mode_of(judge).asks_pairs for judge in judges):
        raise CalibrationError(
            "--fit-vectors fits to ratings of others, name --ratings or a --judge that asks a grader"
        )
    if fit and not count:
        raise CalibrationError("--fit-vectors needs ratings to fit to, name --ratings or --grader")
    if not fit and count < 2:
        raise CalibrationError("one rater has nobody to agree with, name another --judge, --grader or --ratings")


def machine_judges(
    judges: Sequence[str],
    graders: Sequence[str],
    templates: str | None,
    embedder: Embedder,
    features: Sequence[str],
    *,
    anew: bool,
) -> list[Rater]:
    """Each grader by each judge that asks one, and the judges that ask nobody: what they rate has been read."""
    modes = [mode for mode in map(mode_of, judges or USUAL_JUDGES) if mode.asks_pairs]
    if judges and modes and not graders:
        raise CalibrationError(f"judge={modes[0].name} asks a model, name it: --grader <provider/model>")
    raters = []
    for grader, model in [(grader, named_model(grader)) for grader in dict.fromkeys(graders)]:
        for mode in modes:
            _, judge = Instrument(mode.name, templates=templates).reader_and_judge(model, anew=anew)
            raters.append(Rater(f"{mode.name}({grader})", judge, mode.chunk))
    for name in judges:
        mode, file = mode_and_fit(name)
        if mode.by_vectors:
            vectors = CachedEmbedder(embedder, cache_folder())
            raters.append(Rater(f"{name}({embedder.name})", mode.by_vectors(vectors, file, features)))
    return raters


def machine_ratings(raters: Sequence[Rater], targets: Sequence[Target], *, fresh: bool) -> list[Ratings]:
    """The judges' ratings, one judge after another, with a bar that shows how far they are."""
    with progress_bar(transient=True) as progress:
        bars = [told_by(progress, rater.name, rater.calls(targets)) for rater in raters]

        # one judge after another: each has many calls in flight by itself
        async def ask() -> list[Ratings]:
            return [
                await judge_ratings(rater, targets, bar, fresh=fresh) for rater, bar in zip(raters, bars, strict=True)
            ]

        try:
            return anyio.run(ask)
        except PrerequisiteError as error:
            raise click.ClickException(one_line(error)) from error


KEY = (
    "alpha: ordinal Krippendorff alpha of the ratings; tau: Kendall's tau-b of the answers' novelty; difference in "
    "novelty: the second's less the first's. Intervals: 95%. A blank is not defined."
)

PEOPLE_KEY = (
    "alpha among raters: ordinal, of all in files; alpha with the median: the judge's ratings and their consensus;"
    " tau with the mean: Kendall's tau-b of the judge's ratings and the mean of theirs."
)
FIT_KEY = (
    "Spearman and Kendall's tau-b of the answers' novelty with that by the ratings, prompts held out: a screen, no "
    "verdict. Judge by it: judge=vectors/{file}"
)
AGREED: tuple[Column[RaterAgreement], ...] = (
    ("pairs", lambda row: str(row.pairs)),
    ("alpha", lambda row: figure(row.alpha, none="")),
    ("tau", lambda row: figure(row.tau, none="")),
    ("difference in novelty", lambda row: _interval(row.difference)),
)
CONDUCT: tuple[Column[Conduct], ...] = (
    ("asked", lambda row: str(row.asked)),
    ("unusable", lambda row: figure(row.unusable, ".1%", "")),
    ("novelty", lambda row: figure(row.novelty, none="")),
    ("last less first of a list", lambda row: _interval(row.position)),
    ("rating(a, b) less (b, a)", lambda row: _interval(row.swapped)),
)
PEOPLE: tuple[Column[PeopleAgreement], ...] = (
    ("pairs", lambda row: str(row.pairs)),
    ("alpha among raters", lambda row: figure(row.people_alpha, none="")),
    ("alpha with the median", lambda row: figure(row.judge_alpha, none="")),
    ("tau with the mean", lambda row: figure(row.tau, none="")),
)
FITTED: tuple[Column[FeatureFit], ...] = (
    ("pairs", lambda row: str(row.pairs)),
    ("answers", lambda row: str(row.answers)),
    ("Spearman", lambda row: shown(row.spearman)),
    ("tau", lambda row: shown(row.kendall)),
)


def _table(title: str, rows: Mapping[str, LineT], columns: Sequence[Column[LineT]], caption: str = "") -> Table:
    """A row a feature, and last, below a line of its own, the one over all of them."""
    lines: list[tuple[str, LineT] | None] = [(feature.replace("_", " "), row) for feature, row in rows.items()]
    if ALL in rows:
        lines.insert(list(rows).index(ALL), None)
    return lines_table(title, "feature", lines, columns, caption, look="")


def _interval(interval: BootstrapInterval) -> str:
    return ranged(interval.value, interval.low, interval.high, none="")


@click.command()
@POPULATION
@option(
    "--judge",
    "judges",
    multiple=True,
    help=f"{', '.join(MODES)}, list/10 (answers a call); repeatable.  "
    f"[default: {', '.join(USUAL_JUDGES)}, where a grader is named]",
)
@option("--grader", "graders", multiple=True, help="<provider/model> that judges; repeatable.")
@option("--ratings", "files", multiple=True, type=FILE, help="Ratings by people: CSV or JSON Lines; repeatable.")
@option("--pairs", type=click.IntRange(1), help=f"How many.  [default: all of the first file, else {PAIRS}]")
@seed_option("Which pairs are drawn.")
@option("--reader", help="Whose recorded answers are drawn from, by signature.  [default: who answered most]")
@embedder_option("Whose vectors judge, with --judge vectors.")
@option(
    "--fit-vectors",
    "fit",
    type=FILE,
    help="Instead of comparing, fit the judge `vectors` to the mean of these ratings, with --embedder, and write it: "
    "judge=vectors/FILE rates by it.",
)
@option(
    "--export",
    type=FILE,
    help="Instead of comparing, write the pairs to this CSV for people: shuffled, without ratings, with a page that "
    "tells them what to do. Filled in, it is a file for --ratings.",
)
@UNCHECKED_TEMPLATES
@flag(
    "--cache",
    help="Take ratings from the cache, as after a run that was killed; else all are asked for anew (and kept).",
)
@answering("tables", picture="a chart")
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
) -> Answer | dict[str, Any]:
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
    opened = open_population(population)
    # a bare name is looked for in the current folder first
    found = [file if file.is_file() or not (opened.folder / file).is_file() else opened.folder / file for file in files]
    recorded = [RatingsFile(file, opened) for file in found]
    vectors = chosen_embedder(embedder)
    features = [feature.name for feature in opened.features]
    machines = machine_judges(judges, graders, templates, vectors, features, anew=not cache)
    if not export:
        check_raters(judges, len(machines) + sum(len(file.raters) for file in recorded), fit)
    # people rated these pairs, so machines rate the same ones
    source = recorded[0].targets if recorded else recorded_targets(opened, reader)
    total = sum(len(target.others) for target in source)
    targets = drawn(source, pairs or (total if recorded else PAIRS), seed)
    if not targets:
        where = recorded[0].path if recorded else f"population {opened.name}"
        raise CalibrationError(f"{where} holds no pair of different answers to compare")
    if export:
        return {"table": str(export), "pairs": write_blind_table(export, targets, seed)}
    people = [recorded_ratings(name, table, targets) for file in recorded for name, table in file.raters.items()]
    judged = machine_ratings(machines, targets, fresh=not cache)
    raters = people + judged
    facts = {
        "population": opened.name,
        "pairs": sum(len(target.others) for target in targets),
        "seed": seed,
        "raters": {rater.name: rater.signature for rater in raters},
    }
    if fit:
        fitted = vector_fit(opened.name, targets, raters, CachedEmbedder(vectors, cache_folder()))
        with replacing(fit):
            write_rows(fit, [fitted])
        parts = fitted.features | {ALL: fitted.pooled}
        features_fit = {name: part.model_dump(exclude={"knots"}) for name, part in parts.items()}
        facts |= {"embedder": fitted.embedder, "population": fitted.population, "fit": fitted.digest}
        title = f"{fitted.embedder} fitted to {', '.join(fitted.raters)}"
        return Answer(facts | {"features": features_fit}, [_table(title, parts, FITTED), FIT_KEY.format(file=fit)])
    agreements, conducts = compare(targets, raters, features)
    together = held_against_people(targets, people, judged, features) if people else []
    sentences = verdict(agreements) + quotable(agreements, people, judged)

    def parts_of() -> Iterator[Table | str]:
        # `groupby` joins neighbours alone: rows come rater by rater, feature by feature
        for (first, second), rows in groupby(agreements, key=lambda row: (row.first, row.second)):
            yield _table(f"{first} and {second}", {row.feature: row for row in rows}, AGREED)
        # each rater's gaps and biases
        for rater, own in groupby(conducts, key=lambda conduct: conduct.rater):
            by_feature = {row.feature: row for row in own}
            # who rates no lists has no first and last place: a column that is empty in every row is left out
            columns = [column for column in CONDUCT if any(map(column[1], by_feature.values()))]
            # the reasons are counted over all features, where they stand once
            faults = by_feature[ALL].faults if ALL in by_feature else {}
            yield _table(rater, by_feature, columns, f"unusable: {counted(faults)}" if faults else "")
        yield KEY
        # one rater of files is in the tables of two raters
        if len(people) > 1:
            for judge, group in groupby(together, key=lambda row: row.judge):
                # without a judge there is nobody to hold against people
                title = f"{judge} and {len(people)} raters together" if judge else f"{len(people)} raters together"
                yield _table(title, {row.feature: row for row in group}, PEOPLE if judge else PEOPLE[:2])
            yield PEOPLE_KEY
        yield from sentences

    return Answer(
        facts | {"verdict": sentences, "agreements": agreements, "conducts": conducts, "people": together},
        parts_of(),
        chart=lambda: calibration_chart(agreements),
    )
