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

# yes-or-no questions, also behind an adverbial: "In the end, is the ..."
_POLAR = re.compile(
    r"^(?:(?:in|at|on|by|during|within) [^,?]{1,60}, )?"
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)(?:n't)?\b",
    re.IGNORECASE,
)
# examples in a question suggest its answers
_EXAMPLES = re.compile(
    r"\b(?:e\.g|i\.e|for example|for instance|such as|including|like an?)\b|\(.*\bor\b.*\)", re.IGNORECASE
)
# what might be is not in the document
_HYPOTHETICAL = re.compile(r"\b(?:would|might|will|if)\b", re.IGNORECASE)
# one answer to two questions compares with nothing
_TWO = re.compile(r"\?.*\?|,? and (?:how|why|what|when|where|which|who|whose|whom)\b", re.IGNORECASE)
_DEPENDENT = re.compile(
    r"\b(?:the above|as above|mentioned (?:above|earlier)|previous question|the same question)\b", re.IGNORECASE
)
LONGEST = 1_000  # characters of a question that are looked at, so that hostile input costs nothing
_RULES = {
    "polar": _POLAR,
    "two things": _TWO,
    "examples": _EXAMPLES,
    "dependent": _DEPENDENT,
    "hypothetical": _HYPOTHETICAL,
}


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
VERDICTS = (
    "polar",
    "two things",
    "examples",
    "dependent",
    "hypothetical",
    "intentions",
    "subjective",
    "presuming",
    KEEP,
)


class Step(Row):
    """What one step decided about one question."""

    prompt: str
    source: str
    """The aspect that it was written for, or the feature in the second pass."""
    text: str
    kept: bool
    reason: str = ""
    feature: str = ""
    """The feature that the mapping step chose; empty when it chose none."""


@dataclass(slots=True)
class Record:
    written: list[Step] = field(default_factory=list)
    filtered: list[Step] = field(default_factory=list)
    mapped: list[Step] = field(default_factory=list)

    def __iadd__(self, other: "Record") -> "Record":
        self.written += other.written
        self.filtered += other.filtered
        self.mapped += other.mapped
        return self

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
    """Writes the questions of prompts, whatever kind of text they ask for."""

    def __init__(self, interviewer: Interviewer, features: Sequence[Feature], wanted: Wanted) -> None:
        self.interviewer = interviewer
        self.features = features
        self.wanted = wanted

    async def write(self, prompts: Sequence[str], done: Callable[[int], None] = lambda _: None) -> Record:
        record = Record()
        for start in range(0, len(prompts), PROMPTS_AT_ONCE):
            for part in await gathered(*map(self._prompt, prompts[start : start + PROMPTS_AT_ONCE])):
                record += part
            done(min(start + PROMPTS_AT_ONCE, len(prompts)))
        return record

    async def _prompt(self, prompt: str) -> Record:
        record = await self._pass(prompt, await self._by_aspect(prompt), Record())
        counts = Counter(question.feature for question in record.questions)
        poor = [feature for feature in self.features if counts[feature.name] < self.wanted.least]
        # the second pass knows the feature, and its questions so far
        for feature in poor:
            existing = [question.text for question in record.questions if question.feature == feature.name]
            data = {"prompt": prompt, "feature": feature.name, "definition": feature.definition, "existing": existing}
            texts = await self._questions("write_feature_questions", data)
            record += await self._pass(prompt, [(feature.name, text) for text in texts], record, only=feature.name)
        return record

    async def _by_aspect(self, prompt: str) -> list[tuple[str, str]]:
        """Questions with the aspect that they were written for."""
        aspects = await self.interviewer.list_items(
            "list_aspects", ASPECTS, {"prompt": prompt, "count": ASPECTS}, answers_form(ASPECTS), numbered_answers
        )
        questions = await gathered(
            *(self._questions("write_questions", {"prompt": prompt, "aspect": a}) for a in aspects)
        )
        return [(aspect, text) for aspect, texts in zip(aspects, questions, strict=True) for text in texts]

    async def _questions(self, template: str, data: Mapping[str, object]) -> list[str]:
        count = QUESTIONS_AN_ASPECT
        return await self.interviewer.list_items(
            template, count, {**data, "count": count}, questions_form(count), numbered_questions
        )

    async def _pass(self, prompt: str, written: Iterable[tuple[str, str]], before: Record, only: str = "") -> Record:
        """Filter and map written questions; `only` accepts one feature, and questions in `before` are repetitions."""
        record = Record()
        # rejected ones too: a second pass shall not bring them again
        seen = {normalised(step.text) for step in before.written}
        for source, text in written:
            twice = normalised(text) in seen
            seen.add(normalised(text))
            reason = "stands twice" if twice else ""
            record.written.append(Step(prompt=prompt, source=source, text=text, kept=not twice, reason=reason))
        await self._filter(record, prompt)
        await self._map(record, prompt, Counter(question.feature for question in before.questions), only)
        return record

    async def _filter(self, record: Record, prompt: str) -> None:
        steps = [step for step in record.written if step.kept]
        # what a rule sees need not be paid for
        visible = [breach(step.text) for step in steps]
        texts = [step.text for step, reason in zip(steps, visible, strict=True) if not reason]
        verdicts = iter(
            await self.interviewer.sort_items("filter_questions", texts, {"prompt": prompt}, VERDICTS, SORTED)
        )
        for step, reason in zip(steps, visible, strict=True):
            # the iterator moves on only for questions that the grader was asked about
            verdict = f"{reason} (by rule)" if reason else next(verdicts) or UNREADABLE
            passes = verdict == KEEP
            record.filtered.append(step.model_copy(update={"kept": passes, "reason": "" if passes else verdict}))

    async def _map(self, record: Record, prompt: str, counts: Counter[str], only: str) -> None:
        steps = [step for step in record.filtered if step.kept]
        features = {feature.name: feature.definition for feature in self.features}
        choices = [*features, SEVERAL, NONE]
        texts = [step.text for step in steps]
        chosen = await self.interviewer.sort_items("map_questions", texts, {"features": features}, choices, SORTED)
        for step, choice in zip(steps, chosen, strict=True):
            reason = self._rejection(choice, counts, only)
            # counted at once, so that a feature takes no more than `most`, in order
            if not reason and choice:
                counts[choice] += 1
            feature = choice if choice in features else ""
            update = {"kept": not reason, "reason": reason, "feature": feature}
            record.mapped.append(step.model_copy(update=update))

    def _rejection(self, choice: str | None, counts: Counter[str], only: str) -> str:
        if choice is None:
            return UNREADABLE
        if choice in (SEVERAL, NONE):
            # a question of two features would count in neither alone
            return "two or more features" if choice == SEVERAL else "no feature"
        if only and choice != only:
            return "not the feature that it was written for"
        return f"{self.wanted.most} questions of this feature are enough" if counts[choice] >= self.wanted.most else ""
