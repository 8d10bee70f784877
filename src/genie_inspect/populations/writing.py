"""Populations are written whole or not at all."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from genie_inspect.populations.files import file_digest, placed_lines, rows, write_lines, write_rows
from genie_inspect.populations.population import ANSWERS, DOCUMENTS, MANIFEST, QUESTIONS, Population, identity
from genie_inspect.populations.schema import Answer, Counts, Document, Feature, Manifest, Question


def write_population(
    folder: Path | str,
    *,
    name: str,
    version: str,
    licence: str,
    features: Iterable[Feature],
    documents: Iterable[Document],
    questions: Iterable[Question],
    answers: Iterable[Answer],
    source_models: Iterable[str] = (),
    description: str = "",
) -> Population:
    """Write a population folder and open it; what stood there is replaced when the new files hold together.

    The manifest is replaced last, so that a write that is killed between two files is noticed.

    Raises:
        PopulationError: If what was written does not hold together (see Population).
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
        made = Path(beside)
        write_rows(made / DOCUMENTS, documents)
        write_rows(made / QUESTIONS, questions)
        write_rows(made / ANSWERS, answers)
        seal_population(
            made,
            name=name,
            version=version,
            licence=licence,
            features=features,
            source_models=source_models,
            description=description,
        )
        for file in (DOCUMENTS, QUESTIONS, ANSWERS, MANIFEST):
            (made / file).replace(folder / file)
    return Population(folder)


def seal_population(
    folder: Path,
    *,
    name: str,
    version: str,
    licence: str,
    features: Iterable[Feature],
    source_models: Iterable[str] = (),
    description: str = "",
) -> Population:
    """Write the manifest of a folder whose three JSON Lines files are complete, and open it.

    Raises:
        PopulationError: If what was written does not hold together (see Population).
    """
    files = {file: file_digest(folder / file) for file in (DOCUMENTS, QUESTIONS, ANSWERS)}
    counts = Counts(
        prompts=len({row.prompt for row in rows(folder / QUESTIONS, Question)})
        or len({row.prompt for row in rows(folder / DOCUMENTS, Document)}),
        documents=sum(1 for _ in placed_lines(folder / DOCUMENTS)),
        questions=sum(1 for _ in placed_lines(folder / QUESTIONS)),
        answers=sum(1 for _ in placed_lines(folder / ANSWERS)),
    )
    features = tuple(features)
    manifest = Manifest(
        name=name,
        version=version,
        licence=licence,
        description=description,
        features=features,
        source_models=tuple(source_models),
        counts=counts,
        digest=identity(features, files, counts),
        files=files,
    )
    write_lines(folder / MANIFEST, [manifest.model_dump_json(indent=1) + "\n"])
    population = Population(folder)
    population.check_answers()
    return population
