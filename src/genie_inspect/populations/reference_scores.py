"""How a population's own documents are rated, each against the others: measured once, and kept in its folder.

The manifest does not list the file: with reference scores a population is the one that it was. It belongs to its
population by the digest in each signature, and carries a digest of its own, so that one step writes it. What a
user measures of a population that ships with the package is in the user's data folder.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic import model_validator

from genie_inspect.errors import PopulationError
from genie_inspect.files.writing import own_folder, write_lines
from genie_inspect.measures.genie import HIGHEST, LOWEST, Tally
from genie_inspect.populations.schema import NonEmpty, Row, parsed
from genie_inspect.signature import SAMPLED, Signature, comparable, digest

REFERENCE_SCORES = "reference_scores.json"
FORMAT = 2  # of the file; how its numbers come about is the version in their signature


class Measured(Row):
    """Each document rated against the others under one instrument."""

    signature: NonEmpty
    # by document id and question id, one tally per grader: sum of the usable ratings, how many, how many were due
    ratings: dict[NonEmpty, dict[NonEmpty, tuple[Tally, ...]]]

    @model_validator(mode="after")
    def _possible(self) -> "Measured":
        for document, tallies_by_question in self.ratings.items():
            for question, tallies in tallies_by_question.items():
                for total, usable, due in tallies:
                    if not (0 <= usable <= due and LOWEST * usable <= total <= HIGHEST * usable):
                        raise ValueError(f"{document}, {question}: {usable} of {due} ratings cannot sum to {total}")
        return self


class ReferenceScores(Row):
    """A population's reference_scores: `reference_scores.json`."""

    format: int = FORMAT
    digest: str = ""  # of what was measured, so that a changed file is noticed
    measured: tuple[Measured, ...] = ()

    def under(self, signature: str) -> Measured | None:
        """What was measured with the instrument of a signature; None when nothing was."""
        return next((one for one in self.measured if instrument(one.signature) == instrument(signature)), None)


def instrument(signature: str) -> dict[str, str]:
    """What of a signature the level of its numbers depends on: not the letter of its version, nor a population's name.

    Nor on how many ratings: a sample of them is unbiased, so that reference scores by all ratings serve it.
    """
    facts = {name: fact for name, fact in Signature(comparable(signature)).facts.items() if name != SAMPLED}
    return {**facts, "population": facts.get("population", "").rpartition("@")[2]}


def reference_scores_file(folder: Path) -> Path:
    """The file that `genie population reference-scores` writes: in the population's folder, unless that one ships."""
    return (own_folder(folder) or folder) / REFERENCE_SCORES


def reference_scores_of(folder: Path) -> ReferenceScores:
    """Those of a population, or empty ones; of one that ships, with what this user has measured beside it."""
    shipped, own = read_reference_scores(folder / REFERENCE_SCORES), reference_scores_file(folder)
    if own == folder / REFERENCE_SCORES:
        return shipped
    # the user's own first: of one instrument the first counts
    parts = (*read_reference_scores(own).measured, *shipped.measured)
    return ReferenceScores(digest=_digest(parts), measured=parts)


def read_reference_scores(path: Path) -> ReferenceScores:
    """The reference_scores in a file; an empty one when there is no such file."""
    remedy = "remove it and make it again: genie population reference-scores"
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return ReferenceScores()
    except OSError as error:
        raise PopulationError(f"{path} cannot be read: {error.strerror or error}") from error
    # before the rest, because a file of another format has other fields; what cannot be read at all is named below
    with suppress(ValueError):
        content = json.loads(text)
        if isinstance(content, dict) and (found := content.get("format", FORMAT)) != FORMAT:
            raise PopulationError(f"{path}, field format: {found}, expected {FORMAT}; {remedy}")
    reference_scores = parsed(text, ReferenceScores, str(path))
    if reference_scores.digest != _digest(reference_scores.measured):
        raise PopulationError(f"{path} was changed after it was made; {remedy}")
    return reference_scores


def with_measured(reference_scores: ReferenceScores, measured: Measured) -> ReferenceScores:
    """Those with what one instrument measured; what another one did stays, if it was of the same population."""
    mine = instrument(measured.signature)
    others = [(other, instrument(other.signature)) for other in reference_scores.measured]
    kept = [other for other, facts in others if facts != mine and facts["population"] == mine["population"]]
    parts = (*kept, measured)
    return ReferenceScores(digest=_digest(parts), measured=parts)


def write_reference_scores(path: Path, reference_scores: ReferenceScores) -> None:
    write_lines(path, [reference_scores.model_dump_json() + "\n"])


def _digest(measured: Iterable[Measured]) -> str:
    return digest(*(one.model_dump_json() for one in measured))
