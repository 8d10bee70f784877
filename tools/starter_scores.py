"""What the bundled storytellers score against the starter, and how novel its own documents are."""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from inspect_ai import eval as evaluate

from genie_inspect.cli.results import EPOCHS, STORYTELLERS
from genie_inspect.reports.summary import summarise


def score_table() -> list[Sequence[object]]:
    """A row a feature: each storyteller's novelty with its interval, its percentile, and the population's own mean."""
    with TemporaryDirectory() as folder:
        logs = evaluate(
            "genie_inspect/synthetic_prompts",
            model=list(STORYTELLERS),
            model_roles={"grader": "bundled/grader"},
            epochs=EPOCHS,
            log_dir=folder,
            display="none",
        )
        summary = summarise([os.fspath(Path(log.location)) for log in logs])
    rows: list[Sequence[object]] = [
        ("feature", *(f"{name}, percentile" for name in STORYTELLERS), "population, each among the others")
    ]
    for key in summary.keys:
        cells = [column.results.cells[key] for column in summary.columns]
        standings = [column.results.standing[key] for column in summary.columns]
        shown = [
            f"{cell.mean:.2f} [{cell.low:.2f}, {cell.high:.2f}], {standing.percentile:.0f}"
            for cell, standing in zip(cells, standings, strict=True)
        ]
        rows.append((key, *shown, f"{standings[0].mean:.2f}"))
    return rows
