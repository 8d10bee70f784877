"""Were the edits good: is the new value there, did the feature's answers change, did others' stay.

Source: validity, accuracy and invasiveness in the sensitivity study of Genie (arXiv 2606.12790), which asked people.
Deviation: accuracy is told by answers; one has changed where a judge rates it 1 or 2 of 4 beside the original's.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from genie_inspect.asking.gathering import gathered
from genie_inspect.building.interventions.instructions import Editor
from genie_inspect.building.interventions.screening import length_ratio, words_changed
from genie_inspect.interventions.collection import Interventions
from genie_inspect.interventions.schema import Changed, Edit, LeftOut, Original
from genie_inspect.judges.protocols import Judge, Reader, Reading
from genie_inspect.populations.population import Population
from genie_inspect.populations.schema import Question, Row
from genie_inspect.prompting.answers import normalised

ANOTHER = 2  # ratings up to it say that an answer is another one; 3 is "the same general idea"
PAIRS_AT_ONCE = 16
MOST_INVASIVE, MOST_PARAPHRASED = 0.5, 0.25


class Checked(Row):
    """What was seen of one edit or paraphrase; shares are from 0 to 1, None where nothing could be said."""

    id: str
    kind: str
    feature: str
    valid: bool | None
    """Whether the text has the new value; of a paraphrase None."""
    effect: float | None
    """Share of the feature's questions whose answer changed; of a paraphrase None."""
    invasiveness: float | None
    """Share of the other features' questions whose answer changed; of a paraphrase that of all questions."""
    words_changed: float
    length_ratio: float


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on an edit or paraphrase is no good."""

    invasiveness: float = MOST_INVASIVE
    """Of an edit."""
    paraphrase: float = MOST_PARAPHRASED
    """Of a paraphrase."""


class Checker:
    """Checks edits and paraphrases against their originals.

    Args:
        population: Whose questions are asked; of its documents nothing is seen.
        reader: Who answers them.
        judge: Who says whether two answers are the same.
        editor: Who says whether a text has a value; None leaves validity open.
        definitions: Of each feature.
    """

    def __init__(
        self,
        population: Population,
        reader: Reader,
        judge: Judge,
        editor: Editor | None,
        definitions: Mapping[str, str],
    ) -> None:
        self.population = population
        self.reader = reader
        self.judge = judge
        self.editor = editor
        self.definitions = definitions

    async def check(self, interventions: Interventions, done: Callable[[int], None] = lambda _: None) -> list[Checked]:
        """What was seen of each edit and paraphrase, in the order of the file.

        Raises:
            GraderFailedError: If a model cannot be reached.
        """
        checked: list[Checked] = []
        changed = interventions.changed
        readings: dict[str, Reading] = {}
        for start in range(0, len(changed), PAIRS_AT_ONCE):
            part = changed[start : start + PAIRS_AT_ONCE]
            fresh = {text.original: interventions.original(text) for text in part if text.original not in readings}
            readings |= zip(fresh, await gathered(*map(self._read, fresh.values())), strict=True)
            checked += await gathered(
                *(self._checked(text, interventions.original(text), readings[text.original]) for text in part)
            )
            done(len(checked))
        return checked

    async def _read(self, original: Original) -> Reading:
        return await self.reader.read(original.text, self.population.questions(original.prompt))

    async def _checked(self, text: Changed, original: Original, before: Reading) -> Checked:
        questions = self.population.questions(original.prompt)
        after = await self.reader.read(text.text, questions)
        changes = await gathered(
            *(self._has_changed(question, index, before, after) for index, question in enumerate(questions))
        )
        feature = text.feature if isinstance(text, Edit) else ""
        inside = [change for question, change in zip(questions, changes, strict=True) if question.feature == feature]
        outside = [change for question, change in zip(questions, changes, strict=True) if question.feature != feature]
        return Checked(
            id=text.id,
            kind=text.kind,
            feature=feature,
            valid=await self._is_valid(text) if isinstance(text, Edit) else None,
            effect=_share(inside) if feature else None,
            invasiveness=_share(outside),
            words_changed=words_changed(original.text, text.text),
            length_ratio=length_ratio(original.text, text.text),
        )

    async def _has_changed(self, question: Question, index: int, before: Reading, after: Reading) -> bool | None:
        """Whether a question has another answer; None where nobody can say."""
        # not to have been read is something else than to be silent
        if index in before.faults or index in after.faults:
            return None
        answer, other = after.answers[index], before.answers[index]
        if answer is None or other is None:
            # what the text says now and did not say before is another answer
            return answer is not other
        if normalised(answer.text) == normalised(other.text):
            return False
        rated = await self.judge.rate(question, answer, (other,))
        rating = rated.ratings[0]
        return None if rating is None or not 1 <= rating <= 4 else rating <= ANOTHER

    async def _is_valid(self, edit: Edit) -> bool | None:
        if self.editor is None:
            return None
        data = {
            "text": edit.text,
            "feature": edit.feature,
            "definition": self.definitions.get(edit.feature, ""),
            "value": edit.alternative,
        }
        return await self.editor.has_value(data)


def _share(changes: Sequence[bool | None]) -> float | None:
    """Of those that could be told; None without any."""
    told = [change for change in changes if change is not None]
    return sum(told) / len(told) if told else None


def faults(checked: Sequence[Checked], limits: Limits) -> list[LeftOut]:
    """Those that are no good, each with the first reason."""
    reasons = ((row.id, _fault(row, limits)) for row in checked)
    return [LeftOut(id=name, reason=reason) for name, reason in reasons if reason]


def _fault(row: Checked, limits: Limits) -> str:
    if row.words_changed == 0:
        return "it says what its original says, word for word"
    if row.valid is False:
        return "the new value is not there"
    if row.feature and row.effect == 0:
        return "no answer about the feature changed"
    limit, others = (limits.invasiveness, "other features") if row.feature else (limits.paraphrase, "any feature")
    if row.invasiveness is not None and row.invasiveness > limit:
        return f"{row.invasiveness:.0%} of the answers about {others} changed, more than {limit:.0%}"
    return ""


def mean_of(values: Sequence[float | bool | None]) -> float:
    """Of those that there are; NaN without any."""
    there = [float(value) for value in values if value is not None]
    return sum(there) / len(there) if there else math.nan
