"""Which documents of two runs belong together: those of one prompt, or one document and the one written after it.

Either way a prompt is one pair: documents of one prompt are alike, and five of them are no five witnesses. Means are
over the prompts that both runs have scores for, and so differ from those of a summary where one lacks a prompt.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from genie_inspect.logs.evidence import Evidence, together
from genie_inspect.logs.files import LogError
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.statistics.intervals import prompt_means

PROMPT, INSTANCE = "prompt", "instance"
Key = tuple[str, str]
"""Scorer, and key of its score."""
Sides = tuple[list[ScoredDocument], list[ScoredDocument]]
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
    evidence: Mapping[str, tuple[Evidence, Evidence]]
    """By scorer: what the paired documents' scores rest on, before and after."""
    prompts: int
    """That either run was given, whatever became of its documents."""
    strays: int
    """Scored documents that were written after one that the baseline lacks."""


def paired(baseline: ScoredLog, run: ScoredLog, scorers: Sequence[str]) -> Pairs:
    """The pairs of two runs: by instance where every scored document of `run` was written after one of the baseline's.

    Raises:
        LogError: If they have no prompt in common.
    """
    before, after = _by_prompt(baseline), _by_prompt(run)
    common = [prompt for prompt in before if prompt in after]
    if not common:
        raise LogError(
            f"{baseline.file} and {run.file} share no prompt: the first has {next(iter(before), 'none')!r}, "
            f"the second {next(iter(after), 'none')!r}"
        )
    # pairs by instance only where every document has its partner: a part of them would be a selection
    chained, strays = _chained(baseline, run)
    by, prompts = (INSTANCE, chained) if chained else (PROMPT, [(before[prompt], after[prompt]) for prompt in common])
    keys = _keys(baseline, run, scorers)
    means = [[_means(sides, key, by) for key in keys] for sides in prompts]
    return Pairs(
        by=by,
        keys=keys,
        before=tuple(tuple(before for before, _, _ in row) for row in means),
        after=tuple(tuple(after for _, after, _ in row) for row in means),
        instances=tuple(sum(row[place][2] for row in means) if chained else None for place in range(len(keys))),
        evidence={
            scorer: (
                _evidence((document for first, _ in prompts for document in first), scorer),
                _evidence((document for _, second in prompts for document in second), scorer),
            )
            for scorer in scorers
        },
        prompts=len(before.keys() | after.keys()),
        strays=strays,
    )


def _by_prompt(run: ScoredLog) -> dict[str, list[ScoredDocument]]:
    groups: dict[str, list[ScoredDocument]] = {}
    for document in run.documents:
        groups.setdefault(document.prompt, []).append(document)
    return groups


def _chained(baseline: ScoredLog, run: ScoredLog) -> tuple[list[Sides], int]:
    """By prompt, the scored documents and those that each was written after; none where the baseline lacks one.

    And how many it lacks.
    """
    first = {(document.prompt, document.text): document for document in baseline.documents}
    scored = [d for d in run.documents if not all(scores.is_unscored for scores in d.scores.values())]
    # negative sampling records the document that it started from, word for word
    lacking = [document for document in scored if (document.prompt, document.earlier) not in first]
    groups: dict[str, Sides] = {}
    for document in scored if not lacking else ():
        sides = groups.setdefault(document.prompt, ([], []))
        sides[0].append(first[document.prompt, document.earlier])
        sides[1].append(document)
    return list(groups.values()), sum(bool(document.earlier) for document in lacking)


def _keys(baseline: ScoredLog, run: ScoredLog, scorers: Sequence[str]) -> tuple[Key, ...]:
    """Every key that one of the two runs has, in the order of the scores."""
    documents = [*baseline.documents, *run.documents]
    keys = ((name, key) for name in scorers for d in documents if name in d.scores for key in d.scores[name].values)
    return tuple(dict.fromkeys(keys))


def _means(sides: Sides, key: Key, by: str) -> tuple[float, float, int]:
    """A prompt's two means, NaN without any value, and how many pairs of documents they rest on."""
    before, after = ([document.value(*key) for document in side] for side in sides)
    # a document whose partner has no score says nothing about the difference
    if by == INSTANCE:
        both = [pair for pair in zip(before, after, strict=True) if not any(map(math.isnan, pair))]
        return _mean([first for first, _ in both]), _mean([second for _, second in both]), len(both)
    return _mean(before), _mean(after), 0


def _mean(values: Sequence[float]) -> float:
    """The mean of one prompt's values, as in every summary; NaN without any."""
    return prompt_means(values, [PROMPT] * len(values)).get(PROMPT, math.nan)


def _evidence(documents: Iterable[ScoredDocument], scorer: str) -> Evidence:
    return together([scores.evidence for document in documents if (scores := document.scores.get(scorer))])
