"""Which documents of two runs belong together: those of one prompt, or one document and the one written after it.

Either way a prompt is one pair: documents of one prompt are alike, and five of them are no five witnesses.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from genie_inspect.reports.runs import Run, Scored, Written
from genie_inspect.reports.summary import ReportError

PROMPT, INSTANCE = "prompt", "instance"
Key = tuple[str, str]
"""Scorer, and key of its score."""
Sides = tuple[list[Written], list[Written]]
"""A prompt's documents before and after; paired by instance, one of each belongs to one of the other, in order."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Scores of two runs, prompt by prompt."""

    by: str
    """`prompt`: each side is the mean over a prompt's documents. `instance`: over those of them that belong to one on
    the other side, both scored."""
    keys: tuple[Key, ...]
    before: tuple[tuple[float, ...], ...]
    """A row a prompt, a column a key; NaN where there is no score."""
    after: tuple[tuple[float, ...], ...]
    instances: tuple[int | None, ...]
    """By key: pairs of documents with both scores; None where prompts are paired."""
    coverage: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    """By key: questions used and asked, before and after."""
    strays: int
    """Scored documents that were written after one that the baseline lacks."""


def paired(baseline: Run, run: Run, scorers: Sequence[str]) -> Pairs:
    """The pairs of two runs: by instance where every scored document of `run` was written after one of the baseline's.

    Raises:
        ReportError: If they have no prompt in common.
    """
    before, after = _by_prompt(baseline), _by_prompt(run)
    common = [prompt for prompt in before if prompt in after]
    if not common:
        raise ReportError(
            f"{baseline.file} and {run.file} share no prompt: the first has {next(iter(before), 'none')!r}, "
            f"the second {next(iter(after), 'none')!r}"
        )
    chained, strays = _chained(baseline, run)
    by, prompts = (INSTANCE, chained) if chained else (PROMPT, [(before[prompt], after[prompt]) for prompt in common])
    keys = _keys(baseline, run, scorers)
    found = [[_means(sides, key, by) for key in keys] for sides in prompts]
    return Pairs(
        by=by,
        keys=keys,
        before=tuple(tuple(before for before, _, _ in row) for row in found),
        after=tuple(tuple(after for _, after, _ in row) for row in found),
        instances=tuple(sum(row[place][2] for row in found) if chained else None for place in range(len(keys))),
        coverage=tuple(
            (_coverage([first for first, _ in prompts], key), _coverage([second for _, second in prompts], key))
            for key in keys
        ),
        strays=strays,
    )


def _by_prompt(run: Run) -> dict[str, list[Written]]:
    groups: dict[str, list[Written]] = {}
    for document in run.documents:
        groups.setdefault(document.prompt, []).append(document)
    return groups


def _chained(baseline: Run, run: Run) -> tuple[list[Sides], int]:
    """By prompt, the scored documents and those that each was written after; none where the baseline lacks one.

    And how many it lacks.
    """
    first = {(document.prompt, document.text): document for document in baseline.documents}
    scored = [d for d in run.documents if not all(found.is_unscored for found in d.scores.values())]
    lacking = [document for document in scored if (document.prompt, document.earlier) not in first]
    groups: dict[str, Sides] = {}
    for document in scored if not lacking else ():
        sides = groups.setdefault(document.prompt, ([], []))
        sides[0].append(first[document.prompt, document.earlier])
        sides[1].append(document)
    return list(groups.values()), sum(bool(document.earlier) for document in lacking)


def _keys(baseline: Run, run: Run, scorers: Sequence[str]) -> tuple[Key, ...]:
    """Every key that one of the two runs has, in the order of the scores."""
    documents = [*baseline.documents, *run.documents]
    found = ((name, key) for name in scorers for d in documents if name in d.scores for key in d.scores[name].values)
    return tuple(dict.fromkeys(found))


def _means(sides: Sides, key: Key, by: str) -> tuple[float, float, int]:
    """A prompt's two means, NaN without any value, and how many pairs of documents they rest on."""
    before, after = ([_value(document, key) for document in side] for side in sides)
    if by == INSTANCE:
        both = [pair for pair in zip(before, after, strict=True) if not any(map(math.isnan, pair))]
        return _mean([first for first, _ in both]), _mean([second for _, second in both]), len(both)
    return _mean(before), _mean(after), 0


def _value(document: Written, key: Key) -> float:
    scored = document.scores.get(key[0])
    return scored.values.get(key[1], math.nan) if scored else math.nan


def _mean(values: Sequence[float]) -> float:
    usable = [value for value in values if not math.isnan(value)]
    return math.fsum(usable) / len(usable) if usable else math.nan


def _coverage(groups: Sequence[Sequence[Written]], key: Key) -> tuple[int, int]:
    shares = [scored.coverage.get(key[1], (0, 0)) for group in groups for scored in _scored(group, key)]
    return sum(used for used, _ in shares), sum(asked for _, asked in shares)


def _scored(documents: Sequence[Written], key: Key) -> list[Scored]:
    return [document.scores[key[0]] for document in documents if key[0] in document.scores]
