import os
import shutil
from pathlib import Path

import pytest

from genie_inspect.engines.identity import address, check_folder, folder_digest, folder_texts, identified, identity
from genie_inspect.errors import CorpusError


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder laid out as sentence-transformers does it."""
    folder = tmp_path / "one" / "final"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "config.json").write_text('{"layers": 2}')
    (folder / "1_Pooling" / "config.json").write_text('{"mean": true}')
    (folder / "vocab.txt").write_text("owl\nfox\n")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "README.md").write_text("a model")
    return folder


def copied(folder: Path, *, to: Path) -> Path:
    """The same files with the same dates."""
    shutil.copytree(folder, to)
    return to


def test_a_copy_of_a_folder_is_the_same_model_wherever_it_stands(model: Path, tmp_path: Path) -> None:
    assert folder_digest(copied(model, to=tmp_path / "two" / "final")) == folder_digest(model)
    assert folder_digest(str(model)) == folder_digest(model)
    assert len(folder_digest(model)) == 12


@pytest.mark.parametrize("file", ["config.json", "1_Pooling/config.json", "vocab.txt"])
def test_configuration_of_another_content_is_another_model_whatever_its_size_and_date(model: Path, file: str) -> None:
    before, path = folder_digest(model), model / file
    found = path.stat()
    path.write_text(path.read_text()[::-1])
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert folder_digest(model) != before


def test_configuration_that_was_only_touched_is_the_same(model: Path) -> None:
    before = folder_digest(model)
    os.utime(model / "config.json", ns=(1, 1))
    assert folder_digest(model) == before


def test_weights_that_were_trained_again_in_place_are_another_model(model: Path) -> None:
    weights = model / "model.safetensors"
    date, before = weights.stat().st_mtime_ns, folder_digest(model)
    os.utime(weights, ns=(date, date + 1))
    dated = folder_digest(model)
    weights.write_bytes(b"more weights")
    os.utime(weights, ns=(date, date))
    longer = folder_digest(model)
    weights.rename(model / "other.safetensors")
    assert len({before, dated, longer, folder_digest(model)}) == 4


def test_read_me_files_and_hidden_files_do_not_count(model: Path) -> None:
    before = folder_digest(model)
    (model / "README.md").write_text("another text")
    (model / ".cache").mkdir()
    (model / ".cache" / "download.json").write_text("{}")
    assert folder_digest(model) == before


def test_configuration_may_be_any_bytes(model: Path) -> None:
    before = folder_digest(model)
    (model / "spiece.model").write_bytes(bytes(range(256)))
    assert folder_digest(model) != before


def test_what_is_no_folder_has_no_digest(model: Path) -> None:
    for path in (model / "nowhere", model / "config.json"):
        with pytest.raises(NotADirectoryError, match=r"is no folder, expected one with a model's files"):
            folder_digest(path)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1/", "127.0.0.1:8000/v1"),
        ("https://api.openai.com/v1", "api.openai.com:443/v1"),
        ("https://API.OpenAI.com:443/v1", "api.openai.com:443/v1"),
        ("http://host", "host:80"),
        ("host:9000/v1", "host:9000/v1"),
        ("http://[::1]:8000/v1", "[::1]:8000/v1"),
        ("http://host:8000/Team/A", "host:8000/Team/A"),
    ],
)
def test_an_address_is_host_port_and_path(url: str, expected: str) -> None:
    assert address(url) == expected


@pytest.mark.parametrize(
    "url", ["http://me:PW@host:1/v1", "http://host:1/v1?key=PW", "http://host:1/v1#PW", "https://PW@host:1/v1/?a=PW#PW"]
)
def test_an_address_never_holds_user_password_query_or_fragment(url: str) -> None:
    assert address(url) == "host:1/v1"


@pytest.mark.parametrize("url", ["", "http://", "http:///PW", "http://me:PW/x@host/", "http://[PW", "http://host:PW/"])
def test_an_address_that_cannot_be_read_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="address cannot be read, expected http://") as caught:
        address(url)
    assert "PW" not in str(caught.value)


def test_a_name_carries_a_digest_of_what_it_leaves_open() -> None:
    assert identified("final", "a", "b") == identified("final", "a", "b")
    assert len({identified("final", "ab"), identified("final", "a", "b"), identified("final", "b", "a")}) == 3
    name, _, hexed = identified("final", "a").partition("@")
    assert (name, len(hexed)) == ("final", 12)
    assert identified("final") == "final"


def test_files_and_lines_are_documents_in_the_order_of_their_paths(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("bee")
    (tmp_path / "a.txt").write_text("ay")
    (tmp_path / "c.jsonl").write_text('{"text": "one"}\n\n{"text": "two", "more": 1}\n')
    (tmp_path / "picture.png").write_bytes(b"\xff")
    assert list(folder_texts(tmp_path)) == [
        ("a.txt", "ay"),
        ("c.jsonl:1", "one"),
        ("c.jsonl:3", "two"),
        ("sub/b.md", "bee"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"text": "one"}\n{"txt": "two"}', r"a\.jsonl, line 2 has no text in the field 'text'"),
        ("a.jsonl", b"{", r"a\.jsonl, line 1 is no JSON"),
        ("a.txt", b"\xff\xfe\xff", r"a\.txt cannot be read as UTF-8 text"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        list(folder_texts(tmp_path))


def test_a_folder_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="holds no texts, expected"):
        check_folder(tmp_path)
    with pytest.raises(CorpusError, match="does not exist"):
        check_folder(tmp_path / "nowhere")


def test_spacing_does_not_tell_texts_apart_and_words_do() -> None:
    assert identity(" The  end.\n") == identity("The end.")
    assert identity("The end") != identity("The end.")
