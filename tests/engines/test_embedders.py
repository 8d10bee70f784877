import random
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engines.embedding_server import EmbeddingServer, Items, direction, serving

from genie_inspect.engines import embedders as choices
from genie_inspect.engines.embedders import (
    FILE,
    VECTORS,
    CachedEmbedder,
    Embedder,
    KeptVectors,
    embedder,
    static_token_count,
)
from genie_inspect.engines.identity import AddressError
from genie_inspect.engines.served_embedders import BATCH, MOST_TOKENS, OPENAI
from genie_inspect.errors import EngineFailedError, MissingExtraError, UnknownChoiceError

TEXTS = ["The owl flew over the runway.", "A glacier slept in a nightclub.", "The owl flew over a runway!"]


def test_the_static_embedder_is_the_default() -> None:
    assert embedder().name == embedder("static").name == "static"


def test_static_vectors_are_128_wide_and_of_unit_length() -> None:
    vectors = embedder().embed(TEXTS)
    assert vectors.shape == (3, 128)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1])


def test_static_vectors_stand_in_the_order_of_their_texts() -> None:
    one_by_one = [embedder().embed([text])[0] for text in TEXTS]
    assert np.allclose(embedder().embed(TEXTS), one_by_one, atol=1e-6)
    assert np.allclose(embedder().embed(TEXTS[::-1]), one_by_one[::-1], atol=1e-6)


def test_texts_that_say_the_same_are_nearer_than_others() -> None:
    owl, glacier, owl_again = embedder().embed(TEXTS)
    assert owl @ owl_again > owl @ glacier


def test_a_text_of_unknown_characters_has_no_direction() -> None:
    assert not embedder().embed(["🦄🦄"]).any()


def test_a_token_count_grows_with_the_text() -> None:
    assert 0 == static_token_count("") < static_token_count("an owl") < static_token_count("an owl on a runway")


def test_the_tokens_of_a_long_text_are_all_counted() -> None:
    assert static_token_count("owl " * 3000) == 3000


def test_counts_of_short_texts_alone_are_kept() -> None:
    choices._remembered_count.cache_clear()
    assert [static_token_count(text) for text in ("an owl", "an owl", "an owl " * choices.LONG)][:2] == [2, 2]
    kept = choices._remembered_count.cache_info()
    assert (kept.hits, kept.currsize) == (1, 1)


@pytest.mark.parametrize("empty", ["", " ", "\n\t"])
@pytest.mark.parametrize("name", ["static", "openai/model"])
def test_an_empty_text_is_named_by_its_place(name: str, empty: str) -> None:
    with pytest.raises(ValueError, match="text 2 of 4 is empty"):
        embedder(name, "http://127.0.0.1:9").embed(["a", "b", empty, "d"])


@pytest.mark.parametrize("name", ["static", "openai/model"])
def test_no_texts_have_no_vectors(name: str) -> None:
    assert len(embedder(name, "http://127.0.0.1:9").embed([])) == 0


@pytest.mark.parametrize(
    "name",
    [
        *("", "openai", "openai/", "sentence-transformers/", "bert", "static/x", "Static"),
        *("openai/#512", "openai/model#", "openai/model#0", "openai/model#-1", "openai/model#many"),
    ],
)
def test_an_unknown_embedder_is_refused_with_those_that_are_known(name: str) -> None:
    expected = r"expected static, openai/<model>\[#<tokens that it reads>\] or sentence"
    with pytest.raises(UnknownChoiceError, match=rf"embedder is '{name}', {expected}"):
        embedder(name)


def test_sentence_transformers_names_its_extra_when_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match="needs the extra embeddings: pip install"):
        embedder("sentence-transformers/all-MiniLM-L6-v2")


