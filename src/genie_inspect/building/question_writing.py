"""Writing questions for prompts: generate, filter, map, each a step with a record and a reason for every rejection.

Source: Genie (arXiv 2606.12790), section 4. Deviation: what breaks a rule visibly is rejected before the
grader is asked, and a feature without enough questions gets a second pass that knows it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from genie_inspect.building.interviewing import Interviewer, Progress, appearing, in_batches, no_progress
from genie_inspect.errors import PopulationError
from genie_inspect.graders.grader import gathered
from genie_inspect.graders.stand_ins import RecordedModel
from genie_inspect.populations.population import QUESTIONS, write_features
from genie_inspect.populations.schema import Feature, Question, Row, question_id, write_rows
from genie_inspect.prompting.answers import normalised
from genie_inspect.prompting.forms import answers_form, questions_form
from genie_inspect.prompting.replies import numbered_answers, numbered_questions

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
    """The first rule that a question visibly breaks; empty when it breaks none.

    >>> [breach(text) for text in ("Is the sea calm?", "What calms the sea?", "What is old, and who owns it?")]
    ['polar', '', 'two things']
    """
    return next((name for name, rule in _RULES.items() if rule.search(question.strip()[:LONGEST])), "")


ASPECTS = 6  # sides of a prompt that questions are written for, without knowledge of the features
QUESTIONS_AN_ASPECT = 8
PROMPTS_AT_ONCE = 16
MOST = 6  # questions a feature; the study has 6.2 on plot, its largest mean (arXiv 2606.12790)
SORTED = "questions"  # where a request has what is filtered or mapped
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
STEPS = {"written": "1-written.jsonl", "filtered": "2-filtered.jsonl", "mapped": "3-mapped.jsonl"}
"""Of a record, and the file of each."""


def passed(record: Record) -> list[Question]:
    return [
        Question(id=question_id(step.prompt, step.text), prompt=step.prompt, feature=step.feature, text=step.text)
        for step in record["mapped"]
        if step.kept
    ]


def rejected(record: Record) -> dict[str, int]:
    """How many questions were rejected, by step and reason, the most frequent first."""
    reasons = (f"{name}: {step.reason}" for name, steps in record.items() for step in steps if not step.kept)
    return dict(Counter(reasons).most_common())


def write_record(folder: Path, record: Record) -> None:
    for name, steps in record.items():
        write_rows(folder / STEPS[name], steps)


class QuestionWriter:
    """Writes at least, and takes at most, so many questions a feature for each prompt."""

    def __init__(self, interviewer: Interviewer, features: Sequence[Feature], least: int, most: int = MOST) -> None:
        self.interviewer = interviewer
        self.features = features
        self.least = least
        self.most = most

    async def write(self, prompts: Sequence[str], progress: Progress = no_progress) -> Record:
        record: Record = {name: [] for name in STEPS}
        async for _, part in in_batches(self._prompt, prompts, PROMPTS_AT_ONCE, "writing questions", progress):
            for name, steps in part.items():
                record[name] += steps
        return record

    async def _prompt(self, prompt: str) -> Record:
        async def questions(template: str, data: Mapping[str, object]) -> list[str]:
            count = QUESTIONS_AN_ASPECT
            return await self.interviewer.list_items(
                template, count, {**data, "count": count}, questions_form(count), numbered_questions
            )

        record: Record = {name: [] for name in STEPS}
        aspects = await self.interviewer.list_items(
            "list_aspects", ASPECTS, {"prompt": prompt, "count": ASPECTS}, answers_form(ASPECTS), numbered_answers
        )
        by_aspect = await gathered(*(questions("write_questions", {"prompt": prompt, "aspect": a}) for a in aspects))
        written = [(aspect, text) for aspect, texts in zip(aspects, by_aspect, strict=True) for text in texts]
        await self._pass(record, prompt, written)
        counts = Counter(question.feature for question in passed(record))
        # the second pass knows the feature, and its questions so far
        for feature in [feature for feature in self.features if counts[feature.name] < self.least]:
            existing = [question.text for question in passed(record) if question.feature == feature.name]
            data = {"prompt": prompt, "feature": feature.name, "definition": feature.definition, "existing": existing}
            texts = await questions("write_feature_questions", data)
            await self._pass(record, prompt, [(feature.name, text) for text in texts], only=feature.name)
        return record

    async def _pass(self, record: Record, prompt: str, written: Iterable[tuple[str, str]], only: str = "") -> None:
        """Filter and map written questions; `only` accepts one feature, and questions on record are repetitions."""
        # rejected ones too: a second pass shall not bring them again
        seen = {normalised(step.text) for step in record["written"]}
        steps = []
        for source, text in written:
            reason = "stands twice" if normalised(text) in seen else ""
            seen.add(normalised(text))
            steps.append(Step(prompt=prompt, source=source, text=text, kept=not reason, reason=reason))
        record["written"] += steps

        steps = [step for step in steps if step.kept]
        # what a rule sees need not be paid for
        broken = [breach(step.text) for step in steps]
        texts = [step.text for step, rule in zip(steps, broken, strict=True) if not rule]
        verdicts = iter(
            await self.interviewer.sort_items("filter_questions", texts, {"prompt": prompt}, VERDICTS, SORTED)
        )
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
        chosen = await self.interviewer.sort_items("map_questions", texts, {"features": features}, choices, SORTED)
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
    interviewer = Interviewer(model, templates)
    record = await QuestionWriter(interviewer, features, least, most).write(prompts, progress)
    questions = passed(record)
    # no folder without questions, but the record of why there are none
    if not questions:
        write_record(work, record)
        reasons = ", ".join(f"{count} {reason}" for reason, count in rejected(record).items())
        raise PopulationError(
            f"no question passed: {reasons or 'none could be read from the replies'} (record: {work})"
        )
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
        "unreadable_replies": interviewer.unreadable,
    }
