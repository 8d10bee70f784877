"""`genie lengths`: scores by long answers against those by concise ones."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
import numpy as np

from genie_inspect.cli import options as cli
from genie_inspect.cli.tables import figure, starred
from genie_inspect.errors import GenieError
from genie_inspect.files.numbers import number
from genie_inspect.files.tables import Table
from genie_inspect.logs.reading import read_logs
from genie_inspect.statistics.descriptive import prompt_means
from genie_inspect.statistics.differences import TEST, differences, findings
from genie_inspect.statistics.effect import cohens_d
from genie_inspect.statistics.ranking import kendall

CONCISE = "concise"
MEASURE = "genie"
# the reader's digest too: it is of what a request sets, and longer answers may take more tokens; the judge's remains
_LENGTH = re.compile(r"(?:@[0-9a-f]+)?,template=[0-9a-f]+(?:,answers=(\w+))?(?=\)$)")


class LengthsError(GenieError):
    """Scores cannot be held against each other by the length of answers; the message says why."""


Document = tuple[str, str]  # prompt, and digest of the text
Novelty = dict[Document, Mapping[str, float]]


def length_shifts(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """A row for each further length and each feature; `before` is concise where there are such answers.

    Source: Genie (arXiv 2606.12790), table 8, which has d the other way round: concise less unconstrained.
    """
    novelty: dict[str, Novelty] = {}
    # what else the signature of a length says
    rest: dict[str, dict[str, str]] = {}
    for document in (document for log in read_logs(paths) for document in log.documents):
        for scores in document.scores.values():
            facts = dict(scores.signature.facts)
            named = _LENGTH.search(facts.get("reader", ""))
            if facts.get("measure") != MEASURE or not named:
                continue
            length = named[1] or CONCISE
            facts["reader"] = _LENGTH.sub("", facts["reader"])
            if rest.setdefault(length, facts) != facts:
                raise LengthsError(f"scores by {length} answers differ in {_differing(rest[length], facts)}")
            novelty.setdefault(length, {})[document.prompt, document.text] = scores.values
    if len(novelty) < 2:
        raise LengthsError(
            f"all scores by {MEASURE} rest on {', '.join(novelty) or 'no'} answers: score the same documents again, "
            "inspect score LOG --scorer genie_inspect/genie -S answer_length=free --action append"
        )
    first, *others = rest
    for other in others:
        if rest[first] != rest[other]:
            differing = _differing(rest[first], rest[other])
            raise LengthsError(f"scores by {first} and by {other} answers differ in more than that: {differing}")
    first = CONCISE if CONCISE in novelty else first
    return [row for length in novelty if length != first for row in _shifts(novelty, first, length)]


def _differing(here: Mapping[str, str], there: Mapping[str, str]) -> str:
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    return "; ".join(f"{name} is {here.get(name, '-')} and {there.get(name, '-')}" for name in names)


def _shifts(novelty: Mapping[str, Novelty], before: str, after: str) -> Iterator[dict[str, Any]]:
    both = [document for document in novelty[before] if document in novelty[after]]
    if not both:
        raise LengthsError(f"no document was scored both by {before} and by {after} answers")
    features = list(dict.fromkeys(feature for document in both for feature in novelty[before][document]))
    sides = [
        np.array([[number(novelty[length][document].get(feature)) for feature in features] for document in both])
        for length in (before, after)
    ]
    # a document counts where both lengths have a value
    gaps = np.isnan(sides[0]) | np.isnan(sides[1])
    prompts = [prompt for prompt, _ in both]
    means = []
    for side in sides:
        side[gaps] = np.nan
        # documents of one prompt are alike: the test is over prompts
        by_prompt = [prompt_means(column.tolist(), prompts) for column in side.T]
        means.append(np.array([[own.get(prompt, np.nan) for own in by_prompt] for prompt in dict.fromkeys(prompts)]))
    family = findings(differences(means[0], means[1]))
    for feature, finding, gap, first, second in zip(features, family, gaps.T, sides[0].T, sides[1].T, strict=True):
        yield {
            "feature": feature,
            "before": before,
            "after": after,
            "documents": int((~gap).sum()),
            "tau": kendall(first, second),
            "effect": cohens_d(first, second),
            "finding": finding,
        }


KEY = (
    "tau: Kendall's tau-b of the documents' novelty under both lengths, 1 same order. shift: second less first, means"
    f" over prompts, with its 95% interval; p: {TEST} over prompts, corrected (holm); *: holds. d: of the shift over"
    " documents."
)


@click.command()
@cli.LOGS
@cli.answering()
def lengths(logs: tuple[str, ...]) -> cli.Answer:
    """Does the order of documents hold when answers are longer, and how does the level shift? Feature by feature.

    LOGS hold the same documents scored by answers of different lengths, in a log each or in one. Every other command
    refuses such scores side by side.

    \b
    Example: inspect score LOG --scorer genie_inspect/genie -S answer_length=free --action append \\
                 --model-role grader=openai/gpt-4o
             genie lengths LOG
    """
    rows = length_shifts(logs)
    return cli.Answer({"test": TEST, "shifts": rows}, _parts(rows))


def _parts(rows: Sequence[dict[str, Any]]) -> Iterator[Table | str]:
    heads = ("feature", "documents", "tau", "first", "second", "shift [95%]", "d", "p", "prompts")
    for (before, after), own in groupby(rows, key=itemgetter("before", "after")):
        cells = []
        for row in own:
            finding, shift = row["finding"], row["finding"].difference
            ends = f"[{figure(shift.low, '+.3f')}, {figure(shift.high, '+.3f')}]"
            levels = (figure(shift.before, ".3f"), figure(shift.after, ".3f"), f"{figure(shift.delta, '+.3f')} {ends}")
            test = (figure(row["effect"], "+.2f"), starred(finding.p_value, finding.differs), str(shift.pairs))
            cells.append([row["feature"].replace("_", " "), str(row["documents"]), figure(row["tau"]), *levels, *test])
        yield Table(f"{after} answers against {before} ones", heads, cells, look="narrow")
    yield KEY
