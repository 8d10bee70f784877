"""People's word on edits: a blind table for each of them, and how far they agree with each other and with the check."""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from genie_inspect.building.interventions.checking import Checked, mean_of
from genie_inspect.errors import InterventionsError
from genie_inspect.files.csv_tables import csv_rows, csv_text, yes_or_no
from genie_inspect.files.writing import write_lines
from genie_inspect.interventions.collection import Interventions
from genie_inspect.interventions.schema import Edit
from genie_inspect.statistics.agreement import randolph_kappa

CRITERIA = ("valid", "effective", "invasive")
COLUMNS = ("id", "prompt", "original", "edited", "feature", "value", *CRITERIA, "note")
INSTRUCTIONS = """\
# How to fill in the table

Each row shows a text and what an editor made of it to give one feature another value. Read both and write yes or no:

- `valid`: the edited text has the value in the column `value`.
- `effective`: somebody who describes this feature in both texts would describe it otherwise.
- `invasive`: something changed that has nothing to do with this feature or follows from it.

Leave a cell empty where you cannot say, and write in `note` what should be known. Decide each row by itself, and do not
talk about rows with others who fill in the same table: how far you agree is what is measured.
"""
Votes = dict[str, dict[str, bool]]
"""By edit and criterion."""


def write_tables(path: Path, interventions: Interventions, seed: int = 0) -> int:
    """Write the table of all edits in a shuffled order, and beside it how to fill it in; returns how many rows.

    Raises:
        InterventionsError: If there is no edit.
        UnwritableError: If something stands there.
    """
    edits = [text for text in interventions.changed if isinstance(text, Edit)]
    if not edits:
        raise InterventionsError(f"{interventions.file} has no edit that people could check")
    # rows of one original or feature together would be judged together
    random.Random(seed).shuffle(edits)  # noqa: S311  # an order, no secret
    rows = []
    for edit in edits:
        original = interventions.original(edit)
        shown = (edit.id, original.prompt, original.text, edit.text, edit.feature, edit.alternative)
        rows.append((*shown, *("" for _ in CRITERIA), ""))
    write_lines(path, [csv_text(COLUMNS, rows)], new=True)
    write_lines(path.with_suffix(".md"), [INSTRUCTIONS], new=True)
    return len(rows)


def read_table(path: Path, interventions: Interventions) -> Votes:
    """One person's table.

    Raises:
        InterventionsError: If it cannot be read, a row is of no edit, or a cell is neither yes nor no; it names both.
    """
    edits = {text.id for text in interventions.changed if isinstance(text, Edit)}
    votes: Votes = {}
    for number, row in csv_rows(path, ("id", *CRITERIA), InterventionsError):
        where, name = f"{path}, row {number}", row["id"].strip()
        if name not in edits or name in votes:
            what = "stands twice" if name in votes else f"is no edit of {interventions.file}"
            raise InterventionsError(f"{where}: id {name!r} {what}")
        said = {criterion: yes_or_no(row, criterion, where, InterventionsError) for criterion in CRITERIA}
        votes[name] = {criterion: vote for criterion, vote in said.items() if vote is not None}
    return votes


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """What people say of the edits of one feature, for one criterion."""

    feature: str
    criterion: str
    edits: int
    """With at least one vote."""
    good: float
    """Share that most of the voters find good: valid, effective, not invasive; a tie is not good."""
    kappa: float
    """Free-marginal kappa, at most 1, of the edits with the most votes; NaN where these have fewer than two."""
    agreement: float
    """Share of edits on which the check says what most people say; NaN without a check."""


def people_figures(
    tables: Sequence[Votes], interventions: Interventions, checked: Sequence[Checked], most_invasive: float
) -> list[PeopleFigures]:
    """A row a feature and criterion, beside what the check says of the same edits.

    Args:
        tables: A person's votes each.
        interventions: Whose edits.
        checked: As the check saw them; may be empty.
        most_invasive: Share of other answers changed from which the check calls an edit invasive.
    """
    verdicts = {row.id: _verdicts(row, most_invasive) for row in checked}
    features: dict[str, list[str]] = {}
    for text in interventions.changed:
        if isinstance(text, Edit):
            features.setdefault(text.feature, []).append(text.id)
    return [
        _figures(feature, criterion, edits, tables, verdicts)
        for feature, edits in features.items()
        for criterion in CRITERIA
    ]


def _verdicts(row: Checked, most_invasive: float) -> dict[str, bool | None]:
    return {
        "valid": row.valid,
        "effective": None if row.effect is None else row.effect > 0,
        "invasive": None if row.invasiveness is None else row.invasiveness > most_invasive,
    }


def _figures(
    feature: str,
    criterion: str,
    edits: Sequence[str],
    tables: Sequence[Votes],
    verdicts: Mapping[str, Mapping[str, bool | None]],
) -> PeopleFigures:
    counts = []
    majority: dict[str, bool] = {}
    for edit in edits:
        votes = Counter(table[edit][criterion] for table in tables if criterion in table.get(edit, {}))
        if votes:
            counts.append((votes[True], votes[False]))
            # an even split is no majority, and so not good
            majority[edit] = votes[True] >= votes[False] if criterion == "invasive" else votes[True] > votes[False]
    good = [said != (criterion == "invasive") for said in majority.values()]
    same = [
        said == verdict
        for edit, said in majority.items()
        if (verdict := verdicts.get(edit, {}).get(criterion)) is not None
    ]
    return PeopleFigures(feature, criterion, len(counts), mean_of(good), _kappa(counts), mean_of(same))


def _kappa(counts: Sequence[tuple[int, int]]) -> float:
    # the kappa is of edits that all have the same number of votes
    complete = [row for row in counts if sum(row) == max(map(sum, counts))]
    return float(randolph_kappa(complete)) if complete and sum(complete[0]) > 1 else math.nan
