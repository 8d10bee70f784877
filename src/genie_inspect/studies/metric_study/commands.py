"""`genie interventions`: write, check."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from genie_inspect.cli import VerbGroup, verbs_of
from genie_inspect.cli.options import (
    AT_LEAST_1,
    DRY_RUN,
    FEATURES,
    FILE,
    TEMPLATES,
    Answer,
    answering,
    fact_lines,
    output_option,
    seed_option,
)
from genie_inspect.cli.running import asked, run_asking
from genie_inspect.cli.tables import record_table
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.files.tables import Table
from genie_inspect.graders.grader import unmet
from genie_inspect.graders.instrument import RECORDED
from genie_inspect.populations.interventions import Interventions
from genie_inspect.populations.population import open_population, read_features
from genie_inspect.studies.metric_study.checking import (
    check_interventions,
    people_figures,
    read_table,
    write_tables,
)
from genie_inspect.studies.metric_study.writing import write_interventions

VERBS = {
    "check": "Are the edits of PAIRS good: is the new value there, did its...",
    "write": "Edit each document of SOURCES along every feature, one at a time,...",
}


@click.group(cls=VerbGroup, verbs=verbs_of(__name__, VERBS))
def interventions() -> None:
    """Write edits and paraphrases by which a measure is tested, and check whether they are good.

    \b
    Example: genie interventions write starter -o pairs --editor openai/gpt-4o --per-prompt 2 --dry-run
             genie interventions check pairs --grader openai/gpt-4o
    """


@click.command()
@click.argument("sources", nargs=-1, required=True)
@output_option(help="The new folder; nothing may stand there.")
@click.option("--editor", required=True, metavar="PROVIDER/MODEL", help="Who proposes, edits, paraphrases and screens.")
@FEATURES
@click.option(
    "--population", help="Whose questions are asked about documents of logs; a population as source asks its own."
)
@click.option("--per-prompt", type=AT_LEAST_1, help="Most documents of a prompt; default: all.")
@click.option("--paraphrases", default=3, show_default=True, type=click.IntRange(min=0), help="Of each document.")
@seed_option(help="Draws one of the proposed alternatives.")
@TEMPLATES
@DRY_RUN
@answering()
def write(
    output: Path, editor: str, features: str, population: str | None, dry_run: bool, **given: Any
) -> dict[str, Any]:
    """Edit each document of SOURCES along every feature, one at a time, and paraphrase it.

    SOURCES is a population (a bundled one or a folder) or Inspect logs. For each document and feature five other values
    are proposed from the document's own answers, without sight of the population; one is drawn, and the text is given
    that value in as few words as possible. What is no text of its kind, no edit or unfinished is left out and stands
    with the reason in rejected.jsonl. A killed run is started again by the same command: what was asked is on record in
    OUTPUT.work.

    \b
    Example: genie interventions write starter -o pairs --editor openai/gpt-4o --per-prompt 2 --dry-run
             genie interventions write logs/ -o pairs --editor openai/gpt-4o --population starter
    """
    # whatever a recording holds, it is no editor of other texts
    if editor.split("/", 1)[0] == RECORDED:
        raise unmet(f"--editor {editor} has its texts on record and can edit nothing: name a real model")
    asks = open_population(population) if population else None
    work = partial(write_interventions, features=read_features(features), population=asks, **given)
    return asked(work, editor, output, dry_run=dry_run, option="--editor")


SHARE = click.FloatRange(0, 1)
CHECK_KEY = (
    "valid: edits that have the new value; effect: the feature's answers that changed; invasive: the others that"
    " changed (of paraphrases all answers); words: share changed; size: words over the original's."
)
HEADS = {"left_out": "left\nout", "invasiveness": "invasive", "words_changed": "words", "length_ratio": "size"}
PEOPLE_KEY = (
    "good: what most people call valid, effective, not invasive; kappa: free-marginal, 1 alike, 0 as by chance; as the"
    " check: share on which the check says what most people say."
)


@click.command()
@click.argument("pairs")
@click.option("--output", "-o", type=FILE, help="With --grader: the new folder, the same texts with what was seen.")
@click.option(
    "--grader", metavar="PROVIDER/MODEL", help="Who reads both texts, compares the answers, looks for the value."
)
@click.option("--population", default="starter", show_default=True, help="Whose questions are asked.")
@click.option("--judge", default="list", show_default=True, help="How two answers are compared: list, pairwise, logit.")
@click.option(
    "--most-invasive", default=0.5, show_default=True, type=SHARE, help="Other answers that an edit may change."
)
@click.option(
    "--most-paraphrased", default=0.25, show_default=True, type=SHARE, help="Answers a paraphrase may change."
)
@click.option("--to", "table", type=FILE, help="Instead: write a blind, shuffled CSV of the edits for people.")
@click.option("--from", "tables", multiple=True, type=FILE, help="Instead: read a person's table; repeatable.")
@seed_option(help="With --to: the order of the rows.")
@TEMPLATES
@DRY_RUN
@answering()
def check(
    pairs: str,
    output: Path | None,
    grader: str | None,
    population: str,
    judge: str,
    most_invasive: float,
    most_paraphrased: float,
    table: Path | None,
    tables: tuple[Path, ...],
    seed: int,
    templates: Path | None,
    dry_run: bool,
) -> Answer | dict[str, Any]:
    """Are the edits of PAIRS good: is the new value there, did its feature's answers change, did the others stay?

    A grader reads originals and changed texts, and says where answers differ; texts that are no good are named in
    left_out.jsonl of the new folder, with the reason, and no study takes them. People say the same by a table of their
    own each; with two or more of them it is shown how far they agree, and with the check.

    \b
    Example: genie interventions check pairs -o checked --grader openai/gpt-4o
             genie interventions check checked --to ann.csv
             genie interventions check checked --from ann.csv --from bob.csv
    """
    ways = (grader is not None, table is not None, bool(tables))
    if sum(ways) != 1 or (grader is None) != (output is None):
        raise click.UsageError("give one of --grader MODEL with --output FOLDER, --to TABLE, and --from TABLE")
    interventions = Interventions(pairs)
    if table is not None:
        return {"table": str(table), "edits": write_tables(table, interventions, seed)}
    if grader is None or output is None:
        votes = [read_table(path, interventions) for path in tables]
        rows = people_figures(votes, interventions, most_invasive)
        shown = record_table(f"{len(votes)} people", rows, {"agreement": "as the check"})
        return Answer({"people": len(votes), "figures": rows}, [shown, Unbroken(PEOPLE_KEY)])
    work = partial(
        check_interventions,
        interventions=interventions,
        population=open_population(population),
        judge=judge,
        most_invasive=most_invasive,
        most_paraphrased=most_paraphrased,
        templates=templates,
    )
    checks, spent = run_asking(work, grader, output, dry_run=dry_run)
    facts = {**({} if dry_run else {"folder": str(output)}), **spent}

    def parts() -> Iterator[Table | str]:
        # a rehearsal's answers are made up
        if not dry_run:
            yield record_table("edits and paraphrases", checks, HEADS)
            yield Unbroken(CHECK_KEY)
        yield from fact_lines(facts)

    return Answer({**facts, "checks": checks}, parts())
