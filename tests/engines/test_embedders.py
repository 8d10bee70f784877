"""Texts in, one vector a text out: the static table, served models, loaded models, and vectors that are kept."""

import math
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engines.sentence_models import READS, SentenceTransformer, install, model_folder, word_vector
from tests.engines.servers import EmbeddingServer, Items, direction, serving

from genie_inspect.engines.embedders import (
    FILE,
    STATIC_FOLDER,
    VECTORS,
    CachedEmbedder,
    KeptVectors,
    embedder,
    static_token_count,
)  # fmt: skip
from genie_inspect.engines.served_embedders import BATCH, MOST_TOKENS, WINDOW, most_tokens, windows
from genie_inspect.errors import MissingExtraError, UnknownChoiceError
from genie_inspect.populations.population import open_population

TEXTS = ["The owl flew over the runway.", "A glacier slept in a nightclub.", "The owl flew over a runway!"]
STARTER = open_population("starter")
STORIES = [document.text for prompt in STARTER.prompts for document in STARTER.documents(prompt)]
OWL = " ".join(["The owl sat on the station clock and counted every late train."] * 40)  # 520 word pieces
DINOSAURS = " ".join(["Huge dinosaurs once grazed beside that warm shallow prehistoric sea."] * 54)  # 594


def test_static_vectors_are_of_unit_length_and_nearer_where_texts_say_the_same() -> None:
    assert embedder().name == embedder("static").name == "static"
    vectors = embedder().embed(TEXTS)
    assert vectors.shape == (3, 128)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1])
    owl, glacier, owl_again = vectors
    assert owl @ owl_again > owl @ glacier
    assert np.allclose(embedder().embed(TEXTS[::-1]), vectors[::-1], atol=1e-6), "in the order of their texts"
    assert not embedder().embed(["🦄🦄"]).any(), "a text of unknown characters has no direction"


def test_tokens_are_all_counted() -> None:
    assert 0 == static_token_count("") < static_token_count("an owl") < static_token_count("an owl on a runway")
    assert static_token_count("owl " * 3000) == 3000


@pytest.mark.parametrize("name", ["static", "openai/model"])
def test_an_empty_text_is_named_by_its_place_and_no_texts_have_no_vectors(name: str) -> None:
    for empty in ("", " ", "\n\t"):
        with pytest.raises(ValueError, match="text 2 of 4 is empty"):
            embedder(name, "http://127.0.0.1:9").embed(["a", "b", empty, "d"])
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


HEAVY = ("numpy", "model2vec", "tokenizers", "openai", "torch", "transformers", "sentence_transformers", "sklearn")


def test_naming_an_embedder_loads_nothing_heavy_and_the_static_one_asks_no_network() -> None:
    program = (
        "import sys; from genie_inspect.engines.embedders import embedder; embedder(); embedder('openai/x');"
        f"print({set(HEAVY)} & sys.modules.keys());"
        "import socket; socket.socket.connect = None; socket.getaddrinfo = None;"
        f"sys.modules.update(dict.fromkeys({HEAVY[4:]})); print(embedder().embed(['An owl.']).shape)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["set()", "(1, 128)"]


def shuffled(items: Items) -> Items:
    return random.Random(0).sample(items, len(items))


def test_many_texts_are_sent_in_batches_and_their_vectors_stand_in_order_at_unit_length() -> None:
    texts = [f"text {number}" for number in range(2 * BATCH + 3)]
    with serving(EmbeddingServer(shuffled)) as served:
        model = embedder("openai/someone/tiny", served.url)
        vectors = model.embed(texts)
    assert np.allclose(vectors, [direction(text) for text in texts])
    asked = [(request["model"], len(request["input"])) for request in served.requests]
    assert asked == [("someone/tiny", 256), ("someone/tiny", 256), ("someone/tiny", 3)]
    assert (model.name, set(served.paths)) == ("openai/someone/tiny", {"/v1/embeddings"})


def test_a_request_holds_no_more_tokens_than_openai_takes() -> None:
    texts = [f"{'owl ' * 6_000} {number}" for number in range(40)]  # 24,002 or 24,003 characters: 8,001 tokens
    with serving(EmbeddingServer(shuffled)) as served:
        vectors = embedder("openai/tiny", served.url).embed(texts)
    assert [len(request["input"]) for request in served.requests] == [31, 9]
    assert 31 * 8_001 <= MOST_TOKENS < 32 * 8_001
    assert np.allclose(vectors, [direction(text) for text in texts])


def test_the_users_key_goes_to_the_server_that_was_named_when_the_embedder_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(EmbeddingServer()) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        model = embedder("openai/tiny")
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "mine")
        assert model.embed(["text 1"]).shape == (1, 2)
        monkeypatch.delenv("OPENAI_API_KEY")
        assert model.embed(["text 1"]).shape == (1, 2), "a local server needs none"
    assert served.logins[0] == "Bearer mine" != served.logins[1]