def python(program: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def test_importing_and_naming_an_embedder_loads_nothing_heavy() -> None:
    program = (
        "import sys; from genie_inspect.engines.embedders import embedder; embedder(); embedder('openai/x');"
        "print({'numpy', 'model2vec', 'tokenizers', 'openai', 'torch', 'sentence_transformers'} & sys.modules.keys())"
    )
    assert python(program) == "set()"


def test_the_static_embedder_asks_no_network_and_needs_neither_torch_nor_transformers() -> None:
    program = (
        "import socket; socket.socket.connect = None; socket.getaddrinfo = None;"
        "import sys; sys.modules.update(dict.fromkeys(['torch', 'transformers', 'sentence_transformers', 'sklearn']));"
        "from genie_inspect.engines.embedders import embedder; print(embedder().embed(['An owl.']).shape)"
    )
    assert python(program) == "(1, 128)"


def shuffled(items: Items) -> Items:
    return random.Random(0).sample(items, len(items))


def numbered(count: int) -> list[str]:
    return [f"text {number}" for number in range(count)]


def test_vectors_that_come_shuffled_stand_in_order_and_have_unit_length() -> None:
    with serving(EmbeddingServer(shuffled)) as served:
        vectors = embedder("openai/tiny", served.url).embed(numbered(20))
    assert np.allclose(vectors, [direction(text) for text in numbered(20)])


def test_many_texts_are_sent_in_batches_and_stand_in_order() -> None:
    texts = numbered(2 * BATCH + 3)
    with serving(EmbeddingServer(shuffled)) as served:
        vectors = embedder("openai/tiny", served.url).embed(texts)
    assert [len(request["input"]) for request in served.requests] == [256, 256, 3]
    assert np.allclose(vectors, [direction(text) for text in texts])


def test_the_model_is_asked_for_by_its_name_where_it_is_served() -> None:
    with serving(EmbeddingServer(shuffled)) as served:
        model: Embedder = embedder("openai/someone/tiny", served.url)
        model.embed(["text 1"])
    assert model.name == "openai/someone/tiny"
    assert [(request["model"], request["path"]) for request in served.requests] == [("someone/tiny", "/v1/embeddings")]


def test_a_local_server_is_asked_without_a_key_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(EmbeddingServer(shuffled)) as served:
        assert embedder("openai/tiny", served.url).embed(["text 1"]).shape == (1, 2)


def test_a_key_of_the_users_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    with serving(EmbeddingServer(shuffled)) as served:
        embedder("openai/tiny", served.url).embed(["text 1"])
    assert served.keys == ["Bearer mine"]


def test_a_request_holds_no_more_tokens_than_openai_takes() -> None:
    texts = [f"{'owl ' * 6_000} {number}" for number in range(40)]  # 24,002 or 24,003 characters: 8,001 tokens
    with serving(EmbeddingServer(shuffled)) as served:
        vectors = embedder("openai/tiny", served.url).embed(texts)
    assert [len(request["input"]) for request in served.requests] == [31, 9]
    assert 31 * 8_001 <= MOST_TOKENS < 32 * 8_001
    assert np.allclose(vectors, [direction(text) for text in texts])


def test_the_server_is_the_one_that_was_named_when_the_embedder_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(EmbeddingServer()) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        model = embedder("openai/tiny")
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        assert model.embed(["text 1"]).shape == (1, 2)


def test_an_address_that_cannot_be_read_is_refused_when_the_embedder_is_made() -> None:
    with pytest.raises(AddressError, match="address cannot be read"):
        embedder("openai/tiny", "http://me:PW/x@host/v1")


@pytest.mark.parametrize("name", ["static", "openai/tiny"])
def test_half_a_character_is_no_error(name: str) -> None:
    with serving(EmbeddingServer(vector=lambda text: (float(len(text)), 1.0))) as served:
        broken, marked = embedder(name, served.url).embed(["An owl" + chr(0xD800), "An owl?"])
    assert broken.tolist() == marked.tolist()


def test_openai_itself_is_not_asked_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EngineFailedError, match=r"embedder openai/tiny failed: OpenAIError: .*OPENAI_API_KEY"):
        embedder("openai/tiny", OPENAI).embed(["An owl."])


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
    assert KeptVectors(tmp_path).count(VECTORS) == {"counting@1": 1}, "an empty file has taken its place"
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
    assert KeptVectors(tmp_path).count(VECTORS) == {"counting@1": 2_000}


@pytest.mark.parametrize("stored", ["0000", "00" * 8, "0000807f" * 2])
def test_a_vector_that_is_not_whole_is_made_again(stored: str, tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["owl", "sea", "fox"])
    with sqlite3.connect(tmp_path / FILE) as connection:
        first = connection.execute("select min(text) from embeddings").fetchone()
        connection.execute(f"update embeddings set vector = x'{stored}' where text = ?", first)
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
    assert KeptVectors(tmp_path).count(VECTORS) == {}
    again = Counting()
    assert CachedEmbedder(again, tmp_path).embed(["owl"]).tolist() == [[3, 1]]


def test_vectors_are_counted_by_embedder_and_forgotten_all_at_once(tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["owl", "sea"])
    CachedEmbedder(Counting(identity="counting@2"), tmp_path).embed(["owl"])
    kept = KeptVectors(tmp_path)
    assert kept.count(VECTORS) == {"counting@1": 2, "counting@2": 1}
    kept.clear()
    assert kept.count(VECTORS) == {}
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


def test_vectors_have_double_precision_the_first_time_and_the_second(tmp_path: Path) -> None:
    for _run in range(2):
        assert CachedEmbedder(Counting(), tmp_path).embed(["owl"]).dtype == np.float64


def test_the_width_of_vectors_is_that_of_most_of_them(tmp_path: Path) -> None:
    store = KeptVectors(tmp_path)
    store.keep(VECTORS, ["counting@1"], {"a": bytes(8), "b": bytes(8), "damaged": bytes(4)})
    assert store.size("counting@1") == 8
