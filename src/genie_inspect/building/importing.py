"""A population from somebody's table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread

from genie_inspect.building.cleaning import Cleaner, card_line
from genie_inspect.building.questions.files import LINE, read_questions
from genie_inspect.building.work import Progress, no_progress
from genie_inspect.engines.sources.tables import open_table
from genie_inspect.errors import PopulationError
from genie_inspect.files.folders import check_unused, new_folder
from genie_inspect.files.json_lines import SHOWN
from genie_inspect.populations.card import write_card
from genie_inspect.populations.features import read_features
from genie_inspect.populations.files import write_rows
from genie_inspect.populations.intake.mapping import (
    QUESTION_ALONE,
    Mapped,
    Preset,
    first_reasons,
    read_mapping,
    read_preset,
)
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, QUESTIONS
from genie_inspect.populations.schema import AnswerRow, Document, Question
from genie_inspect.populations.writing import seal_population


@dataclass(frozen=True, slots=True)
class Import:
    """The source of an import, its mapping, and the manifest fields of the new population."""

    source: str
    output: Path
    name: str
    licence: str
    version: str = "1"
    description: str = ""
    features: str | None = None
    """The preset's unless given."""
    questions: Path | None = None
    """A file or population whose questions are taken beside the table's."""
    mapping: Sequence[str] = ()
    preset: str | None = None
    reader: str | None = None
    """Signature under which the answers are recorded; the preset's unless given."""
    split: str = "train"
    dry_run: bool = False


@dataclass(slots=True)
class Imported:
    """Counts of an import."""

    population: str = ""
    rows: int = 0
    documents: int = 0
    documents_answered: int = 0
    """Documents that answers are about, with or without their text."""
    questions: int = 0
    answers: int = 0
    unspecified: int = 0
    missing_answers: int = 0
    """Questions that documents have no answer to on record."""
    cleaned: dict[str, int] | None = None
    """What came of asking where documents fall apart, and how many words were cut; None where nobody was asked."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows, or parts of rows, that could not be used, by reason."""
    renamed_features: dict[str, int] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    """Which column each field was read from."""
    note: str = ""
    """What was read otherwise than its name says."""


def import_population(order: Import, progress: Progress = no_progress) -> Imported:
    """Import a table; the folder appears when it is complete.

    Raises:
        PopulationError: If the mapping does not fit or nothing could be used.
        TableError: If the table cannot be read.
        MissingExtraError: If Parquet or the hub needs a library that is not installed.
    """
    check_unused(order.output)
    mapped, note = _mapped(order, progress)
    # documents that only answers are about have models too
    models = Counter(key[2] for key in {*mapped.models, *mapped.texts})
    return _written(order, mapped, mapped.documents(), models, note, progress)


async def import_cleaned(order: Import, cleaner: Cleaner, progress: Progress = no_progress) -> Imported:
    """Import a table of documents, each cut where it falls apart.

    Raises:
        PopulationError: As `import_population`, and if the table has answers, which are about the whole texts.
        TableError: As `import_population`.
        MissingExtraError: As `import_population`.
        GraderFailedError: If the model cannot be reached; running again goes on from what it has said.
    """
    check_unused(order.output)
    mapped, note = await to_thread.run_sync(_mapped, order, progress)
    if mapped.answer_texts:
        raise PopulationError(
            f"{order.source} has answers, which are about its texts as they are: they cannot be cut. Import it without "
            "--clean-by-model, or without its answers"
        )
    cleaned = await cleaner.cleaned(mapped.documents(), mapped.dropped, progress)
    # without their broken ends two may be the same
    documents = list({document.id: document for document in cleaned}.values())
    mapped.dropped["duplicate"] += len(cleaned) - len(documents)
    models = Counter(document.model for document in documents)
    return _written(order, mapped, documents, models, note, progress, cleaner)


