"""The rows of a population's files, and the files themselves, checked when they are read."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import MakeError, RowT, json_row, placed_lines
from genie_inspect.files.writing import check_file, write_lines
from genie_inspect.prompting.texts import LONGEST
from genie_inspect.signature import digest

FORMAT = 1  # of the files; a population of another format is refused
# spaces at the ends stay: ids are digests of the text as it is
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=False, min_length=1, pattern=r"\S")]
DocumentText = Annotated[NonEmpty, Field(max_length=LONGEST)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class Row(BaseModel):
    """One line of a file: unknown fields are errors, so that a misspelt one is not lost in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Feature(Row):
    """One aspect of writing along which novelty is measured; its name is the scorer's key."""

    name: Name
    # what belongs to it, for whoever maps questions or writes them; without one the words of the name
    definition: NonEmpty = Field(default_factory=lambda data: data.get("name", "").replace("_", " "))
    # generic words of the feature; the offline reader looks for them beside the question's own. With pronouns of the
    # first and of the third person among them, it goes by the document's pronouns
    words: tuple[str, ...] = ()


class Document(Row):
    """One text that somebody or some model wrote for a prompt."""

    id: NonEmpty
    prompt: NonEmpty
    text: DocumentText
    model: str = ""  # who wrote it, as `provider/model` where a model did
    # how many words a model has cut from its end; None where it is as long as it came
    cut_words: Annotated[int, Field(ge=1)] | None = Field(default=None, exclude_if=lambda words: words is None)


class Question(Row):
    """One question that can be asked of any document of its prompt, about exactly one feature."""

    id: NonEmpty
    prompt: NonEmpty
    feature: Name
    text: NonEmpty


class AnswerRow(Row):
    """What one reader answered to one question about one document."""

    document: NonEmpty
    question: NonEmpty
    reader: NonEmpty  # the reader's signature: answers of different readers do not compare
    text: NonEmpty | None  # None: the document does not say


class Counts(Row):
    prompts: int
    documents: int
    questions: int
    answers: int


def _differing(features: tuple[Feature, ...]) -> tuple[Feature, ...]:
    names = [feature.name for feature in features]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two features are named {name!r}")
    return features


Features = Annotated[tuple[Feature, ...], Field(min_length=1), AfterValidator(_differing)]


class FeatureFile(Row):
    """A file of features, which every command takes in place of a population's."""

    features: Features


class Manifest(Row):
    """The face of a population: `population.json`."""

    format: int = FORMAT
    name: NonEmpty
    version: NonEmpty
    licence: NonEmpty
    description: str = ""
    features: Features
    source_models: tuple[str, ...] = ()
    counts: Counts
    # identity of what is measured against: features, documents and questions; answers where there are no documents
    digest: str
    files: dict[str, str]  # SHA-256 of each file, so that a changed or cut one is noticed


def document_id(prompt: str, text: str) -> str:
    """The stable id of a document: the same text for the same prompt has the same id everywhere."""
    # with the prompt, because the same words may answer two prompts
    return "d-" + digest(prompt, text)


def question_id(prompt: str, text: str) -> str:
    return "q-" + digest(prompt, text)


def rows(source: "Path | UnchangedFile", kind: type[RowT]) -> Iterator[RowT]:
    return (row for _, _, row in placed_rows(source, kind))


def placed_rows(
    source: "Path | UnchangedFile", kind: type[RowT], error: MakeError = PopulationError, missing: str = ""
) -> Iterator[tuple[int, int, RowT]]:
    """Each row with the number of its line, from 1 and with the empty ones, and the byte at which it begins."""
    name = str(source)  # once: there may be millions of rows
    try:
        for number, begin, line in placed_lines(source):
            yield number, begin, json_row(line, kind, f"{name}, line {number}", error)
    except FileNotFoundError:
        what = kind.__name__.removesuffix("Row").lower()
        raise error(missing or f"{name} does not exist, expected a file of {what} rows") from None
    except OSError as refused:
        raise error(f"{name} cannot be read: {refused.strerror or refused}") from refused


def rows_at(source: "Path | UnchangedFile", begins: Iterable[int], kind: type[RowT]) -> Iterator[RowT]:
    """The rows whose lines begin at these bytes, in the order given."""
    with source.open("rb") as file:
        for begin in begins:
            file.seek(begin)
            yield parsed(file.readline(), kind, f"{source}, byte {begin}")


def parsed(text: str | bytes, kind: type[RowT], where: str) -> RowT:
    """One JSON object as a checked row; `where` begins the error message."""
    return json_row(text, kind, where, PopulationError)


def write_rows(path: Path, items: Iterable[BaseModel], *, new: bool = False) -> None:
    """Write the rows as JSON Lines, whole or not at all."""
    # readable in an editor: letters of other scripts stay letters
    write_lines(path, (json.dumps(item.model_dump(), ensure_ascii=False) + "\n" for item in items), new=new)


def file_digest(path: Path) -> str:
    return UnchangedFile(path).digest


class UnchangedFile:
    """A file that must stay what it was when its digest was taken, however often and how late it is read.

    Whoever reads sees the bytes of that digest: before and after, size, time and identity of the file are held against
    those of then, and where one differs, the digest itself.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            check_file(path)
            with path.open("rb") as file:
                self._state = file_state(os.fstat(file.fileno()))
                self.digest = _digest(file)
        except FileNotFoundError:
            raise PopulationError(f"{path} does not exist, though population.json lists it") from None
        except OSError as error:
            raise PopulationError(f"{path} cannot be read: {error.strerror or error}") from error

    def __str__(self) -> str:
        return str(self.path)

    @contextmanager
    def open(self, mode: Literal["rb"] = "rb") -> Iterator[BufferedReader]:
        try:
            with self.path.open(mode) as file:
                # before and after: a file may also change while it is read
                self._check(file)
                yield file
                self._check(file)
        except OSError as error:
            raise PopulationError(f"{self.path} cannot be read any more: {error.strerror or error}") from error

    def _check(self, file: BufferedReader) -> None:
        state = file_state(os.fstat(file.fileno()))
        if state == self._state:
            return
        # only now: digests of large files take seconds, a `stat` takes none
        if _digest(file) != self.digest:
            raise PopulationError(
                f"{self.path} was changed while the population was in use: what was scored before and after would not "
                "compare; restore it, or start again"
            )
        self._state = state  # the same bytes: somebody copied the folder, or touched the file


def file_state(status: os.stat_result) -> tuple[int, ...]:
    """What tells whether a file is the one that it was: which it is, its size and its times of change."""
    # whoever puts the time of writing back cannot put back that of the change
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _digest(file: BufferedReader) -> str:
    """SHA-256 of all its bytes, in hex; the file stands at its beginning again."""
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return digest
