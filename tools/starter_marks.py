"""The recorded close reading of the starter's storytellers: requests, and a recording of the replies.

Write the requests, one file a story and aspect; then, when a reply stands for each, make the recording of them:

    python tools/starter_marks.py requests FOLDER
    python tools/starter_marks.py record FOLDER
    python tools/starter_marks.py record FOLDER --second

A request is `STORY.ASPECT.md`, its reply `STORY.ASPECT.json`: the JSON list that the request asks for. The second
reading is of those stories that the folder has replies to.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import click

from genie_inspect.errors import UnreadableReplyError
from genie_inspect.graders.close_reader import ASPECTS, Approach
from genie_inspect.populations.schema import write_rows
from genie_inspect.prompting.forms import Quote, quotes
from genie_inspect.providers.replay import MARKS, RecordedMark, RecordedMarks, Story, starter_record

SECOND = "second_marks.jsonl"
WORDS = range(2, 17)
"""Words that a quote of the recording may have: about 2 to 12 are asked for."""


def requests() -> Iterator[tuple[Story, str, str]]:
    """Story, aspect and request, for every story and aspect."""
    approach = Approach()
    for aspect in ASPECTS:
        for story in starter_record().stories:
            yield story, aspect, approach.request(aspect, story.text)


def spans_of(expression: str, text: str) -> list[tuple[int, int]]:
    """Every place where the expression stands in the text, as whole words."""
    whole = rf"(?<!\w){re.escape(expression)}(?!\w)"
    return [match.span() for match in re.finditer(whole, text)] if expression else []


def faults(text: str, quoted: Sequence[Quote]) -> Iterator[str]:
    """What is wrong with the quotes from a text, one line each."""
    places = [(spans_of(expression, text), expression) for expression, _ in quoted]
    for (spans, expression), (_, reason) in zip(places, quoted, strict=True):
        if not spans:
            yield f"{expression!r} does not stand in the story"
        if len(expression.split()) not in WORDS:
            yield f"{expression!r} has {len(expression.split())} words, expected 2 to about 12"
        if len(reason.split()) < 3:
            yield f"{expression!r} has the reason {reason!r}, expected a sentence"
    for (first, one), (second, other) in pairwise(sorted((spans[0], quote) for spans, quote in places if spans)):
        if second[0] < first[1]:
            yield f"{one!r} and {other!r} overlap"


def recorded(story: Story, aspect: str, reply: Path) -> tuple[RecordedMarks | None, list[str]]:
    """One reply as a row of the recording, and what is wrong with it."""
    try:
        quoted = quotes(reply.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, UnreadableReplyError) as error:
        return None, [f"{reply.name}: {error}"]
    wrong = [f"{reply.name}: {fault}" for fault in faults(story.text, quoted)]
    if wrong:
        return None, wrong
    marks = tuple(RecordedMark(expression=expression, reason=reason) for expression, reason in quoted)
    return RecordedMarks(document=story.id, aspect=aspect, marks=marks), []


@click.group()
def main() -> None:
    """Requests of the starter's close reading, and its recording."""


@main.command("requests")
@click.argument("folder", type=click.Path(path_type=Path))
def write_requests(folder: Path) -> None:
    """Write what the close reader is asked, a file a story and aspect."""
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for story, aspect, request in requests():
        (folder / f"{story.id}.{aspect}.md").write_text(request, encoding="utf-8")
        written += 1
    print(f"{written} requests in {folder}")


@main.command("record")
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--second", is_flag=True, help="A second reading, of those stories that there are replies to.")
def write_record(folder: Path, *, second: bool) -> None:
    """Make the recording of the replies; of replies with a fault name every fault and write nothing."""
    record = starter_record()
    stories = [story for story in record.stories if not second or next(folder.glob(f"{story.id}.*.json"), None)]
    read = [recorded(story, aspect, folder / f"{story.id}.{aspect}.json") for story in stories for aspect in ASPECTS]
    if wrong := [fault for _, each in read for fault in each]:
        raise click.ClickException("\n".join([f"{len(wrong)} faults, nothing is written", *wrong]))
    path = record.folder / (SECOND if second else MARKS)
    rows = [row for row, _ in read if row]
    write_rows(path, rows)
    for aspect in ASPECTS:
        print(f"{aspect}: {sum(len(row.marks) for row in rows if row.aspect == aspect)} marks")
    print(f"{len(rows)} replies to {len(stories)} stories in {path}")


if __name__ == "__main__":
    main()
