"""Which documents of two runs belong together: those of one prompt, or one document and the one written after it.

Either way a prompt is one pair: documents of one prompt are alike, and five of them are no five witnesses. Means are
over the prompts that both runs have scores for, and of each prompt over the questions that both runs answered: a mean
over other questions would move where nothing else did. So they differ from those of a summary where one lacks either.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from genie_inspect.logs.evidence import NO_SHARE, Evidence, Share, added, together
from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import COHERENCE
from genie_inspect.logs.results import Results
from genie_inspect.logs.scored_log import ScoredDocument, ScoredLog
from genie_inspect.measures.tokens import is_like_length
from genie_inspect.signature import Signature
from genie_inspect.statistics.descriptive import prompt_means
from genie_inspect.statistics.differences import Difference, Finding

PROMPT, INSTANCE = "prompt", "instance"
Key = tuple[str, str]  # scorer, and key of its score
Sides = tuple[Sequence[ScoredDocument], Sequence[ScoredDocument]]
"""Documents before and after that belong together: all of a prompt, or one and the one written after it."""


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
    evidence: Mapping[str, tuple[Evidence, Evidence]]  # by scorer: what the paired documents' scores rest on
    prompts: int  # that either run was given, whatever became of its documents
    strays: int  # scored documents that were written after one that the baseline lacks


def paired(baseline: ScoredLog, run: ScoredLog, scorers: Sequence[str]) -> Pairs:
    """The pairs of two runs: by instance where each document of `run` was written after one of the baseline's."""
    before: dict[str, list[ScoredDocument]] = {}
    after: dict[str, list[ScoredDocument]] = {}
    for log, groups in ((baseline, before), (run, after)):
        for document in log.documents:
            groups.setdefault(document.prompt, []).append(document)
    if not before.keys() & after.keys():
        raise LogError(
            f"{baseline.file} and {run.file} share no prompt: the first has {next(iter(before), 'none')!r}, "
            f"the second {next(iter(after), 'none')!r}"
        )
    # negative sampling records the document that it started from, word for word
    first = {(document.prompt, document.text): document for document in baseline.documents}
    scored = [d for d in run.documents if not all(scores.is_unscored for scores in d.scores.values())]
    lacking = [document for document in scored if (document.prompt, document.earlier) not in first]
    # pairs by instance only where every document has its partner: a part of them would be a selection
    by_instance = bool(scored) and not lacking
    pairs: dict[str, list[Sides]] = {
        prompt: [(own, after[prompt])] for prompt, own in before.items() if prompt in after
    }
    if by_instance:
        pairs = {document.prompt: [] for document in scored}
        for document in scored:
            pairs[document.prompt].append(([first[document.prompt, document.earlier]], [document]))
    # every key that one of the two runs has, in the order of the scores
    documents = [*baseline.documents, *run.documents]
    every = ((name, key) for name in scorers for d in documents if name in d.scores for key in d.scores[name].values)
    keys = tuple(dict.fromkeys(every))
    means = [[_means(own, key, by_instance) for key in keys] for own in pairs.values()]
    base_texts, texts = (
        Counter((document.prompt, document.text) for document in log.documents if document.words)
        for log in (baseline, run)
    )

    def evidence(scorer: str, side: int) -> Evidence:
        paired = (document for own in pairs.values() for sides in own for document in sides[side])
        return together([document.scores[scorer].evidence for document in paired if scorer in document.scores])

    return Pairs(
        by=INSTANCE if by_instance else PROMPT,
        keys=keys,
        before=tuple(tuple(before for before, *_ in row) for row in means),
        after=tuple(tuple(after for _, after, *_ in row) for row in means),
        instances=tuple(sum(row[n][2] for row in means) if by_instance else None for n in range(len(keys))),
        questions=tuple(added(row[n][3] for row in means) for n in range(len(keys))),
        names=tuple(pairs),
        documents=texts,
        is_repeated=bool(texts) and texts <= base_texts,
        evidence={scorer: (evidence(scorer, 0), evidence(scorer, 1)) for scorer in scorers},
        prompts=len(before.keys() | after.keys()),
        strays=sum(bool(document.earlier) for document in lacking),
    )


