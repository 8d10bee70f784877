"""`genie questions`: write, review."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from genie_inspect.building.features import (
    MAPPING,
    discover_features,
    discovered_features,
    map_features,
    read_taxonomy,
)
from genie_inspect.building.prompts import APART, PAIRS_APART, WORDING, check_pairs, write_pairs
from genie_inspect.building.question_writing import write_questions
from genie_inspect.building.questions import (
    judged_questions,
    question_figures,
    read_prompts,
    read_questions,
    read_review,
    read_table,
    write_review,
    write_tables,
)
from genie_inspect.cli import VerbGroup
from genie_inspect.cli import options as cli
from genie_inspect.cli.running import asked, run_asking
from genie_inspect.cli.tables import record_table
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.engines.identity import with_commit
from genie_inspect.files.folders import own_folder
from genie_inspect.files.writing import check_absent
from genie_inspect.populations.population import read_features
from genie_inspect.populations.prompts import check_prompts_file, write_prompts, writing_prompt_sample
from genie_inspect.populations.schema import write_rows

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
@click.argument("prompts", type=cli.FILE)
@cli.output_option(help="The new folder: questions.jsonl and a record a step.")
@cli.GRADER
@cli.FEATURES
@cli.PER_FEATURE
@cli.option("--most", default=6, type=cli.AT_LEAST_1, help="Most questions a feature.")
@cli.asking
def write(
    prompts: Path,
    output: Path,
    grader: str,
    features: str,
    per_feature: int,
    most: int,
    templates: Path | None,
    dry_run: bool,
) -> dict[str, Any]:
    """Write questions for PROMPTS: a text file of a prompt a line, or a population's folder.

    Questions are generated without knowledge of the features, filtered, and mapped to one feature each; a feature left
    empty gets a second pass. Every step's decisions stand in a file of their own, with the reason of each rejection.

    \b
    Example: genie questions write prompts.txt -o questions --grader openai/gpt-4o --per-feature 2
    """
    # --per-feature above the default --most raises it, and is no error
    limits = per_feature, max(per_feature, most)
    written = partial(write_questions, read_prompts(prompts), read_features(features), *limits, templates=templates)
    return asked(written, grader, output, dry_run=dry_run)


@questions.command()
@click.argument("source", type=cli.FILE)
@cli.option("--to", "table", type=cli.FILE, help="Write this CSV table for people to correct.")
@cli.option(
    "--from", "corrected", multiple=True, type=cli.FILE, help="Read the corrected table; --blind: one a person."
)
@cli.output_option(help="With --from: the new file of questions.", required=False)
@cli.flag("--blind", help="For people who judge and do not correct: shuffled, without our word.")
@cli.option("--count", type=cli.AT_LEAST_1, help="With --blind: how many questions.  [default: all]")
@cli.seed_option(help="With --blind: which ones, and their order.")
@cli.FEATURES
@cli.answering()
def review(
    source: Path,
    table: Path | None,
    corrected: tuple[Path, ...],
    output: Path | None,
    features: str,
    blind: bool,
    **drawn: Any,
) -> cli.Answer | dict[str, Any]:
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
    if (table is None) != bool(corrected) or (not blind and (bool(corrected) == (output is None) or corrected[1:])):
        expected = "--from TABLE once for each person" if blind else "--from TABLE with --output FILE"
        raise click.UsageError(f"give either --to TABLE, or {expected}")
    taxonomy = read_features(features)
    if blind:
        judged = judged_questions(source, taxonomy)
        if table is not None:
            return {"table": str(table), "questions": write_tables(table, judged, taxonomy, **drawn)}
        votes = [read_table(path, judged, taxonomy) for path in corrected]
        figures = question_figures(votes, judged, taxonomy)
        table_of_people = record_table(f"{len(votes)} people", figures)
        return cli.Answer({"people": len(votes), "figures": figures}, [table_of_people, Unbroken(PEOPLE_KEY)])
    rows = read_questions(source, taxonomy)
    # corrections by people are never written over
    written = table or output or source
    check_absent(written)
    if not corrected:
        write_review(written, rows)
        return {"table": str(written), "questions": len(rows)}
    kept, changes = read_review(corrected[0], rows, taxonomy)
    write_rows(written, kept, new=True)
    return {"file": str(written), "questions": len(kept), **changes}


@click.group(cls=VerbGroup)
def features() -> None:
    """Find the features along which texts of a kind can differ, and map them to a taxonomy.

    \b
    Example: genie features discover --task "write a research abstract" -o abstracts --grader openai/gpt-4o --dry-run
             genie features map abstracts --taxonomy starter --grader openai/gpt-4o
    """


@features.command()
@cli.option("--task", required=True, help='What is written: "write a short story", "write a research abstract".')
@cli.output_option(help="The new folder: features.json and what was said.")
@cli.GRADER
@cli.option("--samples", default=10, type=click.IntRange(min=1), help="How often is asked.")
@cli.option("--method", default="k-means", type=click.Choice(["k-means", "agglomerative", "hdbscan"]))
@cli.embedder_option(help="static, openai/<model> or sentence-transformers/<id>.")
@cli.asking
def discover(output: Path, grader: str, dry_run: bool, **facts: Any) -> dict[str, Any]:
    """Ask for the features of a task several times, put like names together, and write a features file.

    \b
    Example: genie features discover --task "write a research abstract" -o abstracts --grader openai/gpt-4o
    """
    return asked(partial(discover_features, **facts), grader, output, dry_run=dry_run)


@features.command(name="map")
@click.argument("folder", type=cli.FILE)
@cli.option(
    "--taxonomy",
    required=True,
    metavar="FILE|POPULATION",
    help='A JSON file {"features": [...]}, a feature a line in .jsonl, a population\'s folder or a bundled population.',
)
@cli.output_option(help="The new file; mapping.json in FOLDER unless given.", required=False)
@cli.GRADER
@cli.asking
def map_(
    folder: Path, taxonomy: str, output: Path | None, grader: str, templates: Path | None, dry_run: bool
) -> cli.Answer | dict[str, Any]:
    """Map the features that discover wrote to FOLDER to those of a taxonomy, each to one or to none.

    Says which of the discovered have no counterpart, and which of the taxonomy were not discovered. A killed run is
    started again by the same command. Read the mapping before you use it: it is a model's.

    \b
    Example: genie features map abstracts --taxonomy taxonomy.json --grader openai/gpt-4o
    """
    discovered, named = discovered_features(folder), read_taxonomy(taxonomy)
    if output is None and own_folder(folder):
        raise click.UsageError(f"{folder} ships with the package, which is not written: name a file with --output")
    file = output or folder / MAPPING
    check_absent(file)
    result, spent = run_asking(partial(map_features, discovered, named, templates), grader, file, dry_run=dry_run)
    if dry_run:
        return {"discovered": len(discovered), "taxonomy": len(named), **spent}
    # as rows, not on one line
    shown = result["mapping"] | dict.fromkeys(result["no_counterpart"], "none")
    rows = [{"discovered": own.name, taxonomy: shown.get(own.name, "unreadable")} for own in discovered]
    facts = {name: ", ".join(value) if isinstance(value, list) else value for name, value in result.items()}
    counterparts = f"{len(facts.pop('mapping'))} of {len(discovered)}"
    lines = cli.fact_lines({"with_counterpart": counterparts, "file": str(file), **facts, **spent})
    return cli.Answer({"file": str(file), **result, **spent}, [record_table("mapping", rows), *lines])


VERBS = {
    "write": (".cli.questions:write_concepts", "Have a model name pairs of concepts that seldom meet, in any domain."),
    "sample": (".cli.questions:sample", "Draw prompts that people wrote from a dataset or a file."),
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
@cli.option("--domain", required=True, help='What the concepts are of: "everyday life", "life at sea", "cell biology".')
@cli.output_option(help="The new file, whose name ends in .jsonl.")
@cli.GRADER
@cli.option("--count", default=25, type=cli.AT_LEAST_1, help="How many pairs.")
@cli.seed_option(help="What is asked for, and which of the sound pairs are taken.")
@cli.option("--apart", default=APART, type=DISTANCE, help="Least cosine distance of a pair's concepts.")
@cli.option("--pairs-apart", default=PAIRS_APART, type=DISTANCE, help="Least cosine distance of two pairs.")
@cli.option("--wording", default=WORDING, help="Of the prompts, with {first} and {second}.")
@cli.embedder_option(help="For the distances: static, openai/<model> or sentence-transformers/<id>.")
@cli.asking
def write_concepts(output: Path, grader: str, dry_run: bool, **facts: Any) -> dict[str, Any]:
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
    check_prompts_file(output)
    check_absent(output)
    check_pairs(facts["domain"], facts["wording"])
    if dry_run:
        facts |= {"apart": 0.0, "pairs_apart": 0.0}
    return asked(partial(write_pairs, **facts), grader, output, dry_run=dry_run, called="file", rehearsed=("prompts",))


@click.command()
@click.argument("source")
@cli.output_option(help="The new file, whose name ends in .jsonl.")
@cli.option("--count", default=25, type=cli.AT_LEAST_1, help="How many prompts.")
@cli.seed_option(help="Which ones.")
@cli.option("--column", default="prompt", help="Where a row has its prompt.")
@cli.option("--split", default="train", help="Which part of a hub dataset.")
@cli.flag("--story-where", help='Begin each with "Write a story where:", as the study does.')
@cli.answering()
def sample(
    source: str, output: Path, count: int, seed: int, column: str, split: str, story_where: bool
) -> dict[str, Any]:
    """Draw distinct prompts from SOURCE, without their tags ([WP], [EU]) and what tokenizers left in them.

    SOURCE is a hub dataset (extra `hub`) or a JSON Lines, CSV or Parquet file. A dataset's owner can change it: name a
    commit behind it, OWNER/NAME@COMMIT, so that others draw what you drew; without one it is loaded as it is today,
    with a warning, where this package knows no commit of it.

    \b
    Example: genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
             genie prompts sample euclaise/writingprompts --story-where --count 25 --seed 0 -o people.jsonl
    """
    check_prompts_file(output)
    check_absent(output)
    drawn = writing_prompt_sample(source, count, seed, column=column, split=split, story_where=story_where)
    write_prompts(output, ({"prompt": prompt} for prompt in drawn))
    return {"file": str(output), "source": with_commit(source), "prompts": len(drawn)}