@pytest.mark.parametrize("name", ["static", "openai/tiny"])
def test_half_a_character_is_no_error(name: str) -> None:
    with serving(EmbeddingServer(vector=lambda text: (float(len(text)), 1.0))) as served:
        broken, marked = embedder(name, served.url).embed(["An owl" + chr(0xD800), "An owl?"])
    assert broken.tolist() == marked.tolist()


def server_vector(text: str) -> tuple[float, ...]:
    """What the server's model makes of the first 512 words; it drops the rest without a word, as some servers do."""
    return tuple(np.mean([word_vector(word, "served") for word in text.split()[:512]], axis=0))


def test_the_static_vector_is_the_mean_over_all_word_pieces_and_that_of_a_story_what_its_anchors_rest_on() -> None:
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(STATIC_FOLDER)
    parts = [OWL, DINOSAURS]  # each more than 512 pieces
    counts = [static_token_count(part) for part in parts]
    model.normalize = False
    means = [model.encode(part, max_length=None).astype(float) for part in parts]
    mean = np.average(means, axis=0, weights=counts)
    assert static_token_count(" ".join(parts)) == sum(counts)
    assert np.allclose(embedder().embed([" ".join(parts)])[0], mean / np.linalg.norm(mean), atol=1e-5)
    assert max(map(static_token_count, STORIES)) == 351
    model.normalize = True  # as it was when they were measured
    assert np.allclose(embedder().embed(STORIES), model.encode(STORIES, max_length=512), atol=1e-6)


def test_a_served_text_is_the_mean_of_its_windows_weighted_by_their_tokens() -> None:
    words = {"northern": (1.0, 0.0), "easterly": (0.0, 1.0)}
    with serving(EmbeddingServer(vector=lambda text: words[text.split()[0]])) as served:
        # 23 characters are 8 tokens; the space nearest the middle parts 8 characters (3 tokens) from 14 (5 tokens)
        (vector,) = embedder("openai/tiny#5", served.url).embed(["northern easterly winds"])
    assert served.texts == ["northern", "easterly winds"]
    assert vector.tolist() == pytest.approx([3 / math.hypot(3, 5), 5 / math.hypot(3, 5)])


def test_a_served_text_of_8191_tokens_by_a_high_estimate_is_sent_as_it_is() -> None:
    spaced, longest = "  An owl\n\n on a clock. ", "owl" * WINDOW
    with serving(EmbeddingServer(vector=server_vector)) as served:
        embedder("openai/tiny", served.url).embed([spaced, OWL, longest, longest + "s"])
    assert served.texts[:3] == [spaced, OWL, longest]
    assert [len(text) for text in served.texts[2:]] == [3 * 8_191, 12_287, 12_287]
    assert all(static_token_count(story) < most_tokens(story) for story in STORIES)
    assert most_tokens("猫" * 10) == 30  # three bytes each, of which a tokenizer may make a token each


