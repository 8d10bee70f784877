"""Stories that are there already: references of TTCW, and stories of one's own."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genie_inspect.engines.identity import hub_dataset
from genie_inspect.errors import GenieError
from genie_inspect.files.json_lines import SHOWN, json_objects, listed_objects
from genie_inspect.files.writing import DATA
from genie_inspect.prompting.texts import LONGEST
from genie_inspect.signature import digest

BUNDLED = "bundled"
FILE = DATA / "ttcw" / "references.jsonl"
PROFESSIONAL = "_NewYorker"  # how the ids of the professionals' stories end in Salesforce/ttcw_creativity_eval
FORM = 'one line per story: {"title": ..., "plot": ..., "story": ...}, the plot in one sentence or left out'


class ReferenceStoryError(GenieError):
    """Reference stories cannot be had from where they were asked for."""


@dataclass(frozen=True, slots=True)
class ReferenceStory:
    title: str
    plot: str  # one sentence; empty where it is not known yet
    story: str  # empty where it is not needed

    @property
    def words(self) -> int:
        return len(self.story.split())


def reference_stories(source: str, *, texts: bool = True) -> list[ReferenceStory]:
    """The stories of a file or a dataset, with their texts; without `texts` a plot will do, and a link is no text."""
    path = FILE if source == BUNDLED else Path(source)
    rows: Iterable[tuple[str, Mapping[str, Any]]]
    if path.is_file() or source.endswith((".jsonl", ".json")):
        lines = json_objects(path, lambda fault: ReferenceStoryError(f"{fault}, expected {FORM}"))
        rows = ((f"{path}, line {number}", row) for number, row in lines)
    else:
        rows = _hub(source)
    stories = []
    for where, row in rows:
        title, plot, text = _texts({name: row.get(name) for name in ("title", "plot", "story")}, where)
        if not title:
            raise ReferenceStoryError(f"{where} has no text in the field 'title', expected {FORM}")
        stories.append(ReferenceStory(title, plot, "" if _is_link(text) and not texts else text))
    if not stories:
        raise ReferenceStoryError(f"{source} has no story, expected {FORM}")
    titles = [story.title for story in stories]
    if twice := [title for title in titles if titles.count(title) > 1]:
        raise ReferenceStoryError(f"{source} has two stories titled {twice[0]!r}, expected titles that differ")
    for story in stories:
        if not (story.story or story.plot or texts):
            raise ReferenceStoryError(f"{source} has neither plot nor text of {story.title!r}, expected {FORM}")
        if texts and not story.story:
            raise ReferenceStoryError(f"{source} has no text in the field 'story' of {story.title!r}, expected {FORM}")
        if _is_link(story.story):
            raise ReferenceStoryError(
                f"{source} has a link instead of the text of {story.title!r} ({story.story}): put the texts that you "
                f"may use into a JSON Lines file, {FORM}; or ask for reference=false"
            )
    return stories


def stories_digest(stories: Iterable[ReferenceStory]) -> str:
    # in the order of the stories: each is one prompt of the run
    return digest(*(part for story in stories for part in (story.title, story.plot, story.story)))


def _texts(fields: Mapping[str, Any], where: str) -> list[str]:
    """The fields of a row as text without space around it, empty where there is nothing."""
    for name, value in fields.items():
        if value and (not isinstance(value, str) or len(value) > LONGEST):
            raise ReferenceStoryError(
                f"{where} has {repr(value)[:SHOWN]} in the field {name!r}, expected text of at most {LONGEST:,} "
                "characters"
            )
    return [(value or "").strip() for value in fields.values()]


def _is_link(text: str) -> bool:
    return text.startswith(("http://", "https://")) and len(text.split()) == 1


def _hub(source: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a dataset that are stories, with the fields of a file, and where they stand."""
    offline = f"Without network, use a JSON Lines file, {FORM}"
    rows = hub_dataset(source, "train", ReferenceStoryError, "stories", offline)
    for number, row in enumerate(rows):
        if "title" in row and "story" in row:
            yield f"{source}, row {number}", row
        elif (metadata := _creativity_eval(row)) and str(metadata.get("story_id", "")).endswith(PROFESSIONAL):
            fields = {"title": "story_name", "plot": "plot_summary", "story": "content"}
            yield f"{source}, row {number}", {name: metadata.get(field) for name, field in fields.items()}


