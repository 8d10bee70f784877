"""What a model always writes: for each question the answers that its documents share, beside the population's."""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import NamedTuple

from inspect_ai.log import EvalSample

from genie_inspect.errors import GenieWarning
from genie_inspect.logs.evidence import mapping
from genie_inspect.logs.files import LogError, samples
from genie_inspect.logs.reading import ScoredLog
from genie_inspect.logs.scores import signature_of
from genie_inspect.populations.population import Population
from genie_inspect.prompting.answers import normalised
from genie_inspect.reports.summary import read_runs
from genie_inspect.reports.wording import Wording, shared_wording
from genie_inspect.samples import document_of, prompt_of
from genie_inspect.scripts import is_english
from genie_inspect.statistics.descriptive import Interval, chance_of_same, effective_number, prompt_interval
from genie_inspect.statistics.effect import holm, stratified_exact

FEWEST_PROMPTS = 3  # with an interval of the effective number: that of two is most of the scale


@dataclass(frozen=True, slots=True)
class Shared:
    """The answers that some documents for a prompt give to a question; equal are those of equal words."""

    answers: tuple[tuple[str, int], ...]  # each with how many documents give it, the commonest first

    @classmethod
    def of(cls, answers: Iterable[str]) -> "Shared":
        """The answers counted, each as it was first written."""
        written: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for answer in answers:
            key = normalised(answer)
            written.setdefault(key, answer)
            counts[key] += 1
        return cls(tuple((written[key], count) for key, count in counts.most_common()))

    @property
    def documents(self) -> int:
        return sum(count for _, count in self.answers)

    @property
    def same(self) -> float:
        """The chance that two documents give the same answer, 0 to 1."""
        return chance_of_same([count for _, count in self.answers])

    @property
    def effective(self) -> float:
        """The effective number of answers, 1 to the number of documents."""
        return effective_number([count for _, count in self.answers])


@dataclass(frozen=True, slots=True)
class Repeated:
    prompt: str
    feature: str
    question: str
    own: Shared
    distinct: Shared  # the same without documents that repeat another one for the prompt word for word
    population: Shared | None  # None where nobody has read the population


class Effective(NamedTuple):
    """The effective number of answers of a feature, as a mean over prompts; it rises with the number of documents."""

    interval: Interval
    documents: float  # that answer one of its questions, on average
    why_no_interval: str  # empty where there is one


@dataclass(frozen=True, slots=True)
class Repeats:
    """What the documents of one run repeat."""

    run: str
    reader: str  # whose answers the population's are; empty without any
    is_own_reader: bool  # whether the run's documents were read by it too
    documents: int
    copies: int  # documents that repeat another one for the prompt word for word
    rows: tuple[Repeated, ...]  # the most repeated question first
    # by feature the chance that two documents give the same answer, as means over prompts; the population's likewise
    features: Mapping[str, tuple[Interval, Interval]]
    effective: Mapping[str, tuple[Effective, Effective]]  # the same of the effective number of answers
    english: int | None  # documents in English, copies once; None where no words are compared with general English
    wording: tuple[Wording, ...]  # words that its documents share, whatever they were asked


NO_ANSWERS = "no score by genie in these logs has answers (for answers: inspect score LOG --scorer genie)"


def repeats(
    logs: Iterable[str],
    population: Population | None = None,
    signature: str = "",
    english: Mapping[str, float] | None = None,
) -> list[Repeats]:
    """What each run repeats, by the answers that its scores by `genie` keep; where no run has any, by its words."""
    runs = [repeats_of_run(log, population, english=english) for log in read_runs(logs, signature=signature)]
    # without answers there are still the words
    found = [own for own in runs if own.rows] or [own for own in runs if own.wording]
    if not found:
        raise LogError(f"{NO_ANSWERS}, and no words are shared by their documents")
    return found


def repeats_of(population: Population, english: Mapping[str, float] | None = None) -> Repeats:
    """What a population's own documents repeat, by the answers of the grader who read most of them."""
    reader = _reader(population, Counter())
    answers: dict[Asked, list[str]] = {}
    for prompt in population.prompts:
        questions = {question.id: question for question in population.questions(prompt)}
        for (_, name), text in population.answers(reader, prompt).items():
            if text and (question := questions.get(name)):
                asked = Asked(prompt, question.id, question.feature, question.text)
                answers.setdefault(asked, []).append(text)
    texts = [(prompt, document.text) for prompt in population.prompts for document in population.documents(prompt)]
    if not answers:
        raise LogError(f"no grader's answers about the documents of population {population.name} are on record")
    return _repeats(population.name, answers, answers, texts, Counter({reader: 1}), None, english)


