"""The scorer `partition`: which of the population's kinds of document a document is."""

from functools import partial

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

RANGES = {"partition_*": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="partition_novel",
    ranges=RANGES,
    meaning="0: the same kind of document as all of the population's. 1: a kind of its own. Higher is rarer.",
)
def partition(
    population: str = "starter",
    equivalence: str = "grader",
    threshold: float | None = None,
    embedder: str = "static",
    templates: str | None = None,
) -> Scorer:
    """Whether a document founds a class of its own among the population's for its prompt, and how rare its class is.

    Keys: `partition_novel`, 1 when it is the same as no class's first member, else 0; `partition_share`, 1 less the
    share of the population that is in its class. Both higher = more novel; NaN where it could not be decided. The
    population is partitioned once a prompt, in the order of its documents' ids.

    Args:
        population: `starter` or the folder of a population with documents.
        equivalence: `grader` (asks the grader role for functional equivalence), `classifier` (NoveltyBench's; an
            extra), `classifier/<hub id or folder>` (any sequence-pair model) or `embedded` (no model: a smoke test).
        threshold: Probability or cosine from which two texts are the same; the published or measured one unless given.
        embedder: For `embedded`.
        templates: A folder of your own instruction templates, for `grader`.

    Raises:
        RefusedError: If the population cannot be opened or has only answers, equivalence or embedder is unknown, the
            classifier's extra is not installed, or its folder lacks something.

    Source: NoveltyBench (Zhang et al. 2025, arXiv 2504.05228), its partition applied to a population.
    """
    from genie_inspect.graders.equivalence import chosen_equivalence
    from genie_inspect.graders.grader import refusals
    from genie_inspect.scorers.class_among_documents import KEYS, ClassesByPrompt, placed
    from genie_inspect.scorers.outcome import kept_embedder, reference, scored
    from genie_inspect.signature import signature

    with refusals():
        opened = reference(population, "partition")
        same_by = chosen_equivalence(equivalence, kept_embedder(embedder), threshold, templates)
    classes_by_prompt = ClassesByPrompt()

    async def score(state: TaskState, target: Target) -> Score:
        same = same_by()
        facts = {"signature": signature("partition", version="2-A", equivalence=same.signature, population=opened.name)}
        return await scored(state, opened, KEYS, facts, partial(placed, same, classes_by_prompt))

    return score
