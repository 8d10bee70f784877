"""Files of lines in a folder, wherever it is: which there are, in which order, what they hold."""

import json
import os
from pathlib import Path
from uuid import uuid4

import pytest
from tests.scale.engines import refused

from genie_inspect.errors import MissingExtraError, UnwritableError
from genie_inspect.files.json_lines import placed_lines
from genie_inspect.scale.parts import FORMS, Line, existing, parts, write_part
from genie_inspect.scale.shards import ScaleError

LINES = [Line('a "1"', '{"status_code": 200, "body": {"é": [1, null]}}', "null"), Line("b", "null", '{"message": "x"}')]


def held(folder: str) -> list[object]:
    return [json.loads(line) for part in parts(folder) for _, _, line in placed_lines(part)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scheme", ["", "file://", "memory://"])
def test_lines_come_back_as_they_were_written(form: str, scheme: str, tmp_path: Path) -> None:
    folder = f"{scheme}{tmp_path}/not/yet/there/{uuid4()}"
    assert parts(folder) == []
    write_part(folder, "p", form, LINES)
    assert held(folder) == [
        {"custom_id": 'a "1"', "response": {"status_code": 200, "body": {"é": [1, None]}}, "error": None},
        {"custom_id": "b", "response": None, "error": {"message": "x"}},
    ]
    assert [str(part).rpartition("/")[2] for part in parts(folder)] == [f"p.{form}"], "nothing is left beside it"


def test_parts_are_in_the_order_of_their_numbers_and_what_is_none_is_passed_over(tmp_path: Path) -> None:
    for name in ("r-10.jsonl", "r-2.jsonl", "r.jsonl", ".hidden.jsonl", "r.plan.json", "notes.txt"):
        (tmp_path / name).write_text("")
    assert [Path(str(part)).name for part in parts(str(tmp_path))] == ["r.jsonl", "r-2.jsonl", "r-10.jsonl"]
    assert [Path(str(part)).name for part in parts(f"{tmp_path}/r-*.jsonl")] == ["r-2.jsonl", "r-10.jsonl"]
    assert [Path(str(part)).name for part in parts(f"{tmp_path}/notes.txt")] == ["notes.txt"], "who is named is taken"


def test_a_part_elsewhere_is_named_with_its_protocol(tmp_path: Path) -> None:
    folder = f"memory://{uuid4()}"
    write_part(folder, "p", "jsonl", LINES)
    (part,) = parts(folder)
    assert str(part) == f"{folder.replace('://', ':///')}/p.jsonl"
    write_part(str(tmp_path), "p", "jsonl", LINES)
    assert str(parts(str(tmp_path))[0]) == str(tmp_path / "p.jsonl")


def test_a_file_that_is_no_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "p.parquet").write_text("nothing")
    with pytest.raises(ScaleError, match=r"p\.parquet cannot be read as Parquet"):
        held(str(tmp_path))


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_part(str(tmp_path), "p", "parquet", LINES)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="needs the extra ray"):
        held(str(tmp_path))
    with pytest.raises(MissingExtraError, match="needs the extra ray"):
        write_part(str(tmp_path), "q", "parquet", LINES)


def test_a_folder_that_cannot_be_written_and_an_address_that_nobody_knows_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError, match="file/p"):
        write_part(str(tmp_path / "file"), "p", "jsonl", LINES)
    with pytest.raises(ScaleError, match="nosuch://x cannot be reached"):
        parts("nosuch://x")
    with pytest.raises(ScaleError, match="none holds no replies, expected a file or a folder"):
        existing(f"{tmp_path}/none", "replies")


def test_replies_may_come_through_a_pipe_and_a_missing_file_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [str(part) for part in parts(str(tmp_path / "pipe"))] == [str(tmp_path / "pipe")]
    assert "gone.jsonl holds no replies" in refused("cache", "import", tmp_path / "gone.jsonl")
