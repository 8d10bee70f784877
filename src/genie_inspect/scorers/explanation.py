"""What a person reads beside a Genie score, and the compact evidence that stays in the log."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import fmean, median
from types import MappingProxyType
from typing import Any

from genie_inspect.files.tables import Table
from genie_inspect.graders.protocols import GRADER_FAILED, UNREADABLE
from genie_inspect.logs.evidence import agreement, evidence_of
from genie_inspect.measures.genie import ALIKE, FEWEST_RATINGS
from genie_inspect.prompting.answers import repeats_question
from genie_inspect.scorers.assessment import TOO_FEW, Assessment, QuestionResult, neighbours
from genie_inspect.statistics.descriptive import Standing

MOST_BYTES = 8_000
WIDTHS = (160, 80, 40, 20, 0)
FITTING = ((160, 3), (80, 3), (160, 1), (80, 1), (40, 1), (20, 1), (0, 0))  # width of texts, nearest answers of each
WORD_JOINER = "\u2060"
# what means something in the middle of a line: a viewer that shows plain text shows the backslashes too
_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]|~$"})
REASONS = {UNREADABLE: "invalid_response_format", GRADER_FAILED: "grader_failed"}  # Inspect's names for them
STANDING = ("percentile", "population's own")
COUNTED = ("questions", "ratings")
KEY = (
    "Novelty: 0 where the others answer the same, 1 where none answers anything like it. Nearest: novelty against the "
    "nearest answer alone."
)
STANDING_KEY = "Percentile: among the population's own documents; beside it is their mean novelty."
LISTED = 20  # ids of documents with one text; more would say no more


class _Unchanging(list[Any]):
    """A list that is its own copy: Inspect copies every score of a log for every key whenever it computes metrics."""

    def __deepcopy__(self, memo: object) -> "_Unchanging":
        return self


def explained(
    assessment: Assessment,
    notes: Sequence[str] = (),
    standings: Mapping[str, Standing] = MappingProxyType({}),
) -> str:
    """A Markdown table with a row a feature, readable as plain text too; then what is behind high and low.

    How many questions and ratings a feature rests on are columns where some are missing, else a line for all features.
    """
    shares = {name: (_used(results), _ratings(results)) for name, results in assessment.by_feature.items()}
    is_whole = all(part == whole > 0 for own in shares.values() for part, whole in own)
    heads = ["feature", "novelty", *(STANDING if standings else ()), "nearest", *(() if is_whole else COUNTED)]
    rows: list[list[str]] = []
    behind: list[str] = []
    for name in assessment.by_feature:
        feature, own = cell(name.replace("_", " ")), standings.get(name)
        among = [f"{own.percentile:.0f}", f"{own.mean:.3f}"] if own else ["not known"] * len(STANDING)
        novelty, nearest = shown_value(assessment.novelty[name]), shown_value(assessment.nearest[name])
        counted = [] if is_whole else ["{} of {}".format(*share) for share in shares[name]]
        rows.append([feature, novelty, *(among if standings else ()), nearest, *counted])
        if told := [result for result in assessment.shown.by_feature[name] if result.is_used]:
            most, least = (end(told, key=lambda result: result.novelty) for end in (max, min))
            behind += _behind(f"{feature}, most novel", most)
            # what makes a score low is as much worth knowing; of a single question both would say the same
            behind += _behind(f"{feature}, least novel", least) if least.novelty < most.novelty else []
    key = " ".join([KEY, *([STANDING_KEY] if standings else [])])
    if is_whole:
        questions, ratings = (sum(own[place][1] for own in shares.values()) for place in (0, 1))
        key += f" All {questions} questions and all {ratings} ratings are used."
    return "\n".join([*Table("", heads, rows).markdown(), "", key, "", *behind, "", *notes]).rstrip()


def _used(results: Sequence[QuestionResult]) -> tuple[int, int]:
    return sum(result.is_used for result in results), len(results)


def _ratings(results: Sequence[QuestionResult]) -> tuple[int, int]:
    return sum(result.usable for result in results), sum(len(result.due) for result in results)


def _behind(where: str, result: QuestionResult) -> list[str]:
    """A question with its novelty, and below it the answer, who in the population comes nearest, and the ratings."""
    near = (f"{cell(cut(text, WIDTHS[1]))} ({given} of {result.usable})" for text, _, given in neighbours(result))
    # a judge that reads probabilities rates in between
    counts = Counter(round(rating) for rating in result.counted)
    rated = (f"{counts[label]} {words} ({label})" for label, words in ALIKE.items() if counts[label])
    answer = cell(cut(result.answer.text if result.answer else "", WIDTHS[0]))
    return [
        f"- {where} ({shown_value(result.novelty)}): {cell(result.question.text)}",
        f"    - its answer: \u201c{answer}\u201d",
        f"    - nearest in the population: {'; '.join(near)}",
        f"    - its {result.usable} rating{'s' * (result.usable != 1)}: {', '.join(rated)}",
    ]


def left_out_notes(same: Sequence[str], made_of: Sequence[str]) -> list[str]:
    """What was left out of the population because it is the text itself or the text of which it was made."""
    own, origin = (cell(", ".join(documents[:LISTED])) for documents in (same, made_of))
    told = {
        f"The same text is in the population ({own}); it was left out of its own comparison.": same,
        f"The text of which it was made is in the population ({origin}); it was left out.": made_of,
    }
    return [note for note, documents in told.items() if documents]


def left_out_facts(same: Sequence[str], made_of: Sequence[str]) -> dict[str, list[str]]:
    own, origin = ([cut(document, WIDTHS[1]) for document in documents[:LISTED]] for documents in (same, made_of))
    # most documents are made of no other: their metadata stays as it was
    return {"left_out": own} | ({"made_of": origin} if made_of else {})


def notes_on(assessment: Assessment, caution: str = "") -> list[str]:
    count = assessment.documents
    notes = [f"Compared with {count} {'document' if count == 1 else 'documents'} of the population."]
    if assessment.is_sampled:
        errors = [error for error in assessment.standard_errors.values() if not math.isnan(error)]
        between = f" of {min(errors):.3f} to {max(errors):.3f} by feature" if errors else ""
        notes.append(
            f"Each answer was rated against a sample of theirs, with a standard error{between}; nearest is the nearest "
            "of those rated."
        )
    if 0 < count < FEWEST_RATINGS:
        notes.append(
            f"Fewer than {FEWEST_RATINGS} documents are too few for a population: with others the novelty may differ."
        )
    if few := assessment.few_answers:
        notes.append(
            f"Questions used that rest on fewer than {FEWEST_RATINGS} ratings: {few} of {len(assessment.used)}; "
            "one rating more could change them much."
        )
    if len(ratings := assessment.counted) > 1 and len(set(ratings)) == 1:
        notes.append(f"All {len(ratings)} ratings are {ratings[0]:g}.")
    notes += left_out_notes(assessment.left_out, assessment.made_of)
    if few := assessment.faults.get(TOO_FEW, 0):
        notes.append(f"Questions not used, because too few of the expected ratings could be used: {few}.")
    if missing := [f"{count} {reason}" for reason, count in assessment.faults.items() if reason != TOO_FEW]:
        notes.append(f"Missing: {', '.join(missing)}.")
    return [*notes, f"**{cell(caution)}**"] if caution else notes


def evidence(assessment: Assessment, **facts: Any) -> dict[str, Any]:
    """Score metadata of at most 8 KB: facts, what the numbers rest on, and the questions, cut to fit."""
    counts = {
        **facts,
        "documents": assessment.documents,
        **left_out_facts(assessment.left_out, assessment.made_of),
        **rests_on(assessment),
    }
    shown = assessment.shown.results
    tables = (_Unchanging(_row(result, width, most) for result in shown) for width, most in FITTING)
    return fitted(counts, "questions", tables, len(shown))


def _row(result: QuestionResult, width: int, most: int) -> dict[str, Any]:
    """One line of the question table; `ratings` counts the usable ones, so that novelty can be told from noise."""
    row: dict[str, Any] = {"id": result.question.id, "feature": result.question.feature}
    if width:
        row["question"] = cut(result.question.text, width)
        row["answer"] = cut(result.answer.text, width) if result.answer else ""
        row["nearest"] = [
            {"answer": cut(text, width), "rating": round(rating, 2), "given": given}
            for text, rating, given in neighbours(result, most)
        ]
    row |= {"novelty": rounded(result.novelty), "nearest_novelty": rounded(result.nearest), "ratings": result.usable}
    return row if result.off_labels is None else row | {"off_labels": round(result.off_labels, 4)}


def fitted(facts: dict[str, Any], name: str, tables: Iterable[object], rows: int | None = None) -> dict[str, Any]:
    """A score's facts with its table under this name, the first with which they take at most 8 KB, as logs keep them.

    Where none fits the last stands, or how many rows it had where that is given.
    """
    counted = () if rows is None else (f"{rows} {name}: too many to keep here",)
    for table in chain(tables, counted):
        metadata = facts | {name: table}
        if len(json.dumps(metadata, ensure_ascii=False).encode()) <= MOST_BYTES:
            break
    return metadata


def rests_on(assessment: Assessment) -> dict[str, Any]:
    """The part of it that says what the numbers rest on: coverage, ratings and what is missing."""
    ratings, used, spreads = assessment.counted, len(assessment.used), assessment.spread
    said = [(result.answer.text, result.question.text) for result in assessment.results if result.answer]
    masses = [result.off_labels for result in assessment.results if result.off_labels is not None]
    facts: dict[str, Any] = {
        "coverage": {name: "{}/{}".format(*_used(results)) for name, results in assessment.by_feature.items()},
        "pairs": {name: "{}/{}".format(*_ratings(results)) for name, results in assessment.by_feature.items()},
        "few_answers": f"{assessment.few_answers}/{used}",
        "repeated": f"{sum(repeats_question(*pair) for pair in said)}/{len(said)}",
        "nearest_novelty": {name: rounded(value) for name, value in assessment.nearest.items()},
    }
    if ratings:
        lowest, highest = round(min(ratings), 4), round(max(ratings), 4)
        facts["ratings"] = {"count": len(ratings), "lowest": lowest, "highest": highest}
    if masses:
        facts["off_labels"] = round(fmean(masses), 4)
    # six digits: how many documents a population needs changes with the third
    spread = {name: {"sd": round(own.sd, 6), "degrees": own.degrees} for name, own in spreads.items() if own.degrees}
    return {**facts, "spread": spread, "faults": assessment.faults}


def length_facts(assessment: Assessment) -> dict[str, Any]:
    """What a comparison of documents of like length needs: the population's median, and novelty against its middle."""
    if not assessment.lengths:
        return {}
    # novelty against documents of like length, so that a comparison can tell length from novelty
    words = median(assessment.lengths)
    matched = assessment.within(words).novelty
    return {"population": words, "matched": {key: None if math.isnan(v) else v for key, v in matched.items()}}


