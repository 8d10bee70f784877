"""Questions: written for prompts, read from files, corrected by people in a table, and judged by them without ours.

Source: Genie (arXiv 2606.12790), section 4: generate, filter, map. Deviation: what breaks a rule visibly is rejected
before the grader is asked, and a feature without enough questions gets a second pass that knows it.
"""

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean
from string import Template
from typing import Any

from inspect_ai.model import Model
from pydantic import ValidationError

from genie_inspect.building.interviewing import Interviewer, Progress, appearing, in_batches, no_progress
from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import SHOWN, json_objects
from genie_inspect.files.tables import csv_rows, csv_text, yes_or_no
from genie_inspect.files.writing import DATA, write_lines
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.populations.population import BUNDLED, QUESTIONS, write_features
from genie_inspect.populations.schema import Feature, Question, Row, question_id, rows, write_rows
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.forms import answers_form, questions_form
from genie_inspect.prompting.replies import numbered_answers, numbered_questions
from genie_inspect.statistics.agreement import accuracy, f1, krippendorff_alpha, recall

_RULES = {
    name: re.compile(rule, re.IGNORECASE)
    for name, rule in {
        # yes-or-no questions, also behind an adverbial: "In the end, is the ..."
        "polar": r"^(?:(?:in|at|on|by|during|within) [^,?]{1,60}, )?"
        r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)(?:n't)?\b",
        # one answer to two questions compares with nothing
        "two things": r"\?.*\?|,? and (?:how|why|what|when|where|which|who|whose|whom)\b",
        # examples in a question suggest its answers
        "examples": r"\b(?:e\.g|i\.e|for example|for instance|such as|including|like an?)\b|\(.*\bor\b.*\)",
        "dependent": r"\b(?:the above|as above|mentioned (?:above|earlier)|previous question|the same question)\b",
        # what might be is not in the document
        "hypothetical": r"\b(?:would|might|will|if)\b",
    }.items()
}
LONGEST = 1_000  # characters of a question that are looked at, so that hostile input costs nothing


def breach(question: str) -> str:
    """The first rule that a question visibly breaks; empty when it breaks none."""
    return next((name for name, rule in _RULES.items() if rule.search(question.strip()[:LONGEST])), "")


ASPECTS = 6  # sides of a prompt that questions are written for, without knowledge of the features
QUESTIONS_AN_ASPECT = 8
PROMPTS_AT_ONCE = 16
MOST = 6  # questions a feature; the study has 6.2 on plot, its largest mean (arXiv 2606.12790)
KEEP, SEVERAL, NONE, UNREADABLE = "keep", "several", "none", "unreadable reply"
VERDICTS = (*_RULES, "intentions", "subjective", "presuming", KEEP)


class Step(Row):
    prompt: str
    source: str  # the aspect that it was written for, or the feature in the second pass
    text: str
    kept: bool
    reason: str = ""
    feature: str = ""  # that the mapping step chose; empty when it chose none


Record = dict[str, list[Step]]
STEPS = {"written": "1-written.jsonl", "filtered": "2-filtered.jsonl", "mapped": "3-mapped.jsonl"}  # and their files


def passed(record: Record) -> list[Question]:
    kept = [step.model_dump(include={"prompt", "feature", "text"}) for step in record["mapped"] if step.kept]
    return [Question(id=question_id(step["prompt"], step["text"]), **step) for step in kept]


def rejected(record: Record) -> dict[str, int]:
    """How many questions were rejected, by step and reason, the most frequent first."""
    reasons = (f"{name}: {step.reason}" for name, steps in record.items() for step in steps if not step.kept)
    return dict(Counter(reasons).most_common())


def write_record(folder: Path, record: Record) -> None:
    for name, steps in record.items():
        write_rows(folder / STEPS[name], steps)


