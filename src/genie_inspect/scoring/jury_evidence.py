"""What a score says of each grader of a jury, and of how far they agree: for its metadata and for people."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from genie_inspect.logs.graders.juries import agreement, part_of
from genie_inspect.scoring.assessment import Assessment
from genie_inspect.scoring.explanation import aligned, cell, rests_on, rounded, shown_value
from genie_inspect.scoring.jury import JuryAssessment

KEPT = ("coverage", "pairs", "ratings", "faults")
"""Of what a grader's numbers rest on."""


def jury_facts(assessment: Assessment, features: Sequence[str]) -> dict[str, Any]:
    """A score's metadata on its jury; empty where one grader measured.

    `graders` has, by grader, its `novelty` by feature, the novelty of its `questions` (by feature, in the population's
    order; null where one was not used), and its own `coverage`, `pairs`, `ratings` and `faults`. `agreement` is
    Krippendorff's alpha by feature, interval, over the novelties of this document's questions. `shown` names the grader
    whose answers stand in the score's question table.
    """
    if not isinstance(assessment, JuryAssessment):
        return {}
    graders = {name: _part(part, features) for name, part in assessment.parts.items()}
    alphas = agreement([{name: part_of(facts) for name, facts in graders.items()}], features)
    return {
        "graders": graders,
        "agreement": {name: rounded(alpha) for name, alpha in alphas.items()},
        "shown": assessment.shown_by,
    }


def jury_notes(facts: Mapping[str, Any], features: Sequence[str]) -> list[str]:
    """A Markdown table with each grader's novelty by feature and their agreement; nothing without a jury."""
    if not facts:
        return []
    graders = facts["graders"]
    rows = [["feature", *map(cell, graders), "alpha"]]
    for feature in features:
        values = [*(part["novelty"][feature] for part in graders.values()), facts["agreement"][feature]]
        rows.append([cell(feature.replace("_", " ")), *(shown_value(_number(value)) for value in values)])
    count = f"Novelty is the mean over {len(graders)} graders, where each of them measured it:"
    return [count, "", *aligned(rows), "", f"The answers above are as {cell(facts['shown'])} read and rated them."]


def _part(part: Assessment, features: Sequence[str]) -> dict[str, Any]:
    rests = rests_on(part, features)
    questions = part.by_feature(features)
    return {
        "novelty": {name: rounded(value) for name, value in part.novelty(features).items()},
        "questions": {name: [rounded(result.novelty) for result in results] for name, results in questions.items()},
        **{name: rests[name] for name in KEPT if name in rests},
    }


def _number(value: float | None) -> float:
    return math.nan if value is None else value
