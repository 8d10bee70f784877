"""`genie repeats`: what a model always writes, and what sets two models apart."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

import click

from genie_inspect.agreement.variety import Variety, answer_targets, variety, why_none
from genie_inspect.cli import options as cli
from genie_inspect.cli.calibrate import machine_judges
from genie_inspect.cli.running import machine_ratings
from genie_inspect.cli.tables import Within, figure, ranged
from genie_inspect.cli.terminal import echo
from genie_inspect.engines.corpora import english_frequencies
from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.errors import UnknownChoiceError
from genie_inspect.files.tables import Table, csv_text, plain
from genie_inspect.logs.files import LogError
from genie_inspect.populations.population import BUNDLED, MANIFEST, NONE, open_population
from genie_inspect.reports.repeats import (
    NO_ANSWERS,
    Contrast,
    Effective,
    Repeats,
    Shared,
    contrasts,
    repeats_of,
    repeats_of_run,
)
from genie_inspect.reports.repeats import repeats as repeated
from genie_inspect.reports.summary import Summary, read_runs
from genie_inspect.reports.wording import ENGLISH, LEVEL
from genie_inspect.statistics.descriptive import NO_INTERVAL, Interval

REPEATED = ("prompt", "question", "shared answers (documents)", "same", "effective")
FIELDS = (
    *("run", "prompt", "feature", "question", "documents", "same", "effective", "answer", "given"),
    *("population_documents", "population_same", "population_effective"),
)
KEY = (
    "same: the chance that two documents for the prompt give the same answer, 0 to 1. effective: the effective number "
    "of answers (Hill number of order 2), of so many documents, with which it rises. After the slash are the "
    "population's. Answers of equal words are the same; one idea in other words is not counted. This says nothing "
    "about quality."
)
OTHER_READER = "The population's answers are those of another grader, {reader}, who may use other words."
WORDING = {"opening": "first three words", "ending": "last three words", "name": "names", "word": "other words"}
WORDING[ENGLISH] = "other words; expected by general English"
WORDS_KEY = (
    "Words that documents share are counted among those for the prompts in which they occur, copies once. Names are "
    "found in English texts alone. {other}"
)
OTHER_WORDS = {
    "population": "Other words: those that the population's documents have less often (p below .05, corrected for all "
    "words).",
    "english": "Other words: those in at least twice as many documents as expected from their frequency in general "
    "English (wordfreq; p below .05, corrected for all words of its list, documents taken as independent), and for two "
    "or more prompts. Fiction has its own words: use this to screen, and the population to compare. Words that are not "
    "on the list are not compared.",
}
NOT_ENGLISH = "{english} of its {documents} different documents are in English, and words are compared in these alone."
SIMILARITY_KEY = (
    "similarity: mean over pairs of documents for a prompt, 0 (different) to 1 (interchangeable), of their answers as "
    "{judge} rates them ({pairs} of {of} pairs usable). One minus it is the variety within."
)
APART = "What sets {run} apart from {other}:"
NOTHING_APART = "No answer sets {run} apart from {other} beyond chance. The largest differences:"
CONTRAST = (
    '- {given} of {documents} documents answer "{answer}" to "{question}"; {other_given} of {other_documents} of the '
    "baseline (p {p})"
)
CORRECTED = (
    "p: exact test, prompt by prompt; corrected for the answers of a question and, by Holm, for all questions. Copies "
    "count once."
)


@click.command()
@click.argument("sources", metavar="LOGS|POPULATION", nargs=-1, required=True)
@cli.option("--population", default="starter", help="Population beside it: `starter`, a folder or `none`.")
@cli.option("--baseline", show_default=False, help="Run to contrast with. Default: the first of two.")
@cli.option(
    "--judge",
    show_default=False,
    metavar="MODE",
    help="Also rate how alike documents are: `embedding` (no calls), or `list` with --grader.",
)
@cli.option("--grader", metavar="MODEL", help="Model that --judge list asks. Ratings are kept.")
@cli.embedder_option(help="Embedder of --judge embedding.")
@cli.option(
    "--words-against",
    default="population",
    type=click.Choice([*OTHER_WORDS]),
    metavar="TEXTS",
    help="Find overused words against the `population`, or general `english` (extra `words`).",
)
@cli.option("--top", default=10, type=cli.AT_LEAST_1, help="Questions to show per run.")
@cli.SIGNATURE
@cli.answering("tables", csv="a row per answer")
def repeats(
    sources: tuple[str, ...],
    population: str,
    baseline: str | None,
    judge: str | None,
    grader: str | None,
    embedder: str,
    words_against: str,
    top: int,
    signature: str,
) -> cli.Answer:
    """Show what a model always writes, and what sets two models apart.

    It counts the answers that scores by genie keep, and lists those repeated most beside the population's; then shared
    openings, endings, names and words. Of two runs it lists the answers that one gives more often. A population in
    place of LOGS shows what its own documents repeat.

    \b
    Example: genie repeats logs/demo
             genie repeats starter --judge embedding
    """
    if grader and not judge:
        raise click.UsageError("--grader needs --judge list")
    english = english_frequencies() if words_against == "english" else None
    first = sources[0]
    if first in BUNDLED or (Path(first) / MANIFEST).is_file():
        if len(sources) > 1:
            raise click.UsageError("give one population, or logs")
        found = [repeats_of(open_population(first), english)]
    else:
        found = repeated(sources, None if population == NONE else open_population(population), signature, english)
    base = _baseline(found, baseline)
    apart = {own.run: contrasts(own, base) for own in found if base and own is not base and own.rows}
    has_answers = any(own.rows for own in found)
    if judge and not has_answers:
        raise LogError(f"--judge compares answers, and {NO_ANSWERS}")
    rated = varieties(found, judge, embedder, grader) if judge else []
    alike = {own.run: each for own, each in zip(found, rated, strict=False)}
    return cli.Answer(
        [_value(own, base, apart.get(own.run), alike.get(own.run)) for own in found],
        [
            *([] if has_answers else [f"{NO_ANSWERS[0].upper()}{NO_ANSWERS[1:]}."]),
            *(part for own in found for part in _parts(own, top, alike.get(own.run))),
            *([KEY] if has_answers else []),
            WORDS_KEY.format(other=OTHER_WORDS[words_against]),
            *(part for own in found if base and own.run in apart for part in _apart(own, base, apart[own.run], top)),
        ],
        csv=lambda: csv_text(FIELDS, (row for own in found for row in _rows(own))),
    )


def _baseline(runs: list[Repeats], name: str | None) -> Repeats | None:
    if name is None:
        return runs[0] if len(runs) == 2 else None
    matching = [run for run in runs if run.run == name] or [run for run in runs if run.run.startswith(name)]
    if len(matching) != 1 or len(runs) == 1:
        raise UnknownChoiceError("baseline", name, f"one of {', '.join(run.run for run in runs)}, among several runs")
    return matching[0]


def varieties(runs: list[Repeats], judge: str, embedder: str, grader: str | None = None) -> list[Variety]:
    """How alike the documents of each run are to each other, by a judge."""
    features = sorted({feature for own in runs for feature in own.features})
    (rater,) = machine_judges((judge,), chosen_embedder(embedder), features, [grader] if grader else [], None, False)
    rater, found = replace(rater, swaps=False), []  # nothing is said of how much the order of a pair matters
    for own in runs:
        targets = answer_targets(own)
        if grader:
            echo(f"{own.run}: {judge} rates {sum(len(target.others) for target in targets)} pairs", err=True)
        (ratings,) = machine_ratings([rater], targets)
        found.append(variety(own, targets, ratings))
    return found


def similarity_within(logs: Sequence[str], tables: Sequence[Summary], signature: str, embedder: str) -> Within:
    """How similar each run's own documents are, by the embedding judge and the answers of each scorer."""
    scorers = dict.fromkeys(table.scorer for table in tables if table.signature.measure == "genie")
    if not scorers:
        raise LogError("--variety compares the answers that scores by genie keep, and no table is of such scores")
    runs = read_runs(logs, signature=signature)
    repeats = {
        (scorer, run.file): repeats_of_run(run, scorer=scorer)
        for scorer, run in product(scorers, runs)
        if scorer in run.ours
    }
    rated = varieties(list(repeats.values()), "embedding", embedder)
    return {key: (own, alike) for (key, own), alike in zip(repeats.items(), rated, strict=True)}


