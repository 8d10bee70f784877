"""`genie questions`, `features`, `prompts` and `build-index`: the data that a measurement rests on."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from genie_inspect.building.features import MAPPING, discover_features, features_to_map, map_features
from genie_inspect.building.prompts import APART, PAIRS_APART, WORDING, check_pairs, write_pairs
from genie_inspect.building.questions import (
    judged_questions,
    question_figures,
    read_questions,
    read_review,
    read_table,
    write_questions,
    write_review,
    write_tables,
)
from genie_inspect.cli import VerbGroup
from genie_inspect.cli import options as cli
from genie_inspect.cli.running import asked
from genie_inspect.cli.tables import record_table
from genie_inspect.cli.terminal import Unbroken, console, echo
from genie_inspect.engines.identity import with_commit
from genie_inspect.files.writing import check_absent, own_folder
from genie_inspect.populations.population import BUNDLED, open_population, read_features
from genie_inspect.populations.prompts import check_prompts_file, prompt_lines, write_prompts, writing_prompt_sample
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
    """


@questions.command()
@click.argument("prompts", type=cli.FILE)
@cli.output_option(help="Folder to make, with questions.jsonl.")
@cli.GRADER
@cli.FEATURES
@cli.PER_FEATURE
@cli.option("--most", default=6, type=cli.AT_LEAST_1, help="Maximum questions per feature.")
@cli.asking
def write(
    prompts: Path, features: str, per_feature: int, most: int, templates: Path | None, **run: Any
) -> dict[str, Any]:
    """Have a model write questions for prompts.

    PROMPTS is a text file with one prompt per line, or a population. Questions are generated without the features,
    filtered, and mapped to one feature each. OUTPUT has the decisions of each step, with reasons.

    \b
    Example: genie questions write prompts.txt -o questions --grader openai/gpt-4o --per-feature 2
    """
    # --per-feature above the default --most raises it, and is no error
    limits = per_feature, max(per_feature, most)
    is_population = BUNDLED.get(str(prompts), prompts).is_dir()
    texts = open_population(prompts).prompts if is_population else prompt_lines(prompts)
    return asked(partial(write_questions, texts, read_features(features), *limits, templates=templates), **run)


@questions.command()
@click.argument("source", type=cli.FILE)
@cli.option("--to", "table", type=cli.FILE, help="CSV table to write for people to correct.")
@cli.option("--from", "filled", multiple=True, type=cli.FILE, help="Table to read back; with --blind one per person.")
@cli.output_option(help="File of questions to write, with --from.", required=False)
@cli.flag("--blind", help="Let people judge: shuffled, without the recorded feature.")
@cli.option("--count", type=cli.AT_LEAST_1, help="Questions, with --blind. Default: all.")
@cli.seed_option(help="Random seed, with --blind.")
@cli.FEATURES
@cli.answering()
def review(
    source: Path,
    table: Path | None,
    filled: tuple[Path, ...],
    output: Path | None,
    features: str,
    blind: bool,
    **drawn: Any,
) -> cli.Answer | dict[str, Any]:
    """Write questions to a table for people, or read the table back.

    SOURCE is a file of questions or a population. In the table people correct `feature` and `text`, set `keep` to no,
    or add rows with an empty `id`. With --blind they judge whether a question is valid and which feature it asks about,
    and reading back shows how well they agree; a folder by `genie questions write` adds the rejected questions.

    \b
    Example: genie questions review questions/questions.jsonl --to review.csv
             genie questions review questions --blind --from ann.csv --from bob.csv
    """
    if (table is None) != bool(filled) or (not blind and (bool(filled) == (output is None) or filled[1:])):
        expected = "--from TABLE once for each person" if blind else "--from TABLE with --output FILE"
        raise click.UsageError(f"give either --to TABLE or {expected}")
    taxonomy = read_features(features)
    if blind:
        judged = judged_questions(source, taxonomy)
        if table is not None:
            return {"table": str(table), "questions": write_tables(table, judged, taxonomy, **drawn)}
        votes = [read_table(path, judged, taxonomy) for path in filled]
        figures = question_figures(votes, judged, taxonomy)
        table_of_people = record_table(f"{len(votes)} people", figures)
        return cli.Answer({"people": len(votes), "figures": figures}, [table_of_people, Unbroken(PEOPLE_KEY)])
    rows = read_questions(source, taxonomy)
    # corrections by people are never written over
    written = table or output or source
    check_absent(written)
    if not filled:
        write_review(written, rows)
        return {"table": str(written), "questions": len(rows)}
    kept, changes = read_review(filled[0], rows, taxonomy)
    write_rows(written, kept, new=True)
    return {"file": str(written), "questions": len(kept), **changes}


