"""Long texts, and what goes wrong with an embedder: one kind of error that names it."""

import json
import math
import socket
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.engines.embedding_server import EmbeddingServer, Items, direction, serving
from tests.engines.sentence_models import READS, SentenceTransformer, install, model_folder, word_vector
from tests.scripted import Asked

from genie_inspect.engines import requests
from genie_inspect.engines.embedders import (
    STATIC_FOLDER,
    VECTORS,
    CachedEmbedder,
    Embedder,
    KeptVectors,
    embedder,
    static_token_count,
)
from genie_inspect.engines.served_embedders import (
    WINDOW,
    SentenceTransformersEmbedder,
    checked_vectors,
    most_tokens,
    unit,
    windows,
)
from genie_inspect.errors import EngineFailedError
from genie_inspect.graders.embedded_judge import EmbeddedJudge, EmbeddedReader
from genie_inspect.populations.population import open_population
from genie_inspect.scorers.assessor import Assessor

TEXTS = [f"text {number}" for number in range(3)]
Change = Callable[[Items], Items]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request is tried again at once."""
    monkeypatch.setattr("genie_inspect.engines.requests.FIRST_WAIT", 0.001)


def refused(served: EmbeddingServer, folder: Path) -> str:
    """The message of the one error that the embedder ends in; a kept vector would be a wrong one."""
    cached = CachedEmbedder(embedder("openai/tiny", served.url), folder)
    with serving(served), pytest.raises(EngineFailedError, match="openai/tiny") as caught:
        cached.embed(TEXTS)
    assert KeptVectors(folder).count(VECTORS) == {}
    return str(caught.value)


def second(value: object) -> Change:
    """The second text's vector is something else."""
    return lambda items: [items[0], items[1] | {"embedding": value}, *items[2:]]


@pytest.mark.parametrize(
    ("bend", "message"),
    [
        (lambda items: items[:-1], "gave 2 vectors, 2 of them different, for 3 texts, expected one a text"),
        (lambda items: [*items, items[0]], "gave 4 vectors, 3 of them different, for 3 texts"),
        (lambda items: [items[0], *items[:-1]], "gave 3 vectors, 2 of them different"),
        (lambda items: [item | {"index": item["index"] + 1} for item in items], "gave 3 vectors, 3 of them different"),
        (lambda items: [item | {"index": str(item["index"])} for item in items], "gave 3 vectors, 0 of them different"),
        (lambda items: [item | {"index": bool(item["index"])} for item in items], "gave 3 vectors, 0 of them"),
        (lambda items: [{"index": index} for index in range(3)], "vector of text 0 is not all numbers but None"),
        (lambda items: [item["embedding"] for item in items], "gave no list of vectors but '{"),
        (second([math.nan, 1.0]), "vector of text 1 is not all numbers but [nan, 1.0]"),
        (second([math.inf, 1.0]), "vector of text 1 is not all numbers"),
        (second([True, 1.0]), "vector of text 1 is not all numbers but [True, 1.0]"),
        (second(["0.5", 1.0]), "vector of text 1 is not all numbers but ['0.5', 1.0]"),
        (second([None, 1.0]), "vector of text 1 is not all numbers"),
        (second([[0.5, 1.0]]), "vector of text 1 is not all numbers but [[0.5, 1.0]]"),
        (second([10**400, 1.0]), "vector of text 1 is not all numbers"),
        (second("0.5 1.0"), "vector of text 1 is not all numbers but '0.5 1.0'"),
        (second({}), "vector of text 1 is not all numbers but {}"),
        (second([]), "vector of text 1 is not all numbers but []"),
        (second([1.0]), "gave vectors of 1 and 2 numbers, expected one width"),
        (second([1e200, 1e200]), "numbers too large"),
        (second([0.0, -0.0]), "vector of text 1 is of length 0, expected a direction"),
        (second([1e-300, 1e-300]), "vector of text 1 is of length 0"),
        (lambda items: [item | {"embedding": [0, 0]} for item in items], "vector of text 0 is of length 0"),
    ],
)
def test_a_reply_that_is_not_one_row_of_numbers_a_text_is_refused(bend: Change, message: str, tmp_path: Path) -> None:
    assert message in refused(EmbeddingServer(bend), tmp_path)


