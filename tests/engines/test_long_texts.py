"""The whole of a text counts, in every kind of embedder."""

import math
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engines.embedding_server import EmbeddingServer, serving
from tests.engines.sentence_models import READS, SentenceTransformer, install, model_folder, word_vector

from genie_inspect.engines.embedders import STATIC_FOLDER, Embedder, embedder, static_token_count, windows
from genie_inspect.engines.served_embedders import WINDOW, SentenceTransformersEmbedder, most_tokens
from genie_inspect.populations.population import open_population

STARTER = open_population("starter")
STORIES = [document.text for prompt in STARTER.prompts for document in STARTER.documents(prompt)]
OWL = " ".join(["The owl sat on the station clock and counted every late train."] * 40)  # 520 word pieces
DINOSAURS = " ".join(["Huge dinosaurs once grazed beside that warm shallow prehistoric sea."] * 54)  # 594


def server_vector(text: str) -> tuple[float, ...]:
    """What the server's model makes of the first 512 words; it drops the rest without a word, as some servers do."""
    return tuple(np.mean([word_vector(word, "served") for word in text.split()[:512]], axis=0))


@pytest.fixture(params=["static", "openai", "sentence-transformers"])
def every(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Embedder]:
    """Each kind of embedder in turn, none of which reads the longer text of the tests in one go."""
    if request.param == "openai":
        with serving(EmbeddingServer(vector=server_vector)) as served:
            yield embedder("openai/tiny#512", served.url)
        return
    if request.param == "sentence-transformers":
        install(monkeypatch)
        yield embedder(f"sentence-transformers/{model_folder(tmp_path / 'tiny')}")
        return
    yield embedder()


def test_the_end_of_a_long_text_counts(every: Embedder) -> None:
    assert static_token_count(OWL) > 512
    assert static_token_count(DINOSAURS) >= 540
    owl, both, dinosaurs = every.embed([OWL, f"{OWL} {DINOSAURS}", DINOSAURS])
    assert owl @ both < 0.95
    assert owl @ both > owl @ dinosaurs
    assert dinosaurs @ both > owl @ dinosaurs


def test_a_long_text_among_short_ones_changes_none_of_them(every: Embedder) -> None:
    alone = every.embed(["An owl.", "A fox."])
    among = every.embed(["An owl.", f"{OWL} {DINOSAURS}", "A fox."])
    assert np.allclose(among[[0, 2]], alone, atol=1e-6)
    assert np.linalg.norm(among, axis=1) == pytest.approx([1, 1, 1])


def test_the_static_vector_is_the_mean_over_all_word_pieces() -> None:
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(STATIC_FOLDER)
    text = f"{OWL} {DINOSAURS}"
    parts = [OWL, DINOSAURS]  # each more than 512 pieces
    means = [model.encode(part, max_length=None, normalize=False).astype(float) for part in parts]
    mean = np.average(means, axis=0, weights=[static_token_count(part) for part in parts])
    assert static_token_count(text) == sum(static_token_count(part) for part in parts)
    assert np.allclose(embedder().embed([text])[0], mean / np.linalg.norm(mean), atol=1e-5)


def test_the_static_vectors_of_the_starter_population_are_those_that_its_anchors_were_measured_on() -> None:
    from model2vec import StaticModel

    assert max(map(static_token_count, STORIES)) == 351
    cut = StaticModel.from_pretrained(STATIC_FOLDER).encode(
        STORIES, max_length=512
    )  # as it was when they were measured
    assert np.allclose(embedder().embed(STORIES), cut, atol=1e-6)


def test_a_served_text_is_the_mean_of_its_windows_weighted_by_their_tokens() -> None:
    words = {"northern": (1.0, 0.0), "easterly": (0.0, 1.0)}
    with serving(EmbeddingServer(vector=lambda text: words[text.split()[0]])) as served:
        # 23 characters are 8 tokens; the space nearest the middle parts 8 characters (3 tokens) from 14 (5 tokens)
        (vector,) = embedder("openai/tiny#5", served.url).embed(["northern easterly winds"])
    assert served.texts == ["northern", "easterly winds"]
    assert vector.tolist() == pytest.approx([3 / math.hypot(3, 5), 5 / math.hypot(3, 5)])


def test_a_served_text_that_fits_is_sent_as_it_is() -> None:
    text = "  An owl\n\n on a clock. "
    with serving(EmbeddingServer(vector=server_vector)) as served:
        embedder("openai/tiny", served.url).embed([text, OWL])
    assert served.texts == [text, OWL]


def test_the_longest_text_in_one_piece_has_8191_tokens_by_the_high_estimate() -> None:
    longest = "owl" * WINDOW
    with serving(EmbeddingServer(vector=server_vector)) as served:
        embedder("openai/tiny", served.url).embed([longest, longest + "s"])
    assert [len(text) for text in served.texts] == [3 * 8_191, 12_287, 12_287]


