"""Everything that the report's page and its JSON show, as numbers and words, with the documents that stand out."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from inspect_ai.log import EvalSample
from inspect_ai.scorer import Score
from pydantic import TypeAdapter, ValidationError

from genie_inspect.files.tables import plain
from genie_inspect.files.values import Number
from genie_inspect.graders.close_reader import Mark
from genie_inspect.logs.evidence import NO_SHARE, GraderResults
from genie_inspect.logs.files import LogError, sample_of
from genie_inspect.logs.measures import GENIE, UNIT, viewed_range
from genie_inspect.logs.reading import ScoredDocument, ScoredLog, one_signature
from genie_inspect.logs.results import Results, results_of, standing_of
from genie_inspect.logs.scores import PER_WORDS, readings
from genie_inspect.measures.marks import pieces
from genie_inspect.reports.comparison import Comparison, comparison_of
from genie_inspect.reports.pairing import Options
from genie_inspect.reports.ranking import Ranking, concordance, rankings, weighted
from genie_inspect.reports.ranking import as_values as ranking_values
from genie_inspect.reports.repeats import Repeats, repeats_of_run
from genie_inspect.reports.study import Study, study_of
from genie_inspect.reports.study_verdict import as_values as study_values
from genie_inspect.reports.summary import read_runs
from genie_inspect.reports.verdict import as_values
from genie_inspect.samples import document_of
from genie_inspect.signature import Signature
from genie_inspect.statistics.descriptive import NO_INTERVAL, Interval, Standing, quartiles

End = Literal["most", "least"]
MOST_CHARACTERS = 20_000  # of a document; nobody reads more in a report


@dataclass(frozen=True, slots=True)
class NearAnswer:
    answer: str
    rating: Number
    given: int  # how many documents of the population gave it


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One row of the question table that `genie` keeps in a score's metadata."""

    feature: str
    question: str = ""
    answer: str = ""
    nearest: tuple[NearAnswer, ...] = ()
    novelty: Number | None = None
    ratings: int = 0


_QUESTIONS = TypeAdapter(list[QuestionRow])


@dataclass(frozen=True, slots=True)
class StandOut:
    scorer: str
    key: str
    end: End
    run: str
    sample: str | int
    epoch: int
    prompt: str
    value: float
    text: str
    question: QuestionRow | None  # of the feature's the farthest at this end; None where the log does not keep it


def questions(score: Score) -> list[QuestionRow]:
    """Empty where the score has no table, or one that is not ours."""
    try:
        return _QUESTIONS.validate_python((score.metadata or {}).get("questions"))
    except ValidationError:
        return []


def telling(table: Iterable[QuestionRow], feature: str, end: End) -> QuestionRow | None:
    """The feature's question with the highest novelty, or the lowest; None when it has none that was measured."""
    candidates = [question for question in table if question.feature == feature and question.novelty is not None]
    # `max` takes the first of equals at either end, `min` and `max` in turn would not be alike
    sign = 1 if end == "most" else -1
    return max(candidates, key=lambda question: sign * (question.novelty or 0.0), default=None)


