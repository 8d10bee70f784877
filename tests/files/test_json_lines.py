"""JSON Lines with halves of characters in them."""

from pathlib import Path

import pytest

from genie_inspect.building.importing import Import, import_population
from genie_inspect.engines.corpora import folder_texts
from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import json_object, json_objects, json_row
from genie_inspect.populations.population import open_population
from genie_inspect.populations.prompts import all_prompts
from genie_inspect.populations.schema import Document

LINE = '{"prompt": "Write \\ud83d.", "text": "An owl \\ud83d sat, \\\\ud83d, \\ud83d\\ude00.", "id": "d"}\n'
TEXT = "An owl \ufffd sat, \\ud83d, \U0001f600."


def test_half_a_character_is_read_as_a_mark_by_every_reader_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text(LINE)
    assert [row["text"] for _, row in json_objects(path, PopulationError)] == [TEXT]
    assert json_object(LINE.encode(), "here", PopulationError)["text"] == TEXT
    for line in (LINE, LINE.encode()):
        assert json_row(line, Document, "here", PopulationError).text == TEXT
    assert [text for _, text in folder_texts(tmp_path)] == [TEXT]
    assert all_prompts(str(path), "train") == ["Write \ufffd."]


def test_a_table_with_half_a_character_is_imported_whole(tmp_path: Path) -> None:
    (tmp_path / "half.jsonl").write_text(LINE)
    order = Import(
        str(tmp_path / "half.jsonl"), tmp_path / "made", "half", "MIT", mapping=["prompt=prompt", "text=text"]
    )
    import_population(order)
    population = open_population(tmp_path / "made")
    assert [document.text for document in population.documents("Write \ufffd.")] == [TEXT]


@pytest.mark.parametrize("line", [b'{"text": "\xed\xa0\xbd \\u0041"}', b"\\ud83d", b'"\\ud83d"'])
def test_what_is_no_object_in_utf8_is_refused_as_ever(line: bytes) -> None:
    with pytest.raises(PopulationError, match="here"):
        json_object(line, "here", PopulationError)
    with pytest.raises(PopulationError, match="here"):
        json_row(line, Document, "here", PopulationError)
