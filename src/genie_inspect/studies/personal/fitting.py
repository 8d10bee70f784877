"""A judge of one's own from votes and scores, and what it foretold of plots held out: `genie rater`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from genie_inspect.agreement.figures import DOTS, INK
from genie_inspect.agreement.votes import VotesError
from genie_inspect.building.interviewing import Progress, no_progress
from genie_inspect.cli import VerbGroup
from genie_inspect.cli.options import Answer, answering, option, output_option, resamples_option
from genie_inspect.cli.running import progress_bar
from genie_inspect.cli.terminal import Unbroken, echo
from genie_inspect.files.tables import Table
from genie_inspect.files.writing import check_unused
from genie_inspect.statistics.agreement import LOG_LOSS, Forecasts, drawn_clusters, figures_of, mean_difference
from genie_inspect.statistics.ordinal import ShrunkenModel, shrunken_ordinal
from genie_inspect.studies.personal.ballots import Ballots, Codes, Values, reading_votes, voted
from genie_inspect.studies.personal.judge import (
    FEWEST_PLOTS,
    FEWEST_VOTES,
    FIGURES,
    GRADER,
    LENIENCY,
    MAJORITY,
    RATER,
    SCORES,
    SOURCE,
    TASTE,
    TEST,
    WITH_LENIENCY,
    WITH_TASTE,
    Figure,
    HeldOut,
    PersonalJudge,
    RaterFigures,
    RaterTerms,
    ScoreColumn,
    Tenth,
    beside_grader,
    read_judge,
    shown,
    shown_leniency,
    write_folder,
)
from genie_inspect.studies.personal.judge import forget as forgotten

if TYPE_CHECKING:
    import altair

Rows = NDArray[np.intp]

MOST_WITH_TASTE = 1_000  # raters

TERMS: Mapping[str, tuple[str, ...]] = {
    RATER: (TEST, LENIENCY),
    GRADER: (TEST, SCORES),
    WITH_LENIENCY: (TEST, SCORES, LENIENCY),
    WITH_TASTE: (TEST, SCORES, LENIENCY, TASTE),
}
"""Kinds of terms of each fitted model."""
STORY = "story"  # what no grader sees of a story: a kind of term that only a world is fitted with


@dataclass(frozen=True, slots=True)
class Fitted:
    terms: tuple[str, ...]
    means: Values  # of the scores
    spreads: Values
    model: ShrunkenModel

    def chances(self, ballots: Ballots) -> Values:
        """Chances of at least each step but the lowest, of votes, shape (N, steps - 1)."""
        groups, columns = _inputs(ballots, self.terms, self.means, self.spreads)
        return self.model.chances({name: codes for name, (codes, _) in groups.items()}, columns)


def fitted(ballots: Ballots, terms: tuple[str, ...]) -> Fitted:
    means, spreads = ballots.scores.mean(axis=0), ballots.scores.std(axis=0)
    # a number that never varies says nothing
    spreads[spreads < 1e-9] = 1.0
    model = shrunken_ordinal(ballots.levels, len(ballots.scale), *_inputs(ballots, terms, means, spreads))
    return Fitted(terms, means, spreads, model)


def _inputs(
    ballots: Ballots, terms: tuple[str, ...], means: Values, spreads: Values
) -> tuple[dict[str, tuple[Codes, int]], dict[str, Values]]:
    """By term of each vote its group, with how many groups there are; and its scores in standard deviations."""
    tests, raters = ballots.tests, ballots.raters
    every = {
        TEST: (tests.codes, len(tests)),
        LENIENCY: (raters.codes, len(raters)),
        TASTE: (raters.codes * len(tests) + tests.codes, len(raters) * len(tests)),
        STORY: (ballots.stories.codes, len(ballots.stories)),
    }
    columns = {SCORES: (ballots.scores - means) / spreads} if SCORES in terms else {}
    return {name: every[name] for name in terms if name in every}, columns


def judge_model(ballots: Ballots, *, taste: bool) -> str:
    """The model of a judge: with taste where that is wanted and can be told from leniency."""
    # of thousands of raters, each with a few votes a test, taste would take gigabytes and find nothing
    has_taste = len(ballots.tests) > 1 and len(ballots.raters) <= MOST_WITH_TASTE
    return WITH_TASTE if taste and has_taste else WITH_LENIENCY


EACH = 20  # plots, up to which each is held out by itself
FOLDS = 10
OF_VERDICTS = ("f1", "precision", "recall")  # figures that are of yes and no alone


def foretell(
    ballots: Ballots, seed: int = 0, models: Sequence[str] = (), told: Progress = no_progress
) -> dict[str, Forecasts]:
    """By model what it foretold of every vote, its plot held out.

    A vote is an event for each step of the scale, whether it is reached; those of one fold and step are compared.
    """
    factors = {MAJORITY: ballots.tests} | ({SOURCE: ballots.sources} if ballots.sources else {})
    names = models or [*factors, RATER, GRADER, *dict.fromkeys([WITH_LENIENCY, judge_model(ballots, taste=True)])]
    folds, steps = folds_of(ballots.plots.codes, len(ballots.plots), seed), len(ballots.scale) - 1
    reached = ballots.levels[:, None] > np.arange(steps)
    chances = {name: np.empty(reached.shape) for name in names}
    count = int(folds.max()) + 1
    for fold in range(count):
        wanted, learnt = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        for name in names:
            if name in factors:
                own, size = factors[name].codes, len(factors[name])
                sums = np.column_stack([np.bincount(own[learnt], column, size) for column in reached[learnt].T])
                # half a vote for and against: a group without a vote is known as little
                shares = (sums + 0.5) / (np.bincount(own[learnt], minlength=size)[:, None] + 1)
                chances[name][wanted] = shares[own[wanted]]
            else:
                chances[name][wanted] = fitted(ballots.at(learnt), TERMS[name]).chances(ballots.at(wanted))
        told("holding plots out", fold + 1, count)
    step = np.tile(np.arange(steps), len(ballots))
    strata, inner = (
        np.repeat(own, steps) * steps + step for own in (folds, folds * len(ballots.raters) + ballots.raters.codes)
    )
    outcomes, plots = reached.ravel().astype(float), np.repeat(ballots.plots.codes, steps)
    return {name: Forecasts(own.ravel(), outcomes, plots, strata, inner) for name, own in chances.items()}


def folds_of(plots: Codes, count: int, seed: int) -> Codes:
    """The fold of each row: plots whole, each by itself where they are few."""
    if count < 2:
        raise VotesError("all votes are on stories of one plot, expected two plots or more: none can be held out")
    if count <= EACH:
        return plots
    fold_of = np.empty(count, dtype=np.int64)
    fold_of[np.random.default_rng(seed).permutation(count)] = np.arange(count) % FOLDS
    return np.asarray(fold_of[plots])


def figures(
    ballots: Ballots, foretold: Mapping[str, Forecasts], model: str, resamples: int = 1_000, seed: int = 0
) -> HeldOut:
    plots, raters, steps = ballots.plots, ballots.raters, len(ballots.scale) - 1
    draws = drawn_clusters(len(plots), resamples, seed)
    folds = int(foretold[model].strata.max()) // steps + 1
    wanted = [name for name in FIGURES if steps == 1 or name not in OF_VERDICTS]
    models = {}
    for name, forecasts in foretold.items():
        intervals = figures_of(forecasts, draws, folds)
        models[name] = {figure: Figure.model_validate(intervals[figure]) for figure in wanted}
    models = dict(sorted(models.items(), key=lambda item: item[1][LOG_LOSS].value or 0.0))
    losses = {name: own.log_losses.reshape(-1, steps).sum(axis=1) for name, own in foretold.items()}

    def gain(name: str, rows: Rows, confidence: float = 0.95) -> Figure:
        deltas = (losses[name] - losses[GRADER])[rows]
        sums, counts = (np.bincount(plots.codes[rows], own, len(plots)).astype(float) for own in (deltas, None))
        return Figure.model_validate(mean_difference(draws, sums, counts, confidence))

    by_rater = {name: np.flatnonzero(raters.codes == code) for code, name in enumerate(raters.names)}
    # one plot drawn again and again has no spread, which would read as certainty
    sure = {name for name, rows in by_rater.items() if len(np.unique(plots.codes[rows])) >= FEWEST_PLOTS}
    of_raters = {}
    for name, rows in by_rater.items():
        # an error of 5% over all of them together (Bonferroni)
        own = gain(model, rows, 1 - 0.05 / max(1, len(sure)))
        of_raters[name] = RaterFigures(
            votes=len(rows),
            stories=len(np.unique(ballots.stories.codes[rows])),
            gain=own if name in sure else Figure(value=own.value, low=None, high=None),
        )
    return HeldOut(
        votes=len(ballots),
        stories=len(ballots.stories),
        plots=len(plots),
        folds=folds,
        model=model,
        models=models,
        gains={name: gain(name, np.arange(len(ballots))) for name in models},
        calibration=tuple(
            Tenth(votes=votes, mean=mean, share=share) for votes, mean, share in foretold[model].calibration()
        ),
        raters=of_raters,
        left_out=dict(ballots.left_out),
    )


def fit_judge(
    ballots: Ballots, *, taste: bool = True, resamples: int = 1_000, seed: int = 0, told: Progress = no_progress
) -> tuple[PersonalJudge, HeldOut]:
    model = judge_model(ballots, taste=taste)
    found = foretell(ballots, seed, told=told)
    return judge_of(ballots, fitted(ballots, TERMS[model])), figures(ballots, found, model, resamples, seed)


def judge_of(ballots: Ballots, fit: Fitted) -> PersonalJudge:
    tests, raters, model = ballots.tests, ballots.raters, fit.model
    cells = np.bincount(raters.codes * len(tests) + tests.codes, minlength=len(raters) * len(tests))
    votes = cells.reshape(len(raters), len(tests))
    tastes = model.terms.get(TASTE, np.zeros(votes.size)).reshape(votes.shape)
    # a test without a vote of the rater has no taste
    tastes = np.where(votes, tastes, 0)
    columns = zip(ballots.columns, fit.means, fit.spreads, model.terms[SCORES], strict=True)
    return PersonalJudge(
        scale=ballots.scale,
        thresholds=tuple(model.thresholds),
        tests=dict(zip(tests.names, model.terms[TEST], strict=True)),
        columns=tuple(
            ScoreColumn(**dict(source), mean=mean, spread=spread, slope=slope)
            for source, mean, spread, slope in columns
        ),
        raters={
            name: RaterTerms(
                votes=votes[rater].sum(),
                leniency=model.terms[LENIENCY][rater],
                error=model.errors[LENIENCY][rater],
                taste={test: taste for test, taste in zip(tests.names, tastes[rater], strict=True) if taste},
            )
            for rater, name in enumerate(raters.names)
        },
        variances=model.variances,
    )


def calibration_chart(figures: HeldOut) -> "altair.LayerChart | altair.FacetChart":
    """What came true of the forecasts in each tenth of the scale; on the line they are what comes true."""
    import altair

    rows = [{"foretold": own.mean, "true": own.share, "votes": own.votes} for own in figures.calibration]
    whole = altair.Scale(domain=[0, 1])
    ends = altair.Chart(altair.InlineData(values=[{"end": 0}, {"end": 1}])).mark_line(color=INK, strokeDash=[4, 4])
    dots = altair.Chart(altair.InlineData(values=rows)).mark_circle(color=DOTS, opacity=0.8)
    size = altair.Size("votes:Q", title="votes", scale=altair.Scale(range=[30, 400]))
    return altair.layer(
        ends.encode(
            x=altair.X("end:Q", title="predictions for plots held out", scale=whole),
            y=altair.Y("end:Q", title="came true", scale=whole),
        ),
        dots.encode(x="foretold:Q", y="true:Q", size=size),
    ).properties(width=300, height=300, title=altair.TitleParams(figures.model, anchor="start"))


HOME = "genie_inspect.studies.personal"
VERBS = {
    "fit": (f"{HOME}.fitting:fit", "Predict each rater's votes from a grader's scores."),
    "power": (f"{HOME}.power:power", "Estimate on how many stories raters must vote."),
    "forget": (f"{HOME}.fitting:forget", "Remove one rater from a folder by `genie rater fit`."),
    "curiosity": (f"{HOME}.curiosity:curiosity", "Measure how well a curiosity model predicts raters' verdicts."),
}


@click.group(cls=VerbGroup, sections={"Commands": VERBS})
def rater() -> None:
    """Fit a judge of your own, which corrects a grader's scores by people's votes.

    \b
    Example: genie rater fit votes.csv --scores logs/ -o taste
             inspect score LOG --scorer genie_inspect/personal -S rater=taste#ann --action append
    """


AS_CHANCES = ("log_loss", "brier", "auc", "auc_within")
GAIN = "log loss less the grader's"


def figures_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> Table:
    # an interval on a line of its own keeps nine figures in a terminal
    broken = [(name, *(cell.replace(" [", "\n[") for cell in cells)) for name, *cells in rows]
    return Table(title, heads, broken, caption, look="folded")


TASTE_OPTION = option("--taste/--no-taste", default=True, help="Let raters differ by test, or not.")


@click.command()
@reading_votes
@output_option(help="Folder to make.")
@TASTE_OPTION
@resamples_option(default=1_000)
@answering(picture="the calibration")
def fit(output: Path, taste: bool, resamples: int, seed: int, **given: Any) -> Answer:
    """Predict each rater's votes from a grader's scores.

    VOTES is a CSV or JSON Lines file with one row per vote: story, rater, verdict or number, and where known test, plot
    and source; or a file for `genie agreement`. Whole plots are held out.

    \b
    Example: genie rater fit votes.csv --scores logs/ -o taste
    """
    check_unused(output)
    ballots = voted(**given)
    with progress_bar() as advance:
        judge, figures = fit_judge(ballots, taste=taste, resamples=resamples, seed=seed, told=advance)
    write_folder(judge, figures, output)

    def parts() -> Iterator[Table | str]:
        counted = f"{figures.votes:,} votes on {figures.stories} stories of {figures.plots} plots"
        title = f"{counted}, plots held out whole [95%]"
        first, *others = AS_CHANCES
        rows = []
        for model, own in figures.models.items():
            gain = shown(figures.gains[model], 4, "+") if figures.gains[model].value else "0"
            rows.append([model, shown(own[first], 4), gain, *(shown(own[name]) for name in others)])
        yield figures_table(title, ("predicted by", FIGURES[first], GAIN, *(FIGURES[name] for name in others)), rows)
        names = [name for name in FIGURES if name not in AS_CHANCES and name in figures.models[figures.model]]
        rows = [[model, *(shown(own[name]) for name in names)] for model, own in figures.models.items()]
        heads = ("predicted by", *(FIGURES[name] for name in names))
        yield figures_table("Verdicts: yes above a chance of a half [95%]", heads, rows)
        rows = [[f"{own.mean:.3f}", f"{own.share:.3f}", f"{own.votes:,}"] for own in figures.calibration]
        yield figures_table(f"Calibration of {figures.model}", ("predicted, mean", "came true", "votes"), rows)
        rows = []
        for name, terms in judge.raters.items():
            found = figures.raters[name]
            says = ", ".join(filter(None, (judge.leaning(name), beside_grader(found.gain))))
            if terms.votes < FEWEST_VOTES:
                says = f"fewer than {FEWEST_VOTES} votes: not predicted"
            gain = shown(found.gain, sign="+")
            how = (shown_leniency(judge, name), gain, says or "cannot be told from the average")
            rows.append([name, f"{terms.votes:,}", str(found.stories), *how])
        heads = ("rater", "votes", "stories", "leniency", GAIN, "")
        yield figures_table("Raters [95%, for all raters together]", heads, rows)
        for reason, count in figures.left_out.items():
            yield Unbroken(f"Left out: {count} votes {reason}.")
        yield Unbroken(figures.sentence)
        yield Unbroken(f"{output}: {len(judge.raters)} raters, judge@{judge.digest}")

    found = {"judge": judge.model_dump(), "figures": figures.model_dump()}
    value = {"folder": str(output), "sentence": figures.sentence, **found}
    return Answer(value, parts(), lambda: calibration_chart(figures))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("rater")
def forget(folder: Path, rater: str) -> None:
    """Remove one rater from a folder by `genie rater fit`.

    Figures over all votes stay: fit again without the rater's votes to remove their effect too.

    \b
    Example: genie rater forget taste ann
    """
    before = read_judge(folder).digest
    votes = forgotten(folder, rater)
    after = read_judge(folder)
    echo(f"{folder}: forgot {rater} and the {votes} votes behind; {len(after.raters)} raters are left.")
    echo(f"judge@{before} is now judge@{after.digest}: scores by the one do not compare with those by the other.")
    echo("Coefficients of tests and scores, and the figures over all votes, still rest on these votes too: fit again")
    echo("without them to remove their effect.")
