"""What is rated in a calibration: answers, each with others that it is compared with."""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from genie_inspect.errors import GenieError, UnknownChoiceError
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Question
from genie_inspect.prompting.answers import normalised

Pair = tuple[str, frozenset[str]]
"""A question's id, and two answers in either order as they count for equality."""


class CalibrationError(GenieError):
    """A calibration cannot be made from these files or options; the message names them."""


@dataclass(frozen=True, slots=True)
class Target:
    """One answer to a question, and the answers that it is compared with, all different."""

    question: Question
    answer: str
    others: tuple[str, ...]

    @property
    def pairs(self) -> list[Pair]:
        """The pairs that it stands for, in the order of the others."""
        return [pair(self.question.id, self.answer, other) for other in self.others]


def pair(question: str, answer: str, other: str) -> Pair:
    """The key of a pair of answers to a question: ratings with one key are of the same pair."""
    return question, frozenset((normalised(answer), normalised(other)))


def recorded_targets(population: Population, reader: str | None = None) -> list[Target]:
    """Every distinct answer on record to each question, against all the others to that question.

    Args:
        population: Whose recorded answers.
        reader: The signature of the reader who gave them; None takes the one who gave most.

    Raises:
        CalibrationError: If nobody's answers are on record.
        UnknownChoiceError: If that reader's are not.
    """
    recorded = population.answers(recorded_reader(population, reader))
    texts_by_question: dict[str, dict[str, str]] = {}
    for (_, question), text in recorded.items():
        if text is not None:
            # the first spelling of an answer stands for all that count as equal
            texts_by_question.setdefault(question, {}).setdefault(normalised(text), text)
    return [
        Target(question, text, tuple(other for other in answers if other != text))
        for prompt in population.prompts
        for question in population.questions(prompt)
        for answers in [list(texts_by_question.get(question.id, {}).values())]
        for text in answers
    ]


def recorded_reader(population: Population, reader: str | None = None) -> str:
    """The signature of the reader whose answers are taken: the one that is named, else the one who gave most.

    Raises:
        CalibrationError: If nobody's answers are on record.
        UnknownChoiceError: If that reader's are not.
    """
    readers = population.readers
    if not readers:
        raise CalibrationError(f"population {population.name} has no answers on record, expected some to draw from")
    if reader is not None and reader not in readers:
        raise UnknownChoiceError("reader", reader, "one of " + ", ".join(readers))
    return reader or max(readers, key=lambda name: len(population.answers(name)))


def drawn(targets: Iterable[Target], count: int, seed: int = 0) -> list[Target]:
    """A sample of targets with so many pairs in all, no pair twice in either order.

    Each feature of each prompt has the same share, as far as it has so many. The pairs of a share are of as few targets
    as hold them, because a list judge sees answers in the company of others.

    Args:
        targets: What to draw from; none when they hold no pair at all.
        count: How many pairs, as far as there are so many.
        seed: Which ones.
    """
    generator = random.Random(seed)  # noqa: S311  # a sample, no secret
    strata: dict[tuple[str, str], list[Target]] = {}
    for target in targets:
        strata.setdefault((target.question.feature, target.question.prompt), []).append(target)
    groups = list(strata.values())
    # or the first groups would always get what the others have too little of
    generator.shuffle(groups)
    sample: list[Target] = []
    seen: set[Pair] = set()
    available = [len({key for target in group for key in target.pairs}) for group in groups]
    for group, left in zip(groups, _shares(available, count), strict=True):
        for target in generator.sample(group, len(group)):
            # (a, b) and (b, a) are one pair: rated twice, it would count twice
            fresh = [other for other, key in zip(target.others, target.pairs, strict=True) if key not in seen]
            others = generator.sample(fresh, min(left, len(fresh)))
            if others:
                sample.append(Target(target.question, target.answer, tuple(others)))
                seen.update(sample[-1].pairs)
                left -= len(others)
    return sample


def _shares(available: Sequence[int], count: int) -> list[int]:
    """Equal shares of a count; what one has too little of goes to the others.

    >>> _shares([1, 9, 9], 10)
    [1, 5, 4]
    """
    shares = [0] * len(available)
    # the smallest first, so that what a group lacks is spread over all the larger ones
    for done, index in enumerate(sorted(range(len(available)), key=available.__getitem__)):
        shares[index] = min(available[index], math.ceil((count - sum(shares)) / (len(available) - done)))
    return shares