@click.group(cls=VerbGroup)
def features() -> None:
    """Find the features along which documents can differ.

    \b
    Example: genie features discover --task "write an abstract" -o abstracts --grader openai/gpt-4o
    """


@features.command()
@cli.option("--task", required=True, help='What is written: "write a short story".')
@cli.output_option(help="Folder to make, with features.json.")
@cli.GRADER
@cli.option("--samples", default=10, type=click.IntRange(min=1), help="Number of times to ask.")
@cli.option(
    "--method",
    default="k-means",
    type=click.Choice(["k-means", "agglomerative", "hdbscan"]),
    metavar="NAME",
    help="Clustering of similar names: k-means, agglomerative or hdbscan.",
)
@cli.embedder_option(help="Embedder of the names.")
@cli.asking
def discover(output: Path, grader: str, dry_run: bool, **facts: Any) -> dict[str, Any]:
    """Ask a model for the features of a writing task.

    It is asked several times, and similar names are put together.

    \b
    Example: genie features discover --task "write an abstract" -o abstracts --grader openai/gpt-4o
    """
    return asked(partial(discover_features, **facts), grader, output, dry_run=dry_run)


@features.command(name="map")
@click.argument("folder", type=cli.FILE)
@cli.option(
    "--taxonomy",
    required=True,
    metavar="FILE",
    help='Features to map to: {"features": [...]}, one per line, or a population.',
)
@cli.output_option(help="File to write. Default: mapping.json in FOLDER.", required=False)
@cli.GRADER
@cli.asking
def map_(
    folder: Path, taxonomy: str, output: Path | None, grader: str, templates: Path | None, dry_run: bool
) -> cli.Answer | dict[str, Any]:
    """Map discovered features to those of a taxonomy, or to none.

    FOLDER is what `genie features discover` wrote. A killed run continues. Check the mapping: a model made it.

    \b
    Example: genie features map abstracts --taxonomy taxonomy.json --grader openai/gpt-4o
    """
    discovered, named = features_to_map(folder, taxonomy)
    if output is None and own_folder(folder):
        raise click.UsageError(f"{folder} is part of the package and cannot be written. Name a file with --output")
    file = output or folder / MAPPING
    check_absent(file)
    work = partial(map_features, discovered, named, templates)
    facts = asked(work, grader, file, dry_run=dry_run, called="file", rehearsed=())
    if dry_run:
        return {"discovered": len(discovered), "taxonomy": len(named), **facts}
    # as rows, not on one line
    shown = facts["mapping"] | dict.fromkeys(facts["no_counterpart"], "none")
    rows = [{"discovered": own.name, taxonomy: shown.get(own.name, "unreadable")} for own in discovered]
    said = {name: ", ".join(value) if isinstance(value, list) else value for name, value in facts.items()}
    counterparts = f"{len(said.pop('mapping'))} of {len(discovered)}"
    lines = cli.fact_lines({"with_counterpart": counterparts, **said})
    return cli.Answer(facts, [record_table("mapping", rows), *lines])


