"""`genie rater`: a judge of one's own, from one's own votes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from genie_inspect.agreement.machine_scores import read_scores
from genie_inspect.agreement.votes import VotesError, prompt_of, read_votes
from genie_inspect.cli import VerbGroup, verbs_of
from genie_inspect.cli.options import FILE, Answer, answering, resamples_option, seed_option, together
from genie_inspect.cli.running import progress_bar
from genie_inspect.cli.terminal import Unbroken, echo
from genie_inspect.files.folders import check_unused
from genie_inspect.files.tables import Table
from genie_inspect.studies.personal.ballots import Ballots, ballots
from genie_inspect.studies.personal.curiosity import (
    NAMES,
    WITHIN,
    cell,
    compared,
    counts,
    heading,
    read_explained_votes,
    write_curiosity,
)
from genie_inspect.studies.personal.curiosity_models import LanguageCuriosity
from genie_inspect.studies.personal.curiosity_vectors import (
    EXPLANATIONS,
    CuriosityModel,
    Explanation,
    LoraSettings,
    VectorCuriosity,
    VectorSettings,
    settings_of,
)
from genie_inspect.studies.personal.fitting import calibration_chart, fit_judge
from genie_inspect.studies.personal.judge import (
    FEWEST_VOTES,
    FIGURES,
    beside_grader,
    read_judge,
    shown,
    shown_leniency,
    write_folder,
)
from genie_inspect.studies.personal.judge import forget as forgotten
from genie_inspect.studies.personal.power import learning_curve, power_chart, power_sentence

VERBS = {
    "fit": "Learn what raters say from votes and a grader's scores; says what it is worth.",
    "power": "Say how many stories a rater has to vote on.",
    "forget": "Take one rater out of a folder.",
    "curiosity": "Say how a curiosity model of raters does, and what of it is reading the answer.",
}


@click.group(cls=VerbGroup, verbs=verbs_of(__name__, VERBS))
def rater() -> None:
    """A judge of one's own: a grader's scores, calibrated by a rater's votes.

    \b
    Example: genie rater fit votes.csv --scores logs/ -o taste
             inspect score LOG --scorer genie_inspect/personal -S rater=taste#ann --action append
    """


AS_CHANCES = ("log_loss", "brier", "auc", "auc_within")
GAIN = "log loss less the grader's"


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> Table:
    # an interval on a line of its own keeps nine figures in a terminal
    broken = [(name, *(cell.replace(" [", "\n[") for cell in cells)) for name, *cells in rows]
    return Table(title, heads, broken, caption, look="folded")


reading_votes = together(
    click.argument("votes", type=FILE),
    click.option("--scores", multiple=True, required=True, type=FILE, help="Logs, or files of scores; repeatable."),
    click.option("--scorer", "scorers", multiple=True, help="Whose scores in logs; repeatable.  [default: ttcw]"),
    click.option("--key", "keys", multiple=True, help="Values of scores to go by; repeatable.  [default: the tests']"),
    click.option("--points", is_flag=True, help="Go by a critic's points on each test, not by pass and fail."),
    click.option("--test", "tests", multiple=True, help="Only votes on these tests; repeatable."),
    click.option("--leave-out", multiple=True, help="Story ids that do not count, such as '*_NewYorker'; repeatable."),
    click.option(
        "--plot",
        metavar="PATTERN",
        help="A regular expression of a story's id; what its first group (else all of it) matches is the plot.  "
        "[default: the file's column plot, else what stands before the first underscore]",
    ),
    click.option("--human", "humans", multiple=True, help="Sources that are people, such as NewYorker; repeatable."),
    seed_option(help="Of what is drawn."),
)
TASTE_OPTION = click.option(
    "--taste/--no-taste", default=True, help="Whether raters may differ by test too.  [default: taste]"
)


def voted(votes: Path, scores: tuple[Path, ...], scorers: tuple[str, ...], plot: str | None, **chosen: Any) -> Ballots:
    try:
        compiled = plot if plot is None else re.compile(plot)
    except re.error as error:
        raise VotesError(f"plot is {plot!r}, expected a regular expression: {error}") from error

    def plot_of(story: str) -> str:
        if compiled is None:
            return prompt_of(story)
        match = compiled.search(story)
        if match is None:
            raise VotesError(f"story {story!r} has no plot by {plot!r}, expected a pattern that matches every story")
        return (match[1] if compiled.groups else match[0]) or ""

    return ballots(read_votes(votes, numbers=True), read_scores(scores, scorers or ("ttcw",)), plot=plot_of, **chosen)


@click.command()
@reading_votes
@click.option("--output", "-o", required=True, type=FILE, help="The folder to make.")
@TASTE_OPTION
@resamples_option(default=1_000)
@answering(picture="a chart of the calibration")
def fit(output: Path, taste: bool, resamples: int, seed: int, **given: Any) -> Answer:
    """Learn from VOTES what each rater would say, given a grader's scores of the same stories.

    VOTES: CSV or JSON Lines, a row a vote with story, rater, verdict or number, and test if there are several (plot,
    source where they are known); or what `genie agreement` takes. Every plot is held out once, with all its stories.

    \b
    Example: genie rater fit votes.csv --scores logs/ -o taste
    """
    check_unused(output)
    ballots = voted(**given)
    with progress_bar() as advance:
        judge, figures = fit_judge(ballots, taste=taste, resamples=resamples, seed=seed, told=advance)
    write_folder(judge, figures, output)

    def parts() -> Iterator[Table | str]:
        title = (
            f"{figures.votes:,} votes on {figures.stories} stories of {figures.plots} plots, plots held out whole [95%]"
        )
        first, *others = AS_CHANCES
        rows = []
        for model, own in figures.models.items():
            gain = shown(figures.gains[model], 4, "+") if figures.gains[model].value else "0"
            rows.append([model, shown(own[first], 4), gain, *(shown(own[name]) for name in others)])
        yield _table(title, ("foretold by", FIGURES[first], GAIN, *(FIGURES[name] for name in others)), rows)
        names = [name for name in FIGURES if name not in AS_CHANCES and name in figures.models[figures.model]]
        rows = [[model, *(shown(own[name]) for name in names)] for model, own in figures.models.items()]
        heads = ("foretold by", *(FIGURES[name] for name in names))
        yield _table("Verdicts: yes above a chance of a half [95%]", heads, rows)
        rows = [[f"{own.mean:.3f}", f"{own.share:.3f}", f"{own.votes:,}"] for own in figures.calibration]
        yield _table(f"Calibration of {figures.model}", ("foretold, mean", "came true", "votes"), rows)
        rows = []
        for name, terms in judge.raters.items():
            found = figures.raters[name]
            says = ", ".join(filter(None, (judge.leaning(name), beside_grader(found.gain))))
            if terms.votes < FEWEST_VOTES:
                says = f"fewer than {FEWEST_VOTES} votes: not foretold"
            gain = shown(found.gain, sign="+")
            how = (shown_leniency(judge, name), gain, says or "cannot be told from the average")
            rows.append([name, f"{terms.votes:,}", str(found.stories), *how])
        heads = ("rater", "votes", "stories", "leniency", GAIN, "")
        yield _table("Raters [95%, for all raters together]", heads, rows)
        for reason, count in figures.left_out.items():
            yield Unbroken(f"Left out: {count} votes {reason}.")
        yield Unbroken(figures.sentence)
        yield Unbroken(f"{output}: {len(judge.raters)} raters, judge@{judge.digest}")

    found = {"judge": judge.model_dump(), "figures": figures.model_dump()}
    value = {"folder": str(output), "sentence": figures.sentence, **found}
    return Answer(value, parts(), lambda: calibration_chart(figures))


@click.command()
@reading_votes
@click.option("--simulate", is_flag=True, help="Draw votes like these instead: for more stories than there are.")
@click.option("--stories", "sizes", multiple=True, type=click.IntRange(2), help="How many; repeatable.")
@click.option("--repeats", default=40, show_default=True, type=click.IntRange(2), help="Draws of each number.")
@TASTE_OPTION
@answering(picture="the learning curve")
def power(simulate: bool, sizes: tuple[int, ...], repeats: int, taste: bool, seed: int, **given: Any) -> Answer:
    """How much better than by the grader alone raters are foretold, by the number of stories with VOTES.

    From the data: plots are drawn to learn from, and what is foretold of all other plots counts. With --simulate votes
    are drawn from a model of these votes, for any number of stories.

    \b
    Example: genie rater power votes.csv --scores logs/ --picture power.svg
    """
    ballots = voted(**given)
    with progress_bar() as told:
        title, points = learning_curve(
            ballots, sizes, simulate=simulate, repeats=repeats, taste=taste, seed=seed, told=told
        )

    def parts() -> Iterator[Table | str]:
        rows = []
        for point in points:
            gain = f"{point.gain:+.4f} [{point.low:+.4f}, {point.high:+.4f}]"
            rows.append((str(point.stories), f"{point.votes:.0f}", gain, f"{100 * point.better:.0f}%"))
        yield _table(title, ("stories", "votes a rater", GAIN, "1% better in"), rows)
        yield Unbroken(power_sentence(points))

    return Answer({"title": title, "points": points}, parts(), lambda: power_chart(title, points))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("rater")
def forget(folder: Path, rater: str) -> None:
    """Take all that is of one RATER alone out of a FOLDER by genie rater fit.

    What rests on the votes of all raters together stays; fit anew without the rater's votes to be rid of that too.

    \b
    Example: genie rater forget taste ann
    """
    before = read_judge(folder).digest
    votes = forgotten(folder, rater)
    after = read_judge(folder)
    echo(f"{folder}: forgot {rater} and the {votes} votes behind; {len(after.raters)} raters are left.")
    echo(f"judge@{before} is now judge@{after.digest}: scores by the one do not compare with those by the other.")
    echo("Coefficients of tests and scores, and the figures over all votes, still rest on these votes too: fit anew")
    echo("without them to take that away.")


@click.command()
@click.argument("votes", type=FILE)
@click.option("--base", metavar="FOLDER", help="A causal model to train adapters on (extra personal); else vectors.")
@click.option(
    "--explanation",
    type=click.Choice(EXPLANATIONS),
    default="none",
    show_default=True,
    help="held-out: as the study does, which reads the answer; both readings are shown.",
)
@click.option("--folds", default=5, show_default=True, type=click.IntRange(2), help="Each predicted from the others.")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A setting, such as epochs=1.")
@resamples_option(default=1_000)
@seed_option(help="Of folds and bootstrap.")
@click.option("--output", "-o", type=FILE, help="A new folder for the model that has learned from all votes.")
@answering()
def curiosity(
    votes: Path,
    base: str | None,
    explanation: Explanation,
    folds: int,
    pairs: tuple[str, ...],
    resamples: int,
    seed: int,
    output: Path | None,
) -> Answer:
    """How well a curiosity model tells the verdicts in VOTES, whole plots held out.

    VOTES is JSON Lines, a line a verdict: story, text, test, question, rater, verdict, explanation. Without --base it
    works on sentence vectors, anywhere.

    \b
    Example: genie rater curiosity votes.jsonl --explanation held-out
             genie rater curiosity votes.jsonl --base models/qwen -o mine
    """
    if output:
        check_unused(output)
    models: dict[Explanation, CuriosityModel]
    if base is None:
        vector_settings = settings_of(VectorSettings, pairs)
        models = {reading: VectorCuriosity(reading, vector_settings) for reading in EXPLANATIONS}
    else:
        lora_settings = settings_of(LoraSettings, pairs)
        models = {reading: LanguageCuriosity(base, reading, lora_settings) for reading in EXPLANATIONS}
    explained = read_explained_votes(votes)
    with progress_bar() as progress:
        found = compared(explained, models, explanation, folds=folds, resamples=resamples, seed=seed, progress=progress)
    if output:
        write_curiosity(output, explained, models[explanation], found)

    def parts() -> Iterator[Table | str]:
        yield Unbroken(found.reading)
        yield Unbroken(counts(found))
        heads = ("", *(heading(column).replace(", ", ",\n") for column in found.columns))
        rows = [(name, *(cell(column, key) for column in found.columns)) for key, name in NAMES.items()]
        caption = f"95% intervals: plots drawn with replacement. {WITHIN} Read with {found.model}."
        yield _table(f"Curiosity model, {found.folds} folds", heads, rows, caption)

    return Answer(found, parts())
