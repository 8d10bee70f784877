"""Files of lines in a folder, wherever it is: which there are, in which order, what they hold."""

import json
import os
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner
from tests.batch.engines import called, refused

from genie_inspect.batch.shards import ScaleError
from genie_inspect.batch.walk import FORMS, Line, existing, write_part
from genie_inspect.batch.walk import parts as parts_parts
from genie_inspect.cli import main
from genie_inspect.errors import MissingExtraError, NetworkFolderWarning, UnwritableError
from genie_inspect.files import folders as networks
from genie_inspect.files.json_lines import placed_lines
from genie_inspect.graders.cache import Cache, Judged, Verdict, VerdictKey, cache_folder

LINES = [Line('a "1"', '{"status_code": 200, "body": {"é": [1, null]}}', "null"), Line("b", "null", '{"message": "x"}')]


def held(folder: str) -> list[object]:
    return [json.loads(line) for part in parts_parts(folder) for _, _, line in placed_lines(part)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scheme", ["", "file://", "memory://"])
def test_lines_come_back_as_they_were_written(form: str, scheme: str, tmp_path: Path) -> None:
    folder = f"{scheme}{tmp_path}/not/yet/there/{uuid4()}"
    assert parts_parts(folder) == []
    write_part(folder, "p", form, LINES)
    assert held(folder) == [
        {"custom_id": 'a "1"', "response": {"status_code": 200, "body": {"é": [1, None]}}, "error": None},
        {"custom_id": "b", "response": None, "error": {"message": "x"}},
    ]
    assert [str(part).rpartition("/")[2] for part in parts_parts(folder)] == [f"p.{form}"], "nothing is left beside it"


def test_parts_are_in_the_order_of_their_numbers_and_what_is_none_is_passed_over(tmp_path: Path) -> None:
    for name in ("r-10.jsonl", "r-2.jsonl", "r.jsonl", ".hidden.jsonl", "r.plan.json", "notes.txt"):
        (tmp_path / name).write_text("")
    assert [Path(str(part)).name for part in parts_parts(str(tmp_path))] == ["r.jsonl", "r-2.jsonl", "r-10.jsonl"]
    assert [Path(str(part)).name for part in parts_parts(f"{tmp_path}/r-*.jsonl")] == ["r-2.jsonl", "r-10.jsonl"]
    assert [Path(str(part)).name for part in parts_parts(f"{tmp_path}/notes.txt")] == ["notes.txt"], (
        "who is named is taken"
    )


def test_a_part_elsewhere_is_named_with_its_protocol(tmp_path: Path) -> None:
    folder = f"memory://{uuid4()}"
    write_part(folder, "p", "jsonl", LINES)
    (part,) = parts_parts(folder)
    assert str(part) == f"{folder.replace('://', ':///')}/p.jsonl"
    write_part(str(tmp_path), "p", "jsonl", LINES)
    assert str(parts_parts(str(tmp_path))[0]) == str(tmp_path / "p.jsonl")


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
        parts_parts("nosuch://x")
    with pytest.raises(ScaleError, match="none holds no replies, expected a file or a folder"):
        existing(f"{tmp_path}/none", "replies")


def test_replies_may_come_through_a_pipe_and_a_missing_file_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [str(part) for part in parts_parts(str(tmp_path / "pipe"))] == [str(tmp_path / "pipe")]
    assert "gone.jsonl holds no replies" in refused("cache", "import", tmp_path / "gone.jsonl")


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Caches of two processes, of which one rating is in both and another in both in other words."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, rating in zip(folders, (2.0, 3.0), strict=True):
        cache = Cache(folder)
        cache.keep_ratings("list(x)", "What falls?", "rain", {"snow": Judged(1), "hail": Judged(rating)})
        cache.keep_ratings("list(x)", "What falls?", folder.name, {"snow": Judged(4, 0.1)})
        cache.keep_answers("grader(x)", folder.name, {"Who?": "an owl", "Where?": None})
        cache.keep_verdict(VerdictKey("critic(x)", folder.name, "", "t"), Verdict(1, "So."))
        cache.close()
    return folders


def test_what_each_process_kept_is_there_once_and_the_first_word_stays(parts: list[Path]) -> None:
    result = called("cache", "merge", *parts)
    assert result["kept"] == {"answers": 4, "ratings": 4, "verdicts": 2}
    assert (result["rows"], result["conflicts"], result["refused"]) == (12, 1, 0)
    cache = Cache()
    assert cache.ratings("list(x)", "What falls?", "rain") == {"snow": (1, None), "hail": (2, None)}
    assert cache.ratings("list(x)", "What falls?", "two") == {"snow": (4, 0.1)}
    assert cache.answers("grader(x)", "two", ["Who?", "Where?"]) == {"Who?": "an owl", "Where?": None}


def test_a_second_merge_adds_nothing(parts: list[Path]) -> None:
    called("cache", "merge", *parts)
    again = called("cache", "merge", *parts)
    assert (set(again["kept"].values()), again["conflicts"]) == ({0}, 1)


def test_a_folder_without_a_cache_and_the_cache_itself_are_refused(parts: list[Path], tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    assert "holds no cache.sqlite" in refused("cache", "merge", parts[0], tmp_path / "none")
    assert Cache().counts()["answers"] == {}, "nothing was added before all was looked at"
    assert "is the cache that others are added to" in refused("cache", "merge", cache_folder())


def test_a_cache_on_a_network_file_system_is_used_with_a_warning_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "MOUNTS", tmp_path / "mounts")
    (tmp_path / "mounts").write_text(f"server:/home {tmp_path.resolve()} nfs rw 0 0\n", encoding="utf-8")
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.warns(NetworkFolderWarning, match=r"network file system \(nfs\).*GENIE_CACHE_DIR.*genie cache merge"):
        Cache().keep_answers("grader(x)", "d", {"Who?": "an owl"})
    with pytest.warns(NetworkFolderWarning):
        shown = CliRunner().invoke(main, ["cache", "info"])
    assert shown.exit_code == 0, "it is no error of the command"
    assert "grader(x)" in shown.stdout