def repeats_of_run(
    log: ScoredLog,
    population: Population | None = None,
    scorer: str = "",
    english: Mapping[str, float] | None = None,
) -> Repeats:
    """What a run repeats, by the answers of this scorer or the first; without rows where no score keeps answers."""
    wanted = {(document.file, str(document.sample), document.epoch) for document in log.documents}
    answers: dict[Asked, list[str]] = {}
    distinct: dict[Asked, list[str]] = {}
    readers: Counter[str] = Counter()
    texts: list[tuple[str, str]] = []
    seen: set[tuple[str, str]] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GenieWarning)  # of a log that was scored again, which is said once
        for file in dict.fromkeys(document.file for document in log.documents):
            for sample in samples(file):
                if (file, str(sample.id), sample.epoch) in wanted:
                    texts.append((prompt_of(sample), document_of(sample)))
                    for asked, answer in _answers(sample, readers, scorer):
                        answers.setdefault(asked, []).append(answer)
                        if texts[-1] not in seen:
                            distinct.setdefault(asked, []).append(answer)
                    seen.add(texts[-1])
    return _repeats(log.label, answers, distinct, texts, readers, population, english)


def _repeats(
    run: str,
    answers: "Mapping[Asked, Sequence[str]]",
    distinct: "Mapping[Asked, Sequence[str]]",
    texts: Sequence[tuple[str, str]],
    readers: Counter[str],
    population: Population | None,
    english: Mapping[str, float] | None,
) -> Repeats:
    reader, others = "", []
    theirs: dict[tuple[str, str], list[str]] = {}
    if population:
        reader = _reader(population, readers)
        for prompt in dict.fromkeys(prompt for prompt, _ in texts):
            others += [(prompt, document.text) for document in population.documents(prompt)]
            for (_, question), text in population.answers(reader, prompt).items():
                theirs.setdefault((prompt, question), []).extend([text] if text else [])
    rows = []
    for asked, given in answers.items():
        beside = theirs.get((asked.prompt, asked.id))
        shared = Shared.of(beside) if beside else None
        both = Shared.of(given), Shared.of(distinct.get(asked, ()))
        rows.append(Repeated(asked.prompt, asked.feature, asked.question, *both, shared))
    features, effective = {}, {}
    for feature in dict.fromkeys(row.feature for row in rows):
        of_it = [row for row in rows if row.feature == feature]
        prompts = [row.prompt for row in of_it]
        here = [row.own.same for row in of_it]
        there = [row.population.same if row.population else nan for row in of_it]
        features[feature] = (
            prompt_interval(here, prompts, bounds=(0.0, 1.0)),
            prompt_interval(there, prompts, bounds=(0.0, 1.0)),
        )
        effective[feature] = (
            _effective([row.own for row in of_it], prompts),
            _effective([row.population for row in of_it], prompts),
        )

    def place(row: Repeated) -> tuple[float, ...]:
        # of equals first what the population repeats least; NaN would leave the order to chance
        least = row.population.same if row.population and not isnan(row.population.same) else 1.0
        return (isnan(row.own.same), -row.own.same if row.own.documents > 1 else 0, least)

    own = dict.fromkeys(texts)  # a copy is counted once
    wording = shared_wording([*own], [other for other in others if other not in own], english)
    in_english = None if english is None else sum(is_english(text) for _, text in own)
    ordered, copies = tuple(sorted(rows, key=place)), len(texts) - len(own)
    numbers = len(texts), copies, ordered, features, effective, in_english
    return Repeats(run, reader, reader in readers, *numbers, tuple(wording))