class QuestionWriter(Interviewer):
    """Writes at least, and takes at most, so many questions a feature for each prompt."""

    def __init__(
        self, model: Model, features: Sequence[Feature], least: int, most: int = MOST, templates: Path | None = None
    ) -> None:
        super().__init__(model, templates)
        self.features, self.least, self.most = features, least, most

    async def write(self, prompts: Sequence[str], progress: Progress = no_progress) -> Record:
        batches = in_batches(self._prompt, prompts, PROMPTS_AT_ONCE, "writing questions", progress)
        records = [record async for _, record in batches]
        return {name: [step for record in records for step in record[name]] for name in STEPS}

    async def _prompt(self, prompt: str) -> Record:
        async def questions(template: str, **data: object) -> list[str]:
            data = {"prompt": prompt, **data, "count": QUESTIONS_AN_ASPECT}
            form = questions_form(QUESTIONS_AN_ASPECT)
            return await self.list_items(template, QUESTIONS_AN_ASPECT, data, form, numbered_questions)

        record: Record = {name: [] for name in STEPS}
        aspects = await self.list_items(
            "list_aspects", ASPECTS, {"prompt": prompt, "count": ASPECTS}, answers_form(ASPECTS), numbered_answers
        )
        by_aspect = await gathered(*(questions("write_questions", aspect=aspect) for aspect in aspects))
        written = [(aspect, text) for aspect, texts in zip(aspects, by_aspect, strict=True) for text in texts]
        await self._pass(record, prompt, written)
        counts = Counter(question.feature for question in passed(record))
        # the second pass knows the feature, and its questions so far
        for feature in [feature for feature in self.features if counts[feature.name] < self.least]:
            name, definition = feature.name, feature.definition
            existing = [question.text for question in passed(record) if question.feature == name]
            texts = await questions("write_feature_questions", feature=name, definition=definition, existing=existing)
            await self._pass(record, prompt, [(name, text) for text in texts], only=name)
        return record

    async def _pass(self, record: Record, prompt: str, written: Iterable[tuple[str, str]], only: str = "") -> None:
        """Filter and map written questions; `only` accepts one feature, and questions on record are repetitions."""
        # rejected ones too: a second pass shall not bring them again
        seen = {normalised(step.text) for step in record["written"]}
        steps = []
        for source, text in written:
            reason = "is there twice" if normalised(text) in seen else ""
            seen.add(normalised(text))
            steps.append(Step(prompt=prompt, source=source, text=text, kept=not reason, reason=reason))
        record["written"] += steps
        steps = [step for step in steps if step.kept]
        # what a rule sees need not be paid for
        broken = [breach(step.text) for step in steps]
        texts = [step.text for step, rule in zip(steps, broken, strict=True) if not rule]
        verdicts = iter(await self.sort_items("filter_questions", texts, {"prompt": prompt}, VERDICTS, "questions"))
        # the iterator moves on only for questions that the grader was asked about
        reasons = [f"{rule} (by rule)" if rule else next(verdicts) or UNREADABLE for rule in broken]
        steps = [
            step.model_copy(update={"kept": reason == KEEP, "reason": "" if reason == KEEP else reason})
            for step, reason in zip(steps, reasons, strict=True)
        ]
        record["filtered"] += steps
        steps = [step for step in steps if step.kept]
        features = {feature.name: feature.definition for feature in self.features}
        choices, texts = [*features, SEVERAL, NONE], [step.text for step in steps]
        chosen = await self.sort_items("map_questions", texts, {"features": features}, choices, "questions")
        counts = Counter[str | None](question.feature for question in passed(record))
        # a question of two features would count in neither alone
        unmapped = {None: UNREADABLE, SEVERAL: "two or more features", NONE: "no feature"}
        for step, choice in zip(steps, chosen, strict=True):
            reason = unmapped.get(choice, "")
            if not reason and only and choice != only:
                reason = "not the feature that it was written for"
            elif not reason and counts[choice] >= self.most:
                reason = f"{self.most} questions of this feature are enough"
            counts[choice] += not reason
            update = {"kept": not reason, "reason": reason, "feature": choice if choice in features else ""}
            record["mapped"].append(step.model_copy(update=update))


async def write_questions(
    prompts: Sequence[str],
    features: tuple[Feature, ...],
    least: int,
    most: int,
    output: Path,
    model: RecordedModel,
    work: Path,
    progress: Progress = no_progress,
    templates: Path | None = None,
) -> dict[str, Any]:
    """Write a folder of questions, features and records; it appears when it is complete."""
    writer = QuestionWriter(model, features, least, most, templates)
    record = await writer.write(prompts, progress)
    questions = passed(record)
    # no folder without questions, but the record of why there are none
    if not questions:
        write_record(work, record)
        reasons = ", ".join(f"{count} {reason}" for reason, count in rejected(record).items())
        why = reasons or "none could be read from the replies"
        raise PopulationError(f"no question passed: {why} (record: {work})")
    with appearing(output, work) as folder:
        write_rows(folder / QUESTIONS, questions)
        write_features(folder / "features.json", features)
        write_record(folder, record)
    covered = Counter(name for _, name in {(question.prompt, question.feature) for question in questions})
    counts = Counter(question.feature for question in questions)
    lacking = {feature.name: len(prompts) - covered[feature.name] for feature in features}
    return {
        "questions": len(questions),
        "by_feature": {feature.name: counts[feature.name] for feature in features},
        "prompts_without": {name: count for name, count in lacking.items() if count},
        "rejected": rejected(record),
        "unreadable_replies": writer.unreadable,
    }


