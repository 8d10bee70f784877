"""Caches of several processes as one."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.scale.engines import called, refused

from genie_inspect.cli import main
from genie_inspect.errors import NetworkFolderWarning
from genie_inspect.files import networks
from genie_inspect.judges.cache import Cache, Judged, Verdict, VerdictKey, cache_folder


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
