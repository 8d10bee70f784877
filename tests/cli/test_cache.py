import json
from functools import partial
from pathlib import Path

import pytest
from tests.cli.called import genie

from genie_inspect.engines.embedders import FILE, VECTORS, CachedEmbedder, KeptVectors, embedder
from genie_inspect.graders.cache import ANSWERS, RATINGS, VERDICTS, Cache, Judged, Verdict, cache_folder

called = partial(genie, "cache")


@pytest.fixture
def kept() -> Cache:
    """A cache with one answer, two ratings and a verdict, and three vectors beside it."""
    made = Cache()
    made.keep(ANSWERS, ("grader(x)", "d1"), {"What happens?": "rain — é"})
    made.keep(RATINGS, ("list(x)", "What happens?", "rain"), {"snow": Judged(2), "drizzle": Judged(3.5, 0.1)})
    made.keep(VERDICTS, ("critic(x)", "s1", "s2"), {"t1": Verdict(-1, "B is — é. [[B>A]]")})
    CachedEmbedder(embedder(), cache_folder()).embed(["An owl.", "A fox.", "A sea."])
    return made


def vectors() -> dict[str, int]:
    return KeptVectors(cache_folder()).count(VECTORS)


def test_info_counts_rows_by_who_said_them_and_an_empty_cache_has_none(
    kept: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vectors() == {embedder().identity: 3}
    opened = KeptVectors(cache_folder())  # or sqlite tidies up when the command ends
    opened.count(VECTORS)
    found = json.loads(called("info", "--json").stdout)
    assert found["answers"] == {"grader(x)": 1}
    assert found["ratings"] == {"list(x)": 2}
    assert found["vectors"] == {embedder().identity: 3}
    assert found["verdicts"] == {"critic(x)": 1}
    assert found["path"] == str(kept.path)
    sizes = [sum(own.stat().st_size for own in cache_folder().glob(f"{name}*")) for name in (kept.path.name, FILE)]
    assert found["bytes"] == sum(sizes) > 0
    shown = called("info").stdout.replace("\n", "")
    assert all(str(text) in shown for text in ("list(x)", embedder().identity))
    for path, size in zip((kept.path, cache_folder() / FILE), sizes, strict=True):
        assert f"{path}: {size / 1e6:.1f} MB" in shown
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "empty"))
    found = json.loads(called("info", "--json").stdout)
    assert (found["answers"], found["ratings"], found["vectors"]) == ({}, {}, {})
    assert called("info").stdout.count("nobody") == 4, "a row for each table"


@pytest.mark.parametrize(("arguments", "answer"), [((), "y\n"), (("--yes", "--json"), "")])
def test_clear_forgets_everything_when_told_so(kept: Cache, arguments: tuple[str, ...], answer: str) -> None:
    refused = called("clear", answer="n\n")
    assert refused.exit_code == 1
    assert "Forget 1 answers, 2 ratings, 1 verdicts and 3 vectors in" in refused.stderr
    assert (kept.counts()["ratings"], vectors()) == ({"list(x)": 2}, {embedder().identity: 3}), "all is kept"
    result = called("clear", *arguments, answer=answer)
    assert result.exit_code == 0
    if "--json" in arguments:
        forgotten = {"answers": 1, "ratings": 2, "verdicts": 1, "vectors": 3}
        assert json.loads(result.stdout)["forgotten"] == forgotten
    else:
        # click's runner shows the answer in stdout up to 8.3
        assert result.stdout.splitlines()[-1] == "Forgot 1 answers, 2 ratings, 1 verdicts and 3 vectors."
    assert kept.counts() == {"answers": {}, "ratings": {}, "verdicts": {}}
    assert vectors() == {}


def test_export_writes_every_row_as_one_line_of_json(kept: Cache, tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    assert called("export", str(file)).exit_code == 0
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    read = {"reader": "grader(x)", "document": "d1", "question": "What happens?"}
    assert rows[0] == {"table": "answers", **read, "answer": "rain — é"}
    assert {(row["other"], row["rating"], row["off_labels"]) for row in rows[1:3]} == {
        ("snow", 2.0, None),
        ("drizzle", 3.5, 0.1),
    }
    stories = {"judge": "critic(x)", "story_a": "s1", "story_b": "s2", "test": "t1"}
    assert rows[3] == {"table": "verdicts", **stories, "points": -1, "reply": "B is — é. [[B>A]]"}
    # without a file to standard output
    tables = [json.loads(line)["table"] for line in called("export").stdout.splitlines()]
    assert tables == ["answers", "ratings", "ratings", "verdicts"]


@pytest.mark.parametrize("arguments", [("info",), ("clear", "--yes"), ("export",)])
def test_a_folder_that_cannot_be_used_is_one_line_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "taken").write_text("a file, no folder")
    monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path / "taken"))
    result = called(*arguments)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
    assert str(tmp_path / "taken") in result.stderr
    if "export" not in arguments:  # vectors that cannot be read
        monkeypatch.setenv("GENIE_CACHE_DIR", str(tmp_path))
        (tmp_path / FILE).write_bytes(b"no database " * 400)
        result = called(*arguments)
        assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1)
        assert str(tmp_path / FILE) in result.stderr
