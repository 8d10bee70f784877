"""`genie questions`: write, review."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from genie_inspect.cli.record_tables import record_table
from genie_inspect.cli.running import (
    AT_LEAST_1,
    DRY_RUN,
    FEATURES,
    GRADER,
    JSON,
    PER_FEATURE,
    TEMPLATES,
    cost,
    errors_in_one_line,
    run_asking,
    show,
)
from genie_inspect.cli.terminal import console, echo, echo_json

FILE = click.Path(path_type=Path)
PEOPLE_KEY = (
    "questions: that the person calls valid, or of the feature; accuracy: share of these on which we say the same"
    " (valid, all features: of all); f1: of what we say against the person; alpha: Krippendorff's, among all people."
)


@click.group()
def questions() -> None:
    """Write the questions of a population, and let people correct them.

    \b
    Example: genie questions write prompts.txt -o questions --grader openai/gpt-4o --dry-run
             genie questions review starter --to questions.csv
    """


@questions.command()
@click.argument("prompts", type=FILE)
@click.option("--output", "-o", required=True, type=FILE, help="The new folder: questions.jsonl and a record a step.")
@GRADER
@FEATURES
@PER_FEATURE
@click.option("--most", default=6, show_default=True, type=AT_LEAST_1, help="Most questions a feature.")
@TEMPLATES
@DRY_RUN
@JSON
def write(
    prompts: Path,
    output: Path,
    grader: str,
    features: str,
    per_feature: int,
    most: int,
    templates: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Write questions for PROMPTS: a text file of a prompt a line, or a population's folder.

    Questions are generated without knowledge of the features, filtered, and mapped to one feature each; a feature left
    empty gets a second pass. Every step's decisions stand in a file of their own, with the reason of each rejection.

    \b
    Example: genie questions write prompts.txt -o questions --grader openai/gpt-4o --per-feature 2
    """
    from genie_inspect.building.questions.files import read_prompts
    from genie_inspect.building.questions.run import Order, write_questions
    from genie_inspect.building.questions.writing import Wanted
    from genie_inspect.populations.features import read_features

    with errors_in_one_line():
        # --per-feature above the default --most raises it, and is no error
        wanted = Wanted(per_feature, max(per_feature, most))
        order = Order(read_prompts(prompts), read_features(features), wanted, templates)

        async def work(model: Any, target: Path, folder: Path, progress: Any) -> dict[str, Any]:
            return await write_questions(order, target, model, folder, progress)

        written, tally = run_asking(work, grader, output, dry_run=dry_run)
    show({**({} if dry_run else {"folder": str(output)}), **written, **cost(tally, dry_run=dry_run)}, as_json)


@questions.command()
@click.argument("source", type=FILE)
@click.option("--to", "table", type=FILE, help="Write this CSV table for people to correct.")
@click.option("--from", "corrected", multiple=True, type=FILE, help="Read the corrected table; --blind: one a person.")
@click.option("--output", "-o", type=FILE, help="With --from: the new file of questions.")
@click.option("--blind", is_flag=True, help="For people who judge and do not correct: shuffled, without our word.")
@click.option("--count", type=AT_LEAST_1, help="With --blind: how many questions.  [default: all]")
@click.option("--seed", default=0, show_default=True, help="With --blind: which ones, and their order.")
@FEATURES
@JSON
def review(
    source: Path,
    table: Path | None,
    corrected: tuple[Path, ...],
    output: Path | None,
    blind: bool,
    count: int | None,
    seed: int,
    features: str,
    as_json: bool,
) -> None:
    """Write the questions of SOURCE (a file or a population) to a table, or read the corrected table back.

    In the table: correct `feature` and `text`, set `keep` to no, add rows with an empty `id`.

    With --blind people say instead whether a question is valid and what it asks about, without seeing what we say;
    read back it is shown how far they agree, with each other and with us. Where SOURCE is the folder that `genie
    questions write` left, the rejected questions are among them. A page beside the table tells people what to do.

    \b
    Example: genie questions review questions/questions.jsonl --to review.csv
             genie questions review questions/questions.jsonl --from review.csv -o reviewed.jsonl
             genie questions review questions --blind --count 50 --to ann.csv
             genie questions review questions --blind --from ann.csv --from bob.csv
    """
    if blind:
        _blind(source, table, corrected, features, count=count, seed=seed, as_json=as_json)
        return
    from genie_inspect.building.questions.files import read_questions, read_review, write_review
    from genie_inspect.files.writing import check_absent
    from genie_inspect.populations.features import read_features
    from genie_inspect.populations.files import write_rows

    if (table is None) != bool(corrected) or bool(corrected) == (output is None) or len(corrected) > 1:
        raise click.UsageError("give either --to TABLE, or --from TABLE with --output FILE")
    with errors_in_one_line():
        rows = read_questions(source, read_features(features))
        # corrections by people are never written over
        check_absent(table or output or source)
        if table is not None:
            write_review(table, rows)
            show({"table": str(table), "questions": len(rows)}, as_json)
        elif output is not None:
            reviewed = read_review(corrected[0], rows, read_features(features))
            write_rows(output, reviewed.questions, new=True)
            show({"file": str(output), **asdict(reviewed), "questions": len(reviewed.questions)}, as_json)


def _blind(
    source: Path,
    table: Path | None,
    filled: tuple[Path, ...],
    features: str,
    *,
    count: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Write the table for people who judge, or show how far those who filled it in agree."""
    from genie_inspect.building.questions.people import judged_questions, question_figures, read_table, write_tables
    from genie_inspect.populations.features import read_features

    if (table is None) != bool(filled):
        raise click.UsageError("give either --to TABLE, or --from TABLE once for each person")
    with errors_in_one_line():
        asked_of = read_features(features)
        judged = judged_questions(source, asked_of)
        if table is not None:
            show({"table": str(table), "questions": write_tables(table, judged, asked_of, count, seed)}, as_json)
            return
        votes = [read_table(path, judged, asked_of) for path in filled]
        rows = [asdict(row) for row in question_figures(votes, judged, asked_of)]
    if as_json:
        echo_json({"people": len(votes), "figures": rows})
        return
    console().print(record_table(f"{len(votes)} people", rows))
    echo(PEOPLE_KEY)
