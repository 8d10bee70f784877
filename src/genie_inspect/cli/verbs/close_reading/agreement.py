"""`genie close-reading agreement`: how far readers mark what experts mark."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.agreement.marks.passages import passages_with
from genie_inspect.agreement.marks.readers import FIGURES, RULES, AspectAgreement, Kappa, agreement_by_aspect
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo, echo_json
from genie_inspect.statistics.bootstrap import BootstrapInterval

if TYPE_CHECKING:
    from rich.table import Table

RULE_NOTE = (
    "Published: a mark is right where it contains an expert's or lies in it, or is 90 alike; the whole passage as one "
    "mark scores 1. Strict: one to one, for the words that both share. An invented quote (it does not stand in the "
    "passage) is a wrong mark by both rules."
)


@click.command()
@click.argument("passages", type=click.Path(path_type=Path))
@click.option("--logs", multiple=True, help="Logs with close_reading scores of the same texts; repeatable.")
@click.option("--resamples", default=2_000, show_default=True, type=click.IntRange(1), help="Of the bootstrap.")
@click.option("--seed", default=0, show_default=True, help="Of the bootstrap.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of tables.")
def agreement(passages: Path, logs: tuple[str, ...], resamples: int, seed: int, as_json: bool) -> None:
    """How far readers mark what experts marked in PASSAGES (JSON Lines), and experts what the others did.

    A line a passage, with who marked what in it by aspect. Intervals: 95%, by bootstrap over passages.

    \b
    Example: genie close-reading agreement passages.jsonl --logs logs/
    """
    with shown_errors():
        found = agreement_by_aspect(passages_with(passages, logs), resamples, seed)
    if as_json:
        echo_json(found)
        return
    for aspect, held in found.items():
        console().print(_table(aspect, held))
        echo(_experts(held.kappa))
    echo(RULE_NOTE)


def _table(aspect: str, held: AspectAgreement) -> "Table":
    """One aspect: a column a reader, a row a rule and figure."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{aspect}: marks against the experts' [95% interval]", title_justify="left")
    table.add_column("")
    for name in held.readers:
        table.add_column(Text(name), justify="right", overflow="fold")
    readers = held.readers.values()
    for name in ("passages", "marks", "invented", "gold"):
        shown = {"invented": "invented quotes", "gold": "experts' marks"}.get(name, name)
        table.add_row(shown, *(str(getattr(reader, name)) for reader in readers))
    for rule in RULES:
        table.add_section()
        for figure in FIGURES:
            head = f"{rule}: {figure.upper() if figure == 'f1' else figure}"
            table.add_row(head, *(_shown(reader.rules[rule][figure]) for reader in readers))
    return table


def _experts(kappa: Kappa) -> str:
    if not kappa.batches:
        return "Experts among themselves: no passage has two."
    spread = f", spread {kappa.spread:.4f} over {kappa.batches} batches" if kappa.batches > 1 else ""
    return f"Experts among themselves: free-marginal kappa {kappa.mean:.4f}{spread} ({kappa.units:,} expressions)."


def _shown(interval: BootstrapInterval) -> str:
    if math.isnan(interval.value):
        return "undefined"
    ends = "" if math.isnan(interval.low) else f" \\[{interval.low:.2f}, {interval.high:.2f}]"
    return f"{interval.value:.2f}{ends}"
