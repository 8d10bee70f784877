"""What two engines of one name share: nothing, unless they are the same."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engines.embedding_server import EmbeddingServer, serving
from tests.engines.sentence_models import install, model_folder

from genie_inspect.engines.classifiers import ClassifierEquivalence, CoherenceRewards, EmbeddedEquivalence, RewardModel
from genie_inspect.engines.embedders import CachedEmbedder, Embedder, KeptVectors, embedder
from genie_inspect.engines.models import check_unchanged, folder_facts
from genie_inspect.errors import EngineFailedError
from genie_inspect.graders.embedded_judge import EmbeddedJudge, EmbeddedReader

TEXTS = ["An owl on a clock."]
HEXED = r"@[0-9a-f]{12}"


@pytest.fixture
def finals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders called final with models of other weights, of one size and date."""
    install(monkeypatch)
    folders = model_folder(tmp_path / "one" / "final", "1"), model_folder(tmp_path / "two" / "final", "2")
    for folder in folders:
        (folder / "config.json").write_text(f'{{"made_from": "{folder.parent.name}"}}')
        os.utime(folder / "model.safetensors", ns=(1, 1))
    return folders


def local(folder: Path) -> Embedder:
    return embedder(f"sentence-transformers/{folder}")


def signatures(model: Embedder) -> list[str]:
    """Every signature that an embedder stands in."""
    equivalence = EmbeddedEquivalence(model, 0.5)
    return [EmbeddedReader(model, {}).signature, EmbeddedJudge(model).signature, equivalence.name]


def test_two_folders_of_one_name_share_no_vectors_and_no_signature(finals: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = map(local, finals)
    assert one.name == two.name == "sentence-transformers/final"
    first, second = CachedEmbedder(one, tmp_path), CachedEmbedder(two, tmp_path)
    assert first.embed(TEXTS).tolist() != second.embed(TEXTS).tolist()
    assert (second.embed(TEXTS) == CachedEmbedder(local(finals[1]), tmp_path).embed(TEXTS)).all()
    assert first.identity == one.identity != two.identity
    assert not set(signatures(one)) & set(signatures(two))
    assert KeptVectors(tmp_path).counts() == {one.identity: 1, two.identity: 1}


def test_a_folder_that_was_trained_again_in_place_is_another_model(finals: tuple[Path, Path], tmp_path: Path) -> None:
    folder = finals[0]
    before = CachedEmbedder(local(folder), tmp_path)
    old = before.embed(TEXTS)
    (folder / "model.safetensors").write_text("3")
    after = CachedEmbedder(local(folder), tmp_path)
    assert after.identity != before.identity
    assert after.embed(TEXTS).tolist() != old.tolist()
    # what was loaded goes on as what it was named
    assert before.embed([*TEXTS, "A fox."])[0].tolist() == old[0].tolist()


def test_a_folder_that_changes_before_it_is_loaded_is_refused(finals: tuple[Path, Path]) -> None:
    model = local(finals[0])
    identity = model.identity
    (finals[0] / "model.safetensors").write_text("trained again")
    with pytest.raises(EngineFailedError, match=r"final has changed since the run's scores were named after it"):
        model.embed(TEXTS)
    assert model.identity == identity


def test_a_model_of_the_hub_is_identified_by_its_name_and_how_texts_are_pooled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch)
    model = embedder("sentence-transformers/someone/mini")
    assert re.fullmatch(r"sentence-transformers/someone/mini" + HEXED, model.identity)
    assert model.identity == embedder("sentence-transformers/someone/mini").identity
    monkeypatch.setattr("genie_inspect.engines.served_embedders.POOLING", "another way")
    assert embedder("sentence-transformers/someone/mini").identity != model.identity


def test_one_name_on_two_servers_shares_no_vectors_and_no_signature(tmp_path: Path) -> None:
    with (
        serving(EmbeddingServer(vector=lambda text: (1.0, 0.0))) as first,
        serving(EmbeddingServer(vector=lambda text: (0.0, 1.0))) as second,
    ):
        one, two = embedder("openai/tiny", first.url), embedder("openai/tiny", second.url)
        assert CachedEmbedder(one, tmp_path).embed(TEXTS).tolist() == [[1.0, 0.0]]
        assert CachedEmbedder(two, tmp_path).embed(TEXTS).tolist() == [[0.0, 1.0]]
    assert not set(signatures(one)) & set(signatures(two))


