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
from genie_inspect.statistics.descriptive import prompt_means
from genie_inspect.statistics.differences import Finding

PROMPT, INSTANCE = "prompt", "instance"
Key = tuple[str, str]  # scorer, and key of its score
Sides = tuple[list[ScoredDocument], list[ScoredDocument]]
"""A prompt's documents before and after; paired by instance, one of each belongs to one of the other, in order."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Scores of two runs, prompt by prompt."""

    by: str
    """`prompt`: each side is the mean over a prompt's documents. `instance`: over those with a partner, both scored."""
    keys: tuple[Key, ...]
    before: tuple[tuple[float, ...], ...]  # a row a prompt, a column a key; NaN where there is no score
    after: tuple[tuple[float, ...], ...]
    instances: tuple[int | None, ...]  # by key: pairs of documents with both scores; None where prompts are paired
    questions: tuple[Share, ...]
    """By key: questions that both sides answered, by prompt (or pair), and those that were asked; 0 of 0 if unknown."""
    names: tuple[str, ...]  # the prompt of each row
    documents: Counter[tuple[str, str]]
    """How often the run wrote which text, by prompt and digest; a document without words does not count."""
    is_repeated: bool  # whether every document of the run stands in the baseline word for word
    evidence: Mapping[str, tuple[Evidence, Evidence]]
    """By scorer: what the paired documents' scores rest on, before and after."""
    prompts: int  # that either run was given, whatever became of its documents
    strays: int  # scored documents that were written after one that the baseline lacks


def paired(baseline: ScoredLog, run: ScoredLog, scorers: Sequence[str]) -> Pairs:
    """The pairs of two runs: by instance where each document of `run` was written after one of the baseline's."""
    before, after = _by_prompt(baseline), _by_prompt(run)
    if not before.keys() & after.keys():
        raise LogError(
            f"{baseline.file} and {run.file} share no prompt: the first has {next(iter(before), 'none')!r}, "
            f"the second {next(iter(after), 'none')!r}"
        )
    groups: dict[str, Sides] = {prompt: (own, after[prompt]) for prompt, own in before.items() if prompt in after}
    # negative sampling records the document that it started from, word for word
    first = {(document.prompt, document.text): document for document in baseline.documents}
    scored = [d for d in run.documents if not all(scores.is_unscored for scores in d.scores.values())]
    lacking = [document for document in scored if (document.prompt, document.earlier) not in first]
    # pairs by instance only where every document has its partner: a part of them would be a selection
    by = INSTANCE if scored and not lacking else PROMPT
    if by == INSTANCE:
        groups = {document.prompt: ([], []) for document in scored}
        for document in scored:
            groups[document.prompt][0].append(first[document.prompt, document.earlier])
            groups[document.prompt][1].append(document)
    # every key that one of the two runs has, in the order of the scores
    documents = [*baseline.documents, *run.documents]
    keys = tuple(
        dict.fromkeys(
            (name, key) for name in scorers for d in documents if name in d.scores for key in d.scores[name].values
        )
    )
    means = [[_means(sides, key, by) for key in keys] for sides in groups.values()]
    base_texts, texts = (
        Counter((document.prompt, document.text) for document in log.documents if document.words)
        for log in (baseline, run)
    )
    evidence = {
        name: [
            together([d.scores[name].evidence for sides in groups.values() for d in sides[side] if name in d.scores])
            for side in (0, 1)
        ]
        for name in scorers
    }
    return Pairs(
        by=by,
        keys=keys,
        before=tuple(tuple(before for before, *_ in row) for row in means),
        after=tuple(tuple(after for _, after, *_ in row) for row in means),
        instances=tuple(sum(row[n][2] for row in means) if by == INSTANCE else None for n in range(len(keys))),
        questions=tuple(added(row[place][3] for row in means) for place in range(len(keys))),
        names=tuple(groups),
        documents=texts,
        is_repeated=bool(texts) and texts <= base_texts,
        evidence={name: (before, after) for name, (before, after) in evidence.items()},
        prompts=len(before.keys() | after.keys()),
        strays=sum(bool(document.earlier) for document in lacking),
    )


def _by_prompt(run: ScoredLog) -> dict[str, list[ScoredDocument]]:
    groups: dict[str, list[ScoredDocument]] = {}
    for document in run.documents:
        groups.setdefault(document.prompt, []).append(document)
    return groups


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


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that a document must meet to be compared."""

    length_matched: bool = False
    """About as long as the population's; it is then scored against population documents of that length alone."""
    min_coherence: float | None = None  # rated at least this coherent; a document without a rating does not count


def selected(run: ScoredLog, selection: Selection) -> tuple[ScoredLog, int]:
    """The run with the scores of every document that does not count taken out, and how many these are."""
    if selection.min_coherence is not None and COHERENCE not in run.signatures:
        raise LogError(
            f"{run.file} has no coherence, rate it with: inspect score {run.file} --scorer genie_inspect/coherence "
            "--action append --model-role grader=..."
        )
    scored = [
        document for document in run.documents if any(not scores.is_unscored for scores in document.scores.values())
    ]
    if selection.length_matched and scored and all(math.isnan(document.population_words) for document in scored):
        raise LogError(f"{run.file} does not say how long the population's documents are: score it with genie anew")
    documents, left_out = [], 0
    for document in run.documents:
        scores = dict(document.scores)
        is_kept = _is_kept(document, selection)
        left_out += not is_kept
        for name, own in scores.items():
            if not is_kept:
                scores[name] = own.left_out()
            # those against population documents of like length, where it has them
            elif selection.length_matched and own.matched:
                scores[name] = replace(own, values=own.matched, questions={})
        documents.append(replace(document, scores=scores))
    return replace(run, documents=tuple(documents)), left_out