# a question in a file of one's own; an `id` may stand beside these
LINE = '{"prompt": "Write a story about an owl.", "feature": "plot", "text": "What does the owl want?"}'
MOST_SAID = 5  # faults in one message, and lines of each
COLUMNS = ("id", "keep", "feature", "text", "prompt", "note")
NO = ("no", "n", "0", "false", "drop")  # what people write in the column `keep`


def read_questions(source: Path | str, features: Sequence[Feature]) -> list[Question]:
    """Questions from a JSON Lines file, a population's folder or a bundled population.

    A question without an id gets that of its words. All that is wrong with the lines is said at once.
    """
    path = BUNDLED.get(str(source), Path(source))
    # a population's folder has them in a file of that name
    path = path / QUESTIONS if path.is_dir() else path
    feature_names = sorted(feature.name for feature in features)
    questions: dict[str, Question] = {}
    faults: dict[str, list[int]] = {}
    for line, row in json_objects(path, lambda fault: PopulationError(f"{fault}; expected lines such as {LINE}")):
        made = question_id(str(row.get("prompt")), str(row.get("text")))
        try:
            question = Question.model_validate({**row, "id": row.get("id") or made})
        except ValidationError as invalid:
            reason = ", ".join(map(_fault, invalid.errors()))
        else:
            reason = f"{question.id!r} is there twice" if question.id in questions else ""
            if question.feature not in feature_names:
                reason = f"feature {question.feature!r} is not one of {', '.join(feature_names)} (--features)"
            questions[question.id] = question
        if reason:
            faults.setdefault(reason, []).append(line)
    if faults:
        listed = []
        for reason, lines in islice(faults.items(), MOST_SAID):
            numbers = ", ".join(map(str, lines[:MOST_SAID])) + ", ..." * (len(lines) > MOST_SAID)
            listed.append(f"line{'s' * (len(lines) > 1)} {numbers}: {reason}")
        if len(faults) > MOST_SAID:
            listed.append(f"{len(faults) - MOST_SAID} other faults")
        raise PopulationError(f"{path} cannot be read as questions, {'; '.join(listed)}; expected lines such as {LINE}")
    if not questions:
        raise PopulationError(f"{path} has no questions, expected lines such as {LINE}")
    return list(questions.values())


def _fault(fault: Mapping[str, Any]) -> str:
    name = ".".join(map(str, fault["loc"]))
    known = {"missing": f"no {name}", "extra_forbidden": f"unknown field {name!r}"}
    return known.get(fault["type"]) or f"{name}: {fault['msg']} (got {str(fault['input'])[:SHOWN]!r})"


def write_review(path: Path, questions: Sequence[Question]) -> None:
    """Write a table in which people correct `feature` and `text`, set `keep` to no, and add rows without an id."""
    table = [(question.id, "yes", question.feature, question.text, question.prompt, "") for question in questions]
    write_lines(path, [csv_text(COLUMNS, table)], new=True)


def read_review(
    path: Path, questions: Sequence[Question], features: Sequence[Feature]
) -> tuple[list[Question], dict[str, int]]:
    """The questions of a corrected table, and how many people reworded, moved to another feature, dropped and added."""

    def plain(text: str) -> str:  # as a spreadsheet may leave it: other line ends, no outer space
        return text.replace("\r\n", "\n").replace("\r", "\n").strip()

    before = {plain(question.id): question for question in questions}
    feature_names = {feature.name for feature in features}
    after: dict[tuple[str, str], Question] = {}
    changes = dict.fromkeys(("reworded", "moved", "dropped", "added"), 0)
    for number, cells in csv_rows(path, COLUMNS[:-1], PopulationError):
        row, where = {name: plain(cell) for name, cell in cells.items()}, f"{path}, row {number}"
        old = before.get(row["id"])  # by id, because its words are what people correct
        if row["id"] and old is None:
            raise PopulationError(f"{where}: no question has the id {row['id']!r}; leave it empty for a new question")
        if row["keep"].casefold() in NO:
            changes["dropped"] += old is not None
            continue
        feature = row["feature"]
        if feature not in feature_names:
            raise PopulationError(f"{where}, column feature: {feature!r}, expected one of {sorted(feature_names)}")
        for name in ("text", "prompt"):
            if not row[name]:
                where += f", column {name}"
                raise PopulationError(f"{where} is empty, expected words; set keep to no to drop a question")
            # what nobody touched is as it was, spaces included, and keeps its id
            if old is not None and row[name] == plain(getattr(old, name)):
                row[name] = getattr(old, name)
        words = prompt, text = row["prompt"], row["text"]
        if words in after:  # it would be one id twice
            raise PopulationError(f"{where}: {text!r} appears twice for this prompt")
        identity = old.id if old is not None and words == (old.prompt, old.text) else question_id(prompt, text)
        after[words] = Question(id=identity, prompt=prompt, feature=feature, text=text)
        changes["added"] += old is None
        changes["reworded"] += old is not None and old.text != text
        changes["moved"] += old is not None and old.feature != feature
    return list(after.values()), changes


