"""`genie readings`: whether a reader reads."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
import click

from genie_inspect.agreement.raters import CalibrationError, Target, write_blind_table
from genie_inspect.agreement.readers import (
    ReaderFitness,
    fitness_verdict,
    rated_targets,
    read_again,
    reader_fitness,
    sampled_documents,
)
from genie_inspect.cli.calibrate import machine_judges, machine_ratings
from genie_inspect.cli.options import (
    ANSWER_LENGTH,
    FILE,
    POPULATION,
    TEMPLATES,
    Answer,
    answering,
    embedder_option,
    option,
    seed_option,
)
from genie_inspect.cli.running import named_model, progress_bar, told_by
from genie_inspect.cli.tables import Column, counted, figure, lines_table
from genie_inspect.engines.embedders import embedder as chosen_embedder
from genie_inspect.files.tables import Table
from genie_inspect.graders.instrument import MODES, Instrument
from genie_inspect.populations.population import open_population

KEY = (
    "both: questions that the record and the reader answer. left out: share of the record's answers that the reader "
    "does not have. added: share of the reader's answers to which the document says nothing, by the record. "
    "repeated: share that says nothing but the question's words. same, other: mean similarity to the record of the "
    "same document, and of the prompt's others. own nearer: how often the same document's is rated more alike than "
    "another's, with a 95% interval over documents; 50% by chance, highest at most. reach: how far of that way."
)
COLUMNS: tuple[Column[ReaderFitness], ...] = (
    ("asked", lambda row: str(row.asked)),
    ("both", lambda row: str(row.both)),
    ("left out", lambda row: figure(row.left_out, ".0%")),
    ("added", lambda row: figure(row.added, ".0%")),
    ("repeated", lambda row: figure(row.repeated, ".0%")),
    ("same", lambda row: figure(row.same)),
    ("other", lambda row: figure(row.other)),
    ("own nearer [95%]", lambda row: _interval(row)),
    ("highest", lambda row: figure(row.highest, ".0%")),
    ("reach", lambda row: figure(row.reach, ".0%")),
)


@click.command()
@POPULATION
@option("--reader", "readers", multiple=True, required=True, help="<provider/model> that reads; repeatable.")
@option("--documents", type=click.IntRange(2), help="How many are read, each prompt in turn.  [default: all]")
@seed_option("Which documents are drawn.")
@option("--record", help="Whose recorded answers are the record, by signature.  [default: who answered most]")
@option(
    "--judge",
    default="vectors",
    help=f"Who rates how alike answers are: {', '.join(MODES)}.",
)
@option("--grader", help="<provider/model> that judges, where the judge asks one.")
@embedder_option("Whose vectors judge, with --judge vectors.")
@option(
    "--export",
    type=FILE,
    help="Instead of comparing, write each answer with the recorded one of the same document to this CSV for people. "
    "Filled in, it is a file for genie calibrate --ratings.",
)
@ANSWER_LENGTH
@TEMPLATES
@answering()
def readings(
    population: str,
    readers: tuple[str, ...],
    documents: int | None,
    seed: int,
    record: str | None,
    judge: str,
    grader: str | None,
    embedder: str,
    export: Path | None,
    answer_length: str,
    templates: Path | None,
) -> Answer | dict[str, Any]:
    """Is this reader fit? Hold its answers against those on record, feature by feature.

    Documents of the population are read once more. What a reader leaves out cannot be compared, and a reader whose
    answers fit their own document no better than another one does not read. What a model has read before is not asked
    again.

    \b
    Example: genie readings --reader openai/gpt-4o-mini --documents 48
             genie readings --reader bundled/grader --export answers.csv --documents 10
    """
    opened = open_population(population)
    opened.require_documents("genie readings")
    if export and len(readers) > 1:
        raise CalibrationError(f"--export writes the answers of one reader, {len(readers)} are named")
    vectors = chosen_embedder(embedder)
    features = [feature.name for feature in opened.features]
    folder = str(templates) if templates else None
    judges = machine_judges([judge], [grader] if grader else [], folder, vectors, features, anew=False)
    instrument = Instrument("vectors", templates=folder, answer_length=answer_length)
    chosen = sampled_documents(opened, documents, seed)
    rows: list[ReaderFitness] = []
    sentences: list[str] = []
    parts: list[Table | str] = []
    signatures: dict[str, str] = {}
    for name in readers:
        asked, _ = instrument.reader_and_judge(named_model(name))
        signatures[name] = asked.signature
        with progress_bar() as progress:
            told = told_by(progress, f"reading: {name}", len(chosen))
            pairs = anyio.run(read_again, opened, asked, chosen, record, told)
        if export:
            own = [
                Target(pair.question, pair.answer, (pair.recorded,))
                for pair in pairs
                if pair.answer is not None and pair.recorded is not None
            ]
            return {"table": str(export), "pairs": write_blind_table(export, own, seed)}
        (ratings,) = machine_ratings(judges, rated_targets(pairs), fresh=False)
        rows_of_reader = reader_fitness(name, pairs, ratings, features)
        rows += rows_of_reader
        lines = [(row.feature.replace("_", " "), row) for row in rows_of_reader]
        parts.append(lines_table(f"{name} against the record", "feature", lines, COLUMNS))
        # the last row is of all features
        if faults := rows_of_reader[-1].faults:
            parts.append(counted(faults))
        sentences += fitness_verdict(rows_of_reader)
    facts = {"population": opened.name, "documents": len(chosen), "seed": seed, "readers": signatures}
    facts |= {"judge": judges[0].judge.signature, "verdict": sentences}
    return Answer({**facts, "fitness": [asdict(row) | {"reach": row.reach} for row in rows]}, [*parts, KEY, *sentences])


def _interval(row: ReaderFitness) -> str:
    chance = row.own_nearer
    return f"{figure(chance.value, '.0%')} [{figure(chance.low, '.0%')}, {figure(chance.high, '.0%')}]"
