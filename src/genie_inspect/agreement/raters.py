"""Judges and people as raters of pairs of answers: what they are given, and what they said."""

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

from genie_inspect.errors import GenieError, GraderFailedError, UnknownChoiceError
from genie_inspect.files.json_lines import placed_lines
from genie_inspect.files.tables import csv_rows, csv_text
from genie_inspect.files.writing import write_lines
from genie_inspect.graders.cache import RATINGS, Memo
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.list_judge import shuffled
from genie_inspect.graders.merging import RatingJudge, rate_all
from genie_inspect.graders.protocols import GRADER_FAILED, UNSPECIFIED, Answer, Compared, Judge, Rated
from genie_inspect.measures.genie import HIGHEST, LOWEST
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import NonEmpty, Question, Row, parsed, placed_rows
from genie_inspect.prompting.answers import normalised

Pair = tuple[str, frozenset[str]]  # a question's id, and two answers in either order as they count for equality


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
        return [pair(self.question.id, self.answer, other) for other in self.others]


def pair(question: str, answer: str, other: str) -> Pair:
    return question, frozenset((normalised(answer), normalised(other)))


def recorded_targets(population: Population, reader: str | None = None) -> list[Target]:
    """Every distinct answer on record to each question, against all the others to that question."""
    recorded = population.answers(recorded_reader(population, reader))
    texts_by_question: dict[str, dict[str, str]] = {}
    for (_, question), text in recorded.items():
        if text is not None:
            # the first spelling of an answer stands for all that count as equal
            texts_by_question.setdefault(question, {}).setdefault(normalised(text), text)
    targets = []
    for asked in _questions(population):
        answers = texts_by_question.get(asked.id, {}).values()
        targets += [Target(asked, text, tuple(other for other in answers if other != text)) for text in answers]
    return targets


def _questions(population: Population) -> list[Question]:
    return [question for prompt in population.prompts for question in population.questions(prompt)]


def recorded_reader(population: Population, reader: str | None = None) -> str:
    """The signature of the reader whose answers are taken: the one that is named, else the one who gave most."""
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
    missing, available = count, [len({key for target in group for key in target.pairs}) for group in groups]
    # the smallest first, so that what a group lacks is spread over all the larger ones
    shares = dict.fromkeys(range(len(groups)), 0)
    for done, place in enumerate(sorted(shares, key=available.__getitem__)):
        shares[place] = min(available[place], math.ceil(missing / (len(groups) - done)))
        missing -= shares[place]
    for group, left in zip(groups, shares.values(), strict=True):
        for target in generator.sample(group, len(group)):
            # (a, b) and (b, a) are one pair: rated twice, it would count twice
            fresh = [other for other, key in zip(target.others, target.pairs, strict=True) if key not in seen]
            others = generator.sample(fresh, min(left, len(fresh)))
            if others:
                sample.append(Target(target.question, target.answer, tuple(others)))
                seen.update(sample[-1].pairs)
                left -= len(others)
    return sample


RECORDED = "recorded"  # the signature of ratings from a file


@dataclass(frozen=True, slots=True)
class Ratings:
    """What one rater says of all pairs, in the order of the targets and in each of its others."""

    name: str
    signature: str
    values: tuple[float, ...]  # 1 to 4; NaN: none
    # why a rating that was asked for could not be had, by position; a pair without either was not asked
    faults: Mapping[int, str] = field(default_factory=dict)
    # where each pair stood in its list, 0 (first) to 1 (last), NaN alone; empty for a judge without lists
    positions: tuple[float, ...] = ()
    swapped: tuple[float, ...] = ()  # ratings of the pairs with their sides swapped; empty where not asked for

    @property
    def levels(self) -> NDArray[np.float64]:
        """The ratings as levels of the scale, which ordinal agreement ranks.

        A judge's mean over label probabilities is the nearest whole. Recorded ratings stay: a consensus of 2.5 is a
        level between 2 and 3.
        """
        values = np.array(self.values)
        return values if self.signature == RECORDED else np.round(values)


def recorded_ratings(name: str, said: Mapping[Pair, float | None], targets: Sequence[Target]) -> Ratings:
    found = [said.get(pair, math.nan) for target in targets for pair in target.pairs]
    faults = {index: UNSPECIFIED for index, rating in enumerate(found) if rating is None}
    return Ratings(name, RECORDED, tuple(math.nan if one is None else one for one in found), faults)


