"""`genie compare`: strategies against a baseline."""

from pathlib import Path

import click

from genie_inspect.cli.comparison_tables.legend import legend, missing_lines
from genie_inspect.cli.comparison_tables.pooled import POOLED_KEY, pooled_tables
from genie_inspect.cli.comparison_tables.tables import difference_tables, power_tables, run_tables
from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.tables import SIGNATURE, in_parts, shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.files.writing import write_lines
from genie_inspect.reports.charts import check_picture, write_chart
from genie_inspect.reports.comparison.chart import comparison_chart
from genie_inspect.reports.comparison.compared import Comparison, Options
from genie_inspect.reports.comparison.comparison import compare as compared
from genie_inspect.reports.comparison.pooled import check_copies
from genie_inspect.reports.comparison.rows import as_csv, as_values
from genie_inspect.reports.comparison.selection import Selection
from genie_inspect.reports.comparison.verdict import advice, verdict, warnings


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--baseline", required=True, help="A run by label, strategy, task, model or file.")
@click.option("--scorer", "scorers", multiple=True, help="Whose scores; default: all that every log has.")
@click.option(
    "--keys",
    help="Keys to test, such as plot,perspective; name them before you look. Default: each measure's headline.",
)
@click.option(
    "--family",
    default="all",
    show_default=True,
    help="Tests that are corrected together: all runs' (does any differ?), or each run's (each is a question: run).",
)
@click.option(
    "--correction", default="holm", show_default=True, help="holm, bonferroni or none, within a measure and --family."
)
@click.option("--margin", type=float, help="Difference that does not matter; default: 0.2 sd of the baseline.")
@click.option("--equivalence", default="t", show_default=True, help="Two one-sided tests: t, or the study's bootstrap.")
@click.option("--length-matched", is_flag=True, help="Documents and population of like length alone (1.5x).")
@click.option("--min-coherence", type=float, help="Leave out documents that are rated lower, or not rated.")
@click.option(
    "--power-at",
    "effect",
    type=click.FloatRange(0, min_open=True),
    metavar="D",
    help="Also say how often an effect of this size (Cohen's d, 0.5 is medium) is found with the pairs that survived.",
)
@click.option("--pooled", is_flag=True, help="Also a row per strategy, over all models; prompts are the units.")
@SIGNATURE
@click.option("--picture", type=click.Path(path_type=Path), help="Write a heatmap to this .svg or .png.")
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Write the differences to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of tables.")
def compare(
    logs: tuple[str, ...],
    baseline: str,
    scorers: tuple[str, ...],
    keys: str | None,
    family: str,
    correction: str,
    margin: float | None,
    equivalence: str,
    length_matched: bool,
    min_coherence: float | None,
    effect: float | None,
    pooled: bool,
    signature: str,
    picture: Path | None,
    csv_file: Path | None,
    as_json: bool,
) -> None:
    """What a strategy changes, feature by feature: paired differences with interval, test, equivalence and power.

    LOGS are log files or folders; unfinished logs of a folder are left out. Runs are paired by prompt; negative
    sampling by instance where the baseline holds the documents that it started from. With a baseline for each of
    several models, each run meets its own model's.

    \b
    Example: genie compare logs/grid --baseline grid_baseline
             genie compare logs/grid --baseline grid_baseline --keys plot,perspective --family run
             genie compare logs/grid --baseline grid_baseline --pooled --power-at 0.5
    """
    options = Options(
        scorers,
        correction,
        margin,
        Selection(length_matched, min_coherence),
        equivalence,
        signature,
        tuple(filter(None, (keys or "").split(","))),
        family,
    )
    with shown_errors():
        # before the logs are read, which may take minutes
        if picture:
            check_picture(picture)
        comparison = compared(logs, baseline, options)
        if pooled:
            check_copies(comparison)
        with replacing(picture, csv_file):
            if picture:
                write_chart(lambda: comparison_chart(comparison), picture)
            if csv_file:
                write_lines(csv_file, [as_csv(comparison)])
    if as_json:
        echo_json(as_values(comparison, effect, with_pooled=pooled))
    else:
        _print(comparison, effect, pooled=pooled)


def _print(comparison: Comparison, effect: float | None, *, pooled: bool) -> None:
    """The verdict, the tables of each run, and what they rest on."""
    screen = console()
    for sentence in filter(None, (verdict(comparison), advice(comparison))):
        screen.print(sentence, highlight=False, markup=False)
        screen.print()
    for run in dict.fromkeys(row.run for row in comparison.rows):
        for table in difference_tables(comparison, run, screen):
            screen.print(table)
    screen.print(legend(comparison), highlight=False, markup=False)
    screen.print()
    for table in run_tables(comparison, screen):
        screen.print(table)
    if pooled:
        for table in pooled_tables(comparison, screen):
            screen.print(table)
        screen.print(POOLED_KEY, highlight=False, markup=False)
    for table in power_tables(comparison, effect, screen) if effect else ():
        screen.print(table)
    for line in missing_lines(comparison):
        screen.print(line, highlight=False, markup=False)
    for signature in comparison.signatures.values():
        screen.print(in_parts(signature, screen.width), highlight=False, markup=False, soft_wrap=True)
    for note in warnings(comparison):
        screen.print(f"Beware: {note}.", highlight=False, markup=False)
