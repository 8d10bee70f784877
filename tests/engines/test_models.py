import logging
import sys
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.engines.sentence_models import SentenceTransformer, install, model_folder

from genie_inspect.engines.classifiers import (
    PUBLISHED_CLASSIFIER,
    PUBLISHED_REWARD,
    PUBLISHED_TOKENIZER,
    ClassifierEquivalence,
)
from genie_inspect.engines.embedders import embedder
from genie_inspect.engines.models import PRESETS, at_revision, hub_dataset, model_identity, with_commit
from genie_inspect.errors import EngineFailedError, GenieError
from genie_inspect.tasks.writing_prompts import writing_prompts

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
