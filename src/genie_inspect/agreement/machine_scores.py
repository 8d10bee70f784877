"""Scores that machines gave stories, from logs and files."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from inspect_ai.scorer import Score
from pydantic import Field

from genie_inspect.agreement.votes import (
    Id,
    Result,
    StoryRow,
    VotesError,
    as_numbers,
    first_line,
    from_letters,
    json_field,
    rows,
)
from genie_inspect.files.json_lines import json_objects
from genie_inspect.files.values import Number, number
from genie_inspect.logs.files import each_log, log_header, samples
from genie_inspect.logs.measures import TOTAL, ranges_of
from genie_inspect.logs.scores import AGAIN, Ranges, scores_of, signature_of, tests_of
from genie_inspect.measures.tokens import word_count
from genie_inspect.samples import StoryFacts, document_of
from genie_inspect.signature import Signature

_ANSWER = re.compile(r"story_(.+)_test(\d{1,3})")
_BEGINS = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
_ASKED = re.compile(r",template=[0-9a-f]{4,64}(?=\))")
FORM = 'one line per story: {"story": "3_GPT4", "judge": "mine", "score": 9, "tests": {"01": 1, "02": 0}}'


class _Scored(StoryRow):
    judge: Id = "judge"
    score: Number | None = None
    words: int | None = None
    tests: dict[Id, Result] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgedStory:
    story: str
    score: float  # higher = better; NaN when it was not judged
    tests: dict[str, float]  # 1 = passes, 0 = fails, or a number; NaN = missing; empty when there is only a score
    points: Mapping[str, float] = field(default_factory=dict)  # by test, of a judge that gives them, in a log
    values: Mapping[str, float] = field(default_factory=dict)  # all values of the score by key, in a log
    scorer: str = ""  # who gave the score; empty for a file, as is its signature
    signature: str = ""
    words: float = math.nan  # how long the story is; NaN where a file does not say it


def read_scores(paths: Iterable[Path], scorer: str | Sequence[str] = "ttcw") -> dict[str, dict[str, JudgedStory]]:
    scorers = [scorer] if isinstance(scorer, str) else list(scorer)
    files: list[Path] = []
    logs: list[Path] = []
    for path in paths:
        (files if path.suffix in (".json", ".jsonl") else logs).append(path)
    judged_by: list[tuple[Path | str, str, JudgedStory]] = [(path, *row) for path in files for row in _from_file(path)]
    logged = list(chain.from_iterable(each_log(logs, lambda file: [(file, *row) for row in _from_log(file, scorers)])))
    # names need all logs at once: what tells two signatures of one judge apart depends on both
    names = _judges({(judge, judged.signature): None for _, judge, judged in logged})
    judged_by += [(file, names[judge, judged.signature], judged) for file, judge, judged in logged]
    scores: dict[str, dict[str, JudgedStory]] = {}
    for source, judge, judged in judged_by:
        if judged.story in scores.setdefault(judge, {}):
            raise VotesError(f"{source}: story {judged.story!r} has two scores by {judge!r}")
        scores[judge][judged.story] = judged
    return scores


def _judges(signed: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """A name for each judge and signature: the judge, with the facts in which its signatures differ.

    A critic that was asked in several ways is one judge with several instructions.
    """
    labels = {}
    signatures: dict[str, list[tuple[str, str]]] = {}
    for judge, signature in signed:
        signatures.setdefault(_ASKED.sub("", judge), []).append((judge, signature))
    for stem, several in signatures.items():
        facts = [Signature(signature).facts for _, signature in several]
        names = dict.fromkeys(fact for details in facts for fact in details)
        differing = [fact for fact in names if len({details.get(fact) for details in facts}) > 1]
        # what the instructions are shows in how they ask
        told = [fact for fact in differing if fact != "judge"]
        is_told = len({tuple(details.get(fact) for fact in told) for details in facts}) == len(several)
        one_judge = len({judge for judge, _ in several}) == 1
        for (judge, signature), details in zip(several, facts, strict=True):
            named = stem if is_told and not one_judge else judge
            labels[judge, signature] = " ".join([named, *(f"{fact}={details.get(fact, '-')}" for fact in told)])
    return labels


def _from_file(path: Path) -> Iterator[tuple[str, JudgedStory]]:
    if path.suffix == ".json":
        for judge, stories in json_field(path, "judges").items():
            for story, letters in stories.items():
                yield judge, _judged(story, None, from_letters(letters, f"{path}: {judge}, story {story!r}"))
        return
    # answers as they were released; an empty or broken file is read as scores
    if b'"response"' in first_line(path):
        told: dict[str, dict[str, float]] = {}
        for where, story, test, result in answers(path):
            if told.setdefault(story, {}).setdefault(test, result) != result:
                raise VotesError(f"{where}: test {test} of story {story!r} has two answers")
        for story, results in told.items():
            yield path.stem.removeprefix("annotations_"), _judged(story, None, results)
        return
    for where, row in rows(path, _Scored, FORM):
        if row.score is None and not row.tests:
            raise VotesError(f"{where}: neither score nor tests, expected {FORM}")
        words = number(row.words)
        yield row.judge, replace(_judged(row.story, row.score, as_numbers(row.tests)), words=words)


def answers(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Place, story, test and result of each answer of a file {"id": "story_3_GPT4_test1", "response": "Yes, ..."}.

    An answer that begins with neither yes nor no counts as a pass, as in the published figures.
    """
    for line, item in json_objects(path, VotesError):
        where = f"{path}, line {line}"
        name, response = item.get("id"), item.get("response")
        match = _ANSWER.fullmatch(name) if isinstance(name, str) else None
        if match is None or not isinstance(response, str):
            raise VotesError(
                f'{where} is not an answer, expected {{"id": "story_3_GPT4_test1", "response": "Yes, ..."}}'
            )
        begin = _BEGINS.match(response[:200])
        yield where, match[1], f"{int(match[2]):02d}", float(begin is None or begin[1].lower() == "yes")