def similarity_value(own: Repeats, alike: Variety, keys: Sequence[str]) -> dict[str, Any]:
    features = {
        key: plain(interval) | {"reason": why_none(own, key) if math.isnan(interval.mean) else None}
        for key in keys
        for interval in alike.features.get(key, (NO_INTERVAL,))[:1]
    }
    return rated_value(alike) | {"features": features}


def _value(own: Repeats, base: Repeats | None, apart: list[Contrast] | None, alike: Variety | None) -> Any:
    def sides(pair: tuple[Any, Any], value: Callable[[Any], Any] = plain) -> dict[str, Any]:
        return {"own": value(pair[0]), "population": value(pair[1])}

    def shared(one: Shared | None) -> dict[str, Any] | None:
        if one is None:
            return None
        answers = [{"answer": answer, "documents": count} for answer, count in one.answers]
        return {"documents": one.documents, "same": one.same, "effective": one.effective, "answers": answers}

    def effective(one: Effective) -> dict[str, Any]:
        return {**plain(one.interval), "documents": plain(one.documents), "reason": one.why_no_interval or None}

    value: dict[str, Any] = {
        "run": own.run,
        "documents": own.documents,
        "copies": own.copies,
        "population_read_by": own.reader,
    }
    if own.english is not None:
        value["english_documents"] = own.english
    value |= {
        "features": {name: sides(pair) for name, pair in own.features.items()},
        "effective": {name: sides(pair, effective) for name, pair in own.effective.items()},
        "questions": [
            {"prompt": row.prompt, "feature": row.feature, "question": row.question}
            | sides((row.own, row.population), shared)
            for row in own.rows
        ],
        "wording": [each._asdict() for each in own.wording],
    }
    if base and apart is not None:
        value["apart"] = {"baseline": base.run, "answers": [contrast._asdict() for contrast in apart]}
    if alike:
        features = {name: sides(pair) for name, pair in alike.features.items()}
        value["similarity"] = rated_value(alike) | {"features": features}
    return plain(value)


