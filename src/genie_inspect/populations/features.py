"""Features from wherever they stand: a population, or a file of their own."""

import json
from pathlib import Path

from genie_inspect.errors import PopulationError
from genie_inspect.files.json_lines import json_row
from genie_inspect.files.writing import write_lines
from genie_inspect.populations.catalogue import BUNDLED, open_population
from genie_inspect.populations.files import rows
from genie_inspect.populations.population import MANIFEST
from genie_inspect.populations.schema import Feature, FeatureFile

FORM = '{"features": [{"name": "plot", "definition": "what happens"}]}, where definitions may be left out'


def read_features(source: str | Path) -> tuple[Feature, ...]:
    """The features of a bundled population, of a population's folder, or of a JSON file {"features": [...]}.

    A file that ends in .jsonl has a feature a line instead.

    Raises:
        PopulationError: If it is none of these, or two features have one name.
    """
    path = Path(source)
    try:
        if str(source) in BUNDLED or (path / MANIFEST).is_file():
            return open_population(source).features
        text = path.read_bytes()
        if path.suffix == ".jsonl":
            listed = [feature.model_dump() for feature in rows(path, Feature)]
            text = json.dumps({"features": listed}).encode()
        return json_row(text, FeatureFile, str(path), PopulationError, FORM).features
    except OSError as error:
        raise PopulationError(
            f"features are {str(source)!r}, expected {', '.join(sorted(BUNDLED))}, a population's folder or a "
            f'JSON file {{"features": [...]}} ({error.strerror})'
        ) from error


def write_features(path: Path, features: tuple[Feature, ...]) -> None:
    """Write a features file, whole or not at all."""
    write_lines(path, [FeatureFile(features=features).model_dump_json(indent=1) + "\n"])
