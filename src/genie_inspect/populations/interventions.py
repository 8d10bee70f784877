"""Originals with their edits and paraphrases, opened from their file and checked."""

import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, RootModel, model_validator

from genie_inspect.errors import GenieWarning, InterventionsError
from genie_inspect.files.json_lines import RowT
from genie_inspect.populations.population import BUNDLED
from genie_inspect.populations.schema import DocumentText, Name, NonEmpty, Row, placed_rows
from genie_inspect.signature import digest

ORIGINAL: Final = "original"
EDIT: Final = "edit"
PARAPHRASE: Final = "paraphrase"


class Original(Row):
    """A text that others were made of."""

    kind: Literal["original"]
    id: NonEmpty
    prompt: NonEmpty
    text: DocumentText
    writer: str = ""  # who wrote it, as `provider/model` where a model did


class Edit(Row):
    """An original in which one feature has another value."""

    kind: Literal["edit"]
    id: NonEmpty
    original: NonEmpty
    feature: Name
    alternatives: tuple[NonEmpty, ...] = ()  # that were proposed, without sight of any population
    alternative: NonEmpty  # the one of them that was drawn
    text: DocumentText
    writer: str = ""

    @model_validator(mode="after")
    def _drawn(self) -> "Edit":
        if self.alternatives and self.alternative not in self.alternatives:
            raise ValueError(f"alternative {self.alternative!r} is not one of the alternatives")
        return self


class Paraphrase(Row):
    """An original in other words, with every feature as it was."""

    kind: Literal["paraphrase"]
    id: NonEmpty
    original: NonEmpty
    text: DocumentText
    writer: str = ""


StudyText = Original | Edit | Paraphrase
Changed = Edit | Paraphrase


class StudyRow(RootModel[Annotated[StudyText, Field(discriminator="kind")]]):
    """One line of a file of interventions."""


class LeftOut(Row):
    id: NonEmpty
    reason: NonEmpty


def intervention_id(original: str, kind: str, feature: str, text: str) -> str:
    """The stable id of an edit or, with an empty feature, of a paraphrase."""
    return "i-" + digest(original, kind, feature, text)


def drawn(alternatives: tuple[str, ...], original: str, feature: str, seed: int) -> str:
    """One of the alternatives by chance, the same for the same seed on every machine and in every order of work."""
    return alternatives[int(digest(str(seed), original, feature), 16) % len(alternatives)]


INTERVENTIONS, LEFT_OUT = "edits.jsonl", "left_out.jsonl"
FOLDER = "edits"  # where a bundled population has those that ship with it
SHOWN = 5  # ids in a warning


class Interventions:
    """Texts that were changed on purpose, by which a measure is tested."""

    def __init__(self, place: Path | str) -> None:
        shipped = BUNDLED.get(str(place))
        folder = shipped / FOLDER if shipped else Path(place)
        self.file = folder / INTERVENTIONS if folder.is_dir() else folder
        if folder.is_dir() and self.file.exists() and not self.file.is_file():
            raise InterventionsError(f"{self.file} is not a file, expected one")
        rows = [row.root for row in rows_of(self.file, StudyRow)]
        doubled = [name for name, count in Counter(row.id for row in rows).items() if count > 1]
        if doubled:
            raise InterventionsError(f"{self.file}, field id: {doubled[0]!r} appears twice")
        self.originals = {row.id: row for row in rows if isinstance(row, Original)}  # by id, in the order of the file
        if not self.originals:
            raise InterventionsError(f'{self.file} has no original: no line of {{"kind": "original", ...}}')
        changed = [row for row in rows if not isinstance(row, Original)]
        self.orphans = tuple(row.id for row in changed if row.original not in self.originals)  # they are no use
        if self.orphans:
            listed = ", ".join(self.orphans[:SHOWN]) + ", ..." * (len(self.orphans) > SHOWN)
            message = f"{self.file}: without their original, and so left out: {len(self.orphans)} ({listed})"
            warnings.warn(message, GenieWarning, stacklevel=2)
        # all edits and paraphrases with an original, those that are left out among them
        self.every = tuple(row for row in changed if row.original in self.originals)
        beside = self.file.parent / LEFT_OUT
        # by id, why an edit or paraphrase is no good
        self.left_out = {row.id: row.reason for row in rows_of(beside, LeftOut)} if beside.is_file() else {}

    @property
    def name(self) -> str:
        """Where they came from and the digest of what they say, as it stands in logs."""
        folder = self.file.parent if self.file.name == INTERVENTIONS else self.file
        shipped = [name for name, place in BUNDLED.items() if place / FOLDER == folder]
        return f"{shipped[0] if shipped else folder.stem}@{self.digest}"

    @cached_property
    def digest(self) -> str:
        """Identity of the texts that a study compares: what is left out is not in it."""
        return digest(*(part for text in self.texts() for part in (text.kind, text.id, text.text)))

    @property
    def changed(self) -> list[Changed]:
        """The edits and paraphrases that are some good, in the order of the file."""
        return [row for row in self.every if row.id not in self.left_out]

    def original(self, text: StudyText) -> Original:
        """The text that another was made of; an original's own."""
        return text if isinstance(text, Original) else self.originals[text.original]

    def texts(self) -> Iterator[StudyText]:
        """Each original, followed by what was made of it; originals of which nothing was made are left out."""
        by_original: dict[str, list[Changed]] = {}
        for row in self.changed:
            by_original.setdefault(row.original, []).append(row)
        for name, original in self.originals.items():
            if name in by_original:
                yield original
                yield from by_original[name]


def rows_of(file: Path, kind: type[RowT]) -> Iterator[RowT]:
    """The rows of a file that stands with interventions, one at a time."""
    expected = f"expected starter, a folder with {INTERVENTIONS}, or such a file"
    missing = f"pairs of originals and edits are {str(file)!r}, {expected}"
    return (row for _, _, row in placed_rows(file, kind, InterventionsError, missing))
