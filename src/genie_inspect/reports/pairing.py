"""Which documents of two runs belong together: those of one prompt, or one document and the one written after it.

An evaluation without prompts in this sense is paired by sample, and `Options.cluster` joins samples that are alike.

A prompt is one pair: documents of one prompt are alike, and five of them are no five witnesses. Means are
over the prompts that both runs have scores for, and of each prompt over the questions that both runs answered: a mean
over other questions would move where nothing else did. So they differ from those of a summary where one lacks either.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from genie_inspect.logs.evidence import NO_SHARE, Evidence, Share, added, together
from genie_inspect.logs.files import LogError
from genie_inspect.logs.measures import COHERENCE
from genie_inspect.logs.reading import ScoredDocument, ScoredLog
from genie_inspect.measures.tokens import is_like_length
from genie_inspect.samples import PROMPT_KEY
from genie_inspect.statistics.descriptive import prompt_means

PROMPT, INSTANCE, SAMPLE = "prompt", "instance", "sample"
METADATA = "metadata."  # how the name of a cluster begins that the dataset gives
Key = tuple[str, str]  # scorer, and key of its score
# documents before and after that belong together: all of a prompt, or one and the one written after it
Sides = tuple[Sequence[ScoredDocument], Sequence[ScoredDocument]]


@dataclass(frozen=True, slots=True)
class Pairs:
    # `prompt`: a side is the mean over a prompt's documents; `instance`: over those with a scored partner; `sample`:
    # over a sample's epochs; else what the clusters share, a side is the mean over the pairs in a cluster
    by: str
    keys: tuple[Key, ...]
    before: tuple[tuple[float, ...], ...]  # a row a prompt, a column a key; NaN where there is no score
    after: tuple[tuple[float, ...], ...]
    # by key: pairs with both scores in the prompts or clusters; None where there are none
    instances: tuple[int | None, ...]
    questions: tuple[Share, ...]  # by key: those that both sides answered, of those asked, by prompt or pair
    names: tuple[str, ...]  # the prompt, sample or cluster of each row
    documents: Counter[tuple[str, str]]  # how often the run wrote which words, by prompt and digest
    is_repeated: bool  # whether every document of the run stands in the baseline word for word
    evidence: Mapping[str, tuple[Evidence, Evidence]]  # by scorer: what the paired documents' scores rest on
    prompts: int  # (or samples, clusters) that either run was given, whatever became of its documents
    strays: int  # scored documents that were written after one that the baseline lacks
    samples: tuple[int, int, int] = (0, 0, 0)  # (or prompts) in both runs, in the baseline alone, in the run alone
    shared_inputs: int = 0  # samples, each a pair, whose input another one has, too


def units_of(by: str) -> str:
    """What the pairs are called: prompts, samples or clusters.

    >>> units_of("instance"), units_of("metadata.source")
    ('prompts', 'clusters')
    """
    return {PROMPT: "prompts", INSTANCE: "prompts", SAMPLE: "samples"}.get(by, "clusters")


def paired(baseline: ScoredLog, run: ScoredLog, scorers: Sequence[str], cluster: str = "") -> Pairs:
    """The pairs of two runs: by instance where each document of `run` was written after one of the baseline's."""
    by, name = _unit((baseline, run), scorers)
    before, after = (defaultdict[str, list[ScoredDocument]](list) for _ in range(2))
    for log, groups in ((baseline, before), (run, after)):
        for document in log.documents:
            groups[name(document)].append(document)
    if not before.keys() & after.keys():
        raise LogError(
            f"{baseline.file} and {run.file} share no prompt: the first has {next(iter(before), 'none')!r}, "
            f"the second {next(iter(after), 'none')!r}"
        )
    # negative sampling records the document that it started from, word for word
    first = {(document.prompt, document.text): document for document in baseline.documents}
    scored = _scored(run)
    lacking = [document for document in scored if (document.prompt, document.earlier) not in first]
    # pairs by instance only where every document has its partner: a part of them would be a selection
    by_instance = bool(scored) and not lacking
    pairs: dict[str, list[Sides]] = {}
    for document in scored if by_instance else ():
        pairs.setdefault(document.prompt, []).append(([first[document.prompt, document.earlier]], [document]))
    if not by_instance:
        pairs = {prompt: [(own, after[prompt])] for prompt, own in before.items() if prompt in after}
    samples = len(before.keys() & after.keys()), len(before.keys() - after.keys()), len(after.keys() - before.keys())
    units = len(before.keys() | after.keys())
    if cluster:
        pairs, units = _clustered(pairs, cluster, (baseline, run))
    by_pair = by_instance or bool(cluster)
    # every key that one of the two runs has, in the order of the scores
    documents = [*baseline.documents, *run.documents]
    every = ((name, key) for name in scorers for d in documents if name in d.scores for key in d.scores[name].values)
    keys = tuple(dict.fromkeys(every))
    means = [[_means(own, key, by_pair) for key in keys] for own in pairs.values()]
    # a document without words does not count
    base_texts, texts = (Counter((d.prompt, d.text) for d in log.documents if d.words) for log in (baseline, run))

    def evidence(scorer: str, side: int) -> Evidence:
        paired = (document for own in pairs.values() for sides in own for document in sides[side])
        return together([document.scores[scorer].evidence for document in paired if scorer in document.scores])

    return Pairs(
        by=cluster or (INSTANCE if by_instance else by),
        keys=keys,
        before=tuple(tuple(before for before, *_ in row) for row in means),
        after=tuple(tuple(after for _, after, *_ in row) for row in means),
        instances=tuple(sum(row[n][2] for row in means) if by_pair else None for n in range(len(keys))),
        questions=tuple(added(row[n][3] for row in means) for n in range(len(keys))),
        names=tuple(pairs),
        documents=texts,
        is_repeated=bool(texts) and texts <= base_texts,
        evidence={scorer: (evidence(scorer, 0), evidence(scorer, 1)) for scorer in scorers},
        prompts=units,
        samples=samples,
        shared_inputs=_shared_inputs(run.documents) if by == SAMPLE and not cluster else 0,
        strays=sum(bool(document.earlier) for document in lacking),
    )


