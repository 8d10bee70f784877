"""People's word on questions: a blind table for each of them, and how far they agree with each other and with us."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from genie_inspect.building.questions.files import STEPS, read_questions
from genie_inspect.building.questions.writing import UNREADABLE, Step
from genie_inspect.errors import PopulationError
from genie_inspect.files.csv_tables import csv_rows, csv_text, yes_or_no
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.catalogue import BUNDLED
from genie_inspect.populations.files import numbered_rows
from genie_inspect.populations.schema import Feature, question_id
from genie_inspect.statistics.agreement import krippendorff_alpha
from genie_inspect.statistics.descriptive.classification import accuracy, f1, recall

COLUMNS = ("id", "prompt", "question", "valid", "feature", "note")
NONE = "none"
VALID, ALL = "valid", "all features"
INSTRUCTIONS = """\
# How to fill in the table

Each row has a question that is to be asked of any text written for the prompt beside it. Write

- `valid`: yes or no. A valid question stands by itself, asks one thing, can be answered from the text alone without a
  guess at what somebody meant or what might have been, takes more than a yes or a no, and gives no example answers.
- `feature`: which one of these it asks about; `none` where it is none of them or more than one.

{features}

Leave a cell empty where you cannot say, and write in `note` what should be known. Decide each row by itself, and do not
talk about rows with others who fill in the same table: how far you agree is what is measured.
"""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question, and what the generator says of it."""

    id: str
    prompt: str
    text: str
    valid: bool
    """Whether it passed the filter."""
    feature: str
    """What it was mapped to; `none` where it is none or several, empty where it was not mapped."""


@dataclass(frozen=True, slots=True)
class QuestionVotes:
    """One person's table, by question id; what was left empty is not there."""

    name: str
    valid: Mapping[str, bool]
    feature: Mapping[str, str]


def judged_questions(source: Path | str, features: Sequence[Feature]) -> list[JudgedQuestion]:
    """Questions with the generator's word on each.

    Args:
        source: A folder that `genie questions write` left, whose record has the rejected questions too; else a file
            of questions or a population, all of which passed.
        features: What questions are mapped to.

    Raises:
        PopulationError: If nothing can be read.
    """
    folder = BUNDLED.get(str(source), Path(source))
    if not (folder / STEPS[1]).is_file():
        return [JudgedQuestion(q.id, q.prompt, q.text, True, q.feature) for q in read_questions(source, features)]
    mapped = {
        (step.prompt, step.text): step.feature or NONE
        for _, step in numbered_rows(folder / STEPS[2], Step)
        if step.reason != UNREADABLE
    }
    return [
        JudgedQuestion(
            question_id(step.prompt, step.text),
            step.prompt,
            step.text,
            step.kept,
            mapped.get((step.prompt, step.text), ""),
        )
        for _, step in numbered_rows(folder / STEPS[1], Step)
        # nobody has judged a question whose verdict could not be read
        if step.reason != UNREADABLE
    ]


def write_tables(
    path: Path,
    questions: Sequence[JudgedQuestion],
    features: Sequence[Feature],
    count: int | None = None,
    seed: int = 0,
) -> int:
    """Write a table without the generator's word, in a shuffled order, and beside it how to fill it in.

    Args:
        path: The table; the page beside it has its name and the ending `.md`.
        questions: What is drawn from.
        features: What questions may be of.
        count: How many questions; all unless given.
        seed: Which ones, and their order.

    Returns:
        How many rows were written.

    Raises:
        UnwritableError: If something stands there.
    """
    shuffled = random.Random(seed).sample(list(questions), len(questions))  # noqa: S311  # an order, no secret
    rows = [(question.id, question.prompt, question.text, "", "", "") for question in shuffled[:count]]
    listed = "\n".join(f"- {feature.name}: {feature.definition}" for feature in features)
    write_lines(path, [csv_text(COLUMNS, rows)], new=True)
    write_lines(path.with_suffix(".md"), [INSTRUCTIONS.format(features=listed)], new=True)
    return len(rows)


def read_table(path: Path, questions: Sequence[JudgedQuestion], features: Sequence[Feature]) -> QuestionVotes:
    """One person's table.

    Raises:
        PopulationError: If it cannot be read, a row is of no question, or a cell has another word; it names both.
    """
    known = {question.id for question in questions}
    names = [*(feature.name for feature in features), NONE]
    valid: dict[str, bool] = {}
    chosen: dict[str, str] = {}
    seen: set[str] = set()
    for number, row in csv_rows(path, ("id", "valid", "feature"), PopulationError):
        where, name = f"{path}, row {number}", row["id"].strip()
        if name not in known or name in seen:
            raise PopulationError(f"{where}: id {name!r} {'stands twice' if name in seen else 'is of no question'}")
        seen.add(name)
        if (vote := yes_or_no(row, "valid", where, PopulationError)) is not None:
            valid[name] = vote
        # as people write names: "Social atmosphere"
        if feature := "_".join(row["feature"].casefold().split()):
            if feature not in names:
                raise PopulationError(f"{where}, column feature: {row['feature']!r}, expected one of {names}")
            chosen[name] = feature
    return QuestionVotes(path.stem, valid, chosen)


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """The generator held against one person, for validity or for a feature."""

    what: str
    """`valid`, a feature, or `all features`."""
    person: str
    questions: int
    """That the person calls valid, or of this feature."""
    accuracy: float
    """Share of these on which the generator says the same; over all features: of all questions with a feature."""
    f1: float
    """Of the generator against the person; over all features: the mean."""
    alpha: float
    """Krippendorff's alpha among all people: of `valid`, and of which feature it is; NaN in the rows of one feature."""


def question_figures(
    tables: Sequence[QuestionVotes], questions: Sequence[JudgedQuestion], features: Sequence[Feature]
) -> list[QuestionFigures]:
    """A row for validity, each feature and all of them, person by person.

    Source: Genie (arXiv 2606.12790), table 2 and the figures on validity, each against every annotator.
    """
    said = {question.id: question for question in questions}
    validity = _alpha([table.valid for table in tables])
    mapping = _alpha([table.feature for table in tables])
    rows = [_validity(table, said, validity) for table in tables]
    for table in tables:
        # a question that was not mapped says nothing of the map
        ids = [name for name in table.feature if said[name].feature]
        gold, mapped = [table.feature[name] for name in ids], [said[name].feature for name in ids]
        own = [
            QuestionFigures(
                feature.name,
                table.name,
                gold.count(feature.name),
                recall(mapped, gold, feature.name),
                f1(mapped, gold, feature.name),
                math.nan,
            )
            for feature in features
        ]
        mean = _mean(row.f1 for row in own)
        rows += [*own, QuestionFigures(ALL, table.name, len(ids), accuracy(mapped, gold), mean, mapping)]
    return rows


def _validity(table: QuestionVotes, said: Mapping[str, JudgedQuestion], alpha: float) -> QuestionFigures:
    gold, ours = list(table.valid.values()), [said[name].valid for name in table.valid]
    return QuestionFigures(VALID, table.name, gold.count(True), accuracy(ours, gold), f1(ours, gold, True), alpha)


def _alpha(votes: Sequence[Mapping[str, object]]) -> float:
    ids = sorted({name for table in votes for name in table})
    # the nominal alpha knows no order: any numbers for the words will do
    codes = {word: code for code, word in enumerate(dict.fromkeys(str(w) for table in votes for w in table.values()))}
    table = [[codes[str(own[name])] if name in own else math.nan for name in ids] for own in votes]
    return krippendorff_alpha(table, "nominal") if ids else math.nan


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