JSON, HTML = "application/json", "text/html"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ((200, JSON, b"null"), "gave no list of vectors but 'null'"),
        ((200, JSON, b"[]"), "gave no list of vectors but '[]'"),
        ((200, JSON, b"{}"), "gave no list of vectors but '{}'"),
        ((200, JSON, b'{"data": null}'), "gave no list of vectors"),
        ((200, JSON, b'{"data": []}'), "gave 0 vectors, 0 of them different, for 3 texts"),
        ((200, JSON, b'{"data": [1, 2, 3]}'), "gave no list of vectors"),
        ((200, JSON, b'{"error": "no such model"}'), 'gave no list of vectors but \'{"error": "no such model"}\''),
        ((200, JSON, b"{"), "JSONDecodeError"),
        ((200, HTML, b"<html>Sign in</html>"), "JSONDecodeError"),
        ((200, HTML, b""), "JSONDecodeError"),
        ((200, JSON, b"\xff\xfe"), "JSONDecodeError"),
        ((400, JSON, b'{"error": {"message": "8192 tokens"}}'), "BadRequestError: Error code: 400"),
        ((401, JSON, b'{"error": {"message": "no key"}}'), "AuthenticationError: Error code: 401"),
        ((404, HTML, b"<html>nothing here</html>"), "NotFoundError"),
        ((500, JSON, b"{}"), "InternalServerError: Error code: 500"),
        ((503, HTML, b"busy"), "InternalServerError"),
        ((429, JSON, b"{}"), "RateLimitError: Error code: 429"),
        ((200, JSON, b"[" * 200_000), "RecursionError"),
        ((200, JSON, b" " * 3_000), "a reply of more than 2,000 bytes"),
    ],
)
def test_a_reply_that_is_none_is_refused(
    raw: tuple[int, str, bytes], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST_BYTES", 250_000 if "Recursion" in message else 2_000)
    served = EmbeddingServer()
    served.raw = raw
    assert message in refused(served, tmp_path)


@pytest.mark.parametrize(("status", "tries"), [(500, 6), (503, 6), (429, 6), (408, 6), (400, 1), (401, 1), (404, 1)])
def test_only_what_may_pass_is_asked_again_and_in_one_place_alone(status: int, tries: int, tmp_path: Path) -> None:
    served = EmbeddingServer()
    served.raw = (status, JSON, b"{}")
    refused(served, tmp_path)
    assert len(served.requests) == tries == (requests.TRIES if tries > 1 else 1)


def test_a_connection_that_breaks_in_a_reply_is_tried_again(tmp_path: Path) -> None:
    served = EmbeddingServer()
    served.raw = (200, JSON, b"no chunk")
    served.headers = {"Transfer-Encoding": "chunked"}
    assert "ProtocolError" in refused(served, tmp_path)
    assert len(served.requests) == requests.TRIES


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genie_inspect.engines.served_embedders.SILENCE", 0.1)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(EngineFailedError, match="embedder openai/tiny failed: APITimeoutError"),
    ):
        embedder("openai/tiny", f"http://127.0.0.1:{silent.getsockname()[1]}/v1").embed(TEXTS)


def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for(tmp_path: Path) -> None:
    served = EmbeddingServer()
    served.raw = (429, JSON, b"{}")
    served.headers = {"Retry-After": "400"}
    assert "it asks to wait 400 s" in refused(served, tmp_path)
    assert len(served.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_server_that_sends_on_to_another_place_is_not_followed(status: int, tmp_path: Path) -> None:
    with serving(EmbeddingServer()) as elsewhere:
        served = EmbeddingServer()
        served.raw = (status, JSON, b"")
        served.headers = {"Location": elsewhere.url.replace("//", "//me:secret@") + "/embeddings?key=secret"}
        said = refused(served, tmp_path)
    assert f"HTTP status {status}: it sends on to {elsewhere.url}/embeddings, expected the address that answers" in said
    assert (len(served.requests), elsewhere.requests) == (1, [])


def test_windows_whose_vectors_add_up_to_nothing_are_refused(tmp_path: Path) -> None:
    opposite = EmbeddingServer(vector=lambda text: (1.0, 0.0) if "owl" in text else (-1.0, 0.0))
    with serving(opposite), pytest.raises(EngineFailedError, match="vector of text 0 is of length 0"):
        embedder("openai/tiny#2", opposite.url).embed(["an owl a fox"])


def test_a_server_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineFailedError, match=r"embedder openai/tiny failed: APIConnectionError: Connection error"):
        CachedEmbedder(embedder("openai/tiny", "http://127.0.0.1:9/v1"), tmp_path).embed(TEXTS)


def test_a_server_whose_vectors_change_their_width_is_refused(tmp_path: Path) -> None:
    with serving(EmbeddingServer()) as served:
        model = embedder("openai/tiny", served.url)
        CachedEmbedder(model, tmp_path).embed(TEXTS)
        served.vector = lambda text: (*direction(text), 1.0)
        with pytest.raises(EngineFailedError, match=r"gives vectors of 3 numbers and gave 2 before: another model"):
            model.embed(TEXTS)
        # the next run's embedder has seen nothing yet, but the record has
        later = CachedEmbedder(embedder("openai/tiny", served.url), tmp_path)
        with pytest.raises(EngineFailedError, match=r"gives vectors of 3 numbers and gave 2 before.*genie cache clear"):
            later.embed(["text 9"])
    assert KeptVectors(tmp_path).count(VECTORS) == {model.identity: 3}


