"""Stories that exist, each with the one that it is held against: files of a user's own, or as a study released them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genie_inspect.engines.sources.reference_stories import ReferenceStory, ReferenceStoryError
from genie_inspect.files.json_lines import json_objects, listed_objects

FORM = (
    'a line a story: {"story": "3_GPT4", "text": ..., "reference": ...}, the reference a text or the id of a story of '
    "the file"
)
_RELEASED = {"story": "story_id", "text": "content", "title": "story_name"}
"""What Salesforce/creativity_eval calls them."""


@dataclass(frozen=True, slots=True)
class ExistingStory:
    """A story, and what it is held against."""

    id: str
    """As in files of votes: the plot, an underscore, the writer."""
    text: str
    plot: str
    """One sentence; empty where the file has none."""
    reference: str
    """Text of the story that it is held against; empty where there is none."""
    reference_name: str
    """The id or the title of that; empty where it has none."""


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    id: str
    text: str
    title: str
    plot: str
    reference: str

    @property
    def is_link(self) -> bool:
        return ReferenceStory(self.title, "", self.text).is_link


def existing_stories(
    path: Path, references: Sequence[ReferenceStory] = (), *, compared: bool = True
) -> list[ExistingStory]:
    """The stories of a file, in its order, without those that others are held against.

    Args:
        path: JSON Lines, or a JSON list as Salesforce/creativity_eval releases its stories.
        references: Stories by title, for rows that name no reference.
        compared: Whether every story needs a reference.

    Raises:
        ReferenceStoryError: If the file cannot be read, holds no story, or a story has no text or lacks its reference.
    """
    rows = list(_rows(path))
    by_id = {row.id: row for row in rows}
    if len(by_id) < len(rows):
        twice = next(row for row in rows if by_id[row.id] is not row)
        raise ReferenceStoryError(f"{path} holds two stories {twice.id!r}, expected ids that differ")
    titled = {story.title: story for story in references}
    paired = [(row, *_reference(row, by_id, titled)) for row in rows]
    # the fine stories themselves are what others are held against, and no candidates
    named, texts = {name for _, name, _ in paired}, {text for _, _, text in paired if text}
    stories = [
        ExistingStory(row.id, _text(row), row.plot, text, name)
        for row, name, text in paired
        if (text and text != row.text) or not (row.id in named or row.text in texts or row.is_link)
    ]
    if not stories:
        raise ReferenceStoryError(f"{path} holds no story to be judged, expected {FORM}")
    lacking = [story.id for story in stories if not story.reference]
    if compared and lacking:
        raise ReferenceStoryError(
            f"{path} has no reference for {lacking[0]!r}, expected {FORM}; or references=FILE with a story of its "
            "title; or ways that need none"
        )
    return stories


def _reference(row: _Row, by_id: Mapping[str, _Row], titled: Mapping[str, ReferenceStory]) -> tuple[str, str]:
    """The name and the text of what a story is held against; empty where there is nothing."""
    if row.reference in by_id:
        return row.reference, _text(by_id[row.reference])
    if row.reference and len(row.reference.split()) == 1:
        raise ReferenceStoryError(f"{row.where}: the reference {row.reference!r} is no story of the file")
    if row.reference:
        return "", row.reference
    story = titled.get(row.title)
    return (story.title, story.story) if story and not row.is_link else ("", "")


def _text(row: _Row) -> str:
    if row.is_link or not row.text:
        raise ReferenceStoryError(f"{row.where} has no text of {row.id!r}, expected {FORM}")
    return row.text


def _rows(path: Path) -> Iterator[_Row]:
    for where, cells in _objects(path):
        fields = {
            name: cells.get(name) or cells.get(_RELEASED.get(name, name)) or ""
            for name in ("story", "text", "title", "plot", "reference")
        }
        for name, value in fields.items():
            if not isinstance(value, str):
                raise ReferenceStoryError(f"{where} has {value!r} in the field {name!r}, expected text")
        if not fields["story"].strip():
            raise ReferenceStoryError(f"{where} has no id in the field 'story', expected {FORM}")
        yield _Row(where, *(fields[name].strip() for name in ("story", "text", "title", "plot", "reference")))


def _objects(path: Path) -> Iterable[tuple[str, Mapping[str, Any]]]:
    if path.suffix == ".json":
        return listed_objects(path, ReferenceStoryError)
    return ((f"{path}, line {number}", row) for number, row in json_objects(path, ReferenceStoryError))
