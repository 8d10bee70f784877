"""`genie questions`, `features`, `prompts` and `build-index`: the data that a measurement rests on."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from genie_inspect.building.features import (
    MAPPING,
    discover_features,
    features_to_map,
    map_features,
)
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
             genie questions review starter --to questions.csv
    """


@questions.command()
@click.argument("prompts", type=cli.FILE)
@cli.output_option(help="Folder to make, for questions.jsonl and the decisions of each step.")
@cli.GRADER
@cli.FEATURES
@cli.PER_FEATURE
@cli.option("--most", default=6, type=cli.AT_LEAST_1, help="Maximum questions per feature.")
@cli.asking
def write(
    prompts: Path, features: str, per_feature: int, most: int, templates: Path | None, **run: Any
) -> dict[str, Any]:
    """Have a model write questions for prompts.

    PROMPTS is a text file with one prompt per line, or a population's folder. Questions are generated without the
    features, filtered, and mapped to one feature each. A feature without questions gets a second pass. The decisions of
    each step, with reasons, are in OUTPUT.

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
@cli.flag("--blind", help="Let people judge instead of correct: shuffled, and without the recorded feature.")
@cli.option("--count", type=cli.AT_LEAST_1, help="Number of questions, with --blind. Default: all.")
@cli.seed_option(help="Random seed for the questions and their order, with --blind.")
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
    or add rows with an empty `id`.

    With --blind people judge whether a question is valid and which feature it asks about. Reading the tables back shows
    how well they agree with each other and with the record. If SOURCE is a folder by `genie questions write`, rejected
    questions are included. A page with instructions is beside the table.

    \b
    Example: genie questions review questions/questions.jsonl --to review.csv
             genie questions review questions/questions.jsonl --from review.csv -o reviewed.jsonl
             genie questions review questions --blind --count 50 --to ann.csv
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
    Example: genie features discover --task "write a research abstract" -o abstracts --grader openai/gpt-4o --dry-run
             genie features map abstracts --taxonomy starter --grader openai/gpt-4o
    """


@features.command()
@cli.option("--task", required=True, help='What is written, such as "write a short story".')
@cli.output_option(help="Folder to make, for features.json and the replies.")
@cli.GRADER
@cli.option("--samples", default=10, type=click.IntRange(min=1), help="Number of times to ask.")
@cli.option(
    "--method",
    default="k-means",
    type=click.Choice(["k-means", "agglomerative", "hdbscan"]),
    help="Clustering of similar names.",
)
@cli.embedder_option(help="Embedder of the names: static, openai/<model> or sentence-transformers/<id>.")
@cli.asking
def discover(output: Path, grader: str, dry_run: bool, **facts: Any) -> dict[str, Any]:
    """Ask a model for the features of a writing task.

    The model is asked several times. Similar names are put together and written to a features file.

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
    help='The target features: a JSON file {"features": [...]}, a .jsonl file with one per line, or a population.',
)
@cli.output_option(help="File to write. Default: mapping.json in FOLDER.", required=False)
@cli.GRADER
@cli.asking
def map_(
    folder: Path, taxonomy: str, output: Path | None, grader: str, templates: Path | None, dry_run: bool
) -> cli.Answer | dict[str, Any]:
    """Map discovered features to those of a taxonomy.

    FOLDER is what `genie features discover` wrote. Each feature is mapped to one of the taxonomy or to none. A killed
    run goes on with the same command. Check the mapping before you use it: a model made it.

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

    The task population_prompts and `genie questions write` take it.

    \b
    Example: genie prompts write --domain "life at sea" -o sea.jsonl --grader openai/gpt-4o --dry-run
             genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
             inspect eval genie_inspect/population_prompts -T prompts=sea.jsonl --model ... --log-dir logs
    """


DISTANCE = click.FloatRange(0, 2)


@prompts.command("write")
@cli.option("--domain", required=True, help='Domain of the concepts, such as "life at sea".')
@cli.output_option(help="File to write, with a name that ends in .jsonl.")
@cli.GRADER
@cli.option("--count", default=25, type=cli.AT_LEAST_1, help="Number of pairs.")
@cli.seed_option(help="Random seed for the requests and for choosing among the pairs.")
@cli.option("--apart", default=APART, type=DISTANCE, help="Minimum cosine distance of the two concepts, 0 to 2.")
@cli.option("--pairs-apart", default=PAIRS_APART, type=DISTANCE, help="Minimum cosine distance of two pairs.")
@cli.option("--wording", default=WORDING, help="Wording of the prompts, with {first} and {second}.")
@cli.embedder_option(help="Embedder of the concepts: static, openai/<model> or sentence-transformers/<id>.")
@cli.asking
def write_concepts(output: Path, grader: str, dry_run: bool, **facts: Any) -> dict[str, Any]:
    """Ask a model for pairs of concepts that rarely meet.

    A pair is dropped if its concepts are close to each other, if another pair has one of them, or if another pair is
    close. Dropped pairs are counted by reason. Each line of the file is a prompt with its concepts and their distance.
    The default distances suit everyday concepts and the static embedder; lower them for a narrow domain. Read the pairs
    before you use them. A killed run goes on with the same command. --dry-run counts the fewest possible calls.

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


@prompts.command()
@click.argument("source")
@cli.output_option(help="File to write, with a name that ends in .jsonl.")
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

    Tags such as [WP] and traces of tokenizers are removed. SOURCE is a JSON Lines, CSV or Parquet file, or a hub
    dataset (pip install 'genie-inspect[hub]'). Name a commit, OWNER/NAME@COMMIT, so that others draw the same prompts.
    Without one the dataset is loaded as it is today, with a warning unless this package knows a commit of it.

    \b
    Example: genie prompts sample SAA-Lab/LitBench-Train --story-where -o litbench.jsonl
             genie prompts sample euclaise/writingprompts --story-where --count 25 --seed 0 -o people.jsonl
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

    Use it with corpus=infini-gram:FOLDER for a corpus that is too large for memory. TEXTS is a folder of *.txt and *.md
    files (one document each) and *.jsonl files (one document per line, field "text"). Needs the extra: pip install
    'genie-inspect[infini-gram]'.

    \b
    Example: genie build-index corpus/ corpus-index/
    """
    # imported here, so that a missing extra is one line as any other error
    from genie_inspect.engines.infini_gram import build_index as built_index

    with console(stderr=True).status("reading") as status:
        manifest = built_index(texts, folder, status.update)
    echo(f"{folder}: {manifest.documents:,} documents, {manifest.symbols:,} symbols")
    echo(f"use it with: -S corpus=infini-gram:{folder}")
