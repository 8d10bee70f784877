"""`genie questions`: write, review."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from genie_inspect.building.prompts import APART, PAIRS_APART, WORDING, Order, write_pairs
from genie_inspect.cli import VerbGroup
from genie_inspect.cli.running import (
    AT_LEAST_1,
    DRY_RUN,
    FEATURES,
    GRADER,
    JSON,
    PER_FEATURE,
    TEMPLATES,
    cost,
    run_asking,
    show,
)
from genie_inspect.cli.tables import record_table
from genie_inspect.cli.terminal import console, echo, echo_json

if TYPE_CHECKING:
    from genie_inspect.building.features import FeatureMap


FILE = click.Path(path_type=Path)
PEOPLE_KEY = (
    "questions: that the person calls valid, or of the feature; accuracy: share of these on which we say the same"
    " (valid, all features: of all); f1: of what we say against the person; alpha: Krippendorff's, among all people."
)


@click.group(cls=VerbGroup)
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
    from genie_inspect.building.question_writing import Wanted
    from genie_inspect.building.questions import read_prompts, write_questions
    from genie_inspect.populations.population import read_features

    # --per-feature above the default --most raises it, and is no error
    wanted = Wanted(per_feature, max(per_feature, most))
    asked = read_prompts(prompts), read_features(features), wanted

    async def work(model: Any, target: Path, folder: Path, progress: Any) -> dict[str, Any]:
        return await write_questions(*asked, target, model, folder, progress, templates)

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
    from genie_inspect.building.questions import read_questions, read_review, write_review
    from genie_inspect.files.writing import check_absent
    from genie_inspect.populations.population import read_features
    from genie_inspect.populations.schema import write_rows

    if (table is None) != bool(corrected) or bool(corrected) == (output is None) or len(corrected) > 1:
        raise click.UsageError("give either --to TABLE, or --from TABLE with --output FILE")
    rows = read_questions(source, read_features(features))
    # corrections by people are never written over
    check_absent(table or output or source)
    if table is not None:
        write_review(table, rows)
        show({"table": str(table), "questions": len(rows)}, as_json)
    elif output is not None:
        kept, changes = read_review(corrected[0], rows, read_features(features))
        write_rows(output, kept, new=True)
        show({"file": str(output), "questions": len(kept), **changes}, as_json)


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
    from genie_inspect.building.questions import judged_questions, question_figures, read_table, write_tables
    from genie_inspect.populations.population import read_features

    if (table is None) != bool(filled):
        raise click.UsageError("give either --to TABLE, or --from TABLE once for each person")
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


@click.group(cls=VerbGroup)
def features() -> None:
    """Find the features along which texts of a kind can differ, and map them to a taxonomy.

    \b
    Example: genie features discover --task "write a research abstract" -o abstracts --grader openai/gpt-4o --dry-run
             genie features map abstracts --taxonomy starter --grader openai/gpt-4o
    """


@features.command()
@click.option("--task", required=True, help='What is written: "write a short story", "write a research abstract".')
@click.option(
    "--output",
    "-o",
    required=True,
    type=FILE,
    help="The new folder: features.json and what was said.",
)
@GRADER
@click.option("--samples", default=10, show_default=True, type=click.IntRange(min=1), help="How often is asked.")
@click.option(
    "--method", default="k-means", show_default=True, type=click.Choice(["k-means", "agglomerative", "hdbscan"])
)
@click.option(
    "--embedder", default="static", show_default=True, help="static, openai/<model> or sentence-transformers/<id>."
)
@TEMPLATES
@DRY_RUN
@JSON
def discover(output: Path, grader: str, dry_run: bool, as_json: bool, **facts: Any) -> None:
    """Ask for the features of a task several times, put like names together, and write a features file.

    \b
    Example: genie features discover --task "write a research abstract" -o abstracts --grader openai/gpt-4o
    """
    from genie_inspect.building.features import discover_features

    async def work(model: Any, target: Path, folder: Path, progress: Any) -> dict[str, Any]:
        return await discover_features(target, model, folder, progress, **facts)

    counts, tally = run_asking(work, grader, output, dry_run=dry_run)
    show({**({} if dry_run else {"folder": str(output)}), **counts, **cost(tally, dry_run=dry_run)}, as_json)


@features.command(name="map")
@click.argument("folder", type=FILE)
@click.option(
    "--taxonomy",
    required=True,
    metavar="FILE|POPULATION",
    help='A JSON file {"features": [...]}, a feature a line in .jsonl, a population\'s folder or a bundled population.',
)
@click.option("--output", "-o", type=FILE, help="The new file; mapping.json in FOLDER unless given.")
@GRADER
@TEMPLATES
@DRY_RUN
@JSON
def map_(
    folder: Path,
    taxonomy: str,
    output: Path | None,
    grader: str,
    templates: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Map the features that discover wrote to FOLDER to those of a taxonomy, each to one or to none.

    Says which of the discovered have no counterpart, and which of the taxonomy were not discovered. A killed run is
    started again by the same command. Read the mapping before you use it: it is a model's.

    \b
    Example: genie features map abstracts --taxonomy taxonomy.json --grader openai/gpt-4o
    """
    from genie_inspect.building.features import MAPPING, discovered_features, map_features, read_taxonomy
    from genie_inspect.files.folders import own_folder
    from genie_inspect.files.writing import check_absent

    discovered, named = discovered_features(folder), read_taxonomy(taxonomy)
    if output is None and own_folder(folder):
        raise click.UsageError(f"{folder} ships with the package, which is not written: name a file with --output")
    file = output or folder / MAPPING
    check_absent(file)

    async def work(model: Any, target: Path, record: Path, progress: Any) -> "FeatureMap":
        return await map_features(discovered, named, templates, target, model, record, progress)

    mapped, tally = run_asking(work, grader, file, dry_run=dry_run)
    spent = cost(tally, dry_run=dry_run)
    if dry_run:
        show({"discovered": len(discovered), "taxonomy": len(named), **spent}, as_json)
        return
    result = {"file": str(file), **mapped.as_dict()}
    if not as_json:
        # as rows, not on one line
        rows = [{"discovered": feature.name, taxonomy: mapped.shown(feature.name)} for feature in discovered]
        console().print(record_table("mapping", rows))
        counterparts = f"{len(result.pop('mapping'))} of {len(discovered)}"
        left = {name: ", ".join(value) if isinstance(value, list) else value for name, value in result.items()}
        result = {"with_counterpart": counterparts, **left}
    show({**result, **spent}, as_json)