def sampling_facts(assessment: Assessment) -> dict[str, Any]:
    """Of a score by a sample of ratings, the standard error that comes of it, by feature."""
    if not assessment.is_sampled:
        return {}
    return {"sampling": {"standard_error": {key: rounded(e) for key, e in assessment.standard_errors.items()}}}


def cell(text: str) -> str:
    """Text from outside as it can stand in a Markdown table: shown as it is, never as markup.

    Inspect View turns `<` and `&` into entities before it reads Markdown, so that a backslash before them would show;
    a word joiner, which nobody sees, keeps other readers from taking what follows for a tag or an entity.
    """
    broken = re.sub(r"(?<=[<&])(?=[A-Za-z/!?#])", WORD_JOINER, " ".join(text.split()))
    return broken.translate(_MARKUP)


def cut(text: str, width: int) -> str:
    """The beginning of a text, with an ellipsis where it was longer."""
    return text if len(text) <= width else text[: width - 1] + "…"


def rounded(value: float) -> float | None:
    """As it stands in metadata; null where nothing could be measured."""
    return None if math.isnan(value) else round(value, 4)


def shown_value(value: float) -> str:
    return "not measured" if math.isnan(value) else f"{value:.3f}"


def jury_facts(assessment: Assessment) -> dict[str, Any]:
    """A score's metadata on its jury, with each grader's novelties; empty where one grader measured."""
    if not assessment.parts:
        return {}
    graders: dict[str, Any] = {}
    for name, part in assessment.parts.items():
        rests = rests_on(part)
        graders[name] = {
            "novelty": {key: rounded(value) for key, value in part.novelty.items()},
            "questions": {key: [rounded(r.novelty) for r in results] for key, results in part.by_feature.items()},
            **{key: rests[key] for key in ("coverage", "pairs", "ratings", "faults") if key in rests},
        }
    # over the digits that are kept, so that a report of the log comes to the same
    alphas = agreement([{name: evidence_of(facts) for name, facts in graders.items()}], assessment.features)
    shown = next(name for name, part in assessment.parts.items() if part is assessment.shown)
    return {"graders": graders, "agreement": {name: rounded(alpha) for name, alpha in alphas.items()}, "shown": shown}


def jury_notes(facts: Mapping[str, Any]) -> list[str]:
    """A Markdown table with each grader's novelty by feature and their agreement; nothing without a jury."""
    if not facts:
        return []
    graders = facts["graders"]
    rows = []
    for feature, alpha in facts["agreement"].items():
        values = [*(part["novelty"][feature] for part in graders.values()), alpha]
        shown = [shown_value(math.nan if value is None else value) for value in values]
        rows.append([cell(feature.replace("_", " ")), *shown])
    count = f"Novelty is the mean over the {len(graders)} members of the jury, where each of them measured it:"
    table = Table("", ["feature", *map(cell, graders), "alpha"], rows)
    return [count, "", *table.markdown(), "", f"The answers above are as {cell(facts['shown'])} read and rated them."]