def rated_value(alike: Variety) -> dict[str, Any]:
    return {"judge": alike.judge, "pairs": alike.pairs, "unusable": alike.unusable}


def _parts(own: Repeats, top: int, alike: Variety | None) -> Iterator[Table | str]:
    is_compared = any(row.population for row in own.rows) or any(one.population_documents for one in own.wording)
    columns = ("its documents", "the population's")[: 1 + is_compared]

    def beside(mine: str, theirs: str) -> list[str]:
        return [mine, theirs][: 1 + is_compared]

    # what no two documents share is not repeated
    repeated_rows = [row for row in own.rows if row.own.same > 0]
    cells: list[list[str] | None] = []
    for row in repeated_rows[:top]:
        common = "; ".join(f"{answer} ({count})" for answer, count in row.own.answers[:3] if count > 1)
        both = (row.own, row.population)
        sizes = [f"{figure(one.effective, '.1f')} of {one.documents}" if one else "-" for one in both]
        same = [figure(one.same, ".2f") if one else "-" for one in both]
        cells.append([row.prompt, row.question, common, " / ".join(beside(*same)), " / ".join(beside(*sizes))])
    counted_rows = f"{own.run}: {len(repeated_rows)} of {len(own.rows)} questions have an answer that documents share"
    if own.rows:
        yield Table(counted_rows, REPEATED, cells, words=3) if cells else f"{counted_rows}."
    if (left := len(repeated_rows) - top) > 0:
        yield f"{left} more: --top, --json or --csv shows them."

    def means(of: Mapping[str, tuple[Interval, Interval]]) -> Iterator[list[str]]:
        for name, pair in of.items():
            ranges = (ranged(one.mean, one.low, one.high, ".2f") if one.values else "-" for one in pair)
            yield [name.replace("_", " "), *beside(*ranges)]

    if own.rows:
        yield Table(f"{own.run}: chance of the same answer", ("feature", *columns), [*means(own.features)])
        yield Table(
            f"{own.run}: effective number of answers, of so many documents",
            ("feature", *columns),
            [[name.replace("_", " "), *beside(*map(_effective, pair))] for name, pair in own.effective.items()],
        )
    yield from _without_interval(own)
    if alike:
        yield Table(f"{own.run}: similarity of two documents", ("feature", *columns), [*means(alike.features)])
        yield SIMILARITY_KEY.format(judge=alike.judge, pairs=alike.pairs - alike.unusable, of=alike.pairs)
    cells = []
    for what, wordings in groupby(own.wording, lambda wording: wording.what):
        cells.append([WORDING[what]])
        for one in [*wordings][:top]:
            theirs = f"{one.population_given} of {one.population_documents}" if one.population_documents else "-"
            ours = f"{one.given} of {one.documents}"
            if one.expected is not None:
                ours, theirs = f"{ours}, expected {one.expected:.2g}", "-"
            cells.append([one.text, *beside(ours, theirs)])
    if cells:
        yield Table(f"{own.run}: words that documents share", ("", *columns), cells)
    if own.english is not None and own.english < (different := own.documents - own.copies):
        yield NOT_ENGLISH.format(english=own.english, documents=different)
    if own.copies:
        yield f"{own.copies} of its {own.documents} documents repeat another one word for word."
    if own.rows and own.reader and not own.is_own_reader:
        yield OTHER_READER.format(reader=own.reader)


def _effective(one: Effective) -> str:
    interval = one.interval
    return f"{ranged(interval.mean, interval.low, interval.high)} of {one.documents:.3g}" if interval.values else "-"


def _without_interval(own: Repeats) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for name, (one, _) in own.effective.items():
        if one.why_no_interval:
            reasons.setdefault(one.why_no_interval, []).append(name.replace("_", " "))
    yield from (f"Effective number without interval ({', '.join(names)}): {why}." for why, names in reasons.items())


def _apart(own: Repeats, base: Repeats, apart: list[Contrast], top: int) -> Iterator[str]:
    differing = [contrast for contrast in apart if contrast.difference]
    if not differing:
        yield f"{own.run} and {base.run} give the same answers to the questions of both."
        return
    heading = APART if differing[0].p_value < LEVEL else NOTHING_APART
    yield heading.format(run=own.run, other=base.run)
    for contrast in differing[:top]:
        yield CONTRAST.format(**contrast._asdict() | {"p": figure(contrast.p_value, ".2g")})
    yield CORRECTED


def _rows(own: Repeats) -> Iterator[list[Any]]:
    for row in own.rows:
        theirs = row.population
        beside = [theirs.documents, theirs.same, theirs.effective] if theirs else [None] * 3
        for answer, count in row.own.answers:
            known = [own.run, row.prompt, row.feature, row.question, row.own.documents, row.own.same, row.own.effective]
            yield [None if value != value else value for value in (*known, answer, count, *beside)]
