import itertools
import warnings
from pathlib import Path

import pytest
from tests.building.scripts import recorded
from tests.scripted import Script, numbered, saying

from genie_inspect.building.features.discovering import Search, discover_features
from genie_inspect.engines.clustering import METHODS, clusters
from genie_inspect.errors import MissingExtraError, PopulationError, UnknownChoiceError
from genie_inspect.populations.features import read_features

TASK = "write a short story"
REPLIES = [
    numbered({"1": "Plot: what happens", "2": "Characters: who acts", "3": "Setting: where it is"}),
    numbered({"1": "Plot and storyline: what happens", "2": "Character: who it is about", "3": "Setting: the place"}),
    numbered({"1": "Plot: what happens", "2": "Characters: who acts", "3": "Setting / place: where it is"}),
]


def repeating(*replies: str) -> Script:
    turns = itertools.cycle(replies)
    return Script(lambda request: next(turns))


@pytest.mark.parametrize("method", METHODS)
async def test_names_said_again_and_again_become_features(method: str, tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="clustering needs the extra discovery")
    model = recorded(repeating(*REPLIES), tmp_path)
    done = await discover_features(Search(TASK, 9, method), tmp_path / "found", model, tmp_path)
    features = read_features(tmp_path / "found" / "features.json")
    assert {"plot", "characters", "setting"} <= {feature.name for feature in features}
    assert {feature.name: feature.definition for feature in features}["plot"] == "what happens"
    # 3 rounds of 3 replies with 3, 4 and 4 names
    assert done["names_said"] == 33


async def test_the_same_request_is_made_for_each_sample_and_each_reply_kept(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="clustering needs the extra discovery")
    script = repeating(*REPLIES)
    await discover_features(Search(TASK, 5), tmp_path / "found", recorded(script, tmp_path), tmp_path)
    again = repeating("nothing")
    await discover_features(Search(TASK, 5), tmp_path / "again", recorded(again, tmp_path), tmp_path)
    assert (len(script.requests), again.requests) == (5, [])


async def test_replies_without_features_are_an_error_and_write_nothing(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="clustering needs the extra discovery")
    model = recorded(saying("I love stories."), tmp_path / "work")
    with pytest.raises(PopulationError, match="none of 2 replies names a feature"):
        await discover_features(Search(TASK, 2), tmp_path / "found", model, tmp_path / "work")
    assert not (tmp_path / "found").exists()


async def test_without_the_library_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    script = saying("x")
    with pytest.raises(MissingExtraError, match="needs the extra discovery: pip install"):
        await discover_features(Search(TASK), tmp_path / "found", recorded(script, tmp_path), tmp_path)
    assert script.requests == []


def test_an_unknown_method_is_refused_with_those_that_are_known() -> None:
    import numpy as np

    with pytest.raises(UnknownChoiceError, match="method is 'dbscan', expected one of k-means, agglomerative, hdbscan"):
        clusters(np.eye(3), 2, "dbscan")


@pytest.mark.parametrize("method", METHODS)
def test_more_clusters_than_distinct_vectors_are_as_many_as_there_are(method: str) -> None:
    pytest.importorskip("sklearn", reason="clustering needs the extra discovery")
    import numpy as np

    pairs = np.array([[1.0, 0.0], [1.0, 1e-9], [-1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = clusters(pairs, 9, method)
    assert labels[0] == labels[4] != labels[2] == labels[3] == labels[5]