def _judged(story: str, score: float | None, tests: dict[str, float]) -> JudgedStory:
    passed = math.fsum(result for result in tests.values() if not math.isnan(result))
    return JudgedStory(story, passed if score is None else score, tests)


def _from_log(file: str, scorers: Sequence[str]) -> list[tuple[str, JudgedStory]]:
    """What each of the scorers says of each story of a log, with its judge."""
    header = log_header(file)
    model, ranges = header.eval.model, ranges_of(header)
    read = [
        (sample.id, StoryFacts.of(sample.metadata), sample.epoch, sample.scores or {}, word_count(document_of(sample)))
        for sample in samples(file)
    ]
    several = len({epoch for _, _, epoch, *_ in read}) > 1
    # the form of the ids in the votes file: prompt, underscore, writer
    scores = [
        ((story.id if story else f"{name}_{model}") + (f"#{epoch}" if several else ""), own, words)
        for name, story, epoch, own, words in read
    ]
    # Inspect numbers a scorer that scores in several ways
    names = {name: AGAIN.fullmatch(name) for _, own, _ in scores for name in own}
    logged: list[tuple[str, JudgedStory]] = []
    for name in (name for name, again in names.items() if name in scorers or (again and again[1] in scorers)):
        scored = [
            (str((own[name].metadata or {}).get("judge", name)), judged_in_log(story, name, own[name], words, ranges))
            for story, own, words in scores
            if name in own
        ]
        # a sample that failed before it was scored counts as not judged, by the judge of the others
        judge, first = scored[0]
        missing = JudgedStory("", math.nan, {}, scorer=name, signature=first.signature)
        logged += scored + [(judge, replace(missing, story=story)) for story, own, _ in scores if name not in own]
    if not logged:
        named = " or ".join(map(repr, scorers))
        raise VotesError(f"{file} has no scores by {named}, expected a log that it scored")
    return logged


def judged_in_log(
    story: str, scorer: str, score: Score, words: float = math.nan, ranges: Ranges = lambda *of: None
) -> JudgedStory:
    values = scores_of(scorer, score, ranges).values
    # the key begins with the rubric's name, which may be any
    total = next((value for key, value in values.items() if key.endswith(TOTAL)), math.nan)
    tests, points = tests_of(score, "pass"), tests_of(score, "score")
    return JudgedStory(story, total, tests, points, values, scorer, signature_of(score), words)