@dataclass(frozen=True, slots=True)
class Rater:
    name: str
    judge: Judge
    chunk: int = 1  # most answers that it is shown in one call; with 1 the order of a pair may matter to it
    swaps: bool = True  # whether one that is shown one answer per call is asked with the sides swapped, too

    def calls(self, targets: Sequence[Target]) -> int:
        """How many ratings it is asked for, swapped ones included."""
        pairs = sum(len(target.others) for target in targets)
        return pairs if self.chunk > 1 or not self.swaps else 2 * pairs


async def judge_ratings(
    rater: Rater, targets: Sequence[Target], told: Callable[[int], None] = lambda count: None
) -> Ratings:
    """What a judge says of the targets' pairs, and how much their order matters to it.

    A judge that sees one pair at a time is asked again with the sides swapped. For a list judge it is the position in
    the list that may matter; a list of which some ratings are kept is asked in another order, and has no positions.
    """
    name, judge, chunk = rater.name, rater.judge, rater.chunk
    memo = judge.memo if isinstance(judge, RatingJudge) else Memo()
    places = ((judge.signature, target.question.text, normalised(target.answer)) for target in targets)
    is_kept = [bool(memo.found(RATINGS, *place)) for place in places]
    failures: list[str] = []

    async def rated(targets: Sequence[Target]) -> list[Rated]:
        by_place: dict[int, Rated] = {}

        async def rate(group: Sequence[int]) -> None:
            asked = (targets[place] for place in group)
            items = [Compared(each.question, Answer(each.answer), list(map(Answer, each.others))) for each in asked]
            for place, item, found in zip(group, items, await rate_all(judge, items), strict=True):
                if isinstance(found, GraderFailedError):
                    failures.append(str(found))
                    found = Rated((None,) * len(item.others), dict.fromkeys(range(len(item.others)), GRADER_FAILED))
                by_place[place] = found
                told(len(item.others))

        await gathered(*map(rate, as_documents(targets)))
        return [by_place[place] for place in range(len(targets))]

    faults, values = _joined(await rated(targets))
    if values and len(faults) == len(values) and set(faults.values()) == {GRADER_FAILED}:
        raise CalibrationError(f"{name} rated nothing: {failures[0]}")
    positions: list[float] = []
    swapped: tuple[float, ...] = ()
    if chunk > 1:
        for target, kept in zip(targets, is_kept, strict=True):
            positions += [math.nan] * len(target.others) if kept else list_positions(target, chunk)
    elif rater.swaps:
        sides = [Target(target.question, other, (target.answer,)) for target in targets for other in target.others]
        _, swapped = _joined(await rated(sides))
    return Ratings(name, judge.signature, values, faults, tuple(positions), swapped)


def as_documents(targets: Sequence[Target]) -> list[list[int]]:
    """Places of the targets in groups, each as the answers of a document: to one prompt, no question twice."""
    turns = Counter[str]()
    groups: dict[tuple[str, int], list[int]] = {}
    for place, target in enumerate(targets):
        groups.setdefault((target.question.prompt, turns[target.question.id]), []).append(place)
        turns[target.question.id] += 1
    return list(groups.values())


def list_positions(target: Target, chunk: int) -> list[float]:
    """Where each other answer stands in the list judge's call, 0 (first) to 1 (last); NaN in a list of one."""
    order = shuffled(target.others, target.question.text, target.answer)
    places: dict[str, float] = {}
    for start in range(0, len(order), chunk):
        listed = order[start : start + chunk]
        last = len(listed) - 1
        places |= {text: index / last if last else math.nan for index, text in enumerate(listed)}
    return [places[other] for other in target.others]


def _joined(rated: Sequence[Rated]) -> tuple[dict[int, str], tuple[float, ...]]:
    """Faults by position, and ratings, NaN where there is none."""
    values: list[float] = []
    faults: dict[int, str] = {}
    for one in rated:
        faults |= {len(values) + index: fault for index, fault in one.faults.items()}
        values += [math.nan if rating is None else rating for rating in one.ratings]
    return faults, tuple(values)


BLIND_COLUMNS = ("id", "prompt", "question", "answer", "other", "rating", "note")
INSTRUCTIONS = """\
# How to fill in the table

Each row has a question about a text, and what two texts answer to it. Write in `rating` how alike the two answers are:

- 4: interchangeable; who reads one for the other loses nothing.
- 3: the same idea, with differences in scope or detail that one would notice.
- 2: a slight overlap, such as a broad theme.
- 1: different; little or nothing in common, or they contradict each other.
- 0: one of the two gives no answer to the question.

Judge what is said and not how well it is worded. Which answer comes first does not matter. Leave a cell empty where
you cannot say, and write in `note` what should be known. Decide each row by itself, and do not talk about rows with
others who fill in the same table: how far you agree is what is measured.
"""


