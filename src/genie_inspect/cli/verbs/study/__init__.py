"""`genie study`: whether a measure deserves trust."""

from pathlib import Path

import click

from genie_inspect.cli.outputs import replacing
from genie_inspect.cli.tables import in_parts, shown_errors
from genie_inspect.cli.terminal import console, echo_json
from genie_inspect.cli.verbs.study.tables import (
    LEGEND,
    agreement_tables,
    answer_tables,
    effect_tables,
    matrix_tables,
    published_tables,
)
from genie_inspect.files.writing import write_lines
from genie_inspect.logs.scores import is_signed
from genie_inspect.reports.charts import check_picture, write_chart
from genie_inspect.reports.sensitivity.chart import study_chart
from genie_inspect.reports.sensitivity.rows import as_csv, as_values
from genie_inspect.reports.sensitivity.study import Study
from genie_inspect.reports.sensitivity.study import study as studied
from genie_inspect.reports.sensitivity.verdict import sentence, warnings


@click.command()
@click.argument("log")
@click.option("--scorer", "scorers", multiple=True, help="Whose scores; default: those of every scorer.")
@click.option("--published", is_flag=True, help="Beside the effect sizes those that the study behind Genie printed.")
@click.option("--picture", type=click.Path(path_type=Path), help="Write heatmap and bars to this .svg or .png.")
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Write the effects to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script instead of tables.")
def study(
    log: str, scorers: tuple[str, ...], published: bool, picture: Path | None, csv_file: Path | None, as_json: bool
) -> None:
    """What a measure is sensitive to, if it is robust, what it confounds: by edits of one feature and by paraphrases.

    LOG is a log of genie_inspect/metric_study, or a folder that holds one. Originals are compared with the texts that
    were made of them, prompt by prompt, for every scorer of the log. Length in words stands beside them for reference.

    \b
    Example: genie study logs/study --published --picture study.svg
    """
    with shown_errors():
        # before the log is read
        if picture:
            check_picture(picture)
        found = studied(log, scorers)
        with replacing(picture, csv_file):
            if picture:
                write_chart(lambda: study_chart(found), picture)
            if csv_file:
                write_lines(csv_file, [as_csv(found)])
    if as_json:
        echo_json(as_values(found, published=published))
    else:
        _print(found, published=published)


def _print(found: Study, *, published: bool) -> None:
    """A sentence a measure, the tables, and what they rest on."""
    screen = console()
    for measure in found.measures:
        screen.print(sentence(measure), highlight=False, markup=False)
    screen.print()
    for table in [
        *effect_tables(found, screen),
        *matrix_tables(found, screen),
        *(published_tables(found, screen) if published else []),
        *agreement_tables(found, screen),
        *answer_tables(found, screen),
    ]:
        screen.print(table)
    screen.print(LEGEND, highlight=False, markup=False)
    for signature in filter(is_signed, found.signatures.values()):
        screen.print(in_parts(signature, screen.width), highlight=False, markup=False, soft_wrap=True)
    for note in warnings(found):
        screen.print(f"Beware: {note}.", highlight=False, markup=False)