@pytest.mark.parametrize(
    ("base_url", "is_same"),
    [
        ("http://host:8000/v1", True),
        ("http://host:8000/v1/", True),
        ("http://me:PW@host:8000/v1?key=PW#x", True),
        ("https://HOST:8000/v1", True),
        ("http://host:8001/v1", False),
        ("http://host:8000/v2", False),
        ("http://other:8000/v1", False),
    ],
)
def test_a_server_is_its_host_port_and_path(base_url: str, is_same: bool) -> None:
    identity = embedder("openai/tiny", base_url).identity
    assert (identity == embedder("openai/tiny", "http://host:8000/v1").identity) is is_same
    assert re.fullmatch("openai/tiny" + HEXED, identity)


def test_openai_itself_is_the_same_however_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    named = embedder("openai/tiny").identity
    assert named == embedder("openai/tiny", "https://api.openai.com/v1").identity
    monkeypatch.setenv("OPENAI_BASE_URL", "http://host:8000/v1")
    assert embedder("openai/tiny").identity == embedder("openai/tiny", "http://host:8000/v1").identity != named


def test_the_window_is_part_of_what_a_served_model_is() -> None:
    names = [embedder(name, "http://host/v1") for name in ("openai/tiny", "openai/tiny#8191", "openai/tiny#512")]
    assert names[0].identity == names[1].identity != names[2].identity
    assert {model.name for model in names} == {"openai/tiny"}


def test_the_static_embedder_is_its_table_and_how_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    from genie_inspect.engines import embedders as embedders

    folder = tmp_path / "static"
    shutil.copytree(embedders.STATIC_FOLDER, folder)
    monkeypatch.setattr(embedders, "STATIC_FOLDER", folder)
    embedders._static_identity.cache_clear()
    before = embedder().identity
    (folder / "config.json").write_text((folder / "config.json").read_text().replace("null", "512"))
    embedders._static_identity.cache_clear()
    after = embedder().identity
    embedders._static_identity.cache_clear()
    monkeypatch.undo()
    assert re.fullmatch("static" + HEXED, before)
    assert embedder().identity == before != after  # a copy of other dates is the same


ENGINES: dict[str, Callable[[str], ClassifierEquivalence | RewardModel | CoherenceRewards]] = {
    "classifier": ClassifierEquivalence,
    "reward": RewardModel,
    "coherence": CoherenceRewards,
}


@pytest.mark.parametrize("kind", ENGINES)
def test_classifiers_and_reward_models_are_named_by_folder_and_digest(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genie_inspect.engines.models.find_spec", lambda name: object())
    engines = []
    for place in ("one", "two"):
        folder = model_folder(tmp_path / place / "final", place)
        (folder / "tokenizer.json").write_text("{}")
        engines.append(ENGINES[kind](str(folder)))
    names = [engine.name for engine in engines]
    assert re.match(rf"(classifier|reward)\(final{HEXED}[,)]", names[0])
    assert names[0] != names[1]
    assert str(tmp_path) not in "".join(names)
    (tmp_path / "one" / "final" / "model.safetensors").write_text("trained again")
    assert engines[0].name == names[0], "what a run has been named after stays"
    assert ENGINES[kind](str(tmp_path / "one" / "final")).name != names[0]


@pytest.mark.parametrize("kind", ENGINES)
def test_classifiers_and_reward_models_of_the_hub_are_named_by_their_id_alone(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genie_inspect.engines.models.find_spec", lambda name: object())
    assert re.match(r"(classifier|reward)\(someone/model[,)]", ENGINES[kind]("someone/model").name)


def test_a_model_folder_is_unchanged_until_it_changes(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "final")
    facts = folder_facts(str(folder))
    check_unchanged(str(folder), facts)
    (folder / "config.json").write_text('{"other": 1}')
    with pytest.raises(EngineFailedError, match="has changed"):
        check_unchanged(str(folder), facts)
