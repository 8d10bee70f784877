"""Who wrote how much, and how many tests their stories pass."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from genie_inspect.agreement.machine_scores import JudgedStory
from genie_inspect.agreement.rankings import human_score
from genie_inspect.agreement.votes import VotedStory, VotesError, are_numbers, prompt_of, writer_of
from genie_inspect.engines.sources.existing_stories import existing_stories
from genie_inspect.engines.sources.reference_stories import ReferenceStory
from genie_inspect.logs.files import log_header, samples
from genie_inspect.logs.folders import each_log
from genie_inspect.measures.length import word_count
from genie_inspect.samples.document import document_of
from genie_inspect.samples.story import story_of

PEOPLE = "people"
REFERENCE = "reference"
"""Who wrote what others are held against, where no id says it."""


@dataclass(frozen=True, slots=True)
class StoryWords:
    """The length of one story."""

    plot: str
    writer: str
    words: int
    is_reference: bool = False


@dataclass(frozen=True, slots=True)
class WriterTotals:
    """How many tests the stories of one writer pass, as one judge or most people say."""

    judge: str
    writer: str
    totals: list[float]
    """One a story that was judged."""

    @property
    def mean(self) -> float:
        """NaN without a story."""
        return math.fsum(self.totals) / len(self.totals) if self.totals else math.nan

    @property
    def stories(self) -> dict[int, int]:
        """How many stories have a total, by the total."""
        return dict(sorted(Counter(map(round, self.totals)).items()))


def writer_totals(
    scores: Mapping[str, Mapping[str, JudgedStory]], votes: Sequence[VotedStory] = ()
) -> list[WriterTotals]:
    """A row for each writer by people, where there are votes, and by each judge.

    Raises:
        VotesError: If votes are numbers, of which none is a test passed; or there is nothing.
    """
    if are_numbers(votes):
        raise VotesError("votes are numbers, expected yes and no: a number says of no test that it is passed")
    if not (votes or scores):
        raise VotesError("there is nothing to count: expected logs or files of scores, or --votes")
    writers = {story.story: story.writer for story in votes}
    by_judge = {PEOPLE: {story.story: human_score(story, numbers=False) for story in votes}} if votes else {}
    by_judge |= {judge: {name: story.score for name, story in stories.items()} for judge, stories in scores.items()}
    rows: dict[tuple[str, str], list[float]] = {}
    for judge, totals in by_judge.items():
        for name, total in totals.items():
            own = rows.setdefault((judge, writers.get(name) or writer_of(name)), [])
            own.extend([] if math.isnan(total) else [total])
    return [WriterTotals(judge, writer, totals) for (judge, writer), totals in rows.items()]


def story_words(paths: Iterable[Path], references: Sequence[ReferenceStory] = ()) -> list[StoryWords]:
    """The words of stories, and of those that they are held against.

    Args:
        paths: Logs, folders of logs, or files of stories as the task `ttcw_stories` takes them.
        references: As for the task.

    Raises:
        ReferenceStoryError: If a file of stories cannot be used.
        LogError: If a log cannot be used.
    """
    words: list[StoryWords] = []
    logs = []
    for path in paths:
        if path.suffix in (".json", ".jsonl"):
            words += _of_file(path, references)
        else:
            logs.append(path)
    for found in each_log(logs, lambda file: list(_of_log(file))):
        words += found
    # a reference that several stories share counts once
    shared = dict.fromkeys(story for story in words if story.is_reference)
    return [*(story for story in words if not story.is_reference), *shared]


def _of_file(path: Path, references: Sequence[ReferenceStory]) -> Iterable[StoryWords]:
    for story in existing_stories(path, references, compared=False):
        plot = prompt_of(story.id)
        yield StoryWords(plot, writer_of(story.id), word_count(story.text))
        if story.reference:
            yield StoryWords(plot, writer_of(story.reference_name) or REFERENCE, word_count(story.reference), True)


def _of_log(file: str) -> Iterable[StoryWords]:
    model = log_header(file).eval.model
    for sample in samples(file):
        story = story_of(sample)
        name = story.id if story else f"{sample.id}_{model}"
        target = sample.target if isinstance(sample.target, str) else "\n".join(sample.target)
        yield StoryWords(prompt_of(name), writer_of(name), word_count(document_of(sample)))
        if target:
            reference = writer_of(story.reference) if story else ""
            yield StoryWords(prompt_of(name), reference or REFERENCE, word_count(target), True)
