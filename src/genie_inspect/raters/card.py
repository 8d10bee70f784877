"""The card of a judge of one's own: what it says of whom, and how far to trust it."""

from collections.abc import Iterable, Sequence

from genie_inspect.populations.card import plain
from genie_inspect.raters.figures import FIGURES, Figure, HeldOut
from genie_inspect.raters.judge import FEWEST_VOTES, PersonalJudge

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
    """The card's text."""
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
        figures=_table(
            ["", *(FIGURES[name] for name in names)],
            ([name, *(shown(own.get(figure)) for figure in names)] for name, own in rows.items()),
        ),
        calibration=_table(
            ["foretold, mean", "came true", "votes"],
            ([f"{own.mean:.3f}", f"{own.share:.3f}", str(own.votes)] for own in figures.calibration),
        ),
        fewest=FEWEST_VOTES,
        raters_table=_table(
            ["rater", "votes", "leniency", "gain"],
            (
                [plain(name), str(terms.votes), leniency(judge, name), shown(figures.raters[name].gain, sign="+")]
                for name, terms in judge.raters.items()
            ),
        ),
    )


def shown(figure: Figure | None, decimals: int = 3, sign: str = "") -> str:
    """A figure with its interval."""
    if figure is None or figure.value is None:
        return "not defined"
    value = f"{figure.value:{sign}.{decimals}f}"
    if figure.low is None or figure.high is None:
        return value
    return f"{value} [{figure.low:{sign}.{decimals}f}, {figure.high:{sign}.{decimals}f}]"


def leniency(judge: PersonalJudge, rater: str) -> str:
    """A rater's leniency with its interval."""
    terms = judge.raters[rater]
    if not terms.error:
        return "as the average"
    low, high = judge.leniency(rater)
    return f"{terms.leniency:+.2f} [{low:+.2f}, {high:+.2f}]"


def foretold(gain: Figure) -> str:
    """How well a rater is foretold against the grader alone; empty where that cannot be told."""
    if not (gain.is_below or gain.is_above):
        return ""
    return f"foretold {'better' if gain.is_below else 'worse'} than by the grader alone"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