def stand_outs(
    runs: Sequence[ScoredLog], measures: Iterable[tuple[str, tuple[str, ...]]], examples: int
) -> Iterator[StandOut]:
    """For each feature of a scorer that keeps a question table, its most and its least novel documents.

    The population's own documents are no candidates. Of equals the first counts.
    """
    for scorer, key in ((scorer, key) for scorer, keys in measures for key in keys):
        scored = [
            (document.value(scorer, key), run, document)
            for run in runs
            if not run.is_population
            for document in run.documents
            if scorer in document.scores and document.scores[scorer].evidence.coverage
        ]
        ordered = sorted((row for row in scored if not math.isnan(row[0])), key=lambda row: -row[0])
        # no document may stand at both ends
        count = min(examples, len(ordered) // 2 or len(ordered))
        ends: dict[End, list[tuple[float, ScoredLog, ScoredDocument]]] = {"most": ordered, "least": ordered[::-1]}
        for end, value, run, document in ((end, *row) for end, rows in ends.items() for row in rows[:count]):
            # texts are read from the log for these few only, so that a large log fits into memory
            sample = sample_of(document.file, document.sample, document.epoch)
            if table := questions((sample.scores or {})[scorer]):
                text = shown_text(sample)
                where = run.label, document.sample, document.epoch, document.prompt
                yield StandOut(scorer, key, end, *where, value, text, telling(table, key, end))


def shown_text(sample: EvalSample) -> str:
    text = document_of(sample)
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + " […]"


@dataclass(frozen=True, slots=True)
class MarkedPassage:
    scorer: str
    run: str
    sample: str | int
    epoch: int
    prompt: str
    marks: tuple[Mark, ...]  # in the order of the text; their numbers count from 1
    # the text cut where a mark begins or ends: each part with the aspects of the marks on it, and the numbers of those
    # that end with it
    pieces: tuple[tuple[str, tuple[str, ...], tuple[int, ...]], ...]
    cut: bool  # whether the pieces are its beginning alone


def marked_passages(
    runs: Sequence[ScoredLog], measures: Iterable[tuple[str, tuple[str, ...]]], examples: int
) -> Iterator[MarkedPassage]:
    """Of each run, by aspect, the documents with most marks in a hundred words; each text once."""
    for scorer, keys in measures:
        for run in runs:
            shown: set[str] = set()
            for key in (key for key in keys if key.endswith(PER_WORDS)):
                # a text that was written twice counts once; NaN, which is no value, is not above 0 either
                valued = {one.text: (one.value(scorer, key), one) for one in reversed(run.documents)}
                marked = sorted((pair for pair in valued.values() if pair[0] > 0), key=lambda pair: -pair[0])
                for _, document in marked[:examples]:
                    if document.text in shown:
                        continue
                    sample = sample_of(document.file, document.sample, document.epoch)
                    if passage := passage_of(run, scorer, document, sample):
                        shown.add(document.text)
                        yield passage


def passage_of(run: ScoredLog, scorer: str, document: ScoredDocument, sample: EvalSample) -> MarkedPassage | None:
    """The document with its marks; None where its log keeps none that stand in it."""
    text = document_of(sample)
    kept = next((marks for name, marks, *_ in readings(sample.scores or {}) if name == scorer), ())
    # a log that somebody edited may hold a mark of another text
    marks = [mark for mark in kept if text[mark.start : mark.end] == mark.text != ""]
    if not marks:
        return None
    inside = [mark for mark in marks if mark.end <= MOST_CHARACTERS]
    cut = tuple(
        (piece, tuple(dict.fromkeys(inside[place].aspect for place in over)), tuple(place + 1 for place in ending))
        for piece, over, ending in pieces(text[:MOST_CHARACTERS], [(mark.start, mark.end) for mark in inside])
    )
    where = run.label, document.sample, document.epoch, document.prompt
    return MarkedPassage(scorer, *where, tuple(marks), cut, cut=len(text) > MOST_CHARACTERS)


@dataclass(frozen=True, slots=True)
class Range:
    low: float
    high: float
    known: bool  # whether the task's view or the measure says so; else these are the ends of what was seen, or NaN

    @property
    def is_unit(self) -> bool:
        return self.known and (self.low, self.high) == (0, 1)


@dataclass(frozen=True, slots=True)
class Cell:
    interval: Interval  # mean over prompts with its 95% interval
    spread: dict[str, float]
    used: int  # questions or tests, over the scored documents; 0 of 0 where the scorer does not say
    asked: int
    usable: int
    due: int  # ratings that count, of those that were due, likewise
    nearest: Interval = NO_INTERVAL  # mean over prompts of how near the nearest comes; NaN where nothing says it
    standing: Standing | None = None  # among the population's own documents; None where it has no reference scores


@dataclass(frozen=True, slots=True)
class Measure:
    """One scorer: a row a run, a column a key."""

    scorer: str
    signature: Signature
    keys: tuple[str, ...]
    ranges: dict[str, Range]  # by key
    rows: tuple[dict[str, Cell], ...]  # in the order of the runs; empty for a run that it did not score
    # in the order of the runs, as are those up to `agreement`
    unscored: tuple[Mapping[str, int], ...]  # documents without any value, by reason
    faults: tuple[Mapping[str, int], ...]  # answers, ratings or verdicts that are missing, by reason
    warnings: tuple[Sequence[str], ...]
    graders: tuple[Mapping[str, GraderResults], ...]  # of a jury each one's own results; empty where one grader judged
    agreement: tuple[Mapping[str, float], ...]  # by key the jury's alpha
    # by key, over all runs that know it: where the population's own documents are, each compared with the others
    population: dict[str, Standing]

    @property
    def is_unit(self) -> bool:
        return all(ends.is_unit for ends in self.ranges.values())

    @property
    def cells(self) -> list[Cell]:
        return [cell for row in self.rows for cell in row.values()]

    @property
    def has_standing(self) -> bool:
        return any(cell.standing for cell in self.cells)

    @property
    def covered(self) -> list[str]:
        """Keys of which the scorer says how many questions or tests could be used."""
        return [key for key in self.keys if any(row[key].asked for row in self.rows if row)]


@dataclass(frozen=True, slots=True)
class Report:
    """Runs that may be compared, and what is to be said of them."""

    runs: tuple[ScoredLog, ...]
    measures: tuple[Measure, ...]
    lengths: tuple[dict[str, float], ...]  # words a document, in the order of the runs
    concordance: dict[str, Any]
    stand_outs: tuple[StandOut, ...]
    passages: tuple[MarkedPassage, ...]  # documents with a close reader's marks
    repeats: tuple[Repeats, ...] = ()  # of the runs whose answers are kept; of many documents none
    comparison: Comparison | None = None  # of the runs with a baseline, where one is named
    studies: tuple[Study, ...] = ()  # of the runs that are metric studies
    rankings: tuple[Ranking, ...] = ()  # of three or more runs

    @property
    def reference_scores(self) -> ScoredLog | None:
        """The population's own documents, each compared with the others; None when no log has them."""
        return next((run for run in self.runs if run.is_population), None)


MOST_REPEATS = 1_000  # documents of a run: reading more of them again would take longer than all else


def build_report(
    paths: Iterable[str | Path],
    examples: int = 2,
    baseline: str = "",
    signature: str = "",
    weights: Mapping[str, float] = MappingProxyType({}),
) -> Report:
    # by label, so that order and colours do not hang on the order of the files; the population's own documents are the
    # reference_scores, and stand last
    runs = tuple(sorted(read_runs(paths, signature=signature), key=lambda run: (run.is_population, run.label)))
    told = [run for run in runs if not run.is_population]
    for run in runs:
        if not run.ours:
            raise LogError(
                f"{run.file} has no scores by genie-inspect. Score it with: inspect score {run.file} --scorer "
                "genie_inspect/..."
            )
    # a stable sort: `genie` first, the others as the logs have them
    scorers = sorted(dict.fromkeys(name for run in runs for name in run.ours), key=lambda name: name != "genie")
    keys = [(name, tuple(dict.fromkeys(key for run in runs for key in run.keys(name)))) for name in scorers]
    # what is compared, and what stands out, is by feature
    comparison = comparison_of(told, baseline, Options()) if baseline else None
    runs = tuple(weighted(run, weights) for run in runs)
    measures = tuple(_measure(scorer, runs) for scorer in scorers)
    return Report(
        runs=runs,
        measures=measures,
        lengths=tuple(spread([document.words for document in run.documents]) for run in runs),
        concordance=concordance(runs, [(measure.scorer, key) for measure in measures for key in measure.keys]),
        stand_outs=tuple(stand_outs(runs, keys, examples)),
        passages=tuple(marked_passages(runs, keys, examples)),
        repeats=tuple(own for run in told if len(run.documents) <= MOST_REPEATS and (own := repeats_of_run(run)).rows),
        comparison=comparison,
        studies=tuple(study_of(run) for run in runs if run.changed),
        rankings=tuple(rankings(runs, measures)),
    )


def spread(values: Sequence[float]) -> dict[str, float]:
    return dict(zip(("low", "median", "high"), quartiles(values), strict=True))


def numbers(report: Report) -> dict[str, Any]:
    return {
        "runs": [
            {
                **{"label": run.label, "log": run.file, "task": run.header.eval.task, "model": run.model},
                "created": str(run.header.eval.created),
                "is_population": run.is_population,
                "documents": len(run.documents),
                "refusals": sum(document.refused for document in run.documents),
                "words": plain(words),
                "tokens": {name: usage.total_tokens for name, usage in run.header.stats.model_usage.items()},
            }
            for run, words in zip(report.runs, report.lengths, strict=True)
        ],
        "measures": plain(report.measures),
        "comparison": as_values(report.comparison) if report.comparison else None,
        "rankings": [ranking_values(ranking) for ranking in report.rankings],
        "studies": [study_values(study) for study in report.studies],
        "concordance": plain(report.concordance),
        # whole documents would be most of the JSON; the log has them
        "stand_outs": [plain(replace(stand_out, text="")) for stand_out in report.stand_outs],
        "marked_passages": [plain(replace(passage, pieces=())) for passage in report.passages],
    }


def _measure(scorer: str, runs: Sequence[ScoredLog]) -> Measure:
    results = [results_of(run, scorer) if scorer in run.ours else None for run in runs]
    keys = tuple(dict.fromkeys(key for result in results if result for key in result.cells))
    pairs = list(zip(runs, results, strict=True))
    knowing = {key: [run for run, result in pairs if result and key in result.standing] for key in keys}

    def cell(run: ScoredLog, own: Results, key: str) -> Cell:
        mean, spread_of = own.cells.get(key, NO_INTERVAL), spread(measured(run, scorer, key))
        shares = (*own.coverage.get(key, NO_SHARE), *own.pairs.get(key, NO_SHARE))
        return Cell(mean, spread_of, *shares, own.nearest.get(key, NO_INTERVAL), own.standing.get(key))

    return Measure(
        scorer=scorer,
        signature=one_signature(runs, scorer),
        keys=keys,
        ranges={key: _range(scorer, key, runs) for key in keys},
        rows=tuple({key: cell(run, own, key) for key in keys} if own else {} for run, own in pairs),
        unscored=tuple(own.unscored if own else {} for own in results),
        faults=tuple(own.faults if own else {} for own in results),
        warnings=tuple(own.warnings if own else () for own in results),
        graders=tuple(own.graders if own else {} for own in results),
        agreement=tuple(own.agreement if own else {} for own in results),
        population={key: standing for key in keys if (standing := standing_of(knowing[key], scorer, key))},
    )


def measured(run: ScoredLog, scorer: str, key: str) -> list[float]:
    """The scores of a run's documents, without those that could not be measured."""
    return [value for value in run.values(scorer, key) if not math.isnan(value)]


def _range(scorer: str, key: str, runs: Sequence[ScoredLog]) -> Range:
    for run in runs:
        # novelty by feature has these ends whatever a view says of colours
        if any(signature.measure == GENIE for signature in run.signatures.get(scorer, ())):
            return Range(*UNIT, known=True)
        # the first log whose task has a view speaks for all
        if ends := viewed_range(run.header, key):
            return Range(*ends, known=True)
    values = [value for run in runs for value in measured(run, scorer, key)]
    seen = Range(min(values, default=math.nan), max(values, default=math.nan), known=False)
    # one value alone has no place between the lowest and the highest: it has one in what the measure could be
    known = next((ends for run in runs if (ends := run.known_range(scorer, key)) and math.isfinite(ends[1])), None)
    return Range(*known, known=True) if known and seen.low == seen.high else seen
