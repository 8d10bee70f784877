"""The scorer `close_reading`: which expressions of a document are novel, and which do not work where they stand."""

from functools import partial

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

RANGES = {"*_per_100_words": (0, None)}


@scorer(
    metrics=per_key(RANGES),
    headline="novel_per_100_words",
    ranges=RANGES,
    meaning=(
        "Expressions that a reader marks, in a hundred words of the text: as novel, and as awkward where they stand. "
        "Higher is more of them; how many are too few or too many the numbers do not say."
    ),
)
def close_reading(sensical: bool = False, examples: str | None = None, templates: str | None = None) -> Scorer:
    """Expressions that the grader marks in a document, in a hundred of its words; the explanation has their reasons.

    Keys: `novel_per_100_words`, higher = more that is new and works; `awkward_per_100_words`, higher = more that does
    not work where it stands; with `sensical` also `senseless_per_100_words`. One request an aspect. A quote counts if
    it stands in the text; one who quotes over 30% of the words tells nothing apart, and leaves the aspect unscored.

    Args:
        sensical: Whether expressions that make no sense by themselves are marked too.
        examples: JSON Lines of texts with their marks that the reader is shown; none unless given.
        templates: A folder of your own instruction templates.

    Raises:
        RefusedError: If an option cannot be used.

    Source: Saakyan et al. 2025 (arXiv 2509.22641). Deviations: expressions are counted in a hundred words of the text;
    marks that overlap count once; the wording of the instructions is ours.
    """
    from genie_inspect.graders.close_reader import Approach, CloseReader, reading_model
    from genie_inspect.graders.grader import bound_when_scored, refusals
    from genie_inspect.options import check_switch
    from genie_inspect.scorers.marking import marked

    with refusals():
        check_switch("sensical", sensical)
        approach = Approach.load(examples, templates, sensical=sensical)
    reader_by = bound_when_scored(reading_model, partial(CloseReader, approach=approach))

    async def score(state: TaskState, target: Target) -> Score:
        return await marked(reader_by(), state)

    return score
