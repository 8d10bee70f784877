import json
from pathlib import Path

import pytest
from tests.scripted import FEATURES, small_population

from genie_inspect.errors import PopulationError
from genie_inspect.populations.features import read_features, write_features


def test_features_come_from_a_file_a_population_or_a_bundled_one(tmp_path: Path) -> None:
    write_features(tmp_path / "features.json", FEATURES)
    assert read_features(tmp_path / "features.json") == FEATURES
    assert read_features(small_population(tmp_path / "p").folder) == FEATURES
    assert [feature.name for feature in read_features("abstracts")][:2] == ["problem", "approach"]


def test_two_features_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = {"features": [{"name": "plot", "definition": "What happens."}] * 2}
    (tmp_path / "features.json").write_text(json.dumps(twice))
    with pytest.raises(PopulationError, match=r"features\.json, field features: .*two features are named 'plot'"):
        read_features(tmp_path / "features.json")


@pytest.mark.parametrize("text", ["{}", '{"features": []}', "[1]", "no json", '{"features": [{"name": "My Plot"}]}'])
def test_a_file_that_holds_no_features_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "features.json").write_text(text)
    with pytest.raises(PopulationError, match=r"features\.json"):
        read_features(tmp_path / "features.json")


def test_a_source_that_is_nowhere_is_refused_with_what_would_work() -> None:
    with pytest.raises(
        PopulationError, match="features are 'nowhere', expected abstracts, starter, a population's folder"
    ):
        read_features("nowhere")


def test_a_file_of_json_lines_has_a_feature_a_line(tmp_path: Path) -> None:
    path = tmp_path / "features.jsonl"
    path.write_text("".join(feature.model_dump_json() + "\n" for feature in FEATURES))
    assert read_features(path) == FEATURES
    path.write_text('{"name": "plot", "definition": "What happens."}\n{"name": "My Plot", "definition": "x"}\n')
    with pytest.raises(PopulationError, match=r"features\.jsonl, line 2, field name"):
        read_features(path)
    path.write_text('{"name": "plot", "definition": "What happens."}\n' * 2)
    with pytest.raises(PopulationError, match="two features are named 'plot'"):
        read_features(path)
    path.write_text("")
    with pytest.raises(PopulationError, match=r"features\.jsonl"):
        read_features(path)
