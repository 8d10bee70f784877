"""The scorer `personal`: what one rater would say of a story, foretold from the scores that it has."""

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

RANGES = {"*_total": (None, None), "*": ("lowest", "highest")}


@scorer(
    metrics=per_key(RANGES),
    headline="*_total",
    ranges=RANGES,
    meaning=(
        "What a rater would say of a story, foretold from its scores by the rater's own votes: tests passed, as far as "
        "they can be expected, or points. Higher is better by this rater."
    ),
)
def personal(rater: str, fewest: int | None = None) -> Scorer:
    """The verdicts that a rater is expected to give, from scores by scorers that stand before it; it asks nobody.

    Keys for the rater R: `personal_R_01` and so on, by test the chance of a yes, 0 to 1 (of votes that are numbers,
    the number that is to be expected), and `personal_R_total`, their sum over the tests that could be foretold; with
    `#all` the total of every rater. NaN where a test has no score, and for a rater with too few votes; unscored with
    the reason where a score is missing or has another signature than the judge was fitted to. The explanation says how
    the scores' verdict moved and why.

    Args:
        rater: `FOLDER#ID`, a folder by `genie rater fit` and one of its raters, or `FOLDER#all`.
        fewest: Votes of a rater below which nothing is foretold; 20 unless given.

    Raises:
        RefusedError: If the folder holds no judge, or none that can be used on logs, or has no such rater.
    """
    from genie_inspect.graders.grader import refusals
    from genie_inspect.studies.personal.scorer import opened

    with refusals():
        foretelling = opened(rater, fewest)

    async def score(state: TaskState, target: Target) -> Score:
        return await foretelling.score(state)

    return score
