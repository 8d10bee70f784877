"""The population's answers that are nearest to a document's, and how many documents gave each."""

from dataclasses import dataclass

from genie_inspect.prompting.answers import normalised
from genie_inspect.scoring.assessment import QuestionResult


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One answer of the population, however its documents spell it."""

    text: str
    """As the first document that gave it has it."""
    rating: float
    """How alike the document's answer is, 1 to 4: the highest that it was given."""
    documents: int
    """How many population documents gave it."""


def neighbours(result: QuestionResult, most: int = 3) -> tuple[Neighbour, ...]:
    """The answers rated most alike, at most so many, nearest first; of equals the more common, then the first."""
    by_wording: dict[str, Neighbour] = {}
    for rating, other in zip(result.ratings, result.others, strict=True):
        # lost, or 0 for no answer
        if not rating:
            continue
        neighbour = by_wording.get(normalised(other.text), Neighbour(other.text, rating, 0))
        by_wording[normalised(other.text)] = Neighbour(
            neighbour.text, max(neighbour.rating, rating), neighbour.documents + 1
        )
    return tuple(sorted(by_wording.values(), key=lambda other: (-other.rating, -other.documents))[:most])
