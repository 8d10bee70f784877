"""How novel a population's own documents are, each among the others: computed once, and kept in its folder.

The file stands beside those that the manifest lists and is no part of them: with a yardstick, a population is the one
that it was. It belongs to its population by the digest in each signature, and carries a digest of its own, so that one
step writes it. What a user measures of a population that ships with the package stands in the user's data folder.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from genie_inspect.errors import PopulationError
from genie_inspect.files.folders import own_folder
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.schema import Name, NonEmpty, Row, parsed
from genie_inspect.signature import digest, facts_of
from genie_inspect.versions import comparable

YARDSTICK = "yardstick.json"
FORMAT = 1
"""Of the file; how its numbers come about is the version in their signature."""
DECIMALS = 6
"""Of what scores say of the yardstick; the novelties in it keep the digits that scores do."""
Novelty = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Measured(Row):
    """Leave-one-out novelty under one instrument."""

    signature: NonEmpty
    novelty: dict[NonEmpty, dict[Name, Novelty | None]]
    """By document id and feature; None where nothing could be measured."""


class Yardstick(Row):
    """A population's yardstick: `yardstick.json`."""

    format: int = FORMAT
    digest: str = ""
    """Of what was measured, so that a changed file is noticed."""
    measured: tuple[Measured, ...] = ()

    def under(self, signature: str) -> Measured | None:
        """What was measured with the instrument of a signature; None when nothing was."""
        return next((one for one in self.measured if instrument(one.signature) == instrument(signature)), None)


def instrument(signature: str) -> dict[str, str]:
    """What of a signature the numbers depend on: not the letter of its version, nor what the population is called.

    >>> instrument("measure:genie|judge:list(m)|population:mine-1@be50|version:1-A")
    {'measure': 'genie', 'judge': 'list(m)', 'population': 'be50', 'version': '1'}
    """
    facts = facts_of(comparable(signature))
    return facts | {"population": facts.get("population", "").rpartition("@")[2]}


def yardstick_file(folder: Path) -> Path:
    """The file that `genie population yardstick` writes for a population: in its folder, unless that one ships."""
    return (own_folder(folder) or folder) / YARDSTICK


def yardstick_of(folder: Path) -> Yardstick:
    """The yardstick of a population; of one that ships, what shipped and what this user has measured beside it.

    An empty one when there is none.
    """
    shipped, own = read_yardstick(folder / YARDSTICK), yardstick_file(folder)
    if own == folder / YARDSTICK:
        return shipped
    # the user's own first: of one instrument the first counts
    parts = (*read_yardstick(own).measured, *shipped.measured)
    return Yardstick(digest=_digest(parts), measured=parts)


def read_yardstick(path: Path) -> Yardstick:
    """The yardstick in a file; an empty one when there is no such file."""
    remedy = "remove it, and make it anew: genie population yardstick"
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return Yardstick()
    except OSError as error:
        raise PopulationError(f"{path} cannot be read: {error.strerror or error}") from error
    yardstick = parsed(text, Yardstick, str(path))
    if yardstick.format != FORMAT:
        raise PopulationError(f"{path}, field format: {yardstick.format}, expected {FORMAT}; {remedy}")
    if yardstick.digest != _digest(yardstick.measured):
        raise PopulationError(f"{path} was changed after it was made; {remedy}")
    return yardstick


def with_measured(yardstick: Yardstick, measured: Measured) -> Yardstick:
    """The yardstick with what one instrument measured; what another one did stays, if it was of the same population."""
    mine = instrument(measured.signature)
    others = (instrument(one.signature) for one in yardstick.measured)
    kept = (
        one
        for one, facts in zip(yardstick.measured, others, strict=True)
        if facts != mine and facts["population"] == mine["population"]
    )
    parts = (*kept, measured)
    return Yardstick(digest=_digest(parts), measured=parts)


def write_yardstick(path: Path, yardstick: Yardstick) -> None:
    write_lines(path, [yardstick.model_dump_json(indent=1) + "\n"])


def _digest(measured: Iterable[Measured]) -> str:
    return digest(*(one.model_dump_json() for one in measured))
