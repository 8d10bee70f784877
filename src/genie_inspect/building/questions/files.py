"""Questions in files: the steps' records, and the table in which people correct them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from genie_inspect.building.questions.writing import Record
from genie_inspect.engines.sources.prompts import prompt_lines
from genie_inspect.errors import PopulationError
from genie_inspect.files.csv_tables import csv_rows, csv_text
from genie_inspect.files.json_lines import SHOWN, json_objects
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.catalogue import BUNDLED, open_population
from genie_inspect.populations.files import write_rows
from genie_inspect.populations.population import QUESTIONS
from genie_inspect.populations.schema import Feature, Question, question_id

LINE = '{"prompt": "Write a story about an owl.", "feature": "plot", "text": "What does the owl want?"}'
"""A question in a file of one's own; an `id` may stand beside these."""
MOST_SAID = 5  # faults in one message, and lines of each
STEPS = ("1-written.jsonl", "2-filtered.jsonl", "3-mapped.jsonl")
COLUMNS = ("id", "keep", "feature", "text", "prompt", "note")
NO = frozenset({"no", "n", "0", "false", "drop"})  # what people write in the column `keep`


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The questions of a corrected table, and how many were changed, dropped and added."""

    questions: list[Question]
    reworded: int
    moved: int
    """To another feature."""
    dropped: int
    added: int


def write_record(folder: Path, record: Record) -> None:
    """Write what each step decided, one file a step."""
    for name, steps in zip(STEPS, (record.written, record.filtered, record.mapped), strict=True):
        write_rows(folder / name, steps)


def read_questions(source: Path | str, features: Sequence[Feature] | None = None) -> list[Question]:
    """Questions from a JSON Lines file, a population's folder or a bundled population.

    A question without an id gets that of its words. All that is wrong with the lines is said at once.

    Raises:
        PopulationError: If a row is no question, stands twice, or has a feature that is not among the given ones.
    """
    path = BUNDLED.get(str(source), Path(source))
    # a population's folder has them in a file of that name
    path = path / QUESTIONS if path.is_dir() else path
    feature_names = None if features is None else {feature.name for feature in features}
    questions: dict[str, Question] = {}
    faults: dict[str, list[int]] = {}
    for line, row in json_objects(path, lambda fault: PopulationError(f"{fault}; expected lines such as {LINE}")):
        made = question_id(str(row.get("prompt")), str(row.get("text")))
        try:
            question = Question.model_validate({**row, "id": row.get("id") or made})
        except ValidationError as invalid:
            reason = ", ".join(map(_said, invalid.errors()))
        else:
            reason = f"{question.id!r} stands twice" if question.id in questions else ""
            if feature_names is not None and question.feature not in feature_names:
                reason = f"feature {question.feature!r} is none of {', '.join(sorted(feature_names))} (--features)"
            questions[question.id] = question
        if reason:
            faults.setdefault(reason, []).append(line)
    if faults:
        listed = [f"{_lines(lines)}: {reason}" for reason, lines in islice(faults.items(), MOST_SAID)]
        more = f"; {len(faults) - MOST_SAID} other faults" if len(faults) > MOST_SAID else ""
        raise PopulationError(
            f"{path} cannot be read as questions, {'; '.join(listed)}{more}; expected lines such as {LINE}"
        )
    if not questions:
        raise PopulationError(f"{path} holds no questions, expected lines such as {LINE}")
    return list(questions.values())


def _said(fault: Mapping[str, Any]) -> str:
    field = ".".join(map(str, fault["loc"]))
    named = {"missing": f"no {field}", "extra_forbidden": f"unknown field {field!r}"}
    return named.get(fault["type"], f"{field}: {fault['msg']} (got {str(fault['input'])[:SHOWN]!r})")


def _lines(numbers: Sequence[int]) -> str:
    listed = ", ".join(map(str, numbers[:MOST_SAID])) + ", ..." * (len(numbers) > MOST_SAID)
    return f"line {listed}" if len(numbers) == 1 else f"lines {listed}"


def read_prompts(source: Path | str) -> list[str]:
    """The prompts of a population, or the lines of a text file, each once.

    Raises:
        PromptSourceError: If it is neither, or holds none.
    """
    path = BUNDLED.get(str(source), Path(source))
    if path.is_dir():
        return open_population(source).prompts
    return prompt_lines(path)


def write_review(path: Path, questions: Sequence[Question]) -> None:
    """Write a table for people: correct `feature` and `text`, set `keep` to no, add rows without an id."""
    # everything is kept until somebody says no
    rows = [(question.id, "yes", question.feature, question.text, question.prompt, "") for question in questions]
    write_lines(path, [csv_text(COLUMNS, rows)], new=True)


def read_review(path: Path, questions: Sequence[Question], features: Sequence[Feature]) -> Reviewed:
    """The corrected questions.

    Args:
        path: The table, as people left it.
        questions: What was written to it.
        features: What questions may be of.

    Raises:
        PopulationError: If the file cannot be read or a row cannot be used; the message names the row.
    """
    before = {_plain(question.id): question for question in questions}
    feature_names = {feature.name for feature in features}
    after: dict[tuple[str, str], Question] = {}
    reworded = moved = dropped = added = 0
    for number, cells in csv_rows(path, COLUMNS[:-1], PopulationError):
        row, where = {name: _plain(cell) for name, cell in cells.items()}, f"{path}, row {number}"
        # by id, because its words are what people correct
        old = before.get(row["id"])
        if row["id"] and old is None:
            raise PopulationError(f"{where}: no question has the id {row['id']!r}; leave it empty for a new question")
        if row["keep"].casefold() in NO:
            dropped += old is not None
            continue
        new = _question(row, old, where, feature_names)
        # the same words twice would be one id twice
        if (new.prompt, new.text) in after:
            raise PopulationError(f"{where}: {new.text!r} stands twice for this prompt")
        after[new.prompt, new.text] = new
        added += old is None
        reworded += old is not None and old.text != new.text
        moved += old is not None and old.feature != new.feature
    return Reviewed(list(after.values()), reworded, moved, dropped, added)


def _question(row: dict[str, str], old: Question | None, where: str, feature_names: set[str]) -> Question:
    """The question of a row; what nobody touched is as it was, spaces included, and keeps its id."""
    if row["feature"] not in feature_names:
        raise PopulationError(f"{where}, column feature: {row['feature']!r}, expected one of {sorted(feature_names)}")
    for name in ("text", "prompt"):
        if not row[name]:
            raise PopulationError(f"{where}, column {name} is empty, expected words; set keep to no to drop a question")
    text, prompt = row["text"], row["prompt"]
    if old is not None:
        text = old.text if text == _plain(old.text) else text
        prompt = old.prompt if prompt == _plain(old.prompt) else prompt
        if (text, prompt) == (old.text, old.prompt):
            return old.model_copy(update={"feature": row["feature"]})
    return Question(id=question_id(prompt, text), prompt=prompt, feature=row["feature"], text=text)


def _plain(text: str) -> str:
    """Text as a spreadsheet may leave it: other line ends, no outer space."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
