"""What a curiosity model predicts of votes that it has not seen, beside what the same model gets by reading them."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, TypeAdapter

from genie_inspect.agreement.votes import VotesError, rows
from genie_inspect.building.interviewing import Progress, no_progress
from genie_inspect.cli.options import FILE, Answer, answering, option, output_option, resamples_option, seed_option
from genie_inspect.cli.running import progress_bar
from genie_inspect.cli.tables import ranged
from genie_inspect.cli.terminal import Unbroken
from genie_inspect.files.writing import check_unused, new_folder, write_lines
from genie_inspect.signature import package_version
from genie_inspect.statistics.agreement import Forecasts, drawn_clusters, figures_of
from genie_inspect.statistics.bootstrap import BootstrapInterval
from genie_inspect.studies.personal.curiosity_models import LanguageCuriosity
from genie_inspect.studies.personal.curiosity_vectors import (
    EXPLANATIONS,
    READING,
    CuriosityModel,
    ExplainedVote,
    Explanation,
    LoraSettings,
    Values,
    VectorCuriosity,
    VectorSettings,
    explained,
    settings_of,
)
from genie_inspect.studies.personal.fitting import figures_table

SHOWN = 3  # copies that an error names
Folds = NDArray[np.intp]  # the fold of each vote, from 0


def by_rows(votes: Sequence[ExplainedVote], folds: int, seed: int = 0) -> Folds:
    """Single votes, as many yes in each fold as in the others: a story stands in several folds."""
    verdicts = np.array([vote.verdict for vote in votes])
    fold_of = np.empty(len(votes), dtype=np.intp)
    generator = np.random.default_rng(seed)
    for verdict, name in ((True, "yes"), (False, "no")):
        places = np.flatnonzero(verdicts == verdict)
        if len(places) < folds:
            raise VotesError(
                f"{len(places)} of {len(votes)} votes say {name}, expected at least {folds}, one for each fold"
            )
        fold_of[generator.permutation(places)] = np.arange(len(places)) % folds
    return fold_of


def by_plots(votes: Sequence[ExplainedVote], folds: int, seed: int = 0) -> Folds:
    """Whole plots, each dealt to the fold that has the fewest yes so far, those with many yes first."""
    # a text that stands under two plots would be learnt with the one where it is held out with the other
    first: dict[str, ExplainedVote] = {}
    copies: dict[str, str] = {}
    for vote in votes:
        # whatever its case and spacing
        original = first.setdefault(" ".join(vote.text.casefold().split()), vote)
        if original.plot != vote.plot:
            copies[vote.story] = f"{vote.story!r} (plot {vote.plot!r}) of {original.story!r} (plot {original.plot!r})"
    if copies:
        named = ", ".join(list(copies.values())[:SHOWN]) + (", ..." if len(copies) > SHOWN else "")
        raise VotesError(
            f"{len(copies)} stories are copies of a story of another plot, expected each text under one plot (give "
            f"copies one plot): {named}"
        )
    plots = sorted({vote.plot for vote in votes})
    if len(plots) < folds:
        raise VotesError(f"{len(plots)} plots, expected at least {folds}, one for each fold: ask for fewer folds")
    yes = {plot: sum(vote.verdict for vote in votes if vote.plot == plot) for plot in plots}
    shuffled = [plots[index] for index in np.random.default_rng(seed).permutation(len(plots))]
    dealt: list[list[str]] = [[] for _ in range(folds)]
    for plot in sorted(shuffled, key=lambda plot: -yes[plot]):
        # by yes, then by size, so that plots without a yes are spread as well
        min(dealt, key=lambda fold: (sum(yes[name] for name in fold), len(fold))).append(plot)
    for number, fold in enumerate(dealt, start=1):
        if not sum(yes[plot] for plot in fold):
            raise VotesError(
                f"fold {number} of {folds} (plots {', '.join(fold) or 'none'}) has no yes: ask for fewer folds"
            )
    fold_of = {plot: number for number, fold in enumerate(dealt) for plot in fold}
    return np.array([fold_of[vote.plot] for vote in votes], dtype=np.intp)


Division = Literal["rows", "plots"]
DIVISIONS = {"rows": by_rows, "plots": by_plots}
NAMES = {"pearson": "Pearson", "f1": "F1", "log_loss": "log loss", "auc": "AUC", "kappa": "Cohen's kappa"}


@dataclass(frozen=True, slots=True)
class Prediction:
    """One way of predicting every vote once, from folds that did not hold it."""

    explanation: Explanation | None  # None: no model, but the share of yes on the test
    held_out: Division
    figures: dict[str, BootstrapInterval]  # over all votes, with intervals by plot; AUC and Pearson within a fold
    unknown_raters: int  # votes by raters who gave no vote that was learned from


@dataclass(frozen=True, slots=True)
class CuriosityComparison:
    reading: str  # whether any column reads the answer; it stands in everything that is printed or written
    model: str
    settings: dict[str, int | float]
    folds: int
    votes: int
    yes: int
    explained: int
    stories: int
    plots: int
    raters: int
    columns: tuple[Prediction, ...]


def compared(
    votes: Sequence[ExplainedVote],
    models: Mapping[Explanation, CuriosityModel],
    explanation: Explanation,
    *,
    folds: int = 5,
    resamples: int = 1_000,
    seed: int = 0,
    progress: Progress = no_progress,
) -> CuriosityComparison:
    """The figures without the explanation; with `held-out`, beside them what reading it gives, by rows and by plots."""
    raters = {vote.rater for vote in votes}
    if len(raters) < 2:
        raise VotesError(f"all votes are by rater {raters.pop()!r}, expected at least two raters")
    ways: list[tuple[Explanation, Division]] = [("none", "plots")]
    if explanation == "held-out":
        ways = [("held-out", "rows"), ("held-out", "plots"), *ways]
    # faults are said before hours of training
    for reading, _ in ways:
        explained(votes, reading)
    divisions = {held_out: DIVISIONS[held_out](votes, folds, seed) for _, held_out in ways}
    outcomes = np.array([float(vote.verdict) for vote in votes])
    plots, codes = np.unique([vote.plot for vote in votes], return_inverse=True)

    def column(chances: Values, reading: Explanation | None, held_out: Division) -> Prediction:
        fold_of = divisions[held_out]
        forecasts = Forecasts(chances, outcomes, codes, fold_of, fold_of)
        found = figures_of(forecasts, drawn_clusters(len(plots), resamples, seed), folds)
        # a rater is unknown all of whose votes are in one fold
        folds_of_raters = set(zip((vote.rater for vote in votes), fold_of.tolist(), strict=True))
        folds_by_rater = Counter(rater for rater, _ in folds_of_raters)
        unknown = sum(folds_by_rater[vote.rater] == 1 for vote in votes)
        return Prediction(reading, held_out, {name: found[name] for name in NAMES}, unknown)

    columns = []
    for reading, held_out in ways:
        step = f"explanation={reading}, {held_out} held out"
        chances = np.full(len(votes), np.nan)
        for fold in range(folds):
            is_out = divisions[held_out] == fold
            fitted = models[reading].fit(list(compress(votes, ~is_out)))
            chances[is_out] = fitted.probabilities(list(compress(votes, is_out)))
            progress(step, fold + 1, folds)
        columns.append(column(chances, reading, held_out))
    columns.append(column(shares(votes, divisions["plots"]), None, "plots"))
    model = models[explanation]
    return CuriosityComparison(
        reading=READING[explanation],
        model=model.name,
        settings=model.settings.model_dump(),
        folds=folds,
        votes=len(votes),
        yes=sum(vote.verdict for vote in votes),
        explained=sum(vote.explanation is not None for vote in votes),
        stories=len({vote.story for vote in votes}),
        plots=len(plots),
        raters=len(raters),
        columns=tuple(columns),
    )


def shares(votes: Sequence[ExplainedVote], fold_of: Folds) -> Values:
    """For each vote the share of yes on its test among the votes of the other folds, as if there had been one of each.

    Without that one of each, a test that nobody passed would make a first yes infinitely surprising.
    """
    verdicts, tests = np.array([vote.verdict for vote in votes]), np.array([vote.test for vote in votes])
    chances = np.empty(len(votes))
    for place in range(len(votes)):
        like = verdicts[(tests == tests[place]) & (fold_of != fold_of[place])]
        chances[place] = (like.sum() + 1) / (len(like) + 2)
    return chances


MANIFEST, CARD, WEIGHTS = "curiosity.json", "card.md", "weights"
WITHIN = "Pearson, AUC and kappa compare votes of one fold."


def write_curiosity(
    output: Path, votes: Sequence[ExplainedVote], model: CuriosityModel, comparison: CuriosityComparison
) -> None:
    """Fit the model to all votes and write it, with its held-out figures and a card, into a new folder."""
    with new_folder(output) as folder:
        weights = folder / WEIGHTS
        weights.mkdir()
        model.fit(votes).save(weights)
        files = [path for path in sorted(weights.rglob("*")) if path.is_file()]
        digests = {file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        manifest = {
            "comparison": comparison,
            "votes_by_rater": dict(sorted(Counter(vote.rater for vote in votes).items())),
            "version": package_version(),
            "weights": digests,
        }
        # JSON has no NaN: a figure that is not defined is written "NaN"
        as_json = TypeAdapter(dict[str, object], config=ConfigDict(ser_json_inf_nan="strings"))
        write_lines(folder / MANIFEST, [as_json.dump_json(manifest, indent=1).decode(), "\n"])
        write_lines(folder / CARD, (f"{line}\n" for line in card(comparison)))


def card(comparison: CuriosityComparison) -> Iterator[str]:
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
    unknown = max(column.unknown_raters for column in comparison.columns)
    return (
        f"{comparison.votes} votes, {comparison.yes} of them yes, {comparison.explained} with an explanation, by "
        f"{comparison.raters} raters on {comparison.stories} stories of {comparison.plots} plots."
        + (f" {unknown} votes are by raters who gave none outside of the fold." if unknown else "")
    )


def heading(column: Prediction) -> str:
    if column.explanation is None:
        return "share of yes by test, whole plots"
    reading = "reads the answer" if column.explanation == "held-out" else "without the explanation"
    return f"{reading}, {'by rows' if column.held_out == 'rows' else 'whole plots'}"


def cell(column: Prediction, key: str) -> str:
    figure = column.figures[key]
    return ranged(figure.value, figure.low, figure.high, ".3f", "not defined")


FORM = (
    'one line per verdict: {"story": "3_GPT4", "text": "...", "test": "09", "question": "...", "rater": "ann", '
    '"verdict": true, "explanation": "..."}'
)


def read_explained_votes(path: Path) -> list[ExplainedVote]:
    votes = [row for _, row in rows(path, ExplainedVote, FORM)]
    if not votes:
        raise VotesError(f"{path} has no vote, expected {FORM}")
    given = Counter((vote.story, vote.test, vote.rater) for vote in votes)
    (story, test, rater), count = given.most_common(1)[0]
    if count > 1:
        raise VotesError(f"{path}: {rater!r} gives {count} verdicts on test {test!r} of story {story!r}, expected one")
    texts: dict[str, tuple[str, str]] = {}
    for vote in votes:
        if texts.setdefault(vote.story, (vote.text, vote.plot)) != (vote.text, vote.plot):
            raise VotesError(f"{path}: story {vote.story!r} has two texts or plots, expected one of each")
    return votes


@click.command()
@click.argument("votes", type=FILE)
@option("--base", metavar="FOLDER", help="Model (extra `personal`). Default: sentence vectors.")
@option(
    "--explanation",
    type=click.Choice(EXPLANATIONS),
    default="none",
    metavar="TEXT",
    help="Explanation to read: none, or held-out as published, which contains the answer.",
)
@option("--folds", default=5, type=click.IntRange(2), help="Number of folds.")
@option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="Setting, such as epochs=1; repeatable.")
@resamples_option(default=1_000)
@seed_option(help="Random seed.")
@output_option(help="Folder for a model of all votes. Default: none.", required=False)
@answering()
def curiosity(
    votes: Path, base: str | None, explanation: Explanation, pairs: tuple[str, ...], output: Path | None, **plan: Any
) -> Answer:
    """Measure how well a curiosity model predicts raters' verdicts.

    Whole plots are held out.

    VOTES is a JSON Lines file with story, text, test, question, rater, verdict and explanation.

    \b
    Example: genie rater curiosity votes.jsonl --base models/qwen -o mine
    """
    if output:
        check_unused(output)
    make: Callable[[Explanation], CuriosityModel]
    if base is None:
        make = partial(VectorCuriosity, settings=settings_of(VectorSettings, pairs))
    else:
        make = partial(LanguageCuriosity, base, settings=settings_of(LoraSettings, pairs))
    models = {reading: make(reading) for reading in EXPLANATIONS}
    explained = read_explained_votes(votes)
    with progress_bar() as progress:
        found = compared(explained, models, explanation, **plan, progress=progress)
    if output:
        write_curiosity(output, explained, models[explanation], found)

    heads = ("", *(heading(column).replace(", ", ",\n") for column in found.columns))
    rows = [(name, *(cell(column, key) for column in found.columns)) for key, name in NAMES.items()]
    caption = f"95% intervals: plots drawn with replacement. {WITHIN} Read with {found.model}."
    table = figures_table(f"Curiosity model, {found.folds} folds", heads, rows, caption)
    return Answer(found, [Unbroken(found.reading), Unbroken(counts(found)), table])
