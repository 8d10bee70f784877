"""A comparison as plain rows, for scripts and spreadsheets."""

from dataclasses import asdict, fields
from typing import Any

from genie_inspect.files.csv_tables import csv_text
from genie_inspect.reports.comparison.compared import Comparison, Row
from genie_inspect.reports.comparison.pooled import pooled
from genie_inspect.reports.comparison.power import powers
from genie_inspect.reports.comparison.verdict import advice, verdict, warnings
from genie_inspect.reports.plain_values import plain
from genie_inspect.statistics.paired.differences import TEST, Difference

COLUMNS = (
    *("run", "baseline", "scorer", "key", "tested", "paired_by", "prompts", "instances"),
    *(field.name for field in fields(Difference)),
    *("p_value_corrected", "p_unlike_corrected", "power_at_margin", "pairs_needed", "differs", "is_equivalent"),
    *("questions_used_before", "questions_asked_before", "questions_used_after", "questions_asked_after"),
    *("ratings_usable_before", "ratings_due_before", "ratings_usable_after", "ratings_due_after"),
    *("questions_common", "questions_asked"),
)


def as_values(comparison: Comparison, effect: float | None = None, *, with_pooled: bool = False) -> dict[str, Any]:
    """The comparison as JSON values: what is not a number is null.

    Args:
        comparison: What was compared.
        effect: Cohen's d, whose power is to stand there too.
        with_pooled: Whether strategies pooled over models stand there too.
    """
    values = {
        "verdict": verdict(comparison),
        "advice": advice(comparison),
        "warnings": warnings(comparison),
        "baselines": comparison.baselines,
        "signatures": comparison.signatures,
        "correction": comparison.options.correction,
        "keys": comparison.options.keys,
        "family": comparison.options.family,
        "test": TEST,
        "equivalence": comparison.options.equivalence,
        **asdict(comparison.options.selection),
        "runs": comparison.runs,
        "differences": [_flat(row) for row in comparison.rows],
        **({} if effect is None else {"effect": effect, "power": list(powers(comparison, effect))}),
        **({"pooled": list(pooled(comparison))} if with_pooled else {}),
    }
    return {name: plain(value) for name, value in values.items()}


def as_csv(comparison: Comparison) -> str:
    """A line a difference, with a header; what is not a number is empty, and no text is a formula."""
    rows = [plain(_flat(row)) for row in comparison.rows]
    return csv_text(COLUMNS, [[row[column] for column in COLUMNS] for row in rows])


def _flat(row: Row) -> dict[str, Any]:
    finding, difference = row.finding, row.finding.difference
    (used_before, asked_before), (used_after, asked_after) = row.coverage
    (usable_before, due_before), (usable_after, due_after) = row.ratings
    return {
        "run": row.run,
        "baseline": row.baseline,
        "scorer": row.scorer,
        "key": row.key,
        "tested": row.tested,
        "paired_by": row.paired_by,
        "prompts": row.prompts,
        "instances": row.instances,
        # the test's own p-values, before correction; those after it follow under other names
        **asdict(difference),
        "p_value_corrected": finding.p_value,
        "p_unlike_corrected": finding.p_unlike,
        "power_at_margin": finding.power,
        "pairs_needed": finding.needed,
        "differs": finding.differs,
        "is_equivalent": finding.is_equivalent,
        "questions_used_before": used_before,
        "questions_asked_before": asked_before,
        "questions_used_after": used_after,
        "questions_asked_after": asked_after,
        "ratings_usable_before": usable_before,
        "ratings_due_before": due_before,
        "ratings_usable_after": usable_after,
        "ratings_due_after": due_after,
        # by prompt and question, where those above are counted by document
        "questions_common": row.questions[0],
        "questions_asked": row.questions[1],
    }