def write_blind_table(path: Path, targets: Sequence[Target], seed: int = 0) -> int:
    """Write the pairs in a shuffled order without anybody's rating, and beside them how to fill in the table."""
    rows = [
        (target.question.id, target.question.prompt, target.question.text, target.answer, other, "", "")
        for target in targets
        for other in target.others
    ]
    # pairs of one answer in a row would be rated against each other
    random.Random(seed).shuffle(rows)  # noqa: S311  # an order, no secret
    write_lines(path, [csv_text(BLIND_COLUMNS, rows)], new=True)
    write_lines(path.with_suffix(".md"), [INSTRUCTIONS], new=True)
    return len(rows)


COLUMNS = ("question", "answer", "other", "rating")


def _on_the_scale(rating: float | None) -> float | None:
    if rating and not LOWEST <= rating <= HIGHEST:
        raise ValueError(f"expected {LOWEST} to {HIGHEST}, or 0 where one side gives no answer")
    return rating


Rating = Annotated[float | None, AfterValidator(_on_the_scale)]


class OneRating(Row):
    question: NonEmpty  # id or text of a question of the population
    answer: NonEmpty
    other: NonEmpty
    rating: Rating
    rater: str = ""


class ManyRatings(Row):
    question: NonEmpty
    answer: NonEmpty
    ratings: dict[NonEmpty, Rating]
    rater: str = ""


class RatingsFile:
    """A file of ratings of pairs of answers, by one rater or several."""

    def __init__(self, path: Path, population: Population) -> None:
        self.path = path
        self.raters: dict[str, dict[Pair, float | None]] = {}  # ratings by rater and pair; None: no rating
        listed = _questions(population)
        # by text or by id, ids last so that they win; of equal texts the first question
        questions = {question.text: question for question in reversed(listed)}
        questions |= {question.id: question for question in listed}
        targets: dict[tuple[str, str], tuple[Question, str, dict[str, str]]] = {}
        for where, row in _rows(path):
            question = questions.get(row.question)
            if question is None:
                raise CalibrationError(
                    f"{where}, field question: {row.question!r} is not a question of {population.name}"
                )
            rater = f"{path.stem}:{row.rater}" if row.rater else path.stem
            # 0 stands for "one side gives no answer": no rating, as in the measure itself
            rating = row.rating or None
            rated = pair(question.id, row.answer, row.other)
            if self.raters.setdefault(rater, {}).setdefault(rated, rating) != rating:
                raise CalibrationError(
                    f"{where}: {rater} rates {row.answer!r} and {row.other!r} twice, with different ratings"
                )
            # answers are equal when they differ in case or spacing only; the first spelling stands for all
            target = targets.setdefault((question.id, normalised(row.answer)), (question, row.answer, {}))
            target[2].setdefault(normalised(row.other), row.other)
        self.targets = [Target(question, answer, tuple(texts.values())) for question, answer, texts in targets.values()]


def _rows(path: Path) -> Iterator[tuple[str, OneRating]]:
    """The ratings, each with the place where it stands."""
    if not path.is_file():
        raise CalibrationError(f"ratings file {path} does not exist, expected CSV or JSON Lines")
    if path.suffix == ".csv":
        for number, row in csv_rows(path, COLUMNS, CalibrationError):
            told = {name: cell for name, cell in row.items() if name in COLUMNS or name not in BLIND_COLUMNS}
            # two prompts may ask the same words: the id, where the table has one, says which question it is
            told["question"] = row.get("id") or row["question"]
            # an empty cell is no rating
            text = json.dumps({**told, "rating": row["rating"] or None})
            yield f"{path}, row {number}", parsed(text, OneRating, f"{path}, row {number}")
    # the first line tells which of the two forms the whole file has
    elif b'"ratings"' in next((line for _, _, line in placed_lines(path)), b""):
        for line, _, many in placed_rows(path, ManyRatings):
            about = many.model_dump(exclude={"ratings"})
            yield from (
                (f"{path}, line {line}", OneRating(other=o, rating=r, **about)) for o, r in many.ratings.items()
            )
    else:
        for line, _, one in placed_rows(path, OneRating):
            yield f"{path}, line {line}", one
