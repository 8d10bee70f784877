"""Writing a prompt's questions: generate, filter, map, each a step with a record and a reason for every rejection.

Source: Genie (arXiv 2606.12790), section 4. Deviation: what breaks a rule visibly is rejected before the
grader is asked, and a feature without enough questions gets a second pass that knows it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from genie_inspect.building.interviewing import Interviewer
from genie_inspect.graders.grader import gathered
from genie_inspect.populations.schema import Feature, Question, Row, question_id
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


@dataclass(slots=True)
class Record:
    written: list[Step] = field(default_factory=list)
    filtered: list[Step] = field(default_factory=list)
    mapped: list[Step] = field(default_factory=list)

    @property
    def questions(self) -> list[Question]:
        return [
            Question(id=question_id(step.prompt, step.text), prompt=step.prompt, feature=step.feature, text=step.text)
            for step in self.mapped
            if step.kept
        ]

    @property
    def rejected(self) -> dict[str, int]:
        steps = {"written": self.written, "filtered": self.filtered, "mapped": self.mapped}
        reasons = (f"{name}: {step.reason}" for name, decisions in steps.items() for step in decisions if not step.kept)
        return dict(Counter(reasons).most_common())


@dataclass(frozen=True, slots=True)
class Wanted:
    least: int = 2
    most: int = MOST

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise ValueError(f"questions per feature are {self.least} to {self.most}, expected 1 <= least <= most")


class QuestionWriter:
    def __init__(self, interviewer: Interviewer, features: Sequence[Feature], wanted: Wanted) -> None:
        self.interviewer = interviewer
        self.features = features
        self.wanted = wanted

    async def write(self, prompts: Sequence[str], done: Callable[[int], None] = lambda _: None) -> Record:
        record = Record()
        for start in range(0, len(prompts), PROMPTS_AT_ONCE):
            batch = prompts[start : start + PROMPTS_AT_ONCE]
            for part in await gathered(*(self._prompt(prompt, Record()) for prompt in batch)):
                record.written += part.written
                record.filtered += part.filtered
                record.mapped += part.mapped
            done(min(start + PROMPTS_AT_ONCE, len(prompts)))
        return record

    async def _prompt(self, prompt: str, record: Record) -> Record:
        async def questions(template: str, data: Mapping[str, object]) -> list[str]:
            count = QUESTIONS_AN_ASPECT
            return await self.interviewer.list_items(
                template, count, {**data, "count": count}, questions_form(count), numbered_questions
            )

        aspects = await self.interviewer.list_items(
            "list_aspects", ASPECTS, {"prompt": prompt, "count": ASPECTS}, answers_form(ASPECTS), numbered_answers
        )
        by_aspect = await gathered(*(questions("write_questions", {"prompt": prompt, "aspect": a}) for a in aspects))
        written = [(aspect, text) for aspect, texts in zip(aspects, by_aspect, strict=True) for text in texts]
        await self._pass(record, prompt, written)
        counts = Counter(question.feature for question in record.questions)
        # the second pass knows the feature, and its questions so far
        for feature in [feature for feature in self.features if counts[feature.name] < self.wanted.least]:
            existing = [question.text for question in record.questions if question.feature == feature.name]
            data = {"prompt": prompt, "feature": feature.name, "definition": feature.definition, "existing": existing}
            texts = await questions("write_feature_questions", data)
            await self._pass(record, prompt, [(feature.name, text) for text in texts], only=feature.name)
        return record

    async def _pass(self, record: Record, prompt: str, written: Iterable[tuple[str, str]], only: str = "") -> None:
        """Filter and map written questions; `only` accepts one feature, and questions on record are repetitions."""
        # rejected ones too: a second pass shall not bring them again
        seen = {normalised(step.text) for step in record.written}
        steps = []
        for source, text in written:
            twice = normalised(text) in seen
            seen.add(normalised(text))
            reason = "stands twice" if twice else ""
            steps.append(Step(prompt=prompt, source=source, text=text, kept=not twice, reason=reason))
        record.written += steps

        steps = [step for step in steps if step.kept]
        # what a rule sees need not be paid for
        visible = [breach(step.text) for step in steps]
        texts = [step.text for step, reason in zip(steps, visible, strict=True) if not reason]
        sorted_ = await self.interviewer.sort_items("filter_questions", texts, {"prompt": prompt}, VERDICTS, SORTED)
        verdicts = iter(sorted_)
        # the iterator moves on only for questions that the grader was asked about
        reasons = [f"{reason} (by rule)" if reason else next(verdicts) or UNREADABLE for reason in visible]
        steps = [
            step.model_copy(update={"kept": reason == KEEP, "reason": "" if reason == KEEP else reason})
            for step, reason in zip(steps, reasons, strict=True)
        ]
        record.filtered += steps

        steps = [step for step in steps if step.kept]
        features = {feature.name: feature.definition for feature in self.features}
        choices, texts = [*features, SEVERAL, NONE], [step.text for step in steps]
        chosen = await self.interviewer.sort_items("map_questions", texts, {"features": features}, choices, SORTED)
        counts = Counter(question.feature for question in record.questions)
        for step, choice in zip(steps, chosen, strict=True):
            reason = ""
            if choice is None:
                reason = UNREADABLE
            elif choice in (SEVERAL, NONE):
                # a question of two features would count in neither alone
                reason = "two or more features" if choice == SEVERAL else "no feature"
            elif only and choice != only:
                reason = "not the feature that it was written for"
            elif counts[choice] >= self.wanted.most:
                reason = f"{self.wanted.most} questions of this feature are enough"
            else:
                counts[choice] += 1
            update = {"kept": not reason, "reason": reason, "feature": choice if choice in features else ""}
            record.mapped.append(step.model_copy(update=update))
