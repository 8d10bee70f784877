"""The scorer `partition`: which of the population's kinds of document a document is."""

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.graders.cost import Cost
    from genie_inspect.prompting.templates import Template
    from genie_inspect.scorers.assessment import Compared

KEYS = ("partition_novel", "partition_share")
SHOWN = 20  # members of a class in the metadata
UNREADABLE = "the judge's replies could not be read"
OWN_CLASS = "a class of its own"
RANGES = {"partition_*": (0, 1)}


@scorer(
    metrics=per_key(RANGES),
    headline="partition_novel",
    ranges=RANGES,
    meaning="0: the same class as all documents of the population. 1: a class of its own. Higher is rarer.",
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
            extra), `classifier/<hub id or folder>` (any sequence-pair model) or `embedding` (no model: a smoke test).
        threshold: Probability or cosine from which two texts are the same; the published or measured one unless given.
        embedder: For `embedding`.
        templates: A folder of your own instruction templates, for `grader`.

    Raises:
        RefusedError: If the population cannot be opened or has only answers, equivalence or embedder is unknown, the
            classifier's extra is not installed, or its folder lacks something.

    Source: NoveltyBench (Zhang et al. 2025, arXiv 2504.05228), its partition applied to a population.
    """
    from genie_inspect.graders.equivalence import chosen_equivalence, class_of, classes_of
    from genie_inspect.graders.grader import refusals
    from genie_inspect.scorers.explanation import cell
    from genie_inspect.scorers.outcome import Measurement, Warm, kept_embedder, reference, scored
    from genie_inspect.signature import signature

    with refusals():
        opened = reference(population, "partition")
        same_by = chosen_equivalence(equivalence, kept_embedder(embedder), threshold, templates)
    warm: Warm[tuple[list[str], list[int | None]]] = Warm()

    async def score(state: TaskState, target: Target) -> Score:
        same = same_by()
        facts = {"signature": signature("partition", version="2-A", equivalence=same.signature, population=opened.name)}

        async def placed(text: str, prompt: str, others: "Compared") -> Measurement:
            texts = [document.text for document in others.documents]
            key = (same.signature, prompt, others.left_out)
            founders, classes = await warm.get(key, partial(classes_of, texts, prompt, same))
            label = await class_of(text, prompt, [*founders], same)
            # documents without a class are in no share: neither like this one nor unlike it
            undecided = classes.count(None)
            decided = len(classes) - undecided
            metadata = {"classes": len(founders), "undecided": undecided, "class": label}
            if label is None:
                return Measurement({}, f"Not measured: {UNREADABLE}.", metadata, reason=UNREADABLE)
            # a class that the document founds has no members yet, and so a share of 0
            members = [one.id for one, other in zip(others.documents, classes, strict=True) if other == label]
            value = {"partition_novel": float(not members), "partition_share": 1 - len(members) / decided}
            where = f"in one class with {len(members)} of them, such as {cell(members[0])}" if members else OWN_CLASS
            notes = f"Classes among {decided} documents of the population: {len(founders)}; this one is {where}."
            if undecided:
                notes += f" {undecided} more could not be put in a class and do not count."
            return Measurement(value, notes, metadata | {"members": members[:SHOWN]})

        return await scored(state, opened, KEYS, facts, placed)

    return score


def cost(template: "Template", prompt: str, lengths: Sequence[int], count: int) -> "Cost":
    """At most what a grader is asked to place new documents: as if each of the population's were a class of its own."""
    from genie_inspect.graders.equivalence import comparing_cost, partition_cost

    return partition_cost(template, prompt, lengths) + comparing_cost(template, prompt, fmean(lengths), lengths) * count
