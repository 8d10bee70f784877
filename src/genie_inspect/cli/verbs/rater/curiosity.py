"""`genie rater curiosity`: the curiosity model of a rater's taste, reproduced."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from genie_inspect.agreement.curiosity.comparison import CuriosityComparison, Plan, compared
from genie_inspect.agreement.curiosity.folder import NAMES, WITHIN, cell, counts, heading, write_curiosity
from genie_inspect.agreement.curiosity.votes_file import read_explained_votes
from genie_inspect.cli.running import JSON, progress_bar
from genie_inspect.cli.tables import shown_errors
from genie_inspect.cli.terminal import console, echo, echo_json
from genie_inspect.engines.curiosity.explanations import EXPLANATIONS, Explanation
from genie_inspect.engines.curiosity.language_model import LanguageCuriosity
from genie_inspect.engines.curiosity.sentence_vectors import VectorCuriosity
from genie_inspect.engines.curiosity.settings import LoraSettings, VectorSettings, settings_of
from genie_inspect.engines.curiosity.votes import CuriosityModel
from genie_inspect.files.folders import check_unused

if TYPE_CHECKING:
    from rich.table import Table

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("votes", type=FILE)
@click.option("--base", metavar="FOLDER", help="A causal model to train adapters on (extra personal); else vectors.")
@click.option(
    "--explanation",
    type=click.Choice(EXPLANATIONS),
    default="none",
    show_default=True,
    help="held-out: as the study does, which reads the answer; both readings are shown.",
)
@click.option("--folds", default=5, show_default=True, type=click.IntRange(2), help="Each predicted from the others.")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A setting, such as epochs=1.")
@click.option("--resamples", default=1_000, show_default=True, type=click.IntRange(1), help="Of the bootstrap.")
@click.option("--seed", default=0, show_default=True, help="Of folds and bootstrap.")
@click.option("--output", "-o", type=FILE, help="A new folder for the model that has learned from all votes.")
@JSON
def curiosity(
    votes: Path,
    base: str | None,
    explanation: Explanation,
    folds: int,
    pairs: tuple[str, ...],
    resamples: int,
    seed: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """How well a curiosity model tells the verdicts in VOTES, whole plots held out.

    VOTES is JSON Lines, a line a verdict: story, text, test, question, rater, verdict, explanation. Without --base it
    works on sentence vectors, anywhere.

    \b
    Example: genie rater curiosity votes.jsonl --explanation held-out
             genie rater curiosity votes.jsonl --base models/qwen -o mine
    """
    with shown_errors():
        if output:
            check_unused(output)
        models = _models(base, pairs)
        explained = read_explained_votes(votes)
        with progress_bar() as progress:
            comparison = compared(explained, models, explanation, Plan(folds, resamples, seed), progress)
        if output:
            write_curiosity(output, explained, models[explanation], comparison)
    if as_json:
        echo_json(comparison)
    else:
        echo(f"{comparison.reading}\n{counts(comparison)}")
        console().print(_table(comparison))


def _models(base: str | None, pairs: tuple[str, ...]) -> dict[Explanation, CuriosityModel]:
    if base is None:
        make = partial(VectorCuriosity, settings=settings_of(VectorSettings, pairs))
        return {explanation: make(explanation) for explanation in EXPLANATIONS}
    settings = settings_of(LoraSettings, pairs)
    return {explanation: LanguageCuriosity(base, explanation, settings) for explanation in EXPLANATIONS}


def _table(comparison: CuriosityComparison) -> "Table":
    from rich.table import Table
    from rich.text import Text

    note = f"95% intervals: plots drawn with replacement. {WITHIN} Read with {comparison.model}."
    title = f"Curiosity model, {comparison.folds} folds"
    table = Table(title=Text(title), title_justify="left", caption=Text(note), caption_justify="left")
    table.add_column("")
    for column in comparison.columns:
        table.add_column(Text(heading(column).replace(", ", ",\n")), justify="right")
    for key, name in NAMES.items():
        cells = (cell(column, key).replace(" [", "\n[") for column in comparison.columns)
        table.add_row(Text(name), *map(Text, cells))
    return table