@click.group(cls=VerbGroup)
def prompts() -> None:
    """Make a file of prompts.

    It is for the task population_prompts and `genie questions write`.

    \b
    Example: genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
    """


DISTANCE = click.FloatRange(0, 2)


@prompts.command("write")
@cli.option("--domain", required=True, help='Domain of the concepts, such as "life at sea".')
@cli.output_option(help="A .jsonl file to write.")
@cli.GRADER
@cli.option("--count", default=25, type=cli.AT_LEAST_1, help="Number of pairs.")
@cli.seed_option(help="Random seed for requests and choice.")
@cli.option("--apart", default=APART, type=DISTANCE, help="Least cosine distance of concepts.")
@cli.option("--pairs-apart", default=PAIRS_APART, type=DISTANCE, help="Least cosine distance of pairs.")
@cli.option("--wording", default=WORDING, help="Wording of the prompts.")
@cli.embedder_option(help="Embedder of the concepts.")
@cli.asking
def write_concepts(output: Path, grader: str, dry_run: bool, **facts: Any) -> dict[str, Any]:
    """Ask a model for pairs of concepts that rarely meet.

    A pair is dropped if its concepts are close, or if another pair is close or has one of them. Lower the distances for
    a narrow domain. Read the pairs before you use them. A killed run continues. --dry-run counts the fewest calls.

    \b
    Example: genie prompts write --domain "life at sea" -o sea.jsonl --grader openai/gpt-4o --apart 0.7
    """
    check_prompts_file(output)
    check_absent(output)
    check_pairs(facts["domain"], facts["wording"])
    if dry_run:
        facts |= {"apart": 0.0, "pairs_apart": 0.0}
    return asked(partial(write_pairs, **facts), grader, output, dry_run=dry_run, called="file", rehearsed=("prompts",))


@prompts.command()
@click.argument("source")
@cli.output_option(help="A .jsonl file to write.")
@cli.option("--count", default=25, type=cli.AT_LEAST_1, help="Number of prompts.")
@cli.seed_option(help="Random seed for drawing the prompts.")
@cli.option("--column", default="prompt", help="Column of the prompts.")
@cli.option("--split", default="train", help="Split of a hub dataset.")
@cli.flag("--story-where", help='Begin each prompt with "Write a story where:".')
@cli.answering()
def sample(
    source: str, output: Path, count: int, seed: int, column: str, split: str, story_where: bool
) -> dict[str, Any]:
    """Draw prompts that people wrote from a dataset or a file.

    SOURCE is a JSON Lines, CSV or Parquet file, or a hub dataset (pip install 'genie-inspect[hub]'), best with a
    commit: OWNER/NAME@COMMIT. Tags such as [WP] are removed.

    \b
    Example: genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
    """
    check_prompts_file(output)
    check_absent(output)
    drawn = writing_prompt_sample(source, count, seed, column=column, split=split, story_where=story_where)
    write_prompts(output, ({"prompt": prompt} for prompt in drawn))
    return {"file": str(output), "source": with_commit(source), "prompts": len(drawn)}


@click.command()
@click.argument("texts", type=cli.FILE)
@click.argument("folder", type=cli.FILE)
def build_index(texts: Path, folder: Path) -> None:
    """Build an n-gram index of a folder of texts.

    corpus=infini-gram:FOLDER uses it. TEXTS is a folder of *.txt and *.md files (one document each) and *.jsonl files
    (one per line, field "text"). Needs the extra: pip install 'genie-inspect[infini-gram]'.

    \b
    Example: genie build-index corpus/ corpus-index/
    """
    # imported here, so that a missing extra is one line as any other error
    from genie_inspect.engines.infini_gram import build_index as built_index

    with console(stderr=True).status("reading") as status:
        manifest = built_index(texts, folder, status.update)
    echo(f"{folder}: {manifest.documents:,} documents, {manifest.symbols:,} symbols")
    echo(f"use it with: -S corpus=infini-gram:{folder}")
