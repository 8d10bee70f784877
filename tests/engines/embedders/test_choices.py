import random
import subprocess
import sys

import numpy as np
import pytest
from tests.engines.embedding_server import EmbeddingServer, Items, direction, serving

from genie_inspect.engines.embedders import choices
from genie_inspect.engines.embedders.choices import Embedder, embedder, static_token_count
from genie_inspect.engines.embedders.served import BATCH, MOST_TOKENS, OPENAI
from genie_inspect.engines.identity import AddressError
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
        "import sys; from genie_inspect.engines.embedders.choices import embedder; embedder(); embedder('openai/x');"
        "print({'numpy', 'model2vec', 'tokenizers', 'openai', 'torch', 'sentence_transformers'} & sys.modules.keys())"
    )
    assert python(program) == "set()"


def test_the_static_embedder_asks_no_network_and_needs_neither_torch_nor_transformers() -> None:
    program = (
        "import socket; socket.socket.connect = None; socket.getaddrinfo = None;"
        "import sys; sys.modules.update(dict.fromkeys(['torch', 'transformers', 'sentence_transformers', 'sklearn']));"
        "from genie_inspect.engines.embedders.choices import embedder; print(embedder().embed(['An owl.']).shape)"
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
