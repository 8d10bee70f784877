"""Which documents of two runs belong together: those of one prompt, or one document and the one written after it.

Either way a prompt is one pair: documents of one prompt are alike, and five of them are no five witnesses. Means are
over the prompts that both runs have scores for, and of each prompt over the questions that both runs answered: a mean
over other questions would move where nothing else did. So they differ from those of a summary where one lacks either.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from genie_inspect.logs.evidence import NO_SHARE, Evidence, Share, added, together
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
    questions: tuple[Share, ...]
    """By key: questions that both sides answered, prompt by prompt (pair by pair), over which the scores are means, and
    those that were asked; 0 of 0 where the log keeps no scores by question."""
    names: tuple[str, ...]
    """The prompt of each row."""
    documents: Counter[tuple[str, str]]
    """How often the run wrote which text, by prompt and digest; a document without words does not count."""
    is_repeated: bool
    """Whether every document of the run stands in the baseline word for word."""
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
    by, groups = (
        (INSTANCE, chained) if chained else (PROMPT, {prompt: (before[prompt], after[prompt]) for prompt in common})
    )
    prompts, keys = list(groups.values()), _keys(baseline, run, scorers)
    means = [[_means(sides, key, by) for key in keys] for sides in prompts]
    return Pairs(
        by=by,
        keys=keys,
        before=tuple(tuple(before for before, *_ in row) for row in means),
        after=tuple(tuple(after for _, after, *_ in row) for row in means),
        instances=tuple(sum(row[place][2] for row in means) if chained else None for place in range(len(keys))),
        questions=tuple(added(row[place][3] for row in means) for place in range(len(keys))),
        names=tuple(groups),
        documents=_texts(run),
        is_repeated=bool(_texts(run)) and _texts(run) <= _texts(baseline),
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


def _texts(run: ScoredLog) -> Counter[tuple[str, str]]:
    return Counter((document.prompt, document.text) for document in run.documents if document.words)


def _chained(baseline: ScoredLog, run: ScoredLog) -> tuple[dict[str, Sides], int]:
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
    return groups, sum(bool(document.earlier) for document in lacking)


def _keys(baseline: ScoredLog, run: ScoredLog, scorers: Sequence[str]) -> tuple[Key, ...]:
    """Every key that one of the two runs has, in the order of the scores."""
    documents = [*baseline.documents, *run.documents]
    keys = ((name, key) for name in scorers for d in documents if name in d.scores for key in d.scores[name].values)
    return tuple(dict.fromkeys(keys))


def _means(sides: Sides, key: Key, by: str) -> tuple[float, float, int, Share]:
    """A prompt's two means, NaN without any value, how many pairs of documents they rest on, and common questions."""
    if by == PROMPT:
        before, after, share = _common(*sides, key)
        return before, after, 0, share
    # a document whose partner has no score says nothing about the difference
    pairs = [_common([first], [second], key) for first, second in zip(*sides, strict=True)]
    both = [pair for pair in pairs if not any(map(math.isnan, pair[:2]))]
    return _mean([pair[0] for pair in both]), _mean([pair[1] for pair in both]), len(both), added(p[2] for p in both)


def _common(before: Sequence[ScoredDocument], after: Sequence[ScoredDocument], key: Key) -> tuple[float, float, Share]:
    """The means of both sides over the questions that both answered, and how many of all these are.

    Where the log does not keep every document's questions, the means of the documents' values.
    """
    scorer, name = key
    sides = [[document for document in side if not math.isnan(document.value(*key))] for side in (before, after)]
    tables = [[document.scores[scorer].questions.get(name, {}) for document in side] for side in sides]
    values = _mean([d.value(*key) for d in sides[0]]), _mean([d.value(*key) for d in sides[1]])
    every = [table for side in tables for table in side]
    if not all(tables) or not all(every):
        return *values, NO_SHARE
    asked = dict.fromkeys(question for table in every for question in table)
    # NaN where no document of the side answered
    first, second = ({q: _mean([table.get(q, math.nan) for table in side]) for q in asked} for side in tables)
    common = [question for question in asked if not math.isnan(first[question] + second[question])]
    share = len(common), len(asked)
    # novelties of questions are rounded in logs, values are not: where nothing is missing they are taken
    if all([q for q in table if not math.isnan(table[q])] == common for table in every):
        return *values, share
    return _mean([first[question] for question in common]), _mean([second[question] for question in common]), share


def _mean(values: Sequence[float]) -> float:
    """The mean of one prompt's values, as in every summary; NaN without any."""
    return prompt_means(values, [PROMPT] * len(values)).get(PROMPT, math.nan)


def _evidence(documents: Iterable[ScoredDocument], scorer: str) -> Evidence:
    return together([scores.evidence for document in documents if (scores := document.scores.get(scorer))])
