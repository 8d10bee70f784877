"""Every document of the runs, with what a filter chooses by; of the first of each run also text and answers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from genie_inspect.logs.files import sample_of
from genie_inspect.logs.reading import ScoredDocument, ScoredLog
from genie_inspect.reports.charts import in_words, number
from genie_inspect.reports.figures import places
from genie_inspect.reports.report import MarkedPassage, QuestionRow, Report, StandOut, passage_of, questions, shown_text

LISTED = 5_000  # documents of all runs together: more would take a browser longer than two seconds
DETAILED = 150  # documents of all runs together with text and answers
TENTH = 10
NO_BREAK = "\u00a0"


@dataclass(frozen=True, slots=True)
class Detail:
    text: str
    passage: MarkedPassage | None
    questions: list[QuestionRow]


@dataclass(frozen=True, slots=True)
class Listed:
    run: str
    document: ScoredDocument
    values: str  # by feature; a browser has to open thousands of these lines, so that they have no markup
    reasons: list[str]
    classes: str  # by which filters choose
    detail: Detail | None


@dataclass(frozen=True, slots=True)
class Documents:
    rows: list[Listed]
    filters: dict[str, list[tuple[str, str]]]  # by what they choose: the choices, each with its class
    left_out: int  # documents beyond those that are listed
    detailed: int  # documents of each run that have text and answers
    places: dict[tuple[str, str | int, int], int]  # of rows with text, by run, sample and epoch

    def place_of(self, one: StandOut) -> int | None:
        return self.places.get((one.run, one.sample, one.epoch))


def documents(report: Report) -> Documents:
    """By run the first documents: one of each prompt, then the second of each."""
    runs = [run for run in report.runs if not run.is_population]
    detailed = max(1, DETAILED // max(1, len(runs)))
    measure, most = report.measures[0], max(1, LISTED // max(1, len(runs)))
    # one of each prompt first, so that those that are cut leave no prompt out
    in_order = {run.label: sorted(run.documents, key=lambda document: document.epoch)[:most] for run in runs}
    ends: dict[str, tuple[float, float]] = {}
    for key in measure.keys:
        values = (one.value(measure.scorer, key) for own in in_order.values() for one in own)
        if known := sorted(value for value in values if not math.isnan(value)):
            ends[key] = known[len(known) // TENTH], known[-1 - len(known) // TENTH]
    labels = {run.label: f"r{place}" for place, run in enumerate(runs)}
    prompts: dict[str, str] = {}
    reasons: dict[str, str] = {}
    rows: list[Listed] = []
    with_text: dict[tuple[str, str | int, int], int] = {}
    stood_out = {(one.run, one.sample, one.epoch) for one in report.stand_outs}
    for run, nth, document in ((own, nth, one) for own in runs for nth, one in enumerate(in_order[own.label])):
        unscored = list(why_unscored(run, document))
        classes = [labels[run.label], prompts.setdefault(document.prompt, f"p{len(prompts)}")]
        classes += [reasons.setdefault(reason, f"u{len(reasons)}") for reason in unscored]
        shown = []
        for place, key in enumerate(measure.keys):
            value = document.value(measure.scorer, key)
            shown.append(f"{in_words(key)} {number(value, places(measure, key))}".replace(" ", NO_BREAK))
            if math.isnan(value):
                classes.append(f"n{place}")
            else:
                classes += [f"l{place}"] * (value <= ends[key][0]) + [f"h{place}"] * (value >= ends[key][1])
        detail, where = None, (run.label, document.sample, document.epoch)
        if nth < detailed or where in stood_out:
            sample = sample_of(document.file, document.sample, document.epoch)
            found = (passage_of(run, name, document, sample) for name in run.ours)
            score = (sample.scores or {}).get(measure.scorer)
            detail = Detail(shown_text(sample), next(filter(None, found), None), questions(score) if score else [])
            with_text[where] = len(rows)
        rows.append(Listed(run.label, document, ", ".join(shown), unscored, " ".join(classes), detail))
    tenths = (("h", "highest tenth"), ("l", "lowest tenth"), ("n", "not measured"))
    by_feature = [
        (f"{in_words(key)}: {what}", f"{name}{place}")
        for place, key in enumerate(measure.keys)
        for name, what in tenths
    ]
    by_reason = [*reasons.items()]
    filters = {"run": [*labels.items()], "prompt": [*prompts.items()], "feature": by_feature, "unscored": by_reason}
    left_out = sum(len(run.documents) for run in runs) - len(rows)
    return Documents(rows, {what: own for what, own in filters.items() if own}, left_out, detailed, with_text)


def why_unscored(run: ScoredLog, document: ScoredDocument) -> Iterator[str]:
    for scorer in run.ours:
        if reason := document.why_unscored(scorer):
            yield f"{in_words(scorer)}: {in_words(reason)}"