def _means(pairs: Sequence[Sides], key: Key, by_instance: bool) -> tuple[float, float, int, Share]:
    """A prompt's two means, of how many pairs, and the questions in common; of instances, those with both values."""
    common = [_common(*sides, key) for sides in pairs]
    # a document whose partner has no score says nothing about the difference
    both = [(before, after) for before, after, _ in common if not (by_instance and math.isnan(before + after))]
    before, after = (_mean([pair[side] for pair in both]) for side in (0, 1))
    return before, after, len(both), added(share for _, _, share in common)


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
    # novelties of questions are rounded in logs, values are not: where nothing is missing they are taken
    if any([q for q in table if not math.isnan(table[q])] != common for table in every):
        values = _mean([first[question] for question in common]), _mean([second[question] for question in common])
    return *values, (len(common), len(asked))


def _mean(values: Sequence[float]) -> float:
    """The mean of one prompt's values, as in every summary; NaN without any."""
    return prompt_means(values, [PROMPT] * len(values)).get(PROMPT, math.nan)


FAMILIES = {"all": "the tests of all runs", "run": "the tests of each run"}
"""Which tests of one measure are corrected together: where any of the runs may differ, or where each is a question."""


@dataclass(frozen=True, slots=True)
class Options:
    scorers: tuple[str, ...] = ()  # scorers by name; empty takes all that every log has
    correction: str = "holm"
    margin: float | None = None
    length_matched: bool = False
    """Only documents about as long as the population's, scored against population documents of that length alone."""
    min_coherence: float | None = None  # only documents rated at least so coherent; one without a rating is not
    equivalence: str = "t"  # method of `tost`
    signature: str = ""  # only logs with a score under a signature that holds these words are compared
    keys: tuple[str, ...] = ()  # keys that are tested, named before anybody looked; empty takes each measure's headline
    family: str = "all"  # a key of FAMILIES


def selected(run: ScoredLog, options: Options) -> tuple[ScoredLog, int]:
    """The run with the scores of every document that does not count taken out, and how many these are."""
    least = options.min_coherence
    if least is not None and COHERENCE not in run.signatures:
        raise LogError(
            f"{run.file} has no coherence, rate it with: inspect score {run.file} --scorer genie_inspect/coherence "
            "--action append --model-role grader=..."
        )
    scored = [d for d in run.documents if any(not scores.is_unscored for scores in d.scores.values())]
    if options.length_matched and scored and all(math.isnan(document.population_words) for document in scored):
        raise LogError(f"{run.file} does not say how long the population's documents are: score it with genie anew")
    documents, left_out = [], 0
    for document in run.documents:
        scores = dict(document.scores)
        rated = scores[COHERENCE].values.values() if COHERENCE in scores else ()
        # `>=`: a NaN, which is no rating, does not pass either
        is_kept = least is None or next(iter(rated), math.nan) >= least
        # without a length of the population there is nothing to be unlike
        if options.length_matched and not math.isnan(document.population_words):
            is_kept = is_kept and is_like_length(document.words, document.population_words)
        left_out += not is_kept
        for name, own in scores.items():
            if not is_kept:
                scores[name] = own.left_out()
            # those against population documents of like length, where it has them
            elif options.length_matched and own.matched:
                scores[name] = replace(own, values=own.matched, questions={})
        documents.append(replace(document, scores=scores))
    return replace(run, documents=tuple(documents)), left_out


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
    questions: Share
    """Questions that both sides answered, by prompt, and those that were asked; 0 of 0 where it is over none."""
    family: str = ""  # the run with whose tests alone it is corrected; empty where it is with those of all runs


@dataclass(frozen=True, slots=True)
class Comparison:
    options: Options
    named: str  # what the baseline was called
    baselines: tuple[str, ...]  # their labels
    signatures: dict[str, Signature]  # by scorer
    runs: tuple[Facts, ...]
    rows: tuple[Row, ...]
    pairs: Mapping[str, Pairs]  # by run: the scores that its rows are made of
    base_of: Mapping[str, str]  # by run: its baseline
    unmatched: tuple[str, ...]
    """Scorers that compare with population documents of every length, although lengths were to be matched."""
    unlike_coherence: str  # why the runs' coherence does not compare; empty where it does

    @property
    def repeated(self) -> list[str]:
        """The runs that wrote what their baseline wrote: that says nothing about a strategy, nor of equivalence."""
        return [label for label, own in self.pairs.items() if own.is_repeated]

    @property
    def families(self) -> dict[tuple[str, str], list[Difference]]:
        """By scorer and family the differences whose tests are corrected together."""
        families: dict[tuple[str, str], list[Difference]] = {}
        for row in self.rows:
            if not math.isnan(row.finding.p_value):
                families.setdefault((row.scorer, row.family), []).append(row.finding.difference)
        return families

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