def test_a_story_has_fewer_tokens_than_the_high_estimate() -> None:
    assert all(static_token_count(story) < most_tokens(story) for story in STORIES)
    assert most_tokens("猫" * 10) == 30  # three bytes each, of which a tokenizer may make a token each


def test_a_sentence_model_reads_a_text_in_windows_that_fit_beside_its_own_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch)
    folder = model_folder(tmp_path / "tiny")
    words = [f"word{number:02}" for number in range(30)]  # of 6 characters each: 12 tokens take 10 words of them
    (vector,) = SentenceTransformersEmbedder(str(folder)).embed([" ".join(words)])
    pieces = [words[:8], words[8:15], words[15:23], words[23:]]
    assert max(map(len, pieces)) <= READS - 2
    means = [np.mean([word_vector(word, "1") for word in piece], axis=0) for piece in pieces]
    mean = np.average(means, axis=0, weights=[len(piece) + 2 for piece in pieces])
    assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.parametrize("before", ["", "find me this: "])
def test_no_piece_is_longer_than_what_a_sentence_model_reads_with_what_it_puts_before_it(
    before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    class Prompted(SentenceTransformer):
        def __init__(self, folder: str) -> None:
            super().__init__(folder)
            self.prompts, self.default_prompt_name = {"query": before}, "query"

        def encode(self, texts_of_call: Sequence[str], *, show_progress_bar: bool) -> NDArray[np.float32]:
            texts.extend(texts_of_call)
            return super().encode(texts_of_call, show_progress_bar=show_progress_bar)

    install(monkeypatch, Prompted)
    fits = READS - 2 - len(before.split())
    embedding = SentenceTransformersEmbedder(str(model_folder(tmp_path / "tiny")))
    words = [f"word{number:02}" for number in range(fits + 1)]
    embedding.embed([" ".join(words[:fits])])
    assert texts == [" ".join(words[:fits])]
    texts.clear()
    embedding.embed([" ".join(words)])
    assert len(texts) == 2
    assert " ".join(texts).split() == words


def test_a_sentence_model_that_reads_any_length_gets_texts_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unlimited(SentenceTransformer):
        def __init__(self, folder: str) -> None:
            super().__init__(folder)
            self.max_seq_length = None

    install(monkeypatch, Unlimited)
    (vector,) = SentenceTransformersEmbedder(str(model_folder(tmp_path / "tiny"))).embed([OWL])
    mean = np.mean([word_vector(word, "1") for word in OWL.split()], axis=0)
    assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


def word_count(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "limit", "pieces"),
    [
        ("one two three", 3, ["one two three"]),
        ("  one two  ", 2, ["  one two  "]),
        ("one two three four", 2, ["one two", "three four"]),
        ("one two\n\nthree four ", 2, ["one two", "three four"]),
        ("a " + "b" * 40, 1, ["a", "b" * 40]),
        (" x y ", 1, ["x", "y"]),
    ],
)
def test_windows_stand_in_order_and_hold_every_word(text: str, limit: int, pieces: list[str]) -> None:
    found = windows(text, limit, word_count)
    assert [window.text for window in found] == pieces
    assert [window.tokens for window in found] == [word_count(piece) for piece in pieces]


def test_a_text_without_spaces_is_cut_where_it_must_be() -> None:
    text = "猫が時計の上で列車を数えていた。" * 9
    pieces = windows(text, 20, len)
    assert "".join(window.text for window in pieces) == text
    assert all(10 <= window.tokens <= 20 for window in pieces)


def test_a_character_that_does_not_fit_is_a_window_of_its_own() -> None:
    assert [window.text for window in windows(" 猫 犬 ", 1, lambda text: len(text.encode()))] == ["猫", "犬"]


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra `embeddings`")
def test_a_real_sentence_model_of_eight_tokens_reads_the_whole_text(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer, models
    from tests.engines.test_classifiers import equivalence_saved as saved

    word = models.Transformer(str(saved(tmp_path / "bert")), max_seq_length=8)
    made = SentenceTransformer(modules=[word, models.Pooling(word.get_word_embedding_dimension())], device="cpu")
    made.save(str(tmp_path / "tiny"))
    model = SentenceTransformersEmbedder(str(tmp_path / "tiny"))
    text = "the owl sat on a clock , the fox ran over the old snow ."  # 14 words, 6 of which fit in a window
    pieces = windows(text, 8, lambda part: len(part.split()) + 2)
    assert len(pieces) > 2
    raw = made.encode([piece.text for piece in pieces]).astype(float)
    mean = np.average(raw, axis=0, weights=[piece.tokens for piece in pieces])
    cut, whole = made.encode([text])[0].astype(float), model.embed([text])[0]
    assert np.allclose(whole, mean / np.linalg.norm(mean), atol=1e-5)
    assert whole @ cut / np.linalg.norm(cut) < 0.999
    assert np.allclose(model.embed(["the owl"])[0] * np.linalg.norm(made.encode(["the owl"])), made.encode(["the owl"]))
