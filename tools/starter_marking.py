"""The tables of the starter's close reading: what is marked in the stories, how far two readings agree."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from starter_marks import SECOND

from genie_inspect.graders.close_reader import ASPECTS
from genie_inspect.measures.marks import agreement
from genie_inspect.measures.tokens import word_count
from genie_inspect.populations.schema import rows
from genie_inspect.providers.replay import MARKS, Record, RecordedMarks

Marks = dict[str, dict[str, list[str]]]
"""By aspect and story, what is marked."""


def marks_of(path: Path) -> Marks:
    """The marks of a recording."""
    marks: Marks = defaultdict(dict)
    for row in rows(path, RecordedMarks):
        marks[row.aspect][row.document] = [mark.expression for mark in row.marks]
    return marks


def marked_table(record: Record) -> list[Sequence[object]]:
    """By storyteller and aspect: marks, in a hundred words, and stories without any."""
    table: list[Sequence[object]] = [("storyteller", "aspect", "marks", "in 100 words", "stories without any")]
    marks = marks_of(record.folder / MARKS)
    for storyteller in dict.fromkeys(story.storyteller for story in record.stories):
        read = marks[ASPECTS[0]]
        stories = [story for story in record.stories if story.storyteller == storyteller and story.id in read]
        if not stories:
            continue  # nobody has read them closely
        words = sum(word_count(story.text) for story in stories)
        for aspect in ASPECTS:
            counts = [len(marks[aspect][story.id]) for story in stories]
            none = f"{counts.count(0)} of {len(counts)}"
            table.append((f"`bundled/{storyteller}`", aspect, sum(counts), f"{100 * sum(counts) / words:.2f}", none))
    return table


def read_twice_table(record: Record) -> list[Sequence[object]]:
    """By aspect and rule: how far the second reading marks what the first one marked."""
    table: list[Sequence[object]] = [("aspect", "first", "second", "rule", "precision", "recall", "F1")]
    first, second = marks_of(record.folder / MARKS), marks_of(record.folder / SECOND)
    for aspect in ASPECTS:
        predicted = list(second[aspect].values())
        gold = [first[aspect][story] for story in second[aspect]]
        for rule, strict in (("published", False), ("strict", True)):
            found = agreement(predicted, gold, strict)
            shown = (f"{value:.2f}" if value == value else "-" for value in (found.precision, found.recall, found.f1))
            table.append((aspect, sum(map(len, gold)), sum(map(len, predicted)), rule, *shown))
    return table
