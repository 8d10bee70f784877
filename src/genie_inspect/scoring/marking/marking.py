"""How a close reader is put to a document, and the score that comes of its marks."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.asking.cost import Cost, tokens
from genie_inspect.close_reader.instructions import ASPECTS
from genie_inspect.close_reader.reader import Approach, CloseReader
from genie_inspect.close_reader.reading import Reading
from genie_inspect.measures.length import word_count
from genie_inspect.populations.population import Population
from genie_inspect.samples.document import document_of
from genie_inspect.samples.prompt import prompt_of
from genie_inspect.scoring.explanation import REASONS, WIDTHS, cut
from genie_inspect.scoring.marking.explanation import evidence, explained
from genie_inspect.scoring.outcome import scored_or_reason
from genie_inspect.signature import signature

KEY_BY_ASPECT = {aspect: f"{aspect}_per_100_words" for aspect in ASPECTS}
KEYS = tuple(KEY_BY_ASPECT.values())[:2]
"""Those that every score has; with `sensical` there is a third."""


async def marked(reader: CloseReader, state: TaskState) -> Score:
    """The score of a sample's document; unscored with a reason where nothing is known of any aspect."""
    text = document_of(state)
    facts = {
        "signature": signature(
            "close_reading", version="2-A", reader=reader.signature, examples=reader.approach.examples.identity
        ),
        "prompt": cut(prompt_of(state), WIDTHS[0]),
    }

    async def measured() -> Score:
        readings = await reader.read(text)
        words = word_count(text)
        return Score(
            value={KEY_BY_ASPECT[reading.aspect]: reading.per_100_words(words) for reading in readings},
            answer=text,
            explanation=explained(text, readings),
            reason=_reason(readings),
            metadata=evidence(text, readings, **facts),
        )

    return await scored_or_reason(state, [KEY_BY_ASPECT[aspect] for aspect in reader.approach.aspects], facts, measured)


def cost(approach: Approach, population: Population, documents: Mapping[str, int]) -> Cost:
    """What the reader is asked of new documents.

    Args:
        approach: How it reads.
        population: Whose documents say how long new ones are.
        documents: How many new ones by prompt.
    """
    total = Cost()
    for prompt, count in documents.items():
        lengths = [tokens(document.text) for document in population.documents(prompt)]
        total += (approach.cost(fmean(lengths)) if lengths else Cost()) * count
    return total


def _reason(readings: Sequence[Reading]) -> str | None:
    """Why no aspect has a value; None where one has."""
    if not all(reading.reason for reading in readings):
        return None
    return REASONS.get(readings[0].reason, readings[0].reason)
