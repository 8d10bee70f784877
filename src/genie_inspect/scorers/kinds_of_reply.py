"""How many kinds of reply there are among k, and what they are worth to a reader: the scorer `novelty_bench`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.graders.cost import Cost
from genie_inspect.graders.equivalence import Equivalence, classes_of, partition_cost
from genie_inspect.graders.quality import Quality, quality_cost
from genie_inspect.measures.partition import distinct_count, utility
from genie_inspect.prompting.templates import Template
from genie_inspect.samples import NO_RESPONSE, REFUSAL, TOO_LONG, kept_generations, no_document, prompt_of
from genie_inspect.scorers.explanation import WIDTHS, cell, cut
from genie_inspect.scorers.outcome import scored_or_reason, unscored
from genie_inspect.signature import signature

KEYS = ("distinct", "utility")
UNDECIDED = -1  # the class of a reply of which nobody could tell
NO_KIND = {NO_RESPONSE: "empty", REFUSAL: "refusal", TOO_LONG: "too long"}
WIDTH = 120  # characters of a reply in the explanation
NO_GENERATIONS = "no generations: run the task novelty_partition, whose solver keeps them"


@dataclass(frozen=True, slots=True)
class Bench:
    """Who tells kinds and quality of replies, and how patient a reader is."""

    same: Equivalence
    worth: Quality
    patience: float

    async def score(self, state: TaskState) -> Score:
        """The score of one sample."""
        replies, prompt = kept_generations(state), prompt_of(state)
        facts = {
            "signature": signature(
                "novelty_bench",
                version="2-A",
                equivalence=self.same.signature,
                quality=self.worth.signature,
                k=str(len(replies)),
                patience=f"{self.patience:g}",
            ),
            "prompt": cut(prompt, WIDTHS[0]),
        }
        return await scored_or_reason(state, KEYS, facts, lambda: self._measured(replies, prompt, facts))

    async def _measured(self, replies: Sequence[str], prompt: str, facts: dict[str, str]) -> Score:
        if all(map(no_document, replies)):
            # a sample without one usable reply has no kinds; 0 would read as the worst of scores
            reason = no_document(replies[0]) if replies else NO_GENERATIONS
            return unscored(KEYS, reason, f"Not scored: {reason}.", "", dict(facts))
        labels = await labelled(replies, prompt, self.same)
        levels = await qualities(replies, labels, prompt, self.worth)
        return result(replies, labels, levels, self.patience, facts)


def cost(same: Template | None, worth: Template | None, prompt: str, length: float, k: int) -> Cost:
    """At most what a grader is asked of k replies to one prompt: as if each were a kind of its own."""
    kinds = partition_cost(same, prompt, [length] * k) if same else Cost()
    return kinds + quality_cost(worth, prompt, length) * k if worth else kinds


async def labelled(replies: Sequence[str], prompt: str, same: Equivalence) -> list[int | None]:
    """The class of each reply: None for one that is empty or a refusal, -1 where it could not be decided."""
    places = [place for place, reply in enumerate(replies) if not no_document(reply)]
    labels = (await classes_of([replies[place] for place in places], prompt, same)).labels
    decided = {place: UNDECIDED if label is None else label for place, label in zip(places, labels, strict=True)}
    return [decided.get(place) for place in range(len(replies))]


async def qualities(replies: Sequence[str], labels: Sequence[int | None], prompt: str, worth: Quality) -> list[float]:
    """The quality of the first reply of each class; NaN for every other, which is not asked for."""
    # backwards, so that the first place of each class is what stays
    first = {label: place for place, label in reversed(list(enumerate(labels))) if label not in (None, UNDECIDED)}
    places = sorted(first.values())
    levels = await worth.levels(prompt, [replies[place] for place in places])
    level_by_place = dict(zip(places, levels, strict=True))
    return [level_by_place.get(place, math.nan) for place in range(len(replies))]


def result(
    replies: Sequence[str],
    labels: Sequence[int | None],
    levels: Sequence[float],
    patience: float,
    facts: dict[str, str],
) -> Score:
    """The score of one sample, with a table of its replies."""
    undecided = list(labels).count(UNDECIDED)
    value = {
        # an undecided reply may found a class or not: the count is then not known
        "distinct": math.nan if undecided else float(distinct_count(labels)),
        "utility": math.nan if undecided else utility(levels, labels, patience),
    }
    rows = ["| reply | kind | quality | begins |", "|--:|--:|--:|:--|"]
    for number, (reply, label, level) in enumerate(zip(replies, labels, levels, strict=True), start=1):
        kind = {None: NO_KIND.get(no_document(reply)), UNDECIDED: "undecided"}.get(label, str(label))
        rows.append(f"| {number} | {kind} | {'' if math.isnan(level) else f'{level:g}'} | {cell(reply[:WIDTH])} |")
    metadata = {
        **facts,
        "k": len(replies),
        "classes": list(labels),
        "quality": [None if math.isnan(level) else level for level in levels],
        "empty": list(labels).count(None),
        "refused": sum(no_document(reply) == REFUSAL for reply in replies),
        "undecided": undecided,
    }
    return Score(value=dict(value), answer=replies[0], explanation="\n".join(rows), metadata=metadata)
