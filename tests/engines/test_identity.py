"""What tells models, servers, texts and embedders of one name apart, and at which commit they are loaded."""

import logging
import os
import re
import shutil
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.engines.sentence_models import SentenceTransformer, install, model_folder

from genie_inspect.engines import embedders
from genie_inspect.engines.classifiers import (
    PUBLISHED_CLASSIFIER,
    PUBLISHED_REWARD,
    PUBLISHED_TOKENIZER,
    ClassifierEquivalence,
    CoherenceRewards,
    EmbeddedEquivalence,
    RewardModel,
)
from genie_inspect.engines.embedders import VECTORS, CachedEmbedder, Embedder, KeptVectors, embedder
from genie_inspect.engines.identity import (
    PRESETS,
    address,
    at_revision,
    folder_digest,
    hub_dataset,
    with_commit,
)
from genie_inspect.errors import EngineFailedError, GenieError
from genie_inspect.graders.offline_judge import OfflineJudge, OfflineReader
from genie_inspect.tasks.writing_prompts import writing_prompts


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


def test_a_copy_of_a_folder_is_the_same_model_whatever_its_place_its_read_me_and_its_hidden_files(
    model: Path, tmp_path: Path
) -> None:
    before = folder_digest(model)
    assert before == folder_digest(str(model)) == folder_digest(shutil.copytree(model, tmp_path / "two" / "final"))
    assert len(before) == 12
    (model / "README.md").write_text("another text")
    (model / ".cache").mkdir()
    (model / ".cache" / "download.json").write_text("{}")
    os.utime(model / "config.json", ns=(1, 1))
    assert folder_digest(model) == before


def test_another_content_name_or_date_of_weights_is_another_model_and_configuration_may_be_any_bytes(
    model: Path,
) -> None:
    seen = [folder_digest(model)]
    for name in ("config.json", "1_Pooling/config.json", "vocab.txt"):
        file = model / name
        date = file.stat().st_mtime_ns
        file.write_text(file.read_text()[::-1])  # of the same size and date
        os.utime(file, ns=(date, date))
        seen.append(folder_digest(model))
    weights = model / "model.safetensors"
    date = weights.stat().st_mtime_ns
    os.utime(weights, ns=(date, date + 1))
    seen.append(folder_digest(model))
    weights.write_bytes(b"more weights")
    os.utime(weights, ns=(date, date))
    seen.append(folder_digest(model))
    weights.rename(model / "other.safetensors")
    seen.append(folder_digest(model))
    (model / "spiece.model").write_bytes(bytes(range(256)))
    assert len({*seen, folder_digest(model)}) == 8


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8000/v1/", "127.0.0.1:8000/v1"),
        ("https://API.OpenAI.com:443/v1", "api.openai.com:443/v1"),
        ("http://host", "host:80"),
        ("host:9000/v1", "host:9000/v1"),
        ("http://[::1]:8000/v1", "[::1]:8000/v1"),
        ("http://host:8000/Team/A", "host:8000/Team/A"),
        ("http://me:PW@host:1/v1", "host:1/v1"),
        ("http://host:1/v1?key=PW", "host:1/v1"),
        ("http://host:1/v1#PW", "host:1/v1"),
        ("https://PW@host:1/v1/?a=PW#PW", "host:1/v1"),
    ],
)
def test_an_address_is_host_port_and_path_and_no_user_password_query_or_fragment(url: str, expected: str) -> None:
    assert address(url) == expected


@pytest.mark.parametrize("url", ["", "http://", "http:///PW", "http://me:PW/x@host/", "http://[PW", "http://host:PW/"])
def test_an_address_that_cannot_be_read_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="address cannot be read, expected http://") as caught:
        address(url)
    assert "PW" not in str(caught.value)


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


def signatures(model: Embedder) -> set[str]:
    """Every signature that an embedder stands in."""
    return {OfflineReader(model, {}).signature, OfflineJudge(model).signature, EmbeddedEquivalence(model, 0.5).name}


