"""Embeddings are kept by text and embedder."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from genie_inspect.engines.embedders.cache import CachedEmbedder
from genie_inspect.engines.embedders.choices import embedder
from genie_inspect.engines.embedders.kept_vectors import FILE, KeptVectors
from genie_inspect.errors import EngineFailedError


class Counting:
    """An embedder by length and vowels that keeps what it was asked."""

    def __init__(self, name: str = "counting", identity: str = "counting@1") -> None:
        self.name = name
        self.identity = identity
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Two numbers a text."""
        self.asked += texts
        return np.array([[len(text), sum(text.count(vowel) for vowel in "aeiou")] for text in texts], dtype=float)


def test_vectors_come_in_the_order_of_the_texts_and_no_text_is_embedded_twice(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    assert cached.embed(["owl", "sea", "owl"]).tolist() == [[3, 1], [3, 2], [3, 1]]
    assert cached.embed(["tree", "owl"]).tolist() == [[4, 2], [3, 1]]
    assert inner.asked == ["owl", "sea", "tree"]


def test_the_next_run_finds_them_on_disk(tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["owl"])
    later = Counting()
    assert CachedEmbedder(later, tmp_path).embed(["owl"]).tolist() == [[3, 1]]
    assert later.asked == []


def test_another_embedder_of_the_same_name_has_vectors_of_its_own(tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["owl"])
    other = Counting(identity="counting@2")
    CachedEmbedder(other, tmp_path).embed(["owl"])
    assert other.asked == ["owl"]


def test_what_an_earlier_version_kept_by_the_name_alone_is_not_found(tmp_path: Path) -> None:
    CachedEmbedder(Counting(identity="counting"), tmp_path).embed(["owl"])
    later = Counting()
    CachedEmbedder(later, tmp_path).embed(["owl"])
    assert later.asked == ["owl"]


def test_the_first_time_gives_the_very_vectors_of_the_second(tmp_path: Path) -> None:
    texts = ["An owl on a clock.", "A train of dragons."]
    first = CachedEmbedder(embedder(), tmp_path).embed(texts)
    assert (CachedEmbedder(embedder(), tmp_path).embed(texts) == first).all()
    assert np.allclose(first, embedder().embed(texts), atol=1e-6)


def test_nothing_to_embed_is_nothing(tmp_path: Path) -> None:
    assert CachedEmbedder(Counting(), tmp_path).embed([]).shape == (0, 0)


def test_an_empty_text_is_refused_as_by_the_embedder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="text 0 of 1 is empty"):
        CachedEmbedder(embedder(), tmp_path).embed(["  "])


def test_a_file_that_is_no_cache_is_set_aside_with_a_warning_and_costs_no_vector(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database " * 400)
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    with pytest.warns(UserWarning, match="is no readable cache .* set aside"):
        assert cached.embed(["owl"]).tolist() == [[3, 1]]
    assert cached.embed(["owl"]).tolist() == [[3, 1]]
    assert inner.asked == ["owl"]
    assert KeptVectors(tmp_path).counts() == {"counting@1": 1}, "an empty file has taken its place"
    (aside,) = tmp_path.glob("*.damaged-*")
    assert aside.read_bytes().startswith(b"no database")


def test_damage_that_is_met_while_the_file_is_in_use_costs_the_kept_vectors_alone(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(2_000)]
    CachedEmbedder(Counting(), tmp_path).embed(texts)
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")  # what was written moves from the log to the file
    size = (tmp_path / FILE).stat().st_size
    with (tmp_path / FILE).open("r+b") as file:  # all but the first page, which says what tables there are
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    later = Counting()
    with pytest.warns(UserWarning, match="is no readable cache .* set aside"):
        assert CachedEmbedder(later, tmp_path).embed(texts).shape == (2_000, 2)
    assert later.asked == texts
    assert KeptVectors(tmp_path).counts() == {"counting@1": 2_000}


def test_a_vector_that_is_not_whole_is_made_again(tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["owl", "sea", "fox"])
    with sqlite3.connect(tmp_path / FILE) as connection:
        first = connection.execute("select min(text) from embeddings").fetchone()
        connection.execute("update embeddings set vector = x'0000' where text = ?", first)
    later = Counting()
    assert CachedEmbedder(later, tmp_path).embed(["owl", "sea", "fox"]).tolist() == [[3, 1], [3, 2], [3, 1]]
    assert len(later.asked) == 1


class Faulty(Counting):
    """One whose second vector is what it is told."""

    def __init__(self, bad: float) -> None:
        super().__init__()
        self.bad = bad

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        vectors = super().embed(texts)
        vectors[1, 1] = self.bad
        return vectors


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nothing_of_a_reply_with_a_wrong_vector_is_kept(bad: float, tmp_path: Path) -> None:
    cached = CachedEmbedder(Faulty(bad), tmp_path)
    with pytest.raises(EngineFailedError, match="embedder counting: the vector of text 1 is not all numbers"):
        cached.embed(["owl", "sea"])
    assert KeptVectors(tmp_path).counts() == {}
    again = Counting()
    assert CachedEmbedder(again, tmp_path).embed(["owl"]).tolist() == [[3, 1]]


def test_vectors_are_counted_by_embedder_and_forgotten_all_at_once(tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["owl", "sea"])
    CachedEmbedder(Counting(identity="counting@2"), tmp_path).embed(["owl"])
    kept = KeptVectors(tmp_path)
    assert kept.counts() == {"counting@1": 2, "counting@2": 1}
    kept.clear()
    assert kept.counts() == {}
    later = Counting()
    CachedEmbedder(later, tmp_path).embed(["owl"])
    assert later.asked == ["owl"]


def test_a_folder_that_cannot_be_made_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(UserWarning, match="cannot be used"):
        assert CachedEmbedder(Counting(), tmp_path / "file").embed(["owl"]).tolist() == [[3, 1]]


def test_more_texts_than_one_query_can_name_are_found(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(1_200)]
    CachedEmbedder(Counting(), tmp_path).embed(texts)
    later = Counting()
    assert len(CachedEmbedder(later, tmp_path).embed(texts)) == 1_200
    assert later.asked == []
    with sqlite3.connect(tmp_path / FILE) as connection:
        assert connection.execute("select count(*) from embeddings").fetchone() == (1_200,)
