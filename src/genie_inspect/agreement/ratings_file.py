"""Files of ratings, by people or anybody: CSV, or JSON Lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from genie_inspect.agreement.targets import CalibrationError, Pair, Target, pair
from genie_inspect.files.csv_tables import csv_rows
from genie_inspect.measures.genie import HIGHEST, LOWEST
from genie_inspect.populations.files import numbered_rows, parsed
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import NonEmpty, Question, Row
from genie_inspect.prompting.answers import normalised

COLUMNS = ("question", "answer", "other", "rating")
FOR_PEOPLE = frozenset({"id", "prompt", "note"})  # columns of a table that was written for people to rate
NO_RATING = 0.0


def _on_the_scale(rating: float | None) -> float | None:
    if rating is not None and rating != NO_RATING and not LOWEST <= rating <= HIGHEST:
        raise ValueError(f"expected {LOWEST} to {HIGHEST}, or 0 where one side gives no answer")
    return rating


Rating = Annotated[float | None, AfterValidator(_on_the_scale)]


class OneRating(Row):
    """One pair, rated once."""

    question: NonEmpty
    """Id or text of a question of the population."""
    answer: NonEmpty
    other: NonEmpty
    rating: Rating
    rater: str = ""


class ManyRatings(Row):
    """One answer, rated against many others."""

    question: NonEmpty
    answer: NonEmpty
    ratings: dict[NonEmpty, Rating]
    rater: str = ""


class RatingsFile:
    """A file of ratings of pairs of answers, by one rater or several.

    Args:
        path: A CSV file with the columns question, answer, other, rating and optionally rater, id, prompt and note (as
            in a table that was written for people), or JSON Lines with the first five as fields; there `ratings` may
            stand for other and rating: a rating by other answer.
        population: Whose questions it is about.

    Raises:
        PopulationError: If a line is not of that form, or a rating is not on the scale; it names line and field.
        CalibrationError: If a question is none of the population's, or a rater contradicts himself.
    """

    def __init__(self, path: Path, population: Population) -> None:
        self.path = path
        self._stem = path.stem
        self.raters: dict[str, dict[Pair, float | None]] = {}
        """Ratings by rater and pair; None: no rating."""
        self._others: dict[tuple[str, str], dict[str, str]] = {}
        self._answers: dict[tuple[str, str], tuple[Question, str]] = {}
        listed = [question for prompt in population.prompts for question in population.questions(prompt)]
        # by text or by id, ids last so that they win; of equal texts the first question
        questions = {question.text: question for question in reversed(listed)} | {
            question.id: question for question in listed
        }
        place = "row" if path.suffix == ".csv" else "line"
        for line, row in _rows(path):
            if row.question not in questions:
                raise CalibrationError(
                    f"{path}, {place} {line}, field question: {row.question!r} is no question of {population.name}"
                )
            self._add(questions[row.question], row, f"{path}, {place} {line}")

    @property
    def targets(self) -> list[Target]:
        """The answers that were rated, each with those that it was compared with."""
        return [Target(*self._answers[key], tuple(others.values())) for key, others in self._others.items()]

    def _add(self, question: Question, row: OneRating, where: str) -> None:
        rater = f"{self._stem}:{row.rater}" if row.rater else self._stem
        rated_before = self.raters.setdefault(rater, {})
        rated = pair(question.id, row.answer, row.other)
        # 0 stands for "one side gives no answer": no rating, as in the measure itself
        rating = row.rating or None
        if rated_before.setdefault(rated, rating) != rating:
            raise CalibrationError(f"{where}: {rater} rates {row.answer!r} and {row.other!r} twice, and not alike")
        key = question.id, normalised(row.answer)
        self._answers.setdefault(key, (question, row.answer))
        # answers are equal when they differ in case or spacing only; the first spelling stands for all
        self._others.setdefault(key, {}).setdefault(normalised(row.other), row.other)


def _rows(path: Path) -> Iterator[tuple[int, OneRating]]:
    if not path.is_file():
        raise CalibrationError(f"ratings file {path} does not exist, expected CSV or JSON Lines")
    if path.suffix == ".csv":
        yield from _csv_rows(path)
    # the first line tells which of the two forms the whole file has
    elif '"ratings"' in _first_line(path):
        for line, row in numbered_rows(path, ManyRatings):
            for other, rating in row.ratings.items():
                yield (
                    line,
                    OneRating(question=row.question, answer=row.answer, other=other, rating=rating, rater=row.rater),
                )
    else:
        yield from numbered_rows(path, OneRating)


def _csv_rows(path: Path) -> Iterator[tuple[int, OneRating]]:
    for number, row in csv_rows(path, COLUMNS, CalibrationError):
        told = {name: cell for name, cell in row.items() if name not in FOR_PEOPLE}
        # two prompts may ask the same words: the id, where the table has one, says which question it is
        told["question"] = row.get("id") or row["question"]
        # an empty cell is no rating
        text = json.dumps({**told, "rating": row["rating"] or None})
        yield number, parsed(text, OneRating, f"{path}, row {number}")


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return next((line for line in file if line.strip()), "")