def _creativity_eval(row: Mapping[str, Any]) -> dict[str, Any]:
    """The story's own fields in a row of Salesforce/ttcw_creativity_eval, where each cell repeats them as a literal."""
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
    'one line per story: {"story": "3_GPT4", "text": ..., "reference": ...}, the reference a text or the id of a story '
    "of the file"
)
# of a story, with what Salesforce/creativity_eval calls them
FIELDS = {"story": "story_id", "text": "content", "title": "story_name", "plot": "plot", "reference": "reference"}


@dataclass(frozen=True, slots=True)
class ExistingStory:
    id: str  # as in files of votes: the plot, an underscore, the writer
    text: str
    plot: str  # one sentence; empty where the file has none
    reference: str  # text of the story that it is held against; empty where there is none
    reference_name: str  # the id or the title of that; empty where it has none


def existing_stories(
    path: Path, references: Sequence[ReferenceStory] = (), *, compared: bool = True
) -> list[ExistingStory]:
    """The stories of a file, in its order, without those that others are held against."""
    places = _places(path)
    texts_by_title = {story.title: story.story for story in references}

    def text_of(name: str) -> str:
        where, text = places[name][:2]
        if not text or _is_link(text):
            raise ReferenceStoryError(f"{where} has no text of {name!r}, expected {EXISTING_STORIES_FORM}")
        return text

    stories = []
    for name, (where, text, title, plot, reference) in places.items():
        held_against = "", reference
        if reference in places:
            held_against = reference, text_of(reference)
        elif len(reference.split()) == 1:
            raise ReferenceStoryError(f"{where}: the reference {reference!r} is not a story of the file")
        elif not reference and title in texts_by_title and not _is_link(text):
            held_against = title, texts_by_title[title]
        stories.append(ExistingStory(name, text, plot, held_against[1], held_against[0]))
    # the fine stories themselves are what others are held against, and no candidates
    named, texts = {story.reference_name for story in stories}, {story.reference for story in stories} - {""}
    candidates = [
        replace(story, text=text_of(story.id))
        for story in stories
        if (story.reference and story.reference != story.text)
        or not (story.id in named or story.text in texts or _is_link(story.text))
    ]
    if not candidates:
        raise ReferenceStoryError(f"{path} has no story to be judged, expected {EXISTING_STORIES_FORM}")
    lacking = [story.id for story in candidates if not story.reference]
    if compared and lacking:
        raise ReferenceStoryError(
            f"{path} has no reference for {lacking[0]!r}, expected {EXISTING_STORIES_FORM}; or "
            "references=FILE with a story of its title; or setups that need none"
        )
    return candidates


def _places(path: Path) -> dict[str, tuple[str, str, str, str, str]]:
    """By id, where a story of a file stands, its text, title, plot and reference."""
    places: dict[str, tuple[str, str, str, str, str]] = {}
    numbered = ((f"{path}, line {number}", row) for number, row in json_objects(path, ReferenceStoryError))
    for where, cells in listed_objects(path, ReferenceStoryError) if path.suffix == ".json" else numbered:
        fields = {name: cells.get(name) or cells.get(released) for name, released in FIELDS.items()}
        name, text, title, plot, reference = _texts(fields, where)
        if not name:
            raise ReferenceStoryError(f"{where} has no id in the field 'story', expected {EXISTING_STORIES_FORM}")
        if name in places:
            raise ReferenceStoryError(f"{path} has two stories {name!r}, expected ids that differ")
        places[name] = where, text, title, plot, reference
    return places
