"""How a critic's tests are put to a story, and the score that comes of it."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspect_ai.scorer import Score
from inspect_ai.solver import TaskState

from genie_inspect.graders.critic import Critic, Critique, Judgement, Opinion
from genie_inspect.graders.rubrics import TOTAL, Instructions, Rubric
from genie_inspect.prompting.replies import analysis
from genie_inspect.prompting.texts import has_word
from genie_inspect.samples import document_of, prompt_of
from genie_inspect.scorers.explanation import cell, cut
from genie_inspect.scorers.outcome import scored_or_reason, unscored
from genie_inspect.signature import signature

MOST_BYTES = 8_000
WIDTHS = (200, 120, 60, 0)
PHRASES = 160  # characters of the critic's words on each order in the table
BIASED = 0.5  # share of tests in which the same place wins both times, from which the critic is called biased
LIKE_LENGTH = 1.5  # stories whose lengths differ by more do not compare well
SIDES = ("reference", "candidate")
DEGREES = {1: "better", 2: "much better", 3: "better by far"}
ANSWERS = ("no", "yes")
COMPARED = (
    "| test | reference first | candidate first | score | pass | the critic in short |",
    "|:--|:--|:--|--:|:--|:--|",
)
ALONE = ("| test | yes/no | the critic in short |", "|:--|:--|:--|")


def explained(critique: Critique, candidate: str, reference: str) -> str:
    """A Markdown table with a row a test: verdicts, score, pass, the critic's phrases; then what to know.

    Of a candidate that stood alone there is one verdict, yes or no, and the reference is empty.
    """
    rows = [*(ALONE if critique.is_alone else COMPARED)]
    for judgement in critique.judgements:
        cells = [
            f"{judgement.test.id} {cell(judgement.test.name)}",
            *(_answered(judgement) if critique.is_alone else _compared(critique, judgement)),
            "; ".join(cell(cut(analysis(opinion.reply), PHRASES)) for opinion in judgement.opinions if opinion.reply),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join([*rows, "", *(f"{line}\n" for line in _notes(critique, candidate, reference))]).rstrip()


def evidence(critique: Critique, **facts: Any) -> dict[str, Any]:
    """Score metadata of at most 8 KB: the facts, coverage, faults, how far the orders agree, and the tests."""
    counts = {
        **facts,
        "judged": len(critique.judged),
        "not_judged": len(critique.judgements) - len(critique.judged),
        "ratings": critique.ratings,
        **({} if critique.is_alone else _between_orders(critique)),
        "faults": {cut(fault, WIDTHS[0]): count for fault, count in critique.faults.items()},
        "coverage": _coverage(critique),
    }
    # narrower and narrower phrases until the metadata fits; at width 0 they go
    for width in WIDTHS:
        metadata = counts | {"tests": [_row(critique, judgement, width) for judgement in critique.judgements]}
        if len(json.dumps(metadata, ensure_ascii=False).encode()) <= MOST_BYTES:
            return metadata
    return counts | {"tests": f"{len(critique.judgements)} tests: too many to keep here"}


def _answered(judgement: Judgement) -> list[str]:
    """The one verdict on a candidate alone."""
    (opinion,) = judgement.opinions
    return [_missing(opinion) if opinion.points is None else ANSWERS[opinion.points]]


def _compared(critique: Critique, judgement: Judgement) -> list[str]:
    """Both verdicts, the score and whether the test passes."""
    score, result = judgement.score, critique.result(judgement)
    return [
        *(_worded(opinion, place) for place, opinion in enumerate(judgement.opinions)),
        ("" if score is None else f"{score:+d}" if score else "0") + ("" if judgement.agree else " ⇄"),
        "not judged" if math.isnan(result) else ANSWERS[int(result)],
    ]


def _worded(opinion: Opinion, place: int) -> str:
    """One verdict by what the stories are: "reference better", "even"."""
    if opinion.points is None:
        return _missing(opinion)
    if opinion.points == 0:
        return "even"
    first, second = SIDES[place], SIDES[1 - place]
    return f"{first if opinion.points > 0 else second} {DEGREES[abs(opinion.points)]}"


def _missing(opinion: Opinion) -> str:
    return f"none: {cell(cut(opinion.fault, PHRASES))}"


def _notes(critique: Critique, candidate: str, reference: str) -> list[str]:
    """What a reader of the score must know beside the numbers."""
    judged, total = len(critique.judged), critique.value[critique.rubric.key(TOTAL)]
    missing = len(critique.judgements) - judged
    lines = [
        "**No test could be judged.**" if math.isnan(total) else f"**Passed {total:.0f} of {judged} judged tests.**"
    ]
    if critique.cutoff is not None:
        lines[0] += f" A test passes from a score of {critique.cutoff} on."
    if missing:
        shown = "; ".join(f"{count} {cell(cut(fault, PHRASES))}" for fault, count in critique.faults.items())
        lines.append(f"{missing} of {len(critique.judgements)} tests are not judged, verdicts missing: {shown}.")
    if critique.disagreeing:
        lines.append(f"The two orders name different stories in {len(critique.disagreeing)} of {judged} tests (⇄).")
    return [*lines, *_bias(critique), *_lengths(candidate, reference)]


def _bias(critique: Critique) -> list[str]:
    place, wins = max(zip(("first", "second"), critique.won_by_place, strict=True), key=lambda pair: pair[1])
    # a preference for a place cancels in the score, but a critic that has it tells nothing about the stories
    if not wins or wins < BIASED * len(critique.judged):
        return []
    return [
        f"**The critic is biased by position:** whichever story stood {place} won both times in {wins} of "
        f"{len(critique.judged)} tests. Such a preference cancels in the score; by itself it scores 0, and 0 passes at "
        "any cutoff up to 0."
    ]


def _lengths(candidate: str, reference: str) -> list[str]:
    words, expected = len(candidate.split()), len(reference.split())
    if not expected or max(words, expected) <= LIKE_LENGTH * min(words, expected):
        return []
    return [f"Unlike lengths, which do not compare well: {words} words, the reference has {expected}."]


def _between_orders(critique: Critique) -> dict[str, Any]:
    """How far the two orders agree: a critic's preference for a place."""
    judged = len(critique.judged)
    first, second = critique.won_by_place
    return {
        "order_disagreement": _rounded(len(critique.disagreeing) / judged) if judged else None,
        "position_bias": _rounded(critique.position_bias),
        "first_place_wins_both": first,
        "second_place_wins_both": second,
    }


