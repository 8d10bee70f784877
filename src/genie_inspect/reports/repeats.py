"""What a model always writes: for each question the answers that its documents share, beside the population's."""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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
from genie_inspect.samples import prompt_of
from genie_inspect.statistics.descriptive import Interval, chance_of_same, effective_number, prompt_interval


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
    population: Shared | None  # None where nobody has read the population


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


def repeats(logs: Iterable[str], population: Population | None = None, signature: str = "") -> list[Repeats]:
    """What each run repeats, by the answers that its scores by `genie` keep."""
    found = [own for log in read_runs(logs, signature=signature) if (own := _of_run(log, population)).rows]
    if not found:
        raise LogError("no score by genie in these logs has answers. Score them: inspect score LOG --scorer genie")
    return found


def _of_run(log: ScoredLog, population: Population | None) -> Repeats:
    wanted = {(document.file, str(document.sample), document.epoch) for document in log.documents}
    answers: dict[Asked, list[str]] = {}
    readers: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GenieWarning)  # of a log that was scored again, which is said once
        for file in dict.fromkeys(document.file for document in log.documents):
            for sample in samples(file):
                if (file, str(sample.id), sample.epoch) in wanted:
                    for asked, answer in _answers(sample, readers):
                        answers.setdefault(asked, []).append(answer)
    reader = _reader(population, readers) if population else ""
    theirs: dict[tuple[str, str], list[str]] = {}
    for prompt in dict.fromkeys(asked.prompt for asked in answers):
        for (_, question), text in population.answers(reader, prompt).items() if population else ():
            theirs.setdefault((prompt, question), []).extend([text] if text else [])
    rows = []
    for asked, given in answers.items():
        beside = theirs.get((asked.prompt, asked.id))
        shared = Shared.of(beside) if beside else None
        rows.append(Repeated(asked.prompt, asked.feature, asked.question, Shared.of(given), shared))
    features = {}
    for feature in dict.fromkeys(row.feature for row in rows):
        own = [row for row in rows if row.feature == feature]
        prompts = [row.prompt for row in own]
        here = [row.own.same for row in own]
        there = [row.population.same if row.population else nan for row in own]
        features[feature] = (
            prompt_interval(here, prompts, bounds=(0.0, 1.0)),
            prompt_interval(there, prompts, bounds=(0.0, 1.0)),
        )

    def place(row: Repeated) -> tuple[float, ...]:
        # of equals first what the population repeats least; NaN would leave the order to chance
        least = row.population.same if row.population and not isnan(row.population.same) else 1.0
        return (isnan(row.own.same), -row.own.same if row.own.documents > 1 else 0, least)

    texts = {(document.prompt, document.text) for document in log.documents}
    count, ordered = len(log.documents), tuple(sorted(rows, key=place))
    return Repeats(log.label, reader, reader in readers, count, count - len(texts), ordered, features)


class Asked(NamedTuple):
    prompt: str
    id: str
    feature: str
    question: str


def _answers(sample: EvalSample, readers: Counter[str]) -> Iterator[tuple[Asked, str]]:
    """The answers that the first score by `genie` keeps."""
    for score in (sample.scores or {}).values():
        signature = signature_of(score)
        table = (score.metadata or {}).get("questions")
        if signature.measure != "genie" or not isinstance(table, list):
            continue
        readers[signature.facts.get("reader", "")] += 1
        prompt = prompt_of(sample)
        for row in map(mapping, table):
            if answer := str(row.get("answer") or ""):
                yield Asked(prompt, *(str(row.get(name, "")) for name in ("id", "feature", "question"))), answer
        return


def _reader(population: Population, readers: Counter[str]) -> str:
    """The run's own reader where the population has its answers, else the one who answered most."""
    if own := [name for name, _ in readers.most_common() if name in population.readers]:
        return own[0]
    # of equals the first
    return max(population.readers, key=lambda name: len(population.answers(name)), default="")
