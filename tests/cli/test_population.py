"""`genie index`."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from genie_inspect.cli import main


def test_without_the_package_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.infini_gram.find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["index", str(tmp_path), str(tmp_path / "index")])
    assert done.exit_code == 1
    assert done.output.startswith("Error: corpus=infini-gram:<index folder> needs the extra infini-gram: pip install")
    assert "pip install 'infini-gram==" in done.output


def test_a_folder_without_texts_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.infini_gram.find_spec", lambda name: object())
    done = CliRunner().invoke(main, ["index", str(tmp_path), str(tmp_path / "index")])
    assert done.exit_code == 1
    assert "holds no texts, expected" in done.output


@pytest.mark.skipif(find_spec("infini_gram") is None, reason="infini-gram is not installed")
def test_a_tiny_corpus_is_refused_with_its_size_and_what_would_do(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("An owl sat.")
    done = CliRunner().invoke(main, ["index", str(tmp_path / "texts"), str(tmp_path / "index")])
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: infini-gram's indexer made no index of ")
    assert line.endswith("expected about 250 or more: add texts")
    assert not (tmp_path / "index").exists()


@pytest.mark.skipif(find_spec("infini_gram") is None, reason="infini-gram is not installed")
def test_an_index_says_what_it_holds_and_how_to_use_it(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("An owl sat on the station clock and counted every train. " * 20)
    done = CliRunner().invoke(main, ["index", str(tmp_path / "texts"), str(tmp_path / "index")])
    assert done.exit_code == 0, done.output
    assert "1 documents, 243 symbols" in done.output
    assert f"corpus=infini-gram:{tmp_path / 'index'}" in done.output
