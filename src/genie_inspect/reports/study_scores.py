"""Scores of a metric study from a file of anybody's: what was changed, by which key, with which value."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genie_inspect.errors import InterventionsError
from genie_inspect.files.json_lines import SHOWN, json_objects
from genie_inspect.files.numbers import MOST, cell_number
from genie_inspect.files.tables import csv_rows
from genie_inspect.logs.measures import GENIE
from genie_inspect.logs.scored_log import ScoredDocument
from genie_inspect.logs.scores import Scores
from genie_inspect.populations.interventions import EDIT, ORIGINAL, PARAPHRASE
from genie_inspect.reports.effects import StudyKey, StudyTexts, texts_of
from genie_inspect.samples import InterventionFacts

NEEDED = ("original", "edited", "key", "value")
OPTIONAL = ("id", "prompt", "scorer")
EXPECTED = f"{', '.join(NEEDED)} and, where known, {', '.join(OPTIONAL)}"
ENDINGS = (".csv", ".jsonl")
SCORER = "scores"  # whose the scores are where the file does not say it
_NAME = re.compile(r"[^\W\d_]\w*")


@dataclass(frozen=True, slots=True)
class ScoreRow:
    where: str
    original: str
    edited: str  # a feature, `paraphrase`, or nothing of an original
    scorer: str
    key: str
    value: float  # naN where the text was not scored
    id: str
    prompt: str


def read_study_scores(path: Path) -> tuple[StudyTexts, list[StudyKey], bool, tuple[str, ...]]:
    """The texts and keys of a file, whether it names prompts (else each original is one), and keys that are left out.

    Without originals those are left out that score texts as a whole: edits of other features move them too.
    """
    rows = list(_rows(path))
    if not rows:
        raise InterventionsError(f"{path} has no scores, expected rows of {EXPECTED}")
    keys = dict.fromkeys((row.scorer, row.key) for row in rows)
    edited = dict.fromkeys(row.edited for row in rows if row.edited not in ("", PARAPHRASE))
    _check_texts(rows)
    texts = texts_of(_documents(rows), stand_ins=True)
    if not any(texts.changed.values()):
        raise InterventionsError(f"{path} has no edit or paraphrase of an original that it has")
    studied = [StudyKey(scorer, key, key if key in edited or scorer == GENIE else "", True) for scorer, key in keys]
    kept = [key for key in studied if key.feature or texts.originals]
    if not texts.originals and (len(edited) < 2 or not kept):
        raise InterventionsError(
            f"{path} has no originals (rows whose edited is empty); edits of two features or more could stand for "
            f"them, with scores by feature: it has edits of {', '.join(edited) or 'none'}, keys "
            f"{', '.join(key for _, key in keys)}"
        )
    return texts, kept, bool(rows[0].prompt), tuple(key.name for key in studied if key not in kept)


def _rows(path: Path) -> Iterator[ScoreRow]:
    lines: Iterator[tuple[int, Mapping[str, Any]]]
    is_table = path.suffix == ".csv"
    lines = csv_rows(path, NEEDED, InterventionsError) if is_table else json_objects(path, InterventionsError)
    for number, line in lines:
        where = f"{path}, {'row' if is_table else 'line'} {number}"
        if unknown := [name for name in line if name not in NEEDED + OPTIONAL]:
            raise InterventionsError(f"{where} has a column {unknown[0]!r}, expected {EXPECTED}")
        if missing := [name for name in NEEDED if name not in line]:
            raise InterventionsError(f"{where} has no {missing[0]}, expected {EXPECTED}")
        texts = dict.fromkeys((*NEEDED[:3], *OPTIONAL), "")
        for name in texts:
            text = line.get(name)
            if isinstance(text, bool) or not isinstance(text, str | int | None):
                raise InterventionsError(f"{where}: {name} is {str(text)[:SHOWN]!r}, expected text")
            texts[name] = "" if text is None else str(text).strip()
        if empty := [name for name in ("original", "key") if not texts[name]]:
            raise InterventionsError(f"{where}: {empty[0]} is empty, expected a name")
        # as features are written: `Social Atmosphere` and `social_atmosphere` are one
        edited, key = ("_".join(texts[name].casefold().split()) for name in ("edited", "key"))
        if edited == ORIGINAL or (edited and not _NAME.fullmatch(edited)):
            raise InterventionsError(
                f"{where}: edited is {texts['edited'][:SHOWN]!r}, expected the name of a feature, {PARAPHRASE}, or "
                "nothing of an original"
            )
        value = line["value"]
        is_missing = value is None or (isinstance(value, str) and not value.strip())
        score = math.nan if is_missing or isinstance(value, bool) else cell_number(value)
        if math.isnan(score) and not is_missing:
            shown = repr(str(value)[:SHOWN])
            raise InterventionsError(f"{where}: value is {shown}, expected a number of at most {MOST:g}, or nothing")
        scorer = texts["scorer"] or SCORER
        yield ScoreRow(where, texts["original"], edited, scorer, key, score, texts["id"], texts["prompt"])


def _check_texts(rows: list[ScoreRow]) -> None:
    originals: dict[str, ScoreRow] = {}
    texts: dict[str, ScoreRow] = {}
    values: set[tuple[str, ...]] = set()
    for row in rows:
        if bool(row.prompt) != bool(rows[0].prompt):
            raise InterventionsError(
                f"{row.where}: prompt is {row.prompt[:SHOWN]!r}, expected one in every row or in none"
            )
        first = originals.setdefault(row.original, row)
        if row.prompt != first.prompt:
            raise InterventionsError(
                f"{row.where}: original {row.original!r} has the prompt {row.prompt[:SHOWN]!r}, expected "
                f"{first.prompt[:SHOWN]!r} as in {first.where}"
            )
        first = texts.setdefault(row.id, row) if row.id else row
        if (first.original, first.edited) != (row.original, row.edited):
            raise InterventionsError(
                f"{row.where}: text {row.id!r} is {_made(row)}, expected {_made(first)} as in {first.where}"
            )
        # without ids several values of an edit are of several texts
        place = (row.original, row.edited, row.id, row.scorer, row.key)
        if place in values and (row.id or not row.edited):
            raise InterventionsError(f"{row.where}: {_made(row)} has a second value of {row.key}, expected one")
        values.add(place)


def _documents(rows: list[ScoreRow]) -> Iterator[ScoredDocument]:
    """The texts with their values, in the order of the file; without ids a key's second value is the next text's."""
    texts: dict[tuple[ScoreRow, str], dict[str, dict[str, float]]] = {}
    counts: Counter[tuple[str, ...]] = Counter()
    first: dict[tuple[str, str], ScoreRow] = {}
    for row in rows:
        counts[row.original, row.edited, row.scorer, row.key] += not row.id
        name = row.id or str(counts[row.original, row.edited, row.scorer, row.key])
        text = first.setdefault((row.original, row.edited), row), name
        texts.setdefault(text, {}).setdefault(row.scorer, {})[row.key] = row.value
    for (row, name), scores in texts.items():
        kind = EDIT if row.edited not in ("", PARAPHRASE) else row.edited or ORIGINAL
        yield ScoredDocument(
            sample=name,
            epoch=1,
            prompt=row.prompt or row.original,
            text="",
            words=math.nan,
            scores={scorer: Scores(values) for scorer, values in scores.items()},
            intervention=InterventionFacts(kind, row.original, row.edited if kind == EDIT else ""),
        )


def _made(row: ScoreRow) -> str:
    what = "original" if not row.edited else PARAPHRASE if row.edited == PARAPHRASE else f"an edit of {row.edited} of"
    return f"{what} {row.original!r}"
