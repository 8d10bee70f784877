"""Which answers an intervention changed, where a log's scores keep them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from genie_inspect.interventions.schema import EDIT, ORIGINAL
from genie_inspect.logs.evidence import mapping
from genie_inspect.logs.files import samples
from genie_inspect.reports.sensitivity.pairs import Intervention
from genie_inspect.samples.intervention import InterventionFacts, intervention_of

CUT = "…"
"""How an answer ends that the score's metadata had no room for."""
Answers = Mapping[str, tuple[str, str]]
"""By question its feature and answer."""


@dataclass(frozen=True, slots=True)
class AnswerChanges:
    """Of the answers to one feature's questions, how many an intervention changed."""

    scorer: str
    intervention: Intervention
    feature: str
    changed: int
    compared: int
    """Answers that stand in the log for the original too."""


def answer_changes(file: str, scorers: Collection[str]) -> Iterator[AnswerChanges]:
    """How many answers each intervention changed, by feature; nothing of a scorer that keeps none.

    Args:
        file: A study's log.
        scorers: Whose scores.

    Raises:
        LogError: If it cannot be read.
    """
    originals: dict[tuple[str, str, int], Answers] = {}
    changed: list[tuple[str, InterventionFacts, int, Answers]] = []
    for sample in samples(file):
        facts = intervention_of(sample)
        for scorer, score in (sample.scores or {}).items() if facts else ():
            if facts and scorer in scorers and (answers := _answers((score.metadata or {}).get("questions"))):
                if facts.kind == ORIGINAL:
                    originals[scorer, facts.original, sample.epoch] = answers
                else:
                    changed.append((scorer, facts, sample.epoch, answers))
    counts: dict[tuple[str, Intervention, str], list[bool]] = {}
    for scorer, facts, epoch, answers in changed:
        before = originals.get((scorer, facts.original, epoch), {})
        intervention = Intervention(facts.kind, facts.feature if facts.kind == EDIT else "")
        for question, (feature, answer) in answers.items():
            if question in before:
                differs = _differs(before[question][1], answer)
                counts.setdefault((scorer, intervention, feature), []).append(differs)
    for (scorer, intervention, feature), differing in counts.items():
        yield AnswerChanges(scorer, intervention, feature, sum(differing), len(differing))


def _answers(table: object) -> Answers:
    """The answers of a score's question table; what has another form, or no room was for, is not among them."""
    rows: list[Mapping[str, Any]] = [mapping(row) for row in table] if isinstance(table, list) else []
    return {
        row["id"]: (row["feature"], row["answer"])
        for row in rows
        if all(isinstance(row.get(name), str) for name in ("id", "feature", "answer"))
    }


def _differs(before: str, after: str) -> bool:
    """Whether two answers are other words; case, space and the last point make none.

    >>> _differs("In rain.", "in  rain"), _differs("in a long, long ra…", "in a long, long rainy night")
    (False, False)
    """
    sides = [" ".join(side.casefold().split()).rstrip(".") for side in (before, after)]
    # of an answer that was cut only the beginning is known
    known = min((len(side) - 1 for side in sides if side.endswith(CUT)), default=None)
    return sides[0][:known] != sides[1][:known]
