"""The folder that a curiosity model is kept in: weights, settings and counts, and no text or vote of anybody."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from genie_inspect.agreement.curiosity.comparison import Column, CuriosityComparison
from genie_inspect.engines.curiosity.votes import CuriosityModel, ExplainedVote
from genie_inspect.files.folders import new_folder
from genie_inspect.files.writing import write_lines
from genie_inspect.signature import package_version

MANIFEST, CARD, WEIGHTS = "curiosity.json", "card.md", "weights"
NAMES = {"pearson": "Pearson", "f1": "F1", "log_loss": "log loss", "auc": "AUC", "kappa": "Cohen's kappa"}

WITHIN = "Pearson, AUC and kappa compare votes of one fold."


class CuriosityManifest(BaseModel):
    """What stands in a folder, and what it rests on."""

    # JSON has no NaN: a figure that is not defined is written "NaN", which is read back as one
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")

    comparison: CuriosityComparison
    votes_by_rater: dict[str, int]
    version: str
    """Of this package."""
    weights: dict[str, str]
    """SHA-256 of each file of weights, by its path in the folder."""


def write_curiosity(
    output: Path, votes: Sequence[ExplainedVote], model: CuriosityModel, comparison: CuriosityComparison
) -> None:
    """Fit the model to all votes and write it, with its held-out figures and a card, into a new folder.

    Args:
        output: The folder.
        votes: What is learned from.
        model: With the same reading as the comparison's.
        comparison: The model's held-out figures.

    Raises:
        UnwritableError: If something stands at the output, or it cannot be written.
        UnfittableError: If the model cannot be fitted.
        EngineFailedError: If the model fails.
    """
    with new_folder(output) as folder:
        weights = folder / WEIGHTS
        weights.mkdir()
        model.fit(votes).save(weights)
        manifest = CuriosityManifest(
            comparison=comparison,
            votes_by_rater=dict(sorted(Counter(vote.rater for vote in votes).items())),
            version=package_version(),
            weights={path.relative_to(folder).as_posix(): _sha256(path) for path in _files(weights)},
        )
        write_lines(folder / MANIFEST, [manifest.model_dump_json(indent=1), "\n"])
        write_lines(folder / CARD, (f"{line}\n" for line in card(comparison)))


def card(comparison: CuriosityComparison) -> Iterator[str]:
    """The lines of the card, in Markdown."""
    yield "# A curiosity model\n"
    yield f"**{comparison.reading}**\n"
    yield f"{counts(comparison)} Read with {comparison.model}.\n"
    yield f"| held out in {comparison.folds} folds | {' | '.join(map(heading, comparison.columns))} |"
    yield "|:--|" + "--:|" * len(comparison.columns)
    for key, name in NAMES.items():
        yield f"| {name} | {' | '.join(cell(column, key) for column in comparison.columns)} |"
    yield ""
    yield f"95% intervals: {comparison.plots} plots drawn with replacement. {WITHIN}"
    yield "Settings: " + ", ".join(f"{name} {value:g}" for name, value in comparison.settings.items()) + "."


def counts(comparison: CuriosityComparison) -> str:
    """What was learned from and predicted, in one sentence or two."""
    unknown = max(column.unknown_raters for column in comparison.columns)
    return (
        f"{comparison.votes} votes, {comparison.yes} of them yes, {comparison.explained} with an explanation, by "
        f"{comparison.raters} raters on {comparison.stories} stories of {comparison.plots} plots."
        + (f" {unknown} votes are by raters who gave none outside of the fold." if unknown else "")
    )


def heading(column: Column) -> str:
    """A column's name."""
    if column.explanation is None:
        return "share of yes by test, whole plots"
    reading = "reads the answer" if column.explanation == "held-out" else "without the explanation"
    return f"{reading}, {'by rows' if column.held_out == 'rows' else 'whole plots'}"


def cell(column: Column, key: str) -> str:
    """A figure with its interval; without them where it is not defined."""
    figure = column.figures[key]
    if figure.value != figure.value:
        return "not defined"
    ends = "" if figure.low != figure.low else f" [{figure.low:.3f}, {figure.high:.3f}]"
    return f"{figure.value:.3f}{ends}"


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