def _unit(logs: tuple[ScoredLog, ScoredLog], scorers: Sequence[str]) -> tuple[str, Callable[[ScoredDocument], str]]:
    """Whether prompts or samples are paired, and the name by which a document meets those that belong to it.

    Documents of one prompt are alike to a measure of ours, and to any where the dataset states the prompt. To others a
    sample is a question of its own: the same in both runs by its input and, where several share that, by its id, too.
    """
    documents = [document for log in logs for document in log.documents]
    ours = any(d.scores[name].signature.is_ours for d in documents for name in scorers if name in d.scores)
    if ours or any(PROMPT_KEY in document.metadata for document in documents):
        return PROMPT, lambda document: document.prompt
    if not _shared_inputs(documents):
        return SAMPLE, lambda document: document.prompt

    def name(document: ScoredDocument) -> str:
        return f"{document.sample}: {document.prompt}"

    first, second = ({name(document) for document in log.documents} for log in logs)
    return (SAMPLE, name) if first & second else (PROMPT, lambda document: document.prompt)


def _shared_inputs(documents: Sequence[ScoredDocument]) -> int:
    ids: dict[str, set[str]] = {}
    for document in documents:
        ids.setdefault(document.prompt, set()).add(str(document.sample))
    return sum(len(own) for own in ids.values() if len(own) > 1)


def _clustered(
    pairs: Mapping[str, list[Sides]], cluster: str, logs: Sequence[ScoredLog]
) -> tuple[dict[str, list[Sides]], int]:
    """The pairs by what they share, and how many clusters either run was given."""
    every = {_cluster_of(document, cluster, log) for log in logs for document in log.documents}
    groups: dict[str, list[Sides]] = {}
    for name, own in pairs.items():
        found = {_cluster_of(d, cluster, logs[side]) for sides in own for side in (0, 1) for d in sides[side]}
        if len(found) > 1:
            listed = " and ".join(sorted(found)[:2])
            raise LogError(f"{cluster} of {name!r:.80} is both {listed}, expected one in both runs and all epochs")
        groups.setdefault(found.pop(), []).extend(own)
    return groups, len(every)


def _cluster_of(document: ScoredDocument, cluster: str, log: ScoredLog) -> str:
    if cluster == PROMPT:
        return document.prompt
    key = cluster.removeprefix(METADATA)
    if key != cluster and key in document.metadata:
        return document.metadata[key]
    known = dict.fromkeys(f"{METADATA}{key}" for document in log.documents for key in document.metadata)
    lacking = f"sample {document.sample} of {log.file} lacks it" if cluster in known else f"{log.file} has none"
    raise LogError(f"cluster is {cluster!r} and {lacking}, expected one of: {', '.join([*known, PROMPT])}")


def _means(pairs: Sequence[Sides], key: Key, by_pair: bool) -> tuple[float, float, int, Share]:
    """A row's two means, of how many pairs, and the questions in common; of several pairs, those with both values."""
    common = [_common(*sides, key) for sides in pairs]
    # a document whose partner has no score says nothing about the difference
    both = [(before, after) for before, after, _ in common if not (by_pair and math.isnan(before + after))]
    before, after = (_mean([pair[side] for pair in both]) for side in (0, 1))
    return before, after, len(both), added(share for _, _, share in common)


def _common(before: Sequence[ScoredDocument], after: Sequence[ScoredDocument], key: Key) -> tuple[float, float, Share]:
    """The means of both sides over the questions that both answered, and how many these are of how many.

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


# which tests of one measure are corrected together: where any of the runs may differ, or where each is a question
FAMILIES = ("all", "run")


def _scored(run: ScoredLog) -> list[ScoredDocument]:
    return [d for d in run.documents if any(not scores.is_unscored for scores in d.scores.values())]


@dataclass(frozen=True, slots=True)
class Options:
    scorers: tuple[str, ...] = ()  # empty takes all that every log has
    correction: str = "holm"
    margin: float | None = None
    length_matched: bool = False  # only documents and population documents of like length
    min_coherence: float | None = None  # only documents rated at least so coherent; one without a rating is not
    equivalence: str = "t"  # method of `tost`
    signature: str = ""  # only logs with a score under a signature that holds these words are compared
    keys: tuple[str, ...] = ()  # keys that are tested, named before anybody looked; empty takes each measure's headline
    family: str = "all"  # one of FAMILIES
    cluster: str = ""  # what samples share that are one pair: `metadata.KEY` or `prompt`


def selected(run: ScoredLog, options: Options) -> tuple[ScoredLog, int]:
    """The run with the scores of every document that does not count taken out, and how many these are."""
    least = options.min_coherence
    if least is not None and COHERENCE not in run.signatures:
        raise LogError(
            f"{run.file} has no coherence, rate it with: inspect score {run.file} --scorer genie_inspect/coherence "
            "--action append --model-role grader=..."
        )
    scored = _scored(run)
    if options.length_matched and scored and all(math.isnan(document.population_words) for document in scored):
        raise LogError(f"{run.file} does not say how long the population's documents are. Score it again with genie")
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
