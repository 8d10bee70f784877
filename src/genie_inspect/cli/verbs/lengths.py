"""`genie lengths`: scores by long answers against those by concise ones."""

from dataclasses import asdict

import click
from rich.markup import escape

from genie_inspect.cli.comparison_tables.blocks import Head, blocks, figure, starred
from genie_inspect.cli.running import JSON
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.reports.answer_lengths import LengthShift, length_shifts
from genie_inspect.reports.plain_values import plain
from genie_inspect.statistics.paired.differences import TEST

KEY = (
    "tau: Kendall's tau-b of the documents' novelty under both lengths, 1 same order. shift: second less first, means"
    f" over prompts, with its 95% interval; p: {TEST} over prompts, corrected (holm); *: holds. d: of the shift over"
    " documents."
)
HEADS: tuple[Head[LengthShift], ...] = (
    Head("documents", lambda row: str(row.documents)),
    Head("tau", lambda row: figure(row.tau, ".2f")),
    Head("first", lambda row: figure(row.finding.difference.before, ".3f")),
    Head("second", lambda row: figure(row.finding.difference.after, ".3f")),
    Head("shift [95%]", lambda row: _shift(row)),
    Head("d", lambda row: figure(row.effect, "+.2f")),
    Head("p", lambda row: starred(row.finding.p_value, row.finding.differs)),
    Head("prompts", lambda row: str(row.finding.difference.pairs)),
)


@click.command()
@click.argument("logs", nargs=-1, required=True)
@JSON
def lengths(logs: tuple[str, ...], as_json: bool) -> None:
    """Does the order of documents hold when answers are longer, and how does the level shift? Feature by feature.

    LOGS hold the same documents scored by answers of different lengths, in a log each or in one. Every other command
    refuses such scores side by side.

    \b
    Example: inspect score LOG --scorer genie_inspect/genie -S answer_length=free --action append \\
                 --model-role grader=openai/gpt-4o
             genie lengths LOG
    """
    with shown_errors():
        rows = length_shifts(logs)
    if as_json:
        echo_json({"test": TEST, "shifts": [plain(asdict(row)) for row in rows]})
        return
    screen = console()
    for pair in dict.fromkeys((row.before, row.after) for row in rows):
        lines = [(escape(row.feature.replace("_", " ")), row) for row in rows if (row.before, row.after) == pair]
        for table in blocks(f"{pair[1]} answers against {pair[0]} ones", "feature", lines, HEADS, screen):
            screen.print(table)
    screen.print(KEY, highlight=False, markup=False)


def _shift(row: LengthShift) -> str:
    difference = row.finding.difference
    return f"{figure(difference.delta, '+.3f')} [{figure(difference.low, '+.3f')}, {figure(difference.high, '+.3f')}]"
