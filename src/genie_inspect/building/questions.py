"""Questions in files: read and checked, corrected by people in a table, and judged by them without ours."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from genie_inspect.building.question_writing import STEPS, UNREADABLE, Step
from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import SHOWN, json_objects
from genie_inspect.files.tables import csv_rows, csv_text, yes_or_no
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.population import BUNDLED, QUESTIONS, open_population
from genie_inspect.populations.prompts import prompt_lines
from genie_inspect.populations.schema import Feature, Question, question_id, rows
from genie_inspect.statistics.agreement import accuracy, f1, krippendorff_alpha, recall

LINE = '{"prompt": "Write a story about an owl.", "feature": "plot", "text": "What does the owl want?"}'
"""A question in a file of one's own; an `id` may stand beside these."""
MOST_SAID = 5  # faults in one message, and lines of each
COLUMNS = ("id", "keep", "feature", "text", "prompt", "note")
NO = frozenset({"no", "n", "0", "false", "drop"})  # what people write in the column `keep`


def read_questions(source: Path | str, features: Sequence[Feature] | None = None) -> list[Question]:
    """Questions from a JSON Lines file, a population's folder or a bundled population.

    A question without an id gets that of its words. All that is wrong with the lines is said at once.
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
            said = []
            for fault in invalid.errors():
                name = ".".join(map(str, fault["loc"]))
                known = {"missing": f"no {name}", "extra_forbidden": f"unknown field {name!r}"}
                other = f"{name}: {fault['msg']} (got {str(fault['input'])[:SHOWN]!r})"
                said.append(known.get(fault["type"], other))
            reason = ", ".join(said)
        else:
            reason = f"{question.id!r} stands twice" if question.id in questions else ""
            if feature_names is not None and question.feature not in feature_names:
                reason = f"feature {question.feature!r} is none of {', '.join(sorted(feature_names))} (--features)"
            questions[question.id] = question
        if reason:
            faults.setdefault(reason, []).append(line)
    if faults:
        listed = [
            f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:MOST_SAID]))}{', ...' * (len(lines) > MOST_SAID)}"
            f": {reason}"
            for reason, lines in islice(faults.items(), MOST_SAID)
        ]
        more = f"; {len(faults) - MOST_SAID} other faults" if len(faults) > MOST_SAID else ""
        raise PopulationError(
            f"{path} cannot be read as questions, {'; '.join(listed)}{more}; expected lines such as {LINE}"
        )
    if not questions:
        raise PopulationError(f"{path} holds no questions, expected lines such as {LINE}")
    return list(questions.values())


def read_prompts(source: Path | str) -> list[str]:
    path = BUNDLED.get(str(source), Path(source))
    return open_population(source).prompts if path.is_dir() else prompt_lines(path)


def write_review(path: Path, questions: Sequence[Question]) -> None:
    """Write a table for people: correct `feature` and `text`, set `keep` to no, add rows without an id."""
    # everything is kept until somebody says no
    table = [(question.id, "yes", question.feature, question.text, question.prompt, "") for question in questions]
    write_lines(path, [csv_text(COLUMNS, table)], new=True)


def read_review(
    path: Path, questions: Sequence[Question], features: Sequence[Feature]
) -> tuple[list[Question], dict[str, int]]:
    """The questions of a corrected table, and how many people reworded, moved to another feature, dropped and added."""
    before = {_plain(question.id): question for question in questions}
    feature_names = {feature.name for feature in features}
    after: dict[tuple[str, str], Question] = {}
    changes = dict.fromkeys(("reworded", "moved", "dropped", "added"), 0)
    for number, cells in csv_rows(path, COLUMNS[:-1], PopulationError):
        row, where = {name: _plain(cell) for name, cell in cells.items()}, f"{path}, row {number}"
        # by id, because its words are what people correct
        old = before.get(row["id"])
        if row["id"] and old is None:
            raise PopulationError(f"{where}: no question has the id {row['id']!r}; leave it empty for a new question")
        if row["keep"].casefold() in NO:
            changes["dropped"] += old is not None
            continue
        if row["feature"] not in feature_names:
            raise PopulationError(
                f"{where}, column feature: {row['feature']!r}, expected one of {sorted(feature_names)}"
            )
        for name in ("text", "prompt"):
            if not row[name]:
                raise PopulationError(
                    f"{where}, column {name} is empty, expected words; set keep to no to drop a question"
                )
            # what nobody touched is as it was, spaces included, and keeps its id
            if old is not None and row[name] == _plain(getattr(old, name)):
                row[name] = getattr(old, name)
        prompt, text = row["prompt"], row["text"]
        is_same = old is not None and (prompt, text) == (old.prompt, old.text)
        identity = old.id if old is not None and is_same else question_id(prompt, text)
        new = Question(id=identity, prompt=prompt, feature=row["feature"], text=text)
        # the same words twice would be one id twice
        if (new.prompt, new.text) in after:
            raise PopulationError(f"{where}: {new.text!r} stands twice for this prompt")
        after[new.prompt, new.text] = new
        changes["added"] += old is None
        changes["reworded"] += old is not None and old.text != new.text
        changes["moved"] += old is not None and old.feature != new.feature
    return list(after.values()), changes


def _plain(text: str) -> str:
    """Text as a spreadsheet may leave it: other line ends, no outer space."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