def _row(critique: Critique, judgement: Judgement, width: int) -> dict[str, Any]:
    result = critique.result(judgement)
    row: dict[str, Any] = {
        "id": judgement.test.id,
        "verdicts": [opinion.points for opinion in judgement.opinions],
        "pass": None if math.isnan(result) else bool(result),
    }
    if not critique.is_alone:
        row |= {"score": judgement.score, "orders_agree": judgement.agree if judgement.verdicts else None}
    return row | ({"critic": [cut(_summary(opinion), width) for opinion in judgement.opinions]} if width else {})


def _summary(opinion: Opinion) -> str:
    return analysis(opinion.reply) or opinion.fault


def _coverage(critique: Critique) -> dict[str, str]:
    """Judged tests of all tests behind each key, as reports read it."""
    rubric = critique.rubric
    judged = {judgement.test.id for judgement in critique.judged}
    behind = {TOTAL: [test.id for test in rubric.tests]}
    behind |= {name: [test.id for test in rubric.tests if test.dimension == name] for name in rubric.dimensions}
    behind |= {test.id: [test.id] for test in rubric.tests}
    return {rubric.key(part): f"{len(judged & set(ids))}/{len(ids)}" for part, ids in behind.items()}


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


NO_REFERENCE = "no reference story"
SHOWN = 160  # characters of the prompt in the metadata


@dataclass(frozen=True)
class Examination:
    """How stories are put to the tests."""

    rubric: Rubric
    """Its name begins the keys."""
    instructions: Instructions
    cutoff: int | None
    """From which score on a test passes; None where the candidate stands alone and passes on a yes."""
    settings: Mapping[str, str]
    """What else the numbers depend on, for the signature; the rubric first."""

    async def score(self, critic: Critic, state: TaskState, reference: str | None) -> Score:
        """The score of a sample's story, beside a reference or alone."""
        text, facts = document_of(state), self._facts(critic, state)
        keys = self.rubric.keys

        async def measured() -> Score:
            # a reference of nothing but punctuation would lose every test
            if not (reference is None or has_word(reference)):
                return unscored(keys, NO_REFERENCE, f"Not scored: {NO_REFERENCE}.", text, facts)
            judgements = await critic.compare(text, reference, self.rubric.tests)
            critique = Critique(self.rubric, tuple(judgements), self.cutoff)
            return Score(
                value=dict(critique.value),
                answer=text,
                explanation=explained(critique, text, reference or ""),
                reason=None if critique.judged else "invalid_response_format",
                metadata=evidence(critique, **facts),
            )

        return await scored_or_reason(state, keys, facts, measured)

    def _facts(self, critic: Critic, state: TaskState) -> dict[str, str]:
        """The metadata of every score."""
        facts = {
            "judge": critic.signature,
            **self.settings,
            "stories": str(state.metadata.get("references", "unknown")),
        }
        if self.cutoff is not None:
            facts["cutoff"] = str(self.cutoff)
        return {
            "signature": signature("ttcw", version="1-A", **facts),
            "judge": critic.signature,
            "prompt": cut(prompt_of(state), SHOWN),
        }
