"""Which class of the documents of its prompt a text is in: the scorer `partition`."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean

from genie_inspect.graders.cost import Cost, tokens
from genie_inspect.graders.equivalence import Equivalence, class_of, classes_of, comparing_cost, partition_cost
from genie_inspect.measures.partition import Classes
from genie_inspect.populations.population import Population
from genie_inspect.prompting.templates import Template
from genie_inspect.scorers.assessment import Compared
from genie_inspect.scorers.explanation import cell
from genie_inspect.scorers.outcome import Measurement, Warm

ClassesByPrompt = Warm[Classes[str]]
KEYS = ("partition_novel", "partition_share")
SHOWN = 20  # members of a class in the metadata


async def placed(
    same: Equivalence, classes_by_prompt: ClassesByPrompt, text: str, prompt: str, others: Compared
) -> Measurement:
    """Which of the documents' classes a text is in."""
    texts, ids = [document.text for document in others.documents], [document.id for document in others.documents]
    classes = await classes_by_prompt.get(
        (same.signature, prompt, others.left_out), partial(classes_of, texts, prompt, same)
    )
    return measurement(await class_of(text, prompt, classes.founders, same), classes, ids)


def cost(template: Template, population: Population, documents: Mapping[str, int]) -> Cost:
    """At most what a grader is asked to place new documents: as if each of the population's were a class of its own."""
    total = Cost()
    for prompt, count in documents.items():
        lengths = [tokens(document.text) for document in population.documents(prompt)]
        new = comparing_cost(template, prompt, fmean(lengths), lengths) if lengths else Cost()
        total += partition_cost(template, prompt, lengths) + new * count
    return total


def measurement(label: int | None, classes: Classes[str], ids: Sequence[str]) -> Measurement:
    """Both values of a document, from its class among those of the population's documents."""
    # documents without a class are in no share: neither like this one nor unlike it
    decided = len(classes.labels) - classes.undecided
    metadata = {"classes": len(classes.founders), "undecided": classes.undecided, "class": label}
    if label is None or not decided:
        why = "the judge's replies could not be read" if label is None else "no document of the population has a class"
        return Measurement(dict.fromkeys(KEYS, math.nan), f"Not measured: {why}.", metadata, reason=why)
    # a class that the document founds has no members yet, and so a share of 0
    members = [ids[place] for place, other in enumerate(classes.labels) if other == label]
    value = {"partition_novel": float(not members), "partition_share": 1 - len(members) / decided}
    where = f"in one class with {len(members)} of them, such as {cell(members[0])}" if members else "a class of its own"
    notes = f"Classes among {decided} documents of the population: {len(classes.founders)}; this one is {where}."
    if classes.undecided:
        notes += f" {classes.undecided} more could not be put in a class and do not count."
    return Measurement(value, notes, metadata | {"members": members[:SHOWN]})
