"""The scorer `novelty_bench`: how many kinds of reply there are among k, and what they are worth to a reader."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from genie_inspect.measures.partition import PATIENCE
from genie_inspect.scorers.stderr import per_key

if TYPE_CHECKING:
    from genie_inspect.graders.cost import Cost
    from genie_inspect.prompting.templates import Template

KEYS = ("distinct", "utility")
UNDECIDED = -1  # the class of a reply of which nobody could tell
WIDTH = 120  # characters of a reply in the explanation
NO_GENERATIONS = "no generations: run the task novelty_partition, whose solver keeps them"
RANGES = {"distinct": (1, "k"), "utility": (0, 10)}  # of k replies that are scored at least one can be used


@scorer(
    metrics=per_key(RANGES),
    headline="distinct",
    ranges=RANGES,
    meaning=("How many classes of replies one prompt gets, and their worth to a reader. Higher is more of either."),
)
def novelty_bench(
    equivalence: str = "grader",
    quality: str = "grader",
    threshold: float | None = None,
    embedder: str = "static",
    patience: float = PATIENCE,
    templates: str | None = None,
) -> Scorer:
    """Classes among the k replies of a sample (`distinct`, 1 to k), and `utility`, 0 to 10; both higher = better.

    Utility is the mean quality met by a reader who reads on with probability `patience` and to whom only the first
    reply of a class is worth anything. An empty reply has no class and is worth nothing. NaN where the classes, or the
    quality of the first reply of one, are unknown.

    Args:
        equivalence: `grader`, `classifier` (published; an extra), `classifier/<hub id or folder>` or `embedding`.
        quality: `grader` (1 to 10), `reward` (published; an extra) or `reward/<hub id or folder>`.
        threshold: As for the scorer `partition`.
        embedder: For `equivalence=embedding`.
        patience: 0 to 1.
        templates: A folder of your own instruction templates, for the grader.

    Raises:
        RefusedError: If an option has a value that is not accepted, an extra is not installed, or a model's folder
            lacks something.

    Source: NoveltyBench (Zhang et al. 2025, arXiv 2504.05228).
    """
    from genie_inspect.errors import check_share
    from genie_inspect.graders.equivalence import chosen_equivalence, chosen_quality, classes_of
    from genie_inspect.graders.grader import refusals
    from genie_inspect.measures.partition import distinct_count, utility
    from genie_inspect.prompting.texts import TOO_LONG
    from genie_inspect.samples import NO_RESPONSE, REFUSAL, kept_generations, no_document, prompt_of
    from genie_inspect.scorers.explanation import WIDTHS, cell, cut
    from genie_inspect.scorers.outcome import Measurement, kept_embedder, nothing, scored_or_reason
    from genie_inspect.signature import signature

    with refusals():
        check_share("patience", patience)
        same_by = chosen_equivalence(equivalence, kept_embedder(embedder), threshold, templates)
        worth_by = chosen_quality(quality, templates)

    async def score(state: TaskState, target: Target) -> Score:
        same, worth = same_by(), worth_by()
        replies, prompt = kept_generations(state), prompt_of(state)
        depends_on = {"equivalence": same.signature, "quality": worth.signature, "k": str(len(replies))}
        signed = signature("novelty_bench", version="2-A", **depends_on, patience=f"{patience:g}")

        async def measured() -> Measurement:
            if all(map(no_document, replies)):
                # a sample without one usable reply has no kinds; 0 would read as the worst of scores
                return replace(nothing(no_document(replies[0]) if replies else NO_GENERATIONS, "scored"), answer="")
            no_kind = {NO_RESPONSE: "empty", REFUSAL: "refusal", TOO_LONG: "too long"}
            places = [place for place, reply in enumerate(replies) if not no_document(reply)]
            _, found = await classes_of([replies[place] for place in places], prompt, same)
            # None for a reply that is empty or a refusal
            labels: list[int | None] = [None] * len(replies)
            for place, label in zip(places, found, strict=True):
                labels[place] = UNDECIDED if label is None else label
            # asked for is the first reply of each class alone
            first = {labels[place]: place for place in reversed(places) if labels[place] != UNDECIDED}
            rated = sorted(first.values())
            levels = [math.nan] * len(replies)
            for place, level in zip(rated, await worth.levels(prompt, [replies[p] for p in rated]), strict=True):
                levels[place] = level
            undecided = labels.count(UNDECIDED)
            # an undecided reply may found a class or not: the count is then not known
            both = {} if undecided else {KEYS[0]: distinct_count(labels), KEYS[1]: utility(levels, labels, patience)}
            rows = ["| reply | class | quality | begins |", "|--:|--:|--:|:--|"]
            for number, (reply, label, level) in enumerate(zip(replies, labels, levels, strict=True), start=1):
                kind = {None: no_kind.get(no_document(reply)), UNDECIDED: "undecided"}.get(label, str(label))
                quality = "" if math.isnan(level) else f"{level:g}"
                rows.append(f"| {number} | {kind} | {quality} | {cell(reply[:WIDTH])} |")
            metadata = {
                "k": len(replies),
                "classes": labels,
                "quality": [None if math.isnan(level) else level for level in levels],
                "empty": labels.count(None),
                "refused": sum(no_document(reply) == REFUSAL for reply in replies),
                "undecided": undecided,
            }
            return Measurement(both, "\n".join(rows), metadata, answer=replies[0])

        facts = {"signature": signed, "prompt": cut(prompt, WIDTHS[0])}
        return await scored_or_reason(state, KEYS, facts, measured)

    return score


def cost(same: "Template | None", worth: "Template | None", prompt: str, length: float, k: int) -> "Cost":
    """At most what a grader is asked of k replies to one prompt: as if each were a kind of its own."""
    from genie_inspect.graders.cost import Cost
    from genie_inspect.graders.equivalence import partition_cost
    from genie_inspect.graders.quality import quality_cost

    kinds = partition_cost(same, prompt, [length] * k) if same else Cost()
    return kinds + quality_cost(worth, prompt, length) * k if worth else kinds