PEOPLE_COLUMNS = ("id", "prompt", "question", "valid", "feature", "note")
# one person's name and table: validity and feature by question id; what was left empty is not there
Votes = tuple[str, dict[str, bool], dict[str, str]]
FIGURES = ("what", "person", "questions", "accuracy", "f1", "alpha")


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
    read = (rows(folder / STEPS[name], Step) for name in ("filtered", "mapped"))
    filtered, mapped = (
        {question_id(step.prompt, step.text): step for step in steps if step.reason != UNREADABLE} for steps in read
    )
    features_of = {name: step.feature or NONE for name, step in mapped.items()}
    return {name: step.model_copy(update={"feature": features_of.get(name, "")}) for name, step in filtered.items()}


def write_tables(
    path: Path, judged: Mapping[str, Step], features: Sequence[Feature], count: int | None = None, seed: int = 0
) -> int:
    """Write a table without the generator's word, in a shuffled order, and beside it how to fill it in."""
    shuffled = random.Random(seed).sample(list(judged.items()), len(judged))  # noqa: S311  # an order, no secret
    table = [(name, step.prompt, step.text, "", "", "") for name, step in shuffled[:count]]
    listed = "\n".join(f"- {feature.name}: {feature.definition}" for feature in features)
    write_lines(path, [csv_text(PEOPLE_COLUMNS, table)], new=True)
    page = Template((DATA / "people.md").read_text(encoding="utf-8")).substitute(features=listed)
    write_lines(path.with_suffix(".md"), [page], new=True)
    return len(table)


def read_table(path: Path, judged: Mapping[str, Step], features: Sequence[Feature]) -> Votes:
    names = [*(feature.name for feature in features), NONE]
    valid: dict[str, bool] = {}
    chosen: dict[str, str] = {}
    seen: set[str] = set()
    for number, row in csv_rows(path, ("id", "valid", "feature"), PopulationError):
        where, name = f"{path}, row {number}", row["id"].strip()
        if name not in judged or name in seen:
            raise PopulationError(
                f"{where}: id {name!r} {'appears twice' if name in seen else 'is not the id of a question'}"
            )
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
        ids = sorted(set().union(*votes))
        # the nominal alpha ignores order: any number for a word will do
        words = list(dict.fromkeys(word for own in votes for word in own.values()))
        ratings = [[words.index(own[name]) if name in own else math.nan for name in ids] for own in votes]
        return krippendorff_alpha(ratings, "nominal")

    figures: list[tuple[str, str, int, float, float, float]] = []
    among_people = alpha([valid for _, valid, _ in tables])
    for person, valid, _ in tables:
        gold, ours = list(valid.values()), [judged[name].kept for name in valid]
        figures.append(("valid", person, gold.count(True), accuracy(ours, gold), f1(ours, gold, True), among_people))
    among_people = alpha([chosen for _, _, chosen in tables])
    for person, _, chosen in tables:
        ids = [name for name in chosen if judged[name].feature]  # what was not mapped says nothing of the map
        people, mapped = [chosen[name] for name in ids], [judged[name].feature for name in ids]
        f1_of = {feature.name: f1(mapped, people, feature.name) for feature in features}
        for name, own in f1_of.items():
            figures.append((name, person, people.count(name), recall(mapped, people, name), own, math.nan))
        known = [own for own in f1_of.values() if not math.isnan(own)]
        mean = fmean(known) if known else math.nan
        figures.append(("all features", person, len(ids), accuracy(mapped, people), mean, among_people))
    return [dict(zip(FIGURES, row, strict=True)) for row in figures]