VERBS = {
    "write": (
        "genie_inspect.cli.questions:write_concepts",
        "Have a model name pairs of concepts that seldom meet, in any domain.",
    ),
    "sample": (
        "genie_inspect.cli.questions:sample",
        "Draw prompts that people wrote from a dataset or a file.",
    ),
}


@click.group(cls=VerbGroup, verbs=VERBS)
def prompts() -> None:
    """Make a file of prompts, for the task population_prompts and for `genie questions write`.

    \b
    Example: genie prompts write --domain "life at sea" -o sea.jsonl --grader openai/gpt-4o --dry-run
             genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
             inspect eval genie_inspect/population_prompts -T prompts=sea.jsonl --model ... --log-dir logs
    """


DISTANCE = click.FloatRange(0, 2)


@click.command("write")
@click.option(
    "--domain", required=True, help='What the concepts are of: "everyday life", "life at sea", "cell biology".'
)
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path), help="The new file, whose name ends in .jsonl."
)
@GRADER
@click.option("--count", default=25, show_default=True, type=AT_LEAST_1, help="How many pairs.")
@click.option("--seed", default=0, show_default=True, help="What is asked for, and which of the sound pairs are taken.")
@click.option(
    "--apart", default=APART, show_default=True, type=DISTANCE, help="Least cosine distance of a pair's concepts."
)
@click.option(
    "--pairs-apart", default=PAIRS_APART, show_default=True, type=DISTANCE, help="Least cosine distance of two pairs."
)
@click.option("--wording", default=WORDING, show_default=True, help="Of the prompts, with {first} and {second}.")
@click.option(
    "--embedder",
    default="static",
    show_default=True,
    help="For the distances: static, openai/<model> or sentence-transformers/<id>.",
)
@TEMPLATES
@DRY_RUN
@JSON
def write_concepts(output: Path, grader: str, dry_run: bool, as_json: bool, **facts: Any) -> None:
    """Ask for pairs of concepts of a domain until there are enough that have nothing to do with each other.

    A pair is dropped when its concepts are near each other, when one of them stands in another pair, or when it is near
    another pair; what was dropped is counted by reason. Each line of the file is a prompt with its concepts and their
    distance. The distances that are asked for suit the static embedder and everyday concepts: in a narrow domain
    everything is nearer, so lower them, and read the pairs before you use them. A run that was killed goes on where it
    ended. With --dry-run the model's pairs count as sound: the fewest calls that it can take.

    \b
    Example: genie prompts write --domain "life at sea" -o sea.jsonl --grader openai/gpt-4o --apart 0.7
             inspect eval genie_inspect/population_prompts -T prompts=sea.jsonl --model ... --log-dir logs
             genie questions write sea.jsonl -o questions --grader openai/gpt-4o
    """
    from genie_inspect.files.writing import check_absent
    from genie_inspect.populations.prompts import check_prompts_file

    check_prompts_file(output)
    check_absent(output)
    order = Order(**facts)
    if dry_run:
        order = replace(order, apart=0.0, pairs_apart=0.0)

    async def work(model: Any, target: Path, folder: Path, progress: Any) -> dict[str, Any]:
        return await write_pairs(order, target, model, folder, progress)

    written, tally = run_asking(work, grader, output, dry_run=dry_run)
    # a rehearsal's pairs are made up
    told = {"prompts": written["prompts"]} if dry_run else {"file": str(output), **written}
    show({**told, **cost(tally, dry_run=dry_run)}, as_json)