def _mapped(order: Import, progress: Progress) -> tuple[Mapped, str]:
    """The table's rows, and what was read otherwise than its name says."""
    preset = read_preset(order.preset) if order.preset else Preset(columns={})
    features = read_features(order.features or preset.features)
    table = open_table(order.source, order.split)
    mapping, note = read_mapping(order.mapping, preset.columns, table.columns, order.source)
    mapped = Mapped(mapping, features, preset.names, order.reader or preset.reader).take(table.rows)
    progress("rows", mapped.rows, mapped.rows)
    if count := mapped.dropped[QUESTION_ALONE]:
        raise PopulationError(
            f"{order.source}: {count} of {mapped.rows} rows are a question without a text. Questions go in a file of "
            f"their own, --questions FILE, one a line: {LINE}"
        )
    return mapped, note


def _written(
    order: Import,
    mapped: Mapped,
    documents: Sequence[Document],
    models: Counter[str],
    note: str,
    progress: Progress,
    cleaner: Cleaner | None = None,
) -> Imported:
    """Write the population of these documents, and of the table's questions and answers, unless it is a dry run."""
    questions = _questions(order, mapped, documents)
    answers = list(mapped.answers(questions))
    if not documents and not answers:
        reasons = first_reasons(mapped.dropped)
        raise PopulationError(f"nothing in {order.source} could be used: {reasons or 'it has no rows'}")
    imported = _imported(mapped, documents, questions, answers, note)
    imported.cleaned = dict(cleaner.counts) if cleaner else None
    if order.dry_run:
        return imported
    with new_folder(order.output) as folder:
        write_rows(folder / DOCUMENTS, documents)
        write_rows(folder / QUESTIONS, questions)
        write_rows(folder / ANSWERS, answers)
        population = seal_population(
            folder,
            name=order.name,
            version=order.version,
            licence=order.licence,
            features=mapped.features,
            source_models=sorted(model for model in models if model),
            description=order.description,
        )
        imported.population = population.name
        write_card(population, _provenance(order, imported, models) | card_line(cleaner), progress)
    return imported


def _questions(order: Import, mapped: Mapped, documents: Sequence[Document]) -> list[Question]:
    """The table's questions, and those of the order's file whose prompt there are documents for."""
    prompts = {document.prompt for document in documents}
    # a prompt may have lost all its documents; of answers alone there never were any
    questions = [question for question in mapped.questions() if question.prompt in prompts or not mapped.texts]
    if order.questions is None:
        return questions
    given = read_questions(order.questions, mapped.features)
    others = [question for question in given if question.prompt.strip() in prompts]
    if prompts and not others:
        raise PopulationError(
            f"none of the {len(given)} questions of {order.questions} is of a prompt of {order.source}: its first "
            f"prompt is {given[0].prompt[:SHOWN]!r}, that of the texts {documents[0].prompt[:SHOWN]!r}; they must be "
            "the same word for word"
        )
    mapped.dropped["question to a prompt without texts"] += len(given) - len(others)
    # by id: a question that stands in both is taken once
    return list({question.id: question for question in [*questions, *others]}.values())


def _imported(
    mapped: Mapped,
    documents: Sequence[Document],
    questions: Sequence[Question],
    answers: Sequence[AnswerRow],
    note: str,
) -> Imported:
    """The counts of an import."""
    questions_of = Counter(question.prompt for question in questions)
    # every document that answers are about could answer each question of its prompt
    expected = sum(questions_of[prompt] for _, prompt, _ in mapped.models)
    return Imported(
        rows=mapped.rows,
        documents=len(documents),
        documents_answered=len({answer.document for answer in answers}),
        questions=len(questions),
        answers=len(answers),
        unspecified=sum(answer.text is None for answer in answers),
        missing_answers=expected - len(answers),
        dropped=first_reasons(mapped.dropped),
        renamed_features=dict(mapped.renamed),
        columns=dict(mapped.mapping),
        note=note,
    )


def _provenance(order: Import, imported: Imported, models: Counter[str]) -> dict[str, object]:
    return {
        "Imported from": order.source + (f", preset {order.preset}" if order.preset else ""),
        "Documents by model": ", ".join(f"{count} {model or 'not said'}" for model, count in models.most_common()),
        "Not used": ", ".join(f"{count} {reason}" for reason, count in imported.dropped.items()) or "nothing",
        "Features in other words": ", ".join(imported.renamed_features) or "none",
        "Answers missing": imported.missing_answers,
    }
