"""Which documents of two runs belong together: those of one prompt, or one document and the one written after it.

Either way a prompt is one pair: documents of one prompt are alike, and five of them are no five witnesses. Means are
over the prompts that both runs have scores for, and of each prompt over the questions that both runs answered: a mean
over other questions would move where nothing else did. So they differ from those of a summary where one lacks either.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from genie_inspect.logs.evidence import NO_SHARE, Evidence, Share, added, together
from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import COHERENCE
from genie_inspect.logs.results import Results
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.measures.tokens import is_like_length
from genie_inspect.statistics.differences import Finding
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
    """The pairs of two runs: by instance where each document of `run` was written after one of the baseline's."""
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
    base_texts, texts = (
        Counter((document.prompt, document.text) for document in log.documents if document.words)
        for log in (baseline, run)
    )
    return Pairs(
        by=by,
        keys=keys,
        before=tuple(tuple(before for before, *_ in row) for row in means),
        after=tuple(tuple(after for _, after, *_ in row) for row in means),
        instances=tuple(sum(row[place][2] for row in means) if chained else None for place in range(len(keys))),
        questions=tuple(added(row[place][3] for row in means) for place in range(len(keys))),
        names=tuple(groups),
        documents=texts,
        is_repeated=bool(texts) and texts <= base_texts,
        evidence={scorer: (_evidence(prompts, 0, scorer), _evidence(prompts, 1, scorer)) for scorer in scorers},
        prompts=len(before.keys() | after.keys()),
        strays=strays,
    )


def _by_prompt(run: ScoredLog) -> dict[str, list[ScoredDocument]]:
    groups: dict[str, list[ScoredDocument]] = {}
    for document in run.documents:
        groups.setdefault(document.prompt, []).append(document)
    return groups


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


def _evidence(prompts: Sequence[Sides], side: int, scorer: str) -> Evidence:
    documents = [document for sides in prompts for document in sides[side]]
    return together([scores.evidence for document in documents if (scores := document.scores.get(scorer))])


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that a document must meet to be compared."""

    length_matched: bool = False
    """About as long as the population's; it is then scored against population documents of that length alone."""
    min_coherence: float | None = None
    """Rated at least this coherent; a document without a rating does not count."""


def selected(run: ScoredLog, selection: Selection) -> tuple[ScoredLog, int]:
    """The run with the scores of every document that does not count taken out, and how many these are."""
    documents = run.documents
    if selection.min_coherence is not None and COHERENCE not in run.signatures:
        raise LogError(
            f"{run.file} has no coherence, rate it with: inspect score {run.file} --scorer genie_inspect/coherence "
            "--action append --model-role grader=..."
        )
    scored = [document for document in documents if any(not scores.is_unscored for scores in document.scores.values())]
    if selection.length_matched and scored and all(math.isnan(document.population_words) for document in scored):
        raise LogError(f"{run.file} does not say how long the population's documents are: score it with genie anew")
    counts = [_is_kept(document, selection) for document in documents]
    changed = tuple(_scores_kept(*pair, selection) for pair in zip(documents, counts, strict=True))
    return replace(run, documents=changed), counts.count(False)


def coherence_of(document: ScoredDocument) -> float:
    """The document's coherence rating; NaN where it has none."""
    scores = document.scores.get(COHERENCE)
    return next(iter(scores.values.values()), math.nan) if scores else math.nan


def _is_kept(document: ScoredDocument, selection: Selection) -> bool:
    # `not >=` and not `<`: a NaN, which is no rating, does not pass either
    if selection.min_coherence is not None and not coherence_of(document) >= selection.min_coherence:
        return False
    # without a length of the population there is nothing to be unlike
    comparable = selection.length_matched and not math.isnan(document.population_words)
    return not comparable or is_like_length(document.words, document.population_words)


def _scores_kept(document: ScoredDocument, is_kept: bool, selection: Selection) -> ScoredDocument:
    """The document without scores, or with those against population documents of like length where it has them."""
    scores = dict(document.scores)
    for name, own in scores.items():
        if not is_kept:
            scores[name] = own.left_out()
        elif selection.length_matched and own.matched:
            scores[name] = replace(own, values=own.matched, questions={})
    return replace(document, scores=scores)


