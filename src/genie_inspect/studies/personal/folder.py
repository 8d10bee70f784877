"""The folder that `genie rater fit` writes: the judge, its held-out figures, a card for people, and digests of them."""

from pathlib import Path
from typing import Literal

from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.files.folders import LARGEST, check_file, new_folder
from genie_inspect.files.json_lines import json_row
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.schema import NonEmpty, Row
from genie_inspect.populations.writing import plain
from genie_inspect.signature import digest, package_version
from genie_inspect.studies.personal.judge import (
    FEWEST_VOTES,
    FIGURES,
    HeldOut,
    PersonalJudge,
    markdown_table,
    shown,
    shown_leniency,
)

CARD = "README.md"
TEXT = """\
# A judge of one's own

{sentence}

Foretells what each of {raters} raters would say of a story, from scores that it has: {columns}. Fitted with
genie-inspect to {votes} votes on {stories} stories of {plots} plots; its identity is `{identity}`. The folder holds
coefficients and counts, no vote and no text of anybody.

## Held out

Plots were held out whole, in {folds} folds; strengths of shrinking were chosen without them. AUC, kappa and Pearson's r
compare votes that were held out together. Intervals: 95%, by bootstrap over plots.

{figures}

## Calibration

{calibration}

## Raters

Leniency: log-odds of a yes above those of the average rater, shrunk towards 0. Gain: log loss a vote less that of the
grader alone, on plots held out; below 0 is better. Intervals: 95%, for all raters together. Of a rater with fewer than
{fewest} votes nothing is foretold.

{raters_table}

## Use

```sh
inspect score LOG --scorer genie_inspect/personal -S rater=FOLDER#ID --action append
```
"""


def card(judge: PersonalJudge, figures: HeldOut) -> str:
    rows = figures.models
    names = [name for name in FIGURES if any(name in own for own in rows.values())]
    return TEXT.format(
        sentence=figures.sentence,
        raters=len(judge.raters),
        columns=", ".join(plain(column.name) for column in judge.columns),
        votes=figures.votes,
        stories=figures.stories,
        plots=figures.plots,
        identity=judge.digest,
        folds=figures.folds,
        figures=markdown_table(
            ["", *(FIGURES[name] for name in names)],
            ([plain(name), *(shown(own.get(figure)) for figure in names)] for name, own in rows.items()),
        ),
        calibration=markdown_table(
            ["foretold, mean", "came true", "votes"],
            ([f"{own.mean:.3f}", f"{own.share:.3f}", str(own.votes)] for own in figures.calibration),
        ),
        fewest=FEWEST_VOTES,
        raters_table=markdown_table(
            ["rater", "votes", "leniency", "gain"],
            (
                [plain(name), str(terms.votes), shown_leniency(judge, name), shown(figures.raters[name].gain, sign="+")]
                for name, terms in judge.raters.items()
            ),
        ),
    )


MANIFEST, JUDGE, HELD_OUT = "manifest.json", "judge.json", "figures.json"


class PersonalError(GenieError):
    """A judge of one's own cannot be used: the message names folder and file and what would work."""


class Manifest(Row):
    format: Literal[1] = 1
    kind: Literal["personal judge"] = "personal judge"
    made_by: NonEmpty
    """Version of this package."""
    digests: dict[NonEmpty, NonEmpty]
    """By file."""


def write_folder(judge: PersonalJudge, figures: HeldOut, output: Path) -> None:
    with new_folder(output) as making:
        _write(judge, figures, making)


def read_judge(folder: Path) -> PersonalJudge:
    return json_row(_checked(folder, JUDGE), PersonalJudge, str(folder / JUDGE), PersonalError)


def read_figures(folder: Path) -> HeldOut:
    return json_row(_checked(folder, HELD_OUT), HeldOut, str(folder / HELD_OUT), PersonalError)


def forget(folder: Path, rater: str) -> int:
    """Take all that is of one rater alone out of a folder.

    What rests on the votes of all raters together stays: the tests' and scores' coefficients, the spreads, the figures
    over all votes.
    """
    judge, figures = read_judge(folder), read_figures(folder)
    check_rater(judge, rater, folder)
    check_figures(judge, figures, folder)
    # what a link points at stands elsewhere, and is not ours to write
    if links := [name for name in (JUDGE, HELD_OUT, CARD, MANIFEST) if (folder / name).is_symlink()]:
        raise PersonalError(f"{folder / links[0]} is a link, expected a file by genie rater fit")
    votes = judge.raters.pop(rater).votes
    figures.raters.pop(rater)
    _write(judge, figures, folder)
    return votes


def check_rater(judge: PersonalJudge, rater: str, folder: Path) -> None:
    if rater not in judge.raters:
        raise UnknownChoiceError("rater", rater, f"one of those in {folder}: {', '.join(judge.raters) or 'none'}")


def check_figures(judge: PersonalJudge, figures: HeldOut, folder: Path) -> None:
    if missing := sorted(judge.raters.keys() - figures.raters.keys()):
        raise PersonalError(
            f"{folder / HELD_OUT} has no figures of rater {missing[0]!r}: fit anew with genie rater fit"
        )


def _write(judge: PersonalJudge, figures: HeldOut, folder: Path) -> None:
    contents = {JUDGE: as_json(judge), HELD_OUT: as_json(figures), CARD: card(judge, figures)}
    manifest = Manifest(made_by=package_version(), digests={name: digest(text) for name, text in contents.items()})
    for name, text in (contents | {MANIFEST: as_json(manifest)}).items():
        write_lines(folder / name, [text])


def as_json(row: Row) -> str:
    return row.model_dump_json(indent=1) + "\n"


def _checked(folder: Path, name: str) -> bytes:
    manifest = json_row(_read(folder, MANIFEST), Manifest, str(folder / MANIFEST), PersonalError)
    content = _read(folder, name)
    if digest(content.decode("utf-8", "replace")) != manifest.digests.get(name):
        raise PersonalError(f"{folder / name} is not what was written, by its digest: fit anew with genie rater fit")
    return content


def _read(folder: Path, name: str) -> bytes:
    try:
        check_file(folder / name, LARGEST)
        return (folder / name).read_bytes()
    except OSError as error:
        raise PersonalError(
            f"{folder / name} cannot be read: {error.strerror or error}, expected a folder by genie rater fit"
        ) from error
