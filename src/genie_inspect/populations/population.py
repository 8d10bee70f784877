"""A population, opened from its folder and checked."""

from array import array
from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from genie_inspect.errors import PopulationError
from genie_inspect.populations.files import (
    file_digest,
    line_at,
    numbered_rows,
    parsed,
    placed_lines,
    placed_rows,
    rows,
    rows_at,
    write_lines,
    write_rows,
)
from genie_inspect.populations.schema import FORMAT, Answer, Counts, Document, Feature, Manifest, Question
from genie_inspect.signature import digest

MANIFEST, DOCUMENTS, QUESTIONS, ANSWERS = "population.json", "documents.jsonl", "questions.jsonl", "answers.jsonl"

PROMPTS_HELD = 64  # prompts whose documents and answers stay in memory; the others are read again when asked for
Recorded = dict[str, dict[tuple[str, str], str | None]]


class Population:
    """What a new document is compared with: for each prompt its documents, questions and recorded answers.

    Documents and answers stay in their files and are read prompt by prompt, so that a population may be larger than
    memory.

    Args:
        folder: Where `population.json` and the three JSON Lines files stand.

    Raises:
        PopulationError: If a file is missing, changed, of another format, or a row refers to nothing.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        path = self.folder / MANIFEST
        if not path.is_file():
            raise PopulationError(f"{self.folder} holds no {MANIFEST}, expected the folder of a population")
        self.manifest = parsed(path.read_bytes(), Manifest, str(path))
        if self.manifest.format != FORMAT:
            raise PopulationError(f"{path}, field format: {self.manifest.format}, expected {FORMAT}")
        self._check_files()
        self._questions = self._questions_by_prompt()
        self._documents = self._documents_by_prompt()
        self._documents_of = lru_cache(maxsize=PROMPTS_HELD)(self._read_documents)
        self._answers_of = lru_cache(maxsize=PROMPTS_HELD)(self._read_answers)

    @property
    def name(self) -> str:
        """Name, version and digest, as they stand in signatures."""
        return f"{self.manifest.name}-{self.manifest.version}@{self.manifest.digest}"

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features along which novelty is measured, in the order of the columns."""
        return self.manifest.features

    @property
    def prompts(self) -> list[str]:
        """Every prompt that has questions, in the order of the file; without any question those of the documents."""
        return list(self._questions or self._documents)

    @property
    def answers_alone(self) -> bool:
        """Whether this population holds recorded answers and no documents."""
        return not self.manifest.counts.documents

    def documents(self, prompt: str) -> list[Document]:
        """The documents of a prompt in the order of the file; empty when the prompt is unknown."""
        return list(self._documents_of(prompt.strip()))

    def require_documents(self, measure: str) -> None:
        """Refuse a population of answers alone for a measure that compares whole documents.

        Raises:
            PopulationError: If there are none.
        """
        if self.answers_alone:
            raise PopulationError(
                f"{measure} compares with documents, and population {self.name} has only answers: take a population "
                "with documents, or the measure genie with a judge that reads, which needs none"
            )

    def require_questions(self, measure: str) -> None:
        """Refuse a population of documents alone for a measure that asks about them.

        Raises:
            PopulationError: If there are no questions.
        """
        if not self._questions:
            raise PopulationError(
                f"{measure} asks questions, and population {self.name} has only documents: write questions "
                f"(genie questions write {self.folder}) and import again with --questions, or take another measure"
            )

    def questions(self, prompt: str) -> list[Question]:
        """The questions of a prompt in the order of the file; empty when the prompt is unknown."""
        return self._questions.get(prompt.strip(), [])

    def answers(self, reader: str, prompt: str | None = None) -> dict[tuple[str, str], str | None]:
        """What a reader answered on record, by document and question id; None where the document does not say.

        Args:
            reader: The reader's signature.
            prompt: Only the answers of this prompt's documents; else those of all, which may be many.

        Raises:
            PopulationError: If an answer of any reader refers to nothing or stands twice.
        """
        if prompt is not None:
            return self._answers_of(prompt.strip()).get(reader, {})
        return {place: text for one in self.prompts for place, text in self._answers_of(one).get(reader, {}).items()}

    def check_answers(self) -> None:
        """Read all answers now, which are else read when they are first asked for.

        Raises:
            PopulationError: If one refers to nothing or stands twice.
        """
        for prompt in self.prompts:
            self._read_answers(prompt)

    @property
    def readers(self) -> list[str]:
        """The signatures of all readers whose answers are on record."""
        return self._answers[1]

    def _read_documents(self, prompt: str) -> tuple[Document, ...]:
        return tuple(rows_at(self.folder / DOCUMENTS, self._documents.get(prompt, ()), Document))

    def _read_answers(self, prompt: str) -> Recorded:
        """The answers of one prompt by reader, and within it by document and question id."""
        found: Recorded = {}
        path, begins = self.folder / ANSWERS, self._answers[0].get(prompt, ())
        for begin, row in zip(begins, rows_at(path, begins, Answer), strict=True):
            answers = found.setdefault(row.reader, {})
            if (row.document, row.question) in answers:
                where = f"{path}, line {line_at(path, begin)}"
                raise PopulationError(f"{where}, field question: {row.question!r} is answered twice by this reader")
            answers[row.document, row.question] = row.text
        return found

    @cached_property
    def _answers(self) -> tuple[dict[str, "array[int]"], list[str]]:
        """Where the answers of each prompt stand in the file, and who gave them."""
        documents = {} if self.answers_alone else self._prompt_of_document()
        questions = {question.id: prompt for prompt, group in self._questions.items() for question in group}
        begins: dict[str, array[int]] = {}
        readers: dict[str, None] = {}
        path = str(self.folder / ANSWERS)  # once: there may be millions of rows
        for line, begin, row in placed_rows(Path(path), Answer):
            where = f"{path}, line {line}"
            # a population of answers alone has no documents to point at
            if documents and row.document not in documents:
                raise PopulationError(f"{where}, field document: {row.document!r} is no document of the population")
            if row.question not in questions:
                raise PopulationError(f"{where}, field question: {row.question!r} is no question of the population")
            if documents and documents[row.document] != questions[row.question]:
                raise PopulationError(f"{where}, field question: {row.question!r} is of another prompt")
            begins.setdefault(questions[row.question], array("Q")).append(begin)
            readers.setdefault(row.reader)
        return begins, list(readers)

    def _prompt_of_document(self) -> dict[str, str]:
        """The prompt of every document id, one text object a prompt."""
        names = {prompt: prompt for prompt in self._documents}
        return {row.id: names[row.prompt.strip()] for _, row in numbered_rows(self.folder / DOCUMENTS, Document)}

    def _documents_by_prompt(self) -> dict[str, "array[int]"]:
        """Where the documents of each prompt stand in their file."""
        path = self.folder / DOCUMENTS
        begins: dict[str, array[int]] = {}
        seen: set[str] = set()
        for line, begin, row in placed_rows(path, Document):
            _once(row.id, seen, path, line)
            begins.setdefault(row.prompt.strip(), array("Q")).append(begin)
        return begins

    def _questions_by_prompt(self) -> dict[str, list[Question]]:
        path, known = self.folder / QUESTIONS, {feature.name for feature in self.features}
        groups: dict[str, list[Question]] = {}
        seen: set[str] = set()
        for line, row in numbered_rows(path, Question):
            _once(row.id, seen, path, line)
            if row.feature not in known:
                raise PopulationError(
                    f"{path}, line {line}, field feature: {row.feature!r}, expected one of {sorted(known)}"
                )
            # space around a prompt does not make it another one; datasets and shells add and drop it
            groups.setdefault(row.prompt.strip(), []).append(row)
        return groups

    def _check_files(self) -> None:
        for name in (DOCUMENTS, QUESTIONS, ANSWERS):
            if name not in self.manifest.files:
                raise PopulationError(f"{self.folder / MANIFEST}, field files: {name} is not listed")
            if file_digest(self.folder / name) != self.manifest.files[name]:
                raise PopulationError(
                    f"{self.folder / name} is not the file that {MANIFEST} describes: it was changed or cut; "
                    "restore it, or write the population again"
                )
        expected = _identity(self.features, self.manifest.files, self.manifest.counts)
        if self.manifest.digest != expected:
            raise PopulationError(
                f"{self.folder / MANIFEST}, field digest: {self.manifest.digest!r}, expected {expected!r}"
            )


def write_population(
    folder: Path | str,
    *,
    documents: Iterable[Document],
    questions: Iterable[Question],
    answers: Iterable[Answer],
    **facts: Any,
) -> Population:
    """Write a population folder and open it; what stood there is replaced when the new files hold together.

    The manifest is replaced last, so that a write that is killed between two files is noticed. The other facts are
    those of `seal_population`.

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
        seal_population(made, **facts)
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
        digest=_identity(features, files, counts),
        files=files,
    )
    write_lines(folder / MANIFEST, [manifest.model_dump_json(indent=1) + "\n"])
    population = Population(folder)
    population.check_answers()
    return population


def _identity(features: Iterable[Feature], files: dict[str, str], counts: Counts) -> str:
    """What is measured against: features, documents and questions; the answers where there are no documents."""
    described = [feature.model_dump_json() for feature in features]
    reference = DOCUMENTS if counts.documents else ANSWERS
    return digest(*described, files[reference], files[QUESTIONS])


def _once(identity: str, seen: set[str], path: Path, line: int) -> None:
    if identity in seen:
        raise PopulationError(f"{path}, line {line}, field id: {identity!r} stands twice")
    seen.add(identity)
