"""The folder of a judge of one's own: coefficients, figures, a card, and a manifest with the digest of each."""

from pathlib import Path
from typing import Literal

from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.files.folders import new_folder
from genie_inspect.files.json_lines import json_row
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.raters.card import CARD, card
from genie_inspect.raters.figures import HeldOut
from genie_inspect.raters.judge import PersonalJudge
from genie_inspect.signature import digest, package_version

MANIFEST, JUDGE, FIGURES = "manifest.json", "judge.json", "figures.json"


class PersonalError(GenieError):
    """A judge of one's own cannot be used: the message names folder and file and what would work."""


class Manifest(Row):
    """What the folder holds."""

    format: Literal[1] = 1
    kind: Literal["personal judge"] = "personal judge"
    made_by: NonEmpty
    """Version of this package."""
    digests: dict[NonEmpty, NonEmpty]
    """By file."""


def write_folder(judge: PersonalJudge, figures: HeldOut, output: Path) -> None:
    """Write a judge to a new folder, whole or not at all.

    Raises:
        UnwritableError: If something stands there, or it cannot be written.
    """
    with new_folder(output) as making:
        _write(judge, figures, making)


def read_judge(folder: Path) -> PersonalJudge:
    """The judge in a folder.

    Raises:
        PersonalError: If the folder is none of a judge, or its files are not those that were written.
    """
    return json_row(_checked(folder, JUDGE), PersonalJudge, str(folder / JUDGE), PersonalError)


def read_figures(folder: Path) -> HeldOut:
    """The held-out figures in a folder.

    Raises:
        PersonalError: If the folder is none of a judge, or its files are not those that were written.
    """
    return json_row(_checked(folder, FIGURES), HeldOut, str(folder / FIGURES), PersonalError)


def forget(folder: Path, rater: str) -> int:
    """Take all that is of one rater alone out of a folder.

    What rests on the votes of all raters together stays: the tests' and scores' coefficients, the spreads, the figures
    over all votes.

    Returns:
        How many votes stood behind the rater.

    Raises:
        PersonalError: If the folder is none of a judge.
        UnknownChoiceError: If it has no such rater.
        UnwritableError: If it cannot be written.
    """
    judge, figures = read_judge(folder), read_figures(folder)
    check_rater(judge, rater, folder)
    _write(judge.without(rater), figures.without(rater), folder)
    return judge.raters[rater].votes


def check_rater(judge: PersonalJudge, rater: str, folder: Path) -> None:
    """Refuse a rater that a judge does not know.

    Raises:
        UnknownChoiceError: If it does not.
    """
    if rater not in judge.raters:
        raise UnknownChoiceError("rater", rater, f"one of those in {folder}: {', '.join(judge.raters) or 'none'}")


def _write(judge: PersonalJudge, figures: HeldOut, folder: Path) -> None:
    contents = {JUDGE: _json(judge), FIGURES: _json(figures), CARD: card(judge, figures)}
    manifest = Manifest(made_by=package_version(), digests={name: digest(text) for name, text in contents.items()})
    for name, text in (contents | {MANIFEST: _json(manifest)}).items():
        write_lines(folder / name, [text])


def _json(row: Row) -> str:
    return row.model_dump_json(indent=1) + "\n"


def _checked(folder: Path, name: str) -> bytes:
    """A file's content, which must be what the manifest knows.

    Raises:
        PersonalError: If it is not.
    """
    manifest = json_row(_read(folder, MANIFEST), Manifest, str(folder / MANIFEST), PersonalError)
    content = _read(folder, name)
    if digest(content.decode("utf-8", "replace")) != manifest.digests.get(name):
        raise PersonalError(f"{folder / name} is not what was written, by its digest: fit anew with genie rater fit")
    return content


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise PersonalError(
            f"{folder / name} cannot be read: {error.strerror or error}, expected a folder by genie rater fit"
        ) from error