@click.command()
@click.argument("source")
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path), help="The new file, whose name ends in .jsonl."
)
@click.option("--count", default=25, show_default=True, type=AT_LEAST_1, help="How many prompts.")
@click.option("--seed", default=0, show_default=True, help="Which ones.")
@click.option("--column", default="prompt", show_default=True, help="Where a row has its prompt.")
@click.option("--split", default="train", show_default=True, help="Which part of a hub dataset.")
@click.option("--story-where", is_flag=True, help='Begin each with "Write a story where:", as the study does.')
@JSON
def sample(
    source: str, output: Path, count: int, seed: int, column: str, split: str, story_where: bool, as_json: bool
) -> None:
    """Draw distinct prompts from SOURCE, without their tags ([WP], [EU]) and what tokenizers left in them.

    SOURCE is a hub dataset (extra `hub`) or a JSON Lines, CSV or Parquet file. A dataset's owner can change it: name a
    commit behind it, OWNER/NAME@COMMIT, so that others draw what you drew; without one it is loaded as it is today,
    with a warning, where this package knows no commit of it.

    \b
    Example: genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
             genie prompts sample euclaise/writingprompts --story-where --count 25 --seed 0 -o people.jsonl
    """
    from genie_inspect.engines.identity import with_commit
    from genie_inspect.files.writing import check_absent
    from genie_inspect.populations.prompts import check_prompts_file, write_prompts, writing_prompt_sample

    check_prompts_file(output)
    check_absent(output)
    drawn = writing_prompt_sample(source, count, seed, column=column, split=split, story_where=story_where)
    write_prompts(output, ({"prompt": prompt} for prompt in drawn))
    show({"file": str(output), "source": with_commit(source), "prompts": len(drawn)}, as_json)
