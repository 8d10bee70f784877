"""Reference stories: bundled, from files, and what the hub's rows hold."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genie_inspect.errors import MissingExtraError
from genie_inspect.populations.stories import (
    ReferenceStory,
    ReferenceStoryError,
    existing_stories,
    reference_stories,
    stories_digest,
)
from genie_inspect.prompting.texts import LONGEST

BEE = {"title": "Bee", "plot": "A bee counts.", "story": "A bee counted to four and stopped."}


def written(folder: Path, *rows: object) -> str:
    path = folder / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_two_stories_ship_each_of_500_to_900_words_with_a_plot_of_one_sentence() -> None:
    stories = reference_stories("bundled")
    assert [(500 <= story.words <= 900, story.plot.endswith("."), story.plot.count(". ")) for story in stories] == [
        *[(True, True, 0)] * 2
    ]
    assert all(story.title for story in stories)


def test_a_file_gives_its_stories_in_order_the_plot_may_be_left_out(tmp_path: Path) -> None:
    rows = (BEE, {"title": "Fox", "story": "A fox slept."}, {"title": "Owl", "plot": None, "story": "Hoo."})
    stories = reference_stories(written(tmp_path, *rows))
    assert [(story.title, story.plot, story.words) for story in stories] == [
        *(("Bee", "A bee counts.", 7), ("Fox", "", 3), ("Owl", "", 1))
    ]
    # a story may have a million characters, and no more
    assert len(reference_stories(written(tmp_path, BEE | {"story": "x" * LONGEST}))[0].story) == LONGEST == 1_000_000
    # the digest changes with any text
    changes: list[dict[str, str]] = [{}, {"title": "B"}, {"plot": ""}, {"story": "A bee."}]
    assert len({stories_digest(reference_stories(written(tmp_path, BEE | change))) for change in changes}) == 4


FAULTY: list[tuple[list[object], str]] = [
    ([], "has no story"),
    ([{"title": "Bee", "plot": "A bee counts."}], "no text in the field 'story' of 'Bee'"),
    ([{"title": "Bee", "story": "  "}], "no text in the field 'story' of 'Bee'"),
    ([{"story": "A bee."}], "line 1 has no text in the field 'title'"),
    ([BEE, {"title": "Fox", "story": 7}], "line 2 has 7 in the field 'story', expected text"),
    ([BEE | {"story": "x" * (LONGEST + 1)}], "in the field 'story', expected text of at most 1,000,000 char"),
    ([BEE, BEE], "has two stories titled 'Bee'"),
    (["Once upon a time"], "line 1 is a str and no object"),
    ([["Bee"]], "line 1 is a list and no object, expected one line per story"),
    ([BEE | {"story": "https://example.org/bee"}], "has a link instead of the text of 'Bee'"),
]


def refusal(read: Callable[[], object]) -> str:
    with pytest.raises(ReferenceStoryError) as caught:
        read()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("rows", "fault"), FAULTY)
def test_a_faulty_file_is_refused_in_one_line(tmp_path: Path, rows: list[object], fault: str) -> None:
    path = written(tmp_path, *rows)
    line = refusal(lambda: reference_stories(path))
    assert fault in line
    assert path in line


def test_without_a_reference_a_plot_is_enough_and_a_link_is_no_text(tmp_path: Path) -> None:
    path = written(tmp_path, BEE | {"story": "https://example.org/bee"}, {"title": "Fox", "plot": "A fox naps."})
    assert [(story.plot, story.story) for story in reference_stories(path, texts=False)] == [
        ("A bee counts.", ""),
        ("A fox naps.", ""),
    ]
    with pytest.raises(ReferenceStoryError, match="neither plot nor text of 'Bee'"):
        reference_stories(written(tmp_path, {"title": "Bee", "story": "https://example.org/bee"}), texts=False)


def hub(monkeypatch: pytest.MonkeyPatch, *rows: dict[str, Any]) -> None:
    """Stands in for the library `datasets`, which is an extra, and for the network."""
    module = ModuleType("datasets")
    module.load_dataset = lambda source, split: list(rows)  # type: ignore[attr-defined]  # made here
    monkeypatch.setitem(sys.modules, "datasets", module)


def cell(story: str, content: str) -> str:
    metadata = {"story_id": story, "story_name": "Bee", "plot_summary": "A bee counts.", "content": content}
    return str([{"story_metadata": metadata}, {"test_metadata": {}}, {"annotations": []}])


def test_of_the_published_dataset_the_professionals_stories_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    hub(
        monkeypatch,
        {"ttcw_narrative_ending": cell("0_GPT4", "A bee."), "ttcw_pacing": "-"},
        {"ttcw_narrative_ending": cell("0_NewYorker", "A bee counted."), "ttcw_pacing": "-"},
    )
    [story] = reference_stories("Salesforce/ttcw_creativity_eval")
    assert (story.title, story.plot, story.story) == ("Bee", "A bee counts.", "A bee counted.")
    # a dataset with the columns of a file is read like one
    hub(monkeypatch, BEE)
    assert reference_stories("someone/stories")[0].title == "Bee"


def test_a_cell_without_a_story_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = {
        # the way out of links for texts is named
        cell("0_NewYorker", "https://example.org/bee"): "put the texts that you may use into a JSON Lines file",
        # what is no literal runs nothing and gives no story
        "__import__('os').getcwd()": "has no story",
    }
    for text, fault in faults.items():
        hub(monkeypatch, {"ttcw_narrative_ending": text})
        assert fault in refusal(lambda: reference_stories("Salesforce/ttcw_creativity_eval"))


def test_without_the_extra_the_error_says_how_to_install_it_and_a_missing_file_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match="needs the extra hub: pip install"):
        reference_stories("Salesforce/ttcw_creativity_eval")
    with pytest.raises(ReferenceStoryError, match="cannot be read"):
        reference_stories(str(tmp_path / "missing.jsonl"))


FINE = {"story": "0_fine", "text": "Fine bees."}
PLAIN = {"story": "0_plain", "text": "Plain bees.", "reference": "0_fine"}


def test_a_reference_is_a_text_or_the_id_of_a_story_of_the_file_which_is_then_no_candidate(tmp_path: Path) -> None:
    other = {"story": "1_plain", "text": "A lock.", "reference": "A fine lock, long ago.", "plot": "A lock opens."}
    first, second = existing_stories(Path(written(tmp_path, PLAIN, FINE, other)))
    assert (first.id, first.reference, first.reference_name) == ("0_plain", "Fine bees.", "0_fine")
    assert (second.reference, second.reference_name, second.plot) == ("A fine lock, long ago.", "", "A lock opens.")
    # a machine-written story may be a reference, and be held against another
    rows = (PLAIN | {"reference": "0_gpt4"}, {"story": "0_gpt4", "text": "Bees by gpt4.", "reference": "0_fine"}, FINE)
    assert [(story.id, story.reference_name) for story in existing_stories(Path(written(tmp_path, *rows)))] == [
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
        ([], "has no story to be judged"),
        ([FINE], "has no reference for '0_fine'"),
        ([PLAIN, FINE, FINE], "has two stories '0_fine'"),
        ([PLAIN], "line 1: the reference '0_fine' is not a story of the file"),
        ([PLAIN, FINE | {"text": ""}], "line 2 has no text of '0_fine'"),
        ([PLAIN | {"text": "https://example.org/x"}, FINE], "line 1 has no text of '0_plain'"),
        ([PLAIN | {"story": " "}, FINE], "line 1 has no id in the field 'story'"),
        ([PLAIN | {"text": 3}, FINE], "line 1 has 3 in the field 'text'"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(tmp_path: Path, rows: list[object], fault: str) -> None:
    assert fault in refusal(lambda: existing_stories(Path(written(tmp_path, *rows))))


@pytest.mark.parametrize("content", ["{}", "[1]", "no json", "[" * 2000])
def test_a_list_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "stories.json"
    path.write_text(content, encoding="utf-8")
    assert "stories.json is no" in refusal(lambda: existing_stories(path))