def _effective(sides: Sequence[Shared | None], prompts: Sequence[str]) -> Effective:
    """Of questions that two documents answer: of one document it is 1, whatever it says.

    By simulation of answers that differ in variety from prompt to prompt (2,000 runs each of 3, 8 and 25 prompts with 2
    to 24 documents) the interval holds the expected mean in 93% to 100% of runs, a t interval in 90% to 99%.
    """
    known = [side if side and side.documents > 1 else None for side in sides]
    sizes = [side.documents for side in known if side]
    values = [side.effective if side else nan for side in known]
    interval = prompt_interval(values, prompts, bounds=(1.0, float(max(sizes, default=1))))
    if not sizes:
        why = "no two documents for a prompt answer the same question" if any(sides) else "no answers are on record"
        return Effective(interval, nan, why)
    documents = sum(sizes) / len(sizes)
    if interval.clusters < FEWEST_PROMPTS:
        why = f"prompts: {interval.clusters}, expected {FEWEST_PROMPTS} or more"
        return Effective(replace(interval, low=nan, high=nan), documents, why)
    return Effective(interval, documents, "each prompt has the same mean" if isnan(interval.low) else "")


class Contrast(NamedTuple):
    """An answer that documents of one run give more often than those of another, over the prompts of both."""

    feature: str
    question: str
    answer: str
    given: int
    documents: int
    other_given: int
    other_documents: int
    p_value: float  # corrected for the answers of a question, and for the questions (Holm)

    @property
    def difference(self) -> float:
        """Of the shares of documents that give it, -1 to 1."""
        return self.given / self.documents - self.other_given / self.other_documents


def contrasts(one: Repeats, other: Repeats) -> list[Contrast]:
    """What sets two runs apart: of each question the answer whose numbers differ most surely, the surest first.

    Questions of equal words count together over prompts, and are compared prompt by prompt (`stratified_exact`); copies
    of a document count once, because a test takes them for independent.
    """
    mine, theirs = ({(row.feature, row.question, row.prompt): row.distinct for row in own.rows} for own in (one, other))
    shared: dict[tuple[str, str], list[tuple[Shared, Shared]]] = {}
    for key in mine:
        if key in theirs:  # a question that one of the two was not asked says nothing
            shared.setdefault(key[:2], []).append((mine[key], theirs[key]))
    found = []
    for (feature, question), pairs in shared.items():
        counted = [[{normalised(text): count for text, count in each.answers} for each in pair] for pair in pairs]
        sizes = [(first.documents, second.documents) for first, second in pairs]
        written = {normalised(text): text for pair in pairs for each in pair for text, _ in each.answers}
        tested = []
        for plain, answer in written.items():
            tables = [
                (ours.get(plain, 0), size, others.get(plain, 0), other_size)
                for (ours, others), (size, other_size) in zip(counted, sizes, strict=True)
            ]
            given, documents, other_given, other_documents = (sum(column) for column in zip(*tables, strict=True))
            if given + other_given > 1:
                numbers = (given, documents, other_given, other_documents)
                tested.append(Contrast(feature, question, answer, *numbers, stratified_exact(tables)))
        if tested:
            surest = min(tested, key=lambda contrast: (contrast.p_value, -abs(contrast.difference)))
            found.append(surest._replace(p_value=min(1.0, surest.p_value * len(tested))))
    corrected = holm([contrast.p_value for contrast in found]).tolist()
    found = [contrast._replace(p_value=p) for contrast, p in zip(found, corrected, strict=True)]
    return sorted(found, key=lambda contrast: (contrast.p_value, -abs(contrast.difference)))


class Asked(NamedTuple):
    prompt: str
    id: str
    feature: str
    question: str


def _answers(sample: EvalSample, readers: Counter[str], scorer: str) -> Iterator[tuple[Asked, str]]:
    """The answers that the first score by `genie` keeps, or the one by this scorer."""
    for name, score in (sample.scores or {}).items():
        signature = signature_of(score)
        table = (score.metadata or {}).get("questions")
        if signature.measure != "genie" or not isinstance(table, list) or scorer not in ("", name):
            continue
        readers[signature.facts.get("reader", "")] += 1
        prompt = prompt_of(sample)
        for row in map(mapping, table):
            if answer := str(row.get("answer") or ""):
                yield Asked(prompt, *(str(row.get(field, "")) for field in ("id", "feature", "question"))), answer
        return


def _reader(population: Population, readers: Counter[str]) -> str:
    """The run's own reader where the population has its answers, else the one who answered most."""
    if own := [name for name, _ in readers.most_common() if name in population.readers]:
        return own[0]
    # of equals the first
    return max(population.readers, key=lambda name: len(population.answers(name)), default="")
