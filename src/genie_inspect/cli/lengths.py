"""`genie lengths`: scores by long answers against those by concise ones."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import numpy as np
from rich.console import Console  # noqa: TID251  # a type, whose object comes from the door
from rich.table import Table

from genie_inspect.cli.options import LOGS, Answer, answering
from genie_inspect.cli.tables import Head, blocks, figure, starred
from genie_inspect.errors import GenieError
from genie_inspect.files.numbers import number
from genie_inspect.logs.reading import read_logs
from genie_inspect.logs.scored_log import ScoredLog
from genie_inspect.signature import facts_of
from genie_inspect.statistics.descriptive import prompt_means
from genie_inspect.statistics.differences import TEST, Finding, differences, findings
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.ranking import kendall

CONCISE = "concise"
MEASURE = "genie"
# the reader's digest too: it is of what a request sets, and longer answers may take more tokens; the judge's remains
_LENGTH = re.compile(r"(?:@[0-9a-f]+)?,template=[0-9a-f]+(?:,answers=(\w+))?(?=\)$)")


class LengthsError(GenieError):
    """Scores cannot be held against each other by the length of answers; the message says why."""


@dataclass(frozen=True, slots=True)
class LengthShift:
    """One feature, by answers of one length against those of the other."""

    feature: str
    before: str
    """Length of the answers on the one side: concise where there are such."""
    after: str
    documents: int
    """Scored under both."""
    tau: float
    """Kendall's tau-b of the documents' novelty under both: 1 same order, -1 reversed."""
    effect: float
    """Cohen's d of after - before over the documents, as the study has it."""
    finding: Finding
    """The shift of the level: after - before, a prompt a pair."""


def length_shifts(paths: Iterable[str | Path]) -> list[LengthShift]:
    """A row for each further length and each feature.

    Source: Genie (arXiv 2606.12790), table 8, which has d the other way round: concise less unconstrained.
    """
    novelty, facts = _by_length(read_logs(paths))
    if len(novelty) < 2:
        raise LengthsError(
            f"all scores by {MEASURE} rest on {', '.join(novelty) or 'no'} answers: score the same documents again, "
            "inspect score LOG --scorer genie_inspect/genie -S answer_length=free --action append"
        )
    first, *others = facts
    for other in others:
        if facts[first] != facts[other]:
            differing = _differing(facts[first], facts[other])
            raise LengthsError(f"scores by {first} and by {other} answers differ in more than that: {differing}")
    first = CONCISE if CONCISE in novelty else next(iter(novelty))
    return [
        row
        for length, documents in novelty.items()
        if length != first
        for row in _shifts((first, length), novelty[first], documents)
    ]


Document = tuple[str, str]
"""Prompt, and digest of the text."""
Novelty = dict[Document, Mapping[str, float]]


def _by_length(logs: Sequence[ScoredLog]) -> tuple[dict[str, Novelty], dict[str, dict[str, str]]]:
    """By length of the answers: novelty by document, and what else its signature says."""
    novelty: dict[str, Novelty] = {}
    rest: dict[str, dict[str, str]] = {}
    for log in logs:
        for document in log.documents:
            for scores in document.scores.values():
                facts = facts_of(scores.signature)
                named = _LENGTH.search(facts.get("reader", ""))
                if facts.get("measure") != MEASURE or not named:
                    continue
                length = named[1] or CONCISE
                facts["reader"] = _LENGTH.sub("", facts["reader"])
                if rest.setdefault(length, facts) != facts:
                    raise LengthsError(f"scores by {length} answers differ in {_differing(rest[length], facts)}")
                novelty.setdefault(length, {})[document.prompt, document.text] = scores.values
    return novelty, rest


def _differing(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    return "; ".join(f"{name} is {here.get(name, '-')} and {there.get(name, '-')}" for name in names)


def _shifts(lengths: tuple[str, str], before: Novelty, after: Novelty) -> list[LengthShift]:
    documents = [document for document in before if document in after]
    if not documents:
        raise LengthsError(f"no document was scored both by {lengths[0]} and by {lengths[1]} answers")
    features = list(dict.fromkeys(feature for document in documents for feature in before[document]))
    sides = [
        np.array([[number(side[document].get(feature)) for feature in features] for document in documents])
        for side in (before, after)
    ]
    # a document counts where both lengths have a value
    gaps = np.isnan(sides[0]) | np.isnan(sides[1])
    first, second = (np.where(gaps, np.nan, side) for side in sides)
    prompts = [prompt for prompt, _ in documents]
    # documents of one prompt are alike: the test is over prompts
    each = dict.fromkeys(prompts)
    means = []
    for side in (first, second):
        by_prompt = [prompt_means(column.tolist(), prompts) for column in side.T]
        means.append(np.array([[own.get(prompt, np.nan) for own in by_prompt] for prompt in each]))
    family = findings(differences(means[0], means[1]))
    return [
        LengthShift(
            feature,
            *lengths,
            documents=int((~gaps[:, place]).sum()),
            tau=kendall(first[:, place], second[:, place]),
            effect=cohens_d(first[:, place], second[:, place]),
            finding=finding,
        )
        for place, (feature, finding) in enumerate(zip(features, family, strict=True))
    ]


KEY = (
    "tau: Kendall's tau-b of the documents' novelty under both lengths, 1 same order. shift: second less first, means"
    f" over prompts, with its 95% interval; p: {TEST} over prompts, corrected (holm); *: holds. d: of the shift over"
    " documents."
)
HEADS: tuple[Head[LengthShift], ...] = (
    Head("documents", lambda row: str(row.documents)),
    Head("tau", lambda row: figure(row.tau, ".2f")),
    Head("first", lambda row: figure(row.finding.difference.before, ".3f")),
    Head("second", lambda row: figure(row.finding.difference.after, ".3f")),
    Head("shift [95%]", lambda row: _shift(row)),
    Head("d", lambda row: figure(row.effect, "+.2f")),
    Head("p", lambda row: starred(row.finding.p_value, row.finding.differs)),
    Head("prompts", lambda row: str(row.finding.difference.pairs)),
)


@click.command()
@LOGS
@answering()
def lengths(logs: tuple[str, ...]) -> Answer:
    """Does the order of documents hold when answers are longer, and how does the level shift? Feature by feature.

    LOGS hold the same documents scored by answers of different lengths, in a log each or in one. Every other command
    refuses such scores side by side.

    \b
    Example: inspect score LOG --scorer genie_inspect/genie -S answer_length=free --action append \\
                 --model-role grader=openai/gpt-4o
             genie lengths LOG
    """
    rows = length_shifts(logs)
    return Answer(lambda: {"test": TEST, "shifts": rows}, partial(_parts, rows))


def _parts(rows: Sequence[LengthShift], screen: Console) -> Iterator[Table | str]:
    for pair in dict.fromkeys((row.before, row.after) for row in rows):
        lines = [(row.feature.replace("_", " "), row) for row in rows if (row.before, row.after) == pair]
        yield from blocks(f"{pair[1]} answers against {pair[0]} ones", "feature", lines, HEADS, screen)
    yield KEY


def _shift(row: LengthShift) -> str:
    difference = row.finding.difference
    return f"{figure(difference.delta, '+.3f')} [{figure(difference.low, '+.3f')}, {figure(difference.high, '+.3f')}]"