def test_two_folders_of_one_name_share_no_vectors_and_no_signature(finals: tuple[Path, Path], tmp_path: Path) -> None:
    one, two = map(local, finals)
    assert one.name == two.name == "sentence-transformers/final"
    first, second = CachedEmbedder(one, tmp_path), CachedEmbedder(two, tmp_path)
    assert first.embed(TEXTS).tolist() != second.embed(TEXTS).tolist()
    assert (second.embed(TEXTS) == CachedEmbedder(local(finals[1]), tmp_path).embed(TEXTS)).all()
    assert first.identity == one.identity != two.identity
    assert not signatures(one) & signatures(two)
    assert KeptVectors(tmp_path).count(VECTORS) == {one.identity: 1, two.identity: 1}


def test_a_folder_that_was_trained_again_in_place_is_another_model(finals: tuple[Path, Path], tmp_path: Path) -> None:
    before, unloaded = CachedEmbedder(local(finals[0]), tmp_path), local(finals[1])
    old = before.embed(TEXTS)
    for folder in finals:
        (folder / "model.safetensors").write_text("trained again")
    after = CachedEmbedder(local(finals[0]), tmp_path)
    assert after.identity != before.identity
    assert after.embed(TEXTS).tolist() != old.tolist()
    # what was loaded goes on as what it was named
    assert before.embed([*TEXTS, "A fox."])[0].tolist() == old[0].tolist()
    with pytest.raises(EngineFailedError, match=r"final has changed since the run's scores were named after it"):
        unloaded.embed(TEXTS)


def test_a_model_of_the_hub_is_identified_by_its_name_and_how_texts_are_pooled_and_asked_for_at_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(model_folder(tmp_path / "tiny"))
    asked: list[object] = []

    class OnHub(SentenceTransformer):
        def __init__(self, *names: str, **options: str) -> None:
            asked.append((names, options))
            super().__init__(folder)

    install(monkeypatch, OnHub)
    model = embedder(f"sentence-transformers/owner/mini@{COMMIT}")
    model.embed(["An owl."])
    assert asked == [(("owner/mini",), {"revision": COMMIT})]
    assert re.fullmatch(rf"sentence-transformers/owner/mini@{COMMIT}" + HEXED, model.identity)
    assert model.identity == embedder(f"sentence-transformers/owner/mini@{COMMIT}").identity
    monkeypatch.setattr("genie_inspect.engines.served_embedders.POOLING", "another way")
    assert embedder(f"sentence-transformers/owner/mini@{COMMIT}").identity != model.identity


@pytest.mark.parametrize(
    ("name", "base_url", "is_same"),
    [
        ("openai/tiny", "http://host:8000/v1/", True),
        ("openai/tiny", "https://me:PW@HOST:8000/v1?key=PW#x", True),
        ("openai/tiny#8191", "http://host:8000/v1", True),
        ("openai/tiny#512", "http://host:8000/v1", False),
        ("openai/tiny", "http://host:8001/v1", False),
        ("openai/tiny", "http://host:8000/v2", False),
    ],
)
def test_a_served_model_is_its_servers_host_port_and_path_and_the_window(
    name: str, base_url: str, is_same: bool
) -> None:
    model, plain = embedder(name, base_url), embedder("openai/tiny", "http://host:8000/v1")
    assert (model.identity == plain.identity) is is_same
    assert model.name == "openai/tiny"
    assert re.fullmatch("openai/tiny" + HEXED, model.identity)


def test_openai_itself_is_the_same_however_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    named = embedder("openai/tiny").identity
    assert named == embedder("openai/tiny", "https://api.openai.com/v1").identity
    monkeypatch.setenv("OPENAI_BASE_URL", "http://host:8000/v1")
    assert embedder("openai/tiny").identity == embedder("openai/tiny", "http://host:8000/v1").identity != named


