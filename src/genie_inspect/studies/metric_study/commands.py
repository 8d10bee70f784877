"""`genie interventions`: write, check."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from genie_inspect.building.collecting import collect_documents
from genie_inspect.building.interviewing import Progress, appearing, no_progress
from genie_inspect.cli import VerbGroup
from genie_inspect.cli.options import AT_LEAST_1, DRY_RUN, FEATURES, JSON, TEMPLATES, show
from genie_inspect.cli.running import cost, run_asking
from genie_inspect.cli.tables import record_table
from genie_inspect.cli.terminal import console, echo, echo_json
from genie_inspect.errors import InterventionsError
from genie_inspect.graders.reader import READ, GraderReader
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.logs.files import log_files
from genie_inspect.populations.interventions import EDIT, INTERVENTIONS, PARAPHRASE
from genie_inspect.populations.population import BUNDLED, MANIFEST, Population, open_population
from genie_inspect.populations.schema import Document, Feature, write_rows
from genie_inspect.studies.metric_study.writing import Editor, InterventionWriter, Material

VERBS = {
    "check": (
        "genie_inspect.studies.metric_study.commands:check",
        "Are the edits of PAIRS good: is the new value there, did its...",
    ),
    "write": (
        "genie_inspect.studies.metric_study.commands:write",
        "Edit each document of SOURCES along every feature, one at a time,...",
    ),
}


@click.group(cls=VerbGroup, verbs=VERBS)
def interventions() -> None:
    """Write edits and paraphrases by which a measure is tested, and check whether they are good.

    \b
    Example: genie interventions write starter -o pairs --editor openai/gpt-4o --per-prompt 2 --dry-run
             genie interventions check pairs --grader openai/gpt-4o
    """


@click.command()
@click.argument("sources", nargs=-1, required=True)
@click.option(
    "--output", "-o", required=True, type=click.Path(path_type=Path), help="The new folder; nothing may stand there."
)
@click.option("--editor", required=True, metavar="PROVIDER/MODEL", help="Who proposes, edits, paraphrases and screens.")
@FEATURES
@click.option(
    "--population", help="Whose questions are asked about documents of logs; a population as source asks its own."
)
@click.option("--per-prompt", type=AT_LEAST_1, help="Most documents of a prompt; default: all.")
@click.option("--paraphrases", default=3, show_default=True, type=click.IntRange(min=0), help="Of each document.")
@click.option("--seed", default=0, show_default=True, help="Draws one of the proposed alternatives.")
@TEMPLATES
@DRY_RUN
@JSON
def write(
    sources: tuple[str, ...],
    output: Path,
    editor: str,
    features: str,
    population: str | None,
    per_prompt: int | None,
    paraphrases: int,
    seed: int,
    templates: Path | None,
    dry_run: bool,
    as_json: bool,
) -> None:
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
    from genie_inspect.graders.grader import unmet
    from genie_inspect.graders.instrument import RECORDED
    from genie_inspect.populations.population import open_population, read_features

    # whatever a recording holds, it is no editor of other texts
    if editor.split("/", 1)[0] == RECORDED:
        raise unmet(f"--editor {editor} has its texts on record and can edit nothing: name a real model")
    work = partial(
        write_interventions,
        sources=sources,
        features=read_features(features),
        population=open_population(population) if population else None,
        per_prompt=per_prompt,
        paraphrases=paraphrases,
        seed=seed,
        templates=templates,
    )
    written, tally = run_asking(work, editor, output, dry_run=dry_run, option="--editor")
    show({**({} if dry_run else {"folder": str(output)}), **written, **cost(tally, dry_run=dry_run)}, as_json)


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
    from genie_inspect.populations.interventions import Interventions

    ways = (grader is not None, table is not None, bool(tables))
    if sum(ways) != 1 or (grader is None) != (output is None):
        raise click.UsageError("give one of --grader MODEL with --output FOLDER, --to TABLE, and --from TABLE")
    interventions = Interventions(pairs)
    if table is not None:
        from genie_inspect.studies.metric_study.checking import write_tables

        show({"table": str(table), "edits": write_tables(table, interventions, seed)}, as_json)
    elif tables:
        _show_people(tables, interventions, most_invasive, as_json=as_json)
    elif grader is not None and output is not None:
        from genie_inspect.populations.population import open_population
        from genie_inspect.studies.metric_study.checking import Limits, check_interventions

        work = partial(
            check_interventions,
            interventions=interventions,
            population=open_population(population),
            judge=judge,
            limits=Limits(most_invasive, most_paraphrased),
            templates=templates,
        )
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
    from genie_inspect.studies.metric_study.checking import people_figures, read_checks, read_table

    votes = [read_table(path, interventions) for path in tables]
    rows = [asdict(row) for row in people_figures(votes, interventions, read_checks(interventions), most_invasive)]
    if as_json:
        echo_json({"people": len(votes), "figures": rows})
        return
    console().print(record_table(f"{len(votes)} people", rows, {"agreement": "as the check"}))
    echo(PEOPLE_KEY)


SOURCES_FILE = "documents.jsonl"


def materials(
    sources: Sequence[str],
    population: Population | None,
    limit: int | None,
    work: Path,
    progress: Progress = no_progress,
) -> list[Material]:
    own = _population(sources)
    asked = own or population
    if asked is None:
        raise InterventionsError("documents of logs need --population: whose questions are asked about them")
    asked.require_questions("an edit of a feature")
    documents = _documents(own, sources, asked.prompts, work, progress)
    chosen = [document for group in documents for document in sorted(group, key=lambda d: d.id)[:limit]]
    if not chosen:
        raise InterventionsError(
            f"{', '.join(sources)} has no document for a prompt that {asked.name} has questions for"
        )
    return [
        Material(document, tuple(asked.questions(document.prompt)), _on_record(own, document)) for document in chosen
    ]


def _population(sources: Sequence[str]) -> Population | None:
    """The population that the only source names; None where the sources are logs."""
    if len(sources) == 1 and (sources[0] in BUNDLED or (Path(sources[0]) / MANIFEST).is_file()):
        population = open_population(sources[0])
        population.require_documents("an edit of a feature")
        return population
    return None


def _documents(
    own: Population | None, sources: Sequence[str], prompts: Sequence[str], work: Path, progress: Progress
) -> list[list[Document]]:
    if own is not None:
        return [own.documents(prompt) for prompt in prompts]
    collected = collect_documents(log_files(sources), work / SOURCES_FILE, set(prompts), progress)
    return [collected.documents(prompt) for prompt in prompts]


def _on_record(own: Population | None, document: Document) -> dict[str, str | None]:
    """A population's recorded answers about its own document, by question; of several readers the first one's."""
    answers: dict[str, str | None] = {}
    for reader in own.readers if own else ():
        for (name, question), text in own.answers(reader, document.prompt).items() if own else ():
            if name == document.id:
                answers.setdefault(question, text)
    return answers


REJECTED = "rejected.jsonl"


async def write_interventions(
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress,
    *,
    sources: Sequence[str],
    features: Sequence[Feature],
    population: Population | None,
    per_prompt: int | None,
    paraphrases: int,
    seed: int,
    templates: Path | None,
) -> dict[str, Any]:
    editor = Editor(model, templates)
    documents = materials(sources, population, per_prompt, work, progress)
    reader = GraderReader(model, READ.template(templates))
    writer = InterventionWriter(editor, reader, features, str(model), paraphrases, seed)
    written = await writer.write(documents, lambda done: progress("editing documents", done, len(documents)))
    kinds = Counter(text.kind for text in written.texts)
    if not kinds[EDIT] + kinds[PARAPHRASE]:
        write_rows(work / REJECTED, written.rejected)
        reasons = ", ".join(f"{count} {reason}" for reason, count in written.reasons.items())
        raise InterventionsError(f"no edit and no paraphrase can be used: {reasons} (record: {work / REJECTED})")
    with appearing(output, work) as folder:
        write_rows(folder / INTERVENTIONS, written.texts)
        write_rows(folder / REJECTED, written.rejected)
    edits = Counter(text.feature for text in written.texts if text.kind == EDIT)
    return {
        "originals": len(documents),
        "edits": {feature.name: edits[feature.name] for feature in features},
        "paraphrases": kinds[PARAPHRASE],
        "rejected": written.reasons,
        "unreadable_requests": editor.unreadable,
    }