def _is_kept(document: ScoredDocument, selection: Selection) -> bool:
    coherence = (
        next(iter(document.scores[COHERENCE].values.values()), math.nan) if COHERENCE in document.scores else math.nan
    )
    # `not >=` and not `<`: a NaN, which is no rating, does not pass either
    if selection.min_coherence is not None and not coherence >= selection.min_coherence:
        return False
    # without a length of the population there is nothing to be unlike
    comparable = selection.length_matched and not math.isnan(document.population_words)
    return not comparable or is_like_length(document.words, document.population_words)


FAMILIES = {"all": "the tests of all runs", "run": "the tests of each run"}
"""Which tests of one measure are corrected together: where any of the runs may differ, or where each is a question."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a comparison: scorers, correction, margin, selection of documents, equivalence test."""

    scorers: tuple[str, ...] = ()  # scorers by name; empty takes all that every log has
    correction: str = "holm"
    margin: float | None = None
    selection: Selection = field(default_factory=Selection)
    equivalence: str = "t"  # method of `tost`
    signature: str = ""  # only logs with a score under a signature that holds these words are compared
    keys: tuple[str, ...] = ()  # keys that are tested, named before anybody looked; empty takes each measure's headline
    family: str = "all"  # a key of FAMILIES


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts and means of one run beside its differences, over the documents that the selection keeps."""

    label: str
    file: str
    model: str
    strategy: str  # the solvers that wrote; `conformative` where two models decoded as one, which no solver does
    documents: int
    scored: int  # by the first scorer
    words: float  # mean over the scored documents, as is the next; NaN without any
    population_words: float
    coherence: float  # mean over prompts; NaN where it was not rated, or not in one way in all runs
    refusals: int
    left_out: int  # by the selection
    unscored: Mapping[str, int]  # by reason
    fewer_responses: Share  # samples that gave fewer responses than asked for, and samples that were asked for several
    cut: int  # documents that end at the limit of their tokens
    measures: Mapping[str, Results]
    """By scorer: what a summary says of the run; its means are over all prompts, not those that both runs have."""


@dataclass(frozen=True, slots=True)
class Row:
    """One key of one run against its baseline."""

    run: str
    baseline: str
    scorer: str
    key: str
    tested: bool  # whether it is tested; else it is shown without a p-value
    paired_by: str
    prompts: int  # that either run was given: those of them with a score on both sides are the pairs
    instances: int | None  # pairs of documents behind the pairs of prompts, where it is paired by instance
    coverage: tuple[Share, Share]  # questions used and asked, over the paired documents: the baseline's, the run's
    ratings: tuple[Share, Share]  # ratings that count and those that were due, likewise
    finding: Finding
    is_unit: bool  # whether its values lie from 0 to 1
    questions: Share = NO_SHARE
    """Questions that both sides answered, by prompt, and those that were asked; 0 of 0 where it is over none."""
    family: str = ""  # the run with whose tests alone it is corrected; empty where it is with those of all runs


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that was compared."""

    options: Options
    named: str  # what the baseline was called
    baselines: tuple[str, ...]  # their labels
    signatures: dict[str, str]  # by scorer
    runs: tuple[Facts, ...]
    rows: tuple[Row, ...]
    pairs: Mapping[str, Pairs]  # by run: the scores that its rows are made of
    base_of: Mapping[str, str]  # by run: its baseline
    strays: dict[str, int]
    """By run: documents that were written after one that the baseline lacks, so that prompts are paired."""
    unmatched: tuple[str, ...]
    """Scorers that compare with population documents of every length, although lengths were to be matched."""
    unlike_coherence: str  # why the runs' coherence does not compare; empty where it does

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
    if len(bases) == len(runs):
        raise LogError(f"baseline {baseline!r} names every log, expected another to compare with it: {names}")
    base_of = {}
    for place, run in enumerate(runs):
        if place in bases:
            continue
        # one baseline serves runs of every model; of several, each run meets its own model's
        api, _, both = run.model.partition("/")
        # of two models that decode as one, the second is the instruct model, which they are held against
        models = {run.model, both.rpartition("+")[2] if api == CONFORMATIVE else run.model}
        # with its provider or without
        own = [base for base in bases if {runs[base].model, runs[base].model.partition("/")[2]} & models]
        candidates = bases if len(bases) == 1 else own
        if len(candidates) != 1:
            raise LogError(
                f"the baseline of {run.label} is not clear, it could be "
                f"{'; '.join(runs[base].label for base in candidates or bases)}: name one of these, or a log file"
            )
        base_of[place] = candidates[0]
    return base_of