PEOPLE_COLUMNS = ("id", "prompt", "question", "valid", "feature", "note")
NONE = "none"
FIGURES = ("what", "person", "questions", "accuracy", "f1", "alpha")
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


Votes = tuple[str, dict[str, bool], dict[str, str]]
"""One person's name and table: validity and feature by question id; what was left empty is not there."""


def judged_questions(source: Path | str, features: Sequence[Feature]) -> dict[str, Step]:
    """By id, the questions that the generator has judged: which it kept, and what it mapped them to.

    The feature is `none` where it is none or several, and empty where the question was not mapped.
    """
    folder = BUNDLED.get(str(source), Path(source))
    if not (folder / STEPS["filtered"]).is_file():
        return {
            question.id: Step(source="", kept=True, **question.model_dump(exclude={"id"}))
            for question in read_questions(source, features)
        }
    # nobody has judged a question whose verdict could not be read
    filtered, mapped = (
        {question_id(step.prompt, step.text): step for step in rows(folder / STEPS[name], Step)}
        for name in ("filtered", "mapped")
    )
    features_of = {name: step.feature or NONE for name, step in mapped.items() if step.reason != UNREADABLE}
    return {
        name: step.model_copy(update={"feature": features_of.get(name, "")})
        for name, step in filtered.items()
        if step.reason != UNREADABLE
    }


def write_tables(
    path: Path, judged: Mapping[str, Step], features: Sequence[Feature], count: int | None = None, seed: int = 0
) -> int:
    """Write a table without the generator's word, in a shuffled order, and beside it how to fill it in."""
    shuffled = random.Random(seed).sample(list(judged.items()), len(judged))  # noqa: S311  # an order, no secret
    table = [(name, step.prompt, step.text, "", "", "") for name, step in shuffled[:count]]
    listed = "\n".join(f"- {feature.name}: {feature.definition}" for feature in features)
    write_lines(path, [csv_text(PEOPLE_COLUMNS, table)], new=True)
    write_lines(path.with_suffix(".md"), [INSTRUCTIONS.format(features=listed)], new=True)
    return len(table)


def read_table(path: Path, judged: Mapping[str, Step], features: Sequence[Feature]) -> Votes:
    names = [*(feature.name for feature in features), NONE]
    valid: dict[str, bool] = {}
    chosen: dict[str, str] = {}
    seen: set[str] = set()
    for number, row in csv_rows(path, ("id", "valid", "feature"), PopulationError):
        where, name = f"{path}, row {number}", row["id"].strip()
        if name not in judged or name in seen:
            raise PopulationError(f"{where}: id {name!r} {'stands twice' if name in seen else 'is of no question'}")
        seen.add(name)
        if (vote := yes_or_no(row, "valid", where, PopulationError)) is not None:
            valid[name] = vote
        # as people write names: "Social atmosphere"
        if feature := "_".join(row["feature"].casefold().split()):
            if feature not in names:
                raise PopulationError(f"{where}, column feature: {row['feature']!r}, expected one of {names}")
            chosen[name] = feature
    return path.stem, valid, chosen


def question_figures(
    tables: Sequence[Votes], judged: Mapping[str, Step], features: Sequence[Feature]
) -> list[dict[str, Any]]:
    """The generator held against each person: for validity, each feature and all of them.

    `questions` are those that the person calls valid, or of the feature; `accuracy` is the share of these on which the
    generator says the same (over all features: of all with a feature), `f1` its own against the person (over all
    features: the mean); `alpha` is Krippendorff's among all people, NaN for one feature.

    Source: Genie (arXiv 2606.12790), table 2 and the figures on validity, each against every annotator.
    """

    def alpha(votes: Sequence[Mapping[str, object]]) -> float:
        ids = sorted({name for table in votes for name in table})
        # the nominal alpha knows no order: any numbers for the words will do
        codes = {word: code for code, word in enumerate(dict.fromkeys(w for table in votes for w in table.values()))}
        ratings = [[codes[own[name]] if name in own else math.nan for name in ids] for own in votes]
        return krippendorff_alpha(ratings, "nominal") if ids else math.nan

    figures: list[tuple[str, str, int, float, float, float]] = []
    among_people = alpha([valid for _, valid, _ in tables])
    for person, votes, _ in tables:
        gold, ours = list(votes.values()), [judged[name].kept for name in votes]
        figures.append(("valid", person, gold.count(True), accuracy(ours, gold), f1(ours, gold, True), among_people))
    among_people = alpha([chosen for _, _, chosen in tables])
    for person, _, chosen in tables:
        # a question that was not mapped says nothing of the map
        ids = [name for name in chosen if judged[name].feature]
        people, mapped = [chosen[name] for name in ids], [judged[name].feature for name in ids]
        f1_of = {feature.name: f1(mapped, people, feature.name) for feature in features}
        for name, own in f1_of.items():
            figures.append((name, person, people.count(name), recall(mapped, people, name), own, math.nan))
        known = [own for own in f1_of.values() if not math.isnan(own)]
        mean = math.fsum(known) / len(known) if known else math.nan
        figures.append(("all features", person, len(ids), accuracy(mapped, people), mean, among_people))
    return [dict(zip(FIGURES, row, strict=True)) for row in figures]