def test_a_sentence_model_reads_a_text_in_windows_that_fit_beside_its_own_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch)
    words = [f"word{number:02}" for number in range(30)]  # of 6 characters each: 12 tokens take 10 words of them
    (vector,) = embedder(f"sentence-transformers/{model_folder(tmp_path / 'tiny')}").embed([" ".join(words)])
    pieces = [words[:8], words[8:15], words[15:23], words[23:]]
    assert max(map(len, pieces)) <= READS - 2
    means = [np.mean([word_vector(word, "1") for word in piece], axis=0) for piece in pieces]
    mean = np.average(means, axis=0, weights=[len(piece) + 2 for piece in pieces])
    assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.parametrize(
    ("before", "limit", "pieces"), [("", READS, [10, 2]), ("find me this: ", READS, [7, 2]), ("", None, [99, 1])]
)
def test_no_piece_is_longer_than_what_a_sentence_model_reads_with_what_it_puts_before_it(
    before: str, limit: int | None, pieces: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    class Prompted(SentenceTransformer):
        def __init__(self, folder: str) -> None:
            super().__init__(folder)
            self.prompts, self.default_prompt_name, self.max_seq_length = {"query": before}, "query", limit

        def encode(self, texts_of_call: Sequence[str], *, show_progress_bar: bool) -> NDArray[np.float32]:
            texts.extend(texts_of_call)
            return super().encode(texts_of_call, show_progress_bar=show_progress_bar)

    install(monkeypatch, Prompted)
    model = embedder(f"sentence-transformers/{model_folder(tmp_path / 'tiny')}")
    words = [f"word{number:02}" for number in range(pieces[0] + 1)]
    model.embed([" ".join(words[:-1])])
    assert texts == [" ".join(words[:-1])]
    texts.clear()
    model.embed([" ".join(words)])
    assert len(texts) == pieces[1]
    assert " ".join(texts).split() == words


def word_count(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "limit", "count", "pieces"),
    [
        ("one two three", 3, word_count, ["one two three"]),
        ("  one two  ", 2, word_count, ["  one two  "]),
        ("one two three four", 2, word_count, ["one two", "three four"]),
        ("one two three four five", 2, word_count, ["one two", "three", "four five"]),
        ("one two\n\nthree four ", 2, word_count, ["one two", "three four"]),
        ("a " + "b" * 40, 1, word_count, ["a", "b" * 40]),
        (" x y ", 1, word_count, ["x", "y"]),
        (" 猫 犬 ", 1, lambda text: len(text.encode()), ["猫", "犬"]),  # no character is cut
        ("猫が時計の上で列車を数えた", 7, len, ["猫が時計の上", "で列車を数えた"]),  # without a space, in the middle
    ],
)
def test_windows_stand_in_order_and_hold_every_word(
    text: str, limit: int, count: Callable[[str], int], pieces: list[str]
) -> None:
    assert windows(text, limit, count) == [(piece, count(piece)) for piece in pieces]


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra `embeddings`")
def test_a_real_sentence_model_of_eight_tokens_reads_the_whole_text(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer, models
    from tests.engines.test_classifiers import equivalence_saved as saved

    word = models.Transformer(str(saved(tmp_path / "bert")), max_seq_length=8)
    made = SentenceTransformer(modules=[word, models.Pooling(word.get_word_embedding_dimension())], device="cpu")
    made.save(str(tmp_path / "tiny"))
    model = embedder(f"sentence-transformers/{tmp_path / 'tiny'}")
    text = "the owl sat on a clock , the fox ran over the old snow ."  # 14 words, 6 of which fit in a window
    pieces = windows(text, 8, lambda part: len(part.split()) + 2)
    assert len(pieces) > 2
    raw = made.encode([piece for piece, _ in pieces]).astype(float)
    mean = np.average(raw, axis=0, weights=[tokens for _, tokens in pieces])
    cut, whole = made.encode([text])[0].astype(float), model.embed([text])[0]
    assert np.allclose(whole, mean / np.linalg.norm(mean), atol=1e-5)
    assert whole @ cut / np.linalg.norm(cut) < 0.999
    assert np.allclose(model.embed(["the owl"])[0] * np.linalg.norm(made.encode(["the owl"])), made.encode(["the owl"]))


class Counting:
    """An embedder by length and vowels that keeps what it was asked."""

    def __init__(self, name: str = "counting", identity: str = "counting@1") -> None:
        self.name = name
        self.identity = identity
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.asked += texts
        return np.array([[len(text), sum(text.count(vowel) for vowel in "aeiou")] for text in texts], dtype=float)


def asked_again(folder: Path, texts: Sequence[str] = ("owl",), identity: str = "counting@1") -> list[str]:
    """What a later run's embedder is asked for, of texts that it gives the vectors of Counting for."""
    later = Counting(identity=identity)
    assert CachedEmbedder(later, folder).embed(texts).tolist() == Counting().embed(texts).tolist()
    return later.asked


def test_no_text_is_embedded_twice_in_this_run_or_the_next_by_one_embedder(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    assert cached.embed(["owl", "sea", "owl"]).tolist() == [[3, 1], [3, 2], [3, 1]]
    assert cached.embed(["tree", "owl"]).tolist() == [[4, 2], [3, 1]]
    assert inner.asked == ["owl", "sea", "tree"]
    assert cached.embed([]).shape == (0, 0)
    assert asked_again(tmp_path, ["owl", "tree"]) == []
    many = [f"text {number}" for number in range(1_200)]  # more than one query asks for
    assert [asked_again(tmp_path, many, "counting@3"), asked_again(tmp_path, many, "counting@3")] == [many, []]
    assert asked_again(tmp_path, identity="counting@2") == ["owl"], "another one of the same name"
    kept = KeptVectors(tmp_path)
    assert kept.count(VECTORS) == {"counting@1": 3, "counting@2": 1, "counting@3": 1_200}
    kept.clear()
    assert kept.count(VECTORS) == {}
    assert asked_again(tmp_path) == ["owl"]


def test_the_first_time_gives_the_very_vectors_of_the_second(tmp_path: Path) -> None:
    texts = ["An owl on a clock.", "A train of dragons."]
    first, second = (CachedEmbedder(embedder(), tmp_path).embed(texts) for _run in range(2))
    assert (first == second).all()
    assert first.dtype == second.dtype == np.float64
    assert np.allclose(first, embedder().embed(texts), atol=1e-6)


@pytest.mark.parametrize(
    "stored",
    ["x'0000'", f"x'{'00' * 8}'", f"x'{'0000807f' * 2}'", f"x'{'0000c07f' * 2}'", "x''", "'8 digits'", "3"],
)
def test_a_vector_that_is_not_whole_is_made_again(stored: str, tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["owl", "sea", "fox"])
    with sqlite3.connect(tmp_path / FILE) as connection:
        first = connection.execute("select min(text) from embeddings").fetchone()
        connection.execute(f"update embeddings set vector = {stored} where text = ?", first)
    assert KeptVectors(tmp_path).size("counting@1") == 8, "the width is that of most"
    assert len(asked_again(tmp_path, ["owl", "sea", "fox"])) == 1
