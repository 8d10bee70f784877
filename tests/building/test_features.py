import itertools
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.building.scripts import recorded
from tests.scripted import Script, numbered, saying

from genie_inspect.building.features import METHODS, clusters, discover_features, features_to_map, map_features
from genie_inspect.errors import MissingExtraError, PopulationError, UnknownChoiceError
from genie_inspect.populations.population import read_features, write_features
from genie_inspect.populations.schema import Feature

TASK = "write a short story"
REPLIES = [
    numbered({"1": "Plot: what happens", "2": "Characters: who acts", "3": "Setting: where it is"}),
    numbered({"1": "Plot and storyline: what happens", "2": "Character: who it is about", "3": "Setting: the place"}),
    numbered({"1": "Plot: what happens", "2": "Characters: who acts", "3": "Setting / place: where it is"}),
]


async def discovered(folder: Path, script: Script, **options: Any) -> dict[str, Any]:
    """What is said of the features that were written to the folder `found`."""
    pytest.importorskip("sklearn", reason="clustering needs the extra discovery")
    return await discover_features(
        folder / "found", recorded(script, folder / "work"), folder / "work", task=TASK, **options
    )


def repeating(*replies: str) -> Script:
    turns = itertools.cycle(replies)
    return Script(lambda request: next(turns))


@pytest.mark.parametrize("method", METHODS)
async def test_names_said_again_and_again_become_features_and_each_reply_is_kept(method: str, tmp_path: Path) -> None:
    script, again = repeating(*REPLIES), repeating("nothing")
    done = await discovered(tmp_path, script, samples=9, method=method)
    features = read_features(tmp_path / "found" / "features.json")
    shutil.rmtree(tmp_path / "found")
    await discovered(tmp_path, again, samples=9, method=method)
    assert (len(script.requests), again.requests) == (9, [])
    assert {"plot", "characters", "setting"} <= {feature.name for feature in features}
    assert {feature.name: feature.definition for feature in features}["plot"] == "what happens"
    # 3 rounds of 3 replies with 3, 4 and 4 names
    assert done["names_said"] == 33


async def test_a_name_that_belongs_nowhere_makes_no_feature(tmp_path: Path) -> None:
    odd = numbered({"1": "Plot: what happens", "2": "Setting: where it is", "3": "Typography: the printed letters"})
    script = repeating(odd, *REPLIES * 3)
    done = await discovered(tmp_path, script, samples=10, method="hdbscan")
    assert (done["in_no_cluster"], "typography" in done["features"]) == (1, False)


async def test_there_are_as_many_features_as_a_reply_names_on_average(tmp_path: Path) -> None:
    many = numbered({"1": "Plot: events", "2": "Setting: place", "3": "Setting: place", "4": "Plot: events"})
    script = repeating(numbered({"1": "Plot: events"}), numbered({"1": "Plot: events"}), many)
    done = await discovered(tmp_path, script, samples=3)
    # 1, 1 and 4 names: two, where the median would be one
    assert list(done["features"]) == ["plot", "setting"]


async def test_replies_without_features_are_an_error_and_write_nothing(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match="none of 2 replies names a feature"):
        await discovered(tmp_path, saying("I love stories."), samples=2)
    assert not (tmp_path / "found").exists()


async def test_with_an_unknown_method_or_without_the_library_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    script = saying("x")
    with pytest.raises(UnknownChoiceError, match="method is 'dbscan', expected one of k-means, agglomerative, hdbscan"):
        await discover_features(tmp_path / "found", recorded(script, tmp_path), tmp_path, task=TASK, method="dbscan")
    with pytest.raises(MissingExtraError, match="needs the extra discovery: pip install"):
        await discover_features(tmp_path / "found", recorded(script, tmp_path), tmp_path, task=TASK)
    assert script.requests == []


@pytest.mark.parametrize("method", METHODS)
def test_more_clusters_than_distinct_vectors_are_as_many_as_there_are(method: str) -> None:
    pytest.importorskip("sklearn", reason="clustering needs the extra discovery")
    import numpy as np

    pairs = np.array([[1.0, 0.0], [1.0, 1e-9], [-1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = clusters(pairs, 9, method)
    assert labels[0] == labels[4] != labels[2] == labels[3] == labels[5]


def made(**definitions: str) -> tuple[Feature, ...]:
    return tuple(Feature(name=name, definition=definition) for name, definition in definitions.items())


DISCOVERED = made(
    tone="The mood of the words.", storyline="What happens.", rhythm="How sentences run.", font="How it is set."
)
TAXONOMY = made(plot="What happens.", style="How it is told.", setting="Where it is.")
REPLY = numbered({1: "style", 2: "Plot", 3: "style", 4: "none"})


async def mapped(folder: Path, script: Script, discovered: tuple[Feature, ...] = DISCOVERED) -> dict[str, Any]:
    model = recorded(script, folder / "work")
    return await map_features(discovered, TAXONOMY, None, folder / "mapping.json", model, folder / "work")


async def test_each_feature_is_mapped_to_one_of_the_taxonomy_or_to_none(tmp_path: Path) -> None:
    result = await mapped(tmp_path, saying(REPLY))
    assert result == {
        "mapping": {"tone": "style", "storyline": "plot", "rhythm": "style"},
        "no_counterpart": ["font"],
        "nothing_maps_to": ["setting"],
        "unreadable": [],
    }
    # the file says who mapped what by which definitions
    facts = json.loads((tmp_path / "mapping.json").read_text(encoding="utf-8"))
    assert facts.pop("mapped_by").startswith("map_features(mockllm/model@")
    assert facts.pop("taxonomy")["setting"] == "Where it is."
    assert facts.pop("discovered")["font"] == "How it is set."
    assert facts == result


async def test_a_name_that_is_none_of_the_taxonomy_is_asked_for_again_and_is_no_counterpart(tmp_path: Path) -> None:
    script = saying(numbered({1: "style", 2: "plot", 3: "prosody", 4: "none"}), numbered({1: "music"}))
    result = await mapped(tmp_path, script)
    assert [data["features"] for data in script.data[1:]] == [{"1": "rhythm: How sentences run."}] * 2
    assert (result["unreadable"], result["no_counterpart"]) == (["rhythm"], ["font"])


def test_what_is_mapped_was_discovered_and_the_taxonomy_has_no_feature_called_none(tmp_path: Path) -> None:
    write_features(tmp_path / "features.json", DISCOVERED)
    path = tmp_path / "taxonomy.jsonl"
    path.write_text("".join(feature.model_dump_json() + "\n" for feature in TAXONOMY))
    assert features_to_map(tmp_path, str(path)) == (DISCOVERED, TAXONOMY)
    with pytest.raises(PopulationError, match=r"nowhere has no features\.json, expected a folder that genie feat"):
        features_to_map(tmp_path / "nowhere", str(path))
    path.write_text('{"name": "none", "definition": "Nothing."}\n')
    with pytest.raises(PopulationError, match=r"taxonomy\.jsonl has a feature 'none'"):
        features_to_map(tmp_path, str(path))
