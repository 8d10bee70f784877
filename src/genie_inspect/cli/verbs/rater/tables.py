"""The tables of `genie rater`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from genie_inspect.agreement.personal.power import Curve
from genie_inspect.raters.card import foretold, leniency, shown
from genie_inspect.raters.figures import FIGURES, HeldOut
from genie_inspect.raters.judge import FEWEST_VOTES, PersonalJudge

if TYPE_CHECKING:
    from rich.table import Table


AS_CHANCES = ("log_loss", "brier", "auc", "auc_within")
GAIN = "log loss less the grader's"


def chances_table(figures: HeldOut) -> "Table":
    """How good the chances are that each model foretells, the best first: a row a model."""
    table = _table(
        f"{figures.votes:,} votes on {figures.stories} stories of {figures.plots} plots, plots held out whole [95%]",
        "foretold by",
        FIGURES[AS_CHANCES[0]],
        GAIN,
        *(FIGURES[name] for name in AS_CHANCES[1:]),
    )
    for model, own in figures.models.items():
        gain = shown(figures.gains[model], 4, "+") if figures.gains[model].value else "0"
        first, *others = (shown(own[name], 4 if name == AS_CHANCES[0] else 3) for name in AS_CHANCES)
        table.add_row(model, *map(_cell, (first, gain, *others)))
    return table


def verdicts_table(figures: HeldOut) -> "Table":
    """How good the verdicts are that each model foretells, in the same order: a row a model."""
    models = figures.models
    names = [name for name in FIGURES if name not in AS_CHANCES and any(name in own for own in models.values())]
    table = _table("Verdicts: yes above a chance of a half [95%]", "foretold by", *(FIGURES[name] for name in names))
    for model, own in models.items():
        table.add_row(model, *(_cell(shown(own[name])) for name in names))
    return table


def raters_table(judge: PersonalJudge, figures: HeldOut) -> "Table":
    """Every rater: votes, leniency, how much better than by the grader alone."""
    table = _table("Raters [95%, for all raters together]", "rater", "votes", "stories", "leniency", GAIN, "")
    for name, terms in judge.raters.items():
        own = figures.raters[name]
        if terms.votes < FEWEST_VOTES:
            says = f"fewer than {FEWEST_VOTES} votes: not foretold"
        else:
            lenient = ("more lenient" if terms.leniency > 0 else "harsher") if judge.stands_out(name) else ""
            says = ", ".join(filter(None, (lenient, foretold(own.gain)))) or "cannot be told from the average"
        cells = (str(own.stories), leniency(judge, name), shown(own.gain, 3, "+"), says)
        table.add_row(name, f"{terms.votes:,}", *map(_cell, cells))
    return table


def calibration_table(figures: HeldOut) -> "Table":
    """What came true of the forecasts: a row a tenth of the scale."""
    table = _table(f"Calibration of {figures.model}", "foretold, mean", "came true", "votes")
    for own in figures.calibration:
        table.add_row(f"{own.mean:.3f}", f"{own.share:.3f}", f"{own.votes:,}")
    return table


def power_table(curve: Curve) -> "Table":
    """The gain over the grader alone, by the number of stories: a row a number."""
    table = _table(curve.title, "stories", "votes a rater", GAIN, "1% better in")
    for point in curve.points:
        gain = f"{point.gain:+.4f} [{point.low:+.4f}, {point.high:+.4f}]"
        table.add_row(str(point.stories), f"{point.votes:.0f}", _cell(gain), f"{100 * point.better:.0f}%")
    return table


def left_out(figures: HeldOut) -> Iterable[str]:
    """A line for each reason for which votes do not count."""
    return (f"Left out: {count} votes {reason}." for reason, count in figures.left_out.items())


def _cell(text: str) -> str:
    from rich.markup import escape

    # an interval on a line of its own keeps nine figures in a terminal
    return escape(text.replace(" [", "\n["))


def _table(title: str, *heads: str) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    for number, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if number else "left", overflow="fold")
    return table