async def test_the_reader_and_the_assessment_end_in_that_error_and_in_no_group_of_errors() -> None:
    model = embedder("openai/tiny", "http://127.0.0.1:9/v1")
    reader = EmbeddedReader(model, {})
    with pytest.raises(EngineFailedError, match="openai/tiny"):
        await reader.read("An owl.", [Asked("Who?", "agent")])
    starter = open_population("starter")
    with pytest.raises(EngineFailedError, match="openai/tiny"):
        await Assessor(starter, reader, EmbeddedJudge(model)).assess("An owl.", starter.prompts[0])


async def test_an_assessment_ends_in_that_error_when_the_server_dies_among_the_populations_documents() -> None:
    starter = open_population("starter")
    served = EmbeddingServer(vector=lambda text: (float(len(text)), 1.0))

    def dying(items: Items) -> Items:
        return items if len(served.requests) < 20 else second([math.nan])(items)

    served.bend = dying
    with serving(served):
        model = embedder("openai/tiny", served.url)
        assessor = Assessor(starter, EmbeddedReader(model, {}), EmbeddedJudge(model))
        with pytest.raises(EngineFailedError, match="openai/tiny"):
            await assessor.assess("An owl. A fox. A sea.", starter.prompts[0])


@pytest.mark.parametrize("folder", ["/tmp/genie-nowhere/model", "./genie-nowhere"])
def test_a_folder_that_is_not_there_is_refused_before_anything_is_embedded(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch)
    with pytest.raises(EngineFailedError, match=rf"embedder sentence-transformers/{folder}: folder .* does not exist"):
        embedder(f"sentence-transformers/{folder}")


def test_a_folder_that_cannot_be_loaded_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    (tmp_path / "empty").mkdir()
    with pytest.raises(EngineFailedError, match=r"embedder sentence-transformers/empty failed: FileNotFoundError"):
        embedder(f"sentence-transformers/{tmp_path / 'empty'}").embed(TEXTS)


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), Exception("bare"), IndexError("position 513")])
def test_a_model_that_breaks_off_is_refused(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Breaking(SentenceTransformer):
        def encode(self, *arguments: Any, **options: Any) -> Any:
            raise error

    install(monkeypatch, Breaking)
    model = embedder(f"sentence-transformers/{model_folder(tmp_path / 'tiny')}")
    with pytest.raises(EngineFailedError, match=rf"embedder sentence-transformers/tiny failed: \w+: {error}"):
        model.embed(TEXTS)


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((2, 4)),
        np.ones((4, 4)),
        np.zeros(3),
        np.zeros((3, 0)),
        np.zeros((3, 2, 2)),
        np.array([[True]] * 3),
        np.array([["1"]] * 3),
        np.array([[1j]] * 3),
        np.array([[np.nan]] * 3),
        None,
        "abc",
        {0: [1.0], 1: [1.0], 2: [1.0]},
    ],
)
def test_what_is_not_one_row_of_numbers_a_text_is_refused_wherever_it_comes_from(rows: object) -> None:
    with pytest.raises(EngineFailedError, match="embedder mine"):
        checked_vectors(rows, 3, "mine")


def test_rows_of_numbers_of_any_kind_are_taken_as_they_are() -> None:
    whole = checked_vectors(np.array([[1, 2], [3, 4]], dtype=np.int8), 2, "mine")
    assert whole.dtype == np.float64
    assert whole.tolist() == checked_vectors([[1, 2.0], [3, 4]], 2, "mine").tolist() == [[1, 2], [3, 4]]
    assert checked_vectors([], 0, "mine").shape == (0, 0)


def test_unit_rows_keep_their_direction_and_a_row_of_zeros_stays() -> None:
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]]), "mine").tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_the_replys_text_is_cut_in_the_message(tmp_path: Path) -> None:
    served = EmbeddingServer()
    served.raw = (200, JSON, json.dumps({"error": "x" * 5_000}).encode())
    assert len(refused(served, tmp_path)) < 300


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
    assert windows(text, limit, word_count) == [(piece, word_count(piece)) for piece in pieces]


def test_a_text_without_spaces_is_cut_where_it_must_be() -> None:
    text = "猫が時計の上で列車を数えていた。" * 9
    pieces = windows(text, 20, len)
    assert "".join(piece for piece, _ in pieces) == text
    assert all(10 <= tokens <= 20 for _, tokens in pieces)


def test_a_character_that_does_not_fit_is_a_window_of_its_own() -> None:
    assert windows(" 猫 犬 ", 1, lambda text: len(text.encode())) == [("猫", 3), ("犬", 3)]


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
    raw = made.encode([piece for piece, _ in pieces]).astype(float)
    mean = np.average(raw, axis=0, weights=[tokens for _, tokens in pieces])
    cut, whole = made.encode([text])[0].astype(float), model.embed([text])[0]
    assert np.allclose(whole, mean / np.linalg.norm(mean), atol=1e-5)
    assert whole @ cut / np.linalg.norm(cut) < 0.999
    assert np.allclose(model.embed(["the owl"])[0] * np.linalg.norm(made.encode(["the owl"])), made.encode(["the owl"]))