def test_the_static_embedder_is_its_table_and_how_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "static"
    shutil.copytree(embedders.STATIC_FOLDER, folder)
    shipped = embedder().identity
    monkeypatch.setattr(embedders, "STATIC_FOLDER", folder)
    seen = []
    for old, new in (("", ""), ("null", "512")):
        (folder / "config.json").write_text((folder / "config.json").read_text().replace(old, new))
        embedders._static_identity.cache_clear()
        seen.append(embedder().identity)
    embedders._static_identity.cache_clear()
    assert re.fullmatch("static" + HEXED, shipped)
    assert seen[0] == shipped != seen[1]  # a copy of other dates is the same


ENGINES: dict[str, Callable[[str], ClassifierEquivalence | RewardModel | CoherenceRewards]] = {
    "classifier": ClassifierEquivalence,
    "reward": RewardModel,
    "coherence": CoherenceRewards,
}


@pytest.mark.parametrize("kind", ENGINES)
def test_classifiers_and_reward_models_are_named_by_folder_and_digest_or_by_the_hubs_id_alone(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: object())
    folders = [model_folder(tmp_path / place / "final", place) for place in ("one", "two")]
    for folder in folders:
        (folder / "tokenizer.json").write_text("{}")
    one, two = (ENGINES[kind](str(folder)) for folder in folders)
    name = one.name
    assert re.match(rf"(classifier|reward)\(final{HEXED}[,)]", name)
    assert name != two.name
    assert str(tmp_path) not in name
    (folders[0] / "model.safetensors").write_text("trained again")
    assert one.name == name != ENGINES[kind](str(folders[0])).name, "what a run has been named after stays"
    assert re.match(r"(classifier|reward)\(someone/model[,)]", ENGINES[kind]("someone/model").name)
    assert re.match(rf"(classifier|reward)\(owner/name@{COMMIT}[,)]", ENGINES[kind](f"owner/name@{COMMIT}").name)
    with pytest.raises(EngineFailedError, match="revision of owner/classifier is 'main'"):
        ENGINES[kind]("owner/classifier@main")


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_what_is_not_loaded_at_a_commit_is_a_warning_that_says_how_to_pin_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    assert at_revision(f"owner/pinned@{COMMIT}") == ("owner/pinned", {"revision": COMMIT})
    folder = tmp_path / "model@home"
    folder.mkdir()
    assert at_revision(str(folder)) == (str(folder), {})
    assert caplog.records == []
    assert at_revision("owner/open") == at_revision("owner/open") == ("owner/open", {})
    (record,) = caplog.records
    assert "owner/open@<40 digits>" in record.getMessage()


@pytest.mark.parametrize("commit", ["main", "v1.0", COMMIT[:12], COMMIT.upper(), ""])
def test_what_an_owner_can_move_is_no_commit(commit: str) -> None:
    with pytest.raises(EngineFailedError, match="expected a commit of 40 digits"):
        at_revision(f"owner/name@{commit}")


def test_what_ships_as_a_default_of_a_hub_is_loaded_at_its_commit_unless_another_or_a_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for preset, commit in PRESETS.items():
        assert at_revision(with_commit(preset)) == (preset, {"revision": commit})
        assert with_commit(f"{preset}@{COMMIT}") == f"{preset}@{COMMIT}"
    assert caplog.records == []
    assert {PUBLISHED_CLASSIFIER, PUBLISHED_TOKENIZER, PUBLISHED_REWARD} < PRESETS.keys()
    assert signature(writing_prompts).parameters["dataset"].default in PRESETS
    (tmp_path / PUBLISHED_CLASSIFIER).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert with_commit(PUBLISHED_CLASSIFIER) == PUBLISHED_CLASSIFIER


def test_a_dataset_is_asked_for_at_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    library = SimpleNamespace(load_dataset=lambda *names, **options: asked.append((*names, options["revision"])))
    monkeypatch.setitem(sys.modules, "datasets", library)
    hub_dataset(f"owner/texts@{COMMIT}", "train", GenieError, "dataset", "nothing")
    hub_dataset("yimingzhang/novelty-bench", "curated", GenieError, "dataset", "nothing")
    preset = PRESETS["yimingzhang/novelty-bench"]
    assert asked == [("owner/texts", COMMIT), ("yimingzhang/novelty-bench", preset)]
