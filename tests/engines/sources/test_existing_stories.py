"""Stories that exist, and what each is held against."""

import json
from pathlib import Path

import pytest

from genie_inspect.engines.sources.existing_stories import existing_stories
from genie_inspect.engines.sources.reference_stories import ReferenceStory, ReferenceStoryError

FINE = {"story": "0_fine", "text": "Fine bees."}
PLAIN = {"story": "0_plain", "text": "Plain bees.", "reference": "0_fine"}


def file(folder: Path, *rows: object, name: str = "stories.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_reference_is_a_text_or_the_id_of_a_story_of_the_file_which_is_then_no_candidate(tmp_path: Path) -> None:
    other = {"story": "1_plain", "text": "A lock.", "reference": "A fine lock, long ago.", "plot": "A lock opens."}
    first, second = existing_stories(file(tmp_path, PLAIN, FINE, other))
    assert (first.id, first.reference, first.reference_name) == ("0_plain", "Fine bees.", "0_fine")
    assert (second.reference, second.reference_name, second.plot) == ("A fine lock, long ago.", "", "A lock opens.")


def test_a_machine_written_story_may_be_a_reference_and_be_held_against_another(tmp_path: Path) -> None:
    rows = (PLAIN | {"reference": "0_gpt4"}, {"story": "0_gpt4", "text": "Bees by gpt4.", "reference": "0_fine"}, FINE)
    assert [(story.id, story.reference_name) for story in existing_stories(file(tmp_path, *rows))] == [
        ("0_plain", "0_gpt4"),
        ("0_gpt4", "0_fine"),
    ]


def test_released_stories_find_their_references_by_title_and_links_are_no_candidates(tmp_path: Path) -> None:
    rows = [
        {"story_idx": 0, "story_id": f"0_{writer}", "story_name": "Bees", "plot": "Bees are lost.", "content": content}
        for writer, content in (("NewYorker", "https://example.org/bees"), ("GPT4", "Bees by gpt4."))
    ]
    path = tmp_path / "ttcw_short_stories.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    (story,) = existing_stories(path, [ReferenceStory("Bees", "", "The fine bees.")])
    assert (story.id, story.text, story.reference, story.reference_name) == (
        *("0_GPT4", "Bees by gpt4.", "The fine bees.", "Bees"),
    )
    (alone,) = existing_stories(path, compared=False)
    assert alone.reference == ""


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([], "holds no story to be judged"),
        ([FINE], "has no reference for '0_fine'"),
        ([PLAIN, FINE, FINE], "holds two stories '0_fine'"),
        ([PLAIN], "line 1: the reference '0_fine' is no story of the file"),
        ([PLAIN, FINE | {"text": ""}], "line 2 has no text of '0_fine'"),
        ([PLAIN | {"text": "https://example.org/x"}, FINE], "line 1 has no text of '0_plain'"),
        ([PLAIN | {"story": " "}, FINE], "line 1 has no id in the field 'story'"),
        ([PLAIN | {"text": 3}, FINE], "line 1 has 3 in the field 'text'"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(tmp_path: Path, rows: list[object], fault: str) -> None:
    with pytest.raises(ReferenceStoryError) as caught:
        existing_stories(file(tmp_path, *rows))
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["{}", "[1]", "no json", "[" * 2000])
def test_a_list_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "stories.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ReferenceStoryError, match=r"stories\.json is no"):
        existing_stories(path)