FAMILIES = {"all": "the tests of all runs", "run": "the tests of each run"}
"""Which tests of one measure are corrected together: where any of the runs may differ, or where each is a question."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a comparison: scorers, correction, margin, selection of documents, equivalence test."""

    scorers: tuple[str, ...] = ()
    """Scorers by name; empty takes all that every log has."""
    correction: str = "holm"
    margin: float | None = None
    selection: Selection = field(default_factory=Selection)
    equivalence: str = "t"
    """Method of `tost`."""
    signature: str = ""
    """Only logs with a score under a signature that holds these words are compared."""
    keys: tuple[str, ...] = ()
    """Keys that are tested, named before anybody looked; empty takes each measure's headline."""
    family: str = "all"
    """A key of FAMILIES."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts and means of one run beside its differences, over the documents that the selection keeps."""

    label: str
    file: str
    model: str
    strategy: str
    """The solvers that wrote; `conformative` where two models decoded as one, which no solver does."""
    documents: int
    scored: int
    """By the first scorer."""
    words: float
    """Mean over the scored documents, as is the next; NaN without any."""
    population_words: float
    coherence: float
    """Mean over prompts; NaN where it was not rated, or not in one way in all runs."""
    refusals: int
    left_out: int
    """By the selection."""
    unscored: Mapping[str, int]
    """By reason."""
    fewer_responses: Share
    """Samples that gave fewer responses than were asked for in one reply, and samples that were asked for several."""
    cut: int
    """Documents that end at the limit of their tokens."""
    measures: Mapping[str, Results]
    """By scorer: what a summary says of the run. Its means are over all prompts of the run, those of a difference over
    the prompts that both runs have."""


@dataclass(frozen=True, slots=True)
class Row:
    """One key of one run against its baseline."""

    run: str
    baseline: str
    scorer: str
    key: str
    tested: bool
    """Whether it is tested; else it is shown without a p-value."""
    paired_by: str
    prompts: int
    """That either run was given: those of them with a score on both sides are the pairs."""
    instances: int | None
    """Pairs of documents behind the pairs of prompts, where it is paired by instance."""
    coverage: tuple[Share, Share]
    """Questions used and asked, over the paired documents: the baseline's, the run's."""
    ratings: tuple[Share, Share]
    """Ratings that count and those that were due, likewise."""
    finding: Finding
    is_unit: bool
    """Whether its values lie from 0 to 1."""
    questions: Share = NO_SHARE
    """Questions that both sides answered, prompt by prompt, over which its means are, and those that were asked; 0 of 0
    where it is not over questions."""
    family: str = ""
    """The run with whose tests alone it is corrected; empty where it is with those of all runs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was compared."""

    options: Options
    named: str
    """What the baseline was called."""
    baselines: tuple[str, ...]
    """Their labels."""
    signatures: dict[str, str]
    """By scorer."""
    runs: tuple[Facts, ...]
    rows: tuple[Row, ...]
    pairs: Mapping[str, Pairs]
    """By run: the scores that its rows are made of."""
    base_of: Mapping[str, str]
    """By run: its baseline."""
    strays: dict[str, int]
    """By run: documents that were written after one that the baseline lacks, so that prompts are paired."""
    unmatched: tuple[str, ...]
    """Scorers that compare with population documents of every length, although lengths were to be matched."""
    unlike_coherence: str
    """Why the runs' coherence does not compare; empty where it does."""

    def called(self, *baselines: str) -> str:
        """Baselines by the name that was typed, with their labels where these are others."""
        labels = " and ".join(baselines)
        return labels if self.named in labels else f"{self.named} ({labels})"


CONFORMATIVE = "conformative"


def baselines(runs: Sequence[ScoredLog], baseline: str) -> dict[int, int]:
    """By index, the baseline of each other run: the only one that there is, or the one of the same model."""
    names = "; ".join(run.label for run in runs)
    bases = [
        place
        for place, run in enumerate(runs)
        if baseline in (run.label, run.strategy, run.task, run.model, run.file, Path(run.file).name)
    ]
    if not bases:
        raise LogError(f"baseline is {baseline!r}, expected one of: {names}")
    others = [place for place in range(len(runs)) if place not in bases]
    if not others:
        raise LogError(f"baseline {baseline!r} names every log, expected another to compare with it: {names}")
    return {place: _own_baseline(runs, place, bases) for place in others}


def _own_baseline(runs: Sequence[ScoredLog], place: int, bases: Sequence[int]) -> int:
    # one baseline serves runs of every model; of several, each run meets its own model's
    models = {runs[place].model}
    api, _, both = runs[place].model.partition("/")
    if api == CONFORMATIVE:
        # of two models that decode as one, the second is the instruct model, which they are held against
        models.add(both.rpartition("+")[2])
    # with its provider or without
    own = [base for base in bases if {runs[base].model, runs[base].model.partition("/")[2]} & models]
    candidates = bases if len(bases) == 1 else own
    if len(candidates) != 1:
        raise LogError(
            f"the baseline of {runs[place].label} is not clear, it could be "
            f"{'; '.join(runs[base].label for base in candidates or bases)}: name one of these, or a log file"
        )
    return candidates[0]
