"""`genie calibrate` and `genie check-reader`: how well graders and people agree, and whether a grader reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.agreement import calibration
from genie_inspect.agreement.calibration import ALL, Conduct, PeopleAgreement, RaterAgreement
from genie_inspect.agreement.raters import (
    CalibrationError,
    Rater,
    RatingsFile,
    Target,
    drawn,
    recorded_ratings,
    recorded_targets,
    write_blind_table,
)
from genie_inspect.agreement.readers import (
    ReaderFitness,
    fitness_verdict,
    rated_targets,
    read_again,
    reader_fitness,
    sampled_documents,
)
from genie_inspect.cli import options as cli
from genie_inspect.cli.rewordings import DOCUMENTS, reworded_raters, reworded_readers
from genie_inspect.cli.running import machine_ratings, named_model, progress_bar, told_by
from genie_inspect.cli.tables import counted, figure, ranged
from genie_inspect.cli.terminal import replacing
from genie_inspect.engines.embedders import CachedEmbedder, Embedder
from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.files.tables import Table
from genie_inspect.graders.cache import cache_folder
from genie_inspect.graders.instrument import MODES, Instrument, mode_and_fit, mode_of
from genie_inspect.populations.population import open_population
from genie_inspect.populations.schema import write_rows
from genie_inspect.statistics.bootstrap import BootstrapInterval

USUAL_JUDGES = ("list", "pairwise")
PAIRS = 300


def machine_judges(
    judges: Sequence[str],
    vectors: Embedder,
    features: list[str],
    graders: Sequence[str],
    templates: str | None,
    fresh: bool,
) -> list[Rater]:
    """Each grader by each judge that asks one, and the judges that ask nobody: what they rate has been read."""
    modes = [mode for mode in map(mode_of, judges or USUAL_JUDGES) if mode.asks_pairs]
    if judges and modes and not graders:
        raise CalibrationError(f"judge={modes[0].name} asks a model. Name it with --grader PROVIDER/MODEL")
    raters = []
    for grader, model in [(grader, named_model(grader)) for grader in dict.fromkeys(graders)]:
        for mode in modes:
            several = Instrument(mode.name, templates=templates).wordings
            for each in several:
                _, judge = each.reader_and_judge(model, anew=fresh)
                wording = f", {each.templates}" if len(several) > 1 else ""
                raters.append(Rater(f"{mode.name}({grader}{wording})", judge, mode.chunk))
    for name in judges:
        mode, file = mode_and_fit(name)
        if not mode.asks_pairs:
            by_vectors = mode.judge(CachedEmbedder(vectors, cache_folder()), file, features)
            raters.append(Rater(f"{name}({vectors.name})", by_vectors))
    return raters


KEY = (
    "alpha: ordinal Krippendorff alpha of the ratings; tau: Kendall's tau-b of the answers' novelty; difference in "
    "novelty: the second's less the first's. Intervals: 95%. A blank is not defined."
)
PEOPLE_KEY = (
    "alpha among raters: ordinal, of all in files; alpha with the median: the judge's ratings and their consensus;"
    " tau with the mean: Kendall's tau-b of the judge's ratings and the mean of theirs."
)
FIT_KEY = (
    "Spearman and Kendall's tau-b of the answers' novelty with that by the ratings, prompts held out: use it "
    "to screen, not to report. Judge by it: judge=embedding/{file}"
)
# by head, the attribute of a row that stands in the column
AGREED = {"pairs": "pairs", "alpha": "alpha", "tau": "tau", "difference in novelty": "difference"}
CONDUCT = {
    "asked": "asked",
    "unusable": "unusable",
    "novelty": "novelty",
    "last less first of a list": "position",
    "rating(a, b) less (b, a)": "swapped",
}
ALONE = {"pairs": "pairs", "alpha among raters": "people_alpha"}
PEOPLE = {**ALONE, "alpha with the median": "judge_alpha", "tau with the mean": "tau"}
FITTED = {"pairs": "pairs", "answers": "answers", "Spearman": "spearman", "tau": "kendall"}


def _table(title: str, rows: Mapping[str, Any], columns: Mapping[str, str], caption: str = "") -> Table:
    """A row a feature, and last, below a line of its own, the one over all of them."""
    lines: list[list[str] | None] = [
        [feature.replace("_", " "), *(_cell(row, name) for name in columns.values())] for feature, row in rows.items()
    ]
    if ALL in rows:
        lines.insert(list(rows).index(ALL), None)
    return Table(title, ["feature", *columns], lines, caption)


def _cell(row: Any, name: str) -> str:
    value = getattr(row, name)
    if isinstance(value, BootstrapInterval):
        return ranged(value.value, value.low, value.high, none="")
    if isinstance(value, float):
        return figure(value, ".1%" if name == "unusable" else ".2f", "")
    return "not defined" if value is None else str(value)


@click.command()
@cli.POPULATION
@cli.option(
    "--judge",
    "judges",
    multiple=True,
    help=f"Judge mode: {', '.join(MODES)}, or list/10 with 10 answers per call; repeatable. "
    f"Default: {' and '.join(USUAL_JUDGES)}.",
)
@cli.option("--grader", "graders", multiple=True, metavar="MODEL", help="Grader to calibrate; repeatable.")
@cli.option("--ratings", "files", multiple=True, type=cli.FILE, help="People's ratings: CSV or JSON Lines; repeatable.")
@cli.option("--pairs", type=click.IntRange(1), help=f"Pairs to rate. Default: the file's, else {PAIRS}.")
@cli.seed_option(help="Random seed for drawing the pairs.")
@cli.option("--reader", help="Signature to pair. Default: the one with most answers.")
@cli.embedder_option(help="Embedder of --judge embedding.")
@cli.option(
    "--fit-embedding",
    "fit",
    type=cli.FILE,
    help="Instead, fit judge=embedding/FILE to these ratings.",
)
@cli.option(
    "--export",
    type=cli.FILE,
    help="Instead, write the pairs for people, for --ratings.",
)
@cli.WORDINGS
@cli.REWORDED
@cli.option("--documents", type=click.IntRange(2), help=f"Documents for --rewordings. Default: {DOCUMENTS}.")
@cli.flag("--fresh", help="Ask for every rating again. Default: use kept ones.")
@cli.answering("tables", picture="a chart")
def calibrate(
    population: str,
    judges: tuple[str, ...],
    files: tuple[Path, ...],
    pairs: int | None,
    seed: int,
    reader: str | None,
    embedder: str,
    fit: Path | None,
    export: Path | None,
    reworded: bool,
    documents: int | None,
    **asked: Any,
) -> cli.Answer | dict[str, Any]:
    """Measure how well graders and people agree on the same pairs of answers.

    All raters of the files are compared with each other, and every grader with their median. Pairs come from the first
    file, else from the population's answers. A file has the columns question (id or text), answer, other, rating (1 to
    4; 0: no answer) and optionally rater. The population's own ratings are named without a folder. Ratings are kept: a
    killed run continues.

    \b
    Example: genie calibrate --ratings second_ratings.jsonl --grader bundled/grader
             genie calibrate --pairs 300 --export ann.csv
    """
    opened = open_population(population)
    if reworded:
        if files or pairs or fit or export:
            raise click.UsageError("--rewordings goes without --ratings, --pairs, --fit-embedding and --export")
        opened.require_documents("genie calibrate --rewordings")
        chosen = sampled_documents(opened, documents or DOCUMENTS, seed)
        return reworded_raters(opened, judges or USUAL_JUDGES[:1], reader, chosen, **asked)
    if documents:
        raise click.UsageError("--documents is for --rewordings. Name the number of pairs with --pairs")
    # a bare name is looked for in the current folder first
    found = [file if file.is_file() or not (opened.folder / file).is_file() else opened.folder / file for file in files]
    recorded = [RatingsFile(file, opened) for file in found]
    vectors = chosen_embedder(embedder)
    features = [feature.name for feature in opened.features]
    machines = machine_judges(judges, vectors, features, **asked)
    # what cannot be compared, or fitted to, is refused before anybody is asked
    count = len(machines) + sum(len(file.raters) for file in recorded)
    if fit and not export and any(not mode_of(judge).asks_pairs for judge in judges):
        raise CalibrationError(
            "--fit-embedding needs ratings by others. Give --ratings, or a --judge that asks a grader"
        )
    if fit and not export and not count:
        raise CalibrationError("--fit-embedding needs ratings. Give --ratings or --grader")
    if not (fit or export) and count < 2:
        raise CalibrationError("there is only one rater. Name another with --judge, --grader or --ratings")
    # people rated these pairs, so machines rate the same ones
    source = recorded[0].targets if recorded else recorded_targets(opened, reader)
    total = sum(len(target.others) for target in source)
    targets = drawn(source, pairs or (total if recorded else PAIRS), seed)
    if not targets:
        where = recorded[0].path if recorded else f"population {opened.name}"
        raise CalibrationError(f"{where} has no pair of different answers to compare")
    if export:
        return {"table": str(export), "pairs": write_blind_table(export, targets, seed)}
    people = [recorded_ratings(name, table, targets) for file in recorded for name, table in file.raters.items()]
    judged = machine_ratings(machines, targets)
    raters = people + judged
    facts = {
        "population": opened.name,
        "pairs": sum(len(target.others) for target in targets),
        "seed": seed,
        "raters": {rater.name: rater.signature for rater in raters},
    }
    if fit:
        fitted = calibration.vector_fit(opened.name, targets, raters, CachedEmbedder(vectors, cache_folder()))
        with replacing(fit):
            write_rows(fit, [fitted])
        parts = fitted.features | {ALL: fitted.pooled}
        facts |= {"embedder": fitted.embedder, "population": fitted.population, "fit": fitted.digest}
        facts["features"] = {name: part.model_dump(exclude={"knots"}) for name, part in parts.items()}
        title = f"{fitted.embedder} fitted to {', '.join(fitted.raters)}"
        return cli.Answer(facts, [_table(title, parts, FITTED), FIT_KEY.format(file=fit)])
    agreements, conducts = calibration.compare(targets, raters, features)
    together = calibration.held_against_people(targets, people, judged, features) if people else []
    sentences = calibration.verdict(agreements) + calibration.quotable(agreements, people, judged)
    return cli.Answer(
        facts | {"verdict": sentences, "agreements": agreements, "conducts": conducts, "people": together},
        [*_agreed(agreements, conducts, together, len(people)), *sentences],
        chart=lambda: calibration.calibration_chart(agreements),
    )


def _agreed(
    agreements: Sequence[RaterAgreement], conducts: Sequence[Conduct], together: Sequence[PeopleAgreement], people: int
) -> Iterator[Table | str]:
    # `groupby` joins neighbours alone: rows come rater by rater, feature by feature
    for (first, second), pairs in groupby(agreements, key=attrgetter("first", "second")):
        yield _table(f"{first} and {second}", {row.feature: row for row in pairs}, AGREED)
    # each rater's gaps and biases
    for rater, own in groupby(conducts, key=attrgetter("rater")):
        rows = {row.feature: row for row in own}
        # who rates no lists has no first and last place: a column that is empty in every row is left out
        columns = {head: name for head, name in CONDUCT.items() if any(_cell(row, name) for row in rows.values())}
        # the reasons are counted over all features, where they stand once
        faults = rows[ALL].faults if ALL in rows else {}
        yield _table(rater, rows, columns, f"unusable: {counted(faults)}" if faults else "")
    yield KEY
    # one rater of files is in the tables of two raters
    if people > 1:
        for judge, group in groupby(together, key=attrgetter("judge")):
            # without a judge there is nobody to hold against people
            title = f"{judge} and {people} raters together" if judge else f"{people} raters together"
            yield _table(title, {row.feature: row for row in group}, PEOPLE if judge else ALONE)
        yield PEOPLE_KEY


READER_KEY = (
    "both: questions that the record and the reader answer. left out: share of the record's answers that the reader "
    "does not have. added: share of the reader's answers to which the document says nothing, by the record. "
    "repeated: share that says nothing but the question's words. same, other: mean similarity to the record of the "
    "same document, and of the prompt's others. own nearer: how often the same document's is rated more alike than "
    "another's, with a 95% interval over documents; 50% by chance, highest at most. reach: how far of that way."
)
READER_HEADS = (
    *("feature", "asked", "both", "left out", "added", "repeated", "same", "other"),
    *("own nearer [95%]", "highest", "reach"),
)


@click.command()
@cli.POPULATION
@cli.option("--reader", "readers", multiple=True, required=True, metavar="MODEL", help="Grader to check; repeatable.")
@cli.option("--documents", type=click.IntRange(2), help="Number of documents to read. Default: all.")
@cli.seed_option(help="Random seed for drawing the documents.")
@cli.option("--record", help="Signature to compare with. Default: of most answers.")
@cli.option("--judge", default="embedding", help=f"Judge mode that compares answers: {', '.join(MODES)}.")
@cli.option("--grader", metavar="MODEL", help="Model that rates, if the judge mode asks one.")
@cli.embedder_option(help="Embedder of --judge embedding.")
@cli.option(
    "--export",
    type=cli.FILE,
    help="Instead, write answers for people, for calibrate.",
)
@cli.ANSWER_LENGTH
@cli.WORDINGS
@cli.REWORDED
@cli.answering()
def check_reader(
    population: str,
    readers: tuple[str, ...],
    documents: int | None,
    seed: int,
    record: str | None,
    judge: str,
    grader: str | None,
    embedder: str,
    export: Path | None,
    answer_length: str,
    templates: str | None,
    reworded: bool,
) -> cli.Answer | dict[str, Any]:
    """Check whether a grader reads documents well enough.

    The grader reads documents of the population again, and its answers are compared with the recorded ones, by feature.
    It does not read if its answers fit their own document no better than another. Answers are kept.

    \b
    Example: genie check-reader --reader openai/gpt-4o-mini --documents 48
    """
    opened = open_population(population)
    opened.require_documents("genie check-reader")
    if export and len(readers) > 1:
        raise CalibrationError(f"--export writes the answers of one --reader, got {len(readers)}")
    vectors = chosen_embedder(embedder)
    features = [feature.name for feature in opened.features]
    wording = None if reworded else templates
    judges = machine_judges([judge], vectors, features, [grader] if grader else [], wording, fresh=False)
    chosen = sampled_documents(opened, documents, seed)
    if reworded:
        return reworded_readers(opened, readers, judges[0], chosen, record, templates, answer_length)
    instrument = Instrument("embedding", templates=templates, answer_length=answer_length)
    every: list[ReaderFitness] = []
    sentences: list[str] = []
    parts: list[Table | str] = []
    signatures: dict[str, str] = {}
    for name in readers:
        asked, _ = instrument.reader_and_judge(named_model(name))
        signatures[name] = asked.signature
        with progress_bar() as progress:
            told = told_by(progress, f"reading: {name}", len(chosen))
            pairs = anyio.run(read_again, opened, asked, chosen, record, told)
        if export:
            written = [
                Target(pair.question, pair.answer, (pair.recorded,))
                for pair in pairs
                if pair.answer is not None and pair.recorded is not None
            ]
            return {"table": str(export), "pairs": write_blind_table(export, written, seed)}
        (ratings,) = machine_ratings(judges, rated_targets(pairs))
        own_rows = reader_fitness(name, pairs, ratings, features)
        every += own_rows
        cells = []
        for row in own_rows:
            shares = (figure(share, ".0%") for share in (row.left_out, row.added, row.repeated))
            own = row.own_nearer
            nearer = f"{figure(own.value, '.0%')} [{figure(own.low, '.0%')}, {figure(own.high, '.0%')}]"
            alike = (figure(row.same), figure(row.other), nearer, figure(row.highest, ".0%"), figure(row.reach, ".0%"))
            cells.append([row.feature.replace("_", " "), str(row.asked), str(row.both), *shares, *alike])
        parts.append(Table(f"{name} against the record", READER_HEADS, cells, look="narrow"))
        # the last row is of all features
        if faults := own_rows[-1].faults:
            parts.append(counted(faults))
        sentences += fitness_verdict(own_rows)
    facts = {"population": opened.name, "documents": len(chosen), "seed": seed, "readers": signatures}
    facts |= {"judge": judges[0].judge.signature, "verdict": sentences}
    facts["fitness"] = [asdict(row) | {"reach": row.reach} for row in every]
    return cli.Answer(facts, [*parts, READER_KEY, *sentences])
