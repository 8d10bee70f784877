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
    # one of each prompt first, so that those that are cut leave no prompt out
    in_order = {run.label: sorted(run.documents, key=lambda document: document.epoch) for run in runs}
    chosen = [(run, document) for run in runs for document in in_order[run.label][: max(1, LISTED // len(runs))]]
    measure = report.measures[0]
    columns = {
        key: [value for _, one in chosen if not math.isnan(value := one.value(measure.scorer, key))]
        for key in measure.keys
    }
    ends = {
        key: (sorted(known)[len(known) // TENTH], sorted(known)[-1 - len(known) // TENTH])
        for key, known in columns.items()
        if known
    }
    prompts = {prompt: place for place, prompt in enumerate(dict.fromkeys(one.prompt for _, one in chosen))}
    labels = {run.label: place for place, run in enumerate(runs)}
    reasons: dict[str, int] = {}
    rows, seen = [], dict.fromkeys(labels, 0)
    stood_out = {(one.run, one.sample, one.epoch) for one in report.stand_outs}
    for run, document in chosen:
        own = list(why_unscored(run, document))
        classes = [f"r{labels[run.label]}", f"p{prompts[document.prompt]}"]
        classes += [f"u{reasons.setdefault(reason, len(reasons))}" for reason in own]
        values = []
        for place, key in enumerate(measure.keys):
            value = document.value(measure.scorer, key)
            values.append(f"{in_words(key)} {number(value, places(measure, key))}".replace(" ", NO_BREAK))
            if math.isnan(value):
                classes.append(f"n{place}")
            elif key in ends:
                classes += [f"l{place}"] * (value <= ends[key][0]) + [f"h{place}"] * (value >= ends[key][1])
        seen[run.label] += 1
        is_shown = seen[run.label] <= detailed or (run.label, document.sample, document.epoch) in stood_out
        detail = None
        if is_shown:
            sample = sample_of(document.file, document.sample, document.epoch)
            found = (passage_of(run, name, document, sample) for name in run.ours)
            score = (sample.scores or {}).get(measure.scorer)
            detail = Detail(shown_text(sample), next(filter(None, found), None), questions(score) if score else [])
        rows.append(Listed(run.label, document, ", ".join(values), own, " ".join(classes), detail))
    tenths = (("h", "highest tenth"), ("l", "lowest tenth"), ("n", "not measured"))
    filters = {
        "run": [(label, f"r{place}") for label, place in labels.items()],
        "prompt": [(prompt, f"p{place}") for prompt, place in prompts.items()],
        "feature": [
            (f"{in_words(key)}: {what}", f"{name}{place}")
            for place, key in enumerate(measure.keys)
            for name, what in tenths
        ],
        "unscored": [(reason, f"u{place}") for reason, place in reasons.items()],
    }
    with_text = {
        (row.run, row.document.sample, row.document.epoch): place for place, row in enumerate(rows) if row.detail
    }
    filters = {what: choices for what, choices in filters.items() if choices}
    return Documents(rows, filters, sum(len(run.documents) for run in runs) - len(chosen), detailed, with_text)


def why_unscored(run: ScoredLog, document: ScoredDocument) -> Iterator[str]:
    for scorer in run.ours:
        if reason := document.why_unscored(scorer):
            yield f"{in_words(scorer)}: {in_words(reason)}"
