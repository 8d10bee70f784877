"""Stories that are there already: references of TTCW, and stories of one's own."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genie_inspect.engines.identity import hub_dataset
from genie_inspect.errors import GenieError
from genie_inspect.files.folders import DATA
from genie_inspect.files.json_lines import SHOWN, json_objects, listed_objects
from genie_inspect.prompting.texts import LONGEST
from genie_inspect.signature import digest

BUNDLED = "bundled"
FILE = DATA / "ttcw" / "references.jsonl"
PROFESSIONAL = "_NewYorker"  # how the ids of the professionals' stories end in Salesforce/ttcw_creativity_eval
FORM = 'a line a story: {"title": ..., "plot": ..., "story": ...}, the plot in one sentence or left out'


class ReferenceStoryError(GenieError):
    """Reference stories cannot be had from where they were asked for."""


@dataclass(frozen=True, slots=True)
class ReferenceStory:
    title: str
    plot: str
    """One sentence; empty where it is not known yet."""
    story: str
    """Empty where it is not needed."""

    @property
    def words(self) -> int:
        return len(self.story.split())

    @property
    def is_link(self) -> bool:
        """Whether an address stands in place of the text."""
        return self.story.startswith(("http://", "https://")) and self.words == 1


def reference_stories(source: str, *, texts: bool = True) -> list[ReferenceStory]:
    path = FILE if source == BUNDLED else Path(source)
    local = path.is_file() or source.endswith((".jsonl", ".json"))
    stories = list(_local(path) if local else _hub(source))
    if not stories:
        raise ReferenceStoryError(f"{source} holds no story, expected {FORM}")
    titles = [story.title for story in stories]
    twice = [title for title in titles if titles.count(title) > 1]
    if twice:
        raise ReferenceStoryError(f"{source} holds two stories titled {twice[0]!r}, expected titles that differ")
    return [_usable(story, source, texts=texts) for story in stories]


def _usable(story: ReferenceStory, source: str, *, texts: bool) -> ReferenceStory:
    """The story, which must have its text, or else a plot or a text to draw it from; a link is no text."""
    if not texts:
        plotted = replace(story, story="") if story.is_link else story
        if not (plotted.plot or plotted.story):
            raise ReferenceStoryError(f"{source} has neither plot nor text of {story.title!r}, expected {FORM}")
        return plotted
    if not story.story:
        raise ReferenceStoryError(f"{source} has no text in the field 'story' of {story.title!r}, expected {FORM}")
    if story.is_link:
        raise ReferenceStoryError(
            f"{source} has a link instead of the text of {story.title!r} ({story.story}): put the texts that you may "
            f"use into a JSON Lines file, {FORM}; or ask for reference=false"
        )
    return story


def stories_digest(stories: Iterable[ReferenceStory]) -> str:
    """Twelve hex digits of what candidates are written from and held against."""
    # in the order of the stories: each is one prompt of the run
    return digest(*(part for story in stories for part in (story.title, story.plot, story.story)))


def _local(path: Path) -> Iterator[ReferenceStory]:
    for number, row in json_objects(path, lambda fault: ReferenceStoryError(f"{fault}, expected {FORM}")):
        yield _story(row, f"{path}, line {number}")


def _story(row: Mapping[str, Any], where: str) -> ReferenceStory:
    fields = {name: row.get(name) or "" for name in ("title", "plot", "story")}
    for name, value in fields.items():
        _check_text(value, name, where)
    if not fields["title"].strip():
        raise ReferenceStoryError(f"{where} has no text in the field 'title', expected {FORM}")
    return ReferenceStory(*(value.strip() for value in fields.values()))


def _check_text(value: object, name: str, where: str) -> None:
    if not isinstance(value, str) or len(value) > LONGEST:
        shown = repr(value)[:SHOWN]
        raise ReferenceStoryError(
            f"{where} has {shown} in the field {name!r}, expected text of at most {LONGEST:,} characters"
        )


def _hub(source: str) -> Iterator[ReferenceStory]:
    rows = hub_dataset(
        source, "train", ReferenceStoryError, "stories", f"Without network, use a JSON Lines file, {FORM}"
    )
    for number, row in enumerate(rows):
        if "title" in row and "story" in row:
            yield _story(row, f"{source}, row {number}")
        elif (metadata := _creativity_eval(row)) and str(metadata.get("story_id", "")).endswith(PROFESSIONAL):
            renamed = {
                "title": metadata.get("story_name"),
                "plot": metadata.get("plot_summary"),
                "story": metadata.get("content"),
            }
            yield _story(renamed, f"{source}, row {number}")


def _creativity_eval(row: Mapping[str, Any]) -> dict[str, Any]:
    """The story's own fields in a row of Salesforce/ttcw_creativity_eval, where each cell repeats them as a literal.

    >>> _creativity_eval({"ttcw_pacing": "[{'story_metadata': {'story_id': '0_NewYorker'}}]"})
    {'story_id': '0_NewYorker'}
    """
    for column, text in row.items():
        if not (column.startswith("ttcw_") and isinstance(text, str)):
            continue
        try:
            parts = ast.literal_eval(text)  # reads literals only, runs nothing
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict) and isinstance(part.get("story_metadata"), dict):
                return dict(part["story_metadata"])
    return {}


EXISTING_STORIES_FORM = (
    'a line a story: {"story": "3_GPT4", "text": ..., "reference": ...}, the reference a text or the id of a story of '
    "the file"
)
_RELEASED = {"story": "story_id", "text": "content", "title": "story_name"}
"""What Salesforce/creativity_eval calls them."""


@dataclass(frozen=True, slots=True)
class ExistingStory:
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
    """The stories of a file, in its order, without those that others are held against."""
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
        raise ReferenceStoryError(f"{path} holds no story to be judged, expected {EXISTING_STORIES_FORM}")
    lacking = [story.id for story in stories if not story.reference]
    if compared and lacking:
        raise ReferenceStoryError(
            f"{path} has no reference for {lacking[0]!r}, expected {EXISTING_STORIES_FORM}; or "
            "references=FILE with a story of its "
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
        raise ReferenceStoryError(f"{row.where} has no text of {row.id!r}, expected {EXISTING_STORIES_FORM}")
    return row.text


def _rows(path: Path) -> Iterator[_Row]:
    numbered = ((f"{path}, line {number}", row) for number, row in json_objects(path, ReferenceStoryError))
    for where, cells in listed_objects(path, ReferenceStoryError) if path.suffix == ".json" else numbered:
        fields = {
            name: cells.get(name) or cells.get(_RELEASED.get(name, name)) or ""
            for name in ("story", "text", "title", "plot", "reference")
        }
        for name, value in fields.items():
            _check_text(value, name, where)
        if not fields["story"].strip():
            raise ReferenceStoryError(f"{where} has no id in the field 'story', expected {EXISTING_STORIES_FORM}")
        yield _Row(where, *(fields[name].strip() for name in ("story", "text", "title", "plot", "reference")))
