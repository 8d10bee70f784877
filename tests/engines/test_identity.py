"""What tells models, servers, texts and embedders of one name apart, and what cannot be loaded."""

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
from tests.engines.embedding_server import EmbeddingServer, serving
from tests.engines.sentence_models import SentenceTransformer, install, model_folder

from genie_inspect.engines.classifiers import (
    PUBLISHED_CLASSIFIER,
    PUBLISHED_REWARD,
    PUBLISHED_TOKENIZER,
    ClassifierEquivalence,
    CoherenceRewards,
    EmbeddedEquivalence,
    RewardModel,
)
from genie_inspect.engines.conformative import Conformative
from genie_inspect.engines.corpora import check_folder, folder_texts
from genie_inspect.engines.embedders import VECTORS, CachedEmbedder, Embedder, KeptVectors, embedder
from genie_inspect.engines.identity import (
    PRESETS,
    address,
    at_revision,
    check_unchanged,
    folder_digest,
    folder_facts,
    hub_dataset,
    identified,
    identity,
    model_identity,
    with_commit,
)
from genie_inspect.errors import CorpusError, EngineFailedError, GenieError, MissingExtraError
from genie_inspect.graders.embedded_judge import EmbeddedJudge, EmbeddedReader
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
    assert KeptVectors(tmp_path).count(VECTORS) == {one.identity: 1, two.identity: 1}


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
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: object())
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
    monkeypatch.setattr("genie_inspect.engines.identity.find_spec", lambda name: object())
    assert re.match(r"(classifier|reward)\(someone/model[,)]", ENGINES[kind]("someone/model").name)


def test_a_model_folder_is_unchanged_until_it_changes(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "final")
    facts = folder_facts(str(folder))
    check_unchanged(str(folder), facts)
    (folder / "config.json").write_text('{"other": 1}')
    with pytest.raises(EngineFailedError, match="has changed"):
        check_unchanged(str(folder), facts)


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_hub_id_is_loaded_at_the_commit_behind_it_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    assert at_revision(f"owner/pinned@{COMMIT}") == ("owner/pinned", {"revision": COMMIT})
    assert caplog.records == []


def test_a_hub_id_without_a_commit_is_loaded_with_a_warning_that_says_how_to_pin_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert at_revision("owner/open") == at_revision("owner/open") == ("owner/open", {})
    (record,) = caplog.records
    assert "owner/open@<40 digits>" in record.getMessage()


@pytest.mark.parametrize("commit", ["main", "v1.0", COMMIT[:12], COMMIT.upper(), ""])
def test_what_an_owner_can_move_is_no_commit(commit: str) -> None:
    with pytest.raises(EngineFailedError, match="expected a commit of 40 digits"):
        at_revision(f"owner/name@{commit}")


def test_a_folder_needs_no_commit_whatever_it_is_called(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "model@home"
    folder.mkdir()
    assert at_revision(str(folder)) == (str(folder), {})
    assert caplog.records == []


def test_the_commit_is_part_of_what_a_model_is_known_by() -> None:
    assert model_identity(f"owner/name@{COMMIT}", ()) == f"owner/name@{COMMIT}"


def test_a_dataset_is_asked_for_at_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    asked: list[object] = []
    monkeypatch.setattr(datasets, "load_dataset", lambda *names, **options: asked.append((names, options)))
    hub_dataset(f"owner/texts@{COMMIT}", "train", GenieError, "dataset", "nothing")
    assert asked == [(("owner/texts",), {"split": "train", "revision": COMMIT})]


def test_a_classifier_at_no_commit_is_refused_when_it_is_made() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    with pytest.raises(EngineFailedError, match="revision of owner/classifier is 'main'"):
        ClassifierEquivalence("owner/classifier@main")


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_loaded_at_its_commit_without_a_word_unless_another_is_named(
    preset: str, caplog: pytest.LogCaptureFixture
) -> None:
    name, pinned = at_revision(with_commit(preset))
    assert (name, pinned) == (preset, {"revision": PRESETS[preset]})
    assert with_commit(f"{preset}@{COMMIT}") == f"{preset}@{COMMIT}"
    assert caplog.records == []


def test_a_folder_of_a_presets_name_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / PUBLISHED_CLASSIFIER).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert with_commit(PUBLISHED_CLASSIFIER) == PUBLISHED_CLASSIFIER


def test_whatever_ships_as_a_default_of_a_hub_is_a_preset() -> None:
    assert {PUBLISHED_CLASSIFIER, PUBLISHED_TOKENIZER, PUBLISHED_REWARD} < PRESETS.keys()
    assert signature(writing_prompts).parameters["dataset"].default in PRESETS


def test_a_preset_dataset_is_asked_for_at_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    library = SimpleNamespace(load_dataset=lambda *names, **options: asked.append((names, options)))
    monkeypatch.setitem(sys.modules, "datasets", library)
    hub_dataset("yimingzhang/novelty-bench", "curated", GenieError, "dataset", "nothing")
    assert asked == [
        (
            ("yimingzhang/novelty-bench",),
            {"split": "curated", "revision": PRESETS["yimingzhang/novelty-bench"]},
        )
    ]


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match="needs the extra local: pip install"):
        Conformative("base", "instruct")


def test_a_sentence_model_is_asked_for_at_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(model_folder(tmp_path / "tiny"))
    asked: list[object] = []

    class OnHub(SentenceTransformer):
        def __init__(self, *names: str, **options: str) -> None:
            asked.append((names, options))
            super().__init__(folder)

    install(monkeypatch, OnHub)
    embedder(f"sentence-transformers/owner/sentences@{COMMIT}").embed(["An owl."])
    assert asked == [(("owner/sentences",), {"revision": COMMIT})]
