"""Questions in files: the steps' records, and the table in which people correct them."""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from genie_inspect.building.interviewing import Interviewer, Progress, appearing, interview_templates, no_progress
from genie_inspect.building.question_writing import UNREADABLE, QuestionWriter, Record, Step, Wanted
from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import SHOWN, json_objects
from genie_inspect.files.tables import csv_rows, csv_text, yes_or_no
from genie_inspect.files.writing import write_lines
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.populations.population import BUNDLED, QUESTIONS, open_population, write_features
from genie_inspect.populations.prompts import prompt_lines
from genie_inspect.populations.schema import Feature, Question, numbered_rows, question_id, write_rows
from genie_inspect.statistics.agreement import accuracy, f1, krippendorff_alpha, recall

LINE = '{"prompt": "Write a story about an owl.", "feature": "plot", "text": "What does the owl want?"}'
"""A question in a file of one's own; an `id` may stand beside these."""
MOST_SAID = 5  # faults in one message, and lines of each
STEPS = ("1-written.jsonl", "2-filtered.jsonl", "3-mapped.jsonl")
COLUMNS = ("id", "keep", "feature", "text", "prompt", "note")
NO = frozenset({"no", "n", "0", "false", "drop"})  # what people write in the column `keep`


def write_record(folder: Path, record: Record) -> None:
    for name, steps in zip(STEPS, (record.written, record.filtered, record.mapped), strict=True):
        write_rows(folder / name, steps)


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
    rows = [(question.id, "yes", question.feature, question.text, question.prompt, "") for question in questions]
    write_lines(path, [csv_text(COLUMNS, rows)], new=True)


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
        feature, text, prompt = row["feature"], row["text"], row["prompt"]
        if feature not in feature_names:
            raise PopulationError(f"{where}, column feature: {feature!r}, expected one of {sorted(feature_names)}")
        for name in ("text", "prompt"):
            if not row[name]:
                raise PopulationError(
                    f"{where}, column {name} is empty, expected words; set keep to no to drop a question"
                )
        identity = question_id(prompt, text)
        if old is not None:
            # what nobody touched is as it was, spaces included, and keeps its id
            text = old.text if text == _plain(old.text) else text
            prompt = old.prompt if prompt == _plain(old.prompt) else prompt
            is_same = (text, prompt) == (old.text, old.prompt)
            identity = old.id if is_same else question_id(prompt, text)
        new = Question(id=identity, prompt=prompt, feature=feature, text=text)
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


async def write_questions(
    prompts: Sequence[str],
    features: tuple[Feature, ...],
    wanted: Wanted,
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress = no_progress,
    templates: Path | None = None,
) -> dict[str, Any]:
    """Write a folder of questions, features and records; it appears when it is complete."""
    interviewer = Interviewer(model, interview_templates(templates))
    writer = QuestionWriter(interviewer, features, wanted)
    record = await writer.write(prompts, lambda done: progress("writing questions", done, len(prompts)))
    questions = record.questions
    # no folder without questions, but the record of why there are none
    if not questions:
        write_record(work, record)
        rejected = ", ".join(f"{count} {reason}" for reason, count in record.rejected.items())
        raise PopulationError(
            f"no question passed: {rejected or 'none could be read from the replies'} (record: {work})"
        )
    with appearing(output, work) as folder:
        write_rows(folder / QUESTIONS, questions)
        write_features(folder / "features.json", features)
        write_record(folder, record)
    covered = {(question.prompt, question.feature) for question in questions}
    counts = Counter(question.feature for question in questions)
    return {
        "questions": len(questions),
        "by_feature": {feature.name: counts[feature.name] for feature in features},
        "prompts_without": {
            feature.name: missing
            for feature in features
            if (missing := sum((prompt, feature.name) not in covered for prompt in prompts))
        },
        "rejected": record.rejected,
        "unreadable_replies": interviewer.unreadable,
    }


PEOPLE_COLUMNS = ("id", "prompt", "question", "valid", "feature", "note")
NONE = "none"
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
    id: str
    prompt: str
    text: str
    valid: bool
    feature: str  # what it was mapped to; `none` where it is none or several, empty where it was not mapped


