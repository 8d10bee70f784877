"""The scorer `novelty_bench`: how many kinds of reply there are among k, and what they are worth to a reader."""

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.measures.partition import PATIENCE
from genie_inspect.scorers.stderr import per_key

RANGES = {"distinct": (1, "k"), "utility": (0, 10)}


@scorer(
    metrics=per_key(RANGES),
    headline="distinct",
    # of k replies that are scored at least one can be used
    ranges=RANGES,
    meaning=(
        "How many kinds of reply one prompt gets, and their worth to a reader. Higher is more kinds, or more worth."
    ),
)
def novelty_bench(
    equivalence: str = "grader",
    quality: str = "grader",
    threshold: float | None = None,
    embedder: str = "static",
    patience: float = PATIENCE,
    templates: str | None = None,
) -> Scorer:
    """Kinds among the k replies of a sample (`distinct`, 1 to k), and `utility`, 0 to 10; both higher = better.

    Utility is the mean quality met by a reader who reads on with probability `patience` and to whom only the first
    reply of a kind is worth anything. An empty reply is no kind and worth nothing. NaN where the kinds, or the quality
    of the first of one, could not be found out.

    Args:
        equivalence: `grader`, `classifier` (published; an extra), `classifier/<hub id or folder>` or `embedded`.
        quality: `grader` (1 to 10), `reward` (published; an extra) or `reward/<hub id or folder>`.
        threshold: As for the scorer `partition`.
        embedder: For `equivalence=embedded`.
        patience: 0 to 1.
        templates: A folder of your own instruction templates, for the grader.

    Raises:
        RefusedError: If an option has a value that is not accepted, an extra is not installed, or a model's folder
            lacks something.

    Source: NoveltyBench (Zhang et al. 2025, arXiv 2504.05228).
    """
    from genie_inspect.graders.equivalence import chosen_equivalence, chosen_quality
    from genie_inspect.graders.grader import refusals
    from genie_inspect.options import check_share
    from genie_inspect.scorers.kinds_of_reply import Bench
    from genie_inspect.scorers.outcome import kept_embedder

    with refusals():
        check_share("patience", patience)
        same_by = chosen_equivalence(equivalence, kept_embedder(embedder), threshold, templates)
        worth_by = chosen_quality(quality, templates)

    async def score(state: TaskState, target: Target) -> Score:
        return await Bench(same_by(), worth_by(), patience).score(state)

    return score
