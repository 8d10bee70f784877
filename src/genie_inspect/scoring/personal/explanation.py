"""How a verdict moved for a rater, and why, as a person reads it."""

import math
from collections.abc import Mapping, Sequence

from genie_inspect.raters.card import foretold, leniency, shown
from genie_inspect.raters.figures import HeldOut
from genie_inspect.raters.judge import Opinion, PersonalJudge
from genie_inspect.scoring.explanation import cell

Opinions = Mapping[str, Opinion | None]


def explained(
    judge: PersonalJudge,
    rater: str,
    opinions: Opinions,
    numbers: Mapping[str, Mapping[str, float]],
    figures: HeldOut,
) -> str:
    """A table with a row a test: what the scores say, the average rater, this one, and what moved it; then the votes.

    Args:
        judge: Whose opinions.
        rater: Whom they speak for.
        opinions: By test.
        numbers: By test and column, what the scores say.
        figures: How well it foretells.
    """
    heads = ["test", *(column.name for column in judge.columns), "average rater", rater, "log-odds moved by"]
    rows = [
        [test or "story", *(_number(numbers[test][column.name]) for column in judge.columns), *_opinion(opinion)]
        for test, opinion in opinions.items()
    ]
    foretold = [opinion for opinion in opinions.values() if opinion]
    expected, average = (math.fsum(getattr(one, what) for one in foretold) for what in ("expected", "average"))
    unit = "yes" if judge.is_yes_or_no else "points"
    lines = [
        f"Expected of {cell(rater)}: {expected:.2f} {unit} on {len(foretold)} tests; average rater: {average:.2f}."
    ]
    if missing := len(opinions) - len(foretold):
        lines.append(f"{missing} of {len(opinions)} tests are not foretold: a score of theirs is missing.")
    lines += [_standing(judge, rater, figures), figures.sentence]
    return _table(heads, rows) + "".join(f"\n\n{line}" for line in lines)


def explained_all(
    judge: PersonalJudge, opinions: Mapping[str, Opinions], raters: Sequence[str], figures: HeldOut
) -> str:
    """A table with a row a rater: votes, leniency, what is expected.

    Args:
        judge: Whose opinions.
        opinions: By rater and test, of those with enough votes.
        raters: All of them.
        figures: How well it foretells.
    """
    rows = []
    for rater in raters:
        terms = judge.raters[rater]
        foretold = [opinion for opinion in opinions.get(rater, {}).values() if opinion]
        expected = f"{math.fsum(one.expected for one in foretold):.2f}" if foretold else "too few votes"
        rows.append([rater, str(terms.votes), leniency(judge, rater), expected])
    return _table(["rater", "votes", "leniency", "expected"], rows) + f"\n\n{figures.sentence}"


def _standing(judge: PersonalJudge, rater: str, figures: HeldOut) -> str:
    """What sets the rater apart, as far as the votes say."""
    terms, own = judge.raters[rater], leniency(judge, rater)
    says = f"{cell(rater)}, {terms.votes} votes: cannot be told from the average rater in leniency ({own})"
    if judge.stands_out(rater):
        lenient = "more lenient" if terms.leniency > 0 else "harsher"
        says = f"{cell(rater)}, {terms.votes} votes: {lenient} than the average rater ({own})"
    gain = figures.raters[rater].gain
    return f"{says}; {how} ({shown(gain, sign='+')})." if (how := foretold(gain)) else f"{says}."


def _opinion(opinion: Opinion | None) -> list[str]:
    if opinion is None:
        return ["", "", "a score is missing"]
    moved = {"scores": opinion.scores, "leniency": opinion.leniency, "taste": opinion.taste}
    why = ", ".join(f"{name} {value:+.2f}" for name, value in moved.items() if value)
    return [f"{opinion.average:.2f}", f"{opinion.expected:.2f}", why or "nothing"]


def _number(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.3g}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    marks = [":--", *["--:"] * (len(heads) - 1)]
    lines = [map(cell, heads), marks, *(map(cell, row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
