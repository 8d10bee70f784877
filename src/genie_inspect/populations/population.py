"""A population, opened from its folder and checked."""

import json
from array import array
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import json_row
from genie_inspect.files.writing import DATA, LARGEST, check_file, write_lines
from genie_inspect.populations.schema import (
    FORMAT,
    AnswerRow,
    Counts,
    Document,
    Feature,
    FeatureFile,
    Manifest,
    Question,
    UnchangedFile,
    file_state,
    parsed,
    placed_rows,
    rows,
    rows_at,
)
from genie_inspect.signature import digest

MANIFEST, DOCUMENTS, QUESTIONS, ANSWERS = "population.json", "documents.jsonl", "questions.jsonl", "answers.jsonl"

PROMPTS_HELD = 64  # prompts whose documents and answers stay in memory; the others are read again when asked for
Recorded = dict[str, dict[tuple[str, str], str | None]]
IdentifiedT = TypeVar("IdentifiedT", Document, Question)


class Population:
    """What a new document is compared with: for each prompt its documents, questions and recorded answers.

    Documents and answers stay in their files and are read prompt by prompt, so that a population may be larger than
    memory. A file that changes after it was opened is an error when it is read next.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.manifest = read_manifest(self.folder)
        place = self.folder / MANIFEST
        if self.manifest.format != FORMAT:
            raise PopulationError(f"{place}, field format: {self.manifest.format}, expected {FORMAT}")
        self._files = {name: self._checked(name) for name in (DOCUMENTS, QUESTIONS, ANSWERS)}
        # before rows are read: the digest is what signatures name
        expected = identity(self.features, self.manifest.files, self.manifest.counts)
        if self.manifest.digest != expected:
            raise PopulationError(f"{place}, field digest: {self.manifest.digest!r}, expected {expected!r}")
        # space around a prompt does not make it another one; datasets and shells add and drop it
        self._questions: dict[str, list[Question]] = {}
        feature_names = sorted({feature.name for feature in self.features})
        for where, _, question in self._identified(QUESTIONS, Question):
            if question.feature not in feature_names:
                raise PopulationError(f"{where}, field feature: {question.feature!r}, expected one of {feature_names}")
            self._questions.setdefault(question.prompt.strip(), []).append(question)
        self._check_count("questions", sum(map(len, self._questions.values())))
        # by prompt, the bytes at which its documents begin in their file
        self._documents: dict[str, array[int]] = {}
        for _, begin, document in self._identified(DOCUMENTS, Document):
            self._documents.setdefault(document.prompt.strip(), array("Q")).append(begin)
        self._check_count("documents", sum(map(len, self._documents.values())))
        # samples of one prompt come together, so that few prompts suffice
        self._documents_of = lru_cache(maxsize=PROMPTS_HELD)(self._read_documents)
        self._answers_of = lru_cache(maxsize=PROMPTS_HELD)(self._read_answers)

    @property
    def name(self) -> str:
        """Name, version and digest, as they stand in signatures."""
        return f"{self.manifest.name}-{self.manifest.version}@{self.manifest.digest}"

    @property
    def features(self) -> tuple[Feature, ...]:
        """In the order of the columns."""
        return self.manifest.features

    @property
    def prompts(self) -> list[str]:
        """Every prompt that has questions, in the order of the file; without any question those of the documents."""
        return list(self._questions or self._documents)

    @property
    def answers_alone(self) -> bool:
        """Whether it holds recorded answers and no documents."""
        return not self.manifest.counts.documents

    @property
    def documents_alone(self) -> bool:
        """Whether it holds documents and no questions."""
        return not self._questions

    def documents(self, prompt: str) -> list[Document]:
        """The documents of a prompt in the order of the file; empty when the prompt is unknown."""
        return list(self._documents_of(prompt.strip()))

    def require_documents(self, measure: str) -> None:
        """Refuse a population of answers alone for a measure that compares whole documents."""
        if self.answers_alone:
            raise PopulationError(
                f"{measure} compares with documents, and population {self.name} has only answers. Use a population "
                "with documents, or the metric genie with a grader"
            )

    def require_questions(self, measure: str) -> None:
        """Refuse a population of documents alone for a measure that asks about them."""
        if self.documents_alone:
            raise PopulationError(
                f"{measure} asks questions, and population {self.name} has only documents. Write questions (genie "
                f"questions write {self.folder}) and import again with --questions. Or use metrics without questions: "
                "-T panel=cheap, or the scorers cosine, compression, creativity_index, expression_novelty, partition"
            )

    def questions(self, prompt: str) -> list[Question]:
        """The questions of a prompt in the order of the file; empty when the prompt is unknown."""
        return self._questions.get(prompt.strip(), [])

    def answers(self, reader: str, prompt: str | None = None) -> dict[tuple[str, str], str | None]:
        """Recorded answers of a reader, by document and question id; None where the document does not say."""
        if prompt is not None:
            return self._answers_of(prompt.strip()).get(reader, {})
        return {
            place: text
            for prompt_text in self.prompts
            for place, text in self._answers_of(prompt_text).get(reader, {}).items()
        }

    def check_answers(self) -> None:
        """Read all answers now, not when they are first asked for."""
        for prompt in self.prompts:
            self._read_answers(prompt)

    @property
    def readers(self) -> list[str]:
        """The signatures of all readers whose answers are on record."""
        return self._answers[1]

    def _read_documents(self, prompt: str) -> tuple[Document, ...]:
        return tuple(rows_at(self._files[DOCUMENTS], self._documents.get(prompt, ()), Document))

    def _read_answers(self, prompt: str) -> Recorded:
        """The answers of one prompt by reader, and within it by document and question id."""
        by_reader: Recorded = {}
        path, begins = self._files[ANSWERS], self._answers[0].get(prompt, ())
        for begin, row in zip(begins, rows_at(path, begins, AnswerRow), strict=True):
            answers = by_reader.setdefault(row.reader, {})
            if (row.document, row.question) in answers:
                with path.open() as file:
                    line = file.read(begin).count(b"\n") + 1
                where = f"{path}, line {line}, field question"
                raise PopulationError(f"{where}: {row.question!r} is answered twice by this reader")
            answers[row.document, row.question] = row.text
        return by_reader

    @cached_property
    def _answers(self) -> tuple[dict[str, "array[int]"], list[str]]:
        """By prompt, the bytes at which its answers begin in the file; and the signatures of all readers."""
        names = {prompt: prompt for prompt in self._documents}  # one text object a prompt
        rows_of_documents = () if self.answers_alone else rows(self._files[DOCUMENTS], Document)
        documents = {row.id: names[row.prompt.strip()] for row in rows_of_documents}
        questions = {question.id: prompt for prompt, group in self._questions.items() for question in group}
        begins: dict[str, array[int]] = {}
        readers: dict[str, None] = {}
        path = str(self._files[ANSWERS])  # once: there may be millions of rows
        for line, begin, row in placed_rows(self._files[ANSWERS], AnswerRow):
            where = f"{path}, line {line}"
            # a population of answers alone has no documents to point at
            if documents and row.document not in documents:
                raise PopulationError(f"{where}, field document: {row.document!r} is not a document of the population")
            if row.question not in questions:
                raise PopulationError(f"{where}, field question: {row.question!r} is not a question of the population")
            if documents and documents[row.document] != questions[row.question]:
                raise PopulationError(f"{where}, field question: {row.question!r} is of another prompt")
            # 8 bytes an answer, not its text
            begins.setdefault(questions[row.question], array("Q")).append(begin)
            readers.setdefault(row.reader)
        self._check_count("answers", sum(map(len, begins.values())))
        return begins, list(readers)

    def _identified(self, name: str, kind: type[IdentifiedT]) -> Iterator[tuple[str, int, IdentifiedT]]:
        """The rows of a file, of which no two may have one id, with their places and the bytes at which they begin."""
        file, seen = self._files[name], set[str]()
        for line, begin, row in placed_rows(file, kind):
            if row.id in seen:
                raise PopulationError(f"{file}, line {line}, field id: {row.id!r} appears twice")
            seen.add(row.id)
            yield f"{file}, line {line}", begin, row

    def _checked(self, name: str) -> UnchangedFile:
        if name not in self.manifest.files:
            raise PopulationError(f"{self.folder / MANIFEST}, field files: {name} is not listed")
        file = UnchangedFile(self.folder / name)
        if file.digest != self.manifest.files[name]:
            raise PopulationError(
                f"{file} is not the file that {MANIFEST} describes: it was changed or cut; restore it, or write the "
                "population again"
            )
        return file

    def _check_count(self, what: str, count: int) -> None:
        listed = getattr(self.manifest.counts, what)
        if listed != count:
            raise PopulationError(f"{self.folder / MANIFEST}, field counts.{what}: {listed}, expected {count}")


def read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        check_file(path, LARGEST)
        return parsed(path.read_bytes(), Manifest, str(path))
    except (FileNotFoundError, NotADirectoryError):
        raise PopulationError(f"{folder} has no {MANIFEST}, expected the folder of a population") from None
    except OSError as error:
        raise PopulationError(f"{path} cannot be read: {error.strerror or error}") from error


def identity(features: Iterable[Feature], files: dict[str, str], counts: Counts) -> str:
    """The digest of a population: of features, documents and questions, of the answers where it has no documents."""
    described = [feature.model_dump_json() for feature in features]
    # answers of further readers leave the identity of a population with documents as it is
    reference = DOCUMENTS if counts.documents else ANSWERS
    return digest(*described, files[reference], files[QUESTIONS])


BUNDLED = {"starter": DATA / "starter", "abstracts": DATA / "examples" / "abstracts"}
NONE = "none"


def open_population(name: str | Path) -> Population:
    """The bundled population of that name, or the one in that folder; opened once, while its files stay as they are."""
    folder = BUNDLED.get(str(name), Path(name))
    try:
        is_there = (folder / MANIFEST).is_file()
        state = [(path.name, *file_state(path.stat())) for path in sorted(folder.iterdir())] if is_there else []
    except OSError as error:
        raise PopulationError(f"population {str(name)!r} cannot be read: {error.strerror or error}") from error
    if not is_there:
        raise PopulationError(
            f"population is {str(name)!r}, expected {', '.join(sorted(BUNDLED))} or a folder with {MANIFEST}"
        )
    return _opened(folder, tuple(state))


@lru_cache(maxsize=2)  # what is written and what it is compared with; a large one takes hundreds of megabytes
def _opened(folder: Path, state: tuple[tuple[object, ...], ...]) -> Population:
    return Population(folder)


FORM = '{"features": [{"name": "plot", "definition": "what happens"}]}, where definitions may be left out'


def read_features(source: str | Path) -> tuple[Feature, ...]:
    """The features of a bundled population, of a population's folder, or of a JSON file {"features": [...]}.

    A file that ends in .jsonl has a feature a line instead.
    """
    path = Path(source)
    try:
        if str(source) in BUNDLED or (path / MANIFEST).is_file():
            return open_population(source).features
        text = path.read_bytes()
        if path.suffix == ".jsonl":
            listed = [feature.model_dump() for feature in rows(path, Feature)]
            text = json.dumps({"features": listed}).encode()
        return json_row(text, FeatureFile, str(path), PopulationError, FORM).features
    except OSError as error:
        raise PopulationError(
            f"features are {str(source)!r}, expected {', '.join(sorted(BUNDLED))}, a population's folder or a "
            f'JSON file {{"features": [...]}} ({error.strerror})'
        ) from error


def write_features(path: Path, features: tuple[Feature, ...]) -> None:
    write_lines(path, [FeatureFile(features=features).model_dump_json(indent=1) + "\n"])
