"""`genie interventions check`: whether edits and paraphrases are good, by a grader and by people."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from genie_inspect.cli.record_tables import record_table
from genie_inspect.cli.running import JSON, TEMPLATES, cost, errors_in_one_line, run_asking, show
from genie_inspect.cli.terminal import console, echo, echo_json

FILE = click.Path(path_type=Path)
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
@click.option("--seed", default=0, show_default=True, help="With --to: the order of the rows.")
@TEMPLATES
@click.option("--dry-run", is_flag=True, help="Ask nobody, write nothing: count the calls and tokens.")
@JSON
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
    as_json: bool,
) -> None:
    """Are the edits of PAIRS good: is the new value there, did its feature's answers change, did the others stay?

    A grader reads originals and changed texts, and says where answers differ; texts that are no good are named in
    left_out.jsonl of the new folder, with the reason, and no study takes them. People say the same by a table of their
    own each; with two or more of them it is shown how far they agree, and with the check.

    \b
    Example: genie interventions check pairs -o checked --grader openai/gpt-4o
             genie interventions check checked --to ann.csv
             genie interventions check checked --from ann.csv --from bob.csv
    """
    from genie_inspect.interventions.collection import Interventions

    ways = (grader is not None, table is not None, bool(tables))
    if sum(ways) != 1 or (grader is None) != (output is None):
        raise click.UsageError("give one of --grader MODEL with --output FOLDER, --to TABLE, and --from TABLE")
    with errors_in_one_line():
        interventions = Interventions(pairs)
        if table is not None:
            from genie_inspect.building.interventions.people import write_tables

            show({"table": str(table), "edits": write_tables(table, interventions, seed)}, as_json)
        elif tables:
            _show_people(tables, interventions, most_invasive, as_json=as_json)
        elif grader is not None and output is not None:
            from genie_inspect.building.interventions.checking import Limits
            from genie_inspect.building.interventions.report import Order, check_interventions
            from genie_inspect.populations.catalogue import open_population

            limits = Limits(most_invasive, most_paraphrased)
            order = Order(interventions, open_population(population), judge, limits, templates)

            async def work(model: Any, target: Path, folder: Path, progress: Any) -> Any:
                return await check_interventions(order, target, model, folder, progress)

            figures, tally = run_asking(work, grader, output, dry_run=dry_run)
            facts = {**({} if dry_run else {"folder": str(output)}), **cost(tally, dry_run=dry_run)}
            if as_json:
                echo_json({**facts, "checks": [asdict(row) for row in figures]})
                return
            # a rehearsal's answers are made up
            if not dry_run:
                console().print(record_table("edits and paraphrases", [asdict(row) for row in figures], HEADS))
                echo(CHECK_KEY)
            show(facts, as_json)


def _show_people(tables: Sequence[Path], interventions: Any, most_invasive: float, *, as_json: bool) -> None:
    from genie_inspect.building.interventions.people import people_figures, read_table
    from genie_inspect.building.interventions.report import read_checks

    votes = [read_table(path, interventions) for path in tables]
    rows = [asdict(row) for row in people_figures(votes, interventions, read_checks(interventions), most_invasive)]
    if as_json:
        echo_json({"people": len(votes), "figures": rows})
        return
    console().print(record_table(f"{len(votes)} people", rows, {"agreement": "as the check"}))
    echo(PEOPLE_KEY)