@dataclass(frozen=True, slots=True)
class QuestionVotes:
    """One person's table, by question id; what was left empty is not there."""

    name: str
    valid: Mapping[str, bool]
    feature: Mapping[str, str]


def judged_questions(source: Path | str, features: Sequence[Feature]) -> list[JudgedQuestion]:
    folder = BUNDLED.get(str(source), Path(source))
    if not (folder / STEPS[1]).is_file():
        return [JudgedQuestion(q.id, q.prompt, q.text, True, q.feature) for q in read_questions(source, features)]
    mapped = {
        (step.prompt, step.text): step.feature or NONE
        for _, step in numbered_rows(folder / STEPS[2], Step)
        if step.reason != UNREADABLE
    }
    return [
        JudgedQuestion(question_id(*words), *words, step.kept, mapped.get(words, ""))
        for _, step in numbered_rows(folder / STEPS[1], Step)
        for words in [(step.prompt, step.text)]
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
    """Write a table without the generator's word, in a shuffled order, and beside it how to fill it in."""
    shuffled = random.Random(seed).sample(list(questions), len(questions))  # noqa: S311  # an order, no secret
    rows = [(question.id, question.prompt, question.text, "", "", "") for question in shuffled[:count]]
    listed = "\n".join(f"- {feature.name}: {feature.definition}" for feature in features)
    write_lines(path, [csv_text(PEOPLE_COLUMNS, rows)], new=True)
    write_lines(path.with_suffix(".md"), [INSTRUCTIONS.format(features=listed)], new=True)
    return len(rows)


def read_table(path: Path, questions: Sequence[JudgedQuestion], features: Sequence[Feature]) -> QuestionVotes:
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

    what: str  # `valid`, a feature, or `all features`
    person: str
    questions: int  # that the person calls valid, or of this feature
    accuracy: float  # share of these on which the generator says the same; over all features: of all with a feature
    f1: float  # of the generator against the person; over all features: the mean
    alpha: float = math.nan  # Krippendorff's among all people: of `valid`, and of the feature; NaN for one feature


def question_figures(
    tables: Sequence[QuestionVotes], questions: Sequence[JudgedQuestion], features: Sequence[Feature]
) -> list[QuestionFigures]:
    """A row for validity, each feature and all of them, person by person.

    Source: Genie (arXiv 2606.12790), table 2 and the figures on validity, each against every annotator.
    """

    def alpha(votes: Sequence[Mapping[str, object]]) -> float:
        ids = sorted({name for table in votes for name in table})
        # the nominal alpha knows no order: any numbers for the words will do
        codes = {word: code for code, word in enumerate(dict.fromkeys(w for table in votes for w in table.values()))}
        rows = [[codes[own[name]] if name in own else math.nan for name in ids] for own in votes]
        return krippendorff_alpha(rows, "nominal") if ids else math.nan

    said = {question.id: question for question in questions}
    validity, mapping = alpha([table.valid for table in tables]), alpha([table.feature for table in tables])
    rows = []
    for table in tables:
        gold_valid, ours = list(table.valid.values()), [said[name].valid for name in table.valid]
        figures = accuracy(ours, gold_valid), f1(ours, gold_valid, True), validity
        rows.append(QuestionFigures("valid", table.name, gold_valid.count(True), *figures))
    for table in tables:
        # a question that was not mapped says nothing of the map
        ids = [name for name in table.feature if said[name].feature]
        gold, mapped = [table.feature[name] for name in ids], [said[name].feature for name in ids]
        own = [
            QuestionFigures(name, table.name, gold.count(name), recall(mapped, gold, name), f1(mapped, gold, name))
            for name in (feature.name for feature in features)
        ]
        known = [row.f1 for row in own if not math.isnan(row.f1)]
        mean = math.fsum(known) / len(known) if known else math.nan
        rows += [*own, QuestionFigures("all features", table.name, len(ids), accuracy(mapped, gold), mean, mapping)]
    return rows
